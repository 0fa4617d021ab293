/*
 * See record.h. A record is data from strangers: every field is checked before it is used. What a kind's fields are is
 * a table of rows, from which its object is read, checked and written.
 */
#include "record/record.h"

#include "op/steps.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[RECORD_KINDS] = { "workload", "target", "environment", "session",
	"run", "retraction", "closing" };

static const struct {
	const char *text;
	int against;
	const char *way;
} statuses[RUN_STATUS_COUNT] = {
#define RUN_STATUS(name, text, against, doc, way) [RUN_##name] = { text, against, way },
#include "record/status.def"
#undef RUN_STATUS
};

static const char *const stages[STAGE_COUNT] = {
#define RUN_STAGE(name, text, doc) [STAGE_##name] = text,
#include "record/stage.def"
#undef RUN_STAGE
};

const RecordField record_run_field[] = {
#define RUN(type, member, key, least, most, when, doc) \
	{ key, FIELD_##type, FIELD_##when, least, most, offsetof(RunRecord, member) },
#include "record/run.def"
#undef RUN
	{ .key = NULL },
};

static const RecordField session_field[] = {
#define SESSION(type, member, key, least, most, when, doc) \
	{ key, FIELD_##type, FIELD_##when, least, most, offsetof(SessionInfo, member) },
#include "record/session.def"
#undef SESSION
	{ .key = NULL },
};

/* Kinds without a struct of their own: their fields are only checked. */
static const RecordField workload_field[] = { { "dag", FIELD_TEXT, FIELD_ALWAYS, 0, RECORD_LINE, 0 }, { .key = NULL } };
static const RecordField environment_field[] = { { "codegen_epoch", FIELD_INT, FIELD_ALWAYS, 0, 1 << 30, 0 },
	{ "compiler", FIELD_TEXT, FIELD_ALWAYS, 0, RECORD_WORD, 0 },
	{ "device", FIELD_TEXT, FIELD_KNOWN, 0, RECORD_WORD, 0 }, { "driver", FIELD_TEXT, FIELD_KNOWN, 0, RECORD_WORD, 0 },
	{ .key = NULL } };
static const RecordField retraction_field[] = { { "run", FIELD_HASH, FIELD_ALWAYS, 0, 0, 0 },
	{ "reason", FIELD_TEXT, FIELD_ALWAYS, 0, RECORD_TEXT, 0 }, { .key = NULL } };
static const RecordField closing_field[] = { { "session", FIELD_HASH, FIELD_ALWAYS, 0, 0, 0 },
	{ "runs", FIELD_TEXT, FIELD_ALWAYS, 0, RECORD_RUNS * RECORD_RUN_DIGITS, 0 }, { .key = NULL } };
static const RecordField no_field[] = { { .key = NULL } }; /* a target is checked by the room that reads it */

static const RecordField *const fields[RECORD_KINDS] = { workload_field, no_field, environment_field, session_field,
	record_run_field, retraction_field, closing_field };

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

const char *run_status_way(RunStatus s)
{
	return statuses[s].way;
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

/* Sets the members of `out`, a struct of the object's kind; NULL: checks the fields alone. */
static bool read_fields(const Json *o, const RecordField *f, void *out, Err *err)
{
	for (; f->key != NULL; f++) {
		void *member = out != NULL ? (char *)out + f->offset : NULL;
		const char *text = "";
		int64_t number = 0;
		Hash hash;
		RunStatus status = RUN_OK;
		bool there = f->when == FIELD_ALWAYS || json_find(o, f->key) != NULL;
		switch (f->type) {
		case FIELD_INT:
			if (there && !json_int(o, f->key, f->least, f->most, &number, err))
				return false;
			break;
		case FIELD_TEXT:
		case FIELD_STATUS:
			if (there && !json_str(o, f->key, &text, err))
				return false;
			if (f->type == FIELD_TEXT && strlen(text) > (size_t)f->most)
				return json_fail(json_find(o, f->key), err, "must have at most %lld bytes", (long long)f->most);
			if (f->type == FIELD_STATUS && !run_status_parse(text, &status))
				return json_fail(json_find(o, f->key), err, "\"%.40s\" is no status", text);
			break;
		case FIELD_HASH:
			if (!record_hash(o, f->key, &hash, err))
				return false;
			break;
		}
		if (member == NULL)
			continue;
		switch (f->type) {
		case FIELD_INT: *(int64_t *)member = number; break;
		case FIELD_TEXT: *(const char **)member = text; break;
		case FIELD_STATUS: *(RunStatus *)member = status; break;
		case FIELD_HASH: *(Hash *)member = hash; break;
		}
	}
	return true;
}

/* Fields of each kind beyond kind and id, so that what is stored can be used without another check. */
static bool check_fields(const Record *r, Err *err)
{
	RunRecord run;
	if (r->kind == RECORD_RUN)
		return record_to_run(r, &run, err);
	if (!read_fields(r->json, fields[r->kind], NULL, err))
		return false;
	if (r->kind != RECORD_CLOSING)
		return true;
	const char *runs; /* the beginnings of their ids, one behind the other */
	if (!json_str(r->json, "runs", &runs, err))
		return false;
	size_t n = strlen(runs);
	return (n % RECORD_RUN_DIGITS == 0 && strspn(runs, "0123456789abcdef") == n) ||
		json_fail(json_find(r->json, "runs"), err, "must be %d hexadecimal digits for each of at most %d runs",
			RECORD_RUN_DIGITS, RECORD_RUNS);
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
	Json hashed = *o; /* without its id, keys in their order */
	hashed.list.at = arena_array(a, Json *, o->list.n + 1);
	hashed.list.n = 0;
	for (size_t i = 0; i < o->list.n; i++)
		if (strcmp(o->list.at[i]->key, "id") != 0)
			hashed.list.at[hashed.list.n++] = o->list.at[i];
	if (!json_write_canonical(&canonical, o, err) || !json_write_canonical(&plain, &hashed, err))
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

/* ---- objects from structs ---- */

static Json *write_fields(Arena *a, RecordKind kind, const void *from)
{
	Json *o = json_new(a, JV_OBJECT);
	char hex[HASH_HEX];
	bool clock = false; /* its row is above those that depend on it */
	json_set(a, o, "kind", json_new_text(a, kind_names[kind]));
	for (const RecordField *f = fields[kind]; f->key != NULL; f++) {
		const void *member = (const char *)from + f->offset;
		int64_t number = f->type == FIELD_INT ? *(const int64_t *)member : 0;
		const char *text = f->type == FIELD_TEXT ? *(const char *const *)member : NULL;
		size_t most = f->most < RECORD_TEXT ? (size_t)f->most : RECORD_TEXT;
		text = text != NULL ? text : "";
		if ((f->when == FIELD_KNOWN && number <= 0 && text[0] == 0) || (f->when == FIELD_CLOCK && !clock))
			continue;
		clock |= strcmp(f->key, "clock") == 0;
		switch (f->type) {
		case FIELD_INT: json_set(a, o, f->key, json_new_int(a, number)); break;
		case FIELD_TEXT: json_set(a, o, f->key, json_new_plain(a, text, most)); break;
		case FIELD_STATUS: json_set(a, o, f->key, json_new_text(a, run_status_text(*(const RunStatus *)member))); break;
		case FIELD_HASH:
			hash_hex(*(const Hash *)member, hex);
			json_set(a, o, f->key, json_new_text(a, hex));
			break;
		}
	}
	return o;
}

Json *record_from_run(Arena *a, const RunRecord *run)
{
	Json *o = write_fields(a, RECORD_RUN, run);
	json_set(a, o, "trace", json_new_text(a, steps_canonical(a, run->trace))); /* whole, or refused */
	return o;
}

Json *record_from_session(Arena *a, const SessionInfo *s)
{
	return write_fields(a, RECORD_SESSION, s);
}

/* ---- structs from objects ---- */

bool record_run_fits(const RunRecord *run)
{
	return (run->status != RUN_OK || (run->median_ns >= 1 && run->samples >= 1)) && strlen(run->trace) <= RECORD_TRACE;
}

bool record_verified(const RunRecord *run)
{
	return run->status == RUN_OK && run->max_err_e9 >= 0 && run->max_err_e9 <= RECORD_WORST_E9;
}

bool record_to_run(const Record *r, RunRecord *out, Err *err)
{
	*out = (RunRecord){ .id = r->id };
	if (!read_fields(r->json, record_run_field, out, err))
		return false;
	out->trace = r->steps;
	return record_run_fits(out) ||
		json_fail(r->json, err, "a run that is ok has a time and samples, and a trace has at most %d bytes",
			RECORD_TRACE);
}
