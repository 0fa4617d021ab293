/* What LLVM calls a target: its level as CPU, the features beyond it, and names that LLVM knows. */
#include "codegen/llvm/machine.h"
#include "suite.h"

#include <string.h>
#include <unistd.h>

static Target parsed(const char *text)
{
	Err e = { 0 };
	Target t;
	ck_assert_msg(target_parse(&t, "t.json", text, strlen(text), 1, &e), "%s: %s", e.place, e.text);
	return t;
}

static const struct {
	const char *file, *triple, *cpu, *features;
} machines[] = {
	{ "{\"kind\":\"cpu\",\"model\":\"znver5\",\"features\":[\"x86-64-v4\",\"avx512vnni\",\"avxvnni\"]}",
		"x86_64-unknown-linux-gnu", "x86-64-v4", "+avx512vnni,+avxvnni,-prefer-256-bit" },
	{ "{\"kind\":\"cpu\",\"model\":\"x86-64-v4\"}", "x86_64-unknown-linux-gnu", "x86-64-v4", "-prefer-256-bit" },
	/* A file that asks for less, and a design that has less. */
	{ "{\"kind\":\"cpu\",\"model\":\"x86-64-v4\",\"vector_bits\":256}", "x86_64-unknown-linux-gnu", "x86-64-v4",
		"-prefer-256-bit" },
	{ "{\"kind\":\"cpu\",\"model\":\"alderlake\",\"features\":[\"x86-64-v4\"]}", "x86_64-unknown-linux-gnu",
		"x86-64-v4", "" },
	{ "{\"kind\":\"cpu\",\"model\":\"haswell\",\"features\":[\"x86-64-v3\"]}", "x86_64-unknown-linux-gnu", "x86-64-v3",
		"" },
	{ "{\"kind\":\"cpu\",\"model\":\"mine\",\"arch\":\"x86-64\",\"features\":[\"x86-64-v2\",\"avx\"]}",
		"x86_64-unknown-linux-gnu", "x86-64-v2", "+avx" },
	{ "{\"kind\":\"cpu\",\"model\":\"mine\",\"arch\":\"x86-64\",\"features\":[\"sse3\",\"popcnt\"]}",
		"x86_64-unknown-linux-gnu", "x86-64", "+sse3,+popcnt" },
	{ "{\"kind\":\"cpu\",\"model\":\"neoverse-n1\",\"features\":[\"neon\",\"dotprod\"]}", "aarch64-unknown-linux-gnu",
		"generic", "+neon,+dotprod" },
};

START_TEST(llvm_gets_the_level_and_what_is_beyond_it)
{
	Target t = parsed(machines[_i].file);
	MachineName name;
	machine_name(&t, &name);
	ck_assert_str_eq(name.triple, machines[_i].triple);
	ck_assert_str_eq(name.cpu, machines[_i].cpu);
	ck_assert_str_eq(name.features, machines[_i].features);
}
END_TEST

/* LLVM writes a line to stderr for a CPU or a feature that it does not know. */
START_TEST(llvm_knows_every_feature)
{
	char said[400] = "";
	Target t = { .kind = TARGET_CPU, .arch = (Arch)_i };
	if (arch_kind(t.arch) != TARGET_CPU)
		return;
	FILE *f = tmpfile();
	Err e = { 0 };
	ck_assert_ptr_nonnull(f);
	for (int k = 0; k < FEATURE_COUNT; k++)
		t.features |= feature_arch((Feature)k) == t.arch ? FEATURE_BIT(k) : 0;
	int screen = dup(STDERR_FILENO);
	ck_assert(dup2(fileno(f), STDERR_FILENO) >= 0);
	Machine *m = machine_take(&t, &e);
	ck_assert(dup2(screen, STDERR_FILENO) >= 0);
	rewind(f);
	size_t n = fread(said, 1, sizeof said - 1, f);
	ck_assert_msg(m != NULL && n == 0, "%s%s", e.text, said);
	machine_give(m);
	close(screen);
	fclose(f);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("machine");
	tcase_add_loop_test(tc, llvm_gets_the_level_and_what_is_beyond_it, 0, LEN(machines));
	tcase_add_loop_test(tc, llvm_knows_every_feature, 0, ARCH_COUNT);
	return run_suite("codegen-machine", tc);
}
