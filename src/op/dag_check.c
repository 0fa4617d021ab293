/*
 * Checks a Dag that a front end, a parser or a pass made: numbers are in range, every value is written once
 * and above its uses, names are unique, shapes obey the rules.
 */
#include "op/names.h"
#include "op/shape.h"

#include <string.h>

static bool check_values(const Dag *d, Err *err)
{
	Arena *tmp = arena_new();
	Names *seen = names_new(tmp);
	bool ok = true;
	for (size_t i = 0; ok && i < d->value.n; i++) {
		const Value *v = &d->value.at[i];
		if (names_taken(seen, v->name))
			ok = fail(err, ERR_TYPE, d->name, "two values have the name %s", v->name);
		else if (v->shape.rank < 0 || v->shape.rank > DAG_MAX_RANK || value_bytes(v) < 0)
			ok = fail(err, ERR_TYPE, d->name,
				"the shape of %s is not known, overflows, or does not fit its layout", v->name);
		else if (v->kind == VALUE_CALL && (v->call < 0 || (size_t)v->call >= d->call.n))
			ok = fail(err, ERR_TYPE, d->name, "no call computes the value %s", v->name);
		else
			names_bind(seen, v->name, (int)i);
	}
	arena_free(tmp);
	return ok;
}

static bool in_range(const Dag *d, int v)
{
	return v >= 0 && (size_t)v < d->value.n;
}

static bool check_results(const Dag *d, size_t call, Arena *tmp, Err *err)
{
	const OpCall *c = &d->call.at[call];
	Value *out = arena_array(tmp, Value, c->nout + 1);
	if (!op_infer(d, c, out, err))
		return false;
	for (int i = 0; i < c->nout; i++) {
		if (!in_range(d, c->out[i]))
			return op_refuse(c, err, "writes a value that does not exist");
		const Value *v = &d->value.at[c->out[i]];
		if (v->kind != VALUE_CALL || v->call != (int)call)
			return op_refuse(c, err, "writes %s, which is a value of another call", v->name);
		if (!shape_eq(v->shape, out[i].shape) || !dtype_eq(v->type, out[i].type))
			return op_refuse(c, err, "%s has another type or shape than the operator computes", v->name);
	}
	return true;
}

static bool check_calls(const Dag *d, Err *err)
{
	Arena *tmp = arena_new();
	bool ok = true;
	for (size_t i = 0; ok && i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i];
		ok = dag_check_call(d, c, err);
		int n = op_row(c->op)->outputs;
		if (ok && n < 0) /* a split has a result for each of its sizes */
			op_ints(c, "sizes", &n);
		if (ok && n != c->nout)
			ok = op_refuse(c, err, "writes %d values instead of %d", c->nout, n);
		for (int k = 0; ok && k < c->nin; k++) {
			const Value *v = op_in(d, c, k);
			if (v != NULL && v->kind == VALUE_CALL && v->call >= (int)i)
				ok = op_refuse(c, err, "reads %s before it is written", v->name);
		}
		ok = ok && check_results(d, i, tmp, err);
	}
	arena_free(tmp);
	return ok;
}

bool dag_check(const Dag *d, Err *err)
{
	for (size_t i = 0; i < d->input.n; i++)
		if (!in_range(d, d->input.at[i]) || d->value.at[d->input.at[i]].kind != VALUE_INPUT)
			return fail(err, ERR_TYPE, d->name, "input %zu of the model is not an input value", i);
	for (size_t i = 0; i < d->output.n; i++)
		if (!in_range(d, d->output.at[i]))
			return fail(err, ERR_TYPE, d->name, "output %zu of the model does not exist", i);
	return check_values(d, err) && check_calls(d, err);
}
