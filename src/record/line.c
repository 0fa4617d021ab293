/*
 * A run's canonical line -> RunRecord in one pass, for look-ups and imports, which read many lines.  It takes fewer
 * lines than record_read: exactly the fields of a run in the order of their keys, texts of plain ASCII.  record_read
 * reads the other lines and says what is wrong with them.  A line that is taken here reads the same there (a test
 * compares).
 */
#include "record/record.h"

#include "op/steps.h"

#include <string.h>

typedef struct Reader {
	const char *at, *end;
	Arena *arena;
} Reader;

static bool skip(Reader *r, const char *text)
{
	size_t n = strlen(text);
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0)
		return false;
	r->at += n;
	return true;
}

/* Canonical: no sign but -1's, no leading zeros; at most 15 digits, which 2^49 has. */
static bool read_int(Reader *r, int64_t *out)
{
	bool minus = r->at < r->end && *r->at == '-';
	const char *from = r->at += minus;
	int64_t v = 0;
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9' && r->at - from < 16)
		v = v * 10 + (*r->at++ - '0');
	ptrdiff_t digits = r->at - from;
	if (digits == 0 || digits > 15 || (digits > 1 && *from == '0') || (minus && v == 0))
		return false;
	*out = minus ? -v : v;
	return true;
}

/* Up to the closing quote; "\n", "\"" and "\\" are the escapes that traces and messages have. */
static bool read_text(Reader *r, const char **out)
{
	if (!skip(r, "\""))
		return false;
	const char *close = r->at;
	while (close < r->end && *close != '"')
		close += *close == '\\' ? 2 : 1;
	if (close >= r->end)
		return false;
	char *to = arena_alloc(r->arena, (size_t)(close - r->at) + 1);
	*out = to;
	while (r->at < close) {
		unsigned char c = (unsigned char)*r->at++;
		if (c == '\\') {
			c = (unsigned char)*r->at++;
			if (c != 'n' && c != '"' && c != '\\')
				return false;
			c = c == 'n' ? '\n' : c;
		} else if (c < 32 || c > 126) {
			return false;
		}
		*to++ = (char)c;
	}
	r->at++;
	return true;
}

static bool read_hash(Reader *r, Hash *out)
{
	if (!skip(r, "\"") || r->end - r->at < 33)
		return false;
	for (size_t i = 0; i < sizeof out->byte; i++) {
		int hi = text_hex_digit(r->at[2 * i]), lo = text_hex_digit(r->at[2 * i + 1]);
		if (hi < 0 || lo < 0)
			return false;
		out->byte[i] = (uint8_t)(hi << 4 | lo);
	}
	r->at += 32;
	return skip(r, "\"");
}

/* Steps over `,"KEY":`, or `{"KEY":` at the line's beginning; false: another field comes next. */
static bool skip_key(Reader *r, const char *key, bool first)
{
	size_t n = strlen(key);
	if ((size_t)(r->end - r->at) < n + 4 || r->at[0] != (first ? '{' : ',') || r->at[1] != '"' ||
		memcmp(r->at + 2, key, n) != 0 || r->at[n + 2] != '"' || r->at[n + 3] != ':')
		return false;
	r->at += n + 4;
	return true;
}

static bool read_field(Reader *r, const RecordField *f, void *member)
{
	const char *text = "";
	int64_t number;
	switch (f->type) {
	case FIELD_INT:
		if (!read_int(r, &number) || number < f->least || number > f->most)
			return false;
		*(int64_t *)member = number;
		return true;
	case FIELD_TEXT:
		if (!read_text(r, &text) || strlen(text) > (size_t)f->most)
			return false;
		*(const char **)member = text;
		return true;
	case FIELD_STATUS: return read_text(r, &text) && run_status_parse(text, member);
	case FIELD_HASH: return read_hash(r, member);
	}
	return false;
}

bool record_read_run(Arena *a, const char *line, size_t n, RunRecord *out)
{
	Reader r = { line, line + n, a };
	const char *id = NULL, *behind = NULL; /* the field `id` with its comma */
	*out = (RunRecord){ .clock = "", .stage = "" };
	if (n > RECORD_LINE)
		return false;
	for (const RecordField *f = record_run_field; f->key != NULL; f++) {
		if (id == NULL && strcmp(f->key, "id") > 0) { /* every record has id and kind, the first row is above them */
			id = r.at;
			if (!skip_key(&r, "id", false) || !read_hash(&r, &out->id))
				return false;
			behind = r.at;
			if (!skip(&r, ",\"kind\":\"run\""))
				return false;
		}
		if (skip_key(&r, f->key, r.at == line) ? !read_field(&r, f, (char *)out + f->offset) : f->when == FIELD_ALWAYS)
			return false;
	}
	if (!skip(&r, "}") || r.at != r.end)
		return false;
	HashState s; /* of the line without `"id":"...",` */
	hash_begin(&s, "dlc/run/v1");
	hash_add(&s, line, (size_t)(id + 1 - line));
	hash_add(&s, behind + 1, (size_t)(line + n - behind) - 1);
	Hash h = hash_end(&s);
	out->trace = steps_canonical(a, out->trace);
	return memcmp(&h, &out->id, sizeof h) == 0 && record_run_fits(out);
}
