/*
 * Tensors that are bound over each other or over the instance's own memory: results are those of tensors that lie
 * apart, but two outputs in one place are refused, and so is what a run's copies would overwrite.
 */
#include <string.h>

#include "suite.h"

#include "net.h"

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

static void bind_floats(Net *n, DlcRole role, int index, float *p)
{
	DlcError err = { 0 };
	DlcTensor t = tensor(p, (int64_t[]){ 1, N });
	ck_assert_msg(dlc_instance_bind(n->i, role, index, &t, &err) == DLC_OK, "%s", err.text);
}

/* An output over an input, whole or shifted, is what it would be elsewhere, and so is what reads the input later. */
START_TEST(overlaps)
{
	static const int AT[] = { 0, 16, -16, 5 }; /* floats behind the input; 5: unaligned too */
	static _Alignas(64) float memory[N + 32];
	float a[N], b[N], more[N], *in = memory + 16;
	Net n = net_open(build_add_more(N), THREADS[_i]);
	fill(b, N, 3);
	for (int k = 0; k <= LEN(AT); k++) { /* the last is the instance's own input */
		bool last = k == LEN(AT);
		float *out = last ? net_own(&n, DLC_INPUT, 1) : in + AT[k];
		bind_floats(&n, DLC_INPUT, 0, in);
		bind_floats(&n, DLC_OUTPUT, 0, out);
		for (int round = 0; round < 2; round++) {
			fill(a, N, (float)(k + round));
			memcpy(in, a, sizeof a);
			ck_assert(dlc_instance_write(n.i, DLC_INPUT, 1, b, sizeof b, NULL) == DLC_OK);
			net_run(&n);
			expect_sum(out, a, b);
			ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 1, more, sizeof more, NULL) == DLC_OK);
			for (int j = 0; j < N; j++)
				ck_assert_float_eq(more[j], a[j] + 1);
		}
	}
	net_close(&n);
}
END_TEST

/*
 * An input over memory that the instance computes an output in: what it has before the run is read. The output is
 * unbound (0), bound to unaligned memory (1), or over another input (2).
 */
START_TEST(inputs_over_own_outputs)
{
	static _Alignas(64) float memory[N + 1], b[N];
	float a[N], more[N];
	for (int way = 0; way < 3; way++) {
		Net n = net_open(build_add_more(N), THREADS[_i]);
		float *in = net_own(&n, DLC_OUTPUT, 0), *out = way == 0 ? in : way == 1 ? memory + 1 : b;
		bind_floats(&n, DLC_INPUT, 0, in);
		bind_floats(&n, DLC_INPUT, 1, b);
		if (way > 0)
			bind_floats(&n, DLC_OUTPUT, 0, out);
		for (int round = 0; round < 2; round++) {
			fill(a, N, (float)(way + round));
			memcpy(in, a, sizeof a);
			fill(b, N, 3);
			net_run(&n);
			fill(b, N, 3);
			ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 1, more, sizeof more, NULL) == DLC_OK);
			for (int j = 0; j < N; j++)
				ck_assert_float_eq(more[j], a[j] + 1);
			if (way < 2)
				expect_sum(out, a, b);
		}
		net_close(&n);
	}
}
END_TEST

/* The output over the first input's own memory leaves it for its own, over which the second input lies. */
START_TEST(overlaps_in_turn)
{
	float a[N], b[N], out[N];
	Net n = net_open(build_add_more(N), THREADS[_i]);
	float *mine[3] = { net_own(&n, DLC_INPUT, 0), net_own(&n, DLC_OUTPUT, 0), net_own(&n, DLC_OUTPUT, 1) };
	bind_floats(&n, DLC_INPUT, 0, mine[2]);
	bind_floats(&n, DLC_INPUT, 1, mine[1]);
	bind_floats(&n, DLC_OUTPUT, 0, mine[0]);
	fill(a, N, 5);
	fill(b, N, 70);
	memcpy(mine[2], a, sizeof a);
	memcpy(mine[1], b, sizeof b);
	net_run(&n);
	ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 0, out, sizeof out, NULL) == DLC_OK);
	expect_sum(out, a, b);
	net_close(&n);
}
END_TEST

/* What has no bytes may lie inside another tensor. */
START_TEST(empty_inside_another)
{
	static _Alignas(64) float memory[N], a[N], b[N];
	Build *build = build_add_more(N);
	uint32_t shape = build_const(build, 1);
	build_const(build, 0);
	build_tensor(build, "none", 1, 2, shape);
	Net n = net_open(build, 1);
	DlcTensor none = tensor(memory + 16, (int64_t[]){ 1, 0 });
	ck_assert_int_eq(dlc_instance_bind(n.i, DLC_OUTPUT, 2, &none, NULL), DLC_OK);
	fill(a, N, 1);
	fill(b, N, 9);
	bind_floats(&n, DLC_INPUT, 0, a);
	bind_floats(&n, DLC_INPUT, 1, b);
	bind_floats(&n, DLC_OUTPUT, 0, memory);
	net_run(&n);
	expect_sum(memory, a, b);
	net_close(&n);
}
END_TEST

START_TEST(outputs_overlap)
{
	static _Alignas(64) float memory[2 * N];
	DlcError err = { 0 };
	Net n = net_open(build_add_more(N), 1);
	bind_floats(&n, DLC_OUTPUT, 0, memory);
	bind_floats(&n, DLC_OUTPUT, 1, memory + N - 1);
	ck_assert_int_eq(dlc_instance_run(n.i, &err), DLC_BAD_ARGUMENT);
	ck_assert_str_eq(err.text, "outputs out and more overlap: bind memory of its own to each");
	bind_floats(&n, DLC_OUTPUT, 1, memory + N);
	net_run(&n);
	bind_floats(&n, DLC_OUTPUT, 0, net_own(&n, DLC_OUTPUT, 0));
	net_run(&n);
	bind_floats(&n, DLC_OUTPUT, 0, memory);
	ck_assert(dlc_instance_bind(n.i, DLC_OUTPUT, 1, NULL, NULL) == DLC_OK);
	bind_floats(&n, DLC_OUTPUT, 0, net_own(&n, DLC_OUTPUT, 1));
	ck_assert_int_eq(dlc_instance_run(n.i, &err), DLC_BAD_ARGUMENT);
	bind_floats(&n, DLC_OUTPUT, 1, memory + 1); /* unaligned: it is computed where output 0 lies */
	ck_assert_int_eq(dlc_instance_run(n.i, &err), DLC_BAD_ARGUMENT);
	bind_floats(&n, DLC_OUTPUT, 1, memory);
	net_run(&n);
	net_close(&n);
}
END_TEST

static void expect_refused(Net *n, const char *text)
{
	DlcError err = { 0 };
	ck_assert_int_eq(dlc_instance_run(n->i, &err), DLC_BAD_ARGUMENT);
	ck_assert_str_eq(err.text, text);
}

/* A run would overwrite an input that lies in the memory to which another input, or a part of itself, is copied. */
START_TEST(inputs_over_copies)
{
	static _Alignas(64) float memory[N + 1];
	float a[N];
	Net n = net_open(build_add_more(N), 1);
	float *mine[2] = { net_own(&n, DLC_INPUT, 0), net_own(&n, DLC_INPUT, 1) };
	for (int copied = 0; copied < 2; copied++) {
		bind_floats(&n, DLC_INPUT, copied, memory + 1); /* unaligned */
		bind_floats(&n, DLC_INPUT, !copied, mine[copied]);
		expect_refused(&n, copied == 0
			? "input b overlaps the instance's own memory of a, which each run uses for a copy: bind other memory to "
			  "b"
			: "input a overlaps the instance's own memory of b, which each run uses for a copy: bind other memory to "
			  "a");
	}
	bind_floats(&n, DLC_INPUT, 0, memory + 1);
	bind_floats(&n, DLC_INPUT, 1, memory + 1); /* both are only read */
	fill(memory, N + 1, 3);
	net_run(&n);
	expect_sum(net_own(&n, DLC_OUTPUT, 0), memory + 1, memory + 1);
	bind_floats(&n, DLC_INPUT, 0, mine[0] + 1);
	expect_refused(
		&n, "input a overlaps the instance's own memory of a, which each run uses for a copy: bind other memory to a");
	bind_floats(&n, DLC_INPUT, 0, mine[1]); /* b's own memory is used, but nothing is copied there */
	bind_floats(&n, DLC_INPUT, 1, mine[0]);
	fill(a, N, 40);
	memcpy(mine[1], a, sizeof a);
	fill(mine[0], N, 2);
	net_run(&n);
	expect_sum(net_own(&n, DLC_OUTPUT, 0), a, mine[0]);
	net_close(&n);
}
END_TEST

/* An output that is bound to the instance's own memory of it is there already, though an input lies there too. */
START_TEST(own_output)
{
	float a[N], b[N];
	Net n = net_open(build_add_more(N), 1);
	float *out = net_own(&n, DLC_OUTPUT, 0);
	bind_floats(&n, DLC_INPUT, 0, out);
	bind_floats(&n, DLC_OUTPUT, 0, out);
	fill(a, N, 7);
	fill(b, N, 1);
	memcpy(out, a, sizeof a);
	ck_assert(dlc_instance_write(n.i, DLC_INPUT, 1, b, sizeof b, NULL) == DLC_OK);
	net_run(&n);
	expect_sum(out, a, b);
	bind_floats(&n, DLC_OUTPUT, 0, out + 1);
	expect_refused(&n,
		"output out overlaps the instance's own memory of out, which each run uses for a copy: bind other memory to "
		"out");
	net_close(&n);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("overlaps");
	tcase_add_loop_test(tc, overlaps, 0, LEN(THREADS));
	tcase_add_loop_test(tc, inputs_over_own_outputs, 0, LEN(THREADS));
	tcase_add_loop_test(tc, overlaps_in_turn, 0, LEN(THREADS));
	tcase_add_test(tc, empty_inside_another);
	tcase_add_test(tc, outputs_overlap);
	tcase_add_test(tc, inputs_over_copies);
	tcase_add_test(tc, own_output);
	return run_suite("overlaps", tc);
}
