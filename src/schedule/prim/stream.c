/* stream: an output too large for the caches is stored past them. */
#include "schedule/sched.h"

#include <string.h>

/* Needs: an output of run Fns.  Breaks: nothing. */
bool prim_stream(Sched *s, const Step *st)
{
	const char *name = st->arg[0].word;
	bool found = false;
	for (size_t k = 0; k < s->ks->n; k++) {
		const Fn *fn = s->ks->fn[k];
		for (int i = 0; i < fn->nparam && fn->kind == FN_RUN; i++) {
			Buf *b = fn->param[i].buf;
			if (b == NULL || b->role != BUF_OUT || strcmp(b->name, name) != 0)
				continue;
			if (b->streamed) /* all Fns that have it agree */
				return sched_refuse(s, "stream", name, "it is streamed already");
			found = b->streamed = true;
		}
	}
	return found || sched_refuse(s, "stream", name, "no run Fn has such an output");
}
