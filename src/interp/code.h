/*
 * What the interpreter runs: a Fn flattened to instructions over value slots and buffer views. A
 * logical thread is a pc and a copy of the slots, so that any interleaving is possible. Calls are
 * expanded in place; symbols have become constants. compile (interp/expr.c, interp/stmt.c) makes
 * it, interp/exec.c runs it.
 */
#ifndef INTERP_CODE_H
#define INTERP_CODE_H

#include "interp/interp.h"
#include "interp/num.h"

enum { RANK = IR_MAX_RANK, MAP_OPS = 192 };

/* Slots while compiling: constants carry a flag until their place is known. */
#define NOSLOT UINT32_MAX
#define CONSTANT 0x80000000u

typedef enum {
#define OP(name, slots, meaning) OP_##name,
#include "interp/op.def"
#undef OP
} Op;

typedef struct Ins {
	uint8_t op, node, kind, bits; /* kind and bits: the element type */
	uint32_t d, a, b, c;
} Ins;

/* Where an instruction comes from, for messages. */
typedef struct Origin {
	const Fn *fn;
	const Stmt *stmt;
} Origin;

/* An index map as a straight program: physical index k is reg[at[k]]; indices come first. */
typedef struct MapCode {
	int n, nop;
	int at[RANK];
	struct MapOp {
		Node op;
		DType type; /* of the arguments */
		int n, arg[3];
		int64_t value; /* IR_INT */
	} code[MAP_OPS];
} MapCode;

typedef struct Alloc {
	const Buf *buf;
	const MapCode *map; /* NULL: identity */
	bool shared; /* a fork follows while it is live: accesses may race */
} Alloc;

typedef struct Program {
	const KernelSet *ks;
	const Fn *fn;
	Ins *ins;
	Origin *origin;
	uint32_t n, nslot, nview, nconst, npool, nalloc, nscan;
	uint32_t *pool;
	Val *constant; /* lie behind the nslot slots */
	Alloc *alloc;
	bool forks, threads; /* any parallel loop; one with synchronisation in it */
} Program;

/* What a Fn's symbols stand for. */
typedef struct Binding {
	const char *name;
	DType type;
	Val value;
} Binding;

/* View k < nparam of the program is parameter k. */
Program *interp_compile(Arena *a, const KernelSet *ks, const Fn *fn, const Binding *sym, int nsym,
	IrDomain domain, Err *err);

/* An integer expression of constants, the bindings and index variables: shapes and index maps. */
bool interp_eval(const Expr *e, const Binding *sym, int nsym, int64_t *v);
const MapCode *interp_map(
	Arena *a, const Buf *b, const Binding *sym, int nsym, const Fn *fn, Err *err);
/* The physical index k of logical idx; false if a divisor is zero. */
bool interp_map_at(const MapCode *m, const int64_t *idx, int rank, int64_t *phys);

/* "f:12" of an instruction's statement. */
const char *interp_place(Arena *a, Origin o);

#endif
