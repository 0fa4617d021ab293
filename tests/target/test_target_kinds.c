/* Names of targets of several kinds, in a folder that is filled for each test. */
#include "suite.h"
#include "target/target.h"

#include <string.h>
#include <unistd.h>

static Arena *a;
static char folder[] = "/tmp/dlc-kinds.XXXXXX";
static const char *dirs[] = { folder };

static const char cpu[] = "{\"kind\":\"cpu\",\"model\":\"x86-64-v3\"}",
				  metal[] = "{\"kind\":\"metal\",\"model\":\"%s\",\"arch\":\"x86-64\",\"features\":[]}";

static void put(const char *name, const char *text)
{
	FILE *f = fopen(arena_printf(a, "%s/%s.json", folder, name), "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void setup(void)
{
	a = arena_new();
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	put("x86-64-v3", cpu);
	put("broken", "{\"kind\":\"metal\"");
	put("host", "{\"kind\":\"cpu\",\"model\":\"host\"}");
}

static void teardown(void)
{
	ck_assert_int_eq(system(arena_printf(a, "rm -r %s", folder)), 0);
	arena_free(a);
}

/* The target's text, or the sentence of the refusal. */
static const char *resolved(const char *name)
{
	Target t;
	Err e = { 0 };
	char text[TARGET_TEXT];
	if (target_resolve(&t, name, 1, dirs, 1, &e))
		return arena_printf(a, "%s", target_text(&t, text));
	ck_assert_int_eq(e.code, ERR_USAGE);
	return arena_printf(a, "%s", e.text);
}

START_TEST(a_kind_is_its_only_target)
{
	ck_assert_str_eq(resolved("metal"), "there is no metal target: name a .json file that describes one");
	ck_assert_str_eq(resolved("metal:host"), "there is no metal target: name a .json file that describes one");
	put("board", arena_printf(a, metal, "mali"));
	ck_assert_str_eq(resolved("metal"), "metal:mali t1");
	ck_assert_str_eq(resolved("metal:board"), "metal:mali t1");
	ck_assert_str_eq(resolved("board"), "metal:mali t1");
	put("card", arena_printf(a, metal, "radeon"));
	ck_assert_str_eq(
		resolved("metal"), "there are several metal targets: name one of board, card; or name a .json file");
	ck_assert_str_eq(resolved("metal:card"), "metal:radeon t1");
	ck_assert_str_eq(resolved("metal:radeon"), "metal:radeon t1");
}
END_TEST

START_TEST(a_kind_before_a_name_holds)
{
	static const struct {
		const char *name, *says;
	} refused[] = {
		{ "metal:x86-64-v3", "there is no such metal target; there are: board; or name a .json file" },
		{ "metal:host", "there is no such metal target; there are: board; or name a .json file" },
		{ "metal:", "there is no such metal target; there are: board; or name a .json file" },
		{ "metal:bord",
			"there is no such metal target (did you mean board?); there are: board; or name a .json file" },
		{ "cpu:board", "there is no such cpu target; there are: host, x86-64-v3; or name a .json file" },
		{ "toaster",
			"there is no such target; there are: host, cpu, cuda, opencl, board, broken, x86-64-v3; "
			"or name a .json file" },
		{ "wasm", "there is no wasm target: name a .json file that describes one" },
	};
	put("board", arena_printf(a, metal, "mali"));
	put("opencl", "{\"kind\":\"opencl\",\"model\":\"generic\"}");
	for (int i = 0; i < LEN(refused); i++)
		ck_assert_str_eq(resolved(refused[i].name), refused[i].says);
	ck_assert_str_eq(resolved("cpu:x86-64-v3"), "cpu:x86-64-v3 t1");
}
END_TEST

START_TEST(only_a_cpu_is_the_host)
{
	Target t;
	Err e = { 0 };
	const char *text = arena_printf(a, metal, "host");
	ck_assert(!target_parse(&t, "h.json", text, strlen(text), 1, &e));
	ck_assert_str_eq(e.text, "/model must not be \"host\" in a target of kind metal: only CPUs are detected");
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("kinds");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_kind_is_its_only_target);
	tcase_add_test(tc, a_kind_before_a_name_holds);
	tcase_add_test(tc, only_a_cpu_is_the_host);
	return run_suite("target_kinds", tc);
}
