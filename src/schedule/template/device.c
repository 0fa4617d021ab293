/* See device.h. */
#include "schedule/template/device.h"

#include "ir/threads/form.h"
#include "target/occupancy.h"

#include <string.h>

bool device_lone(const Target *t)
{
	return t->kind == TARGET_CPU || (target_has_blocks(t) && !target_has_warps(t));
}

int64_t device_shared(const Target *t)
{
	int64_t bytes = target_block_shared(t);
	return bytes > 0 ? bytes : TMPL_BLOCK_SHARED;
}

int64_t device_fill(const Target *t)
{
	int64_t each = t->blocks.unit_threads / 2, units = t->cores > 0 ? t->cores : 1;
	return units * (each > 0 ? each : t->blocks.warp);
}

int device_tensors(const Dag *d)
{
	int n = 0;
	for (size_t k = 0; k < d->value.n; k++)
		n += d->value.at[k].kind != VALUE_CALL;
	return n + (int)d->output.n;
}

/* Loops k and k + 1 become one. */
static void fuse_two(Sketch *s, TileAxis *loop, int *n, int k)
{
	sketch_step(s, "fuse %s %s", loop[k].name, loop[k + 1].name);
	loop[k] = (TileAxis){ arena_printf(s->arena, "%s_%s", loop[k].name, loop[k + 1].name),
		loop[k].extent * loop[k + 1].extent };
	memmove(&loop[k + 1], &loop[k + 2], sizeof *loop * (size_t)(*n - k - 2));
	(*n)--;
}

void device_bind_grid(Sketch *s, const TileAxis *loops, int n)
{
	static const char axis[] = "xyz";
	const int64_t most = ir_axis_most(AXIS_GRID, 1);
	TileAxis loop[2 * TILE_AXES];
	memcpy(loop, loops, sizeof *loop * (size_t)n);
	for (int k = 0; k + 1 < n;) /* a loop of one iteration takes no axis */
		if (loop[k].extent == 1 || loop[k + 1].extent == 1 || loop[k].extent > most)
			fuse_two(s, loop, &n, k);
		else
			k++;
	while (n > THREAD_AXES)
		fuse_two(s, loop, &n, loop[0].extent * loop[1].extent <= most ? 0 : n - 2);
	for (int k = 0; k < n; k++)
		sketch_step(s, "bind %s grid.%c", loop[k].name, axis[n - 1 - k]);
}

void device_bind_lone(Sketch *s, const TileAxis *loops, int n, int all)
{
	TileAxis loop[2 * TILE_AXES];
	int64_t blocks = 1, inside = 1;
	int bound = 0;
	for (int k = 0; k < all; k++)
		inside *= loops[k].extent;
	if (inside < 1)
		return;
	for (; bound < n && blocks < (int64_t)TMPL_LONE_BLOCKS * s->target->cores; bound++) {
		loop[bound] = loops[bound];
		blocks *= loops[bound].extent;
		inside /= loops[bound].extent;
	}
	if (bound == 0)
		return;
	TileAxis *last = &loop[bound - 1];
	int64_t part = (TMPL_LONE_WORK + inside - 1) / inside;
	if (part > 1 && last->extent > 1) {
		part = part < last->extent ? part : last->extent;
		sketch_step(s, "split %s %lld", last->name, (long long)part);
		*last = (TileAxis){ arena_printf(s->arena, "%s.o", last->name), (last->extent + part - 1) / part };
	}
	device_bind_grid(s, loop, bound);
}
