/* Words of a TorchScript file's code. */
#ifndef FRONTEND_PYTORCH_LEX_H
#define FRONTEND_PYTORCH_LEX_H

#include "base/file.h"
#include "frontend/pytorch/value.h"

typedef enum { TOKEN_END, TOKEN_LINE, TOKEN_INDENT, TOKEN_DEDENT, TOKEN_NAME, TOKEN_CONST, TOKEN_SIGN } TokenKind;

typedef struct ScriptLexer {
	Arena *a;
	Bytes in;
	size_t at;
	int line, nest; /* nest: of brackets, in which ends of lines do not count */
	int indent[256], depth;
	int dedents; /* still to be given */
	bool fresh;  /* at the begin of a line */
	Err *err;
	const char *module;
	TokenKind kind;   /* the word */
	const char *text; /* NAME, SIGN */
	TorchValue value; /* CONST */
} ScriptLexer;

/* Reads the next word; false: what is there is none. */
bool script_word(ScriptLexer *l);
bool script_fail(ScriptLexer *l, const char *why);

#endif
