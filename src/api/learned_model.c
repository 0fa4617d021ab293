/* Learned cost models: made from databases, looked at, and found beside a database. See dlc/dlc_database.h. */
#include "api/learned_model.h"

#include "codegen/codegen.h"
#include "compile/compile.h"
#include "cost_model/learned_file.h"
#include "db/logs.h"
#include "learn/hold_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The files in which a model may lie, the first one first; how many. */
static int model_files(
	const DlcSession *s, DlcDatabase *const *database, int n, TargetKind kind, const char **out, Arena *a)
{
	int m = 0;
	for (int i = 0; i < n; i++)
		out[m++] = learned_path(a, database[i]->path, db_is_folder(database[i]->path), kind);
	if (s->folders.shipped != NULL)
		out[m++] = learned_path(a, s->folders.shipped, true, kind);
	return m;
}

bool session_has_model(const DlcSession *s, DlcDatabase *const *database, int n, const Target *t, Arena *a)
{
	const char **file = arena_array(a, const char *, n + 1);
	int m = model_files(s, database, n, t->kind, file, a);
	bool there = false;
	for (int i = 0; i < m; i++)
		there |= access(file[i], F_OK) == 0;
	return there;
}

bool session_cost(DlcSession *s, const char *name, DlcDatabase *const *database, int n, const Target *t, Cost *out,
	Arena *a, Err *err)
{
	const char **file = arena_array(a, const char *, n + 1), *beside = NULL;
	int m = model_files(s, database, n, t->kind, file, a);
	for (int i = 0; i < m && beside == NULL; i++)
		beside = access(file[i], F_OK) == 0 ? file[i] : NULL;
	beside = beside == NULL && n > 0 ? file[0] : beside;
	if (!cost_open(out, a, name, beside, t, err))
		return false;
	if (cost_note(out) != NULL)
		session_note(cost_note(out), s);
	return true;
}

/* The user's cache, made where it is not there; NULL: there is no place for one, and choices are made each time. */
static const char *cache_of(const DlcSession *s, Arena *a)
{
	const char *cache = s->folders.cache;
	return cache != NULL && folders_make(a, arena_printf(a, "%s/untuned/", cache), NULL) ? cache : NULL;
}

Untuned *session_untuned(
	DlcSession *s, const char *name, DlcDatabase *const *database, int n, const Target *t, Arena *a)
{
	const char **file = arena_array(a, const char *, n + 2), *named = name != NULL ? strchr(name, ':') : NULL;
	const CostModel *row = name != NULL ? cost_model_find(name, NULL) : NULL;
	if (name != NULL && (row == NULL || !row->file))
		return NULL;
	int m = model_files(s, database, n, t->kind, file, a);
	if (named != NULL) {
		file[0] = named + 1;
		m = 1;
	}
	for (int i = 0; i < m; i++) {
		Err why = { 0 };
		if (access(file[i], F_OK) != 0)
			continue;
		Untuned *u = untuned_open(a, file[i], t, cache_of(s, a), &why);
		if (u != NULL || named != NULL)
			return u;
		if (why.code != ERR_NONE && name == NULL) /* else session_cost has told it */
			session_note(arena_printf(a, "%s: %s; it chooses no schedules",
				why.place[0] != 0 ? why.place : file[i], why.text), s);
	}
	return NULL;
}

void session_untuned_end(DlcSession *s, Untuned *u)
{
	const char *note = u != NULL ? untuned_save(u) : NULL;
	if (note != NULL)
		session_note(note, s);
}

static bool kind_of(const char *name, TargetKind *out, Err *err)
{
	if (strchr(name, ':') == NULL && target_kind_of(name, out))
		return true;
	return fail(err, ERR_USAGE, "kind", "must be a kind of targets, such as cpu");
}

static int by_gain(const void *pa, const void *pb)
{
	const DlcModelPredictor *a = pa, *b = pb;
	return (a->gain < b->gain) - (a->gain > b->gain);
}

static const DlcModelInfo *describe(Arena *a, const LearnedModel *m, const char *path)
{
	DlcModelInfo *out = arena_new_of(a, DlcModelInfo);
	DlcModelScore *score = arena_array(a, DlcModelScore, m->nscore + 1);
	DlcModelPredictor *predictor = arena_array(a, DlcModelPredictor, PREDICTORS);
	for (int k = 0; k < m->nscore; k++) {
		const LearnedScore *s = &m->score[k];
		score[k] = (DlcModelScore){ s->class, s->tasks, s->schedules, s->rank[0], s->rank[1], s->pick[0], s->pick[1] };
	}
	for (int k = 0; k < PREDICTORS; k++)
		predictor[k] = (DlcModelPredictor){ predictor_name(k), predictor_doc(k), m->gain[k] };
	qsort(predictor, PREDICTORS, sizeof *predictor, by_gain);
	DlcModelGain *untuned = arena_array(a, DlcModelGain, m->nuntuned + 1);
	for (int k = 0; k < m->nuntuned; k++) {
		const LearnedGain *g = &m->untuned[k];
		untuned[k] = (DlcModelGain){ arch_name(g->arch), g->vector_bits, g->parallel, g->tasks, g->taken,
			g->margin == LEARNED_NEVER ? 0 : exp(g->margin), exp(g->gain), exp(g->best) };
	}
	*out = (DlcModelInfo){ .path = path,
		.kind = target_kind_name(m->kind),
		.trained_s = m->trained_s,
		.runs = m->runs,
		.schedules = m->rows,
		.tasks = m->tasks,
		.targets = m->targets,
		.trees = m->forest.ntree,
		.score = score,
		.nscore = m->nscore,
		.predictor = predictor,
		.npredictor = PREDICTORS,
		.epoch = m->epoch,
		.untuned = untuned,
		.nuntuned = m->nuntuned };
	hash_hex(m->data, out->data);
	return out;
}

/* ---- training ---- */

/* The file of predictor rows, in the user's cache. NULL: no cache. */
static const char *rows_path(const DlcSession *s, TargetKind kind, Arena *a)
{
	if (s->folders.cache == NULL)
		return NULL;
	const char *path = arena_printf(a, "%s/rows/%s.rows", s->folders.cache, target_kind_name(kind));
	return folders_make(a, path, NULL) ? path : NULL;
}

/* What is learned from the databases; *here: room for this machine. */
static LearnAsk ask_of(const DlcSession *s, DbSet set, TargetKind kind, Target *here, Arena *a)
{
	LearnAsk ask = { .set = set, .kind = kind, .epoch = CODEGEN_EPOCH, .rows = rows_path(s, kind, a), .threads = 1 };
	if (target_resolve(here, target_kind_name(kind), 1, NULL, 0, NULL) && compile_core(here, set, false, NULL)) {
		ask.here = here;
		ask.threads = here->cpus;
	}
	return ask;
}

void session_keep_rows(DlcSession *s, Db *db, TargetKind kind, Hash of)
{
	Arena *a = arena_new();
	Target here;
	Err why = { 0 };
	const char *note = NULL;
	LearnAsk ask = ask_of(s, (DbSet){ &db, 1 }, kind, &here, a);
	if (ask.rows != NULL && !learn_keep_rows(&ask, of, &note, a, &why))
		note = arena_printf(a, "%s: %s; training will replay the schedules", why.place, why.text);
	if (note != NULL)
		session_note(note, s);
	arena_free(a);
}

static bool train(DlcDatabase *d, DlcDatabase *const *more, int nmore, const char *name, const DlcModelInfo **out,
	Err *err)
{
	LearnedModel m;
	LearnSet set;
	TargetKind kind;
	Target here;
	Arena *a = session_view(d->session, &d->view, "d", err);
	if (a == NULL || !kind_of(name, &kind, err))
		return false;
	if (!train_there(err))
		return false;
	Db **db = arena_array(a, Db *, nmore + 1);
	db[0] = d->db;
	for (int i = 0; i < nmore; i++)
		db[i + 1] = more[i]->db;
	LearnAsk ask = ask_of(d->session, (DbSet){ db, nmore + 1 }, kind, &here, a);
	const char *path = learned_path(a, d->path, db_is_folder(d->path), kind);
	if (!learn_gather(&ask, &set, a, err))
		return false;
	if (set.note != NULL)
		session_note(set.note, d->session);
	if (!learn_train(&set, kind, (int64_t)time(NULL), &m, a, err) ||
		!learned_write(path, &m, err))
		return false;
	DlcModelInfo *v = (DlcModelInfo *)describe(a, &m, path);
	v->replayed = set.replayed;
	*out = v;
	return true;
}

DlcFault dlc_database_train(DlcDatabase *d, DlcDatabase *const *more, int nmore, const char *kind,
	const DlcModelInfo **out, DlcFailure *why)
{
	const DlcModelInfo *unseen;
	API_CHECK(why, API_GIVEN(d), { "more", nmore == 0 || more != NULL, NULL, NULL });
	out = out != NULL ? out : &unseen;
	*out = NULL;
	API_CALL(d->session, why, train(d, more, nmore, kind != NULL ? kind : "cpu", out, err));
}

/* ---- looking ---- */

static bool look(DlcDatabase *d, const char *name, const DlcModelInfo **out, Err *err)
{
	LearnedModel m;
	TargetKind kind;
	Arena *a = session_view(d->session, &d->view, "d", err);
	if (a == NULL || !kind_of(name, &kind, err))
		return false;
	const char *path = learned_path(a, d->path, db_is_folder(d->path), kind);
	if (!learned_read(a, path, &m, err))
		return false;
	DlcModelInfo *v = (DlcModelInfo *)describe(a, &m, path);
	LearnAsk ask = { .set = { &d->db, 1 }, .kind = kind, .epoch = CODEGEN_EPOCH };
	Hash now;
	if (!learn_hash(&ask, &now, &v->runs_now, err))
		return false;
	v->current = memcmp(&now, &m.data, sizeof now) == 0;
	*out = v;
	return true;
}

DlcFault dlc_database_model(DlcDatabase *d, const char *kind, const DlcModelInfo **out, DlcFailure *why)
{
	API_CHECK(why, API_OUT(out), API_GIVEN(d));
	API_CALL(d->session, why, look(d, kind != NULL ? kind : "cpu", out, err));
}
