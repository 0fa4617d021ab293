/*
 * Quantised networks: products of codes, integers of 8 bits that stand for scale * (code - zero), become products of
 * bytes with sums in i32. The sum over (a - za) (b - zb) is that over a b' less za times the sum of b', where
 * b' = b - zb is constant and the second term folds into the bias. Padding counts as za, so it stays exact. Codes with
 * a sign are moved up by 128 first, since instructions multiply unsigned by signed bytes; so is their zero point.
 *
 * Two spellings are read. QLinearConv, ConvInteger and their like are products in i32 of what casts and subtractions
 * give, and stay the same to the bit. Around QuantizeLinear and DequantizeLinear products are of floats: there
 * (code - zero) * scale on both sides becomes the sum in i32, times both scales. That is nearer to the real value than
 * the sum in f32. A division by a constant scale before rounding becomes a product with its reciprocal, which the other
 * scales take in. So a result next to a tie may be the neighbouring code, as in other runtimes.
 *
 * Left as they are: groups (depthwise), few channels, weights that do not fit i8 less their zero point, and products
 * whose factors are both computed.
 */
#include "graph/edit.h"
#include "op/element.h"

#include <math.h>
#include <string.h>

enum { LONGEST_CONSTANT = 8, STEPS = 4, LEAST_LANES = 8, MOVED = 128 };

/* scale * (code - zero); old values or new ones, as the Dag that is read. */
typedef struct Codes {
	int value, zero, scale; /* zero, scale: DAG_NONE where there is none */
} Codes;

static bool is_byte(DType t)
{
	return dtype_is_int(t) && t.bits == 8;
}

static const OpCall *writer(const Dag *d, int v)
{
	return v != DAG_NONE && d->value.at[v].kind == VALUE_CALL ? &d->call.at[d->value.at[v].call] : NULL;
}

static bool is_single(const Dag *d, int v)
{
	return shape_elements(d->value.at[v].shape) == 1;
}

/* A zero point is a code too: images less 127.5 are no codes. */
static bool is_zero_point(const Dag *d, int v)
{
	const Value *x = &d->value.at[v];
	const OpCall *c = writer(d, v);
	if (x->data == NULL)
		return dtype_eq(x->type, I32) || (c != NULL && c->op == OP_cast && is_byte(d->value.at[c->in[0]].type));
	for (int64_t k = 0; k < shape_elements(x->shape); k++) {
		double z = element_get(x->type, x->data, k);
		if (z != floor(z) || fabs(z) > UINT8_MAX)
			return false;
	}
	return true;
}

/* Reads v as codes; `scaled`: with a scale, in f32. */
static bool read_codes(const Dag *d, int v, bool scaled, Codes *out)
{
	const OpCall *c = writer(d, v);
	*out = (Codes){ DAG_NONE, DAG_NONE, DAG_NONE };
	if (scaled) {
		if (c == NULL || c->op != OP_mul)
			return false;
		out->scale = c->in[1];
		c = writer(d, c->in[0]);
	}
	if (c != NULL && c->op == OP_sub) {
		out->zero = c->in[1];
		if (!is_zero_point(d, out->zero))
			return false;
		c = writer(d, c->in[0]);
	}
	if (c == NULL || c->op != OP_cast || !is_byte(d->value.at[c->in[0]].type) ||
		!dtype_eq(d->value.at[c->out[0]].type, scaled ? F32 : I32))
		return false;
	out->value = c->in[0];
	return true;
}

/* ---- constants */

static bool is_constant(const Dag *d, int v, int depth)
{
	if (v == DAG_NONE || d->value.at[v].data != NULL)
		return true;
	const OpCall *c = writer(d, v);
	if (c == NULL || depth == 0)
		return false;
	for (int k = 0; k < c->nin; k++)
		if (!is_constant(d, c->in[k], depth - 1))
			return false;
	return true;
}

/* Scales, zero points and biases get their data: what calls of constants give beside a tensor. */
static bool know_constants(Dag *d, EvalFn eval, Err *err)
{
	for (size_t i = 0; i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i];
		bool binary = c->op == OP_mul || c->op == OP_sub || c->op == OP_add || c->op == OP_div;
		bool biased = (c->op == OP_conv || c->op == OP_dense) && c->nin > 2;
		int v = binary ? c->in[1] : biased ? c->in[2] : DAG_NONE;
		if (v == DAG_NONE || d->value.at[v].data != NULL || shape_elements(d->value.at[v].shape) > GRAPH_SMALL_WORK ||
			!is_constant(d, v, LONGEST_CONSTANT))
			continue;
		if (graph_const_value(d, v, eval, err) == NULL && err->code != ERR_NONE)
			return false;
	}
	return true;
}

static double number_at(const Dag *d, int v, int64_t k)
{
	const Value *x = &d->value.at[v];
	return element_get(x->type, x->data, shape_elements(x->shape) == 1 ? 0 : k);
}

static bool is_known(const Dag *d, int v)
{
	return v == DAG_NONE || d->value.at[v].data != NULL;
}

static bool is_known_number(const Dag *d, int v)
{
	return is_known(d, v) && (v == DAG_NONE || is_single(d, v));
}

static double zero_of(const Dag *d, int v)
{
	return v == DAG_NONE ? 0 : number_at(d, v, 0);
}

/* ---- codes are moved and pooled as they are; codes of the same scale are not made again */

static bool keeps_codes(const OpCall *c)
{
	return c->op == OP_max_pool || c->op == OP_reshape || c->op == OP_transpose || c->op == OP_slice;
}

/* scale * (move(code) - zero) in place of move(scale * (code - zero)): a positive scale keeps the order. */
static bool move_codes(Edit *e, const OpCall *c)
{
	Codes x;
	const char *name = e->from->value.at[c->out[0]].name;
	if (!read_codes(e->to, edit_value(e, c->in[0]), true, &x) || !is_known_number(e->to, x.scale) ||
		!is_known_number(e->to, x.zero) || !(number_at(e->to, x.scale, 0) > 0) ||
		edit_at(e, x.scale)->shape.rank > 1 || (x.zero != DAG_NONE && edit_at(e, x.zero)->shape.rank > 1))
		return false;
	Arena *a = e->to->arena;
	Attr to = attr_text("to", "f32");
	int v = edit_call(e, c->op, arena_printf(a, "%s.codes", name), &x.value, 1, c->attr, c->nattr);
	v = v == DAG_NONE ? v : edit_call(e, OP_cast, arena_printf(a, "%s.cast", name), &v, 1, &to, 1);
	if (v != DAG_NONE && x.zero != DAG_NONE)
		v = edit_call(e, OP_sub, arena_printf(a, "%s.centred", name), (int[2]){ v, x.zero }, 2, NULL, 0);
	return v != DAG_NONE && edit_call_as(e, c, OP_mul, (int[2]){ v, x.scale }, 2, NULL, 0);
}

/* The codes of scale * (code - zero), quantised with the same scale and zero point, are these codes. */
static bool quantised_again(Edit *e, const OpCall *c)
{
	const Dag *d = e->to;
	const OpCall *at = writer(d, edit_value(e, c->in[0]));
	int zero = DAG_NONE;
	Codes x;
	if (at != NULL && at->op == OP_add) {
		zero = at->in[1];
		at = writer(d, at->in[0]);
	}
	at = at != NULL && at->op == OP_round ? writer(d, at->in[0]) : NULL;
	if (at == NULL || at->op != OP_div || !is_known_number(d, at->in[1]) || !is_known_number(d, zero) ||
		!read_codes(d, at->in[0], true, &x) || !is_known_number(d, x.scale) || !is_known_number(d, x.zero))
		return false;
	const Value *y = &e->from->value.at[c->out[0]], *v = edit_at(e, x.value);
	double s = number_at(d, x.scale, 0);
	if (!dtype_eq(v->type, y->type) || !shape_eq(v->shape, y->shape) || !isnormal((float)s) || s < 0 ||
		s != number_at(d, at->in[1], 0) || zero_of(d, x.zero) != zero_of(d, zero))
		return false;
	edit_replace(e, c->out[0], x.value);
	return true;
}

static bool rewrite_moves(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	if (c->op == OP_cast && is_byte(e->from->value.at[c->out[0]].type))
		return quantised_again(e, c);
	return keeps_codes(c) && move_codes(e, c);
}

/* ---- products */

typedef struct Product {
	bool taken, scaled;
	Codes x, w;
	int8_t *weight; /* less their zero points, as they lie in w */
	int64_t columns, *sum; /* of the weights of each column or filter */
	bool padded;
} Product;

typedef struct Plan {
	Product *product; /* of each call */
	bool *divides;    /* of each call: it divides by a constant scale, to be rounded */
	bool *moved;      /* of each value: codes with a sign that are moved up */
	int *up;          /* the new value of these; DAG_NONE: not made yet */
} Plan;

static bool pads(const OpCall *c)
{
	int n = 0;
	const int64_t *pad = c->op == OP_conv ? op_ints(c, "pads", &n) : NULL;
	for (int k = 0; k < n; k++)
		if (pad[k] != 0)
			return true;
	return false;
}

/* The axis of weights whose elements are of one column; -1: not a product of this form. */
static int column_axis(const Dag *d, const OpCall *c)
{
	const Shape w = d->value.at[c->in[1]].shape;
	switch (c->op) {
	case OP_conv: return op_int(c, "groups") == 1 && w.dim[1] % STEPS == 0 ? 0 : -1;
	case OP_dense: return w.dim[1] % STEPS == 0 ? 0 : -1;
	case OP_matmul:
		return w.rank == 2 && op_int(c, "ta") == 0 && op_int(c, "tb") == 0 && w.dim[0] % STEPS == 0 &&
				d->value.at[c->in[0]].shape.rank > 1 ? 1 : -1;
	default: return -1;
	}
}

/* A constant for all of w's elements or one for each column, as it is broadcast to w. */
static bool is_by_column(const Dag *d, int v, Shape w, int axis)
{
	if (v == DAG_NONE || is_single(d, v))
		return true;
	const Shape s = d->value.at[v].shape;
	for (int k = 0; k < s.rank; k++) {
		int at = w.rank - s.rank + k;
		if (s.dim[k] != 1 && (at != axis || s.dim[k] != w.dim[axis]))
			return false;
	}
	return true;
}

/* The weights less their zero points, and their sums; false: one of them does not fit i8. */
static bool centre_weights(const Dag *d, Arena *a, Product *p, int axis)
{
	const Value *w = &d->value.at[p->w.value];
	int64_t n = shape_elements(w->shape), inner = 1;
	for (int k = axis + 1; k < w->shape.rank; k++)
		inner *= w->shape.dim[k];
	p->columns = w->shape.dim[axis];
	p->weight = arena_alloc_aligned(a, (size_t)n + 1, 64);
	p->sum = arena_array(a, int64_t, p->columns + 1);
	const uint8_t *byte = w->data;
	for (int64_t i = 0; i < n; i++) {
		int64_t column = i / inner % p->columns;
		int code = w->type.kind == DT_INT ? (int8_t)byte[i] : byte[i];
		if (p->w.zero != DAG_NONE)
			code -= (int)number_at(d, p->w.zero, column);
		if (code < INT8_MIN || code > INT8_MAX)
			return false;
		p->weight[i] = (int8_t)code;
		p->sum[column] += code;
	}
	return true;
}

static void plan_product(const Dag *d, const OpCall *c, Plan *plan, Product *p)
{
	int axis = column_axis(d, c);
	if (axis < 0 || d->value.at[c->in[1]].shape.dim[axis] % LEAST_LANES != 0)
		return;
	const Shape w = d->value.at[c->in[1]].shape;
	p->scaled = dtype_eq(d->value.at[c->out[0]].type, F32);
	p->padded = pads(c);
	if ((!p->scaled && !dtype_eq(d->value.at[c->out[0]].type, I32)) || !read_codes(d, c->in[0], p->scaled, &p->x) ||
		!read_codes(d, c->in[1], p->scaled, &p->w) || d->value.at[p->w.value].data == NULL ||
		!is_known(d, p->w.zero) || !is_known(d, p->w.scale) || !is_by_column(d, p->w.zero, w, axis) ||
		!is_by_column(d, p->w.scale, w, axis))
		return;
	if ((p->x.zero != DAG_NONE && !is_single(d, p->x.zero)) || (p->x.scale != DAG_NONE && !is_single(d, p->x.scale)) ||
		(p->padded && !is_known(d, p->x.zero)) || d->value.at[p->x.value].data != NULL ||
		!centre_weights(d, d->arena, p, axis))
		return;
	p->taken = true;
	plan->moved[p->x.value] |= d->value.at[p->x.value].type.kind == DT_INT;
}

/* Codes as unsigned bytes: the same, or moved up by 128. */
static int unsigned_codes(Edit *e, Plan *plan, int old)
{
	if (!plan->moved[old])
		return edit_value(e, old);
	if (plan->up[old] == DAG_NONE) {
		static const uint8_t sign = MOVED;
		Arena *a = e->to->arena;
		const char *name = e->from->value.at[old].name;
		Attr to = attr_text("to", "u8");
		int in[2] = { edit_value(e, old), DAG_NONE };
		in[0] = edit_call(e, OP_bitcast, arena_printf(a, "%s.bits", name), in, 1, &to, 1);
		in[1] = edit_const(e, "sign", DT(UINT, 8), shape_of(0, NULL), &sign);
		plan->up[old] = in[0] == DAG_NONE ? DAG_NONE
			: edit_call(e, OP_bit_xor, arena_printf(a, "%s.up", name), in, 2, NULL, 0);
	}
	return plan->up[old];
}

/* The shape in which numbers of columns are broadcast to the result: [N], or [O,1,1] of a convolution. */
static Shape column_shape(const Edit *e, const OpCall *c, int64_t columns)
{
	int rank = c->op == OP_conv ? e->from->value.at[c->out[0]].shape.rank - 1 : 1;
	Shape s = { rank, { columns } };
	for (int k = 1; k < rank; k++)
		s.dim[k] = 1;
	return s;
}

static int32_t wrap(int64_t v)
{
	return (int32_t)(uint32_t)(uint64_t)v;
}

/* What stands on the sums: the name of the next call, and the call that takes the old one's place if it is the last. */
typedef struct Chain {
	Edit *e;
	const OpCall *c;
	int left; /* calls yet to come */
	int at;   /* the last one's result */
} Chain;

static void chain_add(Chain *h, int op, const int *in, int nin, const Attr *attr, int nattr)
{
	Edit *e = h->e;
	const char *name = e->from->value.at[h->c->out[0]].name;
	if (e->err->code != ERR_NONE)
		return;
	if (--h->left == 0) {
		edit_call_as(e, h->c, op, in, nin, attr, nattr);
		h->at = e->map[h->c->out[0]];
	} else {
		h->at = edit_call(e, op, arena_printf(e->to->arena, "%s.%s", name, op_row(op)->name), in, nin, attr, nattr);
	}
}

static void chain_with(Chain *h, int op, int by)
{
	chain_add(h, op, (int[2]){ h->at, by }, 2, NULL, 0);
}

/* Less the computed zero point times the sums of the weights. */
static void chain_zero(Chain *h, const Product *p, Shape columns)
{
	Edit *e = h->e;
	int32_t *sum = arena_array(e->to->arena, int32_t, p->columns + 1);
	for (int64_t k = 0; k < p->columns; k++)
		sum[k] = wrap(p->sum[k]);
	Attr to = attr_text("to", "i32");
	int z = edit_value(e, p->x.zero);
	if (p->scaled)
		z = edit_call(e, OP_cast, "zero", &z, 1, &to, 1);
	if (z != DAG_NONE)
		z = edit_call(e, OP_mul, "zero", (int[2]){ z, edit_const(e, "sums", I32, columns, sum) }, 2, NULL, 0);
	chain_with(h, OP_sub, z);
}

/* The scales of columns: constants, or a product with the computed scale of the input. */
static int scales(Edit *e, const OpCall *c, const Product *p)
{
	const Dag *d = e->from;
	bool known = is_known(d, p->x.scale), single = is_single(d, p->w.scale);
	int64_t n = single ? 1 : p->columns;
	float *scale = arena_array(e->to->arena, float, n + 1);
	double x = known ? number_at(d, p->x.scale, 0) : 1;
	for (int64_t k = 0; k < n; k++)
		scale[k] = (float)(x * number_at(d, p->w.scale, k));
	Shape s = single ? shape_of(0, NULL) : column_shape(e, c, p->columns);
	int of = edit_const(e, "scale", F32, s, scale);
	return known ? of : edit_call(e, OP_mul, "scale", (int[2]){ edit_value(e, p->x.scale), of }, 2, NULL, 0);
}

/* The bias in units of the sums, if all of it is such; false: it is added behind. */
static bool integer_bias(const Edit *e, const Product *p, int bias, int64_t *out)
{
	const Dag *d = e->from;
	for (int64_t k = 0; k < p->columns; k++) {
		double b = number_at(d, bias, k), unit = 1;
		if (p->scaled)
			unit = number_at(d, p->x.scale, 0) * number_at(d, p->w.scale, k);
		double n = nearbyint(b / unit);
		if (!(fabs(n) <= INT32_MAX) || fabs(n * unit - b) > 1e-6 * fabs(b))
			return false;
		out[k] = (int64_t)n;
	}
	return true;
}

/*
 * sum(x w) with the bias less zero * sum(w); then, of scaled codes, the cast to f32, the scales and what is left of
 * the bias. A computed zero point is multiplied by the sums of the weights behind the product.
 */
static bool write_product(Edit *e, const OpCall *c, Plan *plan, const Product *p)
{
	const Dag *d = e->from;
	Arena *a = e->to->arena;
	int old_bias = c->nin > 2 ? c->in[2] : DAG_NONE, n = (int)p->columns;
	bool known_zero = is_known(d, p->x.zero), has_bias = old_bias != DAG_NONE, takes_bias = c->op != OP_matmul;
	int64_t up = plan->moved[p->x.value] ? MOVED : 0, zero = (known_zero ? (int64_t)zero_of(d, p->x.zero) : 0) + up;
	int64_t *start = arena_array(a, int64_t, n + 1);
	bool joined = has_bias && is_known(d, old_bias) && is_known(d, p->x.scale) && integer_bias(e, p, old_bias, start);
	bool passed = has_bias && !joined && !p->scaled; /* computed, in i32 */
	int32_t *first = arena_array(a, int32_t, n + 1);
	bool any = false;
	for (int k = 0; k < n; k++) {
		first[k] = wrap((joined ? start[k] : 0) - (known_zero ? zero : up) * p->sum[k]);
		any |= first[k] != 0;
	}
	bool behind = any && (passed || !takes_bias);
	Chain h = { e, c, 1 + behind + !known_zero + (p->scaled ? 2 + (has_bias && !joined) : 0), DAG_NONE };
	Shape columns = column_shape(e, c, n);
	int bias = passed ? edit_value(e, old_bias)
		: any && takes_bias ? edit_const(e, "start", I32, shape_of(1, &p->columns), first) : DAG_NONE;
	int in[3] = { unsigned_codes(e, plan, p->x.value),
		edit_const(e, d->value.at[p->w.value].name, DT(INT, 8), d->value.at[p->w.value].shape, p->weight), bias };
	Attr *attr = arena_array(a, Attr, c->nattr + 1);
	if (c->nattr > 0)
		memcpy(attr, c->attr, sizeof *attr * (size_t)c->nattr);
	if (p->padded)
		attr[c->nattr] = attr_int("border", zero);
	chain_add(&h, c->op, in, bias != DAG_NONE ? 3 : 2, attr, c->nattr + p->padded);
	if (behind)
		chain_with(&h, OP_add, edit_const(e, "start", I32, columns, first));
	if (!known_zero)
		chain_zero(&h, p, columns);
	if (p->scaled) {
		Attr to = attr_text("to", "f32");
		chain_add(&h, OP_cast, &h.at, 1, &to, 1);
		chain_with(&h, OP_mul, scales(e, c, p));
		if (has_bias && !joined) {
			int b = edit_value(e, old_bias);
			Attr shape = attr_ints("shape", columns.dim, columns.rank);
			chain_with(&h, OP_add, edit_call(e, OP_reshape, "bias", &b, 1, &shape, 1));
		}
	}
	return e->err->code == ERR_NONE;
}

/* ---- scales before rounding */

static int times(Edit *e, const char *name, int v, double by)
{
	float *k = arena_array(e->to->arena, float, 1);
	*k = (float)by;
	return edit_call(e, OP_mul, name, (int[2]){ v, edit_const(e, "factor", F32, shape_of(0, NULL), k) }, 2, NULL, 0);
}

/* Constant operand 1 of a call of the new Dag, times a number. */
static int scaled_operand(Edit *e, const OpCall *c, double by)
{
	const Value v = *edit_at(e, c->in[1]);
	int64_t n = shape_elements(v.shape);
	if (v.data == NULL || !dtype_eq(v.type, F32))
		return DAG_NONE;
	float *to = arena_array(e->to->arena, float, n + 1);
	for (int64_t k = 0; k < n; k++)
		to[k] = (float)(((const float *)v.data)[k] * by);
	return edit_const(e, v.name, F32, v.shape, to);
}

/* Old value v times a positive number: the constants of the calls that only lead to it take the number in. */
static int scaled_value(Edit *e, const Plan *plan, int v, double by)
{
	const Dag *d = e->from;
	const OpCall *c = writer(d, v);
	const char *name = arena_printf(e->to->arena, "%s.scaled", d->value.at[v].name);
	if (c == NULL || e->uses[v] != 1)
		return times(e, name, edit_value(e, v), by);
	if (c->op == OP_relu || (c->op == OP_clip && c->nin == 1)) {
		Attr attr[2] = { attr_float("lo", 0), attr_float("hi", 0) };
		int in = scaled_value(e, plan, c->in[0], by);
		if (c->op == OP_clip) {
			attr[0].f = (float)(op_float(c, "lo") * by);
			attr[1].f = (float)(op_float(c, "hi") * by);
		}
		return in == DAG_NONE ? in : edit_call(e, c->op, name, &in, 1, attr, c->op == OP_clip ? 2 : 0);
	}
	const OpCall *last = edit_writer(e, edit_value(e, v));
	if (!plan->product[c - d->call.at].taken || last == NULL || last->op != OP_mul)
		return times(e, name, edit_value(e, v), by);
	int in[2] = { last->in[0], scaled_operand(e, last, by) };
	return in[1] == DAG_NONE ? times(e, name, edit_value(e, v), by) : edit_call(e, OP_mul, name, in, 2, NULL, 0);
}

static bool rewrite_products(Edit *e, const OpCall *c, void *arg)
{
	Plan *plan = arg;
	const Dag *d = e->from;
	size_t i = (size_t)(c - d->call.at);
	if (plan->product[i].taken)
		return write_product(e, c, plan, &plan->product[i]);
	if (plan->divides[i]) {
		int v = scaled_value(e, plan, c->in[0], 1 / number_at(d, c->in[1], 0));
		edit_replace(e, c->out[0], v);
		return v != DAG_NONE;
	}
	if (c->op != OP_cast || !plan->moved[c->in[0]])
		return false;
	DType t = d->value.at[c->out[0]].type; /* another reader of codes that are moved up: down again */
	if (!dtype_eq(t, F32) && !dtype_eq(t, I32))
		return false;
	int v = unsigned_codes(e, plan, c->in[0]);
	v = v == DAG_NONE ? v : edit_call(e, OP_cast, "codes", &v, 1, c->attr, c->nattr);
	static const float by = MOVED;
	static const int32_t whole = MOVED;
	const void *data = dtype_eq(t, F32) ? (const void *)&by : &whole;
	return v != DAG_NONE &&
		edit_call_as(e, c, OP_sub, (int[2]){ v, edit_const(e, "moved", t, shape_of(0, NULL), data) }, 2, NULL, 0);
}

/* Which divisions of computed values lead to rounding alone, by a scale with a reciprocal. */
static void plan_divisions(const Dag *d, Plan *plan)
{
	for (size_t i = 0; i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i], *by = c->op == OP_round ? writer(d, c->in[0]) : NULL;
		if (by == NULL || by->op != OP_div || !dtype_eq(d->value.at[by->out[0]].type, F32) ||
			writer(d, by->in[0]) == NULL || d->value.at[by->in[1]].data == NULL || !is_single(d, by->in[1]) ||
			!shape_eq(d->value.at[by->in[0]].shape, d->value.at[by->out[0]].shape))
			continue;
		double s = number_at(d, by->in[1], 0);
		plan->divides[by - d->call.at] = s > 0 && isnormal((float)(1 / s));
	}
}

bool pass_codes(Dag *d, EvalFn eval, Err *err)
{
	bool any = false;
	for (size_t i = 0; i < d->call.n && !any; i++)
		any = d->call.at[i].op == OP_cast && is_byte(d->value.at[d->call.at[i].in[0]].type);
	if (!any)
		return true;
	if (!know_constants(d, eval, err) || !edit_dag(d, eval, rewrite_moves, NULL, err) ||
		!know_constants(d, eval, err))
		return false;
	Arena *a = d->arena;
	Plan plan = { .product = arena_array(a, Product, d->call.n + 1), .divides = arena_array(a, bool, d->call.n + 1),
		.moved = arena_array(a, bool, d->value.n + 1), .up = arena_array(a, int, d->value.n + 1) };
	any = false;
	for (size_t v = 0; v < d->value.n; v++)
		plan.up[v] = DAG_NONE;
	for (size_t i = 0; i < d->call.n; i++) {
		plan_product(d, &d->call.at[i], &plan, &plan.product[i]);
		any |= plan.product[i].taken;
	}
	if (!any)
		return true;
	plan_divisions(d, &plan);
	return edit_dag(d, eval, rewrite_products, &plan, err);
}
