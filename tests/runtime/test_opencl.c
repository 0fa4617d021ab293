/*
 * The row of OpenCL alone, on the first device there is: memory, a program, a launch, and what failures are told as.
 * tests/codegen/device runs all operators on it.
 */
#include "suite.h"

#include "runtime/device.h"
#include "runtime/device_failure.h"
#include "runtime/opencl.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static int32_t no_launch(ClQueue q, ClKernel k, uint32_t rank, const size_t *from, const size_t *global,
	const size_t *local, uint32_t n, const ClEvent *before, ClEvent *out)
{
	(void)q, (void)k, (void)rank, (void)from, (void)global, (void)local, (void)n, (void)before, (void)out;
	return CL_OUT_OF_RESOURCES;
}

static int32_t no_end(ClQueue q)
{
	(void)q;
	return CL_OUT_OF_RESOURCES;
}

/* A launch that a driver has no registers for is one failed kernel; a queue that fails so has lost the device. */
START_TEST(out_of_resources)
{
	Opened o;
	DlcError why = { 0 };
	if (!begin(&o))
		return;
	const OpenclApi driver = cl;
	cl.clEnqueueNDRangeKernel = no_launch;
	int status = launch(&o, o.memory, FLOATS, 1);
	cl = driver;
	ck_assert_int_eq(device_failed(&device_opencl, o.c, o.s, status, "", &why), DLC_KERNEL);
	ck_assert_msg(strstr(why.text, "CL_OUT_OF_RESOURCES, a kernel failed") != NULL, "%s", why.text);
	ck_assert_int_eq(launch(&o, o.memory, FLOATS, 1), 0);
	ck_assert_int_eq(device_opencl.synchronize(o.s), 0);
	cl.clFinish = no_end;
	status = device_opencl.synchronize(o.s);
	cl = driver;
	ck_assert_int_eq(device_failed(&device_opencl, o.c, o.s, status, "", &why), DLC_LOST);
	end(&o);
}
END_TEST

/* The only file of a folder; false: there is another number of them. */
static bool only_file(const char *folder, char *out, size_t size)
{
	int n = 0;
	DIR *d = opendir(folder);
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
		if (e->d_name[0] != '.') {
			snprintf(out, size, "%s/%s", folder, e->d_name);
			n++;
		}
	closedir(d);
	return n == 1;
}

/* A killed process may have had this one's number: what it left does not stand in the way. */
START_TEST(programs_are_kept)
{
	char folder[] = "/tmp/dlc-opencl-XXXXXX", path[600], left[640];
	Opened o;
	DlcError why = { 0 };
	if (!begin(&o))
		return;
	o.c->is_cpu = false; /* nothing is kept for a CPU */
	ck_assert(mkdtemp(folder) != NULL && dlc_code_folder(folder) == DLC_OK);
	for (int round = 0; round < 2; round++) {
		void *code = device_opencl.code_load(o.c, source, sizeof source, false, &why);
		ck_assert_msg(code != NULL, "%s", why.text);
		device_opencl.code_release(o.c, source, code, sizeof source);
		if (round == 0) {
			ck_assert(only_file(folder, path, sizeof path));
			snprintf(left, sizeof left, "%s.%ld.new", path, (long)getpid());
			ck_assert_int_eq(rename(path, left), 0);
		}
	}
	ck_assert_int_eq(access(path, R_OK), 0);
	ck_assert_int_eq(unlink(left), 0);
	ck_assert(only_file(folder, left, sizeof left));
	unlink(path);
	rmdir(folder);
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
	tcase_add_test(tc, out_of_resources);
	tcase_add_test(tc, programs_are_kept);
	tcase_add_test(tc, source_that_is_none_is_refused);
	return run_suite("opencl", tc);
}
