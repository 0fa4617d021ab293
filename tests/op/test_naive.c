/*
 * The naive Fn of every operator: it verifies, prints and parses back to the same text, and run by
 * the interpreter equals the second meaning of ref.c on random inputs, as typed and in f64.
 */
#include "base/file.h"
#include "interp/interp.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "ref.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const dags[] = {
#include "calls.inc"
#include "calls_gather.inc"
#include "calls_sequence.inc"
};

static double tolerance(DType t)
{
	if (!dtype_is_float(t))
		return 0;
	return t.kind == DT_BFLOAT ? 1e-2 : t.bits == 16 ? 2e-3 : t.bits == 32 ? 1e-5 : 1e-12;
}

/* Largest difference against the largest number, infinities and NaN where the other has them. */
static double difference(Tensor a, Tensor b)
{
	double most = 1e-30, off = 0;
	for (int64_t i = 0; i < a.n; i++) {
		if (isnan(a.v[i]) != isnan(b.v[i]) || isinf(a.v[i]) != isinf(b.v[i]))
			return INFINITY;
		if (isnan(a.v[i]) || a.v[i] == b.v[i])
			continue;
		off = fmax(off, fabs(a.v[i] - b.v[i]));
		most = fmax(most, fmax(fabs(a.v[i]), 1));
	}
	return off / most;
}

/* Logarithm, root and power want positive numbers; variances too. */
static void make_fit(const Dag *d, Tensor *v)
{
	for (size_t i = 0; i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i];
		int k = c->op == OP_batch_norm ? 4 : c->op == OP_pow && dtype_is_int(v[c->in[0]].type) ? 1 : 0;
		if (k > 0 || c->op == OP_log || c->op == OP_sqrt || c->op == OP_pow)
			for (int64_t e = 0; e < v[c->in[k]].n; e++)
				v[c->in[k]].v[e] = fabs(v[c->in[k]].v[e]) + (k == 1 ? 0 : 0.25);
	}
}

static void run_and_compare(Arena *a, const Dag *d, NaiveKind kind, uint64_t seed)
{
	Err err = { 0 };
	Rng r = rng_seed(seed);
	Tensor *v = arena_array(a, Tensor, d->value.n);
	for (size_t i = 0; i < d->value.n; i++)
		if (d->value.at[i].kind != VALUE_CALL && d->value.at[i].data == NULL)
			v[i] = tensor_random(a, d->value.at[i].type, d->value.at[i].shape, &r);
	make_fit(d, v);
	ref_eval(a, d, v);

	Ir *ir = ir_new(a);
	KernelSet *ks = op_naive(ir, d, "naive", kind, &err);
	ck_assert_msg(ks != NULL, "%s", err.text);
	const char *text = ir_set_str(a, ks);
	ck_assert_msg(ir_verify_set(ks, &err), "%s: %s\n%s", err.place, err.text, text);
	KernelSet *back = ir_parse_set(ir_new(a), "naive", text, strlen(text), &err);
	ck_assert_msg(back != NULL, "%s: %s\n%s", err.place, err.text, text);
	ck_assert_str_eq(text, ir_set_str(a, back));

	const Fn *fn = ks->fn[0]; /* parameters: inputs, constants, outputs */
	IrArg arg[64];
	int n = 0;
	for (size_t i = 0; i < d->input.n; i++)
		arg[n++].data = tensor_data(a, v[d->input.at[i]]);
	for (size_t i = 0; i < d->value.n; i++)
		if (d->value.at[i].kind == VALUE_CONST)
			arg[n++].data = tensor_data(a, v[i]);
	for (size_t i = 0; i < d->output.n; i++)
		arg[n++].data = arena_alloc(a, (size_t)value_bytes(&d->value.at[d->output.at[i]]) + 1);
	for (int i = 0; i < n; i++)
		arg[i].name = fn->param[i].name;
	InterpRun how = { .seed = seed };
	ck_assert_msg(interp_run_fn(ks, fn, arg, n, &how, &err), "%s: %s\n%s", err.place, err.text, text);
	for (size_t k = 0; k < d->output.n; k++) {
		int at = d->output.at[k];
		const Value *val = &d->value.at[at];
		Tensor y = tensor_of(a, val->type, val->shape, arg[n - (int)d->output.n + (int)k].data);
		double off = difference(v[at], y);
		ck_assert_msg(off <= tolerance(val->type), "%s differs by %g (seed %llu)\n%s", val->name, off,
			(unsigned long long)seed, text);
	}
}

enum { BATCH = 10 }; /* cases per test: a fork costs more than a case, under sanitizers */

START_TEST(naive_equals_reference)
{
	for (int i = _i * BATCH; i < (_i + 1) * BATCH && i < LEN(dags); i++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Dag *d = dag_parse(a, "naive.dag", dags[i], strlen(dags[i]), &err);
		ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, dags[i]);
		run_and_compare(a, d, NAIVE_AS_TYPED, (uint64_t)i * 2 + 1);
		run_and_compare(a, d, NAIVE_F64, (uint64_t)i * 2 + 2);
		arena_free(a);
	}
}
END_TEST

/* Every operator has a case above. */
START_TEST(every_operator_is_tried)
{
	for (int op = 0; op < OP_COUNT; op++) {
		char call[64];
		bool found = false;
		snprintf(call, sizeof call, "= %s(", op_row(op)->name);
		for (int i = 0; i < LEN(dags); i++)
			found |= strstr(dags[i], call) != NULL;
		ck_assert_msg(found, "no case for %s", op_row(op)->name);
	}
}
END_TEST

/* conv of random geometry, all that ONNX allows and op.def takes. */
static void try_window(int seed)
{
	Rng r = rng_seed(1000 + (uint64_t)seed);
	Arena *a = arena_new();
	Dag *d = dag_new(a, "random");
	int sp = (int)rng_range(&r, 1, 3), op = (int[]){ OP_conv, OP_max_pool, OP_avg_pool }[seed % 3];
	int64_t x[5], w[5], strides[3], dilations[3], pads[6], kernel[3], groups = rng_range(&r, 1, 3);
	int64_t per = rng_range(&r, 1, 2), filters = groups * rng_range(&r, 1, 2);
	x[0] = rng_range(&r, 1, 2);
	x[1] = groups * per;
	w[0] = filters;
	w[1] = per;
	for (int k = 0; k < sp; k++) {
		w[2 + k] = kernel[k] = rng_range(&r, 1, 3);
		strides[k] = rng_range(&r, 1, 3);
		dilations[k] = rng_range(&r, 1, 2);
		pads[k] = rng_range(&r, 0, 2);
		pads[sp + k] = rng_range(&r, 0, 2);
		int64_t span = (kernel[k] - 1) * dilations[k] + 1 - pads[k] - pads[sp + k];
		x[2 + k] = rng_range(&r, span > 1 ? span : 1, 7);
	}
	int in[3] = { dag_add_input(d, "x", F32, shape_of(2 + sp, x)), 0, 0 }, nin = 1, nattr = 3;
	Attr attr[6] = { attr_ints("strides", strides, sp), attr_ints("dilations", dilations, sp),
		attr_ints("pads", pads, 2 * sp) };
	if (op == OP_conv) {
		in[nin++] = dag_add_const(d, "w", F32, shape_of(2 + sp, w), NULL);
		if (rng_below(&r, 2) == 0)
			in[nin++] = dag_add_const(d, "b", F32, shape_of(1, &filters), NULL);
		attr[nattr++] = attr_int("groups", groups);
	} else {
		attr[nattr++] = attr_ints("kernel", kernel, sp);
		attr[nattr++] = attr_int("ceil", rng_range(&r, 0, 1));
		if (op == OP_avg_pool)
			attr[nattr++] = attr_int("count_pad", rng_range(&r, 0, 1));
	}
	Err err = { 0 };
	int call = dag_add_call(d, op, "y", in, nin, attr, nattr, &err);
	ck_assert_msg(call >= 0, "%s", err.text);
	dag_add_output(d, d->call.at[call].out[0]);
	run_and_compare(a, d, NAIVE_AS_TYPED, (uint64_t)seed);
	arena_free(a);
}

START_TEST(random_windows_equal_reference)
{
	for (int i = 0; i < BATCH; i++)
		try_window(_i * BATCH + i);
}
END_TEST

/*
 * Traces name the loops and blocks of naive Fns, so these names are as fixed as a file format: a
 * change of golden/naive.ir (--bless writes it anew) leaves every recorded schedule behind.
 */
static const char *const named[] = {
	"in v0: f32[1,4,8,8]\nin v1: f32[1,6,4,4]\nconst c0: f32[6,2,3,3]\nconst c1: f32[6]\n"
	"v2 = conv(v0, c0, c1) groups=2 pads=[1,1,1,1] strides=[2,2]\nv3 = add(v2, v1)\n"
	"v4 = relu(v3)\nout v4\n",
	"in v0: f16[2,4,9]\nconst c0: f16[4,1,3]\nv1 = conv(v0, c0) groups=4\nout v1\n",
	"in v0: f32[3,4]\nconst c0: f32[5,4]\nconst c1: f32[5]\nv1 = dense(v0, c0, c1)\n"
	"v2 = clip(v1) hi=6 lo=0\nout v2\n",
	"in v0: f32[2,3,4]\nin v1: f32[2,4,5]\nv2 = matmul(v0, v1)\nv3 = softmax(v2)\nout v3\n",
	"in v0: f32[1,2,5,5]\nv1 = max_pool(v0) ceil=1 kernel=[2,2] strides=[2,2]\n"
	"v2 = avg_pool(v1) kernel=[2,2] pads=[1,0,0,0]\nv3 = reduce_mean(v2) axes=[2,3] keep=0\n"
	"out v3\n",
	"in v0: f32[2,6]\nv1 = reshape(v0) shape=[3,4]\nv2 = sub(v1, v1)\n"
	"v3 = concat(v1, v2) axis=0\nout v3\n",
};

/* All of them, or what was wrong: --bless runs outside of a test. */
static const char *all_named(Arena *a)
{
	Text t = { .arena = a };
	Ir *ir = ir_new(a);
	KernelSet *all = ir_set_new(ir);
	for (int i = 0; i < LEN(named); i++) {
		Err err = { 0 };
		const char *text = arena_printf(a, "dag\n%s", named[i]), *name = arena_printf(a, "f%d", i);
		Dag *d = dag_parse(a, "named", text, strlen(text), &err);
		KernelSet *ks = d != NULL ? op_naive(ir, d, name, NAIVE_AS_TYPED, &err) : NULL;
		if (ks == NULL)
			return arena_printf(a, "%s: %s", err.place, err.text);
		ir_set_add(all, ks->fn[0]);
	}
	ir_print_set(&t, all);
	return text_str(&t);
}

START_TEST(names_are_fixed)
{
	Arena *a = arena_new();
	Bytes golden = { 0 };
	Err err = { 0 };
	ck_assert_msg(file_read(a, GOLDEN, 1 << 20, &golden, &err), "%s: %s", err.place, err.text);
	ck_assert_str_eq(all_named(a), arena_printf(a, "%.*s", (int)golden.n, golden.at));
	arena_free(a);
}
END_TEST

/* x[1,6,2,3] in blocks of 4 channels, written as NHWC: places by hand, padding stays zero. */
START_TEST(layouts_place_elements)
{
	static const char text[] = "dag\nin x: i32[1,6,2,3]:NCHW4c\n"
							   "y: i32[1,6,2,3]:NHWC = neg(x)\nout y\n";
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", text, sizeof text - 1, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_int_eq(value_bytes(&d->value.at[0]), 4 * 8 * 6);
	ck_assert_int_eq(value_bytes(&d->value.at[1]), 4 * 6 * 6);
	KernelSet *ks = op_naive(ir_new(a), d, "f", NAIVE_AS_TYPED, &err);
	int32_t x[2][2][3][4] = { 0 }, y[2][3][6] = { 0 };
	for (int c = 0; c < 6; c++)
		for (int i = 0; i < 6; i++)
			x[c / 4][i / 3][i % 3][c % 4] = c * 6 + i;
	IrArg arg[2] = { { .name = "x", .data = x }, { .name = "y", .data = y } };
	InterpRun how = { .seed = 1 };
	ck_assert_msg(ir_verify_set(ks, &err), "%s", err.text);
	ck_assert_msg(interp_run_set(ks, arg, 2, &how, &err), "%s: %s", err.place, err.text);
	for (int c = 0; c < 6; c++)
		for (int i = 0; i < 6; i++)
			ck_assert_int_eq(y[i / 3][i % 3][c], -(c * 6 + i));
	arena_free(a);
}
END_TEST

/* There and back inside one Task, through a work buffer that is wider than 16 bits. */
START_TEST(casts_to_16_bits_round)
{
	static const float x[4] = { 1.0001f, -2.7182818f, 70000, 65519 };
	static const struct {
		const char *type;
		float want[4];
	} rows[] = { { "f16", { 1, -2.71875f, INFINITY, 65504 } }, { "bf16", { 1, -2.71875f, 70144, 65536 } } };
	Arena *a = arena_new();
	Err err = { 0 };
	const char *text =
		arena_printf(a, "dag\nin x: f32[4]\nh = cast(x) to=%s\ny = cast(h) to=f32\nout y\n", rows[_i].type);
	Dag *d = dag_parse(a, "t", text, strlen(text), &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	for (int kind = NAIVE_AS_TYPED; kind <= NAIVE_F64; kind++) {
		KernelSet *ks = op_naive(ir_new(a), d, "f", (NaiveKind)kind, &err);
		float in[4], y[4] = { 0 };
		memcpy(in, x, sizeof in);
		IrArg arg[2] = { { .name = "x", .data = in }, { .name = "y", .data = y } };
		InterpRun how = { .seed = 1 };
		ck_assert_msg(interp_run_set(ks, arg, 2, &how, &err), "%s: %s", err.place, err.text);
		for (int k = 0; k < 4; k++)
			ck_assert_msg(y[k] == rows[_i].want[k], "%s %g: %g, not %g", rows[_i].type, x[k], y[k], rows[_i].want[k]);
	}
	arena_free(a);
}
END_TEST

START_TEST(outputs_that_are_no_results_are_refused)
{
	static const char *const texts[] = { "dag\nin x: f32[2]\nout x\n", "dag\nin x: f32[2]\ny = relu(x)\nout y, y\n" };
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", texts[_i], strlen(texts[_i]), &err);
	ck_assert_ptr_null(op_naive(ir_new(a), d, "f", NAIVE_AS_TYPED, &err));
	ck_assert_int_eq(err_exit_code(err.code), 1);
	arena_free(a);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--bless") == 0) {
		Arena *a = arena_new();
		const char *text = all_named(a);
		bool ok = file_write(GOLDEN, text, strlen(text), NULL);
		arena_free(a);
		return !ok;
	}
	TCase *tc = tcase_create("naive");
	int windows = getenv("DLC_TEST_ALL") != NULL ? 90 : 9;
	tcase_add_loop_test(tc, naive_equals_reference, 0, (LEN(dags) + BATCH - 1) / BATCH);
	tcase_add_test(tc, every_operator_is_tried);
	tcase_add_loop_test(tc, random_windows_equal_reference, 0, windows);
	tcase_add_test(tc, names_are_fixed);
	tcase_add_test(tc, layouts_place_elements);
	tcase_add_loop_test(tc, casts_to_16_bits_round, 0, 2);
	tcase_add_loop_test(tc, outputs_that_are_no_results_are_refused, 0, 2);
	return run_suite("naive", tc);
}
