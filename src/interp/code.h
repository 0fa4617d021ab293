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

enum { RANK = IR_MAX_RANK };

/* Slots while compiling: constants carry a flag until their place is known. */
#define NOSLOT UINT32_MAX
#define CONSTANT 0x80000000u

typedef enum {
#define OP(name, slots, meaning) OP_##name,
#include "interp/ins.def"
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

typedef struct Alloc {
	const Buf *buf;
	const MapProgram *map; /* NULL: identity */
	bool shared; /* a fork follows while it is live: accesses may race */
} Alloc;

typedef struct Program {
	const KernelSet *ks;
	const Fn *fn;
	Ins *ins;
	Origin *origin;
	uint32_t n, nslot, nview, nconst, nscan;
	uint32_t *pool;
	Val *constant; /* lie behind the nslot slots */
	Alloc *alloc;
	bool forks, threads; /* any parallel loop; one with synchronisation in it */
} Program;

/* View k < nparam of the program is parameter k. sym: values of symbols and scalar parameters, as the bits of a Val. */
Program *interp_compile(Arena *a, const KernelSet *ks, const Fn *fn, const IrArg *sym, int nsym,
	InterpDomain domain, Err *err);

/* "f:12" of an instruction's statement. */
const char *interp_place(Arena *a, Origin o);

#endif
