/* Shape rules of products and elementwise operators. */
#include "op/rules.h"

#include <string.h>

bool infer_dense(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *w = op_in(d, c, 1), *b = op_in(d, c, 2);
	char s[160], t[160];
	if (!need_factors(c, x, w, err) || !need_rank(c, x, 1, DAG_MAX_RANK, err) || !need_rank(c, w, 2, 2, err) ||
		!need_tf32(c, x, err))
		return false;
	int64_t rows = op_int(c, "rows");
	if (rows != 0 && rows != 1)
		return op_refuse(c, err, "rows is %lld, but must be 0 or 1", (long long)rows);
	int last = x->shape.rank - 1;
	if (x->shape.dim[last] != w->shape.dim[1])
		return op_refuse(c, err, "x of shape %s and w of shape %s differ in their last dimension",
			shape_str(x->shape, s), shape_str(w->shape, t));
	if (b != NULL && (b->shape.rank != 1 || b->shape.dim[0] != w->shape.dim[0]))
		return op_refuse(
			c, err, "b has the shape %s, but w has %lld rows", shape_str(b->shape, s), (long long)w->shape.dim[0]);
	if (b != NULL && !need_bias(c, x, b, err))
		return false;
	set_like(out, x);
	out->type = product_type(x->type);
	out->shape.dim[last] = w->shape.dim[0];
	return true;
}

/* A one-dimensional operand is a row (left) or a column (right); the result drops its dimension of 1. */
bool infer_matmul(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *a = op_in(d, c, 0), *b = op_in(d, c, 1);
	bool ta = op_int(c, "ta") != 0, tb = op_int(c, "tb") != 0;
	char s[160], t[160];
	if (!need_factors(c, a, b, err) || !need_rank(c, a, ta ? 2 : 1, DAG_MAX_RANK, err) ||
		!need_rank(c, b, tb ? 2 : 1, DAG_MAX_RANK, err) || !need_tf32(c, a, err))
		return false;
	int ra = a->shape.rank, rb = b->shape.rank;
	int64_t ka = a->shape.dim[ra - 1 - (ta ? 1 : 0)];
	int64_t kb = rb == 1 ? b->shape.dim[0] : b->shape.dim[rb - 2 + (tb ? 1 : 0)];
	Shape la = a->shape, lb = b->shape, batch;
	la.rank = ra > 2 ? ra - 2 : 0;
	lb.rank = rb > 2 ? rb - 2 : 0;
	if (ka != kb || !shape_broadcast(la, lb, &batch))
		return op_refuse(
			c, err, "the shapes %s and %s do not multiply", shape_str(a->shape, s), shape_str(b->shape, t));
	*out = (Value){ .type = product_type(a->type), .shape = batch };
	if (ra > 1)
		out->shape.dim[out->shape.rank++] = a->shape.dim[ra - 2 + (ta ? 1 : 0)];
	if (rb > 1)
		out->shape.dim[out->shape.rank++] = b->shape.dim[rb - 1 - (tb ? 1 : 0)];
	return true;
}

bool infer_det(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	char s[160];
	if (!need_float(c, x, err) || !need_rank(c, x, 2, DAG_MAX_RANK, err))
		return false;
	int rank = x->shape.rank;
	if (x->shape.dim[rank - 1] != x->shape.dim[rank - 2])
		return op_refuse(c, err, "x has the shape %s, but square matrices are needed", shape_str(x->shape, s));
	set_like(out, x);
	out->shape.rank = rank - 2;
	out->shape.dim[rank - 1] = out->shape.dim[rank - 2] = 0;
	return true;
}

bool infer_suppress(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	char s[160], type[DTYPE_TEXT];
	if (!need_rank(c, x, 2, DAG_MAX_RANK, err))
		return false;
	int rank = x->shape.rank;
	if (x->type.kind != DT_BOOL || x->shape.dim[rank - 1] != x->shape.dim[rank - 2])
		return op_refuse(c, err, "x has the type %s and the shape %s, but square matrices of bool are needed",
			dtype_print(x->type, type), shape_str(x->shape, s));
	set_like(out, x);
	out->shape.rank = rank - 1;
	out->shape.dim[rank - 1] = 0;
	return true;
}

bool infer_batch_norm(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	char s[160];
	if (!need_float(c, x, err) || !need_rank(c, x, 2, DAG_MAX_RANK, err))
		return false;
	for (int i = 1; i < 5; i++) {
		const Value *v = op_in(d, c, i);
		if (!need_float(c, v, err))
			return false;
		if (v->shape.rank != 1 || v->shape.dim[0] != x->shape.dim[1])
			return op_refuse(c, err, "%s has the shape %s, but x has %lld channels", v->name, shape_str(v->shape, s),
				(long long)x->shape.dim[1]);
	}
	set_like(out, x);
	return true;
}

bool infer_binary(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *a = op_in(d, c, 0), *b = op_in(d, c, 1);
	if (!need_number(c, a, err) || !need_number(c, b, err) || (c->op != OP_pow && !need_same_type(c, a, b, err)))
		return false;
	set_like(out, a);
	return need_broadcast(c, a, b, &out->shape, err);
}

/* An attribute that is 0 or 1. */
static bool need_flag(const OpCall *c, const char *name, Err *err)
{
	int64_t v = op_int(c, name);
	if (v != 0 && v != 1)
		return op_refuse(c, err, "%s is %lld, but must be 0 or 1", name, (long long)v);
	return true;
}

bool infer_mod(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	return need_flag(c, "fmod", err) && infer_binary(d, c, out, err);
}

/* bool is equal or not, but has no order. */
bool infer_compare(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *a = op_in(d, c, 0), *b = op_in(d, c, 1);
	if ((c->op != OP_equal && !need_number(c, a, err)) || !need_same_type(c, a, b, err))
		return false;
	*out = (Value){ .type = BOOL };
	return need_broadcast(c, a, b, &out->shape, err);
}

bool infer_logic(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *a = op_in(d, c, 0), *b = op_in(d, c, 1);
	if (dtype_is_float(a->type))
		return op_refuse(c, err, "%s has floating elements, but this operator is for bools and integers", a->name);
	set_like(out, a);
	return b == NULL || (need_same_type(c, a, b, err) && need_broadcast(c, a, b, &out->shape, err));
}

bool infer_shift(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	char t[DTYPE_TEXT];
	const Value *a = op_in(d, c, 0);
	if (a->type.kind != DT_UINT)
		return op_refuse(
			c, err, "%s is %s, but this operator is for unsigned integers", a->name, dtype_print(a->type, t));
	return infer_logic(d, c, out, err);
}

bool infer_where(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *cond = op_in(d, c, 0), *a = op_in(d, c, 1), *b = op_in(d, c, 2);
	char t[DTYPE_TEXT], s[3][160];
	Shape both;
	if (cond->type.kind != DT_BOOL)
		return op_refuse(c, err, "the condition %s is %s, but must be bool", cond->name, dtype_print(cond->type, t));
	if (!need_same_type(c, a, b, err))
		return false;
	set_like(out, a);
	if (!shape_broadcast(a->shape, b->shape, &both) || !shape_broadcast(cond->shape, both, &out->shape))
		return op_refuse(c, err, "the shapes %s, %s and %s do not broadcast", shape_str(cond->shape, s[0]),
			shape_str(a->shape, s[1]), shape_str(b->shape, s[2]));
	return true;
}

bool infer_test(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	if (c->op == OP_is_inf && (!need_flag(c, "negative", err) || !need_flag(c, "positive", err)))
		return false;
	*out = (Value){ .type = BOOL, .shape = x->shape };
	return need_float(c, x, err);
}

bool infer_prelu(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *slope = op_in(d, c, 1);
	char s[160], t[160];
	Shape both;
	if (!need_number(c, x, err) || !need_same_type(c, x, slope, err) || !need_broadcast(c, x, slope, &both, err))
		return false;
	if (!shape_eq(both, x->shape))
		return op_refuse(c, err, "slope of shape %s does not broadcast to x of shape %s", shape_str(slope->shape, s),
			shape_str(x->shape, t));
	set_like(out, x);
	return true;
}

bool infer_unary_float(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	set_like(out, op_in(d, c, 0));
	return need_float(c, op_in(d, c, 0), err);
}

bool infer_unary_number(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	set_like(out, op_in(d, c, 0));
	return need_number(c, op_in(d, c, 0), err);
}

bool infer_identity(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	(void)err;
	set_like(out, op_in(d, c, 0));
	return true;
}

bool infer_clip(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0);
	char s[160];
	for (int i = 1; i < c->nin; i++) {
		const Value *v = op_in(d, c, i);
		if (v == NULL)
			continue;
		if (!need_same_type(c, x, v, err))
			return false;
		if (v->shape.rank > 1 || shape_elements(v->shape) != 1)
			return op_refuse(c, err, "%s must be a scalar, but has the shape %s", v->name, shape_str(v->shape, s));
	}
	return infer_unary_number(d, c, out, err);
}

bool infer_cast(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const char *to = op_text(c, "to");
	set_like(out, op_in(d, c, 0));
	if (!dtype_parse(to, strlen(to), &out->type) || out->type.lanes != 1)
		return op_refuse(c, err, "\"%s\" is not an element type; write f32, i64, u8, bool or another one", to);
	char t[DTYPE_TEXT], u[DTYPE_TEXT];
	const Value *x = op_in(d, c, 0);
	if (c->op == OP_bitcast && dtype_bytes(out->type, 8) != dtype_bytes(x->type, 8))
		return op_refuse(c, err, "%s is %s, which has not as many bits as %s", x->name, dtype_print(x->type, t),
			dtype_print(out->type, u));
	return true;
}
