/* The tables of docs/records.md are the rows of src/record and of src/db/bound.def. */
#include "doc_table.h"
#include "record/record.h"

typedef struct Row {
	const char *key, *type;
	int64_t least, most;
	const char *when, *doc;
} Row;

static const Row run_row[] = {
#define RUN(type, member, key, least, most, when, doc) { key, #type, least, most, #when, doc },
#include "record/run.def"
#undef RUN
};

static const Row session_row[] = {
#define SESSION(type, member, key, least, most, when, doc) { key, #type, least, most, #when, doc },
#include "record/session.def"
#undef SESSION
};

static const char *limit(Arena *a, int64_t v)
{
	for (int k = 20; k < 63; k++)
		if (v == INT64_C(1) << k || v == (INT64_C(1) << k) - 1)
			return arena_printf(a, "2^%d%s", k, v & 1 ? "-1" : "");
	return arena_printf(a, "%lld", (long long)v);
}

static const char *value_of(Arena *a, const Row *r)
{
	if (strcmp(r->type, "HASH") == 0)
		return "id of a record";
	if (strcmp(r->type, "STATUS") == 0)
		return "a word";
	if (strcmp(r->type, "TEXT") == 0)
		return arena_printf(a, "text, at most %s bytes", limit(a, r->most));
	return r->least == INT64_MIN ? "any integer" : arena_printf(a, "%s to %s", limit(a, r->least), limit(a, r->most));
}

static void compare(const char *head, const Row *row, int n)
{
	Arena *a = arena_new();
	Text t = { .arena = a };
	text_add(&t, "| %s | value | in a line | is |\n|---|---|---|---|\n", head);
	for (int i = 0; i < n; i++)
		text_add(&t, "| `%s` | %s | %s | %s |\n", row[i].key, value_of(a, &row[i]),
			strcmp(row[i].when, "ALWAYS") == 0  ? "always"
			: strcmp(row[i].when, "KNOWN") == 0   ? "if known"
			: strcmp(row[i].when, "WRITTEN") == 0 ? "in ours"
							      : "with `clock`",
			row[i].doc);
	doc_table("docs/records.md", &t);
	arena_free(a);
}

START_TEST(fields)
{
	compare("field of a run", run_row, LEN(run_row));
	compare("field of a session", session_row, LEN(session_row));
}
END_TEST

START_TEST(statuses)
{
	static const char *const against[] = { "nothing", "it failed", "it is wrong" };
	Arena *a = arena_new();
	Text t = { .arena = a };
	text_add(&t, "| status | says of the schedule | is |\n|---|---|---|\n");
#define RUN_STATUS(name, text, k, doc, way) text_add(&t, "| `%s` | %s | %s |\n", text, against[k], doc);
#include "record/status.def"
#undef RUN_STATUS
	doc_table("docs/records.md", &t);
	arena_free(a);
}
END_TEST

START_TEST(stages)
{
	Arena *a = arena_new();
	Text t = { .arena = a };
	text_add(&t, "| stage | is |\n|---|---|\n");
#define RUN_STAGE(name, text, doc) text_add(&t, "| `%s` | %s |\n", text, doc);
#include "record/stage.def"
#undef RUN_STAGE
	doc_table("docs/records.md", &t);
	arena_free(a);
}
END_TEST

START_TEST(bounds)
{
	Arena *a = arena_new();
	Text t = { .arena = a };
	text_add(&t, "| name | value | reason |\n|---|---|---|\n");
#define COUNT DOC_CONSTANT
#include "db/bound.def"
#undef COUNT
	doc_table("docs/records.md", &t);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("docs");
	tcase_add_test(tc, fields);
	tcase_add_test(tc, statuses);
	tcase_add_test(tc, stages);
	tcase_add_test(tc, bounds);
	return run_suite("docs", tc);
}
