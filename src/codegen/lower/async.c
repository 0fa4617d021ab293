/*
 * What a CPU has no notion of: async copies become plain ones, done at once, so that commit and wait do
 * nothing; pipelined loops become serial; loops bound to GPU axes become parallel (grid) or serial ones.
 *
 * A barrier inside a parallel or bound loop would need that loop cut into phases. That is refused.
 */
#include "codegen/lower/pass.h"
#include "ir/query.h"

#include <string.h>

static bool is_barrier(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_BARRIER;
}

static bool async(Lower *l, Stmt *s, Stmt **out)
{
	*out = s;
	switch (s->kind) {
	case ST_ASYNC: *out = s->async; break;
	case ST_COMMIT:
	case ST_WAIT: *out = NULL; break;
	case ST_PREFETCH: /* what an alloc holds was written a moment ago */
		if (lower_is_alloc(l, s->prefetch.buf))
			*out = NULL;
		break;
	case ST_FOR:
		if (s->loop.kind == LOOP_PIPELINED)
			s->loop.kind = LOOP_SERIAL;
		if (s->loop.kind != LOOP_SERIAL && s->loop.kind != LOOP_UNROLLED &&
			ir_find_stmt(s->loop.body, is_barrier, NULL) != NULL)
			return lower_refuse(
				l, s, "a barrier stands inside loop %s: end the loop at the barrier and begin another", s->loop.var);
		if (s->loop.kind == LOOP_BOUND)
			s->loop.kind = strncmp(s->loop.axis, "grid", 4) == 0 ? LOOP_PARALLEL : LOOP_SERIAL;
		break;
	default: break;
	}
	return true;
}

/* A barrier among the instances of no loop: there is one instance. */
static bool drop_barrier(Lower *l, Stmt *s, Stmt **out)
{
	(void)l;
	*out = is_barrier(s, NULL) ? NULL : s;
	return true;
}

bool pass_async(Lower *l)
{
	return lower_rewrite(l, &l->fn->body, async) && lower_rewrite(l, &l->fn->body, drop_barrier);
}
