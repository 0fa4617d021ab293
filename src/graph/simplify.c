/*
 * Removes calls without effect, chains of moves, equal calls and unused calls. Each rule keeps every bit of
 * every element.
 */
#include "graph/edit.h"

#include "op/names.h"

#include <math.h>
#include <string.h>

/* True also if the attribute is not given: then it has its default. */
static bool all_are(const OpCall *c, const char *name, int64_t to)
{
	int n;
	const int64_t *v = op_ints(c, name, &n);
	for (int k = 0; k < n; k++)
		if (v[k] != to)
			return false;
	return true;
}

/* True if the result is input 0, with the same elements, shape and type. */
static bool gives_input(const Edit *e, const OpCall *c)
{
	const Value *x = &e->from->value.at[c->in[0]], *y = &e->from->value.at[c->out[0]];
	int n;
	const int64_t *v;
	if (c->nout != 1 || !shape_eq(x->shape, y->shape) || !dtype_eq(x->type, y->type))
		return false;
	switch (c->op) {
	case OP_identity:
	case OP_cast:
	case OP_reshape:
	case OP_expand: return true;
	case OP_concat:
	case OP_split: return c->nin == 1;
	case OP_transpose:
		v = op_ints(c, "perm", &n);
		for (int k = 0; k < n; k++)
			if (v[k] != k && x->shape.dim[k] != 1)
				return false;
		return true;
	case OP_slice: /* as many elements as there are: backwards, or all in order */ return all_are(c, "steps", 1);
	case OP_pad: return all_are(c, "pads", 0);
	case OP_clip: return c->nin == 1 && op_float(c, "lo") == -INFINITY && op_float(c, "hi") == INFINITY;
	case OP_max_pool:
	case OP_avg_pool: return all_are(c, "kernel", 1) && all_are(c, "pads", 0) && all_are(c, "strides", 1);
	default: return false;
	}
}

static bool drop_identity(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	if (!gives_input(e, c))
		return false;
	edit_replace(e, c->out[0], edit_value(e, c->in[0]));
	return true;
}

bool pass_identity(Dag *d, EvalFn eval, Err *err)
{
	return edit_dag(d, eval, drop_identity, NULL, err);
}

/* A transpose that leaves the order of all dimensions but those of size 1 is a reshape. */
static bool keeps_order(Shape s, const int64_t *perm)
{
	int64_t last = -1;
	for (int k = 0; k < s.rank; k++) {
		if (s.dim[perm[k]] == 1)
			continue;
		if (perm[k] < last)
			return false;
		last = perm[k];
	}
	return true;
}

/*
 * A reshape of a transpose that only adds or drops dimensions of size 1 comes before the transpose, which then meets
 * other transposes, and the products that read it.
 */
static bool put_before(Edit *e, const OpCall *c, const OpCall *move)
{
	Shape x = edit_at(e, move->in[0])->shape, s = e->from->value.at[c->out[0]].shape, before = s;
	int64_t perm[DAG_MAX_RANK], source[DAG_MAX_RANK];
	int n, count = 0, place[DAG_MAX_RANK];
	const int64_t *of = op_ints(move, "perm", &n);
	for (int k = 0; k < n; k++) /* source dimensions of more than one element, in the order of the result */
		if (x.dim[of[k]] != 1)
			source[count++] = of[k];
	int found = 0;
	for (int k = 0; k < s.rank; k++) {
		perm[k] = k;
		if (s.dim[k] == 1)
			continue;
		if (found == count || s.dim[k] != x.dim[source[found]])
			return false;
		place[found++] = k;
	}
	if (found != count)
		return false;
	for (int i = 0; i < count; i++) {
		int at = 0; /* how many of them come before it in x */
		for (int k = 0; k < count; k++)
			at += source[k] < source[i];
		perm[place[i]] = place[at];
		before.dim[place[at]] = x.dim[source[i]];
	}
	int in = move->in[0];
	const OpCall *writer = edit_writer(e, in);
	if (writer != NULL && writer->op == OP_reshape)
		in = writer->in[0];
	const char *name = arena_printf(e->to->arena, "%s.shaped", e->from->value.at[c->out[0]].name);
	Attr shape = attr_ints("shape", before.dim, before.rank), order = attr_ints("perm", perm, s.rank);
	if (!shape_eq(edit_at(e, in)->shape, before))
		in = edit_call(e, OP_reshape, name, &in, 1, &shape, 1);
	return in != DAG_NONE && edit_call_as(e, c, OP_transpose, &in, 1, &order, 1);
}

/* Merges reshape(reshape(x)) and transpose(transpose(x)) into one call, or none. */
static bool join_moves(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	if (c->op != OP_reshape && c->op != OP_transpose)
		return false;
	int x = edit_value(e, c->in[0]), n;
	const OpCall *before = edit_writer(e, x);
	if (c->op == OP_transpose) {
		const int64_t *perm = op_ints(c, "perm", &n);
		int64_t joined[DAG_MAX_RANK];
		memcpy(joined, perm, sizeof(int64_t) * (size_t)n);
		if (before != NULL && before->op == OP_transpose) {
			const int64_t *first = op_ints(before, "perm", &n);
			for (int k = 0; k < n; k++)
				joined[k] = first[perm[k]];
			x = before->in[0];
		}
		if (!keeps_order(edit_at(e, x)->shape, joined)) {
			Attr attr = attr_ints("perm", joined, n);
			return edit_call_as(e, c, OP_transpose, &x, 1, &attr, 1);
		}
		before = edit_writer(e, x);
	}
	if (before != NULL && before->op == OP_reshape)
		x = before->in[0];
	if (before != NULL && before->op == OP_transpose && e->uses[c->in[0]] == 1 && put_before(e, c, before))
		return true;
	if (e->err->code != ERR_NONE)
		return false;
	const Shape *s = &e->from->value.at[c->out[0]].shape;
	if (shape_eq(edit_at(e, x)->shape, *s)) {
		edit_replace(e, c->out[0], x);
		return true;
	}
	Attr shape = attr_ints("shape", s->dim, s->rank);
	return edit_call_as(e, c, OP_reshape, &x, 1, &shape, 1);
}

bool pass_moves(Dag *d, EvalFn eval, Err *err)
{
	return edit_dag(d, eval, join_moves, NULL, err);
}

void edit_signature(Text *out, const OpCall *c)
{
	text_add(out, "%d", c->op);
	for (int i = 0; i < c->nattr; i++) {
		const Attr *at = &c->attr[i];
		char number[32];
		text_add(out, " %s", at->name);
		switch (at->kind) {
		case ATTR_INT: text_add(out, "=%lld", (long long)at->i); break;
		case ATTR_INTS:
			for (int k = 0; k < at->n; k++)
				text_add(out, ",%lld", (long long)at->ints[k]);
			break;
		case ATTR_FLOAT:
			text_double(number, sizeof number, at->f);
			text_add(out, "=%s", number);
			break;
		case ATTR_TEXT: text_add(out, "=%s", at->text); break;
		}
	}
}

typedef struct Common {
	Arena *tmp;
	Names *seen, *consts; /* signatures of old calls, identities of constants' bytes */
} Common;

/* Constants of one type and shape with the same bytes in memory (tied weights) are one, and equal numbers are. */
static void share_const(Edit *e, int old, Common *cm)
{
	const Value *v = &e->from->value.at[old];
	char t[DTYPE_TEXT], s[160];
	if (v->kind != VALUE_CONST || v->data == NULL || e->map[old] != DAG_NONE)
		return;
	const char *key = arena_printf(cm->tmp, "%p %s %s", v->data, dtype_print(v->type, t), shape_str(v->shape, s));
	if (shape_elements(v->shape) == 1 && v->type.bits >= 8 && v->type.bits <= 64) {
		uint64_t bits = 0;
		memcpy(&bits, v->data, v->type.bits / 8);
		key = arena_printf(cm->tmp, "%llu %s %s", (unsigned long long)bits, t, s);
	}
	int other = names_find(cm->consts, key);
	if (other == DAG_NONE)
		names_bind(cm->consts, key, old);
	else
		edit_replace(e, old, edit_value(e, other));
}

static bool share_call(Edit *e, const OpCall *c, void *arg)
{
	Common *cm = arg;
	for (int k = 0; k < c->nin; k++)
		if (c->in[k] != DAG_NONE) {
			share_const(e, c->in[k], cm);
			edit_value(e, c->in[k]);
		}
	Text t = { .arena = cm->tmp };
	for (int k = 0; k < c->nin; k++)
		text_add(&t, "%d ", c->in[k] == DAG_NONE ? -1 : e->map[c->in[k]]);
	edit_signature(&t, c);
	const char *key = text_str(&t);
	int other = names_find(cm->seen, key);
	if (other == DAG_NONE) {
		names_bind(cm->seen, key, (int)(c - e->from->call.at));
		return false;
	}
	for (int r = 0; r < c->nout; r++)
		edit_replace(e, c->out[r], e->map[e->from->call.at[other].out[r]]);
	return true;
}

bool pass_common(Dag *d, EvalFn eval, Err *err)
{
	Common cm = { .tmp = arena_new() };
	cm.seen = names_new(cm.tmp);
	cm.consts = names_new(cm.tmp);
	bool ok = edit_dag(d, eval, share_call, &cm, err);
	arena_free(cm.tmp);
	return ok;
}

static bool drop_dead(Edit *e, const OpCall *c, void *arg)
{
	const bool *live = arg;
	return !live[c - e->from->call.at]; /* nothing uses its results */
}

bool pass_dead(Dag *d, EvalFn eval, Err *err)
{
	Arena *tmp = arena_new();
	bool ok = edit_dag(d, eval, drop_dead, dag_live(tmp, d), err);
	arena_free(tmp);
	return ok;
}
