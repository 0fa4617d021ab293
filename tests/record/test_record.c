/*
 * Records and their lines. golden/lines.jsonl has lines of each kind whose ids another program has computed: they are
 * read, and structs that are read from them print the same lines.
 */
#include "record/record.h"

#include "base/file.h"
#include "suite.h"

#include <string.h>

static Arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static const char *line_of(Json *o)
{
	Hash id;
	Err err = { 0 };
	const char *line;
	ck_assert_msg(record_seal(arena, o, &id, &line, &err), "%s", err.text);
	return line;
}

static void read_run(const Record *r, const char *line, size_t n)
{
	Err err = { 0 };
	RunRecord slow, quick;
	ck_assert_msg(record_to_run(r, &slow, &err), "%s", err.text);
	ck_assert_str_eq(line_of(record_from_run(arena, &slow)), line);
	ck_assert(record_read_run(arena, line, n, &quick));
	ck_assert_str_eq(line_of(record_from_run(arena, &quick)), line);
}

START_TEST(golden_lines)
{
	Err err = { 0 };
	Bytes file;
	int seen[RECORD_KINDS] = { 0 };
	const char *path = arena_printf(arena, "%s/tests/record/golden/lines.jsonl", getenv("DLC_SOURCE_ROOT"));
	ck_assert_msg(file_read(arena, path, 1 << 20, &file, &err), "%s", err.text);
	for (const char *at = (const char *)file.at; *at != 0;) {
		size_t n = strcspn(at, "\n");
		const char *line = arena_printf(arena, "%.*s", (int)n, at);
		Record r;
		ck_assert_msg(record_read(arena, "golden", line, n, &r, &err), "%s\n%s", line, err.text);
		seen[r.kind]++;
		if (r.kind == RECORD_RUN)
			read_run(&r, line, n);
		at += n + 1;
	}
	for (int k = 0; k < RECORD_KINDS; k++)
		ck_assert_msg(seen[k] > 0, "no line of kind %s", record_kind_name((RecordKind)k));
}
END_TEST

START_TEST(sessions)
{
	SessionInfo s = { "dlc 0.1.0", "rank", "resnet50", 1, 1795357048, "2: wall", 16143165180929, 166314400 };
	SessionInfo bare = { "dlc 0.1.0", "random", "a \"b\"", -3, 0, NULL, 0, 0 };
	const char *line = line_of(record_from_session(arena, &s));
	ck_assert_ptr_nonnull(strstr(line, "\"id\":\"046333847117a3119f748072549934e2\""));
	line = line_of(record_from_session(arena, &bare));
	ck_assert_ptr_nonnull(strstr(line, "\"id\":\"e453334b8ba867f6838cd30b2cdfa51c\""));
}
END_TEST

/* One field of a good record is changed, and the line is sealed again: the sentence that refuses it. */
static const struct Refusal {
	RecordKind kind;
	const char *key, *text; /* text NULL: `number` */
	int64_t number;
	const char *says;
} refusal[] = {
	{ RECORD_RUN, "median_ns", NULL, -1, "/median_ns must be an integer in 0..1125899906842624" },
	{ RECORD_RUN, "median_ns", NULL, 0, "a run that is ok has a time and samples" },
	{ RECORD_RUN, "samples", NULL, 0, "a run that is ok has a time and samples" },
	{ RECORD_RUN, "max_err_e9", NULL, -2, "/max_err_e9 must be an integer in -1" },
	{ RECORD_RUN, "lost", NULL, (INT64_C(1) << 40) + 1, "/lost must be an integer" },
	{ RECORD_RUN, "status", "fine", 0, "\"fine\" is no status" },
	{ RECORD_RUN, "workload", "12", 0, "must be 32 hexadecimal digits" },
	{ RECORD_RUN, "trace", NULL, 3, "/trace must be" },
	{ RECORD_SESSION, "mark", NULL, -1, "/mark must be an integer" },
	{ RECORD_SESSION, "tool", NULL, 1, "/tool must be" },
	{ RECORD_SESSION, "seed", "x", 0, "/seed must be" },
};

START_TEST(refusals)
{
	const struct Refusal *x = &refusal[_i];
	RunRecord run = { .trace = "split i 4\n", .status = RUN_OK, .median_ns = 5, .samples = 1, .clock = "wall" };
	SessionInfo s = { "dlc", "rank", "m", 1, 1, NULL, 0, 0 };
	Json *o = x->kind == RECORD_RUN ? record_from_run(arena, &run) : record_from_session(arena, &s);
	json_set(arena, o, x->key, x->text != NULL ? json_new_text(arena, x->text) : json_new_int(arena, x->number));
	const char *line = line_of(o);
	Record r;
	Err err = { 0 };
	ck_assert(!record_read(arena, "t", line, strlen(line), &r, &err));
	ck_assert_msg(strstr(err.text, x->says) != NULL, "%s", err.text);
	ck_assert(x->kind != RECORD_RUN || !record_read_run(arena, line, strlen(line), &run));
}
END_TEST

/* Texts that are too long: a stranger's line is refused, our own writer cuts what people say. */
START_TEST(long_texts)
{
	Err err = { 0 };
	Record r;
	char *text = arena_alloc(arena, RECORD_TRACE + 2);
	memset(text, 'x', RECORD_TRACE + 1);
	RunRecord run = { .trace = text, .status = RUN_CRASH, .max_err_e9 = -1, .detail = text };
	Json *o = record_from_run(arena, &run);
	const Json *detail = json_find(o, "detail");
	ck_assert_uint_le(strlen(detail->text), RECORD_TEXT);
	const char *line = line_of(o);
	ck_assert(!record_read(arena, "t", line, strlen(line), &r, &err));
	ck_assert_msg(strstr(err.text, "at most 65536 bytes") != NULL, "%s", err.text);
	ck_assert(!record_read_run(arena, line, strlen(line), &run));
}
END_TEST

/* Lines from elsewhere: a session without a seed, and a long comment in a trace whose steps are short. */
START_TEST(other_writers)
{
	Err err = { 0 };
	Record r;
	SessionInfo s = { "dlc", "rank", "m", 0, 1, NULL, 0, 0 };
	const char *line = line_of(record_from_session(arena, &s));
	ck_assert_ptr_nonnull(strstr(line, "\"seed\":0"));
	Json *o = json_new(arena, JV_OBJECT);
	json_set(arena, o, "kind", json_new_text(arena, "session"));
	json_set(arena, o, "tool", json_new_text(arena, "t"));
	json_set(arena, o, "search", json_new_text(arena, "s"));
	json_set(arena, o, "model", json_new_text(arena, "m"));
	json_set(arena, o, "started_s", json_new_int(arena, 1));
	line = line_of(o);
	ck_assert_msg(record_read(arena, "t", line, strlen(line), &r, &err), "%s", err.text);
	char *text = arena_alloc(arena, RECORD_TRACE + 100);
	memset(text, '#', RECORD_TRACE + 1);
	strcpy(text + RECORD_TRACE + 1, "\nsplit i 4\n");
	RunRecord run = { .trace = "", .status = RUN_CRASH, .max_err_e9 = -1 }, quick;
	o = record_from_run(arena, &run);
	json_set(arena, o, "trace", json_new_text(arena, text));
	line = line_of(o);
	ck_assert_msg(record_read(arena, "t", line, strlen(line), &r, &err), "%s", err.text);
	ck_assert_msg(record_to_run(&r, &run, &err), "%s", err.text);
	ck_assert_str_eq(run.trace, "split i 4\n");
	ck_assert(record_read_run(arena, line, strlen(line), &quick));
	ck_assert_str_eq(quick.trace, "split i 4\n");
	memset(text, 'x', RECORD_TRACE);
	text[RECORD_TRACE] = 0; /* its steps get an ending newline, which is one byte too many */
	o = record_from_run(arena, &(RunRecord){ .trace = "", .status = RUN_CRASH, .max_err_e9 = -1 });
	json_set(arena, o, "trace", json_new_text(arena, text));
	line = line_of(o);
	ck_assert(!record_read(arena, "t", line, strlen(line), &r, &err));
	ck_assert_msg(strstr(err.text, "at most 65536 bytes") != NULL, "%s", err.text);
	ck_assert(!record_read_run(arena, line, strlen(line), &quick));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("record");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, golden_lines);
	tcase_add_test(tc, sessions);
	tcase_add_loop_test(tc, refusals, 0, LEN(refusal));
	tcase_add_test(tc, long_texts);
	tcase_add_test(tc, other_writers);
	return run_suite("record", tc);
}
