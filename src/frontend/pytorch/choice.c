/* Sides of conditions; choice.h says what they are. */
#include "frontend/pytorch/choice.h"
#include "frontend/pytorch/chosen.h"
#include "frontend/pytorch/pytorch.h"
#include "frontend/pytorch/quant.h"

#include "op/element.h"

#include <string.h>

enum { MOST_DEPTH = 16 };

/* ---- when things were made */

static void stamp(TorchValue x, unsigned born, int depth)
{
	TorchList *l = x.kind == TORCH_LIST || x.kind == TORCH_TUPLE || x.kind == TORCH_DICT ? x.list
	               : x.kind == TORCH_OBJECT                                              ? x.object->state
	                                                                                     : NULL;
	if (x.kind == TORCH_TENSOR && x.tensor->born == 0)
		x.tensor->born = born;
	if (l == NULL || l->born != 0 || depth > MOST_DEPTH)
		return;
	l->born = born;
	for (size_t k = 0; k < l->n; k++)
		stamp(l->at[k], born, depth + 1);
}

void sides_born(Visit *v, TorchValue x)
{
	stamp(x, ++program_of(v)->born, 0);
}

void sides_old(TorchValue x)
{
	stamp(x, 1, 0);
}

/* ---- changes */

void sides_note_tensor(Visit *v, TorchTensor *root)
{
	Sides *s = program_of(v)->sides;
	if (s == NULL || root->born > s->born || root->noted == s)
		return;
	Item *before = torch_item(v, root);
	vec_push(v->im->arena, &s->change,
		((SideChange){ .tensor = root, .before = before, .first = before, .noted = root->noted }));
	root->noted = s;
}

static TorchList copied(Visit *v, const TorchList *l)
{
	TorchList y = { 0 };
	torch_spend(v, (int64_t)l->n);
	for (size_t k = 0; k < l->n && node_ok(v); k++)
		torch_push(v->im->arena, &y, l->at[k]);
	return y;
}

static void put_back(TorchList *l, const TorchList *content)
{
	l->at = content->at;
	l->n = content->n;
	l->cap = content->cap;
}

static void note_list(Visit *v, TorchList *l, bool state)
{
	Sides *s = program_of(v)->sides;
	if (l->fixed)
		node_fail(v, ERR_UNSUPPORTED,
			"it changes %s that is one of two, as a condition on data says: make a copy of it before the change",
			state ? "an object" : "a list or a dictionary");
	if (s == NULL || l->born > s->born || l->noted == s)
		return;
	SideChange c = { .list = l, .old = copied(v, l), .state = state, .noted = l->noted };
	c.made = copied(v, l);
	vec_push(v->im->arena, &s->change, c);
	l->noted = s;
}

void sides_note_list(Visit *v, TorchList *l)
{
	note_list(v, l, false);
}

void sides_note_state(Visit *v, TorchObject *o)
{
	note_list(v, o->state, true);
}

void sides_open(Visit *v, Sides *s)
{
	s->up = program_of(v)->sides;
	s->born = program_of(v)->born;
	program_of(v)->sides = s;
}

void sides_turn(Visit *v, Sides *s)
{
	s->first_side = s->change.n;
	for (size_t k = 0; k < s->change.n && node_ok(v); k++) {
		SideChange *c = &s->change.at[k];
		if (c->tensor != NULL) {
			c->first = c->tensor->item;
			c->tensor->item = c->before;
			c->tensor->writes++; /* views compute theirs again */
		} else {
			TorchList old = copied(v, &c->old);
			c->made = *c->list;
			put_back(c->list, &old);
		}
	}
}

static void close_tensor(Visit *v, const Sides *s, SideChange *c)
{
	TorchTensor *t = c->tensor;
	Item *second = t->item;
	t->noted = c->noted;
	if (c->first == second && second == c->before)
		return;
	t->item = c->before;
	sides_note_tensor(v, t); /* for the sides around */
	int a = node_item_value(v, c->first), b = node_item_value(v, second);
	t->item = node_new_item(v, node_where(v, s->when, a, b));
	t->writes++;
}

static void close_list(Visit *v, Sides *s, const SideChange *c)
{
	TorchList *l = c->list, second = *l;
	l->noted = c->noted;
	put_back(l, &c->old);
	note_list(v, l, c->state);
	put_back(l, &second);
	if (c->made.n != second.n) {
		l->lost = arena_printf(v->im->arena,
			"a list has %zu elements on one side of the condition of line %d, which depends on data, and %zu on the "
			"other",
			c->made.n, s->line, second.n);
		return;
	}
	for (size_t i = 0; i < l->n && node_ok(v); i++) {
		l->at[i] = sides_choose(v, s, c->made.at[i], second.at[i]);
		if (l->at[i].kind == TORCH_LOST && (!c->state || i % 2 == 0)) /* an object's other attributes can be read */
			l->lost = l->at[i].text;
	}
}

void sides_close(Visit *v, Sides *s)
{
	program_of(v)->sides = s->up;
	for (size_t k = 0; k < s->change.n && node_ok(v); k++) /* tensors first: lists hold them */
		if (s->change.at[k].tensor != NULL)
			close_tensor(v, s, &s->change.at[k]);
	for (size_t k = 0; k < s->change.n && node_ok(v); k++)
		if (s->change.at[k].list != NULL)
			close_list(v, s, &s->change.at[k]);
}

/* ---- choices */

static TorchValue lost(Visit *v, const Sides *s, const char *a, const char *b)
{
	return (TorchValue){ .kind = TORCH_LOST,
		.text = arena_printf(v->im->arena,
			"it is %s where the condition of line %d holds, which depends on data, and %s where not", a, s->line, b) };
}

static const char *described(Visit *v, TorchValue x)
{
	if (x.kind == TORCH_TENSOR) {
		char shape[160], type[DTYPE_TEXT];
		const Item *it = torch_item(v, x.tensor);
		return arena_printf(v->im->arena, "%s[%s]", dtype_print(it->type, type), shape_str(it->shape, shape));
	}
	if (x.kind == TORCH_LIST || x.kind == TORCH_TUPLE)
		return arena_printf(v->im->arena, "a %s of %zu", torch_kind_name(x.kind), x.list->n);
	if (x.kind == TORCH_TEXT)
		return arena_printf(v->im->arena, "'%.60s'", x.text);
	return x.kind == TORCH_NONE ? "None" : arena_printf(v->im->arena, "a %s", torch_kind_name(x.kind));
}

/* A number; beside one (with), any tensor without dimensions is a number that depends on data. */
static bool numeric(Visit *v, TorchValue x, TorchValue with)
{
	return torch_is_number(x) || (x.kind == TORCH_TENSOR && (x.tensor->number || torch_is_number(with)) &&
									 torch_is_current(x.tensor) && torch_item(v, x.tensor)->shape.rank == 0);
}

static DType number_type(TorchValue x)
{
	return x.kind == TORCH_TENSOR  ? x.tensor->item->type
	       : x.kind == TORCH_FLOAT ? F32
	       : x.kind == TORCH_INT   ? I64
	                               : BOOL;
}

static int number_value(Visit *v, TorchValue x, DType t)
{
	if (x.kind == TORCH_TENSOR)
		return node_cast(v, torch_value(v, x.tensor), t);
	return node_number(v, t, torch_number(x));
}

static TorchValue choose_numbers(Visit *v, const Sides *s, TorchValue a, TorchValue b)
{
	if (torch_is_number(a) && torch_is_number(b) && a.kind == b.kind && torch_number(a) == torch_number(b))
		return a;
	DType p = number_type(a), q = number_type(b), t = dtype_is_float(p) || q.kind == DT_BOOL ? p : q;
	TorchValue y = torch_of(v, node_where(v, s->when, number_value(v, a, t), number_value(v, b, t)));
	y.tensor->number = true;
	return y;
}

static TorchValue choose_tensors(Visit *v, const Sides *s, TorchValue a, TorchValue b)
{
	if (!torch_is_current(a.tensor) || !torch_is_current(b.tensor))
		return (TorchValue){ .kind = TORCH_LOST,
			.text = "a tensor was written of which this one is a copy in dlc, but may be a view in PyTorch" };
	const Item *p = torch_item(v, a.tensor), *q = torch_item(v, b.tensor);
	if (!shape_eq(p->shape, q->shape) || !dtype_eq(p->type, q->type) || p->kind != q->kind)
		return lost(v, s, described(v, a), described(v, b));
	const TorchQuant *qa = torch_quant(a.tensor), *qb = torch_quant(b.tensor);
	if (qa != qb && (qa == NULL || qb == NULL || qa->scales != NULL || qb->scales != NULL || qa->scale != qb->scale ||
						qa->zero != qb->zero))
		return lost(v, s, "a tensor of one scale", "one of another");
	const TorchChosen *ca = torch_chosen(a.tensor), *cb = torch_chosen(b.tensor);
	if (ca != cb && (ca == NULL || cb == NULL || ca->count != cb->count))
		return lost(v, s, "a tensor of one number of rows", "one of another, as data says");
	const TorchTensor *ra = torch_root(a.tensor), *rb = torch_root(b.tensor);
	int y = node_where(v, s->when, torch_value(v, a.tensor), torch_value(v, b.tensor));
	bool old_a = ra->born <= s->born, old_b = rb->born <= s->born;
	/* A tensor of before is in two variables: a write to one of them is not seen in the other. */
	TorchValue out = old_a ? torch_copy_of(v, a.tensor, y) : old_b ? torch_copy_of(v, b.tensor, y) : torch_of(v, y);
	out.tensor->fixed = old_a && old_b;
	out.tensor->quant = qa;
	out.tensor->chosen = ca;
	out.tensor->dense = torch_is_dense(v, a.tensor) && torch_is_dense(v, b.tensor);
	return out;
}

static TorchValue choose_at(Visit *v, Sides *s, TorchValue a, TorchValue b, int depth);

/* Both sides chose the same two before: NULL if not. A list that is in more than one choice may not be changed. */
static TorchList *chosen_before(Visit *v, const Sides *s, const TorchList *a, const TorchList *b, bool *shared)
{
	TorchList *y = NULL;
	torch_spend(v, (int64_t)s->list.n);
	for (size_t k = 0; k < s->list.n; k++) {
		const ChosenLists *c = &s->list.at[k];
		if (c->a == a && c->b == b) {
			y = c->both;
		} else if (c->a == a || c->b == b) {
			c->both->fixed = true;
			*shared = true;
		}
	}
	return y;
}

/* What is changed in one of the lists of before would have to change in the chosen one, and the other way round. */
static TorchList *choose_elements(Visit *v, Sides *s, TorchList *a, TorchList *b, int depth)
{
	bool old_a = a->born <= s->born, old_b = b->born <= s->born, shared = false;
	TorchList *y = chosen_before(v, s, a, b, &shared);
	if (y != NULL)
		return y;
	y = torch_list(v->im->arena, TORCH_LIST).list;
	vec_push(v->im->arena, &s->list, ((ChosenLists){ a, b, y }));
	y->fixed = shared || old_a || old_b || a->fixed || b->fixed;
	a->fixed |= old_a;
	b->fixed |= old_b;
	torch_spend(v, (int64_t)a->n);
	for (size_t k = 0; k < a->n && node_ok(v); k++) {
		TorchValue x = choose_at(v, s, a->at[k], b->at[k], depth + 1);
		if (x.kind == TORCH_LOST)
			y->lost = x.text;
		torch_push(v->im->arena, y, x);
	}
	return y;
}

static TorchValue choose_at(Visit *v, Sides *s, TorchValue a, TorchValue b, int depth)
{
	bool list = (a.kind == TORCH_LIST || a.kind == TORCH_TUPLE || a.kind == TORCH_DICT) && a.kind == b.kind;
	if (!node_ok(v))
		return a;
	if (a.kind == TORCH_LOST || b.kind == TORCH_LOST) { /* without a text: its side never sets it */
		bool second = a.kind == TORCH_LOST ? a.text == NULL : b.text != NULL;
		return second ? b : a;
	}
	if (numeric(v, a, b) && numeric(v, b, a) &&
		!(a.kind == TORCH_TENSOR && b.kind == TORCH_TENSOR && a.tensor == b.tensor))
		return choose_numbers(v, s, a, b);
	if (a.kind == TORCH_TENSOR && b.kind == TORCH_TENSOR)
		return a.tensor == b.tensor ? a : choose_tensors(v, s, a, b);
	if (list && a.list == b.list)
		return a;
	if (depth > MOST_DEPTH)
		return lost(v, s, "nested deep", "too");
	if (list && a.list->n == b.list->n) {
		bool keys = true;
		for (size_t k = 0; a.kind == TORCH_DICT && k < a.list->n; k += 2)
			keys = keys && torch_equal(v, a.list->at[k], b.list->at[k]);
		if (keys)
			return (TorchValue){ .kind = a.kind, .list = choose_elements(v, s, a.list, b.list, depth) };
	}
	if (a.kind == TORCH_OBJECT && b.kind == TORCH_OBJECT && a.object != b.object &&
		strcmp(a.object->class, b.object->class) == 0 && a.object->state->n == b.object->state->n) {
		TorchObject *o = arena_new_of(v->im->arena, TorchObject);
		*o = *a.object;
		o->state = choose_elements(v, s, a.object->state, b.object->state, depth);
		return (TorchValue){ .kind = TORCH_OBJECT, .object = o };
	}
	bool same = a.kind == b.kind && !list && torch_equal(v, a, b);
	if (a.kind == TORCH_METHOD && b.kind == TORCH_METHOD)
		same = a.object == b.object && a.code == b.code;
	return same ? a : lost(v, s, described(v, a), described(v, b));
}

TorchValue sides_choose(Visit *v, Sides *s, TorchValue a, TorchValue b)
{
	return choose_at(v, s, a, b, 0);
}
