/* pack: a constant is rearranged once, when the model is compiled, in the order in which it is read. */
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/query.h"
#include "op/layout.h"
#include "op/naive.h"

#include <ctype.h>
#include <string.h>

typedef struct Reads {
	const char *buf;
	int found;
} Reads;

static void count_read(const IrUse *use, void *arg)
{
	Reads *r = arg;
	r->found += (use->kind == USE_LOAD || use->kind == USE_WINDOW) && strcmp(use->buf, r->buf) == 0;
}

/* The constant that run Fns read under that name, or a refusal. */
static const Buf *find_constant(Sched *s, const char *name)
{
	const Buf *found = NULL;
	Reads r = { name, 0 };
	for (size_t k = 0; k < s->ks->n; k++) {
		const Fn *fn = s->ks->fn[k];
		const Buf *b = NULL; /* the parameter of that name */
		for (int i = 0; i < fn->nparam && b == NULL; i++)
			b = fn->param[i].buf != NULL && strcmp(fn->param[i].buf->name, name) == 0 ? fn->param[i].buf : NULL;
		if (b == NULL || fn->kind == FN_SUB)
			continue;
		if (b->role != BUF_CONST) {
			sched_refuse(s, "pack", name,
				fn->kind == FN_PREPARE ? "a prepare Fn makes it, so it is packed already"
						       : "it is not a constant");
			return NULL;
		}
		if (fn->kind == FN_RUN) {
			found = b;
			ir_each_use(fn->body, count_read, &r);
		}
	}
	if (found == NULL)
		sched_refuse(s, "pack", name, "no run Fn has such a constant");
	else if (r.found == 0)
		sched_refuse(s, "pack", name, "nothing reads it");
	return r.found > 0 ? found : NULL;
}

/* Needs: a constant of a run Fn.  Breaks: its name in the run Fns, where T.p is read instead. */
bool prim_pack(Sched *s, const Step *st)
{
	const char *name = st->arg[0].word, *text = st->arg[1].word;
	const char *made[DAG_MAX_RANK + 2];
	Arena *a = ir_arena(s->ir);
	Shape shape;
	Layout l;
	const Buf *from = find_constant(s, name);
	if (from == NULL || !sched_find_layout(s, "pack", from, text, &shape))
		return false;
	layout_read(text, shape, &l);
	for (int k = 0; k < shape.rank; k++) /* capitals name the dimensions in physical order */
		made[l.of[k]] = ir_name(s->ir, arena_printf(a, "%s.%c", name, tolower(text[k])));
	made[shape.rank] = sched_name(s, st, 0, "%s.p", name);
	made[shape.rank + 1] = ir_name(s->ir, arena_printf(a, "pack.%s", name));
	for (size_t k = 0; k < s->ks->n; k++)
		for (int i = 0; i < shape.rank + 2; i++)
			if (nest_has_name(s->ks->fn[k], made[i]) || strcmp(s->ks->fn[k]->name, made[i]) == 0)
				return sched_refuse_for(s, "pack", name, "the name %s is already in use", made[i]);
	Buf *to = ir_buf(s->ir, made[shape.rank], BUF_CONST, from->type, "global", shape.dim, shape.rank);
	to->map = naive_map(s->ir, text, shape);
	Fn *prepare = ir_fn(s->ir, made[shape.rank + 1], FN_PREPARE);
	Buf *out = arena_copy(a, to, sizeof *to);
	out->role = BUF_OUT;
	ir_fn_add_buf(s->ir, prepare, arena_copy(a, from, sizeof *from));
	ir_fn_add_buf(s->ir, prepare, out);
	prepare->body = producer_copy_nest(s->ir, prepare->name, from, out, made);
	ir_set_add(s->ks, prepare);
	for (size_t k = 0; k < s->ks->n; k++) {
		Fn *fn = s->ks->fn[k];
		for (int i = 0; fn->kind == FN_RUN && i < fn->nparam; i++) {
			if (fn->param[i].buf == NULL || strcmp(fn->param[i].buf->name, from->name) != 0)
				continue;
			fn->param[i] = (Param){ to, to->name, to->type };
			producer_rename(s->ir, fn->body, from->name, to->name);
		}
	}
	return true;
}
