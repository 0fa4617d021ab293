/*
 * Words of the schema of torch.export. Targets of nodes are operators of PyTorch and other libraries with their forms,
 * and functions of Python on numbers that are known while importing.
 */
#include "frontend/pytorch/schema.h"

#include <string.h>

const Json *schema_find(const Json *j, const char *key)
{
	return j != NULL && j->kind == JV_OBJECT ? json_find(j, key) : NULL;
}

const char *schema_text(const Json *j, const char *key)
{
	const Json *x = schema_find(j, key);
	return x != NULL && x->kind == JV_TEXT ? x->text : NULL;
}

/* The one pair of an object that is not null: {"as_int": 3}. */
const Json *schema_variant(const Json *j)
{
	for (size_t k = 0; j != NULL && j->kind == JV_OBJECT && k < j->list.n; k++)
		if (j->list.at[k]->kind != JV_NULL)
			return j->list.at[k];
	return NULL;
}

/* ScalarType of the schema, which counts from 1: 0 is unknown. */
bool schema_type(int64_t code, DType *out)
{
	return code <= 12 ? torch_type_from(code - 1, out) : torch_type_from(code == 13 ? 15 : code == 28 ? 27 : -1, out);
}

/* A number of {"as_int": 3}, or of an older file's 3. */
bool schema_size(const Json *j, int64_t *out)
{
	const Json *x = j->kind == JV_OBJECT ? schema_variant(j) : j;
	*out = x != NULL && x->kind == JV_INT ? x->i : -1;
	return x != NULL && x->kind == JV_INT && x->i >= 0;
}

const char *schema_operator(Arena *a, const char *target)
{
	static const struct {
		const char *target, *op;
	} python[] = { { "add", "add.int" }, { "sub", "sub.int" }, { "mul", "mul.int" }, { "floordiv", "floordiv" },
		{ "truediv", "div.int" }, { "mod", "remainder.int" }, { "neg", "neg.int" }, { "pow", "pow.int" },
		{ "eq", "eq.any" }, { "ne", "ne.any" }, { "lt", "lt.int" }, { "le", "le.int" }, { "gt", "gt.int" },
		{ "ge", "ge.int" }, { "sym_max", "prim::max" }, { "sym_min", "prim::min" }, { "sym_float", "Float" },
		{ "sym_int", "Int" }, { "sym_not", "__not__" }, { "getitem", "__getitem__" } };
	if (strncmp(target, "torch.ops.", 10) == 0)
		target += 10;
	else
		for (size_t k = 0; k < sizeof python / sizeof *python; k++) {
			const char *dot = strrchr(target, '.');
			if (dot != NULL && strcmp(dot + 1, python[k].target) == 0)
				return python[k].op;
		}
	const char *dot = strchr(target, '.');
	size_t n = strlen(target);
	if (n > 8 && strcmp(target + n - 8, ".default") == 0)
		n -= 8;
	if (dot == NULL || (size_t)(dot - target) >= n)
		return arena_printf(a, "%.200s", target);
	const char *rest = arena_printf(a, "%.*s", (int)(n - (size_t)(dot - target) - 1), dot + 1);
	return strncmp(target, "aten.", 5) == 0 ? rest : arena_printf(a, "%.*s::%s", (int)(dot - target), target, rest);
}
