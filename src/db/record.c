/* See record.h. A record is data from strangers: every field is checked before it is used. */
#include "db/record.h"

#include "op/steps.h"

#include <stdio.h>
#include <string.h>

static const char *const kind_names[RECORD_KINDS] = { "workload", "target", "environment", "session",
	"run", "retraction", "closing" };

static const struct {
	const char *text;
	int against;
	const char *doc;
} statuses[RUN_STATUS_COUNT] = {
#define RUN_STATUS(name, text, against, doc) [RUN_##name] = { text, against, doc },
#include "db/status.def"
#undef RUN_STATUS
};

const char *record_kind_name(RecordKind k)
{
	return kind_names[k];
}

const char *run_status_text(RunStatus s)
{
	return statuses[s].text;
}

int run_status_against(RunStatus s)
{
	return statuses[s].against;
}

static const char *const stages[STAGE_COUNT] = {
#define RUN_STAGE(name, text, doc) [STAGE_##name] = text,
#include "db/stage.def"
#undef RUN_STAGE
};

const char *run_stage_text(RunStage s)
{
	return stages[s];
}

RunStage run_stage(const RunRecord *run)
{
	for (int i = 0; run->stage != NULL && i < STAGE_COUNT; i++)
		if (strcmp(stages[i], run->stage) == 0)
			return (RunStage)i;
	return STAGE_FULL;
}

bool run_status_parse(const char *text, RunStatus *out)
{
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		if (strcmp(statuses[i].text, text) == 0) {
			*out = (RunStatus)i;
			return true;
		}
	return false;
}

static Hash seal_of(const char *kind, const Text *line)
{
	char domain[64];
	snprintf(domain, sizeof domain, "dlc/%s/v1", kind);
	return hash_of(domain, text_str(line), line->n);
}

bool record_seal(Arena *a, Json *object, Hash *id, const char **line, Err *err)
{
	Text plain = { .arena = a }, sealed = { .arena = a };
	const char *kind;
	char hex[HASH_HEX];
	if (!json_str(object, "kind", &kind, err) || !json_write_canonical(&plain, object, err))
		return false;
	*id = seal_of(kind, &plain);
	hash_hex(*id, hex);
	json_set(a, object, "id", json_new_text(a, hex));
	if (!json_write_canonical(&sealed, object, err))
		return false;
	*line = text_str(&sealed);
	return true;
}

bool record_hash(const Json *object, const char *key, Hash *out, Err *err)
{
	const char *hex;
	if (!json_str(object, key, &hex, err))
		return false;
	if (!hash_parse(hex, out))
		return json_fail(json_find(object, key), err, "must be 32 hexadecimal digits");
	return true;
}

/* The object without its id, keys in their order: what was hashed. */
static Json *without_id(Arena *a, const Json *object)
{
	Json *o = arena_copy(a, object, sizeof *object);
	o->list.at = arena_array(a, Json *, object->list.n + 1);
	o->list.n = 0;
	for (size_t i = 0; i < object->list.n; i++)
		if (strcmp(object->list.at[i]->key, "id") != 0)
			o->list.at[o->list.n++] = object->list.at[i];
	return o;
}

static bool check_text(const Json *o, const char *key, size_t limit, Err *err)
{
	const char *s;
	if (!json_str(o, key, &s, err))
		return false;
	if (strlen(s) > limit)
		return json_fail(json_find(o, key), err, "must have at most %zu bytes", limit);
	return true;
}

/* The beginnings of runs' ids, one behind the other. */
static bool check_runs(const Json *o, Err *err)
{
	const char *s;
	if (!json_str(o, "runs", &s, err))
		return false;
	size_t n = strlen(s);
	if (n % RECORD_RUN_DIGITS != 0 || n > RECORD_RUNS * RECORD_RUN_DIGITS || strspn(s, "0123456789abcdef") != n)
		return json_fail(json_find(o, "runs"), err, "must be %d hexadecimal digits for each of at most %d runs", RECORD_RUN_DIGITS, RECORD_RUNS);
	return true;
}

/* Fields of each kind beyond kind and id, so that what is stored can be used unseen. */
static bool check_fields(const Record *r, Err *err)
{
	const Json *o = r->json;
	int64_t i;
	Hash h;
	RunRecord run;
	switch (r->kind) {
	case RECORD_WORKLOAD: return check_text(o, "dag", RECORD_LINE, err);
	case RECORD_TARGET: return true;
	case RECORD_ENVIRONMENT:
		return json_int(o, "codegen_epoch", 0, 1 << 30, &i, err) && check_text(o, "compiler", RECORD_WORD, err);
	case RECORD_SESSION:
		return check_text(o, "tool", RECORD_WORD, err) && check_text(o, "search", RECORD_WORD, err) &&
			check_text(o, "model", RECORD_TEXT, err) &&
			(json_find(o, "method") == NULL || check_text(o, "method", RECORD_TEXT, err)) &&
			(json_find(o, "cold_bytes") == NULL || json_int(o, "cold_bytes", 0, RECORD_COLD, &i, err)) &&
			(json_find(o, "mark") == NULL || json_int(o, "mark", 0, RECORD_MARK, &i, err)) &&
			json_int(o, "started_s", 0, RECORD_SECONDS, &i, err);
	case RECORD_RUN: return record_to_run(r, &run, err);
	case RECORD_RETRACTION: return record_hash(o, "run", &h, err) && check_text(o, "reason", RECORD_TEXT, err);
	case RECORD_CLOSING: return record_hash(o, "session", &h, err) && check_runs(o, err);
	default: return true;
	}
}

bool record_read(Arena *a, const char *name, const char *line, size_t n, Record *out, Err *err)
{
	if (n > RECORD_LINE)
		return fail(err, ERR_INPUT, name, "a record of %zu bytes; one has at most %d", n, RECORD_LINE);
	Json *o = json_parse(a, name, line, n, err);
	const char *kind;
	if (o == NULL || !json_str(o, "kind", &kind, err) || !record_hash(o, "id", &out->id, err))
		return false;
	out->json = o;
	out->kind = RECORD_KINDS;
	for (int k = 0; k < RECORD_KINDS; k++)
		if (strcmp(kind, kind_names[k]) == 0)
			out->kind = (RecordKind)k;
	if (out->kind == RECORD_KINDS)
		return json_fail(json_find(o, "kind"), err, "\"%s\" is no kind of record this version knows", kind);
	Text canonical = { .arena = a }, plain = { .arena = a };
	if (!json_write_canonical(&canonical, o, err) ||
		!json_write_canonical(&plain, without_id(a, o), err))
		return false;
	if (canonical.n != n || memcmp(text_str(&canonical), line, n) != 0)
		return fail(err, ERR_INPUT, name, "the record is not in canonical form");
	Hash h = seal_of(kind, &plain);
	if (memcmp(&h, &out->id, sizeof h) != 0)
		return fail(err, ERR_INPUT, name, "the record is damaged: its id is not the hash of its content");
	const char *trace;
	if (out->kind == RECORD_RUN && json_str(o, "trace", &trace, NULL))
		out->steps = steps_canonical(a, trace);
	return check_fields(out, err);
}

int record_names(const Record *r, RecordName out[RECORD_NAMES])
{
	static const struct {
		int n;
		RecordKind kind[RECORD_NAMES];
	} names[RECORD_KINDS] = {
		[RECORD_RUN] = { 4, { RECORD_ENVIRONMENT, RECORD_SESSION, RECORD_TARGET, RECORD_WORKLOAD } },
		[RECORD_RETRACTION] = { 1, { RECORD_RUN } },
		[RECORD_CLOSING] = { 1, { RECORD_SESSION } },
	};
	for (int i = 0; i < names[r->kind].n; i++) {
		out[i].kind = names[r->kind].kind[i];
		if (!record_hash(r->json, kind_names[out[i].kind], &out[i].id, NULL))
			return 0; /* record_read has refused it */
	}
	return names[r->kind].n;
}

static Json *hex_of(Arena *a, Hash h)
{
	char hex[HASH_HEX];
	hash_hex(h, hex);
	return json_new_text(a, hex);
}

static bool is_said(const char *text)
{
	return text != NULL && text[0] != 0;
}

Json *record_from_run(Arena *a, const RunRecord *run)
{
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "kind", json_new_text(a, "run"));
	json_set(a, o, "workload", hex_of(a, run->workload));
	json_set(a, o, "target", hex_of(a, run->target));
	json_set(a, o, "session", hex_of(a, run->session));
	json_set(a, o, "environment", hex_of(a, run->env));
	json_set(a, o, "trace", json_new_text(a, steps_canonical(a, run->trace)));
	json_set(a, o, "status", json_new_text(a, run_status_text(run->status)));
	json_set(a, o, "median_ns", json_new_int(a, run->median_ns));
	json_set(a, o, "min_ns", json_new_int(a, run->min_ns));
	json_set(a, o, "mad_ns", json_new_int(a, run->mad_ns));
	json_set(a, o, "compile_ns", json_new_int(a, run->compile_ns));
	json_set(a, o, "samples", json_new_int(a, run->samples));
	json_set(a, o, "max_err_e9", json_new_int(a, run->max_err_e9));
	json_set(a, o, "detail", json_new_plain(a, run->detail != NULL ? run->detail : "", RECORD_TEXT));
	json_set(a, o, "seq", json_new_int(a, run->seq));
	if (run->probe_mflops > 0)
		json_set(a, o, "probe_mflops", json_new_int(a, run->probe_mflops));
	if (is_said(run->clock)) {
		json_set(a, o, "clock", json_new_plain(a, run->clock, RECORD_WORD));
		json_set(a, o, "lost", json_new_int(a, run->lost));
	}
	if (is_said(run->stage))
		json_set(a, o, "stage", json_new_plain(a, run->stage, RECORD_WORD));
	return o;
}

bool record_run_fits(const RunRecord *run)
{
	const int64_t most = INT64_C(1) << 50, samples = INT64_C(1) << 40;
	return (run->status != RUN_OK || (run->median_ns >= 1 && run->samples >= 1)) && run->samples <= samples &&
		run->median_ns <= most && run->min_ns <= most && run->mad_ns <= most && run->compile_ns <= most &&
		run->max_err_e9 <= most && run->seq <= most && run->probe_mflops <= most && strlen(run->trace) <= 64 << 10 &&
		run->lost <= samples && (run->clock == NULL || strlen(run->clock) <= RECORD_WORD) &&
		(run->stage == NULL || strlen(run->stage) <= RECORD_WORD);
}

bool record_verified(const RunRecord *run)
{
	return run->status == RUN_OK && run->max_err_e9 >= 0 && run->max_err_e9 <= RECORD_WORST_E9;
}

bool record_to_run(const Record *r, RunRecord *out, Err *err)
{
	const int64_t most = INT64_C(1) << 50; /* about 13 days in ns */
	const Json *o = r->json;
	const char *status;
	*out = (RunRecord){ .id = r->id, .clock = "", .stage = "" };
	if (!record_hash(o, "workload", &out->workload, err) || !record_hash(o, "target", &out->target, err) ||
		!record_hash(o, "session", &out->session, err) ||
		!record_hash(o, "environment", &out->env, err) ||
		!json_str(o, "trace", &out->trace, err) || !json_str(o, "detail", &out->detail, err) ||
		!json_str(o, "status", &status, err) ||
		!json_int(o, "median_ns", 0, most, &out->median_ns, err) ||
		!json_int(o, "min_ns", 0, most, &out->min_ns, err) ||
		!json_int(o, "mad_ns", 0, most, &out->mad_ns, err) ||
		!json_int(o, "compile_ns", 0, most, &out->compile_ns, err) ||
		!json_int(o, "samples", 0, INT64_C(1) << 40, &out->samples, err) ||
		!json_int(o, "max_err_e9", -1, most, &out->max_err_e9, err) ||
		!json_int(o, "seq", 0, most, &out->seq, err) ||
		(json_find(o, "probe_mflops") != NULL && !json_int(o, "probe_mflops", 0, most, &out->probe_mflops, err)) ||
		(json_find(o, "clock") != NULL && !json_str(o, "clock", &out->clock, err)) ||
		(json_find(o, "lost") != NULL && !json_int(o, "lost", 0, INT64_C(1) << 40, &out->lost, err)) ||
		(json_find(o, "stage") != NULL && !json_str(o, "stage", &out->stage, err)))
		return false;
	out->trace = r->steps;
	if (!run_status_parse(status, &out->status))
		return json_fail(json_find(o, "status"), err, "\"%.40s\" is no status", status);
	if (!record_run_fits(out))
		return json_fail(o, err, "a run that is ok has a time and samples, and a trace at most 64 KiB");
	return true;
}
