/* Events as lines and as rows of a page, the page itself, and the tables of docs/report.md. */
#include "base/json.h"
#include "doc_table.h"
#include "report/page.h"

/* ---- the tables of docs/report.md ---- */

START_TEST(kinds)
{
	Arena *a = arena_new();
	Text t = { .arena = a };
	text_add(&t, "| event | has | is |\n|---|---|---|\n");
#define EVENT(name, word, doc, values) \
	{ \
		const char *has = #values, *sign = ""; \
		text_add(&t, "| `%s` | ", word); \
		for (const char *p = has; (p = strstr(p, "OF(")) != NULL; sign = " ") { \
			p += 3; \
			text_add(&t, "%s`%.*s`", sign, (int)strcspn(p, ")"), p); \
		} \
		text_add(&t, " | %s |\n", doc); \
	}
#include "report/event.def"
#undef EVENT
	doc_table("docs/report.md", &t);
	arena_free(a);
}
END_TEST

START_TEST(values)
{
	static const char *const forms[][2] = { { "HASH", "32 digits" }, { "TEXT", "text" }, { "INT", "whole number" },
		{ "REAL", "number" }, { "TIME", "number or null" }, { "FLAG", "true or false" } };
	Arena *a = arena_new();
	Text t = { .arena = a };
	text_add(&t, "| value | in JSON | is |\n|---|---|---|\n");
#define VALUE(type, name, doc) \
	for (int i = 0; i < LEN(forms); i++) \
		if (strcmp(forms[i][0], #type) == 0) \
			text_add(&t, "| `%s` | %s | %s |\n", #name, forms[i][1], doc);
#include "report/value.def"
#undef VALUE
	doc_table("docs/report.md", &t);
	arena_free(a);
}
END_TEST

/* ---- forms of an event ---- */

static const char hostile[] = "</script><img src=x onerror=alert(1)>&amp;\xff\n\"'";

static Event sample(EventKind kind)
{
	return (Event){ .kind = kind, .at_s = 1.25, .op = hostile, .model = hostile, .detail = hostile, .status = "ok",
		.median_ns = 42, .best_ms = 0.5, .tasks_ms = 0 };
}

static const Json *parse(Arena *a, const Text *t)
{
	Err err = { 0 };
	const Json *v = json_parse(a, "event", t->at, t->n, &err);
	ck_assert_msg(v != NULL, "%s: %s", err.text, t->at);
	return v;
}

START_TEST(lines)
{
	for (int k = 0; k < EVENT_KINDS; k++) {
		Arena *a = arena_new();
		Text line = { .arena = a };
		Event e = sample((EventKind)k);
		event_line(&line, &e);
		ck_assert_ptr_null(strchr(line.at, '\n'));
		const Json *o = parse(a, &line);
		ck_assert(json_find(o, "event") != NULL && json_find(o, "at_s")->real == 1.25);
		arena_free(a);
	}
}
END_TEST

/* A time that is 0 was not measured; a count that is 0 is one. */
START_TEST(nothing_measured)
{
	Arena *a = arena_new();
	Text best = { .arena = a }, measured = { .arena = a };
	Event e = sample(EVENT_BEST), m = sample(EVENT_MEASURED);
	event_line(&best, &e);
	event_line(&measured, &m);
	ck_assert_int_eq(json_find(parse(a, &best), "tasks_ms")->kind, JV_NULL);
	ck_assert_double_eq(json_find(parse(a, &best), "best_ms")->real, 0.5);
	ck_assert_int_eq(json_find(parse(a, &measured), "seq")->kind, JV_INT);
	ck_assert_int_eq(json_find(parse(a, &measured), "median_ns")->i, 42);
	arena_free(a);
}
END_TEST

/* ---- the page ---- */

/* Whatever texts say, the data of the page ends where it should, and holds them. */
START_TEST(hostile_texts)
{
	Arena *a = arena_new();
	Page page = { .rows.arena = a };
	Text html = { .arena = a };
	for (int k = 0; k < EVENT_KINDS; k++) {
		Event e = sample((EventKind)k);
		page_add(&page, &e);
	}
	page_write(&html, &page, PAGE_OF_RUN);
	const char *open = "<script type=\"application/json\" id=\"data\">", *at = strstr(html.at, open);
	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq(html.n, strlen(html.at));
	at += strlen(open);
	Text data = { .arena = a };
	text_put(&data, at, strcspn(at, "<"));
	ck_assert_ptr_eq(strstr(at, "</script>"), at + data.n);
	const Json *rows = json_find(parse(a, &data), "rows"), *names = json_find(parse(a, &data), "names");
	ck_assert_uint_eq(rows->list.n, EVENT_KINDS);
	for (int k = 0; k < EVENT_KINDS; k++) {
		const Json *row = rows->list.at[k], *name = names->list.at[k];
		ck_assert_int_eq(row->list.at[0]->i, k);
		ck_assert_uint_eq(row->list.n, name->list.n + 1);
	}
	ck_assert_ptr_nonnull(strstr(rows->list.at[EVENT_TASK]->list.at[3]->text, "<img src=x onerror=alert(1)>&amp;"));
	ck_assert_ptr_null(strstr(html.at, "<img"));
	arena_free(a);
}
END_TEST

/* The page is whole, and names no other file. */
START_TEST(alone)
{
	static const char *const outside[] = { "http:", "https:", " src=", "@import", "url(h", "<link", "@DATA@", "@STYLE@",
		"@SCRIPT@", "innerHTML" };
	Arena *a = arena_new();
	Page page = { .rows.arena = a };
	Text html = { .arena = a };
	page_write(&html, &page, PAGE_OF_RECORDS);
	ck_assert_ptr_eq(strstr(html.at, "<!doctype html>"), html.at);
	ck_assert_ptr_nonnull(strstr(html.at, "</html>"));
	for (int i = 0; i < LEN(outside); i++) {
		const char *at = strstr(html.at, outside[i]);
		ck_assert_msg(at == NULL || strncmp(at, "http://www.w3.org/2000/svg", 26) == 0, "the page has %.80s", at);
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("report");
	tcase_add_test(tc, kinds);
	tcase_add_test(tc, values);
	tcase_add_test(tc, lines);
	tcase_add_test(tc, nothing_measured);
	tcase_add_test(tc, hostile_texts);
	tcase_add_test(tc, alone);
	return run_suite("report", tc);
}
