/* target/parse: the file form, each key at and over its bounds, and random damage. */
#include "base/rng.h"
#include "suite.h"
#include "target/target.h"

#include <stdio.h>
#include <string.h>

#define CPU "{\"kind\":\"cpu\","
#define GPU "{\"kind\":\"cuda\",\"model\":\"mine\",\"features\":[\"sm_75\"]"
#define V3 CPU "\"model\":\"x86-64-v3\""

static const struct {
	const char *text;
	const char *place, *says; /* NULL: accepted */
} texts[] = {
	{ V3 "}", NULL, NULL },
	{ CPU "\"model\":\"host\"}", NULL, NULL },
	{ CPU "\"model\":\"host\",\"cores\":3,\"cpus\":5,\"about\":\"mine\"}", NULL, NULL },
	{ CPU "\"model\":\"znver5\",\"features\":[\"x86-64-v4\",\"avxvnni\"]}", NULL, NULL },
	{ CPU "\"model\":\"my-own.cpu_2\",\"arch\":\"aarch64\",\"features\":[\"neon\"]}", NULL, NULL },
	{ V3 ",\"vector_bits\":128,\"fma_latency\":5,\"fma_rate\":1,\"memory_bytes\":1073741824,"
		 "\"cache\":[{\"bytes\":1}]}",
		NULL, NULL },
	/* What contract tests and fuzzers send. */
	{ "", "t", "is empty" },
	{ " ", "t:1", "not JSON" },
	{ "{", "t:1", "not JSON" },
	{ "[]", "t", "must be an object" },
	{ "[1]", "t", "must be an object" },
	{ "{}", "t", "lacks the key \"kind\"" },
	{ "{\"isa\":1e999}", "t:1", "not JSON: real number overflow" },
	{ "{\"isa\":1}", "t", "/isa is not a key that may stand here" },
	{ V3 ",\"core\":1}", "t", "/core is not a key that may stand here; did you mean \"cores\"?" },
	{ "{\"kind\":1}", "t", "/kind must be a text" },
	{ "{\"kind\":\"toaster\"}", "t", "/kind must be a kind of target such as \"cpu\", not \"toaster\"" },
	{ "{\"kind\":\"metal\",\"model\":\"m1\",\"arch\":\"aarch64\",\"features\":[]}", NULL, NULL },
	{ "{\"kind\":\"metal\",\"model\":\"sm_75\"}", "t", "/model is sm_75, whose architecture ptx is of kind cuda" },
	{ "{\"kind\":\"cpu:host\",\"model\":\"host\"}", "t", "/kind must be a kind of target such as" },
	{ GPU "}", NULL, NULL },
	{ GPU ",\"arch\":\"ptx\",\"warp\":32,\"launch_ns\":0,\"shared_bytes\":0,\"unit_shared_bytes\":1024}", NULL, NULL },
	{ GPU ",\"arch\":\"x86-64\"}", "t", "/arch is x86-64, but mine is ptx" },
	{ GPU ",\"fma_rate\":257}", "t", "/fma_rate must be a number in 0.1..256" },
	{ GPU ",\"warp\":0}", "t", "/warp must be an integer in 1..1024" },
	{ GPU ",\"shared_bytes\":-1}", "t", "/shared_bytes must be an integer in 0.." },
	{ GPU ",\"launch_ns\":0.5}", "t", "/launch_ns must be an integer in 0.." },
	{ GPU ",\"vector_bits\":256}", "t", "/vector_bits must be a power of two and at most 128" },
	{ "{\"kind\":\"cuda\",\"model\":\"sm_90\"}", NULL, NULL },
	{ "{\"kind\":\"cuda\",\"model\":\"mine\",\"features\":[\"sm_91\"]}", "t",
		"/features/0 is \"sm_91\", which is no feature of ptx that dlc knows; did you mean \"sm_90\"?" },
	{ "{\"kind\":\"cuda\",\"model\":\"pocl\",\"features\":[]}", "t",
		"/model is pocl, whose architecture opencl is of kind opencl, not cuda" },
	{ "{\"kind\":\"opencl\",\"model\":\"pocl\",\"features\":[\"fp64\"],\"vector_bits\":512}", NULL, NULL },
	{ "{\"kind\":\"opencl\",\"model\":\"host\"}", "t", "/model must not be \"host\" in a target of kind opencl" },
	{ CPU "\"model\":\"unknown\",\"arch\":\"ptx\",\"features\":[]}", "t", "/arch is \"ptx\"; dlc knows x86-64" },
	{ V3 ",\"warp\":1}", "t", "/warp is a key of devices, not of a cpu" },
	{ V3 ",\"shared_bytes\":1}", "t", "/shared_bytes is a key of devices, not of a cpu" },
	{ CPU "\"cores\":1}", "t", "lacks the key \"model\"" },
	{ CPU "\"model\":\"\"}", "t", "/model must be 1 to 31 of the characters" },
	{ CPU "\"model\":\"a/../b\"}", "t", "/model must be 1 to 31 of the characters" },
	{ CPU "\"model\":\"Znver5\"}", "t", "/model must be 1 to 31 of the characters" },
	{ CPU "\"model\":\"a123456789b123456789c123456789d123456789\"}", "t", "/model must be 1 to 31" },
	{ CPU "\"model\":\"unknown\"}", "t", "lacks the key \"arch\"" },
	{ CPU "\"model\":\"unknown\",\"arch\":\"vax\"}", "t", "/arch is \"vax\"; dlc knows x86-64 and aarch64" },
	{ CPU "\"model\":\"znver5\",\"arch\":\"aarch64\"}", "t", "/arch is aarch64, but znver5 is x86-64" },
	{ CPU "\"model\":\"unknown\",\"arch\":\"x86-64\"}", "t", "lacks the key \"features\"" },
	{ CPU "\"model\":\"znver5\"}", "t", "lacks the key \"features\"" },
	{ V3 ",\"features\":\"avx\"}", "t", "/features must be an array" },
	{ V3 ",\"features\":[1]}", "t", "/features/0 must be a text" },
	{ V3 ",\"features\":[\"sse3\",\"neon\"]}", "t", "/features/1 is \"neon\", which is no feature of x86-64" },
	{ V3 ",\"features\":[\"armv8-a\"]}", "t", "/features/0 is \"armv8-a\", which is no feature of x86-64" },
	{ V3 ",\"features\":[\"avx512vnn\"]}", "t",
		"/features/0 is \"avx512vnn\", which is no feature of x86-64 that dlc knows; did "
		"you mean \"avx512vnni\"?" },
	{ V3 ",\"features\":[\"x86-64-v3\",\"avx512vnni\"]}", "t", "/features has avx512vnni without avx512f" },
	{ V3 ",\"cores\":0}", "t", "/cores must be an integer in 1..4096" },
	{ V3 ",\"cores\":1.5}", "t", "/cores must be an integer in 1..4096" },
	{ V3 ",\"cores\":99999999999}", "t", "/cores must be an integer in 1..4096" },
	{ V3 ",\"cpus\":-1}", "t", "/cpus must be an integer" },
	{ V3 ",\"vector_bits\":512}", "t", "/vector_bits must be a power of two and at most 256" },
	{ V3 ",\"vector_bits\":96}", "t", "/vector_bits must be a power of two and" },
	{ V3 ",\"memory_bytes\":9223372036854775807}", "t", "/memory_bytes must be an integer" },
	{ V3 ",\"fma_rate\":17}", "t", "/fma_rate must be a number in 0.1..16" },
	{ V3 ",\"ghz\":2.5,\"loads\":0.5,\"l2_bytes_per_cycle\":20,\"memory_bytes_per_cycle\":1.25}", NULL, NULL },
	{ V3 ",\"ghz\":0}", "t", "/ghz must be a number in 0.01..20" },
	{ V3 ",\"loads\":\"2\"}", "t", "/loads must be a number in 0.1..16" },
	{ V3 ",\"cache\":{}}", "t", "/cache must be an array" },
	{ V3 ",\"cache\":[1]}", "t", "/cache/0 must be an object" },
	{ V3 ",\"cache\":[{\"bytes\":0}]}", "t", "/cache/0/bytes must be an integer in 1..1099511627776" },
	{ V3 ",\"cache\":[{\"bytes\":1},{\"bytes\":1099511627777}]}", "t", "/cache/1/bytes must be an integer" },
	{ V3 ",\"cache\":[{\"shared_by\":1}]}", "t", "/cache/0 lacks the key \"bytes\"" },
	{ V3 ",\"cache\":[{\"bytes\":1,\"shared_by\":0}]}", "t", "/cache/0/shared_by must be an integer" },
	{ V3 ",\"cache\":[{\"bytes\":1,\"ways\":8}]}", "t", "/cache/0/ways is not a key that may stand here" },
	{ V3 ",\"cache\":[{\"bytes\":1},{\"bytes\":1},{\"bytes\":1},{\"bytes\":1},{\"bytes\":1}]}", "t",
		"/cache has 5 levels; at most 4" },
};

START_TEST(target_files_are_taken_or_refused_with_a_path)
{
	Target t;
	Err e = { 0 };
	bool ok = target_parse(&t, "t", texts[_i].text, strlen(texts[_i].text), 1, &e);
	if (ok != (texts[_i].place == NULL))
		ck_abort_msg("%s: %s", texts[_i].text, ok ? "accepted" : e.text);
	if (ok)
		return;
	ck_assert_str_eq(e.place, texts[_i].place);
	if (strncmp(e.text, texts[_i].says, strlen(texts[_i].says)) != 0)
		ck_abort_msg("%s: %s", texts[_i].text, e.text);
	ck_assert_int_eq(err_exit_code(e.code), 1);
}
END_TEST

START_TEST(what_the_file_says_is_what_the_target_has)
{
	static const char text[] = CPU "\"model\":\"znver5\",\"features\":[\"x86-64-v4\"],\"vector_bits\":256,\"fma_"
								   "latency\":3,"
								   "\"fma_rate\":7,\"cores\":6,\"cpus\":12,\"memory_bytes\":4194304,"
								   "\"cache\":[{\"bytes\":1000,\"shared_by\":2},{\"bytes\":2000}]}";
	Target t;
	Err e = { 0 };
	ck_assert(target_parse(&t, "t", text, sizeof text - 1, 5, &e));
	ck_assert_str_eq(t.model, "znver5");
	ck_assert_int_eq(t.threads, 5);
	ck_assert_int_eq(t.vector_bits, 256);
	ck_assert_int_eq(t.vector_regs, 32);
	ck_assert(t.core.fma_latency == 3 && t.core.source[CORE_FMA_LATENCY] == CORE_FILE);
	ck_assert(t.core.fma_rate == 7);
	ck_assert_int_eq(t.cores, 6);
	ck_assert_int_eq(t.cpus, 12);
	ck_assert_int_eq(t.scope[0].bytes, 4194304);
	ck_assert_int_eq(t.cache[0].bytes, 1000);
	ck_assert_int_eq(t.cache[0].shared_by, 2);
	ck_assert_int_eq(t.cache[1].bytes, 2000);
	ck_assert_int_eq(t.cache[1].shared_by, 1);
	ck_assert_int_eq(t.cache[2].bytes, 0);
	ck_assert_int_eq(target_register_bits(&t), 512);
}
END_TEST

/* What the file does not say follows from what it says, its model's row, and the width of its vectors. */
START_TEST(figures_of_a_core_follow_from_each_other)
{
	static const char own[] = CPU "\"model\":\"mine\",\"arch\":\"aarch64\",\"features\":[\"neon\"],\"loads\":1}";
	static const char row[] = CPU "\"model\":\"znver5\",\"features\":[\"x86-64-v3\"],\"l2_bytes_per_cycle\":20}";
	Target t;
	Err e = { 0 };
	ck_assert(target_parse(&t, "t", own, sizeof own - 1, 1, &e));
	ck_assert(t.core.loads == 1 && t.core.source[CORE_LOADS] == CORE_FILE);
	ck_assert(t.core.level[0] == 16 && t.core.source[CORE_L1] == CORE_DEFAULT);
	ck_assert(t.core.level[0] > t.core.level[1] && t.core.level[1] > t.core.level[2] &&
			  t.core.level[2] > t.core.level[TARGET_CACHES]);
	ck_assert(target_parse(&t, "t", row, sizeof row - 1, 1, &e));
	ck_assert(t.core.decode == 8 && t.core.source[CORE_DECODE] == CORE_MODEL);
	ck_assert(t.core.level[1] == 20 && t.core.source[CORE_L2] == CORE_FILE);
}
END_TEST

/* Limits and figures of a device come from its row of unit.def; its figures follow the width of its vectors. */
START_TEST(a_device_has_blocks)
{
	static const char gpu[] = GPU ",\"cores\":40,\"unit_blocks\":8,\"shared_bytes\":65536}",
					  cl[] = "{\"kind\":\"opencl\",\"model\":\"generic\",\"vector_bits\":64}";
	Target t;
	Err e = { 0 };
	ck_assert(target_parse(&t, "t", gpu, sizeof gpu - 1, 7, &e));
	ck_assert(target_has_blocks(&t) && t.threads == 1 && t.cores == 40 && t.vector_bits == 128);
	ck_assert(target_has(&t, FEATURE_SM_37) && target_has(&t, FEATURE_SM_75) && !target_has(&t, FEATURE_SM_80));
	ck_assert(t.blocks.warp == 32 && t.blocks.unit_threads == 1024 && t.blocks.unit_blocks == 8);
	ck_assert(t.nscope == 3 && strcmp(t.scope[2].name, "shared") == 0 && t.scope[2].bytes == 65536);
	ck_assert(t.core.fma_rate == 16 && target_fma_rate(&t, 32) == 64);
	for (int i = 0; blocks_key(i) != NULL; i++)
		ck_assert(blocks_get(&t.blocks, i) > 0 && blocks_meaning(i) != NULL);
	ck_assert(target_parse(&t, "t", cl, sizeof cl - 1, 1, &e));
	ck_assert(t.arch == ARCH_OPENCL && t.vector_bits == 64 && t.core.fma_rate == 32 && t.core.loads == 8);
	ck_assert(target_parse(&t, "t", V3 "}", sizeof V3, 1, &e));
	ck_assert(!target_has_blocks(&t) && t.nscope == 2 && t.blocks.launch_ns == 0);
}
END_TEST

START_TEST(lanes_are_elements_of_a_register)
{
	Target t;
	Err e = { 0 };
	ck_assert(target_parse(&t, "t", V3 "}", sizeof V3, 1, &e));
	ck_assert_int_eq(target_lanes(&t, F32), 8);
	ck_assert_int_eq(target_lanes(&t, F64), 4);
	ck_assert_int_eq(target_lanes(&t, DT(UINT, 4)), 64);
	t.vector_bits = 0;
	ck_assert_int_eq(target_lanes(&t, F32), 1);
}
END_TEST

START_TEST(damaged_files_are_refused_or_taken_but_never_more)
{
	Rng r = rng_seed(41);
	int taken = 0;
	for (int round = 0; round < 20000; round++) {
		char text[400];
		const char *from = texts[rng_below(&r, LEN(texts))].text;
		size_t n = strlen(from);
		memcpy(text, from, n);
		for (uint64_t k = 1 + rng_below(&r, 4); k > 0 && n > 0; k--)
			if (rng_below(&r, 4) == 0)
				n -= rng_below(&r, n);
			else
				text[rng_below(&r, n)] = (char)rng_next(&r);
		Target t;
		Err e = { 0 };
		if (target_parse(&t, "t", text, n, 1, &e)) {
			taken++;
			ck_assert(t.vector_bits > 0 && t.vector_regs > 0 && t.cores > 0 && t.cpus >= t.cores);
		} else
			ck_assert(e.code != ERR_NONE && e.code != ERR_BUG && e.text[0] != 0);
	}
	ck_assert_int_lt(taken, 10000);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("target_json");
	tcase_add_loop_test(tc, target_files_are_taken_or_refused_with_a_path, 0, LEN(texts));
	tcase_add_test(tc, what_the_file_says_is_what_the_target_has);
	tcase_add_test(tc, figures_of_a_core_follow_from_each_other);
	tcase_add_test(tc, a_device_has_blocks);
	tcase_add_test(tc, lanes_are_elements_of_a_register);
	tcase_add_test(tc, damaged_files_are_refused_or_taken_but_never_more);
	return run_suite("target_json", tc);
}
