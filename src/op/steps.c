/* See steps.h. */
#include "op/steps.h"

#include <stdbool.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Prints the words of the line to `to`, one blank between them; *line moves to the next line. */
static char *put_line(char *to, const char **line)
{
	const char *p = *line;
	bool first = true;
	while (*p != 0 && *p != '\n' && *p != '#') {
		if (is_blank(*p)) {
			p++;
			continue;
		}
		if (!first)
			*to++ = ' ';
		first = false;
		while (*p != 0 && *p != '\n' && *p != '#' && !is_blank(*p))
			*to++ = *p++;
	}
	p += strcspn(p, "\n");
	*line = p + (*p == '\n');
	if (!first)
		*to++ = '\n';
	return to;
}

const char *steps_canonical(Arena *a, const char *text)
{
	size_t n = strlen(text);
	char *out = arena_alloc(a, n + 2), *to = out; /* the last line may have no newline */
	bool named = false;
	while (*text != 0) {
		to = put_line(to, &text);
		if (!named && to - out >= 5 && memcmp(out, "task ", 5) == 0) {
			named = true;
			to = out;
		}
	}
	*to = 0;
	return out;
}

Hash steps_hash(const char *canonical)
{
	return hash_of("dlc/trace/v1", canonical, strlen(canonical));
}
