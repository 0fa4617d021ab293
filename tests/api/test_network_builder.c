/*
 * Networks built by hand: what they are as text, what layers with given weights compute, what is refused and how, and
 * memory that runs out at any moment.
 */
#include "api/lab.h"

#include "base/guard.h"
#include "base/rng.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const DlcDataType f32 = { 2, 32, 1 }, i64 = { 0, 64, 1 };

#define DIM(...) ((const int64_t[]){ __VA_ARGS__ })

typedef struct Site {
	Arena *arena;
	DlcSession *session;
	DlcBuilder *b;
	Rng rng;
} Site;

static Site open_site(const DlcLoadOptions *o)
{
	DlcFailure why = { 0 };
	Site s = { .arena = arena_new(), .session = open_session(), .rng = rng_seed(7) };
	ok(dlc_builder_open(s.session, "built", 3, o, &s.b, &why), why);
	return s;
}

static void close_site(Site *s)
{
	dlc_builder_close(s->b);
	dlc_session_close(s->session);
	arena_free(s->arena);
}

static DlcNetwork *finished(Site *s)
{
	DlcFailure why = { 0 };
	DlcNetwork *n;
	ok(dlc_builder_finish(s->b, &n, &why), why);
	return n;
}

static const char *text_of(Site *s, DlcNetwork *n)
{
	DlcFailure why = { 0 };
	Text t = { .arena = s->arena };
	ok(dlc_network_show(n, &(DlcShowOptions){ .stage = "graph", .imported = 1 }, put, &t, &why), why);
	return text_str(&t);
}

/* ---- as text */

START_TEST(a_network_is_what_was_called)
{
	Site s = open_site(NULL);
	DlcValue x = dlc_builder_input(s.b, "x", f32, 4, DIM(-1, 4, 8, 8)), part[2];
	DlcValue y = dlc_builder_conv(s.b, "c", x, &(DlcConv){ .out = 6, .window = { .kernel = { 3, 3 }, .stride = { 2, 2 },
		.pad = DLC_PAD_SAME }, .no_bias = 1, .activation = "relu" });
	y = dlc_builder_depthwise(s.b, "d", y, &(DlcConv){ .window = { .kernel = { 3, 1 }, .pads = { 1, 0, 1, 0 } },
		.no_bias = 1 });
	DlcAttr cut[] = { { .name = "axis", .kind = DLC_INT, .i = 1 },
		{ .name = "sizes", .kind = DLC_INTS, .n = 2, .ints = DIM(2, 4) } };
	dlc_builder_op(s.b, "cut", "split", &y, 1, cut, 2, part, 2);
	y = dlc_builder_concat(s.b, NULL, part, 2, 1);
	y = dlc_builder_transpose(s.b, "t", dlc_builder_reshape(s.b, "r", y, 3, DIM(1, 6, -1)), DIM(0, 2, 1));
	DlcValueInfo v;
	ck_assert(dlc_builder_describe(s.b, y, &v) && v.rank == 3 && v.dim[1] == 16 && v.dim[2] == 6);
	ck_assert(strcmp(v.name, "t") == 0 && v.dtype.code == 2 && v.dtype.bits == 32);
	y = dlc_builder_op2(s.b, NULL, "add", y, y);
	dlc_builder_output(s.b, "y", y);
	dlc_builder_output(s.b, "again", y);
	dlc_builder_output(s.b, "same", x);
	DlcNetwork *n = finished(&s);
	ck_assert_str_eq(text_of(&s, n), "dag built\n"
		"in x: f32[1,4,8,8]\n"
		"const c.weight: f32[6,4,3,3]\n"
		"const d.weight: f32[6,1,3,1]\n"
		"c: f32[1,6,4,4] = conv(x, c.weight) pads=[0,0,1,1] strides=[2,2]\n"
		"c.relu: f32[1,6,4,4] = relu(c)\n"
		"d: f32[1,6,4,4] = conv(c.relu, d.weight) groups=6 pads=[1,0,1,0]\n"
		"cut: f32[1,2,4,4], cut_1: f32[1,4,4,4] = split(d) axis=1 sizes=[2,4]\n"
		"concat: f32[1,6,4,4] = concat(cut, cut_1) axis=1\n"
		"r: f32[1,6,16] = reshape(concat) shape=[1,6,16]\n"
		"t: f32[1,16,6] = transpose(r) perm=[0,2,1]\n"
		"y: f32[1,16,6] = add(t, t)\n"
		"again: f32[1,16,6] = identity(y)\n"
		"same: f32[1,4,8,8] = identity(x)\n"
		"out y, again, same\n");
	/* The builder is closed first: the network is its own. */
	DlcFailure why;
	DlcNetwork *second;
	ck_assert_int_eq(dlc_builder_finish(s.b, &second, &why), DLC_FAULT_USAGE);
	ck_assert_ptr_nonnull(strstr(why.text, "has given its network already"));
	ck_assert(dlc_builder_input(s.b, "z", f32, 0, NULL).id == 0 && dlc_builder_fault(s.b, NULL) == DLC_FAULT_NONE);
	dlc_builder_close(s.b);
	s.b = NULL;
	ck_assert_ptr_nonnull(strstr(text_of(&s, n), "y: f32[1,16,6] = add(t, t)"));
	dlc_network_close(n);
	close_site(&s);
}
END_TEST

/* Values are found by the names that their functions were given; a failure is of the line before it. */
START_TEST(values_are_found_by_name)
{
	Site s = open_site(NULL);
	DlcFailure why = { 0 };
	DlcNetwork *n = NULL;
	ck_assert(dlc_builder_at_line(s.b, 1));
	DlcValue x = dlc_builder_input(s.b, "x", (DlcDataType){ 2, 32, 1 }, 2, (int64_t[]){ 2, 3 });
	DlcValue d = dlc_builder_dense(s.b, "d", x, &(DlcDense){ .units = 4, .activation = "relu" });
	ck_assert(dlc_builder_find(s.b, "x").id == x.id && dlc_builder_find(s.b, "d").id == d.id);
	DlcValue again = dlc_builder_dense(s.b, "d", d, &(DlcDense){ .units = 4 });
	ck_assert(dlc_builder_find(s.b, "d").id == d.id && dlc_builder_find(s.b, "d_1").id == again.id);
	dlc_builder_output(s.b, "y", again);
	ck_assert(dlc_builder_find(s.b, "y").id == again.id);
	ck_assert(dlc_builder_at_line(s.b, 7));
	ck_assert(dlc_builder_find(s.b, "z").id == 0);
	ck_assert(!dlc_builder_at_line(s.b, 8));
	ck_assert_int_eq(dlc_builder_fault(s.b, &why), DLC_FAULT_USAGE);
	ck_assert_str_eq(why.text, "line 7: there is no value 'z'");
	for (int time = 0; time < 2; time++) {
		ck_assert_int_eq(dlc_builder_finish(s.b, &n, &why), DLC_FAULT_USAGE);
		ck_assert_str_eq(why.text, "line 7: there is no value 'z'");
		ck_assert_int_eq(dlc_builder_fault(s.b, &why), DLC_FAULT_USAGE);
		ck_assert_str_eq(why.text, "line 7: there is no value 'z'");
	}
	ck_assert(dlc_builder_find(NULL, "x").id == 0 && !dlc_builder_at_line(NULL, 1));
	close_site(&s);
}
END_TEST

/* Equal seeds and names give equal weights, others other ones; two layers of one name do not share theirs. */
START_TEST(weights_follow_the_seed)
{
	const char *text[3];
	Arena *a = arena_new();
	for (int k = 0; k < 3; k++) {
		Site s = open_site(NULL);
		DlcFailure why = { 0 };
		dlc_builder_close(s.b);
		ok(dlc_builder_open(s.session, "built", k == 2 ? 4 : 3, NULL, &s.b, &why), why);
		DlcValue x = dlc_builder_input(s.b, "x", f32, 2, DIM(1, 2));
		for (int i = 0; i < 2; i++)
			x = dlc_builder_dense(s.b, "fc", x, &(DlcDense){ .units = 2, .no_bias = 1 });
		dlc_builder_output(s.b, NULL, x);
		DlcNetwork *n = finished(&s);
		text[k] = arena_printf(a, "%s", text_of(&s, n));
		dlc_network_close(n);
		close_site(&s);
	}
	ck_assert_str_eq(text[0], text[1]);
	ck_assert_str_ne(text[0], text[2]);
	const char *first = strstr(text[0], "fc.weight: f32[2,2] = "), *other = strstr(text[0], "fc_1.weight: f32[2,2] = ");
	ck_assert(first != NULL && other != NULL);
	ck_assert(strncmp(first + 22, other + 24, 12) != 0);
	arena_free(a);
}
END_TEST

/* The options that loading takes mean the same. */
START_TEST(options_shape_and_bind_inputs)
{
	DlcShape shape = { "x", 2, { 5, 7 } };
	float two[] = { 2, 2 };
	int64_t length[] = { 2 };
	DlcBinding bind = { "k", { .data = two, .ndim = 1, .dtype = f32, .shape = length } };
	DlcLoadOptions o = { .shape = &shape, .nshape = 1, .bind = &bind, .nbind = 1, .seq = 9, .precision = DLC_FP16 };
	Site s = open_site(&o);
	DlcValue x = dlc_builder_input(s.b, "x", f32, 2, DIM(-1, -1)), k = dlc_builder_input(s.b, "k", f32, 1, DIM(2));
	DlcValue t = dlc_builder_input(s.b, "t", f32, 3, DIM(-1, -1, 3));
	DlcValueInfo v;
	ck_assert(dlc_builder_describe(s.b, x, &v) && v.dim[0] == 5 && v.dim[1] == 7);
	ck_assert(dlc_builder_describe(s.b, t, &v) && v.dim[0] == 1 && v.dim[1] == 9);
	dlc_builder_output(s.b, "y", dlc_builder_dense(s.b, "d", x, &(DlcDense){ .units = 2, .bias = k }));
	dlc_builder_output(s.b, "z", dlc_builder_op1(s.b, "n", "neg", t));
	DlcNetwork *n = finished(&s);
	ck_assert_ptr_nonnull(strstr(text_of(&s, n), "const k: f32[2] = {2, 2}"));
	Text out = { .arena = s.arena };
	DlcFailure why = { 0 };
	ok(dlc_network_show(n, &(DlcShowOptions){ .stage = "graph" }, put, &out, &why), why);
	ck_assert_ptr_nonnull(strstr(text_str(&out), "f16"));
	dlc_network_close(n);
	close_site(&s);
}
END_TEST

/* ---- as numbers */

typedef struct Given {
	float *at;
	int64_t n;
	DlcValue value;
} Given;

/* A constant of random numbers; every second one is borrowed, from an odd address. */
static Given numbers(Site *s, const char *name, int rank, const int64_t *dim, double low, double high)
{
	Given g = { .n = 1 };
	for (int k = 0; k < rank; k++)
		g.n *= dim[k];
	g.at = arena_array(s->arena, float, g.n);
	for (int64_t i = 0; i < g.n; i++)
		g.at[i] = (float)(low + (high - low) * rng_real(&s->rng));
	bool borrow = rng_below(&s->rng, 2) == 0;
	char *bytes = arena_alloc(s->arena, sizeof(float) * (size_t)g.n + 4);
	memcpy(bytes + 4, g.at, sizeof(float) * (size_t)g.n);
	DlcTensor t = { .data = bytes, .ndim = rank, .dtype = f32, .shape = (int64_t *)(uintptr_t)dim, .byte_offset = 4 };
	g.value = dlc_builder_constant(s->b, name, &t, borrow ? DLC_BORROW : DLC_COPY);
	if (!borrow)
		memset(bytes, 0xff, sizeof(float) * (size_t)g.n + 4);
	return g;
}

static float *drawn(Site *s, int64_t n)
{
	float *x = arena_array(s->arena, float, n);
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)(rng_real(&s->rng) * 2 - 1);
	return x;
}

/* Compiles the network, runs it on x and compares its first output. */
static void gives(Site *s, const float *x, int64_t nx, const float *want, int64_t n)
{
	DlcNetwork *net = finished(s);
	float *y = run_network(s->arena, net, x, nx, n), most = 0;
	for (int64_t k = 0; k < n; k++)
		most = fmaxf(most, fabsf(want[k]));
	for (int64_t k = 0; k < n; k++)
		ck_assert_msg(fabsf(y[k] - want[k]) <= 2e-5f * most, "element %lld: %g, not %g", (long long)k, (double)y[k],
			(double)want[k]);
	dlc_network_close(net);
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

enum { N = 2, T = 3, C = 4, H = 5 };

/* Sum over C of w[row,C] x[C], plus b[row]. */
static double product(const Given *w, const Given *b, int64_t row, const float *x, int64_t n)
{
	double sum = b != NULL ? b->at[row] : 0;
	for (int64_t k = 0; k < n; k++)
		sum += (double)w->at[row * n + k] * x[k];
	return sum;
}

/* Kinds: 0 lstm, 1 lstm backwards with first states, 2 gru, 3 gru with reset_after, 4 rnn, all steps. */
START_TEST(a_recurrence_computes_its_formula)
{
	Site s = open_site(NULL);
	const bool lstm = _i < 2, gru = _i == 2 || _i == 3, back = _i == 1, after = _i == 3, all = _i != 1;
	const int64_t gates = lstm ? 4 : gru ? 3 : 1;
	DlcValue x = dlc_builder_input(s.b, "x", f32, 3, DIM(N, T, C)), last[2], y;
	Given w = numbers(&s, "w", 2, DIM(gates * H, C), -1, 1), u = numbers(&s, "u", 2, DIM(gates * H, H), -1, 1);
	Given bias = numbers(&s, "bias", 1, DIM(gates * H), -1, 1), own = { 0 }, h0 = { 0 }, c0 = { 0 };
	DlcRecurrent o = { .units = H, .sequences = all, .backwards = back, .reset_after = after, .kernel = w.value,
		.recurrent = u.value, .bias = bias.value };
	if (after) {
		own = numbers(&s, "own", 1, DIM(H), -1, 1);
		o.recurrent_bias = own.value;
	}
	if (back) {
		h0 = numbers(&s, "h0", 2, DIM(N, H), -1, 1);
		c0 = numbers(&s, "c0", 2, DIM(N, H), -1, 1);
		o.state[0] = h0.value, o.state[1] = c0.value;
	}
	y = lstm ? dlc_builder_lstm(s.b, "r", x, &o, last) : gru ? dlc_builder_gru(s.b, "r", x, &o, last)
	                                                         : dlc_builder_rnn(s.b, "r", x, &o, last);
	ck_assert(last[0].id != 0 && (!lstm || last[1].id != 0));
	dlc_builder_output(s.b, "y", y);
	float *in = drawn(&s, N * T * C), *want = arena_array(s.arena, float, N * T * H);
	for (int n = 0; n < N; n++) {
		float h[H] = { 0 }, c[H] = { 0 }, next[H];
		for (int k = 0; k < H && back; k++)
			h[k] = h0.at[n * H + k], c[k] = c0.at[n * H + k];
		for (int i = 0; i < T; i++) {
			const int t = back ? T - 1 - i : i;
			const float *at = &in[(n * T + t) * C];
			for (int k = 0; k < H; k++) {
				double g[4], r = 0;
				for (int j = 0; j < gates; j++)
					g[j] = product(&w, &bias, j * H + k, at, C) +
						(gru && j == 2 ? 0 : product(&u, NULL, j * H + k, h, H));
				if (lstm) {
					c[k] = (float)(sigmoid(g[2]) * c[k] + sigmoid(g[0]) * tanh(g[3]));
					next[k] = (float)(sigmoid(g[1]) * tanh(c[k]));
					continue;
				}
				if (!gru) {
					next[k] = (float)tanh(g[0]);
					continue;
				}
				if (after) {
					r = sigmoid(g[1]) * (product(&u, NULL, 2 * H + k, h, H) + own.at[k]);
				} else { /* the reset gates of all units come before the product */
					for (int j = 0; j < H; j++) {
						double reset = sigmoid(product(&w, &bias, H + j, at, C) + product(&u, NULL, H + j, h, H));
						r += (double)u.at[(2 * H + k) * H + j] * reset * h[j];
					}
				}
				next[k] = (float)((1 - sigmoid(g[0])) * tanh(g[2] + r) + sigmoid(g[0]) * h[k]);
			}
			memcpy(h, next, sizeof h);
			memcpy(&want[all ? (n * T + t) * H : n * H], h, sizeof h);
		}
	}
	gives(&s, in, N * T * C, want, all ? N * T * H : N * H);
	close_site(&s);
}
END_TEST

/* x[rows,k] w[out,k]^T + b */
static void project(const float *x, int64_t rows, int64_t k, const Given *w, const Given *b, int64_t out, double *y)
{
	for (int64_t r = 0; r < rows; r++)
		for (int64_t o = 0; o < out; o++)
			y[r * out + o] = product(w, b, o, &x[r * k], k);
}

/* Two heads over a context of other tokens, with a mask of places behind. */
START_TEST(attention_computes_its_formula)
{
	enum { Q = 3, K = 4, W = 6, HEADS = 2, D = W / HEADS };
	static const char *const part[] = { "q", "k", "v", "o" };
	Site s = open_site(NULL);
	DlcValue x = dlc_builder_input(s.b, "x", f32, 3, DIM(1, Q, W));
	Given context = numbers(&s, "context", 3, DIM(1, K, W), -1, 1), w[4], b[4];
	DlcAttention o = { .heads = HEADS, .causal = 1, .context = context.value };
	for (int k = 0; k < 4; k++) {
		w[k] = numbers(&s, part[k], 2, DIM(W, W), -1, 1);
		b[k] = numbers(&s, part[k], 1, DIM(W), -1, 1);
		o.weight[k] = w[k].value, o.bias[k] = b[k].value;
	}
	dlc_builder_output(s.b, "y", dlc_builder_attention(s.b, "a", x, &o));
	float *in = drawn(&s, Q * W), mixed[Q * W], *want = arena_array(s.arena, float, Q * W);
	double q[Q * W], k[K * W], v[K * W], y[Q * W];
	project(in, Q, W, &w[0], &b[0], W, q);
	project(context.at, K, W, &w[1], &b[1], W, k);
	project(context.at, K, W, &w[2], &b[2], W, v);
	for (int i = 0; i < Q; i++)
		for (int head = 0; head < HEADS; head++) {
			double share[K], sum = 0;
			for (int j = 0; j <= i; j++) {
				double score = 0;
				for (int d = 0; d < D; d++)
					score += q[i * W + head * D + d] * k[j * W + head * D + d];
				sum += share[j] = exp(score / sqrt(D));
			}
			for (int d = 0; d < D; d++) {
				double mix = 0;
				for (int j = 0; j <= i; j++)
					mix += share[j] / sum * v[j * W + head * D + d];
				mixed[i * W + head * D + d] = (float)mix;
			}
		}
	project(mixed, Q, W, &w[3], &b[3], W, y);
	for (int i = 0; i < Q * W; i++)
		want[i] = (float)y[i];
	gives(&s, in, Q * W, want, Q * W);
	close_site(&s);
}
END_TEST

/* Layers of one value each: 0 layer norm with a scale alone, 1 batch norm of mean and var alone, 2 dense of rank 3,
 * 3 upsampling linearly, 4 a pooling of all, 5 a leaky relu with its number, 6 an embedding, 7 a transposed one. */
START_TEST(a_layer_computes_its_formula)
{
	Site s = open_site(NULL);
	int64_t n = N * T * C;
	float *in = drawn(&s, n), want[4 * N * T * C];
	DlcValue x = dlc_builder_input(s.b, "x", f32, 3, DIM(N, T, C)), y = { 0 };
	if (_i == 0) {
		Given scale = numbers(&s, "scale", 1, DIM(C), 0.5, 2);
		y = dlc_builder_layer_norm(s.b, "l", x, &(DlcNorm){ .scale = scale.value, .epsilon = 0.1 });
		for (int r = 0; r < N * T; r++) {
			double mean = 0, var = 0;
			for (int k = 0; k < C; k++)
				mean += in[r * C + k] / (double)C;
			for (int k = 0; k < C; k++)
				var += (in[r * C + k] - mean) * (in[r * C + k] - mean) / C;
			for (int k = 0; k < C; k++)
				want[r * C + k] = (float)((in[r * C + k] - mean) / sqrt(var + 0.1) * scale.at[k]);
		}
	} else if (_i == 1) {
		Given mean = numbers(&s, "mean", 1, DIM(T), -1, 1), var = numbers(&s, "var", 1, DIM(T), 0.5, 2);
		const DlcNorm norm = { .mean = mean.value, .var = var.value, .activation = "relu" };
		y = dlc_builder_batch_norm(s.b, "l", x, &norm);
		for (int k = 0; k < n; k++) {
			int c = k / C % T;
			want[k] = fmaxf(0, (in[k] - mean.at[c]) / sqrtf(var.at[c] + 1e-5f));
		}
	} else if (_i == 2) {
		Given w = numbers(&s, "w", 2, DIM(H, C), -1, 1), b = numbers(&s, "b", 1, DIM(H), -1, 1);
		y = dlc_builder_dense(s.b, "l", x, &(DlcDense){ .weight = w.value, .bias = b.value });
		n = N * T * H;
		for (int r = 0; r < N * T; r++)
			for (int k = 0; k < H; k++)
				want[r * H + k] = (float)product(&w, &b, k, &in[r * C], C);
	} else if (_i == 3) {
		y = dlc_builder_upsample(s.b, "l", x, DIM(2), 1);
		n *= 2;
		for (int k = 0; k < n; k++) {
			int row = k / (2 * C), i = k % (2 * C), low = (i + 1) / 2 - 1, high = low + 1;
			float part = i % 2 == 0 ? 0.75f : 0.25f;
			low = low < 0 ? 0 : low;
			high = high > C - 1 ? C - 1 : high;
			want[k] = (1 - part) * in[row * C + low] + part * in[row * C + high];
		}
	} else if (_i == 4) {
		y = dlc_builder_max_pool(s.b, "l", x, &(DlcPool){ .flat = 1 });
		n = N * T;
		for (int r = 0; r < n; r++) {
			want[r] = in[r * C];
			for (int k = 1; k < C; k++)
				want[r] = fmaxf(want[r], in[r * C + k]);
		}
	} else if (_i == 5) {
		y = dlc_builder_activation(s.b, "l", x, "leaky_relu", (const double[]){ 0.3, 0 });
		for (int k = 0; k < n; k++)
			want[k] = in[k] < 0 ? 0.3f * in[k] : in[k];
	} else if (_i == 6) {
		Given table = numbers(&s, "table", 2, DIM(3, n), -1, 1);
		int64_t row[] = { 2 }, one[] = { 1 };
		DlcTensor t = { .data = row, .ndim = 1, .dtype = i64, .shape = one };
		DlcValue id = dlc_builder_constant(s.b, "id", &t, DLC_COPY);
		y = dlc_builder_embedding(s.b, "l", id, &(DlcEmbedding){ .weight = table.value });
		y = dlc_builder_op2(s.b, NULL, "add", dlc_builder_reshape(s.b, NULL, y, 3, DIM(N, T, C)), x);
		for (int k = 0; k < n; k++)
			want[k] = table.at[2 * n + k] + in[k];
	} else {
		Given w = numbers(&s, "w", 3, DIM(T, 2, 2), -1, 1);
		y = dlc_builder_conv_transpose(s.b, "l", x,
			&(DlcConv){ .out = 2, .window = { .kernel = { 2 }, .stride = { 2 } }, .weight = w.value });
		n = N * 2 * 2 * C;
		for (int k = 0; k < n; k++) {
			int at = k % (2 * C), o = k / (2 * C) % 2, image = k / (4 * C);
			double sum = 0;
			for (int c = 0; c < T; c++)
				sum += (double)in[(image * T + c) * C + at / 2] * w.at[(c * 2 + o) * 2 + at % 2];
			want[k] = (float)sum;
		}
	}
	dlc_builder_output(s.b, "y", y);
	gives(&s, in, N * T * C, want, n);
	close_site(&s);
}
END_TEST

/* Every kind of layer with drawn weights, one behind another: values stay in range. */
START_TEST(drawn_weights_keep_values_in_range)
{
	Site s = open_site(NULL);
	DlcValue x = dlc_builder_input(s.b, "x", f32, 4, DIM(1, 8, 8, 8));
	const DlcConv three = { .window = { .kernel = { 3, 3 }, .pad = DLC_PAD_SAME_LOWER }, .activation = "relu" };
	for (int k = 0; k < 6; k++) {
		x = dlc_builder_conv(s.b, NULL, x, &three);
		x = dlc_builder_depthwise(s.b, NULL, x, &three);
		x = dlc_builder_batch_norm(s.b, NULL, x, &(DlcNorm){ .activation = "gelu" });
	}
	x = dlc_builder_conv_transpose(s.b, NULL, x,
		&(DlcConv){ .window = { .kernel = { 4, 4 }, .stride = { 2, 2 }, .pad = DLC_PAD_SAME }, .extend = { 0, 0 } });
	x = dlc_builder_avg_pool(
		s.b, NULL, x, &(DlcPool){ .window = { .kernel = { 3, 3 }, .stride = { 2, 2 } }, .ceil = 1 });
	x = dlc_builder_upsample(s.b, NULL, x, DIM(2, 1), 0);
	x = dlc_builder_transpose(s.b, NULL, dlc_builder_reshape(s.b, NULL, x, 3, DIM(1, 8, -1)), DIM(0, 2, 1));
	x = dlc_builder_layer_norm(s.b, NULL, x, NULL);
	x = dlc_builder_attention(s.b, NULL, x, &(DlcAttention){ .heads = 2 });
	x = dlc_builder_gru(s.b, NULL, x, &(DlcRecurrent){ .units = 6, .sequences = 1, .reset_after = 1 }, NULL);
	x = dlc_builder_lstm(s.b, NULL, x, &(DlcRecurrent){ .units = 6 }, NULL);
	x = dlc_builder_dense(s.b, NULL, x, &(DlcDense){ .units = 4, .activation = "tanh" });
	x = dlc_builder_op2(s.b, NULL, "mul", x, dlc_builder_weight(s.b, "w", 1, DIM(4), 1, 0.1));
	dlc_builder_output(s.b, "y", x);
	DlcNetwork *n = finished(&s);
	float *y = run_network(s.arena, n, drawn(&s, 8 * 64), 8 * 64, 4);
	double square = 0;
	for (int k = 0; k < 4; k++)
		square += (double)y[k] * y[k] / 4;
	ck_assert_msg(square > 1e-4 && square < 2, "%g", square);
	dlc_network_close(n);
	close_site(&s);
}
END_TEST

/* ---- memory */

/* Both have the same statistics drawn behind them, as their values are nearly the same. */
START_TEST(gelu_is_as_large_by_tanh)
{
	static const char *const activation[] = { "gelu", "gelu_tanh" };
	float *y[2];
	Site s[2];
	for (int k = 0; k < 2; k++) {
		s[k] = open_site(NULL);
		DlcValue x = dlc_builder_input(s[k].b, "x", f32, 2, DIM(1, 64));
		x = dlc_builder_dense(s[k].b, "d", x, &(DlcDense){ .units = 16, .activation = activation[k] });
		dlc_builder_output(s[k].b, "y", dlc_builder_batch_norm(s[k].b, "n", x, NULL));
		DlcNetwork *n = finished(&s[k]);
		float input[64];
		for (int i = 0; i < 64; i++)
			input[i] = sinf((float)i);
		y[k] = run_network(s[k].arena, n, input, 64, 16);
		dlc_network_close(n);
	}
	for (int i = 0; i < 16; i++)
		ck_assert_msg(fabsf(y[0][i] - y[1][i]) < 0.01f, "%g, not %g", (double)y[1][i], (double)y[0][i]);
	close_site(&s[0]);
	close_site(&s[1]);
}
END_TEST

static DlcFault build_all(DlcSession *session, DlcFailure *why)
{
	DlcBuilder *b = NULL;
	DlcNetwork *n = NULL;
	float two[] = { 2, 2, 2, 2 };
	int64_t length[] = { 4 };
	DlcTensor t = { .data = two, .ndim = 1, .dtype = f32, .shape = length };
	DlcFault fault = dlc_builder_open(session, "m", 1, NULL, &b, why);
	if (fault == DLC_FAULT_NONE) {
		DlcValue x = dlc_builder_input(b, "x", f32, 4, DIM(-1, 4, 6, 6));
		x = dlc_builder_conv(b, NULL, x, &(DlcConv){ .window = { .kernel = { 3, 3 } }, .activation = "mish" });
		x = dlc_builder_avg_pool(b, NULL, x, &(DlcPool){ .flat = 1 });
		x = dlc_builder_op2(b, NULL, "add", x, dlc_builder_constant(b, "c", &t, DLC_COPY));
		dlc_builder_output(b, "y", x);
		fault = dlc_builder_finish(b, &n, why);
	}
	dlc_network_close(n);
	dlc_builder_close(b);
	return fault;
}

START_TEST(memory_runs_out_at_any_moment)
{
	DlcSession *s = open_session();
	DlcFailure why;
	int64_t at = 1, failed = 0;
	for (bool done = false; !done; at++) {
		why = (DlcFailure){ 0 };
		guard_fail_at(at);
		DlcFault fault = build_all(s, &why);
		done = guard_fail_at(0) > 0;
		ck_assert(done ? fault == DLC_FAULT_NONE : fault == DLC_FAULT_MEMORY);
		failed += !done;
	}
	ck_assert_int_gt(failed, 5);
	ck_assert_int_eq(build_all(s, &why), DLC_FAULT_NONE);
	dlc_session_close(s);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("network_builder");
	if (!suite_folder(folder, "builder"))
		return 1;
	tcase_set_timeout(tc, 240);
	tcase_add_test(tc, a_network_is_what_was_called);
	tcase_add_test(tc, values_are_found_by_name);
	tcase_add_test(tc, weights_follow_the_seed);
	tcase_add_test(tc, options_shape_and_bind_inputs);
	tcase_add_loop_test(tc, a_recurrence_computes_its_formula, 0, 5);
	tcase_add_test(tc, attention_computes_its_formula);
	tcase_add_loop_test(tc, a_layer_computes_its_formula, 0, 8);
	tcase_add_test(tc, drawn_weights_keep_values_in_range);
	tcase_add_test(tc, gelu_is_as_large_by_tanh);
	tcase_add_test(tc, memory_runs_out_at_any_moment);
	int failed = run_suite("network_builder", tc);
	char line[128];
	snprintf(line, sizeof line, "rm -rf %s", folder);
	return system(line) != 0 || failed;
}
