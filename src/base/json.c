/*
 * Turns JSON text into a tree in an arena and back.  jansson decides what JSON is; this file bounds
 * the nesting beforehand (jansson's own limit is 2048 deep, our walks recurse), copies its tree,
 * and speaks in paths.  Canonical text is what records are hashed over.
 */
#include "base/json.h"

#include <jansson.h>
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
	[JV_NULL] = "null",
	[JV_BOOL] = "true or false",
	[JV_INT] = "an integer",
	[JV_REAL] = "a number",
	[JV_TEXT] = "a text",
	[JV_ARRAY] = "an array",
	[JV_OBJECT] = "an object",
};

/* ---- building */

Json *json_new(Arena *a, JsonKind kind)
{
	Json *v = arena_new_of(a, Json);
	v->kind = kind;
	return v;
}

Json *json_new_int(Arena *a, int64_t i)
{
	Json *v = json_new(a, JV_INT);
	v->i = i;
	return v;
}

Json *json_new_real(Arena *a, double v)
{
	Json *real = json_new(a, isfinite(v) ? JV_REAL : JV_NULL);
	if (real->kind == JV_REAL)
		real->real = v;
	return real;
}

Json *json_new_count(Arena *a, double v)
{
	return fabs(v) < 9e15 && v == (double)(int64_t)v ? json_new_int(a, (int64_t)v) : json_new_real(a, v);
}

Json *json_new_text(Arena *a, const char *s)
{
	Json *v = json_new(a, JV_TEXT);
	v->text = arena_copy(a, s, strlen(s) + 1);
	return v;
}

Json *json_new_bool(Arena *a, bool truth)
{
	Json *v = json_new(a, JV_BOOL);
	v->truth = truth;
	return v;
}

Json *json_push(Arena *a, Json *array, Json *v)
{
	assert(array->kind == JV_ARRAY || array->kind == JV_OBJECT);
	vec_push(a, &array->list, v);
	v->parent = array;
	return v;
}

Json *json_set(Arena *a, Json *object, const char *key, Json *v)
{
	assert(object->kind == JV_OBJECT);
	for (size_t i = 0; i < object->list.n; i++)
		if (strcmp(object->list.at[i]->key, key) == 0) {
			v->key = object->list.at[i]->key;
			v->parent = object;
			return object->list.at[i] = v;
		}
	v->key = arena_copy(a, key, strlen(key) + 1);
	return json_push(a, object, v);
}

/* ---- parsing */

/* The line of the first bracket that is nested too deep, 0 if none is. */
static int too_deep(const char *s, size_t n)
{
	int depth = 0, line = 1;
	bool in_text = false;
	for (size_t i = 0; i < n; i++) {
		line += s[i] == '\n';
		if (in_text) {
			if (s[i] == '\\')
				i++;
			else if (s[i] == '"')
				in_text = false;
		} else if (s[i] == '"')
			in_text = true;
		else if ((s[i] == '[' || s[i] == '{') && ++depth > JSON_DEPTH)
			return line;
		else if (s[i] == ']' || s[i] == '}')
			depth--;
	}
	return 0;
}

static Json *copy_tree(Arena *a, json_t *from)
{
	Json *v;
	switch (json_typeof(from)) {
	case JSON_TRUE:
	case JSON_FALSE: return json_new_bool(a, json_is_true(from));
	case JSON_NULL: return json_new(a, JV_NULL);
	case JSON_INTEGER: return json_new_int(a, json_integer_value(from));
	case JSON_REAL: return json_new_real(a, json_real_value(from));
	case JSON_STRING: return json_new_text(a, json_string_value(from));
	case JSON_ARRAY:
		v = json_new(a, JV_ARRAY);
		for (size_t i = 0; i < json_array_size(from); i++)
			json_push(a, v, copy_tree(a, json_array_get(from, i)));
		return v;
	case JSON_OBJECT: break;
	}
	v = json_new(a, JV_OBJECT);
	const char *key;
	json_t *item;
	json_object_foreach(from, key, item)
	{
		/* jansson refused repeated keys: no need to search for each. */
		Json *child = copy_tree(a, item);
		child->key = arena_copy(a, key, strlen(key) + 1);
		json_push(a, v, child);
	}
	return v;
}

Json *json_parse(Arena *a, const char *name, const char *text, size_t n, Err *err)
{
	char place[192];
	json_error_t why;
	int deep = too_deep(text, n);
	if (deep != 0) {
		snprintf(place, sizeof place, "%s:%d", name, deep);
		fail(err, ERR_SYNTAX, place, "nested deeper than %d brackets", JSON_DEPTH);
		return NULL;
	}
	if (n == 0) { /* of a file without content `text` may be NULL */
		fail(err, ERR_SYNTAX, name, "is empty, and no JSON");
		return NULL;
	}
	json_t *tree = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
	if (tree == NULL) {
		snprintf(place, sizeof place, "%s:%d", name, why.line > 0 ? why.line : 1);
		fail(err, ERR_SYNTAX, place, "not JSON: %s", why.text);
		return NULL;
	}
	Json *v = copy_tree(a, tree);
	json_decref(tree);
	v->place = arena_copy(a, name, strlen(name) + 1);
	return v;
}

/* ---- reading */

/* Writes the path of v, from the top, and returns the file it is in. */
static const char *path_of(const Json *v, char *out, size_t size)
{
	if (v->parent == NULL) {
		out[0] = 0;
		return v->place;
	}
	const char *place = path_of(v->parent, out, size);
	size_t n = strlen(out);
	if (v->key != NULL) {
		snprintf(out + n, size - n, "/%.60s", v->key);
		return place;
	}
	size_t i = 0;
	while (i < v->parent->list.n && v->parent->list.at[i] != v)
		i++;
	snprintf(out + n, size - n, "/%zu", i);
	return place;
}

bool json_fail(const Json *v, Err *err, const char *fmt, ...)
{
	char path[256], text[400];
	const char *place = path_of(v, path, sizeof path);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return fail(err, ERR_INPUT, place, "%s%s%s", path, path[0] != 0 ? " " : "", text);
}

const Json *json_find(const Json *object, const char *key)
{
	if (object == NULL || object->kind != JV_OBJECT)
		return NULL;
	for (size_t i = 0; i < object->list.n; i++)
		if (strcmp(object->list.at[i]->key, key) == 0)
			return object->list.at[i];
	return NULL;
}

static const Json *need(const Json *object, const char *key, Err *err)
{
	if (object->kind != JV_OBJECT) {
		json_fail(object, err, "must be an object");
		return NULL;
	}
	const Json *v = json_find(object, key);
	if (v == NULL)
		json_fail(object, err, "lacks the key \"%s\"", key);
	return v;
}

const Json *json_want(const Json *object, const char *key, JsonKind kind, Err *err)
{
	const Json *v = need(object, key, err);
	if (v != NULL && v->kind != kind) {
		json_fail(v, err, "must be %s", kind_names[kind]);
		return NULL;
	}
	return v;
}

static bool as_int(const Json *v, int64_t lo, int64_t hi, int64_t *out, Err *err)
{
	if (v->kind != JV_INT || v->i < lo || v->i > hi)
		return json_fail(
			v, err, "must be an integer in %lld..%lld", (long long)lo, (long long)hi);
	*out = v->i;
	return true;
}

bool json_as_str(const Json *v, const char **out, Err *err)
{
	if (v->kind != JV_TEXT)
		return json_fail(v, err, "must be a text");
	*out = v->text;
	return true;
}

bool json_int(const Json *object, const char *key, int64_t lo, int64_t hi, int64_t *out, Err *err)
{
	const Json *v = need(object, key, err);
	return v != NULL && as_int(v, lo, hi, out, err);
}

bool json_str(const Json *object, const char *key, const char **out, Err *err)
{
	const Json *v = need(object, key, err);
	return v != NULL && json_as_str(v, out, err);
}

bool json_only(const Json *object, const char *const *names, size_t n, Err *err)
{
	if (object->kind != JV_OBJECT)
		return json_fail(object, err, "must be an object");
	for (size_t i = 0; i < object->list.n; i++) {
		const Json *v = object->list.at[i];
		size_t k = 0;
		while (k < n && strcmp(names[k], v->key) != 0)
			k++;
		if (k < n)
			continue;
		const char *near = text_nearest(v->key, names, n);
		return json_fail(v, err, "is not a key that may stand here%s%s%s",
			near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
			near != NULL ? "\"?" : "");
	}
	return true;
}

/* ---- writing */

/* Length of the UTF-8 sequence at s (RFC 3629: shortest form, no surrogates), 0 if it is none. */
static int utf8_length(const unsigned char *s)
{
	static const struct {
		unsigned char lo, hi, second_lo, second_hi;
		int n;
	} rows[] = {
		{ 0x01, 0x7f, 0, 0, 1 },
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		if (s[0] < rows[r].lo || s[0] > rows[r].hi)
			continue;
		if (rows[r].n > 1 && (s[1] < rows[r].second_lo || s[1] > rows[r].second_hi))
			return 0;
		for (int i = 2; i < rows[r].n; i++)
			if (s[i] < 0x80 || s[i] > 0xbf)
				return 0;
		return rows[r].n;
	}
	return 0;
}

Json *json_new_plain(Arena *a, const char *s, size_t limit)
{
	static const char unknown[] = "\xef\xbf\xbd";
	Text t = { .arena = a };
	for (size_t step; *s != 0; s += step) {
		size_t n = (size_t)utf8_length((const unsigned char *)s);
		step = n != 0 ? n : 1;
		if (t.n + (n != 0 ? n : 3) > limit)
			break;
		text_put(&t, n != 0 ? s : unknown, n != 0 ? n : 3);
	}
	return json_new_text(a, text_str(&t));
}

/* Returns whether all of it was UTF-8. */
static bool write_text(Text *out, const char *text)
{
	static const char shorts[32] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
	};
	bool clean = true;
	text_put(out, "\"", 1);
	for (const unsigned char *s = (const unsigned char *)text; *s != 0;) {
		int n = utf8_length(s);
		if (n == 0) {
			clean = false;
			text_put(out, "\xef\xbf\xbd", 3);
			n = 1;
		} else if (*s == '"' || *s == '\\')
			text_add(out, "\\%c", *s);
		else if (*s < 32 && shorts[*s] != 0)
			text_add(out, "\\%c", shorts[*s]);
		else if (*s < 32 || *s == 127)
			text_add(out, "\\u%04x", *s);
		else
			text_put(out, (const char *)s, (size_t)n);
		s += n;
	}
	text_put(out, "\"", 1);
	return clean;
}

void json_write(Text *out, const Json *v)
{
	char number[40];
	switch (v->kind) {
	case JV_NULL: text_add(out, "null"); return;
	case JV_BOOL: text_add(out, v->truth ? "true" : "false"); return;
	case JV_INT: text_add(out, "%lld", (long long)v->i); return;
	case JV_REAL: /* a number that reads back as a real: 1 becomes 1.0 */
		text_double(number, sizeof number, v->real);
		text_add(out, "%s%s", number, strpbrk(number, ".e") == NULL ? ".0" : "");
		return;
	case JV_TEXT: write_text(out, v->text); return;
	case JV_ARRAY:
	case JV_OBJECT: break;
	}
	text_add(out, v->kind == JV_ARRAY ? "[" : "{");
	for (size_t i = 0; i < v->list.n; i++) {
		if (i > 0)
			text_add(out, ",");
		if (v->kind == JV_OBJECT) {
			write_text(out, v->list.at[i]->key);
			text_add(out, ":");
		}
		json_write(out, v->list.at[i]);
	}
	text_add(out, v->kind == JV_ARRAY ? "]" : "}");
}

static int by_key(const void *a, const void *b)
{
	return strcmp((*(Json *const *)a)->key, (*(Json *const *)b)->key);
}

bool json_write_canonical(Text *out, const Json *v, Err *err)
{
	if (v->kind == JV_INT) {
		text_add(out, "%lld", (long long)v->i);
		return true;
	}
	if (v->kind == JV_TEXT)
		return write_text(out, v->text) || json_fail(v, err, "is not UTF-8");
	if (v->kind != JV_ARRAY && v->kind != JV_OBJECT)
		return json_fail(v, err, "is %s; a record holds integers and texts only",
			kind_names[v->kind]);
	bool object = v->kind == JV_OBJECT;
	text_add(out, object ? "{" : "[");
	Json **items = v->list.at;
	if (object && v->list.n > 1) {
		items = arena_copy(out->arena, items, v->list.n * sizeof *items);
		qsort(items, v->list.n, sizeof *items, by_key);
	}
	for (size_t i = 0; i < v->list.n; i++) {
		const Json *item = items[i];
		if (i > 0)
			text_add(out, ",");
		if (object) {
			if (!write_text(out, item->key))
				return json_fail(v, err, "has a key that is not UTF-8");
			text_add(out, ":");
		}
		if (!json_write_canonical(out, item, err))
			return false;
	}
	text_add(out, object ? "}" : "]");
	return true;
}
