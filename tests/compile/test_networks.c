/*
 * Random networks of image operators, small, with channels that do not fill their blocks, concats of
 * parts that other calls read too, splits, outputs in the middle: compiled to bundles and run by the
 * runtime, against the second meaning of tests/op. What is tested is what lies between tasks: layouts,
 * views, the plan.
 */
#include "codegen/backend.h"
#include "compile/compile.h"
#include "dlc/dlc_runtime.h"
#include "fibers.h"
#include "graph/precision.h"
#include "ref.h"
#include "runtime/device.h"
#include "code_suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int call(Dag *d, int op, const int *in, int nin, const Attr *attr, int nattr)
{
	Err err = { 0 };
	int n = dag_add_call(d, op, NULL, in, nin, attr, nattr, &err);
	ck_assert_msg(n >= 0, "%s: %s", op_row(op)->name, err.text);
	return d->call.at[n].out[0];
}

static int weights(Dag *d, Rng *r, int64_t o, int64_t c, int64_t k)
{
	int64_t dim[4] = { o, c, k, k };
	Tensor t = tensor_random(d->arena, F32, shape_of(4, dim), r);
	for (int64_t i = 0; i < t.n; i++)
		t.v[i] /= sqrt((double)(c * k * k));
	return dag_add_const(d, "w", F32, t.shape, tensor_data(d->arena, t));
}

/* Any value but a constant; all are of rank 4. */
static int pick(Rng *r, const Dag *d)
{
	for (;;) {
		int v = (int)rng_below(r, d->value.n);
		if (d->value.at[v].kind != VALUE_CONST)
			return v;
	}
}

static int convolve(Dag *d, Rng *r, int x)
{
	static const int64_t some[] = { 4, 8, 16, 16, 17, 24, 32, 32, 40 };
	const Dim *dim = d->value.at[x].shape.dim;
	int64_t k = rng_below(r, 2) == 0 ? 1 : 3, p = k / 2, pads[4] = { p, p, p, p }, strides[2] = { 1, 1 };
	bool depthwise = rng_below(r, 3) == 0;
	int64_t out = depthwise ? dim[1] : some[rng_below(r, LEN(some))];
	if (rng_below(r, 8) == 0)
		strides[0] = strides[1] = 2;
	int in[2] = { x, weights(d, r, out, depthwise ? 1 : dim[1], k) };
	Attr attr[3] = { attr_ints("pads", pads, 4), attr_ints("strides", strides, 2),
		attr_int("groups", depthwise ? dim[1] : 1) };
	return call(d, OP_conv, in, 2, attr, 3);
}

/* Up to four values that differ from x in their channels only, x itself perhaps among them again. */
static int concat(Dag *d, Rng *r, int x)
{
	const Dim *dim = d->value.at[x].shape.dim;
	int in[4] = { x }, n = 1;
	for (int tries = 0; tries < 12 && n < 4; tries++) {
		int v = pick(r, d);
		const Dim *to = d->value.at[v].shape.dim;
		if (to[0] == dim[0] && to[2] == dim[2] && to[3] == dim[3] && to[1] + dim[1] <= 80)
			in[n++] = v;
	}
	Attr axis = attr_int("axis", 1);
	return call(d, OP_concat, in, n, &axis, 1);
}

/* A dense block: every layer reads all that is there. */
static void dense_block(Dag *d, Rng *r, int x)
{
	int in[5] = { x };
	for (int n = 1; n < 4; n++) {
		const Dim *dim = d->value.at[x].shape.dim;
		int w[2] = { x, weights(d, r, 16, dim[1], 1) };
		Attr axis = attr_int("axis", 1);
		in[n] = call(d, OP_conv, w, 2, NULL, 0);
		x = call(d, OP_concat, in, n + 1, &axis, 1);
	}
}

static void split(Dag *d, Rng *r, int x)
{
	int64_t c = d->value.at[x].shape.dim[1], first = rng_below(r, 2) == 0 ? c / 2 : c > 16 ? 16 : 1;
	int64_t sizes[2] = { first, c - first };
	Attr attr[2] = { attr_int("axis", 1), attr_ints("sizes", sizes, 2) };
	call(d, OP_split, &x, 1, attr, 2);
}

/* Channels change places: two halves one by one; or lie last for a while. */
static void shuffle(Dag *d, Rng *r, int x)
{
	const Dim *dim = d->value.at[x].shape.dim;
	int64_t apart[4] = { dim[0], 2, dim[1] / 2, dim[2] * dim[3] }, back[4] = { dim[0], dim[1], dim[2], dim[3] };
	int64_t turned[4] = { 0, 2, 1, 3 }, last[4] = { 0, 2, 3, 1 }, first[4] = { 0, 3, 1, 2 };
	if (dim[1] % 2 == 0 && rng_below(r, 2) == 0) {
		x = call(d, OP_reshape, &x, 1, (Attr[]){ attr_ints("shape", apart, 4) }, 1);
		x = call(d, OP_transpose, &x, 1, (Attr[]){ attr_ints("perm", turned, 4) }, 1);
		call(d, OP_reshape, &x, 1, (Attr[]){ attr_ints("shape", back, 4) }, 1);
		return;
	}
	x = call(d, OP_transpose, &x, 1, (Attr[]){ attr_ints("perm", last, 4) }, 1);
	x = call(d, OP_tanh, &x, 1, NULL, 0);
	call(d, OP_transpose, &x, 1, (Attr[]){ attr_ints("perm", first, 4) }, 1);
}

static void grow(Dag *d, Rng *r)
{
	static const int unary[] = { OP_relu, OP_tanh, OP_clip, OP_sigmoid, OP_identity };
	int x = pick(r, d), in[2] = { x, pick(r, d) };
	const Value *v = &d->value.at[x];
	int64_t kernel[2] = { 2, 2 }, pads[4] = { 0, 1, 1, 0 }, axes[2] = { 2, 3 }, perm[4] = { 0, 1, 3, 2 };
	int64_t back[4] = { v->shape.dim[0], v->shape.dim[1], v->shape.dim[3], v->shape.dim[2] };
	int64_t around[8] = { 0, 0, 0, 1, 0, 0, 1, 0 };
	switch (rng_below(r, 18)) {
	case 0:
	case 1:
	case 2: convolve(d, r, x); break;
	case 3:
	case 4:
	case 5:
	case 6: concat(d, r, x); break;
	case 7:
	case 8:
		if (v->shape.dim[1] > 1)
			split(d, r, x);
		break;
	case 9:
		call(d, rng_below(r, 2) == 0 ? OP_max_pool : OP_avg_pool, in, 1,
			(Attr[]){ attr_ints("kernel", kernel, 2), attr_ints("pads", pads, 4) }, 2);
		break;
	case 10: /* squeeze and excite */
		in[1] = call(d, OP_reduce_mean, in, 1, (Attr[]){ attr_ints("axes", axes, 2) }, 1);
		in[1] = call(d, OP_sigmoid, &in[1], 1, NULL, 0);
		call(d, OP_mul, in, 2, NULL, 0);
		break;
	case 11: /* a residual sum */
		in[1] = shape_eq(d->value.at[in[1]].shape, v->shape) ? in[1] : x;
		call(d, OP_add, in, 2, NULL, 0);
		break;
	case 12: call(d, OP_transpose, in, 1, (Attr[]){ attr_ints("perm", perm, 4) }, 1); break;
	case 13: call(d, OP_reshape, in, 1, (Attr[]){ attr_ints("shape", back, 4) }, 1); break;
	case 14: call(d, OP_pad, in, 1, (Attr[]){ attr_ints("pads", around, 8) }, 1); break;
	case 15:
		if (v->shape.dim[1] <= 32)
			dense_block(d, r, x);
		break;
	case 16: shuffle(d, r, x); break;
	default: call(d, unary[rng_below(r, LEN(unary))], in, 1, NULL, 0); break;
	}
}

/* One or two inputs, and up to three outputs besides the last value. */
static Dag *network(Arena *a, Rng *r)
{
	static const int64_t channels[] = { 3, 5, 8, 16, 24, 32 }, sides[] = { 2, 4, 4, 7 };
	Dag *d = dag_new(a, "n");
	int64_t dim[4] = { rng_below(r, 4) == 0 ? 2 : 1, channels[rng_below(r, LEN(channels))],
		sides[rng_below(r, LEN(sides))], sides[rng_below(r, LEN(sides))] };
	dag_add_input(d, "x", F32, shape_of(4, dim));
	if (rng_below(r, 2) == 0)
		dag_add_input(d, "z", F32, shape_of(4, dim));
	for (int i = (int)rng_range(r, 3, 12); i > 0; i--)
		grow(d, r);
	convolve(d, r, pick(r, d));
	dag_add_output(d, d->call.at[d->call.n - 1].out[0]);
	for (int i = (int)rng_below(r, 4); i > 0; i--) {
		int v = pick(r, d);
		bool again = d->value.at[v].kind != VALUE_CALL;
		for (size_t o = 0; o < d->output.n; o++)
			again |= d->output.at[o] == v;
		if (!again)
			dag_add_output(d, v);
	}
	return d;
}

static void give_inputs(Arena *a, const Dag *d, DlcInstance *i, Tensor *v, Rng *r)
{
	DlcError why = { 0 };
	for (size_t k = 0; k < d->input.n; k++) {
		Tensor x = tensor_random(a, F32, d->value.at[d->input.at[k]].shape, r);
		size_t bytes = sizeof(float) * (size_t)x.n;
		ck_assert(dlc_instance_write(i, DLC_INPUT, (int)k, tensor_data(a, x), bytes, &why) == DLC_OK);
		v[d->input.at[k]] = x;
	}
}

/* `allowed` is of the largest element. */
static void compare(
	Arena *a, const Dag *d, DlcInstance *i, const Tensor *v, int seed, const char *text, double allowed)
{
	DlcError why = { 0 };
	for (size_t k = 0; k < d->output.n; k++) {
		const Tensor *want = &v[d->output.at[k]];
		double most = 1e-3, off = 0;
		size_t bytes = sizeof(float) * (size_t)want->n;
		float *out = arena_alloc(a, bytes + 1);
		ck_assert(dlc_instance_read(i, DLC_OUTPUT, (int)k, out, bytes, &why) == DLC_OK);
		for (int64_t j = 0; j < want->n; j++) {
			double got = out[j];
			most = fmax(most, fabs(want->v[j]));
			off = isnan(got) ? INFINITY : fmax(off, fabs(got - want->v[j]));
		}
		ck_assert_msg(off <= allowed * most, "seed %d, output %s: off by %g of %g\n%s", seed,
			d->value.at[d->output.at[k]].name, off, most, text);
	}
}

/* The kernels of a network as a library for the driver without a GPU (tests/fake_cuda). */
static void write_kernels(Arena *a, const Compiled *c, const CompileOptions *o)
{
	VEC(const char *) llvm = { 0 };
	Err err = { 0 };
	int row = backend_text(&backend_nvptx, "llvm");
	CodegenOptions how = { .no_image = true, .texts = 1u << row };
	char path[] = "/tmp/dlc-kernels-XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	for (int k = 0; k < c->partition->ntask; k++) {
		TaskPlan plan = { 0 };
		Module m;
		const Task *task = c->partition->task[k];
		KernelSet *ks = compile_task(ir_new(a), task, o, &plan, &err);
		bool ok = ks != NULL && codegen_compile(a, compile_run_set(a, ks, task, o->target), o->target, &how, &m, &err);
		ck_assert_msg(ok, "%s: %s", err.place, err.text);
		vec_push(a, &llvm, m.text[row]);
	}
	ck_assert_msg(fibers_write_library(llvm.at, (int)llvm.n, CC, path, &err), "%s", err.text);
	setenv("FAKE_CUDA_KERNELS", path, 1);
}

/*
 * Sums of up to 80 * 9 products in f32, through up to 13 calls. With 16 bits each call may round its operands and its
 * result by half of 2^-10 (tf32, fp16) or 2^-7 (bf16), and errors of later calls may add up.
 */
static const double allowed_of[PRECISIONS] = {
	[PRECISION_fp32] = 1e-4,
	[PRECISION_tf32] = 13 * 0x1p-10,
	[PRECISION_fp16] = 13 * 0x1p-10,
	[PRECISION_bf16] = 13 * 0x1p-7,
};

static void try_network(int seed, TargetKind kind, Precision precision)
{
	Rng r = rng_seed((uint64_t)seed);
	Arena *a = arena_new();
	Err err = { 0 };
	DlcError why = { 0 };
	Target target;
	Text text = { .arena = a };
	DlcModel *m;
	DlcInstance *i;
	target_host(&target, 1 + seed % 2);
	if (seed % 3 == 0) /* blocks of 8 on whatever machine */
		target.vector_bits = 256;
	if (kind == TARGET_OPENCL) {
		target.kind = kind;
		target.arch = ARCH_OPENCL;
		target.features = 0;
		target.blocks = (Blocks){ .warp = 1 };
	}
	if (kind == TARGET_CUDA) {
		const char *dirs[] = { SOURCE_ROOT "/configs/targets" };
		ck_assert_msg(target_resolve(&target, seed % 2 == 0 ? "h200" : "t4", 1, dirs, 1, &err), "%s", err.text);
	}
	Dag *d = network(a, &r), *given = dag_copy(a, d);
	dag_print(&text, d);
	ck_assert_msg(graph_precision(d, precision, compile_eval, &err), "%s: %s", err.place, err.text);
	CompileOptions o = { .target = &target, .unscheduled = seed % 4 == 0 };
	Compiled *c = compile_model(a, d, &o, &err);
	ck_assert_msg(c != NULL, "seed %d: %s: %s\n%s", seed, err.place, err.text, text_str(&text));
	bool fibers = kind == TARGET_CUDA && seed / 2 % 2 == 0; /* else the PTX itself is interpreted */
	if (fibers)
		write_kernels(a, c, &o);
	ck_assert_msg(dlc_model_open_memory(c->bundle, c->bundle_bytes, &m, &why) == DLC_OK, "seed %d: %s", seed, why.text);
	ck_assert_msg(dlc_instance_open(m, 0, &i, &why) == DLC_OK, "%s", why.text);
	Tensor *v = arena_array(a, Tensor, given->value.n);
	/* The second one finds the first one's memory, and where a device records, the third one replays. */
	for (int run = 0; run < 3; run++) {
		memset(v, 0, sizeof *v * given->value.n);
		for (size_t k = 0; k < given->value.n; k++)
			if (given->value.at[k].kind == VALUE_CONST)
				v[k] = tensor_of(a, F32, given->value.at[k].shape, given->value.at[k].data);
		give_inputs(a, given, i, v, &r);
		ref_eval(a, given, v);
		ck_assert_msg(dlc_instance_run(i, &why) == DLC_OK, "%s", why.text);
		compare(a, given, i, v, seed, text_str(&text), allowed_of[precision]);
	}
	dlc_instance_close(i);
	dlc_model_close(m);
	arena_free(a);
	if (fibers)
		unlink(getenv("FAKE_CUDA_KERNELS"));
}

START_TEST(networks_compute_what_they_mean)
{
	for (int i = 0; i < 4; i++)
		try_network(_i * 4 + i, TARGET_CPU, PRECISION_fp32);
}
END_TEST

START_TEST(in_every_precision)
{
	for (int p = PRECISION_fp32 + 1; p < PRECISIONS; p++)
		try_network(_i, TARGET_CPU, (Precision)p);
}
END_TEST

/* Weights of 16 bits are half of a bundle's constants. */
START_TEST(half_the_bits_make_half_the_bundle)
{
	size_t bytes[PRECISIONS];
	for (int p = 0; p < PRECISIONS; p++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Target target;
		Rng r = rng_seed(1);
		Dag *d = dag_new(a, "wide");
		int64_t dim[4] = { 1, 256, 2, 2 };
		int in[2] = { dag_add_input(d, "x", F32, shape_of(4, dim)), weights(d, &r, 1024, 256, 1) };
		dag_add_output(d, call(d, OP_conv, in, 2, NULL, 0));
		target_host(&target, 1);
		CompileOptions o = { .target = &target };
		ck_assert_msg(graph_precision(d, (Precision)p, compile_eval, &err), "%s", err.text);
		Compiled *c = compile_model(a, d, &o, &err);
		ck_assert_msg(c != NULL, "%s: %s", err.place, err.text);
		bytes[p] = c->bundle_bytes;
		arena_free(a);
	}
	ck_assert_uint_lt(bytes[PRECISION_fp16], bytes[PRECISION_fp32] * 6 / 10);
	ck_assert_uint_lt(bytes[PRECISION_bf16], bytes[PRECISION_fp32] * 6 / 10);
	ck_assert_uint_gt(bytes[PRECISION_tf32], bytes[PRECISION_fp32] * 9 / 10);
}
END_TEST

/* Several kernels for a step of the plan, on the first device; a quarter of the networks is naive, another one fp16. */
START_TEST(on_an_opencl_device)
{
	DeviceContext *c;
	DlcError why = { 0 };
	if (device_opencl.open(0, &c, &why) != DLC_OK) {
		suite_skip_installable("OpenCL devices", why.text);
		return;
	}
	device_opencl.close(c);
	try_network(_i, TARGET_OPENCL, (Precision)(_i % PRECISIONS));
}
END_TEST

/* Code for CUDA, run by fibers or as PTX under the runtime's own row: memory, copies, launches, graphs. */
START_TEST(on_a_cuda_device)
{
	try_network(_i, TARGET_CUDA, (Precision)(_i / 2 % PRECISIONS));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("networks");
	tcase_add_loop_test(tc, networks_compute_what_they_mean, 0, suite_count(8, 4, 500));
	tcase_add_loop_test(tc, in_every_precision, 0, suite_count(6, 3, 100));
	tcase_add_test(tc, half_the_bits_make_half_the_bundle);
	tcase_add_loop_test(tc, on_an_opencl_device, 0, suite_count(3, 2, 50));
	tcase_add_loop_test(tc, on_a_cuda_device, 0, suite_count(6, 2, 50));
	return run_code_suite("networks", tc);
}
