/*
 * The interpreter of PTX: what instructions compute, and the mistakes of kernels that it finds.
 */
#include <stdint.h>
#include <string.h>

#include "suite.h"

#include "ptx.h"

enum { THREADS = 64, OUT = 4 * THREADS };

/* Runs a body over `out` and `in`, 64 threads in each of 2 blocks. */
static const char *run(const char *body, uint32_t *out, const uint32_t *in)
{
	static char text[8192], why[256];
	uint32_t grid[3] = { 2, 1, 1 }, block[3] = { THREADS, 1, 1 };
	void *at[2] = { out, (void *)(uintptr_t)in }, *argument[2] = { &at[0], &at[1] };
	snprintf(text, sizeof text,
		"//\n.version 7.8\n.target sm_80\n.address_size 64\n\n.visible .entry k(\n\t.param .u64 .ptr .global "
	    "k_param_0,\n"
		"\t.param .u64 k_param_1\n)\n.maxntid 64, 1, 1\n{\n\t.reg .pred %%p<9>;\n\t.reg .b32 %%r<99>;\n"
		"\t.shared .align 16 .b8 tile[4096];\n"
		"\tld.param.u64 %%rd1, [k_param_0];\n\tld.param.u64 %%rd2, [k_param_1]; // in\n"
		"\tmov.u32 %%r1, %%tid.x;\n\tmov.u32 %%r2, %%ctaid.x;\n\tmad.lo.s32 %%r3, %%r2, 64, %%r1;\n"
		"\tmul.wide.s32 %%rd3, %%r3, 4;\n\tadd.s64 %%rd4, %%rd1, %%rd3;\n\tadd.s64 %%rd5, %%rd2, %%rd3;\n"
		"\tld.global.nc.u32 %%r4, [%%rd5];\n%s\n\tst.global.u32 [%%rd4], %%r9;\n\tret;\n}\n",
		body);
	PtxKernel *k = ptx_read(text, "k");
	const char *e = ptx_run(k, argument, grid, block, 0);
	snprintf(why, sizeof why, "%s", e != NULL ? e : "");
	ptx_free(k);
	return why;
}

/* r9 of a thread whose r4 is `in`. */
static const struct Sum {
	const char *body;
	uint32_t in, out;
} computed[] = {
	{ "add.s32 %r9, %r4, -3;", 5, 2 },
	{ "mul.hi.s32 %r9, %r4, 1427821285;", 900, 299 },
	{ "mul.hi.u32 %r9, %r4, 4;", 0xc0000000, 3 },
	{ "shr.s32 %r9, %r4, 1;", 0x80000000, 0xc0000000 },
	{ "shr.u32 %r9, %r4, 33;", 0x80000000, 0 },
	{ "shl.b32 %r9, %r4, 4;", 0x12345678, 0x23456780 },
	{ "shf.l.wrap.b32 %r9, %r4, %r4, 8;", 0x12345678, 0x34567812 },
	{ "rem.s32 %r9, %r4, 7;", (uint32_t)-10, (uint32_t)-3 },
	{ "div.u32 %r9, %r4, 7;", 70, 10 },
	{ "min.s32 %r9, %r4, 1;", (uint32_t)-10, (uint32_t)-10 },
	{ "max.u32 %r9, %r4, 1;", (uint32_t)-10, (uint32_t)-10 },
	{ "setp.lt.s32 %p1, %r4, 0;\n\tselp.b32 %r9, 1, 2, %p1;", (uint32_t)-1, 1 },
	{ "setp.lt.u32 %p1, %r4, 5;\n\tselp.b32 %r9, 1, 2, %p1;", (uint32_t)-1, 2 },
	{ "setp.neu.f32 %p1, %r4, %r4;\n\tselp.b32 %r9, 1, 2, %p1;", 0x7fc00000, 1 },
	{ "setp.ne.f32 %p1, %r4, %r4;\n\tselp.b32 %r9, 1, 2, %p1;", 0x7fc00000, 2 },
	{ "fma.rn.f32 %r9, %r4, 0f40000000, 0f3F800000;", 0x40400000, 0x40e00000 }, /* 2 * 3 + 1 */
	{ "cvt.rn.f32.s32 %r9, %r4;", (uint32_t)-2, 0xc0000000 },
	{ "cvt.rzi.s32.f32 %r9, %r4;", 0xc0200000, (uint32_t)-2 }, /* of -2.5 */
	{ "cvt.rzi.s32.f32 %r9, %r4;", 0x7f800000, 0x7fffffff },
	{ "cvt.rn.f16.f32 %rs1, %r4;\n\tcvt.f32.f16 %r9, %rs1;", 0x3f801000, 0x3f800000 }, /* 1 + 2^-11, to even */
	{ "cvt.rna.tf32.f32 %r9, %r4;", 0x3f801000, 0x3f802000 }, /* 1 + 2^-11, away from 0 */
	{ "cvt.rna.tf32.f32 %r9, %r4;", 0xbf800fff, 0xbf800000 },
	{ "mov.b32 {%rs1, %rs2}, %r4;\n\tmov.b32 %r9, {%rs2, %rs1};", 0x12345678, 0x56781234 },
	{ "prmt.b32 %r9, %r4, 0, 0x0123;", 0x12345678, 0x78563412 },
	{ "@%p1 mov.u32 %r9, 7;\n\t@!%p1 mov.u32 %r9, %r4;", 3, 3 },
	{ "mov.u32 %r9, 0;\n$L:\n\tadd.s32 %r9, %r9, %r4;\n\tsetp.lt.s32 %p1, %r9, 30;\n\t@%p1 bra $L;", 11, 33 },
	{ "mov.u64 %rd6, tile;\n\tcvta.shared.u64 %rd7, %rd6;\n\tcvta.to.shared.u64 %rd8, %rd7;\n\tst.shared.u32 [%rd8+8], "
	  "%r4;\n\tld.u32 %r9, [%rd7+8];",
		3, 3 },
	{ "mov.u32 %r9, %ntid.x;", 0, 64 },
};

START_TEST(computes)
{
	uint32_t in[2 * THREADS], out[2 * THREADS] = { 0 };
	for (int k = 0; k < LEN(in); k++)
		in[k] = computed[_i].in;
	ck_assert_str_eq(run(computed[_i].body, out, in), "");
	for (int k = 0; k < LEN(out); k++)
		ck_assert_msg(out[k] == computed[_i].out, "%s: %08x of thread %d", computed[_i].body, (unsigned)out[k], k);
}
END_TEST

#define NEIGHBOUR /* r9 = the value of the thread 63 - tid of the block */ \
	"\tshl.b32 %r5, %r1, 2;\n\tsub.s32 %r6, 252, %r5;\n\tmov.u32 %r7, tile;\n\tadd.s32 %r5, %r7, %r5;\n" \
	"\tadd.s32 %r6, %r7, %r6;\n"

/* What threads do together. `at`: the thread whose value a thread ends with. */
START_TEST(together)
{
	static const struct {
		const char *body;
		int flip;
	} ROW[] = {
		{ NEIGHBOUR "\tst.shared.u32 [%r5], %r4;\n\tbar.sync 0;\n\tld.shared.u32 %r9, [%r6];", 63 },
		{ "shfl.sync.bfly.b32 %r9|%p1, %r4, 5, 31, -1;", 5 },
		{ NEIGHBOUR "\tcp.async.ca.shared.global [%r5], [%rd5], 4;\n\tcp.async.commit_group;\n"
					"\tcp.async.wait_group 0;\n\tbar.sync 0;\n\tld.shared.u32 %r9, [%r6];",
			63 },
	};
	uint32_t in[2 * THREADS], out[2 * THREADS] = { 0 };
	for (int k = 0; k < LEN(in); k++)
		in[k] = 100 + (uint32_t)k;
	ck_assert_str_eq(run(ROW[_i].body, out, in), "");
	for (int k = 0; k < LEN(out); k++)
		ck_assert_int_eq(out[k], in[k ^ ROW[_i].flip]);
}
END_TEST

/* A missing barrier, a group of copies that is not waited for: the value is not there. */
START_TEST(late)
{
	static const char *const ROW[] = { NEIGHBOUR "\tst.shared.u32 [%r5], %r4;\n\tld.shared.u32 %r9, [%r6];",
		NEIGHBOUR "\tcp.async.ca.shared.global [%r5], [%rd5], 4;\n\tcp.async.commit_group;\n\tcp.async.wait_group 1;\n"
				  "\tbar.sync 0;\n\tld.shared.u32 %r9, [%r6];" };
	uint32_t in[2 * THREADS] = { 0 }, out[2 * THREADS];
	int missing = 0;
	ck_assert_str_eq(run(ROW[_i], out, in), "");
	for (int k = 0; k < LEN(out); k++)
		missing += out[k] != 0;
	ck_assert_int_gt(missing, 0);
}
END_TEST

/* D = A B + C, of a warp: A is 16 x 16 and has 1 at (m, k), B is 16 x 8, its element (k, n) is k + n / 16. */
START_TEST(matrices)
{
	static const char *const BODY =
		"mov.u32 %r10, %laneid;\n\tand.b32 %r11, %r10, 3;\n\tshr.u32 %r12, %r10, 2;\n"
		/* B: halves of rows 2 l, 2 l + 1 and 2 l + 8, 2 l + 9, column l / 4; here k alone. */
		"\tshl.b32 %r13, %r11, 1;\n\tadd.s32 %r14, %r13, 1;\n\tadd.s32 %r15, %r13, 8;\n\tadd.s32 %r16, %r13, 9;\n"
		"\tcvt.rn.f16.s32 %rs1, %r13;\n\tcvt.rn.f16.s32 %rs2, %r14;\n\tcvt.rn.f16.s32 %rs3, %r15;\n"
		"\tcvt.rn.f16.s32 %rs4, %r16;\n\tmov.b32 %r20, {%rs1, %rs2};\n\tmov.b32 %r21, {%rs3, %rs4};\n"
		"\tmov.b32 %r22, 0x3c003c00;\n" /* A is all ones */
		"\tmov.f32 %f1, 0f3F800000;\n"
		"\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r22, %r22, %r22, %r22}, "
		"{%r20, %r21}, {%f1, %f1, %f1, %f1};\n\tcvt.rzi.s32.f32 %r9, %f7;";
	uint32_t in[2 * THREADS] = { 0 }, out[2 * THREADS];
	ck_assert_str_eq(run(BODY, out, in), "");
	for (int k = 0; k < LEN(out); k++)
		ck_assert_int_eq(out[k], 1 + 15 * 16 / 2);
}
END_TEST

/* Mistakes that end a kernel. */
START_TEST(refused)
{
	static const char *const ROW[][2] = {
		{ "frobnicate.b32 %r9, %r4;", "this instruction is not known: frobnicate.b32 %r9, %r4" },
		{ "bra $nowhere;", "there is no such label: $nowhere" },
		{ "add.s64 %rd5, %rd5, 2;\n\tld.global.u32 %r9, [%rd5];", "an address that is not aligned: ld.global.u32" },
		{ "mov.u32 %r5, 4096;\n\tld.shared.u32 %r9, [%r5];", "an address outside of its memory: ld.shared.u32" },
		{ "setp.lt.s32 %p1, %r1, 8;\n\t@%p1 ret;\n\tbar.sync 0;", "56 threads wait at a barrier and 8 have ended" },
		{ "setp.lt.s32 %p1, %r1, 8;\n\t@%p1 bra $A;\n\tbar.warp.sync -1;\n\tbra $B;\n$A:\n\tbar.warp.sync -1;\n$B:",
			"lanes of a warp wait at different instructions" },
	};
	uint32_t in[2 * THREADS] = { 0 }, out[2 * THREADS];
	const char *why = run(ROW[_i][0], out, in);
	ck_assert_msg(strstr(why, ROW[_i][1]) == why, "%s", why);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("ptx");
	tcase_add_loop_test(tc, computes, 0, LEN(computed));
	tcase_add_loop_test(tc, together, 0, 3);
	tcase_add_loop_test(tc, late, 0, 2);
	tcase_add_test(tc, matrices);
	tcase_add_loop_test(tc, refused, 0, 6);
	return run_suite("ptx", tc);
}
