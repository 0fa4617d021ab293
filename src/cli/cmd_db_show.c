/* dlc db show: one record, whatever it is, named by the beginning of its id. */
#include "cli/cmd_db.h"

#include <stdio.h>
#include <string.h>

/* A field; texts of several lines are indented below their name. */
static void print_field(Arena *a, const Json *v)
{
	if (v->kind == JV_TEXT && strchr(v->text, '\n') != NULL) {
		printf("%s\n", text_printable(a, v->key, ""));
		for (const char *p = v->text; *p != 0; p += strcspn(p, "\n"), p += *p == '\n')
			printf("    %s\n", text_printable(a, arena_printf(a, "%.*s", (int)strcspn(p, "\n"), p), ""));
		return;
	}
	Text text = { .arena = a };
	if (v->kind == JV_TEXT)
		text_add(&text, "%s", v->text);
	else
		json_write(&text, v);
	printf("%-14s%s\n", text_printable(a, v->key, ""), text_printable(a, text_str(&text), ""));
}

static int print_task(const DlcTaskRow *t, void *arg)
{
	(void)arg;
	if (t->runs == 0)
		return 0;
	printf("on %s: %lld runs in %lld sessions, %lld ok", t->target, (long long)t->runs, (long long)t->sessions,
		(long long)t->ok);
	if (t->best != NULL)
		printf("; best %.6f ms, record %.12s", (double)t->best->ns / 1e6, t->best->record);
	printf("\n");
	return 0;
}

static bool print_record(Arena *a, DlcDatabase *db, const DlcRecord *r, Err *err)
{
	const Json *o = json_parse(a, "record", r->line, strlen(r->line), err);
	if (o == NULL)
		return false;
	print_field(a, json_find(o, "kind"));
	print_field(a, json_find(o, "id"));
	for (size_t i = 0; i < o->list.n; i++)
		if (strcmp(o->list.at[i]->key, "kind") != 0 && strcmp(o->list.at[i]->key, "id") != 0)
			print_field(a, o->list.at[i]);
	/* What the database knows beside the record. */
	if (strcmp(r->kind, "workload") == 0) {
		printf("op            %s\n", r->label);
		return dlc_database_tasks(db, r->id, print_task, NULL, failure_of(err)) == DLC_FAULT_NONE;
	}
	if (strcmp(r->kind, "session") == 0 && r->runs > 0)
		printf("%lld runs, %lld ok\n", (long long)r->runs, (long long)r->ok);
	if (strcmp(r->kind, "run") == 0)
		printf("measured      %s\n%s", r->own ? "here" : "elsewhere", r->retracted ? "retracted\n" : "");
	return true;
}

static bool run_show(const Args *args, Err *err)
{
	Opened o;
	DlcRecord r;
	bool ok = db_open_operand(args, DLC_READ, &o, err) &&
		dlc_database_record(o.db, args_operand(args, 1), &r, failure_of(err)) == DLC_FAULT_NONE;
	if (ok && args_given(args, "json"))
		puts(r.line);
	else if (ok)
		ok = print_record(args_arena(args), o.db, &r, err);
	db_close_operand(&o);
	return ok;
}

static const Option options[] = { OPTION_JSON, OPTION_END };

const Verb db_show_verb = { .name = "show", .summary = "A record of any kind, named by the beginning of its id",
	.operands = "DB ID", .least = 2, .most = 2, .options = options, .run = run_show };
