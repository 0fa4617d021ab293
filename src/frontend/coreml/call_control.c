/* Conditions and iterations; calls.h says what each function is. */
#include "frontend/coreml/calls.h"

#include "frontend/node/traverse.h"
#include "op/element.h"

/* Iterations of all loops of a model, and calls of its Dag after them. */
enum { MOST_STEPS = 1 << 14, MOST_CALLS = 1 << 16 };

bool coreml_run_graph(
	Visit *v, const NodeGraph *g, const char *part, Item *const *in, int nin, Item **out, int nout)
{
	Frame f;
	return node_ok(v) && node_open_graph(v, g, &f) && node_run_graph(v, g, &f, part, in, nin, out, nout);
}

bool coreml_is_true(Visit *v, const Item *it)
{
	if (shape_elements(it->shape) == 1)
		return element_get(it->type, it->data, 0) != 0;
	node_fail(v, ERR_TYPE, "its condition has %lld elements, not one", (long long)shape_elements(it->shape));
	return false;
}

void coreml_choose(Visit *v, int k, int cond, Item *a, Item *b)
{
	int x = node_item_value(v, a), y = node_item_value(v, b), c = node_value(v, cond);
	const Value *of = node_val(v, c);
	if (node_ok(v) && !shape_eq(node_val(v, x)->shape, node_val(v, y)->shape))
		node_fail(v, ERR_UNSUPPORTED, "its sides give results of different shapes, but its condition is not known");
	if (node_ok(v) && shape_elements(of->shape) != 1)
		node_fail(v, ERR_TYPE, "its condition has %lld elements, not one", (long long)shape_elements(of->shape));
	bool number = of->type.kind != DT_BOOL;
	c = node_reshape(v, c, shape_of(0, NULL));
	if (number) /* of a neural network: 1 or 0 */
		c = node_call2(v, OP_equal, c, node_number(v, node_val(v, c)->type, 0));
	node_set(v, k, number ? node_where(v, c, y, x) : node_where(v, c, x, y));
}

bool coreml_count_step(Visit *v)
{
	if (++v->im->steps > MOST_STEPS || v->im->dag->call.n > MOST_CALLS)
		node_fail(v, ERR_UNSUPPORTED, "loops are written out, but only for %d iterations and %d calls in all",
			MOST_STEPS, MOST_CALLS);
	return node_ok(v);
}
