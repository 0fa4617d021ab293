/* See fold.h. */
#include "schedule/template/fold.h"

/* A loop over partial results, in vectors: blocks of a layout end between two of them. */
static void vector_steps(Sketch *s, const char *loop, int64_t extent, int64_t lanes)
{
	if (extent > lanes) {
		sketch_step(s, "split %s %lld", loop, (long long)lanes);
		sketch_step(s, "unroll %s.o", loop);
		loop = arena_printf(s->arena, "%s.i", loop);
	}
	sketch_step(s, "vectorize %s", loop);
}

void fold_tree(Sketch *s, const char *block, const char *loop, int64_t width, int64_t lanes)
{
	while (width > TMPL_ROWS_LAST) {
		int64_t next = width > lanes ? lanes : width / 2;
		sketch_step(s, "split %s %lld", loop, (long long)next);
		sketch_step(s, "reorder %s.i %s.o", loop, loop);
		sketch_step(s, "rfactor %s %s.i as %s.%lld", block, loop, block, (long long)next);
		sketch_step(s, "reorder %s.o %s.i", loop, loop);
		sketch_step(s, "unroll %s.o", loop);
		sketch_step(s, "vectorize %s.i", loop);
		loop = arena_printf(s->arena, "%s.i.rf", loop);
		width = next;
	}
	sketch_step(s, "unroll %s", loop);
}

void fold_parts(Sketch *s, const char *block, FoldLoop k, int64_t lanes, int64_t vectors)
{
	while (vectors > 1 && lanes * vectors > k.extent)
		vectors /= 2;
	int64_t width = lanes * vectors;
	const char *inner = arena_printf(s->arena, "%s.i", k.loop);
	sketch_step(s, "split %s %lld", k.loop, (long long)width);
	sketch_step(s, "rfactor %s %s", block, inner);
	sketch_step(s, "decompose_init %s.rf %s%s", block, k.outer, k.outer == k.loop ? ".o" : "");
	vector_steps(s, arena_printf(s->arena, "%s.init", inner), width, lanes);
	if (k.extent % width != 0) {
		sketch_step(s, "cut %s.o %lld", k.loop, (long long)(k.extent / width));
		vector_steps(s, arena_printf(s->arena, "%s.2", inner), k.extent % width, lanes);
	}
	vector_steps(s, inner, width, lanes);
	fold_tree(s, block, arena_printf(s->arena, "%s.rf", inner), width, lanes);
}

void fold_steps(Sketch *s, const char *block, const char *loop, int64_t extent, int64_t lanes, int64_t vectors)
{
	while (lanes > 1 && lanes > extent)
		lanes /= 2;
	fold_parts(s, block, (FoldLoop){ loop, loop, extent }, lanes, vectors);
}
