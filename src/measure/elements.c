/*
 * See elements.h.  Every index map that blocks and
 * pads is a sum of one function for each dimension; that is tried on some elements, and where it
 * does not hold (swizzles) the map itself is evaluated, element by element.
 */
#include "measure/elements.h"
#include "measure/method.h"

#include "ir/build.h"
#include "ir/arg.h"

#include <string.h>

int64_t places_offset(const Places *p, const int64_t *index)
{
	if (p->axis == NULL)
		return ir_buf_offset(p->buf, index);
	int64_t at = p->base;
	for (int k = 0; k < p->rank; k++)
		at += p->axis[k][index[k]];
	return at;
}

/* The index behind this one in row-major order; false: it was the last. */
static bool next_index(const Places *p, int64_t *index)
{
	for (int k = p->rank - 1; k >= 0; k--) {
		if (++index[k] < p->shape[k])
			return true;
		index[k] = 0;
	}
	return false;
}

static void find_axes(Arena *a, Places *p)
{
	int64_t index[IR_MAX_RANK] = { 0 };
	int64_t **axis = arena_array(a, int64_t *, p->rank + 1);
	p->base = ir_buf_offset(p->buf, index);
	for (int k = 0; k < p->rank; k++) {
		axis[k] = arena_array(a, int64_t, p->shape[k]);
		for (index[k] = 0; index[k] < p->shape[k]; index[k]++)
			axis[k][index[k]] = ir_buf_offset(p->buf, index) - p->base;
		index[k] = 0;
	}
	p->axis = axis;
	Rng rng = rng_seed(1);
	for (int i = 0; i < METHOD_AXIS_TRIES; i++) {
		for (int k = 0; k < p->rank; k++)
			index[k] = (int64_t)rng_below(&rng, (uint64_t)p->shape[k]);
		if (places_offset(p, index) != ir_buf_offset(p->buf, index)) {
			p->axis = NULL;
			return;
		}
	}
}

bool places_of(Arena *a, const Buf *buf, Places *out)
{
	*out = (Places){ .buf = buf, .rank = buf->rank, .elements = 1 };
	out->shape = arena_array(a, int64_t, buf->rank + 1);
	for (int k = 0; k < buf->rank; k++) {
		if (!ir_is_int(buf->shape[k], &out->shape[k]))
			return false;
		out->elements *= out->shape[k];
	}
	out->physical = ir_buf_elements(buf, NULL, 0);
	if (out->elements > 0)
		find_axes(a, out);
	return out->physical >= 0;
}

uint64_t *places_padding(Arena *a, const Places *p, int64_t *n)
{
	*n = 0;
	if (p->physical == p->elements || p->elements == 0)
		return NULL;
	Arena *scratch = arena_new();
	unsigned char *reached = arena_array(scratch, unsigned char, p->physical);
	int64_t index[IR_MAX_RANK] = { 0 };
	do
		reached[places_offset(p, index)] = 1;
	while (next_index(p, index));
	uint64_t *list = arena_array(a, uint64_t, p->physical - p->elements + 1);
	for (int64_t i = 0; i < p->physical; i++)
		if (!reached[i])
			list[(*n)++] = (uint64_t)i;
	arena_free(scratch);
	return list;
}

bool places_find(const Places *p, int64_t offset, int64_t *index)
{
	memset(index, 0, sizeof *index * (size_t)p->rank);
	if (p->elements > 0)
		do
			if (places_offset(p, index) == offset)
				return true;
		while (next_index(p, index));
	return false;
}

/* First, last, or where a block of 8 or 16 ends or begins, near a random place. */
static int64_t draw_edge(Rng *rng, int64_t extent)
{
	int64_t block = rng_below(rng, 2) == 0 ? 8 : 16, at = rng_range(rng, 0, extent - 1) / block * block;
	const int64_t edge[] = { 0, 1, extent - 1, extent - 2, at, at - 1, at + block - 1 };
	int64_t v = edge[rng_below(rng, sizeof edge / sizeof *edge)];
	return v < 0 ? 0 : v >= extent ? extent - 1 : v;
}

void places_draw(Rng *rng, const Places *p, int n, int64_t *index)
{
	int corners = p->rank < 6 ? 1 << p->rank : METHOD_CORNERS;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < p->rank; k++) {
			int64_t *at = &index[i * p->rank + k], last = p->shape[k] - 1;
			if (i < corners)
				*at = (i >> k & 1) != 0 ? last : 0;
			else if (i % 2 == 0 && rng_below(rng, 2) == 0)
				*at = draw_edge(rng, last + 1);
			else
				*at = rng_range(rng, 0, last);
		}
}
