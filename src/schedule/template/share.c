/* See share.h. Few loops become one: each of them costs a division for every iteration. */
#include "schedule/template/share.h"

double share_filled(const Target *t, int64_t n)
{
	int64_t threads = t->threads > 1 ? t->threads : 1;
	return (double)n / (double)(ceil_div(n, threads) * threads);
}

int share_guess(const Target *t, const TileAxis *loop, int n, double rest)
{
	double most = 0, whole = (double)loop[0].extent;
	int64_t inner = 1;
	int best = 1;
	for (int k = 0; k < n && most < 1 - TMPL_SHARE_IDLE; k++) {
		inner *= k > 0 ? loop[k].extent : 1;
		double takes = whole / share_filled(t, loop[0].extent * inner) + rest / share_filled(t, inner);
		if ((whole + rest) / takes <= most)
			continue;
		most = (whole + rest) / takes;
		best = k + 1;
	}
	return best;
}

void share_as_one(Sketch *s, const TileAxis *loop, int n)
{
	const char *one = loop[0].name;
	for (int k = 1; k < n; k++) {
		sketch_step(s, "fuse %s %s", one, loop[k].name);
		one = arena_printf(s->arena, "%s_%s", one, loop[k].name);
	}
	sketch_step(s, "parallel %s", one);
}

void share_some(Sketch *s, const TileAxis *loop, int n)
{
	while (n > 0 && loop->extent <= 1) {
		loop++;
		n--;
	}
	n = n < TMPL_NEST_SHARED ? n : TMPL_NEST_SHARED;
	if (n > 0 && s->target->threads > 1)
		share_as_one(s, loop, share_guess(s->target, loop, n, 0));
}
