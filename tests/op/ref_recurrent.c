/* The meaning of rnn, gru and lstm, one sequence and one state element at a time, in doubles. */
#include "ref.h"

#include "op/recurrent.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { STATE = 16 };

static double act(const OpCall *c, int which, double x)
{
	static const char *const alphas[] = { "f_alpha", "g_alpha", "h_alpha" }, *const betas[] = { "f_beta", "g_beta",
		"h_beta" };
	double alpha = op_float(c, alphas[which]), beta = op_float(c, betas[which]), clip = op_float(c, "clip");
	bool cell = c->op == OP_lstm && which == 2;
	if (clip > 0 && !cell)
		x = fmin(fmax(x, -clip), clip);
	switch (recurrent_act(c, which)) {
	case ACTIVATION_relu: return fmax(x, 0);
	case ACTIVATION_tanh: return tanh(x);
	case ACTIVATION_sigmoid: return 1 / (1 + exp(-x));
	case ACTIVATION_affine: return alpha * x + beta;
	case ACTIVATION_leaky_relu: return x < 0 ? alpha * x : x;
	case ACTIVATION_thresholded_relu: return x < alpha ? 0 : x;
	case ACTIVATION_scaled_tanh: return alpha * tanh(beta * x);
	case ACTIVATION_hard_sigmoid: return fmin(fmax(alpha * x + beta, 0), 1);
	case ACTIVATION_elu: return x < 0 ? alpha * expm1(x) : x;
	case ACTIVATION_softsign: return x / (1 + fabs(x));
	case ACTIVATION_softplus: return log1p(exp(x));
	default: return NAN;
	}
}

typedef struct Step {
	const OpCall *c;
	const Tensor *const *in;
	const double *x; /* of this step and sequence */
	int size, gates;
	double h[STATE], cell[STATE];
} Step;

/* x and the product of a state with column j of the recurrent weights. */
static double sum(const Step *s, const double *h, int j, double start)
{
	for (int k = 0; k < s->size; k++)
		start += h[k] * s->in[1]->v[k * s->gates * s->size + j];
	return start;
}

static void gru(Step *s)
{
	int n = s->size;
	double z[STATE], r[STATE], kept[STATE], next[STATE];
	bool before = op_int(s->c, "linear_before_reset") != 0;
	for (int j = 0; j < n; j++) {
		z[j] = act(s->c, 0, sum(s, s->h, j, s->x[j]));
		r[j] = act(s->c, 0, sum(s, s->h, n + j, s->x[n + j]));
		kept[j] = r[j] * s->h[j];
	}
	for (int j = 0; j < n; j++) {
		double b = s->in[3] != NULL ? s->in[3]->v[j] : 0;
		double in = before ? s->x[2 * n + j] + r[j] * sum(s, s->h, 2 * n + j, b)
						   : sum(s, kept, 2 * n + j, s->x[2 * n + j]);
		next[j] = (1 - z[j]) * act(s->c, 1, in) + z[j] * s->h[j];
	}
	memcpy(s->h, next, sizeof next);
}

static void lstm(Step *s)
{
	int n = s->size;
	const double *p = s->in[4] != NULL ? s->in[4]->v : NULL;
	double next[STATE];
	for (int j = 0; j < n; j++) {
		double gate[4], c = s->cell[j];
		for (int g = 0; g < 4; g++)
			gate[g] = sum(s, s->h, g * n + j, s->x[g * n + j]);
		double i = act(s->c, 0, gate[0] + (p != NULL ? p[j] * c : 0));
		double f = act(s->c, 0, gate[2] + (p != NULL ? p[2 * n + j] * c : 0));
		if (op_int(s->c, "input_forget") != 0)
			f = 1 - i;
		s->cell[j] = f * c + i * act(s->c, 1, gate[3]);
		next[j] = act(s->c, 0, gate[1] + (p != NULL ? p[n + j] * s->cell[j] : 0)) * act(s->c, 2, s->cell[j]);
	}
	memcpy(s->h, next, sizeof next);
}

static void rnn(Step *s)
{
	double next[STATE];
	for (int j = 0; j < s->size; j++)
		next[j] = act(s->c, 0, sum(s, s->h, j, s->x[j]));
	memcpy(s->h, next, sizeof next);
}

void ref_recurrent(Arena *a, const Dag *d, const OpCall *c, const Tensor *const *in, Tensor *out)
{
	const Tensor *x = in[0], *len = in[c->op == OP_rnn ? 3 : c->op == OP_gru ? 4 : 5];
	int64_t steps = x->shape.dim[0], batch = x->shape.dim[1], size = in[1]->shape.dim[0];
	for (int k = 0; k < c->nout; k++)
		out[k] = tensor_new(a, d->value.at[c->out[k]].type, d->value.at[c->out[k]].shape);
	assert(size <= STATE);
	for (int64_t n = 0; n < batch; n++) {
		Step s = { .c = c, .in = in, .size = (int)size, .gates = recurrent_gates(c->op) };
		int64_t count = len == NULL ? steps : (int64_t)fmin(fmax(len->v[n], 0), (double)steps);
		for (int64_t j = 0; j < size; j++) {
			s.h[j] = in[2] != NULL ? in[2]->v[n * size + j] : 0;
			s.cell[j] = c->op == OP_lstm && in[3] != NULL ? in[3]->v[n * size + j] : 0;
		}
		for (int64_t k = 0; k < count; k++) {
			int64_t t = op_int(c, "reverse") != 0 ? count - 1 - k : k;
			s.x = &x->v[(t * batch + n) * s.gates * size];
			(c->op == OP_lstm ? lstm : c->op == OP_gru ? gru : rnn)(&s);
			memcpy(&out[0].v[(t * batch + n) * size], s.h, sizeof(double) * (size_t)size);
		}
		memcpy(&out[1].v[n * size], s.h, sizeof(double) * (size_t)size);
		if (c->op == OP_lstm)
			memcpy(&out[2].v[n * size], s.cell, sizeof(double) * (size_t)size);
	}
}

/* One sequence, head and value at a time: column j of a state depends on no other column. */
void ref_linear_attention(Arena *a, const Dag *d, const OpCall *c, const Tensor *const *in, Tensor *out)
{
	const int64_t *q = in[0]->shape.dim, *v = in[2]->shape.dim;
	int64_t steps = q[1], size = q[3], heads = v[2], depth = v[3], group = q[2] / heads;
	for (int k = 0; k < 2; k++)
		out[k] = tensor_new(a, d->value.at[c->out[k]].type, d->value.at[c->out[k]].shape);
	assert(size <= STATE);
	for (int64_t p = 0; p < q[0] * heads * depth; p++) {
		int64_t n = p / depth / heads, h = p / depth % heads, j = p % depth;
		double s[STATE];
		for (int64_t i = 0; i < size; i++)
			s[i] = in[3] != NULL ? in[3]->v[((n * heads + h) * size + i) * depth + j] : 0;
		for (int64_t t = 0; t < steps; t++) {
			int64_t at = (n * steps + t) * heads + h;
			const double *key = &in[1]->v[at * size];
			double known = 0, value = in[2]->v[at * depth + j];
			for (int64_t i = 0; i < size; i++) {
				s[i] *= in[4] != NULL ? in[4]->v[at * size + i] : 1;
				known += s[i] * key[i];
			}
			if (in[5] != NULL)
				value = in[5]->v[at] * (value - known);
			for (int64_t i = 0; i < size; i++)
				s[i] += key[i] * value;
			for (int64_t g = 0; g < group; g++) {
				int64_t row = (n * steps + t) * heads * group + h * group + g;
				double sum = 0;
				for (int64_t i = 0; i < size; i++)
					sum += in[0]->v[row * size + i] * s[i];
				out[0].v[row * depth + j] = sum;
			}
		}
		for (int64_t i = 0; i < size; i++)
			out[1].v[((n * heads + h) * size + i) * depth + j] = s[i];
	}
}

/* The probabilities of one query at a time. */
void ref_attention(Arena *a, const Dag *d, const OpCall *c, const Tensor *const *in, Tensor *out)
{
	const int64_t *q = in[0]->shape.dim, *v = in[2]->shape.dim;
	int64_t heads = q[1], queries = q[2], size = q[3], keys = v[2], depth = v[3];
	double cap = op_float(c, "cap"), p[STATE];
	*out = tensor_new(a, d->value.at[c->out[0]].type, d->value.at[c->out[0]].shape);
	assert(keys <= STATE);
	for (int64_t row = 0; row < q[0] * heads * queries; row++) {
		int64_t n = row / queries / heads, h = row / queries % heads, i = row % queries;
		int64_t shared = n * v[1] + h / (heads / v[1]);
		double most = -INFINITY, sum = 0;
		for (int64_t j = 0; j < keys; j++) {
			double s = 0, m = 0;
			for (int64_t k = 0; k < size; k++)
				s += in[0]->v[row * size + k] * in[1]->v[(shared * keys + j) * size + k];
			s *= op_float(c, "scale");
			if (cap > 0)
				s = cap * tanh(s / cap);
			if (in[3] != NULL)
				m = tensor_at(in[3], (int64_t[]){ n, h, i, j }, 4);
			if (in[3] != NULL && in[3]->type.kind == DT_BOOL)
				m = m != 0 ? 0 : -INFINITY;
			p[j] = op_int(c, "causal") != 0 && j > i + op_int(c, "past") ? -INFINITY : s + m;
			most = fmax(most, p[j]);
		}
		for (int64_t j = 0; j < keys; j++)
			sum += p[j] = exp(p[j] - most);
		for (int64_t e = 0; e < depth; e++) {
			double y = 0;
			for (int64_t j = 0; j < keys; j++)
				y += p[j] * in[2]->v[(shared * keys + j) * depth + e];
			int64_t zeros = op_int(c, "zeros");
			bool zero = (zeros == ZEROS_NAN && isnan(sum)) || (zeros == ZEROS_UNSEEN && most == -INFINITY);
			out->v[row * depth + e] = zero ? 0 : y / sum;
		}
	}
}
