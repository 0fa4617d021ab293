/*
 * Control flow of TensorFlow's version 1. A frame (Enter, Merge, Switch, NextIteration, Exit around a LoopCond) becomes
 * a While with two graphs; choices outside and inside of loops come behind it (choices.c).
 */
#include "frontend/tensorflow/control.h"

#include <string.h>

enum { MOST_PASSES = 4, MOST_WORK = 1 << 27 /* Merges times Ops: each looks at all */, MOST_DEPTH = 16 };

/* ---- what a value depends on */

void walk_from(Walk *w, TfRef r)
{
	Arena *a = w->arena;
	vec_push(a, &w->stack, r.op);
	while (w->stack.n > 0) {
		int k = w->stack.at[w->stack.n - 1];
		TfOp *op = &w->o->op.at[k];
		if (w->state[k] != 0) {
			w->stack.n--;
			if (w->state[k] == 1) {
				w->state[k] = 2;
				vec_push(a, &w->order, k);
			}
			continue;
		}
		w->state[k] = 1;
		for (size_t i = 0; i < op->in.n + op->captured.n; i++) {
			int next = i < op->in.n ? op->in.at[i].op : op->captured.at[i - op->in.n].op;
			if (w->state[next] == 0)
				vec_push(a, &w->stack, next);
		}
	}
}

bool *tf_behind(TfOps *o, const char *first, const char *stop)
{
	bool *behind = arena_array(o->all->arena, bool, o->op.n + 1);
	Walk w = walk_new(o, o->all->arena);
	for (size_t k = 0; k < o->op.n; k++)
		walk_from(&w, (TfRef){ (int)k, 0 });
	for (int pass = 0; pass < MOST_PASSES; pass++) /* an Op may stand before the Merge that it reads around a loop */
		for (size_t i = 0; i < w.order.n; i++) {
			int k = w.order.at[i];
			const TfOp *op = &o->op.at[k];
			behind[k] |= op_is(op, first);
			for (size_t j = 0; j < op->in.n && !behind[k] && !op_is(op, stop); j++)
				behind[k] = behind[op->in.at[j].op];
		}
	return behind;
}

/* ---- loops */

/* A loop while it is found: its Enter Ops, and for each variable that it changes the Ops around it; -1: none. */
typedef struct Variable {
	int enter, merge, next, pass; /* pass: the Switch */
} Variable;

typedef struct Found {
	const char *frame;
	VEC(int) enter;
	VEC(Variable) variable;
	int test; /* the LoopCond */
	bool done;
} Found;

static const char *frame_of(TfOps *o, const TfOp *op)
{
	const TfValue *t = op->from != NULL ? tf_attr(op->from, "frame_name") : NULL;
	return t == NULL ? "" : arena_printf(o->all->arena, "%.*s", (int)t->s.n, (const char *)t->s.at);
}

/* The Ops of one loop: each Merge behind an Enter is a variable. */
static bool find_loop(TfOps *o, Found *f)
{
	Arena *a = o->all->arena;
	Names *merge = names_new(a);
	f->test = -1;
	for (size_t k = 0; k < o->op.n; k++) {
		TfOp *op = &o->op.at[k];
		if (!op->live || !op_is(op, "Merge"))
			continue;
		Variable v = { -1, (int)k, -1, -1 };
		for (size_t i = 0; i < op->in.n; i++) {
			for (size_t e = 0; e < f->enter.n; e++)
				if (f->enter.at[e] == op->in.at[i].op)
					v.enter = f->enter.at[e];
			if (op_is(at(o, op->in.at[i]), "NextIteration"))
				v.next = op->in.at[i].op;
		}
		if (v.enter < 0)
			continue;
		if (v.next < 0 || at(o, (TfRef){ v.next, 0 })->in.n != 1)
			return tf_bad(o, ERR_UNSUPPORTED, "the loop '%.60s' has no next value for '%.100s'", f->frame, op->name);
		names_bind(merge, arena_printf(a, "%zu", k), (int)f->variable.n);
		vec_push(a, &f->variable, v);
	}
	for (size_t k = 0; k < o->op.n; k++) {
		const TfOp *op = &o->op.at[k];
		if (!op->live || !op_is(op, "Switch") || op->in.n != 2)
			continue;
		int which = names_find(merge, arena_printf(a, "%d", op->in.at[0].op));
		if (which < 0 || !op_is(at(o, op->in.at[1]), "LoopCond"))
			continue;
		f->variable.at[which].pass = (int)k;
		f->test = op->in.at[1].op;
	}
	if (f->test < 0 || at(o, (TfRef){ f->test, 0 })->in.n != 1)
		return tf_bad(o, ERR_UNSUPPORTED, "the loop '%.60s' has no condition", f->frame);
	return true;
}

/*
 * The Ops of a graph: those behind its results that depend on its inputs. What does not is computed outside, once, and
 * becomes `captured`. False: an inner loop is not made yet. The lists are in the arena `a`.
 */
static bool collect(TfOps *o, Arena *a, const Found *f, const TfRefs *in, const TfRefs *results, const bool *own,
	void *list, TfRefs *captured)
{
	Walk w = walk_new(o, a);
	bool *inside = arena_array(a, bool, o->op.n + 1);
	VEC(int) *out = list;
	for (size_t k = 0; k < in->n; k++)
		if (in->at[k].op >= 0) {
			w.state[in->at[k].op] = 3;
			inside[in->at[k].op] = true;
		}
	for (size_t k = 0; k < f->enter.n; k++)
		w.state[f->enter.at[k]] = w.state[f->enter.at[k]] == 0 ? 3 : w.state[f->enter.at[k]];
	for (size_t k = 0; k < results->n; k++)
		walk_from(&w, results->at[k]);
	for (size_t i = 0; i < w.order.n; i++) {
		int k = w.order.at[i];
		const TfOp *op = &o->op.at[k];
		if (op_is(op, "Exit") || (op_is(op, "Enter") && !own[k]))
			return false;
		bool any = inside[k];
		for (size_t j = 0; j < op->in.n + op->captured.n; j++)
			any |= inside[j < op->in.n ? op->in.at[j].op : op->captured.at[j - op->in.n].op];
		inside[k] = any;
		if (any)
			vec_push(a, out, k);
	}
	for (size_t i = 0; i < out->n; i++) { /* what they read from outside */
		TfOp *op = &o->op.at[out->at[i]];
		op->inner = true;
		for (size_t j = 0; j < op->in.n + op->captured.n; j++) {
			TfRef r = j < op->in.n ? op->in.at[j] : op->captured.at[j - op->in.n];
			if (!inside[r.op])
				vec_push(a, captured, r);
		}
	}
	for (size_t k = 0; k < results->n; k++)
		if (!inside[results->at[k].op])
			vec_push(a, captured, results->at[k]);
	return true;
}

/* The Ops of both graphs. False: an inner loop is not made yet; such a try leaves nothing in the graph's arena. */
static bool collect_both(TfOps *o, const Found *f, TfLoop *l, TfRefs *captured)
{
	Arena *a = o->all->arena, *own_lists = arena_new();
	bool *own = arena_array(own_lists, bool, o->op.n + 1), *was = arena_array(own_lists, bool, o->op.n + 1);
	VEC(int) cond = { 0 }, body = { 0 };
	TfRefs tests = { 0 }, outside = { 0 };
	for (size_t k = 0; k < f->enter.n; k++)
		own[f->enter.at[k]] = true;
	for (size_t k = 0; k < o->op.n; k++)
		was[k] = o->op.at[k].inner;
	vec_push(own_lists, &tests, l->test);
	bool all = collect(o, own_lists, f, &l->cond_in, &tests, own, &cond, &outside) &&
			   collect(o, own_lists, f, &l->body_in, &l->body_out, own, &body, &outside);
	for (size_t k = 0; !all && k < o->op.n; k++)
		o->op.at[k].inner = was[k];
	for (size_t k = 0; all && k < cond.n; k++)
		vec_push(a, &l->cond, cond.at[k]);
	for (size_t k = 0; all && k < body.n; k++)
		vec_push(a, &l->body, body.at[k]);
	for (size_t k = 0; all && k < outside.n; k++)
		vec_push(a, captured, outside.at[k]);
	arena_free(own_lists);
	return all;
}

/* One more than that of the loops among its Ops. */
static int depth_of(const TfOps *o, const TfLoop *l)
{
	int depth = 0;
	for (size_t k = 0; k < l->cond.n + l->body.n; k++) {
		const TfOp *op = &o->op.at[k < l->cond.n ? l->cond.at[k] : l->body.at[k - l->cond.n]];
		if (op->loop != NULL && op->loop->depth > depth)
			depth = op->loop->depth;
	}
	return depth + 1;
}

/* Makes the While of a found loop. *later: it has an inner one, which comes first. */
static bool make_loop(TfOps *o, Found *f, bool *later)
{
	Arena *a = o->all->arena;
	TfLoop *l = arena_new_of(a, TfLoop);
	TfRefs in = { 0 }, captured = { 0 };
	for (size_t k = 0; k < f->variable.n; k++) {
		const Variable *v = &f->variable.at[k];
		vec_push(a, &l->cond_in, ((TfRef){ v->merge, 0 }));
		vec_push(a, &l->body_in, ((TfRef){ v->pass, 1 }));
		vec_push(a, &l->body_out, o->op.at[v->next].in.at[0]);
		vec_push(a, &in, o->op.at[v->enter].in.at[0]);
	}
	l->test = o->op.at[f->test].in.at[0];
	*later = !collect_both(o, f, l, &captured);
	if (*later)
		return true;
	l->depth = depth_of(o, l);
	if (l->depth > MOST_DEPTH)
		return tf_bad(o, ERR_UNSUPPORTED, "its loops are nested more than %d deep", MOST_DEPTH);
	TfOp loop = { .name = names_give(o->names, arena_printf(a, "%s/loop", f->frame)),
		.kind = "While",
		.in = in,
		.nout = (int)f->variable.n > 0 ? (int)f->variable.n : 1,
		.live = true,
		.loop = l,
		.captured = captured };
	int number = (int)o->op.n;
	for (size_t k = 0; k < f->variable.n; k++) { /* arguments of its graphs, which read nothing outside */
		const Variable *v = &f->variable.at[k];
		become(&o->op.at[v->merge], "_Arg", (TfRefs){ 0 });
		if (v->pass >= 0)
			become(&o->op.at[v->pass], "_Arg", (TfRefs){ 0 });
		for (size_t i = 0; i < o->op.n; i++)
			if (op_is(&o->op.at[i], "Exit") && o->op.at[i].in.n == 1 && o->op.at[i].in.at[0].op == v->pass)
				become(&o->op.at[i], "Identity", one_ref(o, (TfRef){ number, (int)k }));
	}
	for (size_t k = 0; k < f->enter.n; k++)
		become(&o->op.at[f->enter.at[k]], "Identity", o->op.at[f->enter.at[k]].in);
	vec_push(a, &o->op, loop);
	f->done = true;
	return true;
}

static bool make_loops(TfOps *o)
{
	Arena *a = o->all->arena;
	Names *frames = names_new(a);
	VEC(Found) found = { 0 };
	for (size_t k = 0; k < o->op.n; k++) {
		TfOp *op = &o->op.at[k];
		if (!op->live || !op_is(op, "Enter"))
			continue;
		if (op->in.n != 1)
			return tf_bad(o, ERR_INPUT, "node '%.100s' (Enter) needs one input", op->name);
		const char *frame = frame_of(o, op);
		int f = names_find(frames, frame);
		if (f < 0) {
			f = (int)found.n;
			names_bind(frames, frame, f);
			vec_push(a, &found, ((Found){ .frame = frame }));
		}
		vec_push(a, &found.at[f].enter, (int)k);
	}
	for (size_t k = 0; k < found.n; k++)
		if (!find_loop(o, &found.at[k]))
			return false;
	for (size_t left = found.n; left > 0;) {
		size_t before = left;
		for (size_t k = 0; k < found.n; k++) {
			bool later = false;
			if (found.at[k].done)
				continue;
			if (!make_loop(o, &found.at[k], &later))
				return false;
			left -= !later;
		}
		if (left == before)
			return tf_bad(o, ERR_UNSUPPORTED, "the loop '%.60s' is entered from within itself", found.at[0].frame);
	}
	return true;
}

bool tf_rewrite_control(TfOps *o, const TfRefs *root)
{
	size_t merges = 0;
	for (size_t k = 0; k < o->op.n; k++)
		merges += o->op.at[k].live && op_is(&o->op.at[k], "Merge");
	if (merges > 0 && o->op.n > MOST_WORK / merges)
		return tf_bad(o, ERR_UNSUPPORTED, "it has %zu loops and choices, which are too many", merges);
	return make_loops(o) && tf_make_choices(o, root);
}
