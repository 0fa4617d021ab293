/*
 * The row of OpenCL alone, on the first device there is: memory, a program, a launch, and what failures are told as.
 * tests/codegen/device runs all operators on it.
 */
#include "suite.h"

#include "runtime/device.h"
#include "runtime/device_failure.h"

#include <string.h>

static const char source[] =
	"__kernel void dlc_twice(__global uchar *mem, ulong at, long n, __global uchar *work, ulong work_at)\n"
	"{ __global float *x = (__global float *)(mem + at); if (get_group_id(0) < n) x[get_group_id(0)] *= 2; }\n";

typedef struct Opened {
	DeviceContext *c;
	DeviceStream *s;
	void *code, *kernel, *memory;
} Opened;

enum { FLOATS = 64 };

static bool begin(Opened *o)
{
	DlcError why = { 0 };
	const Device *d = &device_opencl;
	if (d->open(0, &o->c, &why) != DLC_OK) {
		suite_skip_installable("OpenCL devices", why.text);
		return false;
	}
	o->s = d->stream_open(o->c);
	o->code = d->code_load(o->c, source, sizeof source, false, &why);
	ck_assert_msg(o->s != NULL && o->code != NULL, "%s", why.text);
	o->kernel = d->kernel(o->c, o->code, "twice", 0, &why);
	o->memory = d->alloc(o->c, FLOATS * sizeof(float));
	ck_assert(o->kernel != NULL && o->memory != NULL);
	return true;
}

static void end(Opened *o)
{
	device_opencl.release(o->c, o->memory, FLOATS * sizeof(float));
	device_opencl.code_release(o->c, source, o->code, sizeof source);
	device_opencl.stream_close(o->s);
	device_opencl.close(o->c);
}

static int launch(const Opened *o, void *memory, uint32_t blocks, uint32_t threads)
{
	const int64_t n = FLOATS;
	void *buf[1] = { memory };
	DlcCall call = { .buf = buf, .sym = &n };
	DeviceLaunch how = { .dim = { blocks, 1, 1, threads, 1, 1 }, .nbuf = 1, .nsym = 1 };
	return device_opencl.launch(o->s, o->kernel, &call, &how);
}

START_TEST(a_kernel_doubles)
{
	Opened o;
	float x[FLOATS];
	if (!begin(&o))
		return;
	for (int k = 0; k < FLOATS; k++)
		x[k] = (float)k;
	ck_assert_int_eq(device_opencl.copy(o.s, o.memory, x, sizeof x, DEVICE_UP), 0);
	ck_assert_int_eq(launch(&o, o.memory, FLOATS, 1), 0);
	ck_assert_int_eq(device_opencl.copy(o.s, x, o.memory, sizeof x, DEVICE_DOWN), 0);
	ck_assert_int_eq(device_opencl.synchronize(o.s), 0);
	for (int k = 0; k < FLOATS; k++)
		ck_assert_float_eq(x[k], 2.0f * (float)k);
	ck_assert_int_eq(device_opencl.lost(o.c), 0);
	end(&o);
}
END_TEST

/* Each is a sentence with the way out, and the device goes on. */
START_TEST(failures_are_told)
{
	Opened o;
	DlcError why = { 0 };
	float x[FLOATS] = { 0 };
	if (!begin(&o))
		return;
	int status = launch(&o, o.memory, 1, 1 << 24); /* threads of a block */
	ck_assert_int_ne(status, 0);
	ck_assert_int_eq(device_failed(&device_opencl, o.c, o.s, status, " in step 3 (add)", &why), DLC_KERNEL);
	ck_assert_msg(strstr(why.text, "failed in step 3 (add): CL_INVALID_WORK_") != NULL, "%s", why.text);
	ck_assert_msg(strstr(why.text, "more threads than the device runs") != NULL, "%s", why.text);
	status = device_opencl.copy(o.s, x, x, sizeof x, DEVICE_WITHIN); /* no memory of the device's */
	ck_assert_int_eq(device_failed(&device_opencl, o.c, o.s, status, "", &why), DLC_KERNEL);
	ck_assert_msg(
		strstr(why.text, "CL_INVALID_VALUE, a buffer lies outside of the device's memory") != NULL, "%s", why.text);
	ck_assert_int_eq(launch(&o, o.memory, FLOATS, 1), 0);
	ck_assert_int_eq(device_opencl.synchronize(o.s), 0);
	end(&o);
}
END_TEST

START_TEST(source_that_is_none_is_refused)
{
	static const char wrong[] = "__kernel void dlc_k(__global float *x) { x[0] = y; }";
	Opened o;
	DlcError why = { 0 };
	if (!begin(&o))
		return;
	ck_assert_ptr_null(device_opencl.code_load(o.c, wrong, sizeof wrong, false, &why));
	ck_assert_int_eq(why.status, DLC_BAD_TARGET);
	ck_assert_msg(strstr(why.text, "the OpenCL driver does not build the code: ") != NULL, "%s", why.text);
	ck_assert_ptr_null(device_opencl.kernel(o.c, o.code, "thrice", 0, NULL));
	end(&o);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("opencl");
	tcase_add_test(tc, a_kernel_doubles);
	tcase_add_test(tc, failures_are_told);
	tcase_add_test(tc, source_that_is_none_is_refused);
	return run_suite("opencl", tc);
}
