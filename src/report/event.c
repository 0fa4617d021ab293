/* Events as text. See event.h: one walk over the values of a kind, whatever form they are written in. */
#include "report/event.h"

#include "base/json.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef enum { TYPE_HASH, TYPE_TEXT, TYPE_INT, TYPE_REAL, TYPE_TIME, TYPE_FLAG } ValueType;

static const struct {
	const char *name;
	ValueType type;
	size_t offset;
} values[] = {
#define VALUE(type, name, doc) { #name, TYPE_##type, offsetof(Event, name) },
#include "report/value.def"
#undef VALUE
};
enum { VALUES = sizeof values / sizeof *values };

enum {
#define VALUE(type, name, doc) VALUE_##name,
#include "report/value.def"
#undef VALUE
};
_Static_assert((int)VALUES <= 64, "a bit for each value");

#define OF(x) (UINT64_C(1) << VALUE_##x)
static const struct {
	const char *word;
	uint64_t has; /* a bit for each value */
} kinds[] = {
#define EVENT(name, word, doc, values) { word, OF(at_s) | values },
#include "report/event.def"
#undef EVENT
};
#undef OF

enum { SHORT_ID = 12 /* digits of an id in a page, as dlc db prints them */ };

static bool has(const Event *e, int value)
{
	return (kinds[e->kind].has >> value & 1) != 0;
}

static Json *value_of(Arena *a, const Event *e, int value, int digits)
{
	const void *at = (const char *)e + values[value].offset;
	char hex[HASH_HEX];
	switch (values[value].type) {
	case TYPE_HASH:
		hash_hex(*(const Hash *)at, hex);
		hex[digits] = 0;
		return json_new_text(a, arena_printf(a, "%s", hex));
	case TYPE_TEXT: {
		const char *text = *(const char *const *)at;
		return json_new_plain(a, text != NULL ? text : "", SIZE_MAX);
	}
	case TYPE_INT: return json_new_int(a, *(const int64_t *)at);
	case TYPE_FLAG: return json_new_bool(a, *(const bool *)at);
	case TYPE_REAL: return json_new_real(a, *(const double *)at);
	default: {
		double v = *(const double *)at;
		return v != 0 ? json_new_real(a, v) : json_new(a, JV_NULL);
	}
	}
}

void event_line(Text *out, const Event *e)
{
	Arena *a = arena_new();
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "event", json_new_text(a, kinds[e->kind].word));
	for (int i = 0; i < VALUES; i++)
		if (has(e, i))
			json_set(a, o, values[i].name, value_of(a, e, i, HASH_HEX - 1));
	json_write(out, o);
	arena_free(a);
}

/* In JSON these characters stand in texts alone, where an escape means the same. */
static void put_escaped(Text *out, const char *json)
{
	for (const char *p = json; *p != 0;) {
		size_t n = strcspn(p, "<>&");
		text_put(out, p, n);
		p += n;
		if (*p != 0)
			text_add(out, "\\u%04x", (unsigned)*p++);
	}
}

void event_row(Text *out, const Event *e)
{
	Arena *a = arena_new();
	Text json = { .arena = a };
	Json *row = json_new(a, JV_ARRAY);
	json_push(a, row, json_new_int(a, e->kind));
	for (int i = 0; i < VALUES; i++)
		if (has(e, i))
			json_push(a, row, value_of(a, e, i, SHORT_ID));
	json_write(&json, row);
	put_escaped(out, text_str(&json));
	arena_free(a);
}

void event_names(Text *out)
{
	for (int k = 0; k < EVENT_KINDS; k++) {
		text_add(out, "%s\"%s\":[", k == 0 ? "{" : ",", kinds[k].word);
		for (int i = 0, n = 0; i < VALUES; i++)
			if ((kinds[k].has >> i & 1) != 0)
				text_add(out, "%s\"%s\"", n++ > 0 ? "," : "", values[i].name);
		text_add(out, "]");
	}
	text_add(out, "}");
}
