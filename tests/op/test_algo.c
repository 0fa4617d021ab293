/*
 * Algorithms equal the naive form: to the bit modulo a prime, and in f32 within the error that each
 * states, measured against f64. Extents that no tile divides, one-sided padding, with and without
 * bias, blocked layouts, elementwise calls behind; and what is refused.
 */
#include "base/rng.h"
#include "interp/interp.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "op/algo.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TENSORS = 8 };

typedef struct Case {
	int n, c, h, w, o; /* h, w: with a window of 3x3. Larger windows have larger images */
	const char *pads;
	bool bias, epilogue, blocked;
} Case;

static const Case cases[] = {
	{ 1, 3, 7, 7, 5, "[1,1,1,1]", true, true, false },
	{ 1, 16, 13, 7, 16, "[1,1,1,1]", true, true, true },
	{ 1, 24, 14, 14, 24, "[1,1,1,1]", false, false, true },
	{ 2, 3, 13, 14, 17, "[0,0,0,0]", true, false, false },
	{ 1, 16, 24, 7, 3, "[0,1,1,0]", false, true, false },
	{ 1, 5, 3, 3, 4, "[0,0,0,0]", true, true, false },
	{ 3, 2, 1, 9, 1, "[1,2,1,0]", false, false, false },
	{ 1, 2, 56, 6, 2, "[2,2,2,2]", true, true, true },
	{ 1, 17, 5, 6, 3, "[4,3,4,5]", true, false, true },
};
/* Every number of points along every axis: squares, rectangles, rows, columns; tensors of one spatial dimension. */
typedef struct Tile {
	int kh, kw, m; /* kh 0: of one dimension */
	double saves;  /* multiplications of the outputs for each one of the tile's */
} Tile;
static const Tile tiles[] = { { 3, 3, 2, 2.25 }, { 3, 3, 4, 4 }, { 3, 3, 6, 5.0625 }, { 2, 2, 3, 2.25 },
	{ 4, 4, 5, 6.25 }, { 5, 5, 2, 25.0 / 9 }, { 5, 5, 4, 6.25 }, { 7, 7, 2, 3.0625 }, { 1, 3, 6, 2.25 }, { 1, 5, 6, 3 },
	{ 1, 7, 4, 2.8 }, { 9, 1, 2, 1.8 }, { 7, 1, 2, 1.75 }, { 3, 1, 4, 2 }, { 5, 3, 4, 5 }, { 4, 2, 3, 3 },
	{ 6, 1, 5, 3 }, { 1, 8, 3, 2.4 }, { 0, 3, 4, 2 }, { 0, 7, 2, 1.75 } };

/* Dense layers with odd and even extents, rows before and behind other batches. */
static const struct {
	const char *rows;
	int k, n;
	bool bias, epilogue;
} layers[] = {
	{ "8", 4, 6, false, false },
	{ "2", 2, 2, true, false },
	{ "7", 5, 3, true, true },
	{ "9,2", 7, 16, false, true },
	{ "2,11", 8, 33, true, true },
	{ "2,1,3,5", 6, 9, true, false },
	{ "1,6", 17, 8, false, true },
};

static int at_least_one(int n)
{
	return n > 1 ? n : 1;
}

/* "1,16,7,9", without the rows where there are none. */
static const char *shape(Arena *a, const Tile *tile, int n, int c, int h, int w)
{
	return tile->kh == 0 ? arena_printf(a, "%d,%d,%d", n, c, w) : arena_printf(a, "%d,%d,%d,%d", n, c, h, w);
}

static const char *workload(Arena *a, const Case *k, const Tile *tile)
{
	int pad[4], kh = at_least_one(tile->kh), h = at_least_one(k->h + kh - 3), w = at_least_one(k->w + tile->kw - 3);
	ck_assert_int_eq(sscanf(k->pads, "[%d,%d,%d,%d]", pad, pad + 1, pad + 2, pad + 3), 4);
	const char *of = shape(a, tile, k->n, k->c, h, w);
	const char *layout = !k->blocked ? "" : tile->kh > 0 ? ":NCHW16c" : ":NCW16c";
	const char *to = shape(a, tile, k->n, k->o, h + pad[0] + pad[2] - kh + 1, w + pad[1] + pad[3] - tile->kw + 1);
	const char *pads = tile->kh > 0 ? k->pads : arena_printf(a, "[%d,%d]", pad[1], pad[3]);
	Text t = { .arena = a };
	text_add(&t, "dag t\nin x: f32[%s]%s\n", of, layout);
	if (k->epilogue)
		text_add(&t, "in r: f32[%s]%s\n", to, layout);
	text_add(&t, "const w: f32[%s]\n", shape(a, tile, k->o, k->c, kh, tile->kw));
	if (k->bias)
		text_add(&t, "const b: f32[%d]\n", k->o);
	text_add(&t, "y: f32[%s]%s = conv(x, w%s) pads=%s\n", to, layout, k->bias ? ", b" : "", pads);
	if (k->epilogue)
		text_add(&t, "s: f32[%s]%s = add(y, r)\nz: f32[%s]%s = relu(s)\n", to, layout, to, layout);
	text_add(&t, "out %s\n", k->epilogue ? "z" : "y");
	return text_str(&t);
}

static Dag *dag_of(Arena *a, const char *text)
{
	Err err = { 0 };
	Dag *d = dag_parse(a, "workload", text, strlen(text), &err);
	ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, text);
	return d;
}

static const char *layer(Arena *a, int i)
{
	const char *rows = layers[i].rows;
	int k = layers[i].k, n = layers[i].n;
	Text t = { .arena = a };
	text_add(&t, "dag t\nin x: f32[%s,%d]\n", rows, k);
	if (layers[i].epilogue)
		text_add(&t, "in r: f32[%s,%d]\n", rows, n);
	text_add(&t, "const w: f32[%d,%d]\n", n, k);
	if (layers[i].bias)
		text_add(&t, "const b: f32[%d]\n", n);
	text_add(&t, "y: f32[%s,%d] = dense(x, w%s)\n", rows, n, layers[i].bias ? ", b" : "");
	if (layers[i].epilogue)
		text_add(&t, "s: f32[%s,%d] = add(y, r)\nz: f32[%s,%d] = relu(s)\n", rows, n, rows, n);
	text_add(&t, "out %s\n", layers[i].epilogue ? "z" : "y");
	return text_str(&t);
}

static KernelSet *strassen(Arena *a, const Dag *d, int block)
{
	AlgoArg arg[] = { { "levels", 1 }, { "o", block } };
	AlgoChoice choice;
	Err err = { 0 };
	ck_assert_msg(algo_choose(d, "dense.strassen", arg, 2, &choice, &err), "%s: %s", err.place, err.text);
	KernelSet *ks = op_compute(ir_new(a), d, "k", &choice, &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
	return ks;
}

static KernelSet *winograd(Arena *a, const Dag *d, int m, int block)
{
	AlgoArg arg[] = { { "m", m }, { "o", block } };
	AlgoChoice choice;
	Err err = { 0 };
	ck_assert_msg(algo_choose(d, "conv2d.winograd", arg, 2, &choice, &err), "%s: %s", err.place, err.text);
	KernelSet *ks = op_compute(ir_new(a), d, "k", &choice, &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
	return ks;
}

static const Fn *run_fn(const KernelSet *ks)
{
	for (size_t k = 0; k < ks->n; k++)
		if (ks->fn[k]->kind == FN_RUN)
			return ks->fn[k];
	return NULL;
}

/* The tensors of naive's parameters, random where they are read; the padding of blocks is zero. */
static int make_tensors(Arena *a, const Fn *fn, InterpDomain domain, uint64_t seed, IrArg *arg)
{
	Rng rng = rng_seed(seed);
	int n = 0;
	for (int k = 0; k < fn->nparam; k++) {
		const Buf *b = fn->param[k].buf;
		if (b->role == BUF_WORK)
			continue;
		int64_t idx[8] = { 0 }, shape[8], all = ir_buf_elements(b, NULL, 0), left = 1;
		uint64_t *v = arena_array(a, uint64_t, all);
		memset(v, 0, sizeof *v * (size_t)all);
		for (int i = 0; i < b->rank; i++) {
			ck_assert(ir_is_int(b->shape[i], &shape[i]));
			left *= shape[i];
		}
		for (; left > 0; left--) {
			int64_t at = ir_buf_offset(b, idx);
			if (domain == INTERP_MODP)
				v[at] = interp_modp_of((double)rng_below(&rng, 100000) - 50000);
			else
				((float *)v)[at] = (float)(rng_real(&rng) * 2 - 1);
			for (int i = b->rank - 1; i >= 0 && ++idx[i] == shape[i]; i--)
				idx[i] = 0;
		}
		ck_assert_int_lt(n, TENSORS);
		arg[n++] = (IrArg){ .name = b->name, .data = v };
	}
	return n;
}

static const void *out_of(
	Arena *a, const KernelSet *ks, const KernelSet *naive, InterpDomain domain, uint64_t seed, int64_t *n)
{
	IrArg arg[TENSORS];
	Err err = { 0 };
	const Fn *fn = run_fn(naive);
	InterpRun how = { .seed = seed, .domain = domain, .skip_races = domain == INTERP_EXACT };
	int count = make_tensors(a, fn, domain, seed, arg);
	ck_assert_msg(interp_run_set(ks, arg, count, &how, &err), "%s: %s", err.place, err.text);
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf->role == BUF_OUT) {
			*n = ir_buf_elements(fn->param[k].buf, NULL, 0);
			for (int i = 0; i < count; i++)
				if (strcmp(arg[i].name, fn->param[k].buf->name) == 0)
					return arg[i].data;
		}
	ck_abort_msg("no output");
	return NULL;
}

START_TEST(equal_to_the_bit_modulo_a_prime)
{
	Arena *a = arena_new();
	Err err = { 0 };
	int64_t n = 0, again = 0;
	const Tile *tile = &tiles[_i % LEN(tiles)];
	const char *text = workload(a, &cases[_i / LEN(tiles)], tile);
	Dag *d = dag_of(a, text);
	KernelSet *naive = op_naive(ir_new(a), d, "k", NAIVE_AS_TYPED, &err);
	KernelSet *ks = winograd(a, d, tile->m, _i % 2 != 0 ? 16 : 4);
	const uint64_t *want = out_of(a, naive, naive, INTERP_MODP, (uint64_t)_i, &n);
	const uint64_t *got = out_of(a, ks, naive, INTERP_MODP, (uint64_t)_i, &again);
	ck_assert_int_eq(n, again);
	for (int64_t k = 0; k < n; k++)
		ck_assert_msg(
			interp_modp_same(want[k], got[k]), "m=%d, element %lld of\n%s", tile->m, (long long)k, text);
	arena_free(a);
}
END_TEST

START_TEST(seven_products_are_eight_modulo_a_prime)
{
	Arena *a = arena_new();
	Err err = { 0 };
	int64_t n = 0, again = 0;
	const char *text = layer(a, _i);
	Dag *d = dag_of(a, text);
	KernelSet *naive = op_naive(ir_new(a), d, "k", NAIVE_AS_TYPED, &err), *ks = strassen(a, d, _i % 2 != 0 ? 16 : 4);
	const uint64_t *want = out_of(a, naive, naive, INTERP_MODP, (uint64_t)_i, &n);
	const uint64_t *got = out_of(a, ks, naive, INTERP_MODP, (uint64_t)_i, &again);
	ck_assert_int_eq(n, again);
	for (int64_t k = 0; k < n; k++)
		ck_assert_msg(interp_modp_same(want[k], got[k]), "element %lld of\n%s", (long long)k, text);
	ck_assert(ir_find_buf(run_fn(ks), "w") == NULL);
	arena_free(a);
}
END_TEST

/* Many products in a sum; the reference accumulates in f64. */
START_TEST(the_error_of_seven_products_is_within_what_is_stated)
{
	static const char text[] = "dag t\nin x: f32[16,3072]\nconst w: f32[16,3072]\ny: f32[16,16] = dense(x, w)\nout y\n";
	Arena *a = arena_new();
	Err err = { 0 };
	int64_t n = 0;
	Dag *d = dag_of(a, text);
	KernelSet *exact = op_naive(ir_new(a), d, "k", NAIVE_F64, &err), *ks = strassen(a, d, 16);
	const float *want = out_of(a, exact, exact, INTERP_EXACT, 5, &n), *got = out_of(a, ks, exact, INTERP_EXACT, 5, &n);
	double off = 0, most = 0, bound = algo_find("dense.strassen")->error(d, &d->call.at[0], (int64_t[]){ 1, 16 });
	for (int64_t k = 0; k < n; k++) {
		off = fmax(off, fabs((double)want[k] - (double)got[k]));
		most = fmax(most, fabs((double)want[k]));
	}
	if (getenv("DLC_TEST_SAY") != NULL)
		printf("strassen: error %.2e, stated %.0e\n", off / most, bound);
	ck_assert_msg(off / most <= bound, "error %g, stated %g", off / most, bound);
	ck_assert_msg(off / most >= bound / 1000, "error %g, stated %g: too much", off / most, bound);
	arena_free(a);
}
END_TEST

static const struct {
	const char *in, *weights, *call, *why;
} refused_layers[] = {
	{ "f32[4,4]", "in w: f32[4,4]", "dense(x, w)", "constant" },
	{ "f32[1,4]", "const w: f32[4,4]", "dense(x, w)", "no halves" },
	{ "f32[4,4]", "const w: f32[1,4]", "dense(x, w)", "no halves" },
	{ "f16[4,4]", "const w: f16[4,4]", "dense(x, w)", "f32" },
	{ "f32[4,4]", "const w: f32[4,4]", "dense(x, w) rows=1", "own accuracy" },
	{ "f32[4,4]", "const w: f32[4,4]", "matmul(x, w)", "no dense layer" },
};

START_TEST(other_layers_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	AlgoChoice choice;
	Dag *d = dag_of(a, arena_printf(a, "dag t\nin x: %s\n%s\ny = %s\nout y\n", refused_layers[_i].in,
		refused_layers[_i].weights, refused_layers[_i].call));
	ck_assert(!algo_choose(d, "dense.strassen", &(AlgoArg){ "levels", 1 }, 1, &choice, &err));
	ck_assert_int_eq(err.code, ERR_ILLEGAL);
	ck_assert_msg(strstr(err.text, refused_layers[_i].why) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* A tile's multiplications: 3x3 of 4x4 outputs takes 36 for 144, 1x7 of four outputs 10 for 28. */
START_TEST(saved_multiplications_are_those_of_a_tile)
{
	Arena *a = arena_new();
	Dag *d = dag_of(a, workload(a, &cases[1], &tiles[_i]));
	int64_t param[] = { tiles[_i].m, 16 };
	ck_assert_double_eq_tol(algo_find("conv2d.winograd")->saves(d, &d->call.at[0], param), tiles[_i].saves, 1e-9);
	arena_free(a);
}
END_TEST

/* Many channels, since that is where errors add up; the reference accumulates in f64. */
START_TEST(the_error_is_within_what_is_stated)
{
	static const Case wide = { 1, 128, 14, 13, 4, "[1,1,1,1]", true, false, false };
	Arena *a = arena_new();
	Err err = { 0 };
	int64_t n = 0;
	const Tile *tile = &tiles[_i];
	int m = tile->m;
	Dag *d = dag_of(a, workload(a, &wide, tile));
	AlgoChoice choice;
	KernelSet *exact = op_naive(ir_new(a), d, "k", NAIVE_F64, &err), *ks = winograd(a, d, m, 16);
	const float *want = out_of(a, exact, exact, INTERP_EXACT, 5, &n), *got = out_of(a, ks, exact, INTERP_EXACT, 5, &n);
	double off = 0, most = 0;
	for (int64_t k = 0; k < n; k++) {
		off = fmax(off, fabs((double)want[k] - (double)got[k]));
		most = fmax(most, fabs((double)want[k]));
	}
	ck_assert(algo_choose(d, "conv2d.winograd", &(AlgoArg){ "m", m }, 1, &choice, &err));
	double bound = choice.algo->error(d, &d->call.at[choice.call], choice.param);
	if (getenv("DLC_TEST_SAY") != NULL)
		printf("%dx%d, m=%d: error %.2e, stated %.0e\n", tile->kh, tile->kw, m, off / most, bound);
	ck_assert_msg(off / most <= bound, "m=%d: error %g, stated %g", m, off / most, bound);
	ck_assert_msg(off / most >= bound / 1000, "m=%d: error %g, stated %g: too much", m, off / most, bound);
	arena_free(a);
}
END_TEST

static const struct {
	const char *in, *call, *weights, *why;
} refused[] = {
	{ "f32[1,4,8,8]", "conv(x, w) strides=[2,2]", "const w: f32[4,4,3,3]", "stride" },
	{ "f32[1,4,8,8]", "conv(x, w) dilations=[2,2]", "const w: f32[4,4,3,3]", "dilation" },
	{ "f32[1,4,8,8]", "conv(x, w) groups=2", "const w: f32[4,2,3,3]", "groups" },
	{ "f32[1,4,8,8]", "conv(x, w)", "const w: f32[4,4,1,1]", "one element" },
	{ "f32[1,4,8,8]", "conv(x, w)", "const w: f32[4,4,3,4]", "4, 6 or 8" },
	{ "f32[1,4,8,8]", "conv(x, w) pads=[0,4,0,4]", "const w: f32[4,4,3,9]", "10 in a row or column" },
	{ "f32[1,4,8,8]", "conv(x, w) pads=[0,4,0,4]", "const w: f32[4,4,1,11]", "10 in a row or column" },
	{ "f32[1,4,8,8]", "conv(x, w)", "in w: f32[4,4,3,3]", "constant" },
	{ "f32[1,4,9]", "conv(x, w) strides=[2]", "const w: f32[4,4,3]", "stride" },
	{ "f32[1,4,9]", "conv(x, w)", "const w: f32[4,4,1]", "one element" },
	{ "f32[1,4,8,8,8]", "conv(x, w)", "const w: f32[4,4,3,3,3]", "one or two spatial dimensions" },
	{ "f32[1,4,8,8]", "relu(x)", "const w: f32[1]", "no call" },
};

START_TEST(other_convolutions_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	AlgoChoice choice;
	Dag *d = dag_of(a, arena_printf(a, "dag t\nin x: %s\n%s\ny = %s\nout y\n", refused[_i].in, refused[_i].weights,
		refused[_i].call));
	ck_assert(!algo_choose(d, "conv2d.winograd", &(AlgoArg){ "m", 2 }, 1, &choice, &err));
	ck_assert_int_eq(err.code, ERR_ILLEGAL);
	ck_assert_msg(strstr(err.text, refused[_i].why) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

static const struct {
	const char *name, *why;
	int n;
	AlgoArg arg[3];
} wrong[] = {
	{ "conv2d.winograd", "m= must be given", 0, { { NULL, 0 } } },
	{ "conv2d.winograd", "from 2 to 6", 1, { { "m", 8 } } },
	{ "conv2d.winograd", "4, 6 or 8", 1, { { "m", 3 } } },
	{ "conv2d.winograd", "no parameter", 2, { { "m", 2 }, { "q", 1 } } },
	{ "conv2d.winograd", "twice", 2, { { "m", 2 }, { "m", 4 } } },
	{ "conv2d.fft", "no algorithm", 1, { { "m", 2 } } },
};

START_TEST(wrong_words_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	AlgoChoice choice;
	Dag *d = dag_of(a, workload(a, &cases[0], &tiles[0]));
	ck_assert(!algo_choose(d, wrong[_i].name, wrong[_i].arg, wrong[_i].n, &choice, &err));
	ck_assert_msg(strstr(err.text, wrong[_i].why) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

START_TEST(two_convolutions_are_not_chosen_from)
{
	static const char text[] = "dag t\nin x: f32[1,4,8,8]\nconst w: f32[4,4,3,3]\ny: f32[1,4,6,6] = conv(x, w)\n"
							   "z: f32[1,4,4,4] = conv(y, w)\nout z\n";
	Arena *a = arena_new();
	Err err = { 0 };
	AlgoChoice choice;
	ck_assert(!algo_choose(dag_of(a, text), "conv2d.winograd", &(AlgoArg){ "m", 2 }, 1, &choice, &err));
	ck_assert_msg(strstr(err.text, "several") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* The set prints and parses back; the run Fn does not see the weights, the prepare Fn nothing else. */
START_TEST(the_weights_are_prepared)
{
	Arena *a = arena_new();
	Err err = { 0 };
	KernelSet *ks = winograd(a, dag_of(a, workload(a, &cases[1], &tiles[1])), 4, 16);
	ck_assert_int_eq((int)ks->n, 2);
	ck_assert_int_eq((int)ks->fn[0]->kind, FN_PREPARE);
	ck_assert_str_eq(ks->fn[0]->param[0].buf->name, "w");
	ck_assert(ir_find_buf(ks->fn[1], "w") == NULL);
	const char *text = ir_set_str(a, ks);
	KernelSet *again = ir_parse_set(ir_new(a), "again", text, strlen(text), &err);
	ck_assert_msg(again != NULL, "%s: %s", err.place, err.text);
	ck_assert_str_eq(text, ir_set_str(a, again));
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("algo");
	tcase_add_loop_test(tc, equal_to_the_bit_modulo_a_prime, 0, LEN(cases) * LEN(tiles));
	tcase_add_loop_test(tc, the_error_is_within_what_is_stated, 0, LEN(tiles));
	tcase_add_loop_test(tc, saved_multiplications_are_those_of_a_tile, 0, LEN(tiles));
	tcase_add_loop_test(tc, seven_products_are_eight_modulo_a_prime, 0, LEN(layers));
	tcase_add_test(tc, the_error_of_seven_products_is_within_what_is_stated);
	tcase_add_loop_test(tc, other_layers_are_refused, 0, LEN(refused_layers));
	tcase_add_loop_test(tc, other_convolutions_are_refused, 0, LEN(refused));
	tcase_add_loop_test(tc, wrong_words_are_refused, 0, LEN(wrong));
	tcase_add_test(tc, two_convolutions_are_not_chosen_from);
	tcase_add_test(tc, the_weights_are_prepared);
	return run_suite("algo", tc);
}
