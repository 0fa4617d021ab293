/*
 * Tables of the docs that rows of a .def make: a test renders the rows and compares them with the table of the page
 * that has the same first line. DLC_BLESS=1 rewrites the page, to be read before it is committed.
 */
#ifndef TESTS_DOC_TABLE_H
#define TESTS_DOC_TABLE_H

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "suite.h"

#include <string.h>

/* A row of a .def of constants, appended to the Text `t`: #define COUNT DOC_CONSTANT. */
#define DOC_CONSTANT(name, value, unit, reason) text_add(&t, "| %s | %s %s | %s |\n", #name, #value, unit, reason);

/* `want`: the whole table, its first line included, each line ended by '\n'; `path` is relative to the source root. */
static inline void doc_table(const char *path, Text *want)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file;
	const char *text = text_str(want), *name = arena_printf(a, "%s/%s", getenv("DLC_SOURCE_ROOT"), path);
	ck_assert_msg(file_read(a, name, 1 << 24, &file, &err), "%s: %s", name, err.text);
	const char *page = (const char *)file.at, *head = arena_printf(a, "%.*s", (int)strcspn(text, "\n") + 1, text);
	const char *at = strstr(page, head), *end = at;
	ck_assert_msg(at != NULL, "%s has no table that begins with: %s", path, head);
	while (*end == '|')
		end += strcspn(end, "\n") + 1;
	bool same = (size_t)(end - at) == want->n && memcmp(at, text, want->n) == 0;
	if (!same && getenv("DLC_BLESS") != NULL) {
		Text out = { .arena = a };
		text_put(&out, page, (size_t)(at - page));
		text_put(&out, text, want->n);
		text_add(&out, "%s", end);
		ck_assert_msg(file_write(name, text_str(&out), out.n, &err), "%s: %s", name, err.text);
		same = true;
	}
	ck_assert_msg(same, "%s: run this test with DLC_BLESS=1; the table must be\n%s", path, text);
	arena_free(a);
}

#endif
