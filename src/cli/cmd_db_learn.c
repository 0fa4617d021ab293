/* dlc db train and model: learned cost models, made and looked at. */
#include "cli/cmd_db.h"

#include <stdio.h>
#include <time.h>

enum { PREDICTORS_SHOWN = 12 };

static Json *score_json(Arena *a, const DlcModelScore *s)
{
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "operator", json_new_text(a, s->operation));
	json_set(a, o, "tasks", json_new_int(a, s->tasks));
	json_set(a, o, "schedules", json_new_int(a, s->schedules));
	json_set(a, o, "rank_analytic", json_new_real(a, s->rank_estimate));
	json_set(a, o, "rank_xgboost", json_new_real(a, s->rank_model));
	json_set(a, o, "pick_analytic", json_new_real(a, s->pick_estimate));
	json_set(a, o, "pick_xgboost", json_new_real(a, s->pick_model));
	return o;
}

static Json *untuned_json(Arena *a, const DlcModelGain *g)
{
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "arch", json_new_text(a, g->arch));
	json_set(a, o, "vector_bits", json_new_int(a, g->vector_bits));
	json_set(a, o, "parallel", json_new_bool(a, g->parallel != 0));
	json_set(a, o, "tasks", json_new_int(a, g->tasks));
	json_set(a, o, "taken", json_new_int(a, g->taken));
	json_set(a, o, "margin", g->margin > 0 ? json_new_real(a, g->margin) : json_new(a, JV_NULL));
	json_set(a, o, "gain", json_new_real(a, g->gain));
	json_set(a, o, "best", json_new_real(a, g->best));
	return o;
}

/* `trained`: by this command. */
static void print_json(const DlcModelInfo *m, bool trained)
{
	Arena *a = arena_new();
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "model", json_new_text(a, m->path));
	json_set(a, o, "kind", json_new_text(a, m->kind));
	json_set(a, o, "data", json_new_text(a, m->data));
	json_set(a, o, "trained_s", json_new_int(a, m->trained_s));
	json_set(a, o, "runs", json_new_int(a, m->runs));
	json_set(a, o, "schedules", json_new_int(a, m->schedules));
	if (trained)
		json_set(a, o, "replayed", json_new_int(a, m->replayed));
	json_set(a, o, "tasks", json_new_int(a, m->tasks));
	json_set(a, o, "targets", json_new_int(a, m->targets));
	json_set(a, o, "trees", json_new_int(a, m->trees));
	json_set(a, o, "epoch", json_new_int(a, m->epoch));
	Json *untuned = json_set(a, o, "untuned", json_new(a, JV_ARRAY));
	for (int k = 0; k < m->nuntuned; k++)
		json_push(a, untuned, untuned_json(a, &m->untuned[k]));
	Json *score = json_set(a, o, "score", json_new(a, JV_ARRAY));
	Json *predictor = json_set(a, o, "predictors", json_new(a, JV_OBJECT));
	for (int k = 0; k < m->nscore; k++)
		json_push(a, score, score_json(a, &m->score[k]));
	for (int k = 0; k < m->npredictor; k++)
		json_set(a, predictor, m->predictor[k].name, json_new_real(a, m->predictor[k].gain));
	db_print_object(a, o);
	arena_free(a);
}

static void print_text(const DlcModelInfo *m)
{
	char date[32] = "-";
	time_t when = (time_t)m->trained_s;
	struct tm day;
	if (gmtime_r(&when, &day) != NULL)
		strftime(date, sizeof date, "%Y-%m-%d %H:%M", &day);
	printf("%s\n%s targets, trained %s UTC, code of epoch %d: "
		   "%d trees from %lld schedules of %d Tasks on %d target%s (%lld runs)\n",
		m->path, m->kind, date, m->epoch, m->trees, (long long)m->schedules, m->tasks, m->targets,
		m->targets == 1 ? "" : "s", (long long)m->runs);
	printf("\nTasks that were held out: correlation of ranks inside a Task, "
		   "and time of the first in rank over the best\n");
	printf("%-28s %6s %10s  %9s %8s  %9s %8s\n", "operator", "tasks", "schedules", "analytic", "xgboost", "analytic",
		"xgboost");
	for (int k = 0; k < m->nscore; k++) {
		const DlcModelScore *s = &m->score[k];
		printf("%-28.28s %6d %10d  %9.2f %8.2f  %8.2fx %7.2fx\n", s->operation, s->tasks, s->schedules,
			s->rank_estimate, s->rank_model, s->pick_estimate, s->pick_model);
	}
	if (m->nuntuned > 0)
		printf("\nTasks without a record: by Tasks that were held out, default / chosen and default / best\n");
	for (int k = 0; k < m->nuntuned; k++) {
		const DlcModelGain *g = &m->untuned[k];
		printf("%s of %d bits, %s: %d Tasks, ", g->arch, g->vector_bits, g->parallel ? "several threads" : "one thread",
			g->tasks);
		if (g->margin > 0)
			printf("%d chosen, %.3fx of %.3fx; chosen above %.2fx expected\n", g->taken, g->gain, g->best, g->margin);
		else
			printf("none chosen, of %.3fx: no margin gains beyond the noise\n", g->best);
	}
	printf("\nwhat the trees look at most\n");
	for (int k = 0; k < m->npredictor && k < PREDICTORS_SHOWN; k++)
		printf("%5.1f %%  %-18s %s\n", m->predictor[k].gain * 100, m->predictor[k].name, m->predictor[k].meaning);
}

static void print_model(const Args *args, const DlcModelInfo *m, bool trained)
{
	if (args_given(args, "json"))
		print_json(m, trained);
	else
		print_text(m);
}

static bool run_train(const Args *args, Err *err)
{
	enum { MOST = 64 };
	DlcDatabase *more[MOST] = { 0 };
	const DlcModelInfo *m;
	int n = 0;
	Opened o;
	bool ok = db_open_operand(args, DLC_READ, &o, err);
	for (int i = 1; ok && args_operand(args, i) != NULL; i++)
		ok = n < MOST ? database_open(o.session, args_operand(args, i), DLC_READ, &more[n++], err)
			      : fail(err, ERR_USAGE, "DB", "at most %d databases may be named", MOST + 1);
	ok = ok && dlc_database_train(o.db, more, n, args_text(args, "kind", NULL), &m, failure_of(err)) == DLC_FAULT_NONE;
	if (ok)
		print_model(args, m, true);
	for (int i = 0; i < n; i++)
		dlc_database_close(more[i]);
	db_close_operand(&o);
	return ok;
}

static bool run_model(const Args *args, Err *err)
{
	const DlcModelInfo *m;
	Opened o;
	bool ok = db_open_operand(args, DLC_READ, &o, err) &&
		dlc_database_model(o.db, args_text(args, "kind", NULL), &m, failure_of(err)) == DLC_FAULT_NONE;
	if (ok) {
		print_model(args, m, false);
		if (!m->current)
			fprintf(stderr, "dlc: the database has other records by now: %lld runs; dlc db train learns from them\n",
				(long long)m->runs_now);
	}
	db_close_operand(&o);
	return ok;
}

static const Option options[] = {
	{ .name = "kind", .kind = OPT_TEXT, .arg = "KIND", .help = "of targets: cpu (default), opencl, cuda" },
	OPTION_JSON,
	OPTION_END,
};

const Verb db_train_verb = { .name = "train",
	.summary = "Make a learned cost model from records, beside the first database",
	.operands = "[DB...]", .least = 0, .most = -1, .options = options, .run = run_train };
const Verb db_model_verb = { .name = "model", .summary = "What the learned cost model of a database knows",
	.operands = "[DB]", .least = 0, .most = 1, .options = options, .run = run_model };
