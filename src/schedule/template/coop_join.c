/* See coop_join.h. */
#include "schedule/template/coop_join.h"

#include "schedule/template/block.h"

#include <math.h>

static int64_t threads_of(const CoopJoin *j)
{
	return j->threads[0] * j->threads[1] * j->threads[2];
}

/* Results of a thread whose partial sums are loaded at once: a divisor of all of its results. */
static int64_t at_once(const CoopJoin *j)
{
	int64_t rounds = j->results / threads_of(j), each = TMPL_COOP_COPIES / j->parts;
	each = each < 1 ? 1 : each < rounds ? each : rounds;
	while (rounds % each != 0)
		each--;
	return each;
}

double coop_join_cycles(const Target *t, const CoopJoin *j, bool *last)
{
	double launch = t->blocks.launch_ns * t->core.ghz + TMPL_COOP_LATENCY;
	double rounds = (double)j->results / (double)threads_of(j) / (double)at_once(j);
	double bytes = (double)(j->results * j->parts) * (double)dtype_bytes(j->sum, 1);
	double own = TMPL_COOP_LATENCY * (1 + rounds) + bytes / fmax(t->core.level[1], 1); /* the count takes a latency */
	*last = t->kind == TARGET_CUDA && own < launch;
	return *last ? own : launch;
}

bool coop_join_knob(Sketch *s, const CoopJoin *j)
{
	static const char *const word[] = { "launch", "last" };
	bool last;
	coop_join_cycles(s->target, j, &last);
	return s->target->kind == TARGET_CUDA && sketch_word(s, "join", word, 2, last) == 1;
}

void coop_join_steps(Sketch *s, const Tiled *t, int64_t results)
{
	sketch_step(s, "split joined %lld", (long long)(results < TMPL_BLOCK_THREADS ? results : TMPL_BLOCK_THREADS));
	sketch_step(s, "compute_at %s joined.i", t->block);
	sketch_step(s, "bind joined.o grid.x");
	sketch_step(s, "bind joined.i block.x");
	sketch_step(s, "unroll part.rf");
}

/* Threads along axes behind x are parts of loop `joins`. */
static void bind_threads(Sketch *s, const CoopJoin *j, const char *joins)
{
	if (j->threads[1] * j->threads[2] > 1) {
		sketch_step(s, "split %s %lld as joins.zy joins.x", joins, (long long)j->threads[0]);
		sketch_step(s, "split joins.zy %lld as joins.z joins.y", (long long)j->threads[1]);
		sketch_step(s, "bind joins.z block.z");
		sketch_step(s, "bind joins.y block.y");
		joins = "joins.x";
	}
	sketch_step(s, "bind %s block.x", joins);
}

void coop_last_steps(Sketch *s, const Tiled *t, const CoopJoin *j, const TileAxis side[2], int inner, const char *loop)
{
	const char *tile[2], *place[2], *joins = "joined", *result = "joined";
	int64_t rounds = j->results / threads_of(j), each = at_once(j);
	for (int k = 0; k < 2; k++) {
		tile[k] = arena_printf(s->arena, "%s.t", side[k].name);
		place[k] = arena_printf(s->arena, "%s.j", side[k].name);
		sketch_step(s, "split %s %lld as %s %s", side[k].name, (long long)side[k].extent, tile[k], place[k]);
	}
	sketch_step(s, "reorder %s %s %s %s", tile[0], tile[1], place[!inner], place[inner]);
	sketch_step(s, "fuse %s %s as joined", place[!inner], place[inner]);
	if (rounds > 1) {
		joins = "joins";
		result = each < rounds ? "round.i" : "round";
		sketch_step(s, "split joined %lld as round joins", (long long)threads_of(j));
		sketch_step(s, "reorder joins round");
		if (each < rounds)
			sketch_step(s, "split round %lld", (long long)each);
	}
	sketch_step(s, "compute_at %s %s", t->block, result);
	sketch_step(s, "bind %s grid.y", tile[0]);
	sketch_step(s, "bind %s grid.x", tile[1]);
	bind_threads(s, j, joins);
	sketch_step(s, "unroll part.rf");
	if (rounds > 1)
		sketch_step(s, "unroll %s", result);
	sketch_step(s, "last %s", loop);
}
