/* Caffe's recurrent layers against loops over steps: sequences that begin anew, a static input, exposed states. */
#include "caffe_made.h"

#include <math.h>

enum { STEPS = 3, BATCH = 2, IN = 3, SIZE = 2 };

static float sigma(float x)
{
	return 1 / (1 + expf(-x));
}

/* Weights of the layer in the order of its blobs. */
typedef struct Weights {
	const float *in, *bias, *fixed, *state, *out, *out_bias;
} Weights;

static void save_recurrent(Arena *a, Weights *w, int gates, bool fixed, bool lstm)
{
	CaffeLayer l = { .name = "l", .type = lstm ? "LSTM" : "RNN" };
	const float *x = parts(a, 200);
	int64_t rows = (int64_t)gates * SIZE;
	w->in = x, w->bias = x + 30, w->fixed = x + 60, w->state = x + 90, w->out = x + 120, w->out_bias = x + 140;
	add_blob(a, &l, w->in, 2, (int64_t[]){ rows, IN });
	add_blob(a, &l, w->bias, 1, &rows);
	if (fixed)
		add_blob(a, &l, w->fixed, 2, (int64_t[]){ rows, 1 });
	add_blob(a, &l, w->state, 2, (int64_t[]){ rows, SIZE });
	if (!lstm) {
		add_blob(a, &l, w->out, 2, (int64_t[]){ SIZE, SIZE });
		add_blob(a, &l, w->out_bias, 1, (int64_t[]){ SIZE });
	}
	save_layer(a, l);
}

/* One step of one sequence. */
static void step(const Weights *w, bool lstm, const float *x, float cont, const float *z, float *h, float *c, float *y)
{
	float gate[4 * SIZE], before[SIZE];
	for (int k = 0; k < SIZE; k++)
		before[k] = cont * h[k];
	for (int g = 0; g < (lstm ? 4 : 1) * SIZE; g++) {
		gate[g] = w->bias[g] + (z != NULL ? w->fixed[g] * *z : 0);
		for (int k = 0; k < IN; k++)
			gate[g] += w->in[g * IN + k] * x[k];
		for (int k = 0; k < SIZE; k++)
			gate[g] += w->state[g * SIZE + k] * before[k];
	}
	for (int k = 0; k < SIZE && lstm; k++) {
		float f = cont * sigma(gate[SIZE + k]);
		c[k] = f * c[k] + sigma(gate[k]) * tanhf(gate[3 * SIZE + k]);
		y[k] = h[k] = sigma(gate[2 * SIZE + k]) * tanhf(c[k]);
	}
	for (int k = 0; k < SIZE && !lstm; k++)
		h[k] = tanhf(gate[k]);
	for (int k = 0; k < SIZE && !lstm; k++)
		y[k] = tanhf(w->out_bias[k] + w->out[k * SIZE] * h[0] + w->out[k * SIZE + 1] * h[1]);
}

/* Bits of a case: an LSTM, a static input, exposed states. */
START_TEST(steps_as_caffe_unrolls_them)
{
	bool lstm = _i & 1, fixed = _i & 2, exposed = _i & 4;
	Arena *a = arena_new();
	Err err = { 0 };
	Weights w;
	const float *x = parts(a, STEPS * BATCH * IN), z[BATCH] = { 0.5f, -1 }, h0[] = { 0.25f, -0.5f, 1, 0.75f };
	static const float cont[] = { 1, 0, 1, 1, 0.5f, 1 }, c0[] = { 2, 1, -1, 0.5f };
	save_recurrent(a, &w, lstm ? 4 : 1, fixed, lstm);
	const char *text = arena_printf(a,
		"input: 'x' input_shape { dim: [3, 2, 3] } input: 'cont' input_shape { dim: [3, 2] }\n%s%s%s"
		"layer { name: 'l' type: '%s' bottom: 'x' bottom: 'cont' %s %s %s top: 'y' %s %s "
		"recurrent_param { num_output: 2 weight_filler { type: 'xavier' } %s } }",
		fixed ? "input: 'z' input_shape { dim: [2, 1] }\n" : "",
		exposed ? "input: 'h' input_shape { dim: [1, 2, 2] }\n" : "",
		exposed && lstm ? "input: 'c' input_shape { dim: [1, 2, 2] }\n" : "", lstm ? "LSTM" : "RNN",
		fixed ? "bottom: 'z'" : "", exposed ? "bottom: 'h'" : "", exposed && lstm ? "bottom: 'c'" : "",
		exposed ? "top: 'hT'" : "", exposed && lstm ? "top: 'cT'" : "", exposed ? "expose_hidden: true" : "");
	Dag *d = load_net(a, text, NULL, &err);
	ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, err.items);
	const void *in[5] = { x, cont };
	int n = 2;
	if (fixed)
		in[n++] = z;
	if (exposed)
		in[n++] = h0;
	if (exposed && lstm)
		in[n++] = c0;
	ck_assert_uint_eq(d->input.n, (size_t)n);
	void **out = evaluate(a, d, in, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	for (int s = 0; s < BATCH; s++) {
		float h[SIZE] = { 0 }, c[SIZE] = { 0 }, y[SIZE];
		for (int k = 0; k < SIZE && exposed; k++)
			h[k] = h0[s * SIZE + k], c[k] = c0[s * SIZE + k];
		for (int t = 0; t < STEPS; t++) {
			step(&w, lstm, &x[(t * BATCH + s) * IN], cont[t * BATCH + s], fixed ? &z[s] : NULL, h, c, y);
			for (int k = 0; k < SIZE; k++)
				ck_assert_float_eq_tol(((float *)out[0])[(t * BATCH + s) * SIZE + k], y[k], 1e-5f);
		}
		for (int k = 0; k < SIZE && exposed; k++) {
			ck_assert_float_eq_tol(((float *)out[1])[s * SIZE + k], h[k], 1e-5f);
			if (lstm)
				ck_assert_float_eq_tol(((float *)out[2])[s * SIZE + k], c[k], 1e-5f);
		}
	}
	arena_free(a);
}
END_TEST

START_TEST(recurrent_layers_are_refused)
{
#define CELL(more, param) "layer { name: 'l' type: 'LSTM' bottom: 'x' " more " top: 'y' recurrent_param { " param " } }"
#define XC "input: 'x' input_shape { dim: [3, 2, 3] } input: 'cont' input_shape { dim: [3, 2] }\n"
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ XC CELL("bottom: 'cont'", ""), "num_output" },
		{ XC CELL("bottom: 'x'", "num_output: 2"), "must have the steps and sequences of the first one" },
		{ XC CELL("bottom: 'cont'", "num_output: 2 expose_hidden: true"), "it has 2 inputs, but needs 4" },
		{ XC CELL("bottom: 'cont' bottom: 'x'", "num_output: 2"), "must begin with the 2 sequences" },
		{ "input: 'x' input_shape { dim: [9000, 2, 3] } input: 'cont' input_shape { dim: [9000, 2] }\n" CELL(
			  "bottom: 'cont'", "num_output: 2"),
			"it has 9000 steps" },
		{ XC CELL("bottom: 'cont' bottom: 'cont' bottom: 'cont' bottom: 'cont'", "num_output: 2"), "it has 5 inputs" },
	};
	Arena *a = arena_new();
	for (int k = 0; k < LEN(cases); k++) {
		Err err = { 0 };
		ck_assert(load_net(a, cases[k].text, NULL, &err) == NULL);
		ck_assert_msg(strstr(err.text, cases[k].why) != NULL, "%s\nnot: %s", err.text, cases[k].why);
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("caffe_recurrent");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, steps_as_caffe_unrolls_them, 0, 8);
	tcase_add_test(tc, recurrent_layers_are_refused);
	return run_suite("caffe_recurrent", tc);
}
