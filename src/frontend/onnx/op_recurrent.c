/*
 * Rows of RNN, GRU and LSTM. Each direction is a call of the Dag's operator; the input's product, biases included, is a
 * dense layer over all steps before it. Batch-wise layouts are transposed, both directions are joined behind the calls.
 */
#include "frontend/node/compose.h"
#include "frontend/node/recurrent_cell.h"
#include "frontend/onnx/rows.h"

#include "op/element.h"
#include "op/recurrent.h"

#include <string.h>

typedef struct Recurrent {
	Visit *v;
	int op, gates, directions;
	int64_t steps, batch, size;
	bool batchwise;
	Attr attr[12]; /* that both directions share */
	int nattr;
} Recurrent;

/* The activation of that ONNX name, in letters of any case; -1: there is none. */
static int activation_named(Bytes name)
{
	for (int i = 0; i < ACTIVATION_COUNT; i++) {
		const char *s = activation_rows[i].onnx;
		bool same = strlen(s) == name.n;
		for (size_t k = 0; same && k < name.n; k++)
			same = (s[k] | 32) == (name.at[k] | 32);
		if (same)
			return i;
	}
	return -1;
}

/* A number of activation_alpha or activation_beta: those of the activations that are listed, one after the other. */
static double act_number(Visit *v, const char *name, int at, double otherwise)
{
	int count;
	const float *list = node_attr_floats(v, name, &count);
	return at < count ? import_number(F32, &list[at]) : otherwise;
}

/* Appends the activations of one direction to the attributes. */
static int read_acts(const Recurrent *r, int direction, Attr *attr)
{
	static const char *const alphas[] = { "f_alpha", "g_alpha", "h_alpha" }, *const betas[] = { "f_beta", "g_beta",
		"h_beta" };
	Visit *v = r->v;
	int need = recurrent_acts(r->op), n = 0, count;
	const Bytes *list = node_attr_texts(v, "activations", &count);
	count = count < 0 ? 0 : count;
	const char *acts = "";
	if (count != 0 && count != need * r->directions)
		node_fail(v, ERR_INPUT, "its attribute activations has %d names, but %d directions need %d", count,
			r->directions, need * r->directions);
	for (int k = 0; k < need && node_ok(v); k++) {
		int at = direction * need + k, act = k == 0 && r->op != OP_rnn ? ACTIVATION_sigmoid : ACTIVATION_tanh;
		if (count != 0)
			act = activation_named(list[at]);
		if (act < 0) {
			node_fail(v, ERR_UNSUPPORTED, "its attribute activations names '%.*s', which is not supported",
				(int)list[at].n, (const char *)list[at].at);
			break;
		}
		const ActivationRow *row = &activation_rows[act];
		acts = arena_printf(v->im->arena, "%s%s%s", acts, k > 0 ? "." : "", row->name);
		attr[n++] = attr_float(alphas[k], act_number(v, "activation_alpha", at, row->alpha));
		attr[n++] = attr_float(betas[k], act_number(v, "activation_beta", at, row->beta));
	}
	attr[n++] = attr_text("acts", acts);
	return n;
}

static void need_shape(Visit *v, const char *what, const Item *it, Shape want)
{
	char s[160], t[160];
	if (it != NULL && node_ok(v) && !shape_eq(it->shape, want))
		node_fail(v, ERR_TYPE, "its input %s has the shape %s, but %s is needed", what, shape_str(it->shape, s),
			shape_str(want, t));
}

/* Lengths that are known and all reach the last step need no input. */
static int lengths(const Recurrent *r)
{
	const Item *it = node_in(r->v, 4);
	bool all = it != NULL && it->data != NULL;
	for (int64_t k = 0; all && k < shape_elements(it->shape); k++)
		all = element_get_int(it->type, it->data, k) == r->steps;
	return all ? DAG_NONE : node_value(r->v, 4);
}

/* The state that the first step reads, [N,H]. */
static int first_state(const Recurrent *r, int k, int direction)
{
	Visit *v = r->v;
	if (node_in(v, k) == NULL)
		return DAG_NONE;
	int64_t turn[] = { 1, 0, 2 };
	int x = node_value(v, k);
	return node_part(v, r->batchwise ? node_transpose(v, x, turn) : x, direction);
}

/* One direction; gives the call's first result. */
static int run_direction(const Recurrent *r, int x, int direction, bool reverse)
{
	Visit *v = r->v;
	int64_t gates = r->gates * r->size;
	int b = node_in(v, 3) != NULL ? node_part(v, node_value(v, 3), direction) : DAG_NONE;
	Attr attr[20];
	memcpy(attr, r->attr, sizeof r->attr);
	RecurrentCell c = { .op = r->op,
		.size = r->size,
		.x = x,
		.w = node_part(v, node_value(v, 1), direction),
		.r = node_part(v, node_value(v, 2), direction),
		.wb = b != DAG_NONE ? node_slice(v, b, 0, 0, gates) : DAG_NONE,
		.rb = b != DAG_NONE ? node_slice(v, b, 0, gates, gates) : DAG_NONE,
		.h = first_state(r, 5, direction),
		.c = r->op == OP_lstm ? first_state(r, 6, direction) : DAG_NONE,
		.peep = r->op == OP_lstm && node_in(v, 7) != NULL ? node_part(v, node_value(v, 7), direction) : DAG_NONE,
		.length = lengths(r),
		.reverse = reverse,
		.linear = r->op == OP_gru && node_attr_flag(v, "linear_before_reset", false),
		.attr = attr,
		.nattr = r->nattr + read_acts(r, direction, &attr[r->nattr]) };
	return node_recurrent(v, &c);
}

/* Result k of ONNX: the calls' results, a dimension for the directions at `axis`, then turned batch-wise. */
static void set_result(const Recurrent *r, int k, const int *first, int axis)
{
	Visit *v = r->v;
	int part[2];
	if (!node_ok(v))
		return;
	for (int d = 0; d < r->directions; d++) {
		part[d] = node_result(v, first[d], k);
		Shape s = node_val(v, part[d])->shape;
		for (int i = s.rank++; i > axis; i--)
			s.dim[i] = s.dim[i - 1];
		s.dim[axis] = 1;
		part[d] = node_reshape(v, part[d], s);
	}
	int64_t all[] = { 2, 0, 1, 3 }, last[] = { 1, 0, 2 };
	int y = node_concat(v, part, r->directions, axis);
	node_set(v, k, r->batchwise ? node_transpose(v, y, axis == 1 ? all : last) : y);
}

static void read_shapes(Recurrent *r)
{
	Visit *v = r->v;
	const Item *x = node_need(v, 0), *w = node_need(v, 1), *rw = node_need(v, 2);
	if (node_ok(v) && (x->shape.rank != 3 || w->shape.rank != 3 || rw->shape.rank != 3))
		node_fail(v, ERR_TYPE, "its inputs X, W and R must have 3 dimensions");
	r->steps = x->shape.dim[r->batchwise ? 1 : 0];
	r->batch = x->shape.dim[r->batchwise ? 0 : 1];
	r->size = rw->shape.dim[2];
	int64_t dirs = r->directions, size = r->size, declared = node_attr_int(v, "hidden_size", size);
	if (node_ok(v) && declared != size)
		node_fail(v, ERR_TYPE, "its attribute hidden_size is %lld, but its input R has states of %lld elements",
			(long long)declared, (long long)size);
	if (node_ok(v) && (size < 1 || size > INT32_MAX))
		node_fail(v, ERR_TYPE, "its states have %lld elements, which is out of range", (long long)size);
	if (!node_ok(v))
		return;
	int64_t gates = r->gates * size;
	Shape state = shape_of(3, (int64_t[]){ dirs, r->batch, size });
	if (r->batchwise)
		state = shape_of(3, (int64_t[]){ r->batch, dirs, size });
	need_shape(v, "W", w, shape_of(3, (int64_t[]){ dirs, gates, x->shape.dim[2] }));
	need_shape(v, "R", rw, shape_of(3, (int64_t[]){ dirs, gates, size }));
	need_shape(v, "B", node_in(v, 3), shape_of(2, (int64_t[]){ dirs, 2 * gates }));
	need_shape(v, "sequence_lens", node_in(v, 4), shape_of(1, &r->batch));
	node_check_range(v, 4, 0, r->batchwise ? x->shape.dim[1] : x->shape.dim[0]);
	need_shape(v, "initial_h", node_in(v, 5), state);
	if (r->op != OP_lstm)
		return;
	need_shape(v, "initial_c", node_in(v, 6), state);
	need_shape(v, "P", node_in(v, 7), shape_of(2, (int64_t[]){ dirs, 3 * size }));
}

static void import_recurrent(Visit *v, int op)
{
	Recurrent r = { .v = v, .op = op, .gates = recurrent_gates(op), .directions = 1 };
	const char *direction = node_attr_text(v, "direction", "forward");
	bool both = strcmp(direction, "bidirectional") == 0, reverse = strcmp(direction, "reverse") == 0;
	if (!both && !reverse && strcmp(direction, "forward") != 0)
		node_fail(v, ERR_INPUT, "its attribute direction is '%s', not forward, reverse or bidirectional", direction);
	int64_t layout = v->frame->version >= 14 ? node_attr_int(v, "layout", 0) : 0;
	if (layout != 0 && layout != 1)
		node_fail(v, ERR_INPUT, "its attribute layout is %lld, not 0 or 1", (long long)layout);
	r.batchwise = layout == 1;
	r.directions = both ? 2 : 1;
	read_shapes(&r);
	if (!node_ok(v))
		return;
	if (node_has(v, "clip") && node_attr_float(v, "clip", 0) == 0)
		node_fail(v, ERR_INPUT, "its attribute clip is 0, but must be positive");
	if (node_has(v, "clip"))
		r.attr[r.nattr++] = attr_float("clip", node_attr_float(v, "clip", 0));
	if (op == OP_lstm)
		r.attr[r.nattr++] = attr_int("input_forget", node_attr_flag(v, "input_forget", false));
	int64_t turn[] = { 1, 0, 2 };
	int x = node_value(v, 0), first[2];
	if (r.batchwise)
		x = node_transpose(v, x, turn);
	for (int d = 0; d < r.directions; d++)
		first[d] = run_direction(&r, x, d, reverse || d == 1);
	for (int k = 0; k < (op == OP_lstm ? 3 : 2); k++)
		if (node_used(v, k))
			set_result(&r, k, first, k == 0 ? 1 : 0);
}

static void import_rnn(Visit *v)
{
	import_recurrent(v, OP_rnn);
}

static void import_gru(Visit *v)
{
	import_recurrent(v, OP_gru);
}

static void import_lstm(Visit *v)
{
	import_recurrent(v, OP_lstm);
}

const NodeRow onnx_recurrent_rows[] = {
	{ "RNN", 1, "output_sequence", import_rnn },
	{ "GRU", 1, "output_sequence", import_gru },
	{ "LSTM", 1, "output_sequence", import_lstm },
	{ NULL, 0, NULL, NULL },
};
