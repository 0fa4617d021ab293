/* Runs a Dag, constants included, through its naive Fn and the interpreter. */
#ifndef TESTS_EVALUATE_H
#define TESTS_EVALUATE_H

#include "interp/interp.h"
#include "op/op.h"

#include <string.h>

/* in[k] for d->input k; the results live in `a`, poisoned before. NULL and err on failure. */
static inline void **evaluate(Arena *a, const Dag *d, const void *const *in, Err *err)
{
	KernelSet *ks = op_naive(ir_new(a), d, "model", NAIVE_AS_TYPED, err);
	if (ks == NULL)
		return NULL;
	const Fn *fn = ks->fn[0];
	void **out = arena_array(a, void *, d->output.n + 1);
	IrArg *arg = arena_array(a, IrArg, fn->nparam + 1);
	int n = 0; /* parameters are the inputs, the constants and the outputs, in this order */
	for (size_t k = 0; k < d->input.n; k++, n++)
		arg[n].data = (void *)(uintptr_t)in[k];
	for (size_t k = 0; k < d->value.n; k++)
		if (d->value.at[k].kind == VALUE_CONST)
			arg[n++].data = (void *)(uintptr_t)d->value.at[k].data;
	for (size_t k = 0; k < d->output.n; k++, n++) {
		size_t bytes = (size_t)value_bytes(&d->value.at[d->output.at[k]]);
		arg[n].data = out[k] = memset(arena_alloc_aligned(a, bytes + 1, 64), 0x7f, bytes);
	}
	for (int k = 0; k < n; k++)
		arg[k].name = fn->param[k].name;
	InterpRun how = { .seed = 1, .skip_races = true };
	return interp_run_set(ks, arg, n, &how, err) ? out : NULL;
}

#endif
