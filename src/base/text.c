/*
 * Turns formats into text and names into pointers.  Numbers are written in the shortest form that
 * reads back to the same value, because every text of dlc must: parse(print(x)) equals x.
 */
#include "base/text.h"

#include "base/map.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(Text *t, size_t more)
{
	if (t->n + more + 1 <= t->cap)
		return;
	size_t cap = t->cap != 0 ? t->cap : 128;
	while (cap < t->n + more + 1)
		cap *= 2;
	char *p = arena_alloc(t->arena, cap);
	if (t->n != 0)
		memcpy(p, t->at, t->n);
	t->at = p;
	t->cap = cap;
}

void text_put(Text *t, const char *bytes, size_t n)
{
	reserve(t, n);
	if (n != 0)
		memcpy(t->at + t->n, bytes, n);
	t->n += n;
	t->at[t->n] = 0;
}

void text_add(Text *t, const char *fmt, ...)
{
	char small[256];
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(small, sizeof small, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof small) {
		text_put(t, small, (size_t)n);
	} else if (n > 0) {
		reserve(t, (size_t)n);
		vsnprintf(t->at + t->n, (size_t)n + 1, fmt, again);
		t->n += (size_t)n;
	}
	va_end(again);
}

const char *text_str(const Text *t)
{
	return t->at != NULL ? t->at : "";
}

char *arena_printf(Arena *a, const char *fmt, ...)
{
	char small[256];
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(small, sizeof small, fmt, ap);
	va_end(ap);
	char *s = arena_alloc(a, (size_t)(n > 0 ? n : 0) + 1);
	if (n > 0 && (size_t)n < sizeof small)
		memcpy(s, small, (size_t)n + 1);
	else if (n > 0)
		vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

struct Interner {
	Map names;
};

Interner *interner_new(Arena *a)
{
	Interner *in = arena_new_of(a, Interner);
	in->names = MAP_OF(a);
	return in;
}

const char *intern(Interner *in, const char *s)
{
	return map_add_text(&in->names, s)->text;
}

const char *intern_find(const Interner *in, const char *s)
{
	const MapEntry *e = map_find_text(&in->names, s);
	return e != NULL ? e->text : NULL;
}

bool interned_has(const char *const *names, size_t n, const char *name)
{
	for (size_t k = 0; k < n; k++)
		if (names[k] == name)
			return true;
	return false;
}

void text_double(char *out, size_t size, double v)
{
	if (isnan(v))
		snprintf(out, size, "nan");
	else if (isinf(v))
		snprintf(out, size, v < 0 ? "-inf" : "inf");
	else
		for (int digits = 1; digits <= 17; digits++) {
			snprintf(out, size, "%.*g", digits, v);
			if (strtod(out, NULL) == v)
				break;
		}
}

void text_float(char *out, size_t size, float v)
{
	if (isnan(v) || isinf(v)) {
		text_double(out, size, v);
		return;
	}
	for (int digits = 1; digits <= 9; digits++) {
		snprintf(out, size, "%.*g", digits, (double)v);
		if (strtof(out, NULL) == v)
			break;
	}
}

bool text_to_int(const char *s, int64_t lo, int64_t hi, int64_t *out)
{
	char *end;
	errno = 0;
	if (s == NULL || (*s != '-' && (*s < '0' || *s > '9')))
		return false;
	long long v = strtoll(s, &end, 10);
	if (errno != 0 || end == s || *end != 0 || v < lo || v > hi)
		return false;
	*out = v;
	return true;
}

bool text_ends(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);
	return n >= m && strcmp(s + n - m, end) == 0;
}

size_t text_line(const char *text, size_t n, size_t *at)
{
	const char *line = text + *at, *end = memchr(line, '\n', n - *at);
	size_t len = end != NULL ? (size_t)(end - line) : n - *at;
	*at += len + 1;
	return len;
}

/* The bytes of the character at s and its code; 0: no UTF-8. */
static int read_utf8(const unsigned char *s, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	int n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
	*code = n <= 1 ? s[0] : s[0] & (0x7fu >> n);
	for (int i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	bool surrogate = *code >= 0xd800 && *code < 0xe000;
	return n > 1 && (*code < least[n] || *code > 0x10ffff || surrogate) ? 0 : n;
}

void text_make_printable(char *s, const char *keep)
{
	char *to = s;
	while (*s != 0) {
		uint32_t code;
		int n = read_utf8((const unsigned char *)s, &code);
		bool control = code < 32 || (code >= 127 && code < 160);
		bool mark = code == 0x61c || code == 0x200e || code == 0x200f; /* of a direction, as are those of two ranges */
		bool turns = mark || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
		if (n > 0 && ((!control && !turns) || (n == 1 && strchr(keep, *s) != NULL))) {
			memmove(to, s, (size_t)n);
			to += n;
		} else {
			*to++ = '?';
		}
		s += n > 0 ? n : 1;
	}
	*to = 0;
}

char *text_printable(Arena *a, const char *s, const char *keep)
{
	char *copy = arena_printf(a, "%s", s);
	text_make_printable(copy, keep);
	return copy;
}

/* Levenshtein distance, one row; names longer than the row are never near. */
static size_t distance(const char *a, const char *b)
{
	size_t row[64], n = strlen(b);
	if (n >= 64 || strlen(a) >= 64)
		return 64;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i] != 0; i++) {
		size_t diagonal = row[0];
		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			size_t best = diagonal + (a[i] != b[j]);
			diagonal = row[j + 1];
			if (diagonal + 1 < best)
				best = diagonal + 1;
			if (row[j] + 1 < best)
				best = row[j] + 1;
			row[j + 1] = best;
		}
	}
	return row[n];
}

const char *text_nearest(const char *s, const char *const *names, size_t n)
{
	const char *best = NULL;
	size_t least = strlen(s) / 3 + 1;
	for (size_t i = 0; i < n; i++) {
		size_t d = distance(s, names[i]);
		if (d <= least && d < strlen(s) && (best == NULL || d < least)) {
			least = d;
			best = names[i];
		}
	}
	return best;
}
