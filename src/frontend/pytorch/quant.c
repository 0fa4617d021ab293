/* Calls with quantised tensors; quant.h says what they are. */
#include "frontend/pytorch/quant.h"

#include <string.h>

const TorchQuant *torch_quant(const TorchTensor *t)
{
	while (t->quant == NULL && (t->base != NULL || t->shares != NULL))
		t = t->base != NULL ? t->base : t->shares;
	return t->quant;
}

static bool is_quantised(TorchValue x)
{
	return x.kind == TORCH_TENSOR && torch_quant(x.tensor) != NULL;
}

/* The first one; NULL: there is none. */
static TorchTensor *first_of(const AtenIn *in)
{
	for (size_t k = 0; k < in->n; k++) {
		TorchValue x = in->at[k];
		if (is_quantised(x))
			return x.tensor;
		for (size_t i = 0; (x.kind == TORCH_LIST || x.kind == TORCH_TUPLE) && i < x.list->n; i++)
			if (is_quantised(x.list->at[i]))
				return x.list->at[i].tensor;
	}
	return NULL;
}

bool torch_has_quant(const AtenIn *in)
{
	return first_of(in) != NULL;
}

static bool call1(Visit *v, const char *name, TorchValue x, TorchValue *out)
{
	static const char *const names[] = { NULL };
	return aten_call(v, name, &(AtenIn){ &x, names, 1 }, out);
}

static TorchValue numbers(Visit *v, TorchValue x)
{
	TorchValue y = x;
	if (is_quantised(x))
		call1(v, "dequantize", x, &y);
	if (x.kind == TORCH_LIST || x.kind == TORCH_TUPLE) {
		y = torch_list(v->im->arena, x.kind);
		torch_spend(v, (int64_t)x.list->n);
		for (size_t k = 0; k < x.list->n && node_ok(v); k++) {
			TorchValue e = x.list->at[k];
			if (is_quantised(e))
				call1(v, "dequantize", e, &e);
			torch_push(v->im->arena, y.list, e);
		}
	}
	return y;
}

/* Operators whose results PyTorch rounds to the scale of their first operand. */
static bool keeps_scale(const char *name)
{
	static const char *const names[] = { "relu", "relu6", "hardtanh", "clamp", "clamp_min", "clamp_max", "clip",
		"leaky_relu", "threshold", "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
		"adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool2d",
		"_adaptive_avg_pool3d", "mean", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d",
		"upsample_bilinear2d", "cat", "concat", "dropout", "constant_pad_nd", "pad", "channel_shuffle", "flip", "stack",
		"elu", "celu", "pixel_shuffle", "pixel_unshuffle" };
	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (strncmp(name, names[k], strlen(names[k])) == 0 && strchr("._", name[strlen(names[k])]) != NULL &&
			(name[strlen(names[k])] != '_' || name[strlen(names[k]) + 1] == 0))
			return true;
	return false;
}

/* Operators whose results PyTorch gives a scale that their range says; codes of i8 have another zero point. */
static bool has_scale(const char *name, DType type, TorchQuant *q)
{
	static const struct {
		const char *name;
		double scale;
		int64_t zero;
	} fixed[] = { { "sigmoid", 1. / 256, 0 }, { "hardsigmoid", 1. / 256, 0 }, { "tanh", 1. / 128, 128 } };
	for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
		if (strncmp(name, fixed[k].name, strlen(fixed[k].name)) == 0 &&
			strchr("._", name[strlen(fixed[k].name)]) != NULL) {
			*q = (TorchQuant){ .scale = fixed[k].scale, .zero = fixed[k].zero - (type.kind == DT_INT ? 128 : 0) };
			return true;
		}
	return false;
}

/* What an operator writes in place: the argument that is called so, or the first one; NULL: no quantised tensor. */
static TorchTensor *self_of(const AtenIn *in)
{
	for (size_t k = 0; k < in->n; k++)
		if (is_quantised(in->at[k]) && (in->name[k] == NULL ? k == 0 : strcmp(in->name[k], "self") == 0))
			return in->at[k].tensor;
	return NULL;
}

bool torch_call_quant(
	Visit *v, const AtenRow *list, const char *name, bool inplace, const AtenIn *in, TorchValue *out, bool *done)
{
	Arena *a = v->im->arena;
	*done = false;
	if (list == torch_quant_rows || list == torch_scalar_rows || list == torch_list_rows ||
		list == torch_control_rows || list == torch_move_rows)
		return true;
	TorchTensor *first = inplace ? self_of(in) : first_of(in);
	const TorchQuant *q = first != NULL ? torch_quant(first) : NULL;
	TorchQuant *own = arena_new_of(a, TorchQuant);
	*done = true;
	if (first != NULL && has_scale(name, torch_item(v, first)->type, own) && !inplace && q->scales == NULL)
		q = own;
	else if (first == NULL || !keeps_scale(name) || q->scales != NULL) {
		node_fail(v, ERR_UNSUPPORTED, "it reads a quantised tensor, which dlc does not have for this operator");
		return false;
	}
	TorchValue *at = arena_array(a, TorchValue, in->n + 1), y;
	for (size_t k = 0; k < in->n; k++)
		at[k] = numbers(v, in->at[k]);
	const char *plain = inplace ? arena_printf(a, "%.*s", (int)strcspn(name, ".") - 1, name) : name;
	if (!node_ok(v) || !aten_call(v, plain, &(AtenIn){ at, in->name, in->n }, &y))
		return false;
	if (y.kind != TORCH_TENSOR) {
		node_fail(v, ERR_UNSUPPORTED, "it gives several results of a quantised tensor");
		return false;
	}
	DType type = torch_item(v, first)->type;
	*out = torch_of(v, torch_codes(v, torch_value(v, y.tensor), q, type));
	out->tensor->quant = q;
	if (inplace && node_ok(v)) {
		torch_write(v, first, torch_value(v, out->tensor));
		*out = (TorchValue){ .kind = TORCH_TENSOR, .tensor = first };
	}
	return node_ok(v);
}

static void keep(TorchValue x, const TorchQuant *q, int depth)
{
	if (x.kind == TORCH_TENSOR && torch_quant(x.tensor) == NULL)
		x.tensor->quant = q;
	for (size_t k = 0; (x.kind == TORCH_LIST || x.kind == TORCH_TUPLE) && depth < 2 && k < x.list->n; k++)
		keep(x.list->at[k], q, depth + 1);
}

void torch_keep_quant(Visit *v, const AtenRow *list, const AtenIn *in, TorchValue out)
{
	const TorchQuant *q = torch_quant(first_of(in));
	if (list != torch_move_rows)
		return;
	if (q->scales != NULL)
		node_fail(v, ERR_UNSUPPORTED, "it is a view of a tensor that has a scale for each channel");
	keep(out, q, 0);
}
