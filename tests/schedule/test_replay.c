/*
 * Records replay from their text alone: this program's table of templates is empty, and the traces
 * of all tasks of the zoo, as they were when they were recorded, still give the kernel sets that
 * they gave then.  The golden text is a hash of the set's text.
 */
#include "golden.h"
#include "suite.h"

#include "ir/text.h"
#include "schedule/space.h"

#include <string.h>

const Template *const templates[] = { NULL }; /* in place of the library's */

static void replay(Arena *a, const char *dag, const char *what, Text *out)
{
	Err err = { 0 };
	Target target;
	char *steps = arena_printf(a, "%s", what), hex[HASH_HEX];
	for (char *p = steps; *p != 0; p++)
		if (*p == ';')
			*p = '\n';
	target_host(&target, 2);
	Dag *d = dag_parse(a, "golden", dag, strlen(dag), &err);
	Task *task = d != NULL ? task_new(a, d, &err) : NULL;
	Trace *t = task != NULL ? trace_parse(a, "trace", steps, strlen(steps), &err) : NULL;
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), task, &target, t, &err) : NULL;
	if (ks == NULL) {
		text_add(out, "! %s: %s\n", err.place, err.text);
		return;
	}
	Text text = { .arena = a };
	ir_print_set(&text, ks);
	hash_hex(hash_of("test", text_str(&text), text.n), hex);
	text_add(out, "%.12s\n", hex);
}

START_TEST(recorded_traces_give_what_they_gave)
{
	int cases;
	ck_assert_int_eq(golden_run("tests/golden/schedule/zoo.t", replay, &cases), 0);
	ck_assert_int_ge(cases, 80);
}
END_TEST

START_TEST(there_are_no_templates_here)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	static const char text[] = "dag t\nin x: f32[4,8]\ny: f32[4,8] = relu(x)\nout y\n";
	target_host(&target, 1);
	Task *task = task_new(a, dag_parse(a, "t", text, sizeof text - 1, &err), &err);
	ck_assert(task != NULL && space_new(a, task, &target, &err) == NULL);
	ck_assert_int_eq(err.code, ERR_UNSUPPORTED);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("replay");
	tcase_add_test(tc, recorded_traces_give_what_they_gave);
	tcase_add_test(tc, there_are_no_templates_here);
	return run_suite("replay", tc);
}
