/* Rows of layers that read or write at places, which are floats in a network. */
#include "frontend/coreml/calls.h"
#include "frontend/coreml/coreml.h"

#include "frontend/node/compose.h"

static const char *mode_of(Visit *v, int64_t mode)
{
	static const char *const modes[] = { "update", "add", "sub", "mul", "div", "max", "min" };
	if (mode >= 0 && mode < 7)
		return modes[mode];
	node_fail(v, ERR_UNSUPPORTED, "its mode %lld is not known", (long long)mode);
	return modes[0];
}

static void import_gather(Visit *v)
{
	coreml_set(v, 0, coreml_gather(v, coreml_value(v, 0), coreml_index(v, 1), coreml_params(v, CoremlAxis)->axis, 0));
}

static void import_gather_nd(Visit *v)
{
	coreml_set(v, 0, coreml_gather_nd(v, coreml_value(v, 0), coreml_index(v, 1), 0));
}

static void import_gather_along(Visit *v)
{
	coreml_set(
		v, 0, coreml_gather_along(v, coreml_value(v, 0), coreml_index(v, 1), coreml_params(v, CoremlAxis)->axis));
}

static void import_scatter(Visit *v)
{
	const CoremlScatterAxis *p = coreml_params(v, CoremlScatterAxis);
	int x = coreml_value(v, 0), index = coreml_index(v, 1);
	coreml_set(v, 0, coreml_scatter(v, x, index, coreml_value(v, 2), p->axis, mode_of(v, p->mode)));
}

static void import_scatter_nd(Visit *v)
{
	int x = coreml_value(v, 0), index = coreml_index(v, 1);
	coreml_set(
		v, 0, coreml_scatter_nd(v, x, index, coreml_value(v, 2), mode_of(v, coreml_params(v, CoremlMode)->mode)));
}

static void import_scatter_along(Visit *v)
{
	const CoremlScatterAxis *p = coreml_params(v, CoremlScatterAxis);
	int x = coreml_value(v, 0), index = coreml_index(v, 1);
	coreml_set(v, 0, coreml_scatter_along(v, x, index, coreml_value(v, 2), p->axis, mode_of(v, p->mode)));
}

static void import_one_hot(Visit *v)
{
	const CoremlOneHot *p = coreml_params(v, CoremlOneHot);
	int on = node_number(v, F32, import_number(F32, &p->onValue)),
		off = node_number(v, F32, import_number(F32, &p->offValue));
	int64_t size = p->oneHotVectorSize;
	int n;
	const int64_t *given = coreml_known(v, 1, &n);
	if (node_ok(v) && n >= 0)
		size = n == 1 ? given[0] : 0;
	coreml_set(v, 0, coreml_one_hot(v, coreml_index(v, 0), size, p->axis, on, off));
}

const NodeRow coreml_gather_rows[] = {
	{ "gather", 0, "", import_gather },
	{ "gatherND", 0, "", import_gather_nd },
	{ "gatherAlongAxis", 0, "", import_gather_along },
	{ "scatter", 0, "", import_scatter },
	{ "scatterND", 0, "", import_scatter_nd },
	{ "scatterAlongAxis", 0, "", import_scatter_along },
	{ "oneHot", 0, "", import_one_hot },
	{ NULL, 0, NULL, NULL },
};
