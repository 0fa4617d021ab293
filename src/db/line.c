/*
 * A run's canonical line -> RunRecord in one pass, for look-ups and imports, which read many.  It takes
 * a subset of what record_read takes: exactly the fields of a run in their order, texts of plain
 * ASCII.  What it does not take is read the other way, which also says what is wrong; what it takes,
 * record_read takes too and gives the same (a test compares).
 */
#include "db/record.h"

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
static bool read_int(Reader *r, const char *key, int64_t lo, int64_t *out)
{
	if (!skip(r, key))
		return false;
	bool minus = r->at < r->end && *r->at == '-';
	const char *from = r->at += minus;
	int64_t v = 0;
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9' && r->at - from < 16)
		v = v * 10 + (*r->at++ - '0');
	ptrdiff_t digits = r->at - from;
	if (digits == 0 || digits > 15 || (digits > 1 && *from == '0') || (minus && v == 0))
		return false;
	*out = minus ? -v : v;
	return *out >= lo;
}

/* Up to the closing quote; "\n", "\"" and "\\" are the escapes that traces and messages have. */
static bool read_text(Reader *r, const char *key, const char **out)
{
	if (!skip(r, key))
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

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hash(Reader *r, const char *key, Hash *out)
{
	if (!skip(r, key) || r->end - r->at < 33)
		return false;
	for (size_t i = 0; i < sizeof out->byte; i++) {
		int hi = digit(r->at[2 * i]), lo = digit(r->at[2 * i + 1]);
		if (hi < 0 || lo < 0)
			return false;
		out->byte[i] = (uint8_t)(hi << 4 | lo);
	}
	r->at += 32;
	return skip(r, "\"");
}

/* What was hashed: the line without `"id":"...",`. */
static Hash seal_around(const char *line, size_t n, const char *id, size_t idlen)
{
	HashState s;
	hash_begin(&s, "dlc/run/v1");
	hash_add(&s, line, (size_t)(id - line));
	hash_add(&s, id + idlen, n - (size_t)(id - line) - idlen);
	return hash_end(&s);
}

/* Whether the next field is this one; lines of older versions lack some. */
static bool has(const Reader *r, const char *key)
{
	size_t n = strlen(key);
	return (size_t)(r->end - r->at) >= n && memcmp(r->at, key, n) == 0;
}

static bool may_have_int(Reader *r, const char *key, int64_t *out)
{
	*out = 0;
	return !has(r, key) || read_int(r, key, 0, out);
}

static bool may_have_text(Reader *r, const char *key, const char **out)
{
	*out = "";
	return !has(r, key) || read_text(r, key, out);
}

bool record_read_run(Arena *a, const char *line, size_t n, RunRecord *out)
{
	enum { ID = sizeof "\"id\":\"\"," - 1 + 32 };
	Reader r = { line, line + n, a };
	const char *status, *id;
	bool first = !has(&r, "{\"clock\":\"");
	out->own = false;
	if (n > RECORD_LINE || !may_have_text(&r, "{\"clock\":\"", &out->clock) ||
		!read_int(&r, first ? "{\"compile_ns\":" : ",\"compile_ns\":", 0, &out->compile_ns) ||
		!read_text(&r, ",\"detail\":\"", &out->detail) || !read_hash(&r, ",\"environment\":\"", &out->env))
		return false;
	id = r.at + 1;
	if (!read_hash(&r, ",\"id\":\"", &out->id) || !skip(&r, ",\"kind\":\"run\"") ||
		!may_have_int(&r, ",\"lost\":", &out->lost) || !read_int(&r, ",\"mad_ns\":", 0, &out->mad_ns) ||
		!read_int(&r, ",\"max_err_e9\":", -1, &out->max_err_e9) ||
		!read_int(&r, ",\"median_ns\":", 0, &out->median_ns) || !read_int(&r, ",\"min_ns\":", 0, &out->min_ns) ||
		!may_have_int(&r, ",\"probe_mflops\":", &out->probe_mflops) ||
		!read_int(&r, ",\"samples\":", 0, &out->samples) || !read_int(&r, ",\"seq\":", 0, &out->seq) ||
		!read_hash(&r, ",\"session\":\"", &out->session) || !may_have_text(&r, ",\"stage\":\"", &out->stage) ||
		!read_text(&r, ",\"status\":\"", &status) ||
		!read_hash(&r, ",\"target\":\"", &out->target) || !read_text(&r, ",\"trace\":\"", &out->trace) ||
		!read_hash(&r, ",\"workload\":\"", &out->workload) || !skip(&r, "}") || r.at != r.end)
		return false;
	Hash h = seal_around(line, n, id, ID);
	out->trace = steps_canonical(a, out->trace);
	return memcmp(&h, &out->id, sizeof h) == 0 && run_status_parse(status, &out->status) && record_run_fits(out);
}
