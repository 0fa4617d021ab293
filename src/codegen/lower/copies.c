/*
 * Async copies on a device that does them at once: the copies become plain statements, commit and wait go, and
 * pipelined loops become serial. Loops bound to axes and barriers stay. Parallel loops become serial: on a device,
 * bound loops alone run at once. A prefetch of an alloc goes, as what it holds was written a moment ago.
 *
 * Law: a copy that arrives when it is issued is one of the orders that the language allows, since nothing may touch
 * its element until the wait.
 */
#include "codegen/lower/pass.h"

static bool copy(Lower *l, Stmt *s, Stmt **out)
{
	*out = s;
	switch (s->kind) {
	case ST_ASYNC: *out = s->async; break;
	case ST_COMMIT:
	case ST_WAIT: *out = NULL; break;
	case ST_PREFETCH:
		if (lower_is_alloc(l, s->prefetch.buf))
			*out = NULL;
		break;
	case ST_FOR:
		if (s->loop.kind == LOOP_PIPELINED || s->loop.kind == LOOP_PARALLEL)
			s->loop.kind = LOOP_SERIAL;
		break;
	default: break;
	}
	return true;
}

bool pass_copies(Lower *l)
{
	return lower_rewrite(l, &l->fn->body, copy);
}
