/*
 * Control flow of TensorFlow's version 1. A frame (Enter, Merge, Switch, NextIteration, Exit around a LoopCond) becomes
 * a While with two graphs. A Switch whose predicate is a constant keeps one side, and the Merge behind it that side's
 * value. Any other Merge reads the predicate and both sides, which are computed both: dlc's operators have no effects.
 */
#include "frontend/tensorflow/graph.h"

#include <string.h>

enum { MOST_PASSES = 4, MOST_WORK = 1 << 27 /* Merges times Ops: each looks at all */ };

static TfOp *at(TfOps *o, TfRef r)
{
	return &o->op.at[r.op];
}

static void become(TfOp *op, const char *kind, TfRefs in)
{
	op->kind = kind;
	op->in = in;
	op->from = NULL;
}

static TfRefs one_ref(TfOps *o, TfRef r)
{
	TfRefs list = { 0 };
	vec_push(o->all->arena, &list, r);
	return list;
}

/* ---- what a value depends on */

/* Ops behind some results, the ones that are read first; `stop` are not looked behind. */
typedef struct Walk {
	TfOps *o;
	unsigned char *state; /* 0 not met, 1 on the way, 2 done, 3 stop */
	VEC(int) order;
	VEC(int) stack;
} Walk;

static Walk walk_new(TfOps *o)
{
	return (Walk){ .o = o, .state = arena_alloc(o->all->arena, o->op.n + 1) };
}

static void walk_from(Walk *w, TfRef r)
{
	Arena *a = w->o->all->arena;
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
	Walk w = walk_new(o);
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
 * becomes `captured`. False: an inner loop is not made yet.
 */
static bool collect(
	TfOps *o, const Found *f, const TfRefs *in, const TfRefs *results, const bool *own, void *list, TfRefs *captured)
{
	Walk w = walk_new(o);
	Arena *a = o->all->arena;
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

/* Makes the While of a found loop. *later: it has an inner one, which comes first. */
static bool make_loop(TfOps *o, Found *f, bool *later)
{
	Arena *a = o->all->arena;
	TfLoop *l = arena_new_of(a, TfLoop);
	TfRefs tests = { 0 }, in = { 0 }, captured = { 0 };
	bool *own = arena_array(a, bool, o->op.n + 1);
	for (size_t k = 0; k < f->enter.n; k++)
		own[f->enter.at[k]] = true;
	for (size_t k = 0; k < f->variable.n; k++) {
		const Variable *v = &f->variable.at[k];
		vec_push(a, &l->cond_in, ((TfRef){ v->merge, 0 }));
		vec_push(a, &l->body_in, ((TfRef){ v->pass, 1 }));
		vec_push(a, &l->body_out, o->op.at[v->next].in.at[0]);
		vec_push(a, &in, o->op.at[v->enter].in.at[0]);
	}
	l->test = o->op.at[f->test].in.at[0];
	vec_push(a, &tests, l->test);
	bool *was = arena_array(a, bool, o->op.n + 1);
	for (size_t k = 0; k < o->op.n; k++)
		was[k] = o->op.at[k].inner;
	if (!collect(o, f, &l->cond_in, &tests, own, &l->cond, &captured) ||
		!collect(o, f, &l->body_in, &l->body_out, own, &l->body, &captured)) {
		for (size_t k = 0; k < o->op.n; k++)
			o->op.at[k].inner = was[k];
		*later = true;
		return true;
	}
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

/* ---- choices */

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
} Predicates;

static Predicates number_predicates(TfOps *o)
{
	Arena *a = o->all->arena;
	Names *seen = names_new(a);
	Predicates p = { .of = arena_array(a, int, o->op.n + 1) };
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
	return p;
}

/*
 * The innermost Switch that decides between both inputs of a Merge, and which input is the true side; false: none.
 * `after`: a side that reads no Switch, a constant, is known by what it waits for.
 */
static bool find_switch(TfOps *o, const Predicates *by, const TfOp *merge, bool after, TfRef *predicate, int *truth)
{
	Arena *a = o->all->arena;
	unsigned char *side = arena_alloc(a, 2 * by->at.n + 2); /* of each predicate and input: bits of the sides met */
	bool *met = arena_array(a, bool, o->op.n + 1);
	VEC(TfRef) stack = { 0 };
	for (int input = 0; input < 2; input++) {
		memset(met, 0, sizeof *met * o->op.n);
		vec_push(a, &stack, merge->in.at[input]);
		while (stack.n > 0) {
			TfRef r = stack.at[--stack.n];
			const TfOp *op = at(o, r);
			if (op_is(op, "Switch") && op->in.n == 2)
				side[2 * by->of[r.op] + input] |= (unsigned char)(1 << (r.out != 0));
			if (met[r.op])
				continue;
			met[r.op] = true;
			for (size_t k = 0; k < op->in.n; k++)
				vec_push(a, &stack, op->in.at[k]);
			for (size_t k = 0; k < op->captured.n; k++)
				vec_push(a, &stack, op->captured.at[k]);
			for (size_t k = 0; k < op->after.n && after; k++)
				vec_push(a, &stack, op->after.at[k]);
		}
	}
	for (size_t p = by->at.n; p-- > 0;) /* the last one in the file is the innermost one */
		if ((side[2 * p] | side[2 * p + 1]) == 3 && side[2 * p] != 3 && side[2 * p + 1] != 3) {
			*predicate = by->at.at[p];
			*truth = side[2 * p] == 2 ? 0 : 1;
			return true;
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

static bool make_choices(TfOps *o, const TfRefs *root)
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
	Walk w = walk_new(o);
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
		TfRef p = { -1, 0 };
		int truth = 0;
		if (gone[0] != gone[1]) {
			become(op, "Identity", one_ref(o, op->in.at[gone[0] ? 1 : 0]));
		} else if (!gone[0] &&
				   (find_switch(o, &by, op, false, &p, &truth) || find_switch(o, &by, op, true, &p, &truth))) {
			TfRefs in = one_ref(o, p);
			vec_push(a, &in, op->in.at[truth]);
			vec_push(a, &in, op->in.at[1 - truth]);
			become(op, "Merge", in);
		} else {
			op->refused = "joins values that no Switch before it parts";
		}
	}
	for (size_t i = 0; i < w.order.n; i++) {
		TfOp *op = &o->op.at[w.order.at[i]];
		join_sides(o, &op->in);
		if (op->loop != NULL)
			join_sides(o, &op->loop->body_out);
	}
	for (size_t i = 0; i < w.order.n; i++)
		if (op_is(&o->op.at[w.order.at[i]], "Switch"))
			become(&o->op.at[w.order.at[i]], "Identity", one_ref(o, o->op.at[w.order.at[i]].in.at[0]));
	return true;
}

bool tf_rewrite_control(TfOps *o, const TfRefs *root)
{
	size_t merges = 0;
	for (size_t k = 0; k < o->op.n; k++)
		merges += o->op.at[k].live && op_is(&o->op.at[k], "Merge");
	if (merges > 0 && o->op.n > MOST_WORK / merges)
		return tf_bad(o, ERR_UNSUPPORTED, "it has %zu loops and choices, which are too many", merges);
	return make_loops(o) && make_choices(o, root);
}
