/*
 * See recorded.h. One line of JSON says what was measured; then each config has a line of columns between tabs; the
 * last line is a hash of all before. The reading checks the hash first, so damage has one sentence.
 */
#include "measure/recorded.h"

#include "base/json.h"
#include "base/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 2, COLUMNS = 6, MOST_RUNS = 1 << 20, HASH_LINE = 5 + HASH_HEX /* "hash ", digits, '\n' */ };

#define STEP_END ';' /* of a trace's lines: no word of a trace has one */

static const char domain[] = "dlc/recorded-space/v2";

static int by_value(const void *pa, const void *pb)
{
	const int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
	return (a > b) - (a < b);
}

void recorded_add_time(RecordedRun *r, int64_t ns)
{
	int64_t sorted[RECORDED_TIMES];
	if (r->times < RECORDED_TIMES)
		r->ns[r->times++] = ns;
	memcpy(sorted, r->ns, sizeof sorted);
	qsort(sorted, (size_t)r->times, sizeof *sorted, by_value);
	r->median_ns = sorted[r->times / 2];
}

/* ---- writing ---- */

static void print_run(Text *out, const RecordedRun *r)
{
	text_add(out, "%s\t%s\t", r->config, run_status_text(r->status));
	for (int i = 0; i < r->times; i++)
		text_add(out, "%s%" PRId64, i > 0 ? "," : "", r->ns[i]);
	text_add(out, "\t%" PRId64 "\t%" PRId64 "\t", r->build_ns, r->screen_ns);
	for (const char *c = r->trace; *c != 0; c++)
		text_put(out, *c == '\n' ? (const char[]){ STEP_END } : c, 1);
	text_put(out, "\n", 1);
}

void recorded_print(Text *out, const RecordedSpace *s)
{
	Arena *a = out->arena;
	char hex[HASH_HEX];
	const char *target = target_json(a, &s->target);
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "recorded_space", json_new_int(a, VERSION));
	json_set(a, o, "epoch", json_new_int(a, s->epoch));
	json_set(a, o, "configs", json_new_int(a, s->n));
	json_set(a, o, "first", json_new_int(a, s->first));
	json_set(a, o, "size", json_new_int(a, s->size < 1e15 ? (int64_t)s->size : (int64_t)1e15));
	json_set(a, o, "machine", json_new_text(a, s->machine));
	json_set(a, o, "noise", json_new_text(a, s->noise));
	json_set(a, o, "network", json_new_text(a, s->network));
	json_set(a, o, "estimate_ns", json_new_int(a, s->estimate_ns));
	json_set(a, o, "cold_bytes", json_new_int(a, s->cold_bytes));
	json_set(a, o, "threads", json_new_int(a, s->target.threads));
	json_set(a, o, "target", json_parse(a, "target", target, strlen(target), NULL));
	json_set(a, o, "dag", json_new_text(a, s->task->text));
	json_write(out, o);
	text_put(out, "\n", 1);
	for (int i = 0; i < s->n; i++)
		print_run(out, &s->run[i]);
	hash_hex(hash_of(domain, out->at, out->n), hex);
	text_add(out, "hash %s\n", hex);
}

/* ---- reading ---- */

typedef struct Reading {
	Arena *arena;
	const char *name;
	int line;
	Err *err;
} Reading;

static bool bad(const Reading *r, const char *what)
{
	const char *place = arena_printf(r->arena, "%s:%d", r->name, r->line);
	return fail(r->err, ERR_INPUT, place, "%s; record the space again", what);
}

static bool check_hash(const Reading *r, const char *text, size_t n)
{
	char hex[HASH_HEX], want[HASH_LINE + 1];
	if (n < HASH_LINE)
		return fail(r->err, ERR_INPUT, r->name, "is no recorded space: it has no hash at its end");
	hash_hex(hash_of(domain, text, n - HASH_LINE), hex);
	snprintf(want, sizeof want, "hash %s\n", hex);
	if (memcmp(want, text + n - HASH_LINE, HASH_LINE) != 0)
		return fail(r->err, ERR_INPUT, r->name, "is damaged, cut off or no recorded space: its hash is another one");
	return true;
}

static bool read_head(Reading *r, const char *line, size_t n, RecordedSpace *s)
{
	int64_t version, epoch, count, first, size, threads;
	const char *dag;
	Json *o = json_parse(r->arena, r->name, line, n, r->err);
	if (o == NULL || !json_int(o, "recorded_space", 0, INT64_MAX, &version, r->err))
		return false;
	if (version != VERSION)
		return fail(r->err, ERR_INPUT, r->name, "is a recorded space of version %" PRId64 "; this dlc reads %d",
			version, VERSION);
	const Json *target = json_want(o, "target", JV_OBJECT, r->err);
	if (target == NULL || !json_int(o, "epoch", 0, INT32_MAX, &epoch, r->err) ||
		!json_int(o, "configs", 1, MOST_RUNS, &count, r->err) || !json_int(o, "first", 0, count - 1, &first, r->err) ||
		!json_int(o, "size", 1, INT64_MAX, &size, r->err) || !json_str(o, "machine", &s->machine, r->err) ||
		!json_str(o, "noise", &s->noise, r->err) || !json_str(o, "network", &s->network, r->err) ||
		!json_int(o, "estimate_ns", 0, INT64_MAX, &s->estimate_ns, r->err) ||
		!json_int(o, "cold_bytes", 0, INT64_MAX, &s->cold_bytes, r->err) ||
		!json_int(o, "threads", 1, 4096, &threads, r->err) || !json_str(o, "dag", &dag, r->err))
		return false;
	Text text = { .arena = r->arena };
	json_write(&text, target);
	s->epoch = (int)epoch;
	s->n = (int)count;
	s->first = (int)first;
	s->size = (double)size;
	s->task = task_parse(r->arena, dag, strlen(dag), r->err);
	return s->task != NULL && target_parse(&s->target, r->name, text_str(&text), text.n, (int)threads, r->err);
}

/* Numbers between commas. */
static bool read_times(const char *text, RecordedRun *out)
{
	while (*text != 0) {
		char number[24];
		size_t n = strcspn(text, ",");
		int64_t ns;
		if (n >= sizeof number || out->times == RECORDED_TIMES)
			return false;
		memcpy(number, text, n);
		number[n] = 0;
		if (!text_to_int(number, 1, INT64_MAX, &ns))
			return false;
		recorded_add_time(out, ns);
		text += n;
		if (*text == ',' && *++text == 0)
			return false;
	}
	return true;
}

static bool read_run(Reading *r, char *line, RecordedRun *out)
{
	char *column[COLUMNS] = { line };
	int n = 1;
	for (char *c = line; *c != 0; c++) {
		if (*c == STEP_END && n == COLUMNS)
			*c = '\n';
		if (*c != '\t')
			continue;
		if (n == COLUMNS)
			return bad(r, "the line has too many columns");
		*c = 0;
		column[n++] = c + 1;
	}
	if (n < COLUMNS)
		return bad(r, "the line has too few columns");
	out->config = column[0];
	out->trace = column[5];
	if (!run_status_parse(column[1], &out->status) || !read_times(column[2], out) ||
		(out->status == RUN_OK) != (out->times > 0) || (out->times > 0 && out->trace[0] == 0))
		return bad(r, "status and times do not fit");
	if (!text_to_int(column[3], 0, INT64_MAX, &out->build_ns) || !text_to_int(column[4], 0, INT64_MAX, &out->screen_ns))
		return bad(r, "the times of building and screening are no numbers");
	return true;
}

bool recorded_parse(Arena *a, const char *name, const char *text, size_t n, RecordedSpace *out, Err *err)
{
	Reading r = { .arena = a, .name = name, .line = 1, .err = err };
	Map known = MAP_OF(a);
	size_t at = 0;
	*out = (RecordedSpace){ 0 };
	if (!check_hash(&r, text, n))
		return false;
	n -= HASH_LINE;
	size_t head = text_line(text, n, &at);
	if (!read_head(&r, text, head, out))
		return false;
	out->run = arena_array(a, RecordedRun, out->n);
	for (int i = 0; i < out->n && at < n; i++) {
		r.line++;
		size_t from = at, length = text_line(text, n, &at);
		char *line = arena_printf(a, "%.*s", (int)length, text + from);
		if (!read_run(&r, line, &out->run[i]))
			return false;
		MapEntry *e = map_add_text(&known, out->run[i].config);
		if (e->num++ > 0)
			return bad(&r, "the config is there twice");
	}
	return (at == n && r.line == out->n + 1) || bad(&r, "there are more lines than configs, or less");
}
