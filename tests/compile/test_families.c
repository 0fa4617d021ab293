/*
 * One small network with a part of each family (residual blocks, inverted ones, fire, channel shuffle, dense blocks,
 * a classifier), scheduled by default, for a device: what the first OpenCL device computes is what this CPU
 * computes. All kernels are one program, which costs a driver least.
 */
#include "code_suite.h"

#include "base/rng.h"
#include "compile/compile.h"
#include "compile/lock_file.h"
#include "dlc/dlc_runtime.h"
#include "runtime/bundle.h"
#include "runtime/device.h"

#include <math.h>
#include <string.h>

static const char network[] =
	"dag\nin x: f32[1,3,16,16]\n"
	"const w0: f32[16,3,3,3]\na0 = conv(x, w0) strides=[2,2] pads=[1,1,1,1]\na1 = relu(a0)\n"
	/* residual */
	"const w1: f32[16,16,3,3]\nb0 = conv(a1, w1) pads=[1,1,1,1]\nb1 = relu(b0)\n"
	"const w2: f32[16,16,3,3]\nb2 = conv(b1, w2) pads=[1,1,1,1]\nb3 = add(b2, a1)\nb4 = relu(b3)\n"
	/* inverted residual: depthwise between two pointwise ones */
	"const w3: f32[24,16,1,1]\nc0 = conv(b4, w3)\nc1 = clip(c0) lo=0 hi=6\n"
	"const w4: f32[24,1,3,3]\nc2 = conv(c1, w4) pads=[1,1,1,1] groups=24\nc3 = clip(c2) lo=0 hi=6\n"
	"const w5: f32[16,24,1,1]\nc4 = conv(c3, w5)\nc5 = add(c4, b4)\n"
	/* fire: a concat of two convolutions */
	"const w6: f32[8,16,1,1]\nd0 = conv(c5, w6)\nd1 = relu(d0)\n"
	"const w7: f32[8,8,1,1]\nd2 = conv(d1, w7)\nconst w8: f32[8,8,3,3]\nd3 = conv(d1, w8) pads=[1,1,1,1]\n"
	"d4 = concat(d2, d3) axis=1\nd5 = relu(d4)\n"
	/* shuffle: half of the channels pass, and all are permuted */
	"e0, e1 = split(d5) axis=1 sizes=[8,8]\nconst w9: f32[8,8,1,1]\ne2 = conv(e1, w9)\ne3 = relu(e2)\n"
	"e4 = concat(e0, e3) axis=1\ne5 = reshape(e4) shape=[1,2,8,8,8]\ne6 = transpose(e5) perm=[0,2,1,3,4]\n"
	"e7 = reshape(e6) shape=[1,16,8,8]\n"
	/* dense: a layer reads all before it; then the transition */
	"f0 = sigmoid(e7)\nconst wa: f32[8,16,3,3]\nf1 = conv(f0, wa) pads=[1,1,1,1]\nf2 = concat(e7, f1) axis=1\n"
	"f3 = avg_pool(f2) kernel=[2,2] strides=[2,2]\nf4 = max_pool(f3) kernel=[3,3] pads=[1,1,1,1]\n"
	/* the classifier */
	"g0 = reduce_mean(f4) axes=[2,3]\ng1 = reshape(g0) shape=[1,24]\nconst wb: f32[10,24]\nconst wc: f32[10]\n"
	"g2 = dense(g1, wb, wc)\ng3 = softmax(g2)\nout f4, g3\n";

enum { OUTPUTS = 2, MOST = 24 * 16, SEED = 11 };

/* Weights that keep values near 1. */
static Dag *load(Arena *a)
{
	Err err = { 0 };
	Rng r = rng_seed(SEED);
	Dag *d = dag_parse(a, "families", network, sizeof network - 1, &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	for (size_t v = 0; v < d->value.n; v++) {
		Value *x = &d->value.at[v];
		if (x->kind != VALUE_CONST)
			continue;
		int64_t n = shape_elements(x->shape);
		float *data = arena_array(a, float, n), least = (float)sqrt((double)n / (double)x->shape.dim[0]);
		for (int64_t k = 0; k < n; k++)
			data[k] = (float)(rng_real(&r) * 3 - 1.5) / least;
		x->data = data;
	}
	return d;
}

/* also: a second target, or NULL. */
static Compiled *compile_both(Arena *a, const Target *t, const Target *also)
{
	Err err = { 0 };
	CompileOptions o = { .target = t, .also = also, .nalso = also != NULL };
	Compiled *c = compile_model(a, load(a), &o, &err);
	ck_assert_msg(c != NULL, "%s: %s", err.place, err.text);
	return c;
}

static Compiled *compile(Arena *a, const Target *t)
{
	return compile_both(a, t, NULL);
}

static Target device_target(void)
{
	Target t;
	Err err = { 0 };
	const char *root = getenv("DLC_SOURCE_ROOT");
	char folder[4096];
	snprintf(folder, sizeof folder, "%s/configs/targets", root != NULL ? root : ".");
	const char *dir = folder;
	ck_assert_msg(target_resolve(&t, "opencl:pocl", 1, &dir, 1, &err), "%s: %s", err.place, err.text);
	return t;
}

static void run(DlcInstance *i, float out[OUTPUTS][MOST])
{
	DlcError why = { 0 };
	Rng r = rng_seed(SEED + 1);
	float x[3 * 16 * 16];
	for (size_t k = 0; k < LEN(x); k++)
		x[k] = (float)(rng_real(&r) * 2 - 1);
	ck_assert_msg(dlc_instance_write(i, DLC_INPUT, 0, x, sizeof x, &why) == DLC_OK, "%s", why.text);
	ck_assert_msg(dlc_instance_run(i, &why) == DLC_OK, "%s", why.text);
	for (int k = 0; k < OUTPUTS; k++) {
		size_t bytes = (k == 0 ? 24 * 16 : 10) * sizeof(float);
		ck_assert_msg(dlc_instance_read(i, DLC_OUTPUT, k, out[k], bytes, &why) == DLC_OK, "%s", why.text);
	}
}

static void equal(float a[OUTPUTS][MOST], float b[OUTPUTS][MOST])
{
	for (int o = 0; o < OUTPUTS; o++) {
		double most = 0, off = 0;
		for (int k = 0; k < (o == 0 ? 24 * 16 : 10); k++) {
			most = fmax(most, fabs(b[o][k]));
			off = isnan(a[o][k]) ? INFINITY : fmax(off, fabs(a[o][k] - b[o][k]));
		}
		/* Sums of up to 144 products in f32, in another order. */
		ck_assert_msg(most > 0 && off <= 1e-4 * most, "output %d is off by %g of %g", o, off, most);
	}
}

/* Two instances share a model, its program and its constants. */
START_TEST(a_device_computes_what_the_cpu_computes)
{
	static float want[OUTPUTS][MOST], got[OUTPUTS][MOST];
	Arena *a = arena_new();
	Target host, device = device_target();
	DlcError why = { 0 };
	DlcModel *m;
	DlcInstance *i, *j;
	DeviceContext *c;
	if (device_opencl.open(0, &c, &why) != DLC_OK) {
		suite_skip_installable("OpenCL devices", why.text);
		return;
	}
	device_opencl.close(c);
	target_host(&host, 1);
	const Compiled *here = compile(a, &host), *there = compile(a, &device);
	ck_assert(dlc_model_open_memory(here->bundle, here->bundle_bytes, &m, &why) == DLC_OK);
	ck_assert(dlc_instance_open(m, 0, &i, &why) == DLC_OK);
	run(i, want);
	dlc_instance_close(i);
	dlc_model_close(m);
	DlcStatus s = dlc_model_open_memory(there->bundle, there->bundle_bytes, &m, &why);
	ck_assert_msg(s == DLC_OK, "%s", why.text);
	ck_assert(dlc_instance_open(m, 0, &i, &why) == DLC_OK && dlc_instance_open(m, 0, &j, &why) == DLC_OK);
	run(i, got);
	equal(got, want);
	memset(got, 0, sizeof got);
	run(j, got);
	equal(got, want);
	dlc_instance_close(i);
	dlc_instance_close(j);
	dlc_model_close(m);
	arena_free(a);
}
END_TEST

/* The bytes depend on the inputs alone, with and without the lock that the first one makes. */
START_TEST(a_bundle_for_a_device_is_made_again)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target device = device_target();
	const Compiled *one = compile(a, &device), *two = compile(a, &device);
	ck_assert_uint_eq(one->bundle_bytes, two->bundle_bytes);
	ck_assert_mem_eq(one->bundle, two->bundle, one->bundle_bytes);
	Lock *lock = lock_parse(a, "lock", one->lock_text, strlen(one->lock_text), &err);
	ck_assert_msg(lock != NULL, "%s: %s", err.place, err.text);
	CompileOptions o = { .target = &device, .lock = lock, .lock_name = "lock" };
	const Compiled *locked = compile_model(a, load(a), &o, &err);
	ck_assert_msg(locked != NULL, "%s: %s", err.place, err.text);
	ck_assert_uint_eq(one->bundle_bytes, locked->bundle_bytes);
	ck_assert_mem_eq(one->bundle, locked->bundle, one->bundle_bytes);
	arena_free(a);
}
END_TEST

/*
 * Code for the most features stands first, whichever target was named first. The entries are those of one target's
 * bundle, and without features that a device may lack, the second variant runs.
 */
START_TEST(a_bundle_has_code_for_several_devices)
{
	Arena *a = arena_new();
	Target plain = device_target(), rich = plain;
	plain.features = 0;
	rich.features = (uint64_t)1 << FEATURE_CL_FP16 | (uint64_t)1 << FEATURE_CL_FP64;
	const Compiled *one = compile(a, &plain), *c = compile_both(a, &plain, &rich), *d = compile_both(a, &rich, &plain);
	const BundleHeader *h = (const BundleHeader *)c->bundle, *alone = (const BundleHeader *)one->bundle;
	const BundleVariant *v = (const BundleVariant *)(const void *)(c->bundle + h->variant.offset);
	const BundleImage *image = (const BundleImage *)(const void *)(c->bundle + h->image.offset);
	ck_assert_uint_eq(alone->version, BUNDLE_FIRST_VERSION);
	ck_assert_uint_eq(h->version, BUNDLE_VERSION);
	ck_assert_uint_eq(h->variant.count, 2);
	ck_assert(v[0].nfeature == 2 && v[1].nfeature == 0);
	ck_assert_uint_eq(h->image.count, 2);
	ck_assert_uint_eq(h->entry.count, alone->entry.count);
	ck_assert_uint_eq(image[0].bytes, alone->code_bytes); /* no kernel uses the features */
	ck_assert_mem_eq(c->bundle + h->code_offset + image[0].offset, c->bundle + h->code_offset + image[1].offset,
		image[0].bytes);
	ck_assert_uint_eq(c->bundle_bytes, d->bundle_bytes);
	arena_free(a);
}
END_TEST

/* One program for all kernels, whose names differ; constants are packed by the host. */
START_TEST(a_bundle_for_a_device_has_one_program)
{
	Arena *a = arena_new();
	Target device = device_target();
	const Compiled *c = compile(a, &device);
	const BundleHeader *h = (const BundleHeader *)c->bundle;
	const BundleEntry *e = (const BundleEntry *)(const void *)(c->bundle + h->entry.offset);
	const char *text = (const char *)c->bundle + h->text.offset;
	ck_assert_uint_eq(h->device, DLC_DEVICE_OPENCL);
	ck_assert_uint_eq(h->arch, BUNDLE_ANY);
	ck_assert_uint_eq(h->image.count, 1);
	ck_assert_uint_ge(h->entry.count, (uint32_t)c->partition->ntask);
	for (uint32_t k = 0; k < h->entry.count; k++)
		for (uint32_t j = 0; j < k; j++)
			ck_assert_str_ne(text + e[k].name, text + e[j].name);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("families");
	tcase_add_test(tc, a_device_computes_what_the_cpu_computes);
	tcase_add_test(tc, a_bundle_for_a_device_is_made_again);
	tcase_add_test(tc, a_bundle_has_code_for_several_devices);
	tcase_add_test(tc, a_bundle_for_a_device_has_one_program);
	return run_code_suite("families", tc);
}
