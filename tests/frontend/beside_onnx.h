/* A Dag beside the same network in ONNX's lines: both run on the same numbers, and the results of one name compared. */
#ifndef TESTS_FRONTEND_BESIDE_ONNX_H
#define TESTS_FRONTEND_BESIDE_ONNX_H

#include "evaluate.h"
#include "folder.h"

#include "base/rng.h"
#include "op/element.h"

#include <math.h>

/* The value of a result as numbers; its shape and type in *s. */
static inline const void *run_for(Arena *a, const Dag *d, const void *const *in, const char *result, const Value **s)
{
	Err err = { 0 };
	ck_assert_msg(dag_check(d, &err), "%s", err.text);
	void **all = evaluate(a, d, in, &err);
	ck_assert_msg(all != NULL, "%s", err.text);
	for (size_t k = 0; k < d->output.n; k++)
		if (strcmp(d->value.at[d->output.at[k]].name, result) == 0) {
			*s = &d->value.at[d->output.at[k]];
			return all[k];
		}
	ck_abort_msg("there is no result %s", result);
	return NULL;
}

/* Numbers of an input: f32 in (-1, 1), bytes of all values, else 0 or 1. */
static inline void *numbers_for(Arena *a, Rng *r, const Value *v)
{
	int64_t n = shape_elements(v->shape);
	void *x = arena_alloc_aligned(a, (size_t)dtype_bytes(v->type, n) + 1, 64);
	bool byte = dtype_is_int(v->type) && v->type.bits == 8;
	for (int64_t i = 0; i < n; i++)
		element_set(v->type, x, i,
			dtype_is_float(v->type) ? 2 * rng_real(r) - 1
			: byte                  ? (double)rng_below(r, 256) - (v->type.kind == DT_INT ? 128 : 0)
									: (double)rng_below(r, 2));
	return x;
}

/* Inputs are in the same order in both. Codes may be apart by one. */
static inline void compare_with_onnx(Arena *a, const Dag *d, const char *lines, uint64_t seed)
{
	Err err = { 0 };
	Rng r = rng_seed(seed);
	const Value *have, *want;
	Dag *o = load_text(a, lines, NULL, &err);
	ck_assert_msg(o != NULL, "%s\n%s: %s", lines, err.place, err.text);
	ck_assert_uint_eq(d->input.n, o->input.n);
	const void **in = arena_array(a, const void *, d->input.n + 1);
	for (size_t k = 0; k < d->input.n; k++)
		in[k] = numbers_for(a, &r, &d->value.at[d->input.at[k]]);
	const void *x = run_for(a, d, in, "y", &have), *y = run_for(a, o, in, "y", &want);
	ck_assert_msg(dtype_eq(have->type, want->type), "%s\nhas another type", lines);
	ck_assert_msg(shape_eq(have->shape, want->shape), "%s\nhas another shape:\n%s", lines, dag_str(a, d));
	ck_assert_int_gt(shape_elements(have->shape), 0);
	for (int64_t k = 0; k < shape_elements(have->shape); k++) {
		double p = element_get(have->type, x, k), q = element_get(want->type, y, k);
		double limit = dtype_is_float(have->type) ? 2e-5 * (1 + fabs(q)) : have->type.bits == 8 ? 1 : 0;
		ck_assert_msg(fabs(p - q) <= limit, "%s\n%lld: %g, but %g in ONNX", lines, (long long)k, p, q);
	}
}

#endif
