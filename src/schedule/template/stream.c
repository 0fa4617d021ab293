/*
 * Outputs that the caches cannot hold until another operator reads them. Stored past the caches, they need no lines of
 * memory read before, and what the caches hold stays there.
 */
#include "schedule/sketch.h"
#include "schedule/template/numbers.h"

#include "ir/query.h"
#include "ir/walk.h"

#include <string.h>

static double bytes_of(const Buf *b)
{
	double bytes = (double)b->type.bits / 8;
	for (int k = 0; k < b->rank; k++) {
		int64_t n;
		bytes = ir_is_int(b->shape[k], &n) ? bytes * (double)n : 0;
	}
	return bytes;
}

static bool see_reduction(Stmt *s, void *arg)
{
	*(bool *)arg |= s->kind == ST_REDUCE;
	return true;
}

/* The step streams an output in all Fns that have it: the first one asks. */
static bool is_first(const KernelSet *ks, size_t fn, const char *name)
{
	for (size_t k = 0; k < fn; k++)
		for (int i = 0; ks->fn[k]->kind == FN_RUN && i < ks->fn[k]->nparam; i++) {
			const Buf *b = ks->fn[k]->param[i].buf;
			if (b != NULL && b->role == BUF_OUT && strcmp(b->name, name) == 0)
				return false;
		}
	return true;
}

/*
 * By default where no Fn reduces: elementwise loops store one row behind the other, whole lines of memory. Tiles of a
 * product store pieces of many rows, and a line that is stored in two pieces is written to memory twice.
 */
void sketch_stores(Sketch *s)
{
	bool reduces = false;
	/* Spaces of recordings and of tests have no naive form. */
	const Cache *last = s->naive != NULL && s->target->kind == TARGET_CPU ? target_last_cache(s->target) : NULL;
	if (last == NULL)
		return;
	for (size_t k = 0; k < s->naive->n; k++)
		ir_each_stmt(s->naive->fn[k]->body, see_reduction, &reduces);
	for (size_t k = 0; k < s->naive->n; k++) {
		const Fn *fn = s->naive->fn[k];
		for (int i = 0; i < fn->nparam && fn->kind == FN_RUN; i++) {
			const Buf *b = fn->param[i].buf;
			if (b == NULL || b->role != BUF_OUT || bytes_of(b) < TMPL_STREAMED * (double)last->bytes ||
				!is_first(s->naive, k, b->name))
				continue;
			if (sketch_room(s) > 0 && sketch_flag(s, arena_printf(s->arena, "%s.streamed", b->name), !reduces))
				sketch_step(s, "stream %s", b->name);
		}
	}
}
