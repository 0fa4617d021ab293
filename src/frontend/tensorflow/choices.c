/*
 * Choices of TensorFlow's version 1. A Switch whose predicate is a constant keeps one side, and the Merge behind it has
 * that side's value. Any other choice becomes an If: its graphs are the Ops that only one side needs, so that a
 * predicate that is known while importing takes one side without the other. Where something else reads these Ops, a
 * Merge of the predicate and both values is left, and both sides are computed: dlc's operators have no effects.
 */
#include "frontend/tensorflow/control.h"

#include <string.h>

/* Merges times Ops: each looks at all, several times. Ops that are met behind values, for all Merges together. */
enum { MOST_MARKS = 1 << 24, MOST_MET = 1 << 27 };

/* 0 or 1 as a constant that a predicate is, -1 if it is none; `inverted`: behind LogicalNot. */
static int known_choice(TfOps *o, TfRef r)
{
	int inverted = 0;
	for (int steps = 0; steps < 64; steps++) {
		const TfOp *op = at(o, r);
		if (op_is(op, "Const")) {
			const TfValue *t = op->from != NULL ? tf_attr(op->from, "value") : NULL;
			NodeTensor x;
			Err ignored = { 0 };
			if (t == NULL || t->tensor == NULL || !tf_tensor_read(o->all->arena, t->tensor, "", &x, &ignored) ||
				x.type.kind != DT_BOOL || shape_elements(x.shape) != 1)
				return -1;
			return *(const unsigned char *)x.data ^ inverted;
		}
		inverted ^= op_is(op, "LogicalNot");
		if (op->in.n == 0 || !(op_is(op, "Identity") || op_is(op, "LogicalNot") || op_is(op, "Switch") ||
								 op_is(op, "PlaceholderWithDefault") || op_is(op, "StopGradient")))
			return -1;
		r = op->in.at[0];
	}
	return -1;
}

/* Whether a value stands on a side that is never taken: behind the dead result of a Switch. */
static void mark_dead(TfOps *o, const int *choice, bool *dead, const Walk *w)
{
	for (size_t i = 0; i < w->order.n; i++) {
		int k = w->order.at[i];
		const TfOp *op = &o->op.at[k];
		bool merge = op_is(op, "Merge"), all = merge && op->in.n > 0;
		for (size_t j = 0; j < op->in.n + op->captured.n; j++) {
			TfRef r = j < op->in.n ? op->in.at[j] : op->captured.at[j - op->in.n];
			bool gone = dead[r.op] || (choice[r.op] >= 0 && r.out != choice[r.op]);
			all = merge ? all && gone : all || gone;
		}
		dead[k] = all;
	}
}

/* What each Switch chooses by: its predicate behind Identity nodes, numbered in the file's order. */
typedef struct Predicates {
	TfRefs at;
	int *of;
	/* Of meet_sides: */
	bool *met;
	TfRefs stack;
	unsigned char *side[3]; /* for each predicate */
	int64_t spent;          /* Ops, of MOST_MET */
} Predicates;

static Predicates number_predicates(TfOps *o)
{
	Arena *a = o->all->arena;
	Names *seen = names_new(a);
	Predicates p = { .of = arena_array(a, int, o->op.n + 1), .met = arena_array(a, bool, o->op.n + 1) };
	for (size_t k = 0; k < o->op.n; k++) {
		if (!op_is(&o->op.at[k], "Switch") || o->op.at[k].in.n != 2)
			continue;
		TfRef r = o->op.at[k].in.at[1];
		for (int steps = 0; steps < 64 && op_is(at(o, r), "Identity") && at(o, r)->in.n == 1; steps++)
			r = at(o, r)->in.at[0];
		r.out = op_is(at(o, r), "Switch") ? 0 : r.out;
		const char *key = arena_printf(a, "%d:%d", r.op, r.out);
		p.of[k] = names_find(seen, key);
		if (p.of[k] >= 0)
			continue;
		p.of[k] = (int)p.at.n;
		names_bind(seen, key, p.of[k]);
		vec_push(a, &p.at, r);
	}
	for (int k = 0; k < 3; k++)
		p.side[k] = arena_alloc(a, p.at.n + 1);
	return p;
}

/*
 * The sides of Switches that are met behind a value, bits for each predicate; with one predicate that of the first ones
 * alone, behind which it was decided anew. `after`: a side that reads no Switch, a constant, is known by what it waits
 * for.
 */
static void meet_sides(TfOps *o, Predicates *by, TfRef from, bool after, int only, unsigned char *side)
{
	Arena *a = o->all->arena;
	by->spent += (int64_t)(o->op.n + by->at.n);
	if (by->spent > MOST_MET)
		return;
	memset(by->met, 0, sizeof *by->met * o->op.n);
	memset(side, 0, by->at.n);
	vec_push(a, &by->stack, from);
	while (by->stack.n > 0) {
		TfRef r = by->stack.at[--by->stack.n];
		const TfOp *op = at(o, r);
		bool decides = op_is(op, "Switch") && op->in.n == 2;
		if (decides)
			side[by->of[r.op]] |= (unsigned char)(1 << (r.out != 0));
		if (by->met[r.op] || (decides && by->of[r.op] == only))
			continue;
		by->met[r.op] = true;
		for (size_t k = 0; k < op->in.n; k++)
			vec_push(a, &by->stack, op->in.at[k]);
		for (size_t k = 0; k < op->captured.n; k++)
			vec_push(a, &by->stack, op->captured.at[k]);
		for (size_t k = 0; k < op->after.n && after; k++)
			vec_push(a, &by->stack, op->after.at[k]);
	}
}

/* One input of a Merge has one side of a predicate, the other one the other or neither. */
static bool parts(unsigned char first, unsigned char second)
{
	return (first | second) == 3 && first != 3 && second != 3;
}

/* The innermost Switch that decides between both inputs of a Merge, and which input is the true side; false: none. */
static bool find_switch(TfOps *o, Predicates *by, const TfOp *merge, bool after, int *predicate, int *truth)
{
	unsigned char **side = by->side, *own = by->side[2];
	for (int k = 0; k < 2; k++)
		meet_sides(o, by, merge->in.at[k], after, -1, side[k]);
	for (int nearest = 0; nearest < 2 && by->spent <= MOST_MET; nearest++)
		for (size_t p = by->at.n; p-- > 0;) { /* the last one in the file is the innermost one */
			if (nearest == 1 && (side[0][p] | side[1][p]) == 3) /* choices before this one may have it, too */
				for (int k = 0; k < 2; k++) {
					meet_sides(o, by, merge->in.at[k], after, (int)p, own);
					side[k][p] = own[p];
				}
			if (by->spent <= MOST_MET && parts(side[0][p], side[1][p])) {
				*predicate = (int)p;
				*truth = side[0][p] == 2 ? 0 : 1;
				return true;
			}
		}
	return false;
}

/* The value of a Switch is there on both sides. */
static void join_sides(TfOps *o, TfRefs *list)
{
	for (size_t k = 0; k < list->n; k++)
		if (list->at[k].op >= 0 && op_is(at(o, list->at[k]), "Switch") && list->at[k].out <= 1)
			list->at[k].out = 0;
}

/* ---- choices as graphs: what only one side needs is computed where that side is taken */

/* A Merge, the number of its predicate, and which of its inputs is the true side. */
typedef struct Decided {
	int merge, predicate, truth;
	int group; /* with the others whose sides share Ops */
} Decided;
typedef VEC(Decided) DecidedList;

typedef struct Sides {
	TfOps *o;
	const Predicates *by;
	const int *order; /* all Ops, those that are read first */
	const int *home;  /* the loop whose graph has an Op, or -1 */
	size_t norder;
	DecidedList list;
	const TfRefs *root;
} Sides;

/* Marks with `mark` the Ops behind one input of a Merge that are behind a Switch of its predicate. */
static void mark_side(const Sides *s, const Decided *d, int input, unsigned char *marks, unsigned char mark)
{
	TfOps *o = s->o;
	Walk w = walk_new(o, o->all->arena);
	bool *inside = arena_array(o->all->arena, bool, o->op.n + 1);
	for (size_t k = 0; k < o->op.n; k++)
		if (op_is(&o->op.at[k], "Switch") && o->op.at[k].in.n == 2 && s->by->of[k] == d->predicate) {
			w.state[k] = 3;
			inside[k] = true;
		}
	walk_from(&w, o->op.at[d->merge].in.at[input]);
	for (size_t i = 0; i < w.order.n; i++) {
		int k = w.order.at[i];
		const TfOp *op = &o->op.at[k];
		for (size_t j = 0; j < op->in.n + op->captured.n && !inside[k]; j++)
			inside[k] = inside[j < op->in.n ? op->in.at[j].op : op->captured.at[j - op->in.n].op];
		if (inside[k])
			marks[k] |= mark;
	}
}

/* Merges of one predicate whose sides share an Op are of one choice. */
static void group_merges(Sides *s)
{
	Arena *a = s->o->all->arena;
	size_t n = s->o->op.n;
	int *owner = arena_array(a, int, n + 1);
	bool *decides = arena_array(a, bool, s->by->at.n + 1);
	for (size_t i = 0; i < s->list.n; i++)
		decides[s->list.at[i].predicate] = true;
	for (size_t p = 0; p < s->by->at.n; p++) {
		if (!decides[p])
			continue;
		memset(owner, 0, sizeof *owner * n);
		for (size_t i = 0; i < s->list.n; i++) {
			Decided *d = &s->list.at[i];
			if (d->predicate != (int)p)
				continue;
			unsigned char *marks = arena_alloc(a, n + 1);
			mark_side(s, d, 0, marks, 1);
			mark_side(s, d, 1, marks, 1);
			d->group = (int)i + 1;
			for (size_t k = 0; k < n; k++) {
				int other = marks[k] != 0 ? owner[k] : 0;
				for (size_t j = 0; j < i && other != 0 && other != d->group; j++)
					if (s->list.at[j].group == other)
						s->list.at[j].group = d->group;
				for (size_t j = 0; j < n && other != 0 && other != d->group; j++)
					owner[j] = owner[j] == other ? d->group : owner[j];
				owner[k] = marks[k] != 0 ? d->group : owner[k];
			}
		}
	}
}

/* An Op is in a side, or in the graph of a loop that is. */
static bool in_side(const Sides *s, const unsigned char *marks, int k, int side)
{
	for (; k >= 0; k = s->home[k])
		if (marks[k] == side)
			return true;
	return false;
}

/* Nothing but its Merges reads what a side computes, which reads none of them. */
static bool is_closed(const Sides *s, int group, const unsigned char *marks)
{
	TfOps *o = s->o;
	bool *member = arena_array(o->all->arena, bool, o->op.n + 1);
	Walk w = walk_new(o, o->all->arena);
	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.at[i].group == group) {
			int merge = s->list.at[i].merge;
			member[merge] = true;
			if (marks[merge] != 0 || o->op.at[merge].nout > 1)
				return false;
		}
	for (size_t k = 0; k < s->root->n; k++)
		if (marks[s->root->at[k].op] != 0)
			return false;
	for (size_t i = 0; i < s->norder; i++) {
		int k = s->order[i];
		const TfOp *op = &o->op.at[k];
		if (marks[k] == 3)
			return false;
		for (size_t j = 0; j < op->in.n + op->captured.n; j++) {
			TfRef r = j < op->in.n ? op->in.at[j] : op->captured.at[j - op->in.n];
			if (marks[r.op] != 0 && !member[k] && !in_side(s, marks, k, marks[r.op]))
				return false;
			if (marks[r.op] == 0 && (member[k] || marks[k] != 0))
				walk_from(&w, r);
		}
		for (size_t j = 0; op->loop != NULL && j < op->loop->body_out.n; j++)
			if (marks[op->loop->body_out.at[j].op] != 0)
				return false;
	}
	for (size_t i = 0; i < w.order.n; i++)
		if (member[w.order.at[i]])
			return false;
	return true;
}

static void make_merge(Sides *s, const Decided *d)
{
	TfOp *op = &s->o->op.at[d->merge];
	TfRefs in = one_ref(s->o, s->by->at.at[d->predicate]);
	vec_push(s->o->all->arena, &in, op->in.at[d->truth]);
	vec_push(s->o->all->arena, &in, op->in.at[1 - d->truth]);
	become(op, "Merge", in);
}

/* The first Merge becomes an If with the results of all, which the others read. */
static void make_if(Sides *s, int group, const unsigned char *marks, int number)
{
	Arena *a = s->o->all->arena;
	TfChoice *c = arena_new_of(a, TfChoice);
	int first = -1, n = 0;
	c->number = number;
	for (size_t i = 0; i < s->norder; i++) {
		TfOp *op = &s->o->op.at[s->order[i]];
		if (marks[s->order[i]] == 0 || op->side != 0) /* those of a choice inside have its number */
			continue;
		op->side = number;
		vec_push(a, &c->op[marks[s->order[i]] - 1], s->order[i]);
	}
	for (size_t i = 0; i < s->list.n; i++) {
		const Decided *d = &s->list.at[i];
		TfOp *op = &s->o->op.at[d->merge];
		if (d->group != group)
			continue;
		vec_push(a, &c->result[0], op->in.at[d->truth]);
		vec_push(a, &c->result[1], op->in.at[1 - d->truth]);
		if (first < 0)
			first = d->merge;
		else
			become(op, "Identity", one_ref(s->o, (TfRef){ first, n }));
		n++;
		if (first == d->merge)
			become(op, "If", one_ref(s->o, s->by->at.at[d->predicate]));
	}
	s->o->op.at[first].nout = n;
	s->o->op.at[first].choice = c;
}

/* Choices inside of others come first: they have fewer Ops. */
typedef struct ChoiceGroup {
	int group;
	size_t size;
	unsigned char *marks; /* of each Op: 1 in the true side, 2 in the false one, 3 in both */
} ChoiceGroup;
typedef VEC(ChoiceGroup) ChoiceGroups;

static void add_group(Sides *s, int group, ChoiceGroups *all)
{
	size_t n = s->o->op.n, to = all->n;
	ChoiceGroup g = { group, 0, arena_alloc(s->o->all->arena, n + 1) };
	for (size_t i = 0; i < s->list.n; i++)
		for (int k = 0; k < 2 && s->list.at[i].group == group; k++)
			mark_side(s, &s->list.at[i], k, g.marks, k == s->list.at[i].truth ? 1 : 2);
	for (size_t k = 0; k < n; k++)
		g.size += g.marks[k] != 0;
	vec_push(s->o->all->arena, all, g);
	for (; to > 0 && all->at[to - 1].size > g.size; to--)
		all->at[to] = all->at[to - 1];
	all->at[to] = g;
}

/* False: too much to look at. */
static bool make_sides(Sides *s)
{
	ChoiceGroups all = { 0 };
	if (s->list.n > 0 && s->o->op.n > MOST_MARKS / s->list.n)
		return false;
	group_merges(s);
	for (size_t i = 0; i < s->list.n; i++) {
		bool known = false;
		for (size_t j = 0; j < i; j++)
			known |= s->list.at[j].group == s->list.at[i].group;
		if (!known)
			add_group(s, s->list.at[i].group, &all);
	}
	bool *closed = arena_array(s->o->all->arena, bool, all.n + 1);
	for (size_t k = 0; k < all.n; k++) /* before any of them changes what is looked at */
		closed[k] = is_closed(s, all.at[k].group, all.at[k].marks);
	for (size_t k = 0; k < all.n; k++) {
		for (size_t i = 0; i < s->list.n && !closed[k]; i++)
			if (s->list.at[i].group == all.at[k].group)
				make_merge(s, &s->list.at[i]);
		if (closed[k])
			make_if(s, all.at[k].group, all.at[k].marks, (int)k + 1);
	}
	return true;
}

/* The loop whose graph has an Op. */
static int *homes(TfOps *o)
{
	int *home = arena_array(o->all->arena, int, o->op.n + 1);
	for (size_t k = 0; k < o->op.n; k++)
		home[k] = -1;
	for (size_t k = 0; k < o->op.n; k++) {
		const TfLoop *l = o->op.at[k].loop;
		for (size_t i = 0; l != NULL && i < l->cond.n + l->body.n; i++)
			home[i < l->cond.n ? l->cond.at[i] : l->body.at[i - l->cond.n]] = (int)k;
	}
	return home;
}

bool tf_make_choices(TfOps *o, const TfRefs *root)
{
	Arena *a = o->all->arena;
	int *choice = arena_array(a, int, o->op.n + 1);
	bool *dead = arena_array(a, bool, o->op.n + 1), any = false;
	for (size_t k = 0; k < o->op.n; k++) {
		const TfOp *op = &o->op.at[k];
		choice[k] = -1;
		any |= op->live && op_is(op, "Merge");
		if (!op->live || !op_is(op, "Switch"))
			continue;
		if (op->in.n != 2)
			return tf_bad(o, ERR_INPUT, "node '%.100s' (Switch) needs two inputs", op->name);
		any = true;
		choice[k] = known_choice(o, op->in.at[1]);
	}
	if (!any)
		return true;
	Predicates by = number_predicates(o);
	Walk w = walk_new(o, o->all->arena);
	for (size_t k = 0; k < root->n; k++)
		walk_from(&w, root->at[k]);
	for (size_t k = 0; k < o->op.n; k++) { /* inside of loops, too */
		const TfLoop *l = o->op.at[k].loop;
		for (size_t i = 0; l != NULL && i < l->body_out.n; i++)
			walk_from(&w, l->body_out.at[i]);
		if (l != NULL)
			walk_from(&w, l->test);
	}
	mark_dead(o, choice, dead, &w);
	Sides sides = {
		.o = o, .by = &by, .order = w.order.at, .norder = w.order.n, .home = homes(o), .root = root
	};
	for (size_t i = 0; i < w.order.n; i++) {
		TfOp *op = &o->op.at[w.order.at[i]];
		if (!op_is(op, "Merge"))
			continue;
		if (op->in.n != 2)
			return tf_bad(
				o, ERR_UNSUPPORTED, "node '%.100s' (Merge) has %zu inputs; 2 are supported", op->name, op->in.n);
		bool gone[2];
		for (int j = 0; j < 2; j++)
			gone[j] =
				dead[op->in.at[j].op] || (choice[op->in.at[j].op] >= 0 && op->in.at[j].out != choice[op->in.at[j].op]);
		Decided d = { .merge = w.order.at[i] };
		if (gone[0] != gone[1])
			become(op, "Identity", one_ref(o, op->in.at[gone[0] ? 1 : 0]));
		else if (!gone[0] && (find_switch(o, &by, op, false, &d.predicate, &d.truth) ||
								 find_switch(o, &by, op, true, &d.predicate, &d.truth)))
			vec_push(a, &sides.list, d);
		else
			op->refused = by.spent > MOST_MET ? "joins values behind more choices than dlc looks through"
			                                  : "joins values that no Switch before it parts";
	}
	if (!make_sides(&sides))
		for (size_t i = 0; i < sides.list.n; i++)
			make_merge(&sides, &sides.list.at[i]);
	for (size_t i = 0; i < w.order.n; i++) {
		TfOp *op = &o->op.at[w.order.at[i]];
		join_sides(o, &op->in);
		if (op->loop != NULL)
			join_sides(o, &op->loop->body_out);
		for (int k = 0; k < 2 && op->choice != NULL; k++)
			join_sides(o, &op->choice->result[k]);
	}
	for (size_t i = 0; i < w.order.n; i++)
		if (op_is(&o->op.at[w.order.at[i]], "Switch"))
			become(&o->op.at[w.order.at[i]], "Identity", one_ref(o, o->op.at[w.order.at[i]].in.at[0]));
	return true;
}
