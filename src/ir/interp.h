/*
 * The interpreter: slow, obvious, and the oracle of everything else.
 * What is declared parallel runs in an order drawn from `seed`; logical threads (instances of
 * parallel, vector and bound loops) are interleaved at barriers, atomics and waits; accesses are
 * checked with vector clocks, so that a race, a divergent barrier, an index outside its buffer, or
 * the use of an undefined element (fresh alloc, async data not waited for, out never written) is an
 * error that names the statement. Tensors are physical: as the buffer's index map lays them out.
 */
#ifndef IR_INTERP_H
#define IR_INTERP_H

#include "ir/ir.h"

/* A tensor for the parameter `name` (or a symbol's value, when data is NULL). Owned by the caller. */
typedef struct IrArg {
	const char *name;
	void *data;    /* dtype_bytes(type, physical elements) */
	int64_t value; /* symbols and scalar parameters */
} IrArg;

typedef enum {
	IR_EXACT, /* each operation as its type says: f32 rounds to f32 */
	IR_MODP,  /* floats are residues modulo a prime: no tolerance needed, see docs/ir.md */
} IrDomain;

typedef struct IrRun {
	uint64_t seed;
	IrDomain domain;
	bool skip_races; /* faster; for large shapes */
	int64_t steps;   /* ERR_MEMORY after so many statements; 0: no limit */
} IrRun;

/*
 * Runs prepare and then run Fns of the set in order. Buffers that several Fns name and no argument
 * gives are allocated for the call. In IR_MODP tensors of floating type hold uint64_t residues.
 */
bool ir_run_set(const KernelSet *ks, const IrArg *arg, int n, const IrRun *how, Err *err);
bool ir_run_fn(const KernelSet *ks, const Fn *fn, const IrArg *arg, int n, const IrRun *how, Err *err);

/* Physical elements of a buffer under the symbols' values; -1 if that overflows. */
int64_t ir_buf_elements(const Buf *b, const Fn *fn, const IrArg *arg, int n);
/* Physical offset of a logical index; the buffer's extents and map must be constant. */
int64_t ir_buf_offset(const Buf *b, const int64_t *idx);

#endif
