/*
 * What the two halves of the parser share: the position, the names in scope, the first failure.
 * After a failure the current token is T_END, so that every loop ends; callers look at `failed`.
 */
#ifndef IR_TEXT_PARSER_H
#define IR_TEXT_PARSER_H

#include "ir/ir.h"
#include "ir/text/lex.h"
#include "ir/scope.h"

typedef struct Parser {
	Ir *ir;
	const char *name; /* of the text, for messages */
	Lexer lex;
	Token tok;
	Scope scope;
	int depth; /* of recursion in expressions */
	int nest;  /* of statements */
	bool failed;
	const char *
		unknown; /* the first name that no declaration in scope has; the verifier's business */
	Err *err;
} Parser;

/* Recursion of the parser: an operand may cost two levels per node, and the nodes are limited. */
enum { PARSE_DEPTH = 2 * IR_MAX_DEPTH + 64, PARSE_ITEMS = 4096 };

void parse_init(Parser *p, Ir *ir, const char *name, const char *text, size_t n, Err *err);
void parse_next(Parser *p);
bool parse_at(const Parser *p, const char *word);
/* Steps over the token if it is the next one. */
bool parse_skip(Parser *p, int kind);
bool parse_skip_word(Parser *p, const char *word);
/* The same, or a failure that names what was expected and what was found. */
bool parse_need(Parser *p, int kind, const char *what);
bool parse_need_word(Parser *p, const char *word);
bool parse_fail(Parser *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "expected WHAT, found 'x'" */
bool parse_expected(Parser *p, const char *what);

/* Values of a failed parse: "", 0, a constant; never NULL. */
const char *parse_name(Parser *p, const char *what);
int64_t parse_int(Parser *p, const char *what, int64_t lo, int64_t hi);
DType parse_dtype(Parser *p);
const Expr *parse_expr(Parser *p);
/* expr, ... up to and with `close`; at most PARSE_ITEMS. */
const Expr **parse_exprs(Parser *p, int close, int *n);

#endif
