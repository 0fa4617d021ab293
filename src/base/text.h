/*
 * Text: a growable builder and interned strings, both living in an arena.
 * Interned strings of one Interner are equal exactly when their pointers are.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

typedef struct Text {
	Arena *arena;
	char *at; /* always ended by a 0 that `n` does not count; NULL while empty and unused */
	size_t n, cap;
} Text;

void text_add(Text *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
void text_put(Text *t, const char *bytes, size_t n);
/* The builder's content, "" for a fresh one; valid until the next addition. */
const char *text_str(const Text *t);

char *arena_printf(Arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

typedef struct Interner Interner;
Interner *interner_new(Arena *a);
const char *intern(Interner *in, const char *s);
const char *intern_find(const Interner *in, const char *s); /* NULL: it was never interned */
/* Whether an interned name is one of n interned names; for short lists, a Map is for long ones. */
bool interned_has(const char *const *names, size_t n, const char *name);

/* The shortest decimal that reads back as the same double; "inf", "-inf", "nan". size >= 32. */
void text_double(char *out, size_t size, double v);
/* The same for a value that is a float. */
void text_float(char *out, size_t size, float v);

/* The whole string as an integer in [lo, hi]; false if it is anything else. */
bool text_to_int(const char *s, int64_t lo, int64_t hi, int64_t *out);

bool text_ends(const char *s, const char *end);

/* The length of the line at *at of n bytes, its '\n' left out; *at moves behind that. */
size_t text_line(const char *text, size_t n, size_t *at);

/* The value of a hexadecimal digit in lower case; -1: it is none. */
static inline int text_hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Text of strangers, for a terminal: control characters (C0, DEL, C1), what turns the direction of writing,
 * and bytes that are no UTF-8 become '?'. Characters of `keep` ("\n\t", "") stay. What a record or a model says
 * must not reach a terminal as it is.
 */
void text_make_printable(char *s, const char *keep);
char *text_printable(Arena *a, const char *s, const char *keep); /* a copy */

/* Similarity for "did you mean": the row of `names` nearest to `s`, NULL if none is near. */
const char *text_nearest(const char *s, const char *const *names, size_t n);

#endif
