/*
 * Running: what is bound and what is copied, symbols, loops and ifs, state, threads and barriers,
 * failures of kernels, several instances at once.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"

#include "kernels.h"
#include "net.h"
#include "runtime/cpu.h"
#include "runtime/team.h"

static void fill(float *p, int n, float from)
{
	for (int i = 0; i < n; i++)
		p[i] = from + (float)i;
}

static void expect_sum(const float *out, const float *a, const float *b)
{
	for (int i = 0; i < N; i++)
		ck_assert_float_eq(out[i], a[i] + b[i] + 1);
}

static const int THREADS[] = { 1, 2, 3, 8 };

START_TEST(own_buffers)
{
	Net n = net_open(build_add(N), THREADS[_i]);
	float *a = net_own(&n, DLC_INPUT, 0), *b = net_own(&n, DLC_INPUT, 1), *out = net_own(&n, DLC_OUTPUT, 0);
	for (int round = 0; round < 50; round++) {
		fill(a, N, (float)round);
		fill(b, N, 7);
		memset(out, 0xff, N * sizeof *out);
		net_run(&n);
		expect_sum(out, a, b);
	}
	net_close(&n);
}
END_TEST

/* Host memory goes into the instance's own tensors and out of them, and into bound ones. */
START_TEST(written_and_read)
{
	static _Alignas(64) float bound[N + 1];
	int64_t shape[] = { 1, N };
	float a[N], b[N], out[N], back[N];
	Net n = net_open(build_add(N), THREADS[_i]);
	for (int shift = -1; shift < 2; shift++) { /* -1: nothing is bound; 1: unaligned */
		float *memory = bound + (shift > 0);
		DlcTensor t = tensor(memory, shape);
		if (shift >= 0)
			ck_assert_int_eq(dlc_instance_bind(n.i, DLC_INPUT, 0, &t, NULL), DLC_OK);
		fill(a, N, (float)shift);
		fill(b, N, 7);
		ck_assert_int_eq(dlc_instance_write(n.i, DLC_INPUT, 0, a, sizeof a, NULL), DLC_OK);
		ck_assert_int_eq(dlc_instance_write(n.i, DLC_INPUT, 1, b, sizeof b, NULL), DLC_OK);
		memset(out, 0xff, sizeof out);
		ck_assert_int_eq(dlc_instance_write(n.i, DLC_OUTPUT, 0, out, sizeof out, NULL), DLC_OK);
		ck_assert_int_eq(dlc_instance_read(n.i, DLC_OUTPUT, 0, back, sizeof back, NULL), DLC_OK);
		ck_assert_mem_eq(back, out, sizeof out);
		net_run(&n);
		ck_assert_int_eq(dlc_instance_read(n.i, DLC_OUTPUT, 0, out, sizeof out, NULL), DLC_OK);
		expect_sum(out, a, b);
		ck_assert_int_eq(dlc_instance_read(n.i, DLC_INPUT, 0, back, sizeof back, NULL), DLC_OK);
		ck_assert_mem_eq(back, a, sizeof a);
		ck_assert(shift < 0 || memcmp(memory, a, sizeof a) == 0);
	}
	net_close(&n);
}
END_TEST

START_TEST(refused_copies)
{
	static float data[N];
	Net n = net_open(build_add(N), 1);
	const struct {
		DlcRole role;
		int index;
		void *data;
		size_t bytes;
		const char *says;
	} row[] = {
		{ DLC_INPUT, 0, data, sizeof data - 4, "input a is f32[1,100] and has 400 bytes, the caller's data has 396" },
		{ DLC_INPUT, 1, data, sizeof data + 4, "input b is f32[1,100] and has 400 bytes, the caller's data has 404" },
		{ DLC_OUTPUT, 0, data, 0, "output out is f32[1,100] and has 400 bytes, the caller's data has 0" },
		{ DLC_OUTPUT, 0, data, SIZE_MAX, "output out is" },
		{ DLC_OUTPUT, 0, NULL, sizeof data, "output out: the caller's data is NULL" },
		{ DLC_INPUT, 2, data, sizeof data, "no input 2" },
		{ DLC_OUTPUT, -1, data, sizeof data, "no output -1" },
	};
	for (int k = 0; k < LEN(row); k++) {
		DlcError err[2] = { { 0 } };
		DlcStatus s[2] = { dlc_instance_write(n.i, row[k].role, row[k].index, row[k].data, row[k].bytes, &err[0]),
			dlc_instance_read(n.i, row[k].role, row[k].index, row[k].data, row[k].bytes, &err[1]) };
		for (int way = 0; way < 2; way++) {
			ck_assert_int_eq(s[way], DLC_BAD_ARGUMENT);
			ck_assert_msg(strstr(err[way].text, row[k].says) != NULL, "row %d: %s", k, err[way].text);
		}
	}
	net_close(&n);
}
END_TEST

START_TEST(bound_buffers)
{
	static _Alignas(64) float memory[3][N + 16];
	int64_t shape[] = { 1, N }, strides[] = { 77, 1 }; /* an extent of 1 may have any stride */
	Net n = net_open(build_add(N), 1);
	for (int shift = 0; shift < 2; shift++) { /* 1: unaligned, copied at every run */
		float *a = memory[0] + shift, *b = memory[1] + shift, *out = memory[2] + shift;
		DlcTensor t[3] = { tensor(a, shape), tensor(b, shape), tensor(out, shape) };
		t[0].strides = strides;
		t[1].data = memory[1];
		t[1].byte_offset = (uint64_t)shift * sizeof(float);
		ck_assert_int_eq(dlc_instance_bind(n.i, DLC_INPUT, 0, &t[0], NULL), DLC_OK);
		ck_assert_int_eq(dlc_instance_bind(n.i, DLC_INPUT, 1, &t[1], NULL), DLC_OK);
		ck_assert_int_eq(dlc_instance_bind(n.i, DLC_OUTPUT, 0, &t[2], NULL), DLC_OK);
		for (int round = 0; round < 3; round++) {
			fill(a, N, (float)round);
			fill(b, N, -3);
			memset(memory[2], 0xff, sizeof memory[2]);
			net_run(&n);
			expect_sum(out, a, b);
			ck_assert_ptr_eq(net_own(&n, DLC_OUTPUT, 0), out);
		}
	}
	ck_assert_int_eq(dlc_instance_bind(n.i, DLC_OUTPUT, 0, NULL, NULL), DLC_OK);
	ck_assert_ptr_ne(net_own(&n, DLC_OUTPUT, 0), memory[2] + 1);
	net_run(&n);
	expect_sum(net_own(&n, DLC_OUTPUT, 0), memory[0] + 1, memory[1] + 1);
	net_close(&n);
}
END_TEST

/* Strides of no elements mean nothing: NumPy and PyTorch count the dimension of 0 as 1. */
START_TEST(empty_tensors_are_compact)
{
	static _Alignas(64) float memory[1];
	int64_t shape[] = { 2, 0 }, strides[] = { 1, 1 };
	Build *b = build_add(0);
	b->dim[0].add = 2;
	Net n = net_open(b, 1);
	for (int k = 0; k < 3; k++) {
		DlcError err = { 0 };
		DlcTensor t = tensor(k == 0 ? NULL : memory, shape);
		t.strides = strides;
		DlcStatus s = dlc_instance_bind(n.i, k < 2 ? DLC_INPUT : DLC_OUTPUT, k % 2, &t, &err);
		ck_assert_msg(s == DLC_OK, "%s", err.text);
	}
	net_run(&n);
	net_close(&n);
}
END_TEST

/* Everything that a bind can get wrong, and what is said; the binding before stays. */
START_TEST(refused_binds)
{
	static _Alignas(64) float memory[N];
	int64_t good[] = { 1, N }, bad[] = { 1, N + 1 }, gaps[] = { 2 * N, 2 };
	Net n = net_open(build_add(N), 1);
	DlcTensor ok = tensor(memory, good);
	fill(memory, N, 0);
	ck_assert_int_eq(dlc_instance_bind(n.i, DLC_INPUT, 0, &ok, NULL), DLC_OK);
	struct {
		DlcRole role;
		int index;
		DlcTensor t;
		const char *says;
	} row[] = {
		{ DLC_INPUT, 0, tensor(memory, bad), "input a is f32[1,100], it cannot be f32[1,101]" },
		{ DLC_OUTPUT, 0, tensor(memory, bad), "output out is f32[1,100]" },
		{ DLC_INPUT, 2, ok, "no input 2" },
		{ DLC_INPUT, -1, ok, "no input -1" },
		{ DLC_INPUT, 0, ok, "cannot be f64[1,100]" },
		{ DLC_INPUT, 0, ok, "cannot be f32[1]" },
		{ DLC_INPUT, 0, ok, "without gaps" },
		{ DLC_INPUT, 0, ok, "a: the tensor lies on device 3 of type 2, the model runs on the cpu, device 0 of type 1" },
		{ DLC_INPUT, 0, tensor(NULL, good), "no data" },
	};
	row[4].t.dtype.bits = 64;
	row[5].t.ndim = 1;
	row[6].t.strides = gaps;
	row[7].t.device = (DlcDevice){ 2, 3 };
	for (int k = 0; k < LEN(row); k++) {
		DlcError err = { 0 };
		DlcStatus s = dlc_instance_bind(n.i, row[k].role, row[k].index, &row[k].t, &err);
		ck_assert_int_eq(s, DLC_BAD_ARGUMENT);
		ck_assert_int_eq(err.status, DLC_BAD_ARGUMENT);
		ck_assert_msg(strstr(err.text, row[k].says) != NULL, "row %d: %s", k, err.text);
	}
	net_run(&n);
	expect_sum(net_own(&n, DLC_OUTPUT, 0), memory, net_own(&n, DLC_INPUT, 1));
	DlcInstance *more;
	ck_assert_int_eq(dlc_instance_open(n.m, -1, &more, NULL), DLC_BAD_ARGUMENT);
	ck_assert_int_eq(dlc_instance_open(n.m, 100000, &more, NULL), DLC_BAD_ARGUMENT);
	net_close(&n);
}
END_TEST

/* a[n], b[n] -> out[2n]: the sum, and behind it the sum again; n in 1..N. */
static Build *build_symbolic(void)
{
	Build *b = build_new();
	uint32_t n = build_sym(b, "n", BUNDLE_SYM_INPUT, 1, N, 0);
	uint32_t shape = build_dim(b, (int)n, 1, 0, 1);
	uint32_t twice = build_dim(b, (int)n, 2, 0, 1);
	uint32_t two = build_sym(b, "two_n", BUNDLE_SYM_DERIVED, 2, 2 * N, twice);
	uint32_t out_shape = build_dim(b, (int)two, 1, 0, 1);
	build_tensor(b, "a", 0, 1, shape);
	build_tensor(b, "b", 0, 1, shape);
	build_tensor(b, "out", 1, 1, out_shape);
	uint32_t a = build_slot(b, BUNDLE_INPUT, 0, 0, N * 4), c = build_slot(b, BUNDLE_INPUT, 1, 0, N * 4);
	uint32_t out = build_slot(b, BUNDLE_OUTPUT, 0, 0, 2 * N * 4);
	BundleOp *o = build_call(b, KERNEL_add, (uint32_t[]){ a, c, out }, (int64_t[]){ 0 });
	b->dim[o->dim] = b->dim[shape];
	return b;
}

START_TEST(symbols)
{
	static _Alignas(64) float a[N], c[N];
	Net n = net_open(build_symbolic(), 2);
	DlcTensor t;
	DlcError err = { 0 };
	ck_assert_int_eq(dlc_model_tensor(n.m, DLC_INPUT, 0, &t), DLC_OK);
	ck_assert_int_eq(t.shape[0], -1);
	ck_assert_int_eq(dlc_instance_tensor(n.i, DLC_INPUT, 0, &t, NULL), DLC_OK);
	ck_assert_int_eq(t.shape[0], N);
	for (int64_t len = 1; len <= N; len += 11) {
		DlcTensor in = tensor(a, &len);
		in.ndim = 1;
		ck_assert_int_eq(dlc_instance_bind(n.i, DLC_INPUT, 0, &in, NULL), DLC_OK);
		in.data = c;
		ck_assert_int_eq(dlc_instance_bind(n.i, DLC_INPUT, 1, &in, NULL), DLC_OK);
		fill(a, N, 1);
		fill(c, N, 2);
		memset(net_own(&n, DLC_OUTPUT, 0), 0xff, 2 * N * 4);
		net_run(&n);
		ck_assert_int_eq(dlc_instance_tensor(n.i, DLC_OUTPUT, 0, &t, NULL), DLC_OK);
		ck_assert_int_eq(t.shape[0], 2 * len);
		const float *out = t.data;
		for (int i = 0; i < len; i++)
			ck_assert_float_eq(out[i], a[i] + c[i]);
		ck_assert(out[len] != out[len]); /* still poison */
	}
	int64_t len = 5, zero = 0;
	DlcTensor in = tensor(a, &len);
	in.ndim = 1;
	ck_assert_int_eq(dlc_instance_bind(n.i, DLC_INPUT, 0, &in, NULL), DLC_OK);
	ck_assert_int_eq(dlc_instance_run(n.i, &err), DLC_BAD_ARGUMENT);
	ck_assert_msg(strstr(err.text, "another input makes n 5") != NULL, "%s", err.text);
	ck_assert_int_eq(dlc_instance_read(n.i, DLC_OUTPUT, 0, c, 10 * sizeof *c, &err), DLC_BAD_ARGUMENT);
	ck_assert_int_eq(dlc_instance_bind(n.i, DLC_INPUT, 1, NULL, NULL), DLC_OK);
	/* The bound input decides the size of the others. */
	float sum[10];
	fill(c, 5, 40);
	ck_assert_int_eq(dlc_instance_write(n.i, DLC_INPUT, 1, c, 5 * sizeof *c, &err), DLC_OK);
	ck_assert_int_eq(dlc_instance_write(n.i, DLC_INPUT, 1, c, 6 * sizeof *c, &err), DLC_BAD_ARGUMENT);
	net_run(&n);
	ck_assert_int_eq(dlc_instance_read(n.i, DLC_OUTPUT, 0, sum, sizeof sum, &err), DLC_OK);
	for (int i = 0; i < 5; i++)
		ck_assert_float_eq(sum[i], a[i] + c[i]);
	DlcTensor out = tensor(a, &len);
	out.ndim = 1;
	ck_assert_int_eq(dlc_instance_bind(n.i, DLC_OUTPUT, 0, &out, NULL), DLC_OK);
	ck_assert_int_eq(dlc_instance_run(n.i, &err), DLC_BAD_ARGUMENT);
	ck_assert_msg(strstr(err.text, "output out: dimension 0 is 5, the inputs make it 10") != NULL, "%s", err.text);
	in.shape = &zero;
	ck_assert_int_eq(dlc_instance_bind(n.i, DLC_INPUT, 0, &in, &err), DLC_BAD_ARGUMENT);
	net_close(&n);
}
END_TEST

/* for i in 2..6, for j in 0..3: row 3 i + 1 of state (64 bytes each) = i j + 2; copied to out. */
static Build *build_loops(void)
{
	Build *b = build_new();
	uint32_t i = build_sym(b, "i", BUNDLE_SYM_LOOP, 0, 5, 0), j = build_sym(b, "j", BUNDLE_SYM_LOOP, 0, 2, 0);
	uint32_t row = build_dim(b, (int)i, 3, 0, 1);
	uint32_t base = build_sym(b, "base", BUNDLE_SYM_DERIVED, 0, 15, row);
	uint32_t shape = build_const(b, 512);
	build_tensor(b, "out", 1, 1, shape);
	uint32_t out = build_slot(b, BUNDLE_OUTPUT, 0, 0, 2048);
	b->h.state_bytes = 2048;
	uint32_t all = build_slot(b, BUNDLE_STATE, 0, 0, 2048);
	uint32_t one = build_slot(b, BUNDLE_STATE, 0, 0, 64);
	b->slot[one].offset = build_dim(b, (int)base, 64, 64, 1);
	BundleOp *outer = build_op(b, BUNDLE_LOOP, "rows");
	outer->sym = i;
	outer->body = 3;
	build_const(b, 2);
	build_const(b, 6);
	outer->ndim = 2;
	BundleOp *inner = build_op(b, BUNDLE_LOOP, "columns");
	inner->sym = j;
	inner->body = 1;
	build_const(b, 0);
	build_const(b, 3);
	inner->ndim = 2;
	BundleOp *o = build_call(b, KERNEL_store, &one, (int64_t[]){ 0 });
	b->dim[o->dim] = (BundleDim){ { (int)i, (int)j }, 1, 2, 1 };
	o = build_call(b, KERNEL_nop, NULL, NULL);
	o = build_op(b, BUNDLE_COPY, "copy");
	build_arg(b, o, out);
	build_arg(b, o, all);
	build_const(b, 2048);
	o->ndim = 1;
	return b;
}

START_TEST(loops)
{
	Net n = net_open(build_loops(), THREADS[_i]);
	for (int round = 0; round < 20; round++) {
		net_run(&n);
		const int64_t *out = (const int64_t *)net_own(&n, DLC_OUTPUT, 0);
		for (int64_t k = 0; k < 256; k++) {
			int64_t i = (k - 8) / 24;
			bool written = k % 8 == 0 && (k - 8) % 24 == 0 && i >= 2 && i < 6;
			ck_assert_int_eq(out[k], written ? 2 * i + 2 : 0);
		}
	}
	net_close(&n);
}
END_TEST

/*
 * count, flag = 1; while flag, at most 9 times: { if flag { count, flag = goes_on } else { nop } };
 * flag and count live in state, and are copied out.
 */
static Build *build_while(int64_t goes_on)
{
	Build *b = build_new();
	uint32_t i = build_sym(b, "i", BUNDLE_SYM_LOOP, 0, 8, 0);
	uint32_t shape = build_const(b, 16);
	build_tensor(b, "out", 1, 1, shape);
	uint32_t out = build_slot(b, BUNDLE_OUTPUT, 0, 0, 64);
	b->h.state_bytes = 64;
	uint32_t flag = build_slot(b, BUNDLE_STATE, 0, 0, 64);
	build_call(b, KERNEL_step, &flag, (int64_t[]){ 1 });
	BundleOp *loop = build_op(b, BUNDLE_LOOP, "while");
	loop->sym = i;
	loop->body = 3;
	build_arg(b, loop, flag);
	build_const(b, 0);
	build_const(b, 9);
	loop->ndim = 2;
	BundleOp *branch = build_op(b, BUNDLE_IF, "if");
	build_arg(b, branch, flag);
	branch->body = 1;
	branch->other = 1;
	BundleOp *o = build_call(b, KERNEL_step, &flag, (int64_t[]){ goes_on });
	o = build_call(b, KERNEL_nop, NULL, NULL);
	o = build_op(b, BUNDLE_COPY, "copy");
	build_arg(b, o, out);
	build_arg(b, o, flag);
	build_const(b, 64);
	o->ndim = 1;
	return b;
}

START_TEST(conditions)
{
	for (int64_t goes_on = 0; goes_on < 2; goes_on++) {
		Net n = net_open(build_while(goes_on), THREADS[_i]);
		int count = 0;
		for (int round = 0; round < 10; round++) {
			net_run(&n);
			const int32_t *out = (const int32_t *)net_own(&n, DLC_OUTPUT, 0);
			count += 1 + (goes_on ? 9 : 1);
			ck_assert_int_eq(out[0] & 255, goes_on);
			ck_assert_int_eq(out[1], count);
		}
		net_close(&n);
	}
}
END_TEST

START_TEST(barriers)
{
	Build *b = build_new();
	uint32_t shape = build_const(b, 16);
	build_tensor(b, "in", 0, 1, shape);
	build_tensor(b, "out", 1, 1, shape);
	uint32_t slot[] = { build_slot(b, BUNDLE_INPUT, 0, 0, 64), build_slot(b, BUNDLE_OUTPUT, 0, 0, 64) };
	for (int k = 0; k < 20; k++)
		build_call(b, KERNEL_team, slot, NULL);
	Net n = net_open(b, THREADS[_i]);
	int64_t *in = (int64_t *)net_own(&n, DLC_INPUT, 0), *out = (int64_t *)net_own(&n, DLC_OUTPUT, 0);
	for (int round = 0; round < 50; round++) {
		int64_t sum = 0;
		for (int k = 0; k < THREADS[_i]; k++)
			sum += in[k] = round * 10 + k;
		net_run(&n);
		for (int k = 0; k < THREADS[_i]; k++)
			ck_assert_int_eq(out[k], sum);
	}
	net_close(&n);
}
END_TEST

/* A failure on one thread ends the run on all, and the next run is as good as any. */
START_TEST(failures)
{
	static const int64_t before[] = { 0, 1, 2, 5 };
	for (int row = 0; row < LEN(before); row++) {
		Build *b = build_new();
		for (int64_t k = 0; k < before[row]; k++)
			build_call(b, KERNEL_nop, NULL, NULL);
		build_call(b, KERNEL_refuse, NULL, (int64_t[]){ 42 });
		for (int k = 0; k < 4; k++)
			build_call(b, KERNEL_refuse, NULL, (int64_t[]){ 43 });
		Net n = net_open(b, THREADS[_i]);
		for (int round = 0; round < 20; round++) {
			DlcError err = { 0 };
			ck_assert_int_eq(dlc_instance_run(n.i, &err), DLC_KERNEL);
			char want[64];
			snprintf(want, sizeof want, "step %d (refuse) failed with status 42", (int)before[row]);
			ck_assert_str_eq(err.text, want);
		}
		net_close(&n);
	}
}
END_TEST

typedef struct Worker {
	const DlcModel *m;
	int seed, threads;
	bool good;
} Worker;

static void *run_many(void *arg)
{
	Worker *w = arg;
	DlcInstance *i;
	DlcTensor t[3];
	w->good = dlc_instance_open(w->m, w->threads, &i, NULL) == DLC_OK;
	for (int round = 0; round < 300 && w->good; round++) {
		dlc_instance_tensor(i, DLC_INPUT, 0, &t[0], NULL);
		dlc_instance_tensor(i, DLC_INPUT, 1, &t[1], NULL);
		dlc_instance_tensor(i, DLC_OUTPUT, 0, &t[2], NULL);
		float *a = t[0].data, *b = t[1].data, *out = t[2].data;
		fill(a, N, (float)(w->seed * round));
		fill(b, N, (float)w->seed);
		w->good = dlc_instance_run(i, NULL) == DLC_OK;
		for (int k = 0; k < N; k++)
			w->good &= out[k] == a[k] + b[k] + 1;
	}
	dlc_instance_close(i);
	return NULL;
}

START_TEST(many_instances)
{
	Net n = net_open(build_add(N), 1);
	pthread_t id[6];
	Worker w[LEN(id)];
	for (int k = 0; k < LEN(id); k++) {
		w[k] = (Worker){ n.m, k + 1, 1 + k % 3, false };
		ck_assert_int_eq(pthread_create(&id[k], NULL, run_many, &w[k]), 0);
	}
	for (int k = 0; k < LEN(id); k++) {
		pthread_join(id[k], NULL);
		ck_assert_msg(w[k].good, "instance %d", k);
	}
	net_close(&n);
}
END_TEST

START_TEST(too_large)
{
	Build *b = build_add(N);
	b->h.arena_bytes = (uint64_t)1 << 50;
	size_t size;
	unsigned char *bytes = build_finish(b, &size);
	DlcModel *m;
	DlcInstance *i;
	DlcError err = { 0 };
	ck_assert_int_eq(dlc_model_open_memory(bytes, size, &m, NULL), DLC_OK);
	ck_assert_int_eq(dlc_instance_open(m, 1, &i, &err), DLC_NO_MEMORY);
	ck_assert_msg(strstr(err.text, "1073741824 MiB") != NULL, "%s", err.text);
	ck_assert_ptr_null(i);
	dlc_model_close(m);
	free(bytes);
	free(b);
}
END_TEST

static void count_up(void *arg, int thread)
{
	Team *t = ((void **)arg)[0];
	int *counts = ((void **)arg)[1];
	for (int k = 0; k < 200; k++) {
		counts[thread]++;
		team_barrier(t);
		for (int other = 0; other < team_threads(t); other++)
			if (counts[other] != counts[thread])
				abort();
		team_barrier(t);
	}
}

/* More threads than CPUs, so that they sleep. */
START_TEST(crowded_team)
{
	enum { CROWD = 9 };
	int counts[CROWD] = { 0 };
	for (int threads = 1; threads <= CROWD; threads += 4) {
		Team *t = team_open(threads);
		ck_assert_ptr_nonnull(t);
		memset(counts, 0, sizeof counts);
		team_run(t, count_up, (void *[]){ t, counts });
		team_run(t, count_up, (void *[]){ t, counts });
		for (int k = 0; k < threads; k++)
			ck_assert_int_eq(counts[k], 400);
		team_close(t);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("instance");
	tcase_add_loop_test(tc, own_buffers, 0, LEN(THREADS));
	tcase_add_loop_test(tc, written_and_read, 0, LEN(THREADS));
	tcase_add_test(tc, refused_copies);
	tcase_add_test(tc, bound_buffers);
	tcase_add_test(tc, empty_tensors_are_compact);
	tcase_add_test(tc, refused_binds);
	tcase_add_test(tc, symbols);
	tcase_add_loop_test(tc, loops, 0, LEN(THREADS));
	tcase_add_loop_test(tc, conditions, 0, LEN(THREADS));
	tcase_add_loop_test(tc, barriers, 0, LEN(THREADS));
	tcase_add_loop_test(tc, failures, 0, LEN(THREADS));
	tcase_add_test(tc, many_instances);
	tcase_add_test(tc, too_large);
	tcase_add_test(tc, crowded_team);
	return run_suite("instance", tc);
}
