/*
 * The plan on a device that is not the host (far.h): what is bound and copied, conditions, launches, failures, and the
 * bundles that it refuses.
 */
#include <string.h>

#include "suite.h"

#include "far.h"
#include "kernels.h"
#include "net.h"
#include "runtime/cpu.h"
#include "runtime/instance.h"

/* Every kernel of the bundle with this launch; CPUs have offsets, devices names. */
static void set_launch(Build *b, DlcLaunch l)
{
	b->h.device = DLC_DEVICE_CUDA;
	b->h.arch = BUNDLE_ANY;
	b->image[0].bytes++; /* the 0 behind it */
	for (uint32_t k = 0; k < b->h.entry.count; k++) {
		b->launch[b->h.launch.count++] = l;
		if (b->entry[k].nsym == 0)
			for (int d = 0; d < DLC_LAUNCH_DIMS; d++)
				b->launch[k].dim[d].sym[0] = -1;
		b->entry[k].launch = b->h.launch.count;
		b->entry[k].offset = 0;
	}
}

/* ceil(sym[0] / 8) blocks of 4 threads, 16 bytes of shared memory. */
static DlcLaunch some_launch(void)
{
	DlcLaunch l;
	for (int k = 0; k < DLC_LAUNCH_DIMS; k++)
		l.dim[k] = (DlcDim){ { -1, -1 }, 0, 1, 1 };
	l.dim[DLC_GRID] = (DlcDim){ { 0, -1 }, 1, 8, 8 };
	l.dim[DLC_BLOCK].add = 4;
	l.dim[DLC_SHARED].add = 16;
	return l;
}

static DlcStatus open_far(Build *b, Net *n, DlcError *err)
{
	size_t size;
	*n = (Net){ .b = b, .bytes = build_finish(b, &size) };
	far_nlaunched = 0;
	DlcStatus s = model_open_on(&device_far, 0, n->bytes, size, &n->m, err);
	return s == DLC_OK ? dlc_instance_open(n->m, 0, &n->i, err) : s;
}

static void bind(Net *n, DlcRole role, int index, float *data, int64_t *shape)
{
	DlcError err = { 0 };
	DlcTensor t = tensor(data, shape);
	ck_assert_msg(dlc_instance_bind(n->i, role, index, &t, &err) == DLC_OK, "%s", err.text);
}

START_TEST(adds)
{
	static _Alignas(64) float a[N], b[N], out[N];
	int64_t shape[] = { 1, N };
	Net n;
	DlcError err = { 0 };
	Build *build = build_add(N);
	set_launch(build, some_launch());
	build->feature[build->h.feature.count++] = build_text(build, "far1");
	ck_assert_msg(open_far(build, &n, &err) == DLC_OK, "%s", err.text);
	bind(&n, DLC_INPUT, 0, a, shape);
	bind(&n, DLC_INPUT, 1, b, shape);
	bind(&n, DLC_OUTPUT, 0, out, shape);
	for (int round = 0; round < 3; round++) {
		uint64_t ns[2] = { 0 };
		for (int k = 0; k < N; k++) {
			a[k] = (float)(k + round);
			b[k] = 2 * (float)k;
			out[k] = -1;
		}
		ck_assert(dlc_instance_profile(n.i, ns, &err) == DLC_OK);
		for (int k = 0; k < N; k++)
			ck_assert_float_eq(out[k], a[k] + b[k] + 1);
		ck_assert(ns[0] == 20 && ns[1] == 20);
	}
	ck_assert(far_nlaunched == 6 && far_launched[0] == (N + 8) / 8 * 4 + 16000000);
	DlcTensor own;
	ck_assert(dlc_instance_tensor(n.i, DLC_INPUT, 1, &own, NULL) == DLC_OK);
	ck_assert(own.device.type == DLC_DEVICE_CPU && own.data == b);
	ck_assert(dlc_instance_bind(n.i, DLC_OUTPUT, 0, NULL, NULL) == DLC_OK &&
			  dlc_instance_tensor(n.i, DLC_OUTPUT, 0, &own, NULL) == DLC_OK);
	ck_assert(own.device.type == DLC_DEVICE_CUDA && ((uintptr_t)own.data & FAR) != 0);
	net_close(&n);
	ck_assert_int_eq(far_held, 0);
}
END_TEST

/*
 * Bound addresses of the device: an input lies where the other one, on the host, is copied to; an output lies in the
 * instance's own memory of it.
 */
START_TEST(bound_over_copies)
{
	static float host[N];
	int64_t shape[] = { 1, N };
	float a[N], out[N];
	Net n;
	DlcTensor t;
	DlcError err = { 0 };
	Build *build = build_add_more(N);
	set_launch(build, some_launch());
	ck_assert_msg(open_far(build, &n, &err) == DLC_OK, "%s", err.text);
	ck_assert(dlc_instance_tensor(n.i, DLC_INPUT, 0, &t, NULL) == DLC_OK);
	bind(&n, DLC_INPUT, 0, host, shape);
	ck_assert(dlc_instance_bind(n.i, DLC_INPUT, 1, &t, NULL) == DLC_OK);
	ck_assert(dlc_instance_run(n.i, &err) == DLC_BAD_ARGUMENT);
	ck_assert_str_eq(err.text,
		"input b overlaps the instance's own memory of a, which each run uses for a copy: bind other memory to b");
	bind(&n, DLC_INPUT, 1, host, shape);
	ck_assert(dlc_instance_tensor(n.i, DLC_OUTPUT, 0, &t, NULL) == DLC_OK);
	ck_assert(dlc_instance_bind(n.i, DLC_INPUT, 0, &t, NULL) == DLC_OK);
	ck_assert(dlc_instance_bind(n.i, DLC_OUTPUT, 0, &t, NULL) == DLC_OK);
	for (int k = 0; k < N; k++) {
		a[k] = (float)k;
		host[k] = 3 * (float)k;
	}
	ck_assert(dlc_instance_write(n.i, DLC_INPUT, 0, a, sizeof a, NULL) == DLC_OK);
	ck_assert_msg(dlc_instance_run(n.i, &err) == DLC_OK, "%s", err.text);
	ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 0, out, sizeof out, NULL) == DLC_OK);
	for (int k = 0; k < N; k++)
		ck_assert_float_eq(out[k], a[k] + host[k] + 1);
	net_close(&n);
	ck_assert_int_eq(far_held, 0);
}
END_TEST

/* A variant that needs the feature, with the test kernels as its image. */
static void add_variant(Build *b, const char *feature)
{
	b->variant[b->h.variant.count++] =
		(BundleVariant){ .name = build_text(b, feature), .feature = b->h.feature.count, .nfeature = 1 };
	b->feature[b->h.feature.count++] = build_text(b, feature);
	if (b->h.variant.count > 1)
		b->image[b->h.image.count++] = b->image[0];
}

/* far2 is no feature of the device, so the second variant is loaded, and nothing of the others. */
START_TEST(takes_the_first_variant_that_fits)
{
	Net n;
	DlcError err = { 0 };
	Build *build = build_add(N);
	set_launch(build, some_launch());
	add_variant(build, "far2");
	add_variant(build, "far1");
	add_variant(build, "far1");
	ck_assert_msg(open_far(build, &n, &err) == DLC_OK, "%s", err.text);
	ck_assert(n.m->code[0] == NULL && n.m->code[1] != NULL && n.m->code[2] == NULL);
	ck_assert_msg(dlc_instance_run(n.i, &err) == DLC_OK, "%s", err.text);
	net_close(&n);
	ck_assert_int_eq(far_held, 0);
}
END_TEST

/* Copies reach the device's own tensors, and the host memory that is bound instead of one. */
START_TEST(written_and_read)
{
	static _Alignas(64) float bound[N];
	float a[N], b[N], out[N];
	int64_t shape[] = { 1, N };
	Net n;
	DlcError err = { 0 };
	Build *build = build_add(N);
	set_launch(build, some_launch());
	ck_assert_msg(open_far(build, &n, &err) == DLC_OK, "%s", err.text);
	for (int round = 0; round < 2; round++) {
		if (round == 1)
			bind(&n, DLC_INPUT, 1, bound, shape);
		for (int k = 0; k < N; k++) {
			a[k] = (float)(k + round);
			b[k] = 3 * (float)k;
			out[k] = -1;
		}
		ck_assert(dlc_instance_write(n.i, DLC_INPUT, 0, a, sizeof a, &err) == DLC_OK);
		ck_assert(dlc_instance_write(n.i, DLC_INPUT, 1, b, sizeof b, &err) == DLC_OK);
		ck_assert(dlc_instance_write(n.i, DLC_OUTPUT, 0, out, sizeof out, &err) == DLC_OK);
		memset(out, 0, sizeof out);
		ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 0, out, sizeof out, &err) == DLC_OK && out[N - 1] == -1);
		ck_assert(round == 0 || memcmp(bound, b, sizeof b) == 0);
		net_run(&n);
		ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 0, out, sizeof out, &err) == DLC_OK);
		for (int k = 0; k < N; k++)
			ck_assert_float_eq(out[k], a[k] + b[k] + 1);
	}
	ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 0, out, sizeof out - 1, &err) == DLC_BAD_ARGUMENT);
	far_fail(n.i->stream, 9);
	ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 0, out, sizeof out, &err) == DLC_KERNEL);
	ck_assert_msg(strstr(err.text, "the far failed with status 9") != NULL, "%s", err.text);
	net_close(&n);
	ck_assert_int_eq(far_held, 0);
}
END_TEST

/* A tensor of the opened device is used in place; one of another device is refused, and the binding before stays. */
START_TEST(binds_device_memory)
{
	float a[N], b[N], out[N];
	int64_t shape[] = { 1, N }, gaps[] = { 2 * N, 2 };
	Net n;
	DlcTensor t;
	DlcError err = { 0 };
	Build *build = build_add(N);
	set_launch(build, some_launch());
	ck_assert_msg(open_far(build, &n, &err) == DLC_OK, "%s", err.text);
	ck_assert(dlc_instance_tensor(n.i, DLC_INPUT, 1, &t, NULL) == DLC_OK);
	ck_assert(t.device.type == DLC_DEVICE_CUDA && t.device.id == 0);
	ck_assert(dlc_instance_bind(n.i, DLC_INPUT, 0, &t, NULL) == DLC_OK); /* both inputs are one */
	DlcTensor other = t, host = tensor(a, shape);
	other.device.id = 1;
	ck_assert(dlc_instance_bind(n.i, DLC_INPUT, 0, &other, &err) == DLC_BAD_ARGUMENT);
	ck_assert_msg(strstr(err.text, "a: the tensor lies on device 1 of type 2, the model runs on the far, device 0 of "
								   "type 2: copy the tensor there or to the host") != NULL,
		"%s", err.text);
	host.strides = gaps;
	ck_assert(dlc_instance_bind(n.i, DLC_INPUT, 0, &host, &err) == DLC_BAD_ARGUMENT);
	for (int k = 0; k < N; k++) {
		a[k] = -1;
		b[k] = (float)k;
	}
	ck_assert(dlc_instance_write(n.i, DLC_INPUT, 1, b, sizeof b, &err) == DLC_OK);
	ck_assert(dlc_instance_read(n.i, DLC_INPUT, 0, a, sizeof a, &err) == DLC_OK);
	ck_assert_mem_eq(a, b, sizeof a);
	net_run(&n);
	ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 0, out, sizeof out, &err) == DLC_OK);
	for (int k = 0; k < N; k++)
		ck_assert_float_eq(out[k], 2 * b[k] + 1);
	net_close(&n);
	ck_assert_int_eq(far_held, 0);
}
END_TEST

START_TEST(adds_without_constants)
{
	static _Alignas(64) float a[N], b[N], out[N];
	int64_t shape[] = { 1, N };
	Net n;
	DlcError err = { 0 };
	Build *build = build_add(N);
	set_launch(build, some_launch());
	build->h.const_bytes = 0;
	for (uint32_t k = 0; k < build->h.slot.count; k++)
		if (build->slot[k].kind == BUNDLE_CONST)
			build->slot[k].kind = BUNDLE_WORK; /* out = (a + b) + (a + b) */
	ck_assert_msg(open_far(build, &n, &err) == DLC_OK, "%s", err.text);
	for (int k = 0; k < N; k++) {
		a[k] = (float)k;
		b[k] = 1;
	}
	bind(&n, DLC_INPUT, 0, a, shape);
	bind(&n, DLC_INPUT, 1, b, shape);
	bind(&n, DLC_OUTPUT, 0, out, shape);
	net_run(&n);
	for (int k = 0; k < N; k++)
		ck_assert_float_eq(out[k], 2 * (a[k] + b[k]));
	net_close(&n);
	ck_assert_int_eq(far_held, 0);
}
END_TEST

/* A loop that ends when a kernel has cleared its flag, which lies on the device; then an if. */
START_TEST(conditions)
{
	Build *b = build_add(N);
	int32_t count[16] = { 0 };
	uint32_t i = build_sym(b, "i", BUNDLE_SYM_LOOP, 0, 8, 0);
	b->h.state_bytes = 64;
	uint32_t flag = build_slot(b, BUNDLE_STATE, 0, 0, 64), to = build_slot(b, BUNDLE_OUTPUT, 0, 0, 64);
	build_call(b, KERNEL_step, &flag, (int64_t[]){ 1 });
	BundleOp *loop = build_op(b, BUNDLE_LOOP, "while");
	loop->sym = i;
	loop->body = 1;
	build_arg(b, loop, flag);
	build_const(b, 0);
	build_const(b, 8);
	loop->ndim = 2;
	BundleOp *step = build_op(b, BUNDLE_CALL, "step"); /* clears the flag when i has come to 3 */
	step->entry = KERNEL_step;
	build_arg(b, step, flag);
	build_dim(b, (int)i, 0, 1, 1);
	step->ndim = 1;
	BundleOp *branch = build_op(b, BUNDLE_IF, "if");
	build_arg(b, branch, flag);
	branch->body = 1;
	build_call(b, KERNEL_step, &flag, (int64_t[]){ 0 });
	BundleOp *copy = build_op(b, BUNDLE_COPY, "copy");
	build_arg(b, copy, to);
	build_arg(b, copy, flag);
	build_const(b, 64);
	copy->ndim = 1;
	set_launch(b, some_launch());
	static _Alignas(64) float out[N];
	int64_t shape[] = { 1, N };
	Net n;
	DlcError err = { 0 };
	ck_assert_msg(open_far(b, &n, &err) == DLC_OK, "%s", err.text);
	bind(&n, DLC_OUTPUT, 0, out, shape);
	net_run(&n);
	memcpy(count, out, sizeof count);
	ck_assert_int_eq(count[1], 1 + 8 + 1); /* before the loop, in it, in the branch */
	ck_assert_int_eq(((unsigned char *)count)[0], 0);
	net_close(&n);
	ck_assert_int_eq(far_held, 0);
}
END_TEST

/* A kernel's failure shows when the stream is waited for. */
START_TEST(failures)
{
	Build *b = build_add(N);
	build_call(b, KERNEL_refuse, NULL, (int64_t[]){ 7 });
	set_launch(b, some_launch());
	Net n;
	DlcError err = { 0 };
	ck_assert_msg(open_far(b, &n, &err) == DLC_OK, "%s", err.text);
	ck_assert_int_eq(dlc_instance_run(n.i, &err), DLC_KERNEL);
	ck_assert_msg(strstr(err.text, "the far failed with status 7") != NULL, "%s", err.text);
	net_close(&n);
}
END_TEST

/* Any CPU may host a device's bundle, or one architecture alone; see other_arch and any_cpu below. */
START_TEST(architectures)
{
	const uint32_t arch[] = { BUNDLE_ANY, cpu_arch() };
	Net n;
	DlcError err = { 0 };
	Build *b = build_add(N);
	set_launch(b, some_launch());
	b->h.arch = arch[_i];
	ck_assert_msg(open_far(b, &n, &err) == DLC_OK, "%s", err.text);
	net_run(&n);
	net_close(&n);
	ck_assert_int_eq(far_held, 0);
}
END_TEST

static void other_arch(Build *b)
{
	b->h.arch = cpu_arch() == BUNDLE_X86_64 ? BUNDLE_AARCH64 : BUNDLE_X86_64;
}
static void any_cpu(Build *b)
{
	b->h.device = DLC_DEVICE_CPU; /* whose code is of one architecture */
}
static void no_row(Build *b)
{
	b->h.device = DLC_DEVICE_METAL;
}
static void no_feature(Build *b)
{
	b->feature[b->h.feature.count++] = build_text(b, "far2");
}
static void no_variant(Build *b)
{
	add_variant(b, "far3");
	add_variant(b, "far2");
}
static void variant_images(Build *b)
{
	add_variant(b, "far1");
	add_variant(b, "far1");
	b->h.image.count++;
	b->image[2] = b->image[0];
}
static void variant_features(Build *b)
{
	add_variant(b, "far1");
	b->variant[0].nfeature = 2;
}
static void variant_image(Build *b)
{
	add_variant(b, "far1");
	add_variant(b, "far1");
	b->entry[2].image = 1;
}
static void no_kernel(Build *b)
{
	b->entry[2].name = build_text(b, "nosuch");
}
static void no_end(Build *b)
{
	do
		b->image[0].bytes--;
	while (test_image()->bytes[b->image[0].bytes - 1] == 0);
}
static void no_launch(Build *b)
{
	b->entry[2].launch = 0;
}
static void launch_outside(Build *b)
{
	b->entry[2].launch = b->h.launch.count + 1;
}
static void launch_symbol(Build *b)
{
	b->launch[0].dim[DLC_BLOCK].sym[1] = 1; /* add has one */
}
static void launch_row(Build *b)
{
	b->launch[b->h.launch.count++].dim[DLC_GRID].div = 0;
}
static void launch_empty(Build *b)
{
	b->launch[0].dim[DLC_GRID].add = -N;
}
static void launch_huge(Build *b)
{
	b->launch[0].dim[DLC_GRID].mul = INT64_C(1) << 40;
}

static const struct Refusal {
	void (*change)(Build *b);
	DlcStatus status;
	const char *says;
} refused[] = {
	{ other_arch, DLC_BAD_TARGET, "the bundle is for " },
	{ any_cpu, DLC_BAD_TARGET, "the bundle is for an unknown architecture" },
	{ no_row, DLC_BAD_TARGET, "for Metal, which this runtime cannot use" },
	{ no_feature, DLC_BAD_TARGET, "needs far2, which this device does not have" },
	{ no_variant, DLC_BAD_TARGET, "needs far2, which this device does not have" },
	{ variant_images, DLC_BAD_FILE, "variants differ in their images" },
	{ variant_features, DLC_BAD_FILE, "a name lies outside" },
	{ variant_image, DLC_BAD_FILE, "kernel lies outside" },
	{ no_kernel, DLC_BAD_FILE, "has no kernel nosuch" },
	{ no_end, DLC_BAD_FILE, "does not end with a 0" },
	{ no_launch, DLC_BAD_FILE, "launch does not fit" },
	{ launch_outside, DLC_BAD_FILE, "launch does not fit" },
	{ launch_symbol, DLC_BAD_FILE, "launch does not fit" },
	{ launch_row, DLC_BAD_FILE, "a launch is impossible" },
	{ launch_empty, DLC_BAD_FILE, "step of its plan" },
	{ launch_huge, DLC_BAD_FILE, "step of its plan" },
};

START_TEST(refusals)
{
	const struct Refusal *r = &refused[_i];
	Build *b = build_add(N);
	Net n;
	DlcError err = { 0 };
	set_launch(b, some_launch());
	r->change(b);
	DlcStatus s = open_far(b, &n, &err);
	ck_assert_msg(s == r->status && strstr(err.text, r->says) != NULL, "status %d: %s", (int)s, err.text);
	ck_assert(n.m == NULL);
	ck_assert_int_eq(far_held, 0);
	net_close(&n);
}
END_TEST

/* One number of a driver's, and which devices there are. */
START_TEST(devices)
{
	DlcError err = { 0 };
	DeviceFacts f = { .n = 0 };
	DlcModel *m;
	size_t size;
	Build *b = build_add(N);
	b->h.device = DLC_DEVICE_CPU;
	void *bytes = build_finish(b, &size);
	ck_assert(dlc_model_open_memory_on(1, bytes, size, &m, &err) == DLC_SYSTEM && m == NULL);
	ck_assert_str_eq(err.text, "there is no CPU 1: this machine is one device, 0");
	free(bytes);
	free(b);
	ck_assert_int_eq(device_cpu.count(&err), 1);
	for (int k = 0; k < DEVICE_NUMBERS + 2; k++)
		device_number(&f, "cores", k - 1);
	ck_assert(f.n == DEVICE_NUMBERS && f.number[0].value == 1);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("device");
	tcase_add_test(tc, adds);
	tcase_add_test(tc, bound_over_copies);
	tcase_add_test(tc, takes_the_first_variant_that_fits);
	tcase_add_test(tc, written_and_read);
	tcase_add_test(tc, binds_device_memory);
	tcase_add_test(tc, adds_without_constants);
	tcase_add_test(tc, conditions);
	tcase_add_test(tc, failures);
	tcase_add_loop_test(tc, architectures, 0, 2);
	tcase_add_loop_test(tc, refusals, 0, LEN(refused));
	tcase_add_test(tc, devices);
	return run_suite("device", tc);
}
