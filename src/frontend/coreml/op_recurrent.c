/*
 * Rows of recurrent layers over [sequence,batch,C,1,1]. CoreML limits what activations read to -50 .. 50, where a
 * sigmoid and a tanh are flat already, so that only other activations need it. It limits cells the same way, which dlc
 * does not: cells of sigmoid and tanh need as many steps to grow so large. A file's own limit below 50 is refused.
 */
#include "frontend/coreml/cell.h"
#include "frontend/coreml/coreml.h"

#include "frontend/node/compose.h"

#include <string.h>

typedef struct Sequence {
	int x; /* [T,N,I] */
	int64_t steps, batch, in, units;
	Blob blob;
} Sequence;

static Sequence sequence_of(Visit *v, int64_t in, int64_t units)
{
	Sequence q = { .in = coreml_size(v, "inputVectorSize", in, 1),
		.units = coreml_size(v, "outputVectorSize", units, 1) };
	q.blob = coreml_blob(v, 0);
	if (!node_ok(v))
		return q;
	Shape s = node_val(v, q.blob.x)->shape;
	if (!coreml_file(v)->rank5 && q.blob.lead.rank != 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 5", q.blob.lead.rank + 3);
	else if (s.dim[1] != in || s.dim[2] != 1 || s.dim[3] != 1)
		node_fail(v, ERR_TYPE, "its input has vectors of %lld elements, but its weights need %lld",
			(long long)shape_product(&s, 1, 4), (long long)in);
	q.batch = coreml_file(v)->rank5 ? coreml_file(v)->batch : q.blob.lead.rank == 2 ? q.blob.lead.dim[1] : 1;
	if (node_ok(v) && (q.batch < 1 || s.dim[0] % q.batch != 0))
		node_fail(v, ERR_TYPE, "its input has a sequence that its batch does not divide");
	if (!node_ok(v))
		return q;
	q.steps = s.dim[0] / q.batch;
	q.x = node_view(v, q.blob.x, 3, (int64_t[]){ q.steps, q.batch, in });
	return q;
}

/* Input k as a first state [N,H]; DAG_NONE: there is none. */
static int state_of(Visit *v, const Sequence *q, int k)
{
	return node_in(v, k) == NULL ? DAG_NONE : node_view(v, node_value(v, k), 2, (int64_t[]){ q->batch, q->units });
}

/* Result k: [T,N,H] as a sequence, [N,H] as one of one step. */
static void set_states(Visit *v, const Sequence *q, int k, int y)
{
	if (!node_ok(v) || !node_used(v, k))
		return;
	Shape s = node_val(v, y)->shape;
	int64_t steps = s.rank == 3 ? s.dim[0] : 1, size = s.dim[s.rank - 1];
	if (coreml_file(v)->rank5)
		node_set(v, k, node_view(v, y, 4, (int64_t[]){ steps * q->batch, size, 1, 1 }));
	else
		node_set(v, k, node_view(v, y, 5, (int64_t[]){ steps, q->batch, size, 1, 1 }));
}

/* Appends an activation to a cell. */
static void add_act(Visit *v, CoremlCell *c, int k, const CoremlActivation *p)
{
	const char *name = p->linear != NULL        ? "affine"
	                   : p->sigmoid != NULL     ? "sigmoid"
	                   : p->tanh != NULL        ? "tanh"
	                   : p->ReLU != NULL        ? "relu"
	                   : p->scaledTanh != NULL  ? "scaled_tanh"
	                   : p->sigmoidHard != NULL ? "hard_sigmoid"
	                                            : NULL;
	const CoremlNumbers *n = p->linear != NULL ? p->linear : p->scaledTanh != NULL ? p->scaledTanh : p->sigmoidHard;
	if (name == NULL) {
		node_fail(v, ERR_UNSUPPORTED, "its activation %d is none of those that recurrent layers have", k + 1);
		return;
	}
	c->acts = arena_printf(v->im->arena, "%s%s%s", k > 0 ? c->acts : "", k > 0 ? "." : "", name);
	c->alpha[k] = n != NULL ? import_number(F32, &n->alpha) : 0;
	c->beta[k] = n != NULL ? import_number(F32, &n->beta) : 0;
	if (p->sigmoid == NULL && p->tanh == NULL)
		c->clip = 50;
}

static void read_acts(Visit *v, CoremlCell *c, const CoremlActivation *at, size_t n, size_t need)
{
	if (n != need)
		node_fail(v, ERR_INPUT, "it has %zu activations, but %zu are needed", n, need);
	for (size_t k = 0; k < need && node_ok(v); k++)
		add_act(v, c, (int)k, &at[k]);
}

/* Matrices of gates in the Dag's order, one above the other. */
static int joined(Visit *v, const char *what, const CoremlWeight *const *w, int n, int64_t rows, int64_t columns)
{
	int part[4];
	Shape s = shape_of(columns > 0 ? 2 : 1, (int64_t[]){ rows, columns });
	for (int k = 0; k < n; k++)
		part[k] = coreml_weight(v, what, w[k], s);
	return node_ok(v) ? node_concat(v, part, n, 0) : DAG_NONE;
}

static void import_simple(Visit *v)
{
	const CoremlSimpleRecurrent *p = coreml_params(v, CoremlSimpleRecurrent);
	static const CoremlActivation none;
	Sequence q = sequence_of(v, p->inputVectorSize, p->outputVectorSize);
	CoremlCell c = {
		.op = OP_rnn, .bias = DAG_NONE, .after = DAG_NONE, .peephole = DAG_NONE, .reverse = p->reverseInput != 0
	};
	add_act(v, &c, 0, p->activation != NULL ? p->activation : &none);
	if (!node_ok(v))
		return;
	int64_t h = q.units;
	int out[3];
	c.w = coreml_weight(v, "weightMatrix", p->weightMatrix, shape_of(2, (int64_t[]){ h, q.in }));
	c.r = coreml_weight(v, "recursionMatrix", p->recursionMatrix, shape_of(2, (int64_t[]){ h, h }));
	if (p->hasBiasVector)
		c.bias = coreml_weight(v, "biasVector", p->biasVector, shape_of(1, &h));
	c.first[0] = state_of(v, &q, 1);
	c.first[1] = DAG_NONE;
	coreml_run_cell(v, &c, q.x, out);
	set_states(v, &q, 0, p->sequenceOutput ? out[0] : out[1]);
	set_states(v, &q, 1, out[1]);
}

static void import_gru(Visit *v)
{
	const CoremlGRU *p = coreml_params(v, CoremlGRU);
	Sequence q = sequence_of(v, p->inputVectorSize, p->outputVectorSize);
	CoremlCell c = {
		.op = OP_gru, .bias = DAG_NONE, .after = DAG_NONE, .peephole = DAG_NONE, .reverse = p->reverseInput != 0
	};
	read_acts(v, &c, p->activations.at, p->activations.n, 2);
	if (!node_ok(v))
		return;
	const CoremlWeight *w[] = { p->updateGateWeightMatrix, p->resetGateWeightMatrix, p->outputGateWeightMatrix };
	const CoremlWeight *r[] = { p->updateGateRecursionMatrix, p->resetGateRecursionMatrix,
		p->outputGateRecursionMatrix };
	const CoremlWeight *b[] = { p->updateGateBiasVector, p->resetGateBiasVector, p->outputGateBiasVector };
	int out[3];
	c.w = joined(v, "weight matrices", w, 3, q.units, q.in);
	c.r = joined(v, "recursion matrices", r, 3, q.units, q.units);
	if (p->hasBiasVectors)
		c.bias = joined(v, "bias vectors", b, 3, q.units, 0);
	c.first[0] = state_of(v, &q, 1);
	c.first[1] = DAG_NONE;
	coreml_run_cell(v, &c, q.x, out);
	set_states(v, &q, 0, p->sequenceOutput ? out[0] : out[1]);
	set_states(v, &q, 1, out[1]);
}

/* One direction of an LSTM. */
static void run_lstm(
	Visit *v, const Sequence *q, const CoremlLSTM *p, const CoremlLSTMWeight *at, CoremlCell *c, int *out)
{
	static const CoremlLSTM usual;
	static const CoremlLSTMWeight none;
	p = p != NULL ? p : &usual;
	at = at != NULL ? at : &none;
	double clip = import_number(F32, &p->cellClipThreshold);
	if (clip != 0 && !(clip >= 50))
		node_fail(v, ERR_UNSUPPORTED, "its cellClipThreshold limits cells to %g, which is not supported", clip);
	const CoremlWeight *w[] = { at->inputGateWeightMatrix, at->outputGateWeightMatrix, at->forgetGateWeightMatrix,
		at->blockInputWeightMatrix };
	const CoremlWeight *r[] = { at->inputGateRecursionMatrix, at->outputGateRecursionMatrix,
		at->forgetGateRecursionMatrix, at->blockInputRecursionMatrix };
	const CoremlWeight *b[] = { at->inputGateBiasVector, at->outputGateBiasVector, at->forgetGateBiasVector,
		at->blockInputBiasVector };
	const CoremlWeight *peep[] = { at->inputGatePeepholeVector, at->outputGatePeepholeVector,
		at->forgetGatePeepholeVector };
	int64_t h = q->units, all = 4 * h;
	c->op = OP_lstm;
	c->after = c->bias = c->peephole = DAG_NONE;
	c->coupled = p->coupledInputAndForgetGate != 0;
	c->w = joined(v, "weight matrices", w, 4, h, q->in);
	c->r = joined(v, "recursion matrices", r, 4, h, h);
	if (p->hasBiasVectors)
		c->bias = joined(v, "bias vectors", b, 4, h, 0);
	if (p->hasPeepholeVectors)
		c->peephole = joined(v, "peephole vectors", peep, 3, h, 0);
	if (p->forgetBias && node_ok(v)) { /* 1 is added to the third gate */
		float *one = arena_array(v->im->arena, float, all);
		for (int64_t k = 2 * h; k < 3 * h; k++)
			one[k] = 1;
		int more = node_weight(v, "forget bias", F32, shape_of(1, &all), one);
		c->bias = c->bias == DAG_NONE ? more : node_call2(v, OP_add, c->bias, more);
	}
	coreml_run_cell(v, c, q->x, out);
}

static void import_lstm(Visit *v)
{
	const CoremlUniLSTM *p = coreml_params(v, CoremlUniLSTM);
	Sequence q = sequence_of(v, p->inputVectorSize, p->outputVectorSize);
	CoremlCell c = { .reverse = p->reverseInput != 0 };
	read_acts(v, &c, p->activations.at, p->activations.n, 3);
	if (!node_ok(v))
		return;
	int out[3];
	c.first[0] = state_of(v, &q, 1);
	c.first[1] = state_of(v, &q, 2);
	run_lstm(v, &q, p->params, p->weightParams, &c, out);
	set_states(v, &q, 0, p->params != NULL && p->params->sequenceOutput ? out[0] : out[1]);
	set_states(v, &q, 1, out[1]);
	set_states(v, &q, 2, out[2]);
}

/* Results: both directions joined, then h and c forwards, h and c backwards. */
static void import_bi_lstm(Visit *v)
{
	const CoremlBiLSTM *p = coreml_params(v, CoremlBiLSTM);
	Sequence q = sequence_of(v, p->inputVectorSize, p->outputVectorSize);
	int out[2][3];
	if (node_ok(v) && p->weightParams.n != 2)
		node_fail(v, ERR_INPUT, "it has %zu sets of weights, but 2 are needed", p->weightParams.n);
	for (int d = 0; d < 2 && node_ok(v); d++) {
		CoremlCell c = { .reverse = d == 1 };
		bool own = d == 1 && p->activationsBackwardLSTM.n > 0;
		if (own)
			read_acts(v, &c, p->activationsBackwardLSTM.at, p->activationsBackwardLSTM.n, 3);
		else
			read_acts(v, &c, p->activationsForwardLSTM.at, p->activationsForwardLSTM.n, 3);
		if (!node_ok(v))
			return;
		c.first[0] = state_of(v, &q, 1 + 2 * d);
		c.first[1] = state_of(v, &q, 2 + 2 * d);
		run_lstm(v, &q, p->params, &p->weightParams.at[d], &c, out[d]);
	}
	if (!node_ok(v))
		return;
	bool all = p->params != NULL && p->params->sequenceOutput;
	int both[] = { all ? out[0][0] : out[0][1], all ? out[1][0] : out[1][1] };
	set_states(v, &q, 0, node_concat(v, both, 2, all ? 2 : 1));
	for (int d = 0; d < 2; d++)
		for (int k = 1; k < 3; k++)
			set_states(v, &q, 2 * d + k, out[d][k]);
}

const NodeRow coreml_recurrent_rows[] = {
	{ "simpleRecurrent", 0, "", import_simple },
	{ "gru", 0, "", import_gru },
	{ "uniDirectionalLSTM", 0, "", import_lstm },
	{ "biDirectionalLSTM", 0, "", import_bi_lstm },
	{ NULL, 0, NULL, NULL },
};
