/* layout: how the elements of a work buffer lie in memory. */
#include "schedule/sched.h"

#include "op/layout.h"
#include "op/naive.h"

/* Where the Fn declares a work buffer of that name; NULL: nowhere. */
static Buf *find_work(const Fn *fn, const char *name)
{
	Buf *b = fn->kind == FN_SUB ? NULL : ir_find_buf(fn, name);
	return b != NULL && b->role == BUF_WORK ? b : NULL;
}

/* Whether the layout says no more than the shape does. */
static bool is_row_major(const char *text, Shape shape)
{
	Layout l;
	bool plain = layout_read(text, shape, &l) && l.n == shape.rank;
	for (int k = 0; plain && k < l.n; k++)
		plain = l.of[k] == k;
	return plain;
}

/* Needs: a work buffer.  Breaks: nothing. */
bool prim_layout(Sched *s, const Step *st)
{
	const char *name = st->arg[0].word, *text = st->arg[1].word;
	const Buf *any = NULL;
	Shape shape;
	for (size_t k = 0; k < s->ks->n && any == NULL; k++)
		any = find_work(s->ks->fn[k], name);
	if (any == NULL)
		return sched_refuse(s, "layout", name, "there is no such work buffer");
	if (!sched_find_layout(s, "layout", any, text, &shape))
		return false;
	for (size_t k = 0; k < s->ks->n; k++) { /* Fns that share it agree on where its elements lie */
		Buf *b = find_work(s->ks->fn[k], name);
		if (b != NULL)
			b->map = is_row_major(text, shape) ? (IndexMap){ 0 } : naive_map(s->ir, text, shape);
	}
	return true;
}
