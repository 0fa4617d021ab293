/* Reads a .cfg: [sections] with options, in order; '#' and ';' begin comments; blanks count nowhere. */
#include "frontend/darknet/darknet.h"

#include <string.h>

enum { MOST_SECTIONS = 1 << 14, MOST_OPTIONS = 1 << 8 };

const char *cfg_value(const CfgSection *s, const char *name)
{
	for (size_t k = 0; k < s->option.n; k++)
		if (strcmp(s->option.at[k].name, name) == 0)
			return s->option.at[k].value;
	return NULL;
}

/* A line without its blanks. */
static char *strip(Arena *a, const char *at, size_t n)
{
	char *out = arena_alloc(a, n + 1);
	size_t m = 0;
	for (size_t k = 0; k < n; k++)
		if (at[k] != ' ' && at[k] != '\t' && at[k] != '\r' && at[k] != 0)
			out[m++] = at[k];
	out[m] = 0;
	return out;
}

static bool read_line(Arena *a, char *line, int number, Cfg *out, Err *err)
{
	size_t n = strlen(line);
	if (line[0] == '[') {
		if (line[n - 1] != ']' || n < 3)
			return fail(err, ERR_INPUT, NULL, "line %d: '%.40s' is not a [section]", number, line);
		if (out->n == MOST_SECTIONS)
			return fail(err, ERR_INPUT, NULL, "it has more than %d sections", MOST_SECTIONS);
		line[n - 1] = 0;
		vec_push(a, out, ((CfgSection){ .type = line + 1, .line = number }));
		return true;
	}
	char *equals = strchr(line, '=');
	if (equals == NULL || equals == line || out->n == 0)
		return fail(
			err, ERR_INPUT, NULL, "line %d: '%.40s' is neither a [section] nor name=value in one", number, line);
	*equals = 0;
	CfgSection *s = &out->at[out->n - 1];
	if (s->option.n == MOST_OPTIONS)
		return fail(err, ERR_INPUT, NULL, "line %d: section [%.40s] has too many options", number, s->type);
	if (equals[1] != 0 && strchr("+-.0123456789", equals[1]) != NULL) /* DarkNet reads numbers up to what is none */
		equals[1 + strcspn(equals + 1, "#;")] = 0;
	if (cfg_value(s, line) == NULL) /* the first one counts */
		vec_push(a, &s->option, ((CfgOption){ line, equals + 1 }));
	return true;
}

bool cfg_read(Arena *a, const char *name, Bytes text, Cfg *out, Err *err)
{
	int number = 0;
	for (size_t at = 0; at < text.n; number++) {
		const char *begin = (const char *)text.at + at, *end = memchr(begin, '\n', text.n - at);
		size_t n = end != NULL ? (size_t)(end - begin) : text.n - at;
		char *line = strip(a, begin, n);
		at += n + 1;
		if (line[0] == 0 || line[0] == '#' || line[0] == ';')
			continue;
		if (!read_line(a, line, number + 1, out, err)) {
			err_at(err, name);
			return false;
		}
	}
	bool net = out->n > 0 && (strcmp(out->at[0].type, "net") == 0 || strcmp(out->at[0].type, "network") == 0);
	if (!net)
		return fail(err, ERR_INPUT, name, "its first section must be [net]");
	return out->n > 1 || fail(err, ERR_INPUT, name, "it has no layers");
}
