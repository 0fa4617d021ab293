/* See fold.h. */
#include "schedule/template/fold.h"

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

void fold_steps(Sketch *s, const char *block, const char *loop, int64_t extent, int64_t lanes, int64_t vectors)
{
	while (lanes > 1 && lanes > extent)
		lanes /= 2;
	while (vectors > 1 && lanes * vectors > extent)
		vectors /= 2;
	int64_t width = lanes * vectors;
	sketch_step(s, "split %s %lld", loop, (long long)width);
	sketch_step(s, "rfactor %s %s.i", block, loop);
	sketch_step(s, "decompose_init %s.rf %s.o", block, loop);
	sketch_step(s, "vectorize %s.i.init", loop);
	if (extent % width != 0) {
		sketch_step(s, "cut %s.o %lld", loop, (long long)(extent / width));
		sketch_step(s, "vectorize %s.i.2", loop);
	}
	sketch_step(s, "vectorize %s.i", loop);
	fold_tree(s, block, arena_printf(s->arena, "%s.i.rf", loop), width, lanes);
}
