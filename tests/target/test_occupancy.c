/* Occupancy of units like those of V100, A100 and H100, as CUDA's occupancy calculator gives it. */
#include "suite.h"
#include "target/occupancy.h"

#define KB(n) ((int64_t)(n) << 10)

static Target unit(const char *level, int64_t unit_shared, int64_t block_shared)
{
	Arch arch;
	uint64_t features;
	ck_assert(level_find(level, &arch, &features));
	Target t = { .arch = arch, .features = features, .blocks = { .warp = 32,
					 .block_threads = 1024,
					 .unit_threads = 2048,
					 .unit_blocks = 32,
					 .unit_shared = unit_shared,
					 .unit_regs = 65536,
					 .thread_regs = 255 },
		.nscope = 1,
		.scope = { { "shared", block_shared } } };
	return t;
}

static const struct {
	int threads;
	int64_t shared;
	int regs, v100, h100;
} rows[] = {
	{ 256, 0, 32, 8, 8 },       /* all threads of the unit */
	{ 256, 0, 33, 6, 6 },       /* a register more: pieces of 8 a thread */
	{ 256, 0, 128, 2, 2 },
	{ 256, 0, 255, 1, 1 },
	{ 256, 0, 0, 8, 8 },        /* registers are not known */
	{ 32, 0, 16, 32, 32 },      /* blocks of the unit */
	{ 33, 0, 16, 32, 32 },
	{ 96, 0, 32, 21, 21 },
	{ 100, 0, 32, 16, 16 },     /* four warps */
	{ 1024, 0, 64, 1, 1 },
	{ 1024, 0, 100, 1, 1 },     /* more than 64 are spilled */
	{ 128, KB(16), 32, 6, 13 }, /* each block takes a KB more of the later one */
	{ 128, KB(24), 32, 4, 9 },
	{ 128, KB(48), 32, 2, 4 },
	{ 128, KB(96), 32, 1, 2 },
	{ 128, KB(97), 32, 0, 2 },  /* no launch has it */
	{ 128, KB(227), 32, 0, 1 },
	{ 128, KB(228), 32, 0, 0 },
	{ 1025, 0, 16, 0, 0 },
	{ 0, 0, 16, 0, 0 },
};

START_TEST(blocks_share_a_unit)
{
	Target v100 = unit("sm_70", KB(96), KB(96)), h100 = unit("sm_90", KB(228), KB(227));
	ck_assert_int_eq(
		target_resident_blocks(&v100, rows[_i].threads, rows[_i].shared, rows[_i].regs), rows[_i].v100);
	ck_assert_int_eq(
		target_resident_blocks(&h100, rows[_i].threads, rows[_i].shared, rows[_i].regs), rows[_i].h100);
}
END_TEST

START_TEST(threads_share_registers)
{
	Target t = unit("sm_70", KB(96), KB(96));
	static const struct {
		int threads, regs;
	} most[] = { { 1, 255 }, { 256, 255 }, { 257, 168 }, { 512, 128 }, { 768, 80 }, { 1024, 64 } };
	for (size_t i = 0; i < LEN(most); i++)
		ck_assert_int_eq(target_thread_regs(&t, most[i].threads), most[i].regs);
	t.blocks.unit_regs = 0;
	ck_assert_int_eq(target_thread_regs(&t, 1024), 255);
}
END_TEST

/* What is not known bounds nothing; a core runs one block at a time; a CPU runs none. */
START_TEST(unknown_limits_bound_nothing)
{
	Target t = { .blocks = { .warp = 32 } };
	ck_assert_int_gt(target_resident_blocks(&t, 1024, KB(1000), 255), 1);
	ck_assert_int_eq(target_thread_regs(&t, 1024), 0);
	t.blocks.warp = 1;
	t.blocks.unit_blocks = 8;
	ck_assert_int_eq(target_resident_blocks(&t, 64, 0, 0), 1);
	t.blocks.warp = 0;
	ck_assert_int_eq(target_resident_blocks(&t, 64, 0, 0), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("occupancy");
	tcase_add_loop_test(tc, blocks_share_a_unit, 0, LEN(rows));
	tcase_add_test(tc, threads_share_registers);
	tcase_add_test(tc, unknown_limits_bound_nothing);
	return run_suite("occupancy", tc);
}
