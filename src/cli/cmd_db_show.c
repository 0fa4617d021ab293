/* dlc db show: one record, whatever it is, named by the beginning of its id. */
#include "cli/cmd_db.h"
#include "cli/model.h"

#include <stdio.h>
#include <string.h>

/* A field; texts of several lines are indented below their name. */
static void print_field(Arena *a, const Json *v)
{
	if (v->kind == JV_TEXT && strchr(v->text, '\n') != NULL) {
		printf("%s\n", db_printable(a, v->key));
		for (const char *p = v->text; *p != 0; p += strcspn(p, "\n"), p += *p == '\n')
			printf("    %s\n", db_printable(a, arena_printf(a, "%.*s", (int)strcspn(p, "\n"), p)));
		return;
	}
	Text text = { .arena = a };
	if (v->kind == JV_TEXT)
		text_add(&text, "%s", v->text);
	else
		json_write(&text, v);
	printf("%-14s%s\n", db_printable(a, v->key), db_printable(a, text_str(&text)));
}

typedef struct Shown {
	Db *db;
	Arena *arena;
	Hash id;
	Err *err;
} Shown;

static bool print_task(const DbTask *t, void *arg)
{
	Shown *s = arg;
	DbChoice c;
	int epoch;
	if (memcmp(&t->workload, &s->id, sizeof s->id) != 0 || t->runs == 0)
		return true;
	printf("on %s: %lld runs in %lld sessions, %lld ok", db_target_name(s->db, t->target, s->arena), (long long)t->runs,
		(long long)t->sessions, (long long)t->ok);
	if (db_best_any(s->db, t, &c, &epoch, s->arena, s->err)) {
		char hex[HASH_HEX];
		hash_hex(c.run.id, hex);
		printf("; best %.6f ms, record %.12s", (double)c.ns / 1e6, hex);
	}
	printf("\n");
	return s->err->code == ERR_NONE;
}

static bool print_session(const DbSession *x, void *arg)
{
	const Shown *s = arg;
	if (memcmp(&x->id, &s->id, sizeof s->id) == 0)
		printf("%lld runs, %lld ok\n", (long long)x->runs, (long long)x->ok);
	return true;
}

/* What the database knows beside the record. */
static bool print_more(Shown *s, const Record *r, Err *err)
{
	bool gone = false;
	const RunRecord *run;
	DbSet set = { &s->db, 1 };
	switch (r->kind) {
	case RECORD_WORKLOAD:
		printf("op            %s\n", db_label(s->db, r->id, s->arena, NULL));
		return db_each_task(s->db, print_task, s, err) && err->code == ERR_NONE;
	case RECORD_SESSION: return db_each_session(s->db, print_session, s, err);
	case RECORD_RUN:
		run = db_run(set, r->id, s->arena, err);
		if (run == NULL || !db_retracted(set, r->id, run->own, &gone, err))
			return false;
		printf("measured      %s\n", run->own ? "here" : "elsewhere");
		if (gone)
			printf("retracted\n");
		return true;
	default: return true;
	}
}

static bool run_show(const Args *args, Err *err)
{
	Arena *a = args_arena(args);
	const char *line;
	RecordName name;
	Db *db = db_operand(args, DB_READ, err);
	bool ok = db != NULL && db_find_one(db, args_operand(args, 1), RECORD_KINDS, &name, err);
	const Record *r = ok ? db_record(db, name.id, &line, a, err) : NULL;
	ok = r != NULL;
	if (ok && args_given(args, "json")) {
		puts(line);
	} else if (ok) {
		Shown s = { db, a, r->id, err };
		print_field(a, json_find(r->json, "kind"));
		print_field(a, json_find(r->json, "id"));
		for (size_t i = 0; i < r->json->list.n; i++)
			if (strcmp(r->json->list.at[i]->key, "kind") != 0 && strcmp(r->json->list.at[i]->key, "id") != 0)
				print_field(a, r->json->list.at[i]);
		ok = print_more(&s, r, err);
	}
	db_close(db);
	return ok;
}

static const Option options[] = { OPTION_JSON, OPTION_END };

const Verb db_show_verb = { .name = "show", .summary = "A record of any kind, named by the beginning of its id",
	.operands = "DB ID", .least = 2, .most = 2, .options = options, .run = run_show };
