/*
 * What is declared where: names with an undo list, for the parser and the verifier. Names are
 * interned; finding one takes constant time.
 */
#ifndef IR_SCOPE_H
#define IR_SCOPE_H

#include "ir/ir.h"

#include "base/map.h"

typedef enum {
	DECL_SYMBOL,
	DECL_SCALAR, /* a parameter */
	DECL_LOOP,
	DECL_ITER,
	DECL_LET, /* also `let old = atomic` */
	DECL_BUF,
	DECL_MAP_VAR,
	DECL_OPERAND, /* of a monoid */
	DECL_FN,
} DeclKind;

typedef struct Decl Decl;
struct Decl {
	const char *name;
	DeclKind kind;
	DType type;
	const Buf *buf;   /* DECL_BUF */
	const Stmt *stmt; /* that declares it; NULL for parameters and symbols */
	const Iter *iter; /* DECL_ITER */
	const Fn *fn;     /* DECL_FN, and of parameters compared between Fns */
	int level;        /* DECL_FN: of calls above it */
	const Decl *hidden; /* the declaration of the same name that this one shadows */
	Decl *before;       /* in order of declaration */
	int depth;          /* of the scope it was declared in */
};

typedef struct Scope {
	Arena *arena;
	Map innermost; /* declaration of a name; NULL when it is gone */
	Decl *last;
	int depth;
} Scope;

void scope_init(Scope *s, Arena *a);
/* The new declaration, kind, name and type set; the caller fills in the rest. */
Decl *scope_add(Scope *s, DeclKind kind, const char *name, DType type);
const Decl *scope_find(const Scope *s, const char *name);
/* What is declared between enter and leave is forgotten at leave. */
Decl *scope_enter(Scope *s);
void scope_leave(Scope *s, Decl *mark);

#endif
