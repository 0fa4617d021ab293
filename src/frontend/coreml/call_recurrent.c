/*
 * Recurrences over x[T,N,I]: the input's product, biases included, is a dense layer over all steps, then one call of
 * the Dag's operator walks them.
 */
#include "frontend/coreml/cell.h"

#include "frontend/node/compose.h"
#include "op/recurrent.h"

void coreml_run_cell(Visit *v, const CoremlCell *c, int x, int *out)
{
	static const char *const names[][2] = { { "f_alpha", "f_beta" }, { "g_alpha", "g_beta" }, { "h_alpha", "h_beta" } };
	out[0] = out[1] = out[2] = DAG_NONE;
	if (!node_ok(v))
		return;
	int gates = recurrent_gates(c->op), acts = recurrent_acts(c->op), n = 0, k = 0;
	int64_t h = node_val(v, c->r)->shape.dim[1], turn[] = { 2, 0, 1 };
	int dense[] = { x, c->w, c->bias }, in[6];
	in[n++] = node_call(v, OP_dense, dense, 3, NULL, 0);
	in[n++] = node_transpose(v, node_view(v, c->r, 3, (int64_t[]){ gates, h, h }), turn);
	in[n++] = c->first[0];
	if (c->op == OP_gru)
		in[n++] = c->after;
	if (c->op == OP_lstm) {
		in[n++] = c->first[1];
		in[n++] = c->peephole;
	}
	Attr attr[16];
	attr[k++] = attr_int("reverse", c->reverse);
	attr[k++] = attr_text("acts", c->acts);
	for (int i = 0; i < acts; i++) {
		attr[k++] = attr_float(names[i][0], c->alpha[i]);
		attr[k++] = attr_float(names[i][1], c->beta[i]);
	}
	if (c->clip > 0)
		attr[k++] = attr_float("clip", c->clip);
	if (c->op == OP_gru)
		attr[k++] = attr_int("linear_before_reset", c->linear);
	if (c->op == OP_lstm)
		attr[k++] = attr_int("input_forget", c->coupled);
	int y = node_call(v, c->op, in, n, attr, k);
	for (int i = 0; i < (c->op == OP_lstm ? 3 : 2) && node_ok(v); i++)
		out[i] = v->im->dag->call.at[node_val(v, y)->call].out[i];
}
