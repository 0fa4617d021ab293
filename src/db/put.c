/*
 * Stores records one by one.  Each has a transaction of its own, so that it survives the process once the call has
 * returned.  Such a record is the owner's own, since its process has observed it: it gets a seal (owner.c).
 */
#include "db/segment.h"

#include <assert.h>
#include <string.h>

/* Stores a line in a transaction of its own. */
static bool put_own(Db *db, const Record *r, const char *line, Err *err)
{
	bool fresh;
	assert(db->held == 0);
	if (db->logs != NULL)
		return logs_put(db, r, line, err);
	if (!sql_run(db, SQL_BEGIN, err))
		return false;
	if (sql_in_place(db, err) && db_names_known(db, r, db->path, err, err) &&
		db_put_line(db, r, line, strlen(line), &fresh, err) && db_seal(db, r, err) && sql_run(db, SQL_COMMIT, err))
		return true;
	sql_forget(db);
	return false;
}

/* The record is checked like one from a stranger: other databases must take it too. */
static bool put_object(Db *db, Arena *a, RecordKind kind, Json *o, Hash *id, Err *err)
{
	const char *line;
	Record r;
	json_set(a, o, "kind", json_new_text(a, record_kind_name(kind)));
	return record_seal(a, o, id, &line, err) && record_read(a, "record", line, strlen(line), &r, err) &&
		put_own(db, &r, line, err);
}

bool db_put_task(Db *db, const Task *task, Err *err)
{
	Arena *a = arena_new();
	Record r;
	const char *line = task_record(a, task);
	bool ok = record_read(a, task->label, line, strlen(line), &r, err) && put_own(db, &r, line, err);
	arena_free(a);
	return ok;
}

bool db_put_target(Db *db, const Target *target, Hash *id, Err *err)
{
	Arena *a = arena_new();
	const char *line = target_record(a, target);
	Json *o = json_parse(a, "record", line, strlen(line), err);
	bool ok = o != NULL && put_object(db, a, RECORD_TARGET, o, id, err);
	arena_free(a);
	return ok;
}

bool db_put_env(Db *db, int codegen_epoch, const char *compiler, const Target *on, const EnvDevice *device, Hash *id,
	Err *err)
{
	Arena *a = arena_new();
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "codegen_epoch", json_new_int(a, codegen_epoch));
	json_set(a, o, "compiler", json_new_text(a, compiler));
	char owner[TARGET_TEXT];
	Json *core = on != NULL && on->cpu[0] != 0 ? core_record(a, &on->core) : NULL;
	if (core != NULL && core->list.n > 0) {
		json_set(a, o, "core", core);
		json_set(a, o, "cpu", json_new_text(a, core_owner(on, owner)));
	}
	if (device != NULL) {
		json_set(a, o, "device", json_new_plain(a, device->name, RECORD_WORD));
		json_set(a, o, "driver", json_new_plain(a, device->driver, RECORD_WORD));
	}
	bool ok = put_object(db, a, RECORD_ENVIRONMENT, o, id, err);
	arena_free(a);
	return ok;
}

bool db_put_session(Db *db, const SessionInfo *s, Hash *id, Err *err)
{
	Arena *a = arena_new();
	SessionInfo fit = *s;
	int64_t started = s->started_s; /* by a clock that may be anywhere */
	fit.started_s = started < 0 ? 0 : started < RECORD_SECONDS ? started : RECORD_SECONDS;
	bool ok = put_object(db, a, RECORD_SESSION, record_from_session(a, &fit), id, err);
	arena_free(a);
	return ok;
}

bool db_put_run(Db *db, RunRecord *run, Err *err)
{
	Arena *a = arena_new();
	bool ok = put_object(db, a, RECORD_RUN, record_from_run(a, run), &run->id, err);
	arena_free(a);
	return ok;
}

bool db_put_retraction(Db *db, Hash run, const char *reason, Err *err)
{
	Arena *a = arena_new();
	char hex[HASH_HEX];
	Hash id;
	hash_hex(run, hex);
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "run", json_new_text(a, hex));
	json_set(a, o, "reason", json_new_plain(a, reason, RECORD_TEXT));
	bool ok = put_object(db, a, RECORD_RETRACTION, o, &id, err);
	arena_free(a);
	return ok;
}

bool db_put_closing(Db *db, Hash session, const Hash *run, size_t n, Err *err)
{
	bool ok = true;
	for (size_t from = 0; ok && (from == 0 || from < n); from += RECORD_RUNS) {
		Arena *a = arena_new();
		Text runs = { .arena = a };
		char hex[HASH_HEX];
		Hash id;
		for (size_t i = from; i < n && i < from + RECORD_RUNS; i++) {
			hash_hex(run[i], hex);
			text_put(&runs, hex, RECORD_RUN_DIGITS);
		}
		hash_hex(session, hex);
		Json *o = json_new(a, JV_OBJECT);
		json_set(a, o, "session", json_new_text(a, hex));
		json_set(a, o, "runs", json_new_text(a, text_str(&runs)));
		ok = put_object(db, a, RECORD_CLOSING, o, &id, err);
		arena_free(a);
	}
	return ok;
}
