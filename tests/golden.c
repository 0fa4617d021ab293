/* See golden.h. */
#include "golden.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies lines up to one that begins with `mark`; *p is left at that line. */
static char *take_until(Arena *a, const char **p, const char *mark)
{
	Text t = { .arena = a };
	while (**p != 0 && strncmp(*p, mark, 3) != 0) {
		size_t n = strcspn(*p, "\n");
		text_put(&t, *p, n + ((*p)[n] == '\n'));
		*p += n + ((*p)[n] == '\n');
	}
	return (char *)(uintptr_t)text_str(&t);
}

static char *take_line(Arena *a, const char **p)
{
	size_t n = strcspn(*p, "\n");
	char *line = arena_printf(a, "%.*s", (int)n, *p);
	*p += n + ((*p)[n] == '\n');
	return line;
}

int golden_run(const char *path, GoldenAct act, int *cases)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file;
	const char *root = getenv("DLC_SOURCE_ROOT");
	char *full = arena_printf(a, "%s/%s", root != NULL ? root : ".", path);
	Text blessed = { .arena = a };
	int bad = 0;
	*cases = 0;
	if (!file_read(a, full, 1 << 24, &file, &err)) {
		printf("%s: %s\n", full, err.text);
		arena_free(a);
		return 1;
	}
	for (const char *p = (const char *)file.at; *p != 0;) {
		char *before = take_until(a, &p, "---");
		if (*p == 0)
			break;
		char *mark = take_line(a, &p), *after = take_until(a, &p, "===");
		take_line(a, &p);
		Text out = { .arena = a };
		act(a, before, mark[3] == ' ' ? mark + 4 : mark + 3, &out);
		++*cases;
		if (strcmp(text_str(&out), after) != 0) {
			bad++;
			printf("%s, case %d (%s): expected\n%sgot\n%s", path, *cases, mark, after, text_str(&out));
		}
		text_add(&blessed, "%s%s\n%s===\n", before, mark, text_str(&out));
	}
	if (getenv("DLC_BLESS") != NULL) {
		file_write(full, text_str(&blessed), blessed.n, &err);
		bad = 0;
	}
	arena_free(a);
	return bad;
}
