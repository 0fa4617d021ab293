/*
 * Async copies on a device that does them at once: the copies become plain statements, commit and wait go. A target
 * with instructions that copy asynchronously to shared memory keeps commit, wait, and the copies of elements to
 * shared memory. Pipelined loops become serial. Loops bound to axes and barriers stay. Parallel loops become serial:
 * on a device, bound loops alone run at once. A prefetch of an alloc goes, as what it holds was written a moment ago.
 *
 * Law: a copy that arrives when it is issued is one of the orders that the language allows, since nothing may touch
 * its element until the wait.
 */
#include "codegen/lower/pass.h"

#include "target/capability.h"

#include <string.h>

typedef struct Copies {
	Lower *l;
	bool shared; /* all stores are to shared memory, and nothing else happens */
} Copies;

static bool check(Stmt *s, void *arg)
{
	Copies *c = arg;
	if (s->kind == ST_STORE) {
		const Buf *b = lower_buf(c->l->bufs, s->store.dst.buf);
		c->shared = c->shared && strcmp(b->scope, "shared") == 0;
	} else if (s->kind != ST_FOR && s->kind != ST_IF && s->kind != ST_LET && s->kind != ST_BLOCK) {
		c->shared = false;
	}
	return true;
}

static bool copy(Lower *l, Stmt *s, Stmt **out)
{
	bool async = target_capability(l->target)->copies;
	Copies c = { l, true };
	*out = s;
	switch (s->kind) {
	case ST_ASYNC:
		ir_each_stmt(s->async, check, &c);
		if (!async || !c.shared)
			*out = s->async;
		break;
	case ST_COMMIT:
	case ST_WAIT: *out = async ? s : NULL; break;
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
	l->bufs = lower_bufs(l);
	return lower_rewrite(l, &l->fn->body, copy);
}
