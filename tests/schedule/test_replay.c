/*
 * Records replay from their text alone: this program's table of templates is empty, and the traces
 * of all tasks of the zoo, as they were when they were recorded, still give the kernel sets that
 * they gave then.  The golden text is a hash of the set's text.
 */
#include "golden.h"
#include "suite.h"

#include "base/file.h"
#include "base/json.h"
#include "ir/text/ir_text.h"
#include "schedule/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const Template *const templates[] = { NULL }; /* in place of the library's */

/*
 * DLC_REPLAY_LOG=FILE: every run of an exported log (dlc db export) must replay as well. Workloads
 * stand before the runs that name them.
 */
typedef struct Log {
	Arena *arena;
	VEC(const Task *) task;
	int runs;
} Log;

static void replay_line(Log *l, const char *line, size_t n)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	const Json *v = json_parse(a, "log", line, n, &err);
	ck_assert_msg(v != NULL, "%s", err.text);
	const char *kind = "", *text = "", *trace = "", *of = "";
	ck_assert(json_str(v, "kind", &kind, &err));
	target_host(&target, 1);
	if (strcmp(kind, "workload") == 0) {
		ck_assert(json_str(v, "dag", &text, &err));
		Task *t = task_parse(l->arena, text, strlen(text), &err);
		ck_assert_msg(t != NULL, "%s: %s", err.place, err.text);
		vec_push(l->arena, &l->task, t);
	} else if (strcmp(kind, "run") == 0) {
		ck_assert(json_str(v, "trace", &trace, &err) && json_str(v, "workload", &of, &err));
		const Task *task = NULL;
		for (size_t k = 0; k < l->task.n && task == NULL; k++) {
			char hex[HASH_HEX];
			hash_hex(l->task.at[k]->id, hex);
			task = strcmp(hex, of) == 0 ? l->task.at[k] : NULL;
		}
		ck_assert_msg(task != NULL, "no workload %s", of);
		Trace *t = trace_parse(a, "trace", trace, strlen(trace), &err);
		ck_assert_msg(t != NULL && schedule_replay(ir_new(a), task, &target, t, &err) != NULL, "%s: %s\n%s", err.place,
			err.text, trace);
		l->runs++;
	}
	arena_free(a);
}

START_TEST(every_record_of_a_log_replays)
{
	const char *path = getenv("DLC_REPLAY_LOG");
	Log l = { .arena = arena_new() };
	Err err = { 0 };
	Bytes file;
	ck_assert_msg(file_read(l.arena, path, (size_t)1 << 30, &file, &err), "%s", err.text);
	for (const char *p = (const char *)file.at, *end = p + file.n; p < end;) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t n = stop != NULL ? (size_t)(stop - p) : (size_t)(end - p);
		if (n > 0)
			replay_line(&l, p, n);
		p += n + 1;
	}
	printf("%d runs replayed\n", l.runs);
	ck_assert_int_gt(l.runs, 0);
	arena_free(l.arena);
}
END_TEST

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
	if (getenv("DLC_REPLAY_LOG") != NULL)
		tcase_add_test(tc, every_record_of_a_log_replays);
	return run_suite("replay", tc);
}
