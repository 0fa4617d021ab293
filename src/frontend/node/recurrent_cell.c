/* Recurrent layers; recurrent_cell.h says what they are. */
#include "frontend/node/recurrent_cell.h"
#include "frontend/node/compose.h"

#include "op/recurrent.h"

#include <string.h>

enum { MOST_ATTR = 20 };

/* Sum of the biases of input and state. Where the product comes first, the last gate of gru has the state's apart. */
static int bias(Visit *v, const RecurrentCell *c, bool apart)
{
	if (c->wb == DAG_NONE)
		return DAG_NONE;
	if (!apart)
		return node_call2(v, OP_add, c->wb, c->rb);
	int64_t both = 2 * c->size;
	int w = node_slice(v, c->wb, 0, 0, both), r = node_slice(v, c->rb, 0, 0, both);
	int part[] = { node_call2(v, OP_add, w, r), node_slice(v, c->wb, 0, both, c->size) };
	return node_concat(v, part, 2, 0);
}

int node_recurrent(Visit *v, const RecurrentCell *c)
{
	static const int64_t turn[] = { 2, 0, 1 };
	bool apart = c->op == OP_gru && c->linear;
	int64_t gates = recurrent_gates(c->op);
	Attr attr[MOST_ATTR];
	if (!node_ok(v))
		return DAG_NONE;
	int dense[] = { c->x, c->w, bias(v, c, apart) };
	int state = node_view(v, c->r, 3, (int64_t[]){ gates, c->size, c->size });
	int x = node_call(v, OP_dense, dense, 3, NULL, 0), in[6] = { x, node_transpose(v, state, turn), c->h };
	int n = 3, nattr = 0;
	if (c->op == OP_gru)
		in[n++] = apart && c->rb != DAG_NONE ? node_slice(v, c->rb, 0, 2 * c->size, c->size) : DAG_NONE;
	if (c->op == OP_lstm) {
		in[n++] = c->c;
		in[n++] = c->peep;
	}
	in[n++] = c->length;
	memcpy(attr, c->attr, sizeof *attr * (size_t)c->nattr);
	nattr = c->nattr;
	attr[nattr++] = attr_int("reverse", c->reverse);
	if (c->op == OP_gru)
		attr[nattr++] = attr_int("linear_before_reset", c->linear);
	return node_call(v, c->op, in, n, attr, nattr);
}

int node_order_gates(Visit *v, int op, int x)
{
	static const int lstm[] = { 0, 3, 1, 2 }, gru[] = { 1, 0, 2 };
	Shape s = node_val(v, x)->shape;
	int part[4], gates = recurrent_gates(op);
	if (gates == 1 || x == DAG_NONE || !node_ok(v))
		return x;
	for (int k = 0; k < gates; k++)
		part[k] = node_slice(v, x, 0, (op == OP_lstm ? lstm[k] : gru[k]) * (s.dim[0] / gates), s.dim[0] / gates);
	return node_concat(v, part, gates, 0);
}
