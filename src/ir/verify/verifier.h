/*
 * What the parts of the verifier share: the Fn at hand, what is in scope, the facts known there,
 * and the one way to refuse. Every check returns false after the first violation.
 */
#ifndef IR_VERIFY_VERIFIER_H
#define IR_VERIFY_VERIFIER_H

#include "ir/analysis/bounds.h"
#include "ir/scope.h"

typedef enum {
#define RULE(id, name, demands, broken) RULE_##id,
#include "ir/verify/rules.def"
#undef RULE
} Rule;

/* The loops around a statement, innermost first. */
typedef struct InLoop {
	const struct InLoop *outer;
	const Stmt *loop;
	const Decl *decl;
} InLoop;

typedef struct Verifier {
	const KernelSet *ks;
	Ir *ir;
	Arena *arena; /* for the length of one verification */
	Scope fns;    /* DECL_FN of the set */
	const Fn *fn;
	Scope scope, ever, blocks; /* in scope; loops and buffers so far; blocks so far */
	const Range *env;
	const InLoop *in_loop;
	const Decl
		*unordered; /* the innermost loop without order that a reduce iterator comes from */
	int line, depth;
	bool certain; /* the statement at hand runs whenever the Fn does */
	bool in_async;
	Err *err;
} Verifier;

bool broke(const Verifier *v, Rule rule, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Declares a name: legal, not in scope yet. Loops and buffers: new to the Fn. */
bool verify_declare(Verifier *v, DeclKind kind, const char *name, DType type, Decl **decl);
bool verify_layout(Verifier *v, const Buf *b);
/* Names, types and accesses of an expression. */
bool verify_expr(Verifier *v, const Expr *e);
/* Extents, iterators and the indices of accesses have this type. */
static inline bool verify_is_index(const Expr *e)
{
	return dtype_eq(e->type, I64);
}
/* Number, type and range of the indices of an access to b; *lanes gets the vectors' lanes. */
bool verify_index(Verifier *v, const Buf *b, const Expr *const *idx, int n, int *lanes);
/* The declaration of a buffer's name; NULL (and a refusal) if it is none. */
const Decl *verify_buf(Verifier *v, const char *name);
bool verify_signature(Verifier *v);
bool verify_call(Verifier *v, const Stmt *s);
/* Iterators, where and init; the body through verify_body. */
bool verify_block(Verifier *v, const Stmt *s);
/* A list in a scope of its own, with facts and certainty restored behind it. */
bool verify_body(Verifier *v, const Stmt *s, const Range *env, bool certain);
bool verify_condition(Verifier *v, const Expr *e);
bool verify_stmts(Verifier *v, const Stmt *s);

#endif
