/*
 * Rows of numbers, texts and tensors' properties, which are known while importing: the arithmetic on shapes that
 * programs do. A number that is asked of a tensor and depends on the model's inputs stays a tensor without dimensions.
 */
#include "frontend/pytorch/aten.h"

#include "op/element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void give_int(Aten *n, int64_t i)
{
	aten_give(n, torch_int(i));
}

static void give_bool(Aten *n, bool b)
{
	aten_give(n, torch_bool(b));
}

/* ---- properties of tensors */

static void import_size(Aten *n)
{
	Shape s = aten_shape(n, "self");
	TorchValue all = torch_list(n->v->im->arena, TORCH_LIST);
	for (int k = 0; k < s.rank; k++)
		torch_push(n->v->im->arena, all.list, torch_int(s.dim[k]));
	aten_give(n, all);
}

static void import_size_of(Aten *n)
{
	Shape s = aten_shape(n, "self");
	int axis = aten_axis(n, "dim", s.rank);
	if (node_ok(n->v))
		give_int(n, s.dim[axis]);
}

static void import_dim(Aten *n)
{
	give_int(n, aten_shape(n, "self").rank);
}

static void import_numel(Aten *n)
{
	Shape s = aten_shape(n, "self");
	give_int(n, shape_product(&s, 0, s.rank));
}

static void import_len(Aten *n)
{
	Shape s = aten_shape(n, "self");
	if (node_ok(n->v) && s.rank == 0)
		node_fail(n->v, ERR_TYPE, "a scalar has no length");
	give_int(n, s.dim[0]);
}

static void import_dtype(Aten *n)
{
	give_int(n, torch_type_code(aten_item(n, "self")->type));
}

static void import_device(Aten *n)
{
	aten_any(n, "self");
	aten_give(n, (TorchValue){ .kind = TORCH_DEVICE, .text = "cpu" });
}

/* A property that all tensors here have, or lack. */
static void import_property(Aten *n)
{
	for (int k = 0; k < n->narg; k++)
		n->arg[k].seen = true;
	give_bool(n, n->row->op != 0);
}

static void import_zero(Aten *n)
{
	aten_any(n, "self");
	give_int(n, n->row->op);
}

static void import_is_floating(Aten *n)
{
	give_bool(n, dtype_is_float(aten_item(n, "self")->type));
}

static void import_is_contiguous(Aten *n)
{
	give_bool(n, torch_is_plain(n->v, aten_tensor(n, "self")));
}

static void import_stride(Aten *n)
{
	Shape s = aten_shape(n, "self");
	if (!torch_is_plain(n->v, aten_tensor(n, "self")))
		node_fail(n->v, ERR_UNSUPPORTED, "the strides of a view are not supported");
	TorchValue all = torch_list(n->v->im->arena, TORCH_LIST);
	for (int k = 0; k < s.rank; k++)
		torch_push(n->v->im->arena, all.list, torch_int(shape_product(&s, k + 1, s.rank)));
	aten_give(n, aten_given(n, "dim") && node_ok(n->v) ? all.list->at[aten_axis(n, "dim", s.rank)] : all);
}

/* ---- numbers of tensors, and conversions */

static bool known_number(Aten *n, TorchValue x, TorchValue *out)
{
	*out = x;
	if (x.kind != TORCH_TENSOR)
		return torch_is_number(x);
	Item *it = torch_item(n->v, x.tensor);
	if (node_ok(n->v) && shape_elements(it->shape) != 1)
		node_fail(n->v, ERR_TYPE, "a tensor of %lld elements cannot be a number", (long long)shape_elements(it->shape));
	if (!node_ok(n->v) || !node_know(n->v, it, "a number of a tensor"))
		return false;
	if (dtype_is_float(it->type))
		*out = torch_float(element_get(it->type, it->data, 0));
	else if (it->type.kind == DT_BOOL)
		*out = torch_bool(element_get_int(it->type, it->data, 0) != 0);
	else
		*out = torch_int(element_get_int(it->type, it->data, 0));
	return true;
}

/* A tensor of one element that depends on the model's inputs. */
static bool is_open(Aten *n, TorchValue x)
{
	if (x.kind != TORCH_TENSOR || !node_ok(n->v))
		return false;
	Item *it = torch_item(n->v, x.tensor);
	return shape_elements(it->shape) == 1 && !node_item_known(n->v, it) && node_ok(n->v);
}

static void give_open(Aten *n, int value)
{
	TorchValue y = torch_of(n->v, node_reshape(n->v, value, shape_of(0, NULL)));
	y.tensor->number = true;
	aten_give(n, y);
}

/* Arithmetic of which an operand is open: that of tensors. */
static void by_tensors(Aten *n, const char *op)
{
	static const char *const names[2] = { NULL, NULL };
	TorchValue in[2] = { aten_any(n, "a") }, y;
	size_t count = n->narg > 1 ? 2 : 1;
	if (count == 2)
		in[1] = aten_any(n, "b");
	for (size_t k = 0; k < count; k++)
		if (torch_is_number(in[k])) {
			in[k] = torch_of(n->v, aten_as(n, in[k], aten_promote(n, &in[k], 1)));
			in[k].tensor->number = true;
		}
	if (aten_call(n->v, op, &(AtenIn){ in, names, count }, &y) && y.kind == TORCH_TENSOR)
		give_open(n, torch_value(n->v, y.tensor));
}

static void import_item(Aten *n)
{
	TorchValue x = aten_any(n, "a");
	if (is_open(n, x))
		give_open(n, torch_value(n->v, x.tensor));
	else if (known_number(n, aten_any(n, "a"), &x))
		aten_give(n, x);
}

static void import_int(Aten *n)
{
	TorchValue a = aten_any(n, "a"), x;
	if (a.kind == TORCH_TEXT) {
		give_int(n, strtoll(a.text, NULL, 10));
		return;
	}
	if (is_open(n, a)) {
		int y = torch_value(n->v, a.tensor);
		give_open(n, node_cast(n->v, dtype_is_float(node_val(n->v, y)->type) ? node_truncate(n->v, y) : y, I64));
		return;
	}
	if (!known_number(n, a, &x))
		return;
	if (x.kind == TORCH_FLOAT && !(fabs(x.f) < 9e18))
		node_fail(n->v, ERR_INPUT, "a number is too large for an integer");
	else
		give_int(n, x.kind == TORCH_FLOAT ? (int64_t)x.f : x.i);
}

static void import_float(Aten *n)
{
	TorchValue a = aten_any(n, "a"), x;
	if (a.kind == TORCH_TEXT)
		aten_give(n, torch_float(strtod(a.text, NULL)));
	else if (is_open(n, a))
		give_open(n, aten_floating(n, torch_value(n->v, a.tensor)));
	else if (known_number(n, a, &x))
		aten_give(n, torch_float(torch_number(x)));
}

static void import_bool(Aten *n)
{
	TorchValue x = aten_any(n, "a");
	if (is_open(n, x)) {
		int y = torch_value(n->v, x.tensor);
		DType t = node_val(n->v, y)->type;
		if (t.kind != DT_BOOL)
			y = node_call1(n->v, OP_bit_not, node_call2(n->v, OP_equal, y, node_number(n->v, t, 0)));
		give_open(n, y);
	} else if (known_number(n, x, &x))
		give_bool(n, torch_number(x) != 0);
}

static void import_str(Aten *n)
{
	aten_give(n, torch_text(torch_str(n->v->im->arena, aten_any(n, "a"), 1000)));
}

/* ---- arithmetic */

typedef enum { ADD, SUB, MUL, DIV, FLOORDIV, MOD, POW, MAX, MIN, AND, OR, XOR, SHL, SHR } Arith;

static bool whole(Arith op, int64_t a, int64_t b, int64_t *out)
{
	bool bad = false, up;
	switch (op) {
	case ADD: bad = __builtin_add_overflow(a, b, out); break;
	case SUB: bad = __builtin_sub_overflow(a, b, out); break;
	case MUL: bad = __builtin_mul_overflow(a, b, out); break;
	case FLOORDIV:
	case MOD:
		if (b == 0 || (b == -1 && a == INT64_MIN))
			return false;
		up = a % b != 0 && (a < 0) != (b < 0); /* C rounded up, to zero */
		*out = op == MOD ? a % b + (up ? b : 0) : a / b - up;
		break;
	case MAX: *out = a > b ? a : b; break;
	case MIN: *out = a < b ? a : b; break;
	case AND: *out = a & b; break;
	case OR: *out = a | b; break;
	case XOR: *out = a ^ b; break;
	case SHL: *out = b >= 0 && b < 63 ? (int64_t)((uint64_t)a << b) : 0; break;
	case SHR: *out = a >> (b < 0 ? 0 : b > 63 ? 63 : b); break;
	default: return false;
	}
	return !bad;
}

static double real(Arith op, double a, double b)
{
	switch (op) {
	case ADD: return a + b;
	case SUB: return a - b;
	case MUL: return a * b;
	case DIV: return a / b;
	case FLOORDIV: return floor(a / b);
	case MOD: return a - b * floor(a / b);
	case POW: return pow(a, b);
	case MAX: return a > b ? a : b;
	default: return a < b ? a : b;
	}
}

static void arithmetic(Aten *n)
{
	TorchValue a = aten_any(n, "a"), b = aten_any(n, "b");
	Arith op = (Arith)n->row->op;
	static const char *const names[] = { "add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "maximum",
		"minimum", "__and__", "__or__", "__xor__", "bitwise_left_shift", "bitwise_right_shift" };
	int64_t i = 0;
	if (is_open(n, a) || is_open(n, b)) {
		by_tensors(n, names[op]);
		return;
	}
	if (!known_number(n, a, &a) || !known_number(n, b, &b))
		return;
	bool floats = a.kind == TORCH_FLOAT || b.kind == TORCH_FLOAT || op == DIV;
	if (!floats && op == POW) {
		double p = pow((double)a.i, (double)b.i);
		aten_give(n, b.i < 0 || fabs(p) > 9e15 ? torch_float(p) : torch_int((int64_t)p));
	} else if (floats) {
		aten_give(n, torch_float(real(op, torch_number(a), torch_number(b))));
	} else if (whole(op, a.i, b.i, &i)) {
		bool logic = op >= AND && a.kind == TORCH_BOOL && b.kind == TORCH_BOOL;
		aten_give(n, logic ? torch_bool(i != 0) : torch_int(i));
	} else {
		node_fail(n->v, ERR_INPUT, "%lld and %lld give no 64-bit integer", (long long)a.i, (long long)b.i);
	}
}

typedef enum { NEG, ABS, SQRT, FLOOR, CEIL, ROUND, LOG, EXP, SIN, COS, TANH, NOT } Single;

static void single(Aten *n)
{
	static const char *const names[] = { "neg", "abs", "sqrt", "floor", "ceil", "round", "log", "exp", "sin", "cos",
		"tanh", "logical_not" };
	TorchValue x = aten_any(n, "a");
	bool rounds = n->row->op == FLOOR || n->row->op == CEIL;
	if (is_open(n, x)) {
		by_tensors(n, names[n->row->op]);
		if (rounds && n->done)
			give_open(n, node_cast(n->v, torch_value(n->v, n->result.tensor), I64));
		return;
	}
	if (!known_number(n, x, &x))
		return;
	double f = torch_number(x);
	switch ((Single)n->row->op) {
	case NEG:
		if (x.kind == TORCH_FLOAT)
			aten_give(n, torch_float(-x.f));
		else
			give_int(n, x.i == INT64_MIN ? x.i : -x.i);
		return;
	case ABS:
		if (x.kind == TORCH_FLOAT)
			aten_give(n, torch_float(fabs(x.f)));
		else
			give_int(n, x.i < 0 && x.i != INT64_MIN ? -x.i : x.i);
		return;
	case NOT: give_bool(n, f == 0); return;
	case SQRT: f = sqrt(f); break;
	case LOG: f = log(f); break;
	case EXP: f = exp(f); break;
	case SIN: f = sin(f); break;
	case COS: f = cos(f); break;
	case TANH: f = tanh(f); break;
	case FLOOR: f = floor(f); break;
	case CEIL: f = ceil(f); break;
	default: f = nearbyint(f); break;
	}
	if (rounds && fabs(f) < 9e18)
		give_int(n, (int64_t)f);
	else
		aten_give(n, torch_float(f));
}

/* ---- comparisons of anything */

typedef enum { EQ, NE, LT, LE, GT, GE } Order;

static void compare(Aten *n)
{
	TorchValue a = aten_any(n, "a"), b = aten_any(n, "b"), p = a, q = b;
	Order op = (Order)n->row->op;
	if (op <= NE &&
		!((a.kind == TORCH_TENSOR) != (b.kind == TORCH_TENSOR) && (torch_is_number(a) || torch_is_number(b)))) {
		give_bool(n, torch_equal(n->v, a, b) == (op == EQ));
		return;
	}
	static const char *const names[] = { "eq", "ne", "lt", "le", "gt", "ge" };
	double x = 0, y = 0;
	if ((is_open(n, a) && (torch_is_number(b) || b.kind == TORCH_TENSOR)) || (is_open(n, b) && torch_is_number(a))) {
		by_tensors(n, names[op]);
		return;
	}
	if (a.kind == TORCH_TEXT && b.kind == TORCH_TEXT) {
		x = strcmp(a.text, b.text);
	} else {
		if (!known_number(n, a, &p) || !known_number(n, b, &q)) {
			node_fail(
				n->v, ERR_UNSUPPORTED, "it compares a %s and a %s", torch_kind_name(a.kind), torch_kind_name(b.kind));
			return;
		}
		x = torch_number(p);
		y = torch_number(q);
	}
	give_bool(n, op == EQ   ? x == y
				 : op == NE ? x != y
				 : op == LT ? x < y
				 : op == LE ? x <= y
				 : op == GT ? x > y
							: x >= y);
}

/* None, and tensors and modules by their identity. */
static void import_is(Aten *n)
{
	TorchValue a = aten_any(n, "a"), b = aten_any(n, "b");
	bool same = a.kind == b.kind && torch_equal(n->v, a, b);
	if (a.kind == TORCH_TENSOR && b.kind == TORCH_TENSOR)
		same = a.tensor == b.tensor;
	give_bool(n, same == (n->row->op == 0));
}

/* ---- what a program says to its user */

static void import_raise(Aten *n)
{
	TorchValue said = aten_any(n, "msg");
	aten_any(n, "cls");
	node_fail(n->v, ERR_INPUT, "the program raises \"%.300s\"",
		said.kind == TORCH_TEXT ? text_printable(n->v->im->arena, said.text, "") : "an exception");
}

static void import_nothing(Aten *n)
{
	for (int k = 0; k < n->narg; k++)
		n->arg[k].seen = true;
	aten_give(n, torch_none());
}

static void import_format(Aten *n)
{
	Arena *a = n->v->im->arena;
	TorchValue form = aten_any(n, "form");
	static const char *const names[] = { "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7" };
	Text t = { .arena = a };
	int k = 0;
	for (const char *s = form.text; *s != 0 && t.n < 1000; s++) {
		if (s[0] == '{' && s[1] == '}') {
			text_add(&t, "%s", k < 8 ? torch_str(a, aten_any(n, names[k]), 512) : "");
			k++;
			s++;
		} else {
			text_put(&t, s, 1);
		}
	}
	aten_give(n, torch_text(text_str(&t)));
	for (int i = 0; i < n->narg; i++)
		n->arg[i].seen = true;
}

static void import_concat_text(Aten *n)
{
	aten_give(n, torch_text(arena_printf(n->v->im->arena, "%.500s%.500s", aten_text(n, "a"), aten_text(n, "b"))));
}

#define AB "a:n b:n"

const AtenRow torch_scalar_rows[] = {
	{ "size", "self:T", import_size, 0 },
	{ "size.int", "self:T dim:i", import_size_of, 0 },
	{ "sym_size", "self:T dim:i", import_size_of, 0 },
	{ "dim", "self:T", import_dim, 0 },
	{ "ndimension", "self:T", import_dim, 0 },
	{ "numel", "self:T", import_numel, 0 },
	{ "sym_numel", "self:T", import_numel, 0 },
	{ "len", "self:T", import_len, 0 },
	{ "stride", "self:T dim:i?", import_stride, 0 },
	{ "is_floating_point", "self:T", import_is_floating, 0 },
	{ "is_contiguous", "self:T memory_format:_?", import_is_contiguous, 0 },
	{ "is_complex", "self:T", import_property, 0 },
	{ "is_grad_enabled", "", import_property, 0 },
	{ "requires_grad", "self:T", import_property, 0 },
	{ "is_autocast_enabled", "", import_property, 0 },
	{ "is_autocast_cpu_enabled", "", import_property, 0 },
	{ "prim::dtype", "self:T", import_dtype, 0 },
	{ "prim::device", "self:T", import_device, 0 },
	{ "device", "self:*", import_device, 0 },
	{ "prim::type", "a:*", import_str, 0 },
	{ "prim::layout", "self:T", import_zero, 0 },
	{ "prim::is_cuda", "self:T", import_property, 0 },
	{ "prim::is_cpu", "self:T", import_property, 1 },
	{ "prim::is_mps", "self:T", import_property, 0 },
	{ "prim::is_xla", "self:T", import_property, 0 },
	{ "prim::is_xpu", "self:T", import_property, 0 },
	{ "prim::is_meta", "self:T", import_property, 0 },
	{ "prim::is_mkldnn", "self:T", import_property, 0 },
	{ "prim::is_quantized", "self:T", import_property, 0 },
	{ "prim::is_sparse", "self:T", import_property, 0 },
	{ "prim::is_nested", "self:T", import_property, 0 },
	{ "prim::requires_grad", "self:T", import_property, 0 },
	{ "is_scripting", "", import_property, 1 },
	{ "_is_tracing", "", import_property, 0 },
	{ "_get_tracing_state", "", import_property, 0 },
	{ "item", "a:T", import_item, 0 },
	{ "_local_scalar_dense", "a:T", import_item, 0 },
	{ "Int", "a:*", import_int, 0 },
	{ "IntImplicit", "a:*", import_int, 0 },
	{ "Float", "a:*", import_float, 0 },
	{ "FloatImplicit", "a:*", import_float, 0 },
	{ "Bool", "a:*", import_bool, 0 },
	{ "ScalarImplicit", "a:*", import_item, 0 },
	{ "str", "a:*", import_str, 0 },
	{ "add.int", AB, arithmetic, ADD },
	{ "sub.int", AB, arithmetic, SUB },
	{ "mul.int", AB, arithmetic, MUL },
	{ "div.int", AB, arithmetic, DIV },
	{ "floordiv", AB, arithmetic, FLOORDIV },
	{ "floor_divide.int", AB, arithmetic, FLOORDIV },
	{ "remainder.int", AB, arithmetic, MOD },
	{ "fmod.int", AB, arithmetic, MOD },
	{ "pow.int", AB, arithmetic, POW },
	{ "prim::max", AB, arithmetic, MAX },
	{ "prim::min", AB, arithmetic, MIN },
	{ "__and__.int", AB, arithmetic, AND },
	{ "__or__.int", AB, arithmetic, OR },
	{ "__xor__.int", AB, arithmetic, XOR },
	{ "__lshift__.int", AB, arithmetic, SHL },
	{ "__rshift__.int", AB, arithmetic, SHR },
	{ "neg.int", "a:n", single, NEG },
	{ "abs.int", "a:n", single, ABS },
	{ "prim::abs", "a:n", single, ABS },
	{ "sqrt.int", "a:n", single, SQRT },
	{ "floor.int", "a:n", single, FLOOR },
	{ "ceil.int", "a:n", single, CEIL },
	{ "round.int", "a:n", single, ROUND },
	{ "log.int", "a:n", single, LOG },
	{ "exp.int", "a:n", single, EXP },
	{ "sin.int", "a:n", single, SIN },
	{ "cos.int", "a:n", single, COS },
	{ "tanh.int", "a:n", single, TANH },
	{ "__not__", "a:n", single, NOT },
	{ "eq.any", "a:* b:*", compare, EQ },
	{ "ne.any", "a:* b:*", compare, NE },
	{ "lt.int", "a:* b:*", compare, LT },
	{ "le.int", "a:* b:*", compare, LE },
	{ "gt.int", "a:* b:*", compare, GT },
	{ "ge.int", "a:* b:*", compare, GE },
	{ "__is__", "a:* b:*", import_is, 0 },
	{ "__isnot__", "a:* b:*", import_is, 1 },
	{ "prim::RaiseException", "msg:* cls:*?", import_raise, 0 },
	{ "warn", "message:* stacklevel:*?", import_nothing, 0 },
	{ "warnings::warn", "message:* stacklevel:*?", import_nothing, 0 },
	{ "prim::Print", "message:*?", import_nothing, 0 },
	{ "_assert_async", "self:* assert_msg:_?", import_nothing, 0 },
	{ "_assert_scalar", "self:* assert_msg:_?", import_nothing, 0 },
	{ "_assert_tensor_metadata", "a:* size:_? stride:_? dtype:_? device:_? layout:_?", import_nothing, 0 },
	{ "sym_constrain_range_for_size", "size:* min:_? max:_?", import_nothing, 0 },
	{ "sym_constrain_range", "size:* min:_? max:_?", import_nothing, 0 },
	{ "_set_grad_enabled", "mode:*", import_nothing, 0 },
	{ "format", "form:s p0:*? p1:*? p2:*? p3:*? p4:*? p5:*? p6:*? p7:*?", import_format, 0 },
	{ "add.str", "a:s b:s", import_concat_text, 0 },
	{ NULL, NULL, NULL, 0 },
};
