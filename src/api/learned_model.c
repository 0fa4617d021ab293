/* Learned cost models: made from databases, looked at, and found beside a database. See dlc/dlc_database.h. */
#include "api/learned_model.h"

#include "codegen/codegen.h"
#include "compile/compile.h"
#include "cost_model/learned_file.h"
#include "db/logs.h"
#include "learn/hold_out.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

bool session_cost(DlcSession *s, const char *name, DlcDatabase *const *database, int n, const Target *t, Cost *out,
	Arena *a, Err *err)
{
	const char *beside = n > 0 ? learned_path(a, database[0]->path, db_is_folder(database[0]->path), t->kind) : NULL;
	if (!cost_open(out, a, name, beside, t, err))
		return false;
	if (cost_note(out) != NULL)
		session_note(cost_note(out), s);
	return true;
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
		.npredictor = PREDICTORS };
	hash_hex(m->data, out->data);
	return out;
}

/* ---- training ---- */

/* The file of predictor rows for a database: in the user's cache, named by the database's path. NULL: no cache. */
static const char *rows_path(const DlcDatabase *d, TargetKind kind, Arena *a)
{
	const char *cache = d->session->folders.cache;
	char *real = cache != NULL ? realpath(d->path, NULL) : NULL, hex[HASH_HEX];
	if (real == NULL)
		return NULL;
	hash_hex(hash_of("dlc/predictor-rows-of/v1", real, strlen(real)), hex);
	free(real);
	const char *path = arena_printf(a, "%s/rows/%s.%s.rows", cache, hex, target_kind_name(kind));
	return folders_make(a, path, NULL) ? path : NULL;
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
	LearnAsk ask = { .set = { db, nmore + 1 }, .kind = kind, .epoch = CODEGEN_EPOCH, .rows = rows_path(d, kind, a) };
	if (target_resolve(&here, target_kind_name(kind), 1, NULL, 0, NULL) && compile_core(&here, ask.set, false, NULL))
		ask.here = &here;
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
