/*
 * The code of a TorchScript file: the part of Python that its writer uses, parsed into functions and classes. Nothing
 * here runs it (script.c does).
 */
#ifndef FRONTEND_PYTORCH_CODE_H
#define FRONTEND_PYTORCH_CODE_H

#include "base/file.h"
#include "frontend/pytorch/value.h"

typedef enum {
	SCRIPT_CONST, /* None, True, a number, a text */
	SCRIPT_NAME,
	SCRIPT_ATTR,  /* part[0].text */
	SCRIPT_CALL,  /* part[0](part[1] ..), key[k] is the name of argument k */
	SCRIPT_INDEX, /* part[0][part[1]] */
	SCRIPT_LIST,
	SCRIPT_TUPLE,
	SCRIPT_DICT, /* key, value, key, value .. */
	SCRIPT_NEG,
	SCRIPT_CHOICE /* part[0] if part[1] else part[2] */
} ScriptExprKind;

typedef struct ScriptExpr ScriptExpr;
struct ScriptExpr {
	ScriptExprKind kind;
	int line;
	const char *text;
	TorchValue value;
	ScriptExpr **part;
	const char **key;
	size_t n;
};

typedef enum {
	SCRIPT_DO_ASSIGN,
	SCRIPT_DO_EXPR,
	SCRIPT_DO_IF,
	SCRIPT_DO_FOR,
	SCRIPT_DO_WHILE,
	SCRIPT_DO_RETURN,
	SCRIPT_DO_PASS
} ScriptStmtKind;

typedef struct ScriptStmt ScriptStmt;
typedef struct ScriptBlock {
	ScriptStmt *at;
	size_t n, cap;
} ScriptBlock;

struct ScriptStmt {
	ScriptStmtKind kind;
	int line;
	ScriptExpr *target; /* a name, an attribute, an element, or a tuple of them */
	bool unpack;        /* the targets take the parts of one value, also where there is one target */
	ScriptExpr *expr;   /* NULL: a return of None */
	ScriptBlock body, other;
};

typedef struct ScriptArg {
	const char *name;
	ScriptExpr *type, *otherwise; /* NULL: none is given */
} ScriptArg;

/* A function, or a class with its methods and constants. */
struct ScriptItem {
	const char *name, *module; /* module: "__torch__.torch.nn.functional" */
	bool class, tuple;         /* a class; of named tuples */
	int line;
	ScriptArg *arg; /* of a function; of a class: its attributes, `otherwise` being a constant */
	size_t narg;
	ScriptBlock body;
	struct ScriptItem **member; /* methods */
	size_t nmember;
};

typedef struct ScriptFile {
	const char *module;
	ScriptItem **item;
	size_t n;
} ScriptFile;

/* `module` is the file's, with dots. NULL and err: what the line holds that the parser does not know. */
ScriptFile *script_parse(Arena *a, const char *module, Bytes text, Err *err);

#endif
