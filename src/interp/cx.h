/*
 * The state of one compilation to interpreter code, shared by interp/expr.c (expressions),
 * interp/stmt.c, interp/assign.c and interp/expand.c (statements). Slots are given out as a stack: named
 * variables and what a loop keeps live below, temporaries of the current statement on top.
 */
#ifndef INTERP_CX_H
#define INTERP_CX_H

#include "interp/code.h"

#include "base/map.h"

enum { CODE_LIMIT = 1 << 20, CALL_DEPTH = 64, NEST = 1000, EXPR_DEPTH = 1000 };

/* A variable, or an `old`: a slot for each lane. */
typedef struct Named {
	const char *name;
	uint32_t slot;
	DType type;
} Named;

typedef struct Bound {
	const char *name;
	uint32_t view;
	DType type;
	int rank;
	bool readonly;
} Bound;

typedef struct Cx {
	Arena *arena;
	const KernelSet *ks;
	Program *prog;
	const IrArg *sym;
	int nsym;
	InterpDomain domain;
	Err *err;
	VEC(Ins) ins;
	VEC(Origin) origin;
	VEC(uint32_t) pool;
	VEC(Val) constant;
	VEC(Alloc) alloc;
	VEC(Named) name;
	VEC(Bound) buf;
	size_t name_base, buf_base; /* where the names of the Fn being expanded begin */
	uint32_t top;
	Origin at;
	int depth, nest; /* of calls; of statements, calls included */
	uint32_t statements; /* expanded so far */
	uint32_t forks; /* instructions that make instances, so far */
	bool async;
	Map cached; /* expression and lane to a slot: what is known to be computed; truncated where it may not be */
} Cx;

/* Fails at the statement that is compiled, with a printf-style sentence; false. */
#define cx_fail(c, code, ...) fail((c)->err, code, interp_place((c)->arena, (c)->at), __VA_ARGS__)
bool cx_emit(Cx *c, Ins i); /* fails beyond CODE_LIMIT */
uint32_t cx_slots(Cx *c, uint32_t n);
uint32_t cx_int(Cx *c, int64_t v);
void cx_name(Cx *c, const char *name, uint32_t slot, DType t);
const Bound *cx_find_buf(const Cx *c, const char *name);

/* The slot that holds lane `lane` of e. */
bool cx_expr(Cx *c, const Expr *e, int lane, uint32_t *slot);
/* The slots of lane `lane` of n expressions, as a list in the pool. */
bool cx_list(Cx *c, const Expr *const *e, int n, int lane, uint32_t *at);
bool cx_move(Cx *c, uint32_t d, uint32_t a);
bool cx_store(Cx *c, const Stmt *s);
bool cx_reduce(Cx *c, const Stmt *s);
bool cx_call(Cx *c, const Stmt *s);
const Fn *cx_callee(const Cx *c, const Stmt *s); /* NULL: there is none */
bool cx_is_input(const Buf *b);                  /* which must not be written */
/* Siblings; what they name is known to those that follow, and forgotten at the end. */
bool cx_sequence(Cx *c, const Stmt *s);

#endif
