/*
 * JSON: jansson reads it, an arena keeps it. Values know where they stand, so that a message can
 * say "targets/x.json: /cache/0/bytes must be an integer in 1..1099511627776".
 * Text from strangers: UTF-8 only, no duplicate keys, no NUL, nesting at most JSON_DEPTH; the size
 * was bounded by who read it. Looking up a key is linear in the object.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

#include <stdint.h>

enum { JSON_DEPTH = 64 };

typedef enum { JV_NULL, JV_BOOL, JV_INT, JV_REAL, JV_TEXT, JV_ARRAY, JV_OBJECT } JsonKind;

typedef struct Json Json;
struct Json {
	JsonKind kind;
	union {
		bool truth;
		int64_t i;
		double real;
		const char *text;
		struct {
			Json **at; /* elements, or the values of an object in the order written */
			size_t n, cap;
		} list;
	};
	const char *key; /* its name in the object it belongs to; NULL in arrays and at the top */
	const Json *parent; /* NULL at the top, whose `place` is the file */
	const char *place;
};

/* NULL and err filled in (place "NAME:LINE") if the n bytes are not one JSON array or object. */
Json *json_parse(Arena *a, const char *name, const char *text, size_t n, Err *err);

/* ---- reading: a missing key or another type is a failure that names the path */

bool json_int(const Json *object, const char *key, int64_t lo, int64_t hi, int64_t *out, Err *err);
bool json_str(const Json *object, const char *key, const char **out, Err *err);
/* The value of `key` if it has this kind. */
const Json *json_want(const Json *object, const char *key, JsonKind kind, Err *err);
/* The value of `key`, NULL if there is none (or `object` is no object). */
const Json *json_find(const Json *object, const char *key);
/* v itself as a text: for array elements. */

bool json_as_str(const Json *v, const char **out, Err *err);
/* Refuses keys that are none of the n names, with the nearest one that is. */
bool json_only(const Json *object, const char *const *names, size_t n, Err *err);
/* fail() with ERR_INPUT, the file of v as place, and the path of v before the sentence. */
bool json_fail(const Json *v, Err *err, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- building and writing */

Json *json_new(Arena *a, JsonKind kind);
Json *json_new_int(Arena *a, int64_t i);
Json *json_new_real(Arena *a, double v); /* inf and nan become null */
Json *json_new_count(Arena *a, double v); /* a whole number as one where it is exact */
Json *json_new_text(Arena *a, const char *s);
/* Text from outside (a path, a message): bytes that are not UTF-8 become U+FFFD; the text ends at `limit` bytes. */
Json *json_new_plain(Arena *a, const char *s, size_t limit);
Json *json_new_bool(Arena *a, bool truth);
/* Appends to an array, sets in an object (replacing); v belongs to one parent. Both return v. */
Json *json_push(Arena *a, Json *array, Json *v);
Json *json_set(Arena *a, Json *object, const char *key, Json *v);

/* One line without spaces or '\n', keys in their order; bytes that are no UTF-8 become U+FFFD. */
void json_write(Text *out, const Json *v);
/* The same with sorted keys, as records are hashed; false if v holds more than integers, texts,
   arrays and objects, or a text that is not UTF-8. */
bool json_write_canonical(Text *out, const Json *v, Err *err);

#endif
