/* The small Dags of tests/op, at least one for every operator, as models for the writer; and inputs for them. */
#ifndef TESTS_FRONTEND_CALLS_H
#define TESTS_FRONTEND_CALLS_H

#include "base/rng.h"
#include "op/element.h"
#include "op/op.h"

#include <string.h>

static const char *const calls[] = {
#include "op/calls.inc"
};

/* The Dag of a text; NULL: it is illegal. */
static inline Dag *parse_call(Arena *a, const char *text)
{
	Err err = { 0 };
	return dag_parse(a, "call", text, strlen(text), &err);
}

/* The text with "const x: f32[2]" as "in x: f32[2]". */
static inline char *with_inputs(Arena *a, const char *text)
{
	Text t = { .arena = a };
	while (*text != 0) {
		size_t n = strcspn(text, "\n") + 1;
		bool open = strncmp(text, "const ", 6) == 0 && memchr(text, '{', n) == NULL;
		text_add(&t, "%s%.*s", open ? "in " : "", (int)n - (open ? 6 : 0), text + (open ? 6 : 0));
		text += n;
	}
	return (char *)(uintptr_t)text_str(&t);
}

/* most: the largest whole number, since those may be indices. */
static inline void fill_random(Rng *r, const Value *v, void *data, int most)
{
	for (int64_t k = 0; k < shape_elements(v->shape); k++)
		element_set(v->type, data, k,
			v->type.kind == DT_BOOL   ? (double)rng_below(r, 2)
			: dtype_is_float(v->type) ? rng_normal(r)
									  : (double)rng_range(r, most > 1, most));
}

#endif
