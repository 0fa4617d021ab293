/*
 * See gather.h. The time of a schedule is the median over its runs, those inside of networks apart, which are timed
 * otherwise. The weight of a run is 1. It is halved if another user measured the run, if its stage is look, if its code
 * is of another epoch, and for each year that it is older than the newest session. Times below the floor are left out.
 */
#include "learn/gather.h"

#include "base/map.h"
#include "cost_model/roof.h"
#include "db/look.h"
#include "learn/row_cache.h"
#include "base/spread.h"
#include "schedule/drafts.h"
#include "schedule/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double HALF = 0.5, HALF_LIFE_S = 365.25 * 86400;

/* One schedule of the Task that is read. */
typedef struct Point {
	const char *trace;
	VEC(double) ns;
	double weight; /* of its best run */
} Point;

/* A Task on a target whose records were read, in an arena of its own. */
typedef struct Pending {
	Arena *arena;
	DbTask of;
	Target target;
	const Task *task; /* NULL: this version cannot read it */
	Map points;       /* by trace */
	const Point *point;
	size_t n;
	CachedRow *row;         /* of each point */
	const CachedRow **known; /* what the cache says of it; NULL: nothing */
	bool *made;              /* the row is not the cache's */
	const char *standard;    /* trace of the template's default; NULL: there is none */
} Pending;

typedef struct Gather {
	Arena *arena, *scratch; /* scratch: of one Task */
	const LearnAsk *ask;
	Db *db;                 /* that is read */
	bool only_hash;
	Map tasks;              /* workload and target: seen */
	Map runs;               /* ids: seen */
	Map sessions, epochs;   /* ids: when it began; codegen's epoch of an environment */
	int64_t newest_s;
	VEC(Hash) id;
	VEC(LearnTask) task;
	VEC(Hash) target;
	VEC(float) row;
	VEC(double) ns;
	VEC(double) estimate;
	VEC(double) weight;
	VEC(int) number;
	int64_t refused;
	RowCache *cache;
	bool stale; /* a row of the cache was another one: all are */
	Map points; /* of the Task: by trace */
	VEC(Point) point;
	VEC(Pending) pending; /* all Tasks, in the order in which they were read */
	Err *err;
} Gather;

/* ---- runs ---- */

/* A whole number of a record, read once. */
static int64_t number_of(Gather *g, Map *map, Hash id, const char *key)
{
	uint32_t before = map->index.n;
	MapEntry *e = map_add_bytes(map, &id, sizeof id);
	if (map->index.n > before) {
		Arena *a = arena_new();
		int64_t value = 0;
		const Record *r = db_record(g->db, id, NULL, a, NULL);
		if (r != NULL && json_find(r->json, key) != NULL)
			json_int(r->json, key, 0, INT64_MAX, &value, NULL);
		e->num = value;
		arena_free(a);
	}
	return e->num;
}

static int64_t epoch_of(Gather *g, const RunRecord *run)
{
	return number_of(g, &g->epochs, run->env, "codegen_epoch");
}

static bool take_run(const RunRecord *run, void *arg)
{
	Gather *g = arg;
	uint32_t before = g->runs.index.n;
	map_add_bytes(&g->runs, &run->id, sizeof run->id);
	if (g->runs.index.n == before || run_stage(run) == STAGE_NETWORK)
		return true;
	vec_push(g->arena, &g->id, run->id);
	if (g->only_hash)
		return true;
	before = g->points.index.n;
	MapEntry *e = map_add_bytes(&g->points, run->trace, strlen(run->trace));
	if (g->points.index.n > before) {
		e->num = (int64_t)g->point.n;
		vec_push(g->scratch, &g->point, ((Point){ .trace = e->text }));
	}
	Point *p = &g->point.at[e->num];
	double age = (double)(g->newest_s - number_of(g, &g->sessions, run->session, "started_s"));
	double weight = pow(HALF, fmax(age, 0) / HALF_LIFE_S) * (run->own ? 1 : HALF) *
		(run_stage(run) == STAGE_LOOK ? HALF : 1) * (epoch_of(g, run) == g->ask->epoch ? 1 : HALF);
	vec_push(g->scratch, &p->ns, (double)run->median_ns);
	p->weight = fmax(p->weight, weight);
	return true;
}

static bool note_session(const DbSession *s, void *arg)
{
	Gather *g = arg;
	int64_t began = number_of(g, &g->sessions, s->id, "started_s");
	g->newest_s = began > g->newest_s ? began : g->newest_s;
	return true;
}

/* ---- Tasks ---- */

/* The target of a record: as this machine describes itself, or as the record and target/model.def do. */
static bool target_of(Gather *g, Hash id, Target *out)
{
	static const char *const key[][2] = { { "kind", "type" }, { "model", "model" }, { "features", "features" } };
	int64_t threads = 1;
	const Record *r = db_record(g->db, id, NULL, g->scratch, NULL);
	Text form = { .arena = g->scratch };
	if (r == NULL)
		return false;
	json_int(r->json, "threads", 1, TEAM_MAX, &threads, NULL);
	if (g->ask->here != NULL) {
		*out = *g->ask->here;
		out->threads = (int)threads;
		Hash own = target_id(out);
		if (memcmp(&own, &id, sizeof id) == 0)
			return out->kind == g->ask->kind;
	}
	for (size_t k = 0; k < 3; k++) {
		const Json *v = json_find(r->json, key[k][1]);
		if (v == NULL)
			return false;
		text_add(&form, "%s\"%s\":", k == 0 ? "{" : ",", key[k][0]);
		json_write(&form, v);
	}
	text_add(&form, "}");
	return target_parse(out, "record", text_str(&form), form.n, (int)threads, NULL) && out->kind == g->ask->kind;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* ---- replays ---- */

typedef struct Making {
	Pending *of;
	const size_t *point; /* of each draft */
} Making;

static void take_draft(void *arg, int i, Arena *a, const KernelSet *ks)
{
	const Making *m = arg;
	CachedRow *row = &m->of->row[m->point[i]];
	if (ks != NULL)
		row->estimate = predictor_row(ks, m->of->task, &m->of->target, row->row);
	arena_free(a);
}

/* Schedules of a Task begin alike, so they are drafted together. */
static void replay(Pending *p)
{
	Arena *a = arena_new();
	DraftJob *job = arena_array(a, DraftJob, p->n + 1);
	size_t *point = arena_array(a, size_t, p->n + 1);
	int n = 0;
	for (size_t i = 0; i < p->n; i++) {
		const char *text = p->point[i].trace;
		const Trace *t = p->made[i] ? trace_parse(a, "record", text, strlen(text), NULL) : NULL;
		if (t == NULL)
			continue;
		Text printed = { .arena = a };
		trace_print(&printed, t);
		job[n] = (DraftJob){ t, text_str(&printed) };
		point[n++] = i;
	}
	Making m = { p, point };
	if (n > 0)
		drafts_each(drafts_new(a, p->task, &p->target), job, n, take_draft, &m);
	Text text = { .arena = p->arena };
	Space *space = space_new(a, p->task, &p->target, NULL);
	Trace *first = space != NULL ? space_trace(space, &space->first, a, NULL) : NULL;
	if (first != NULL)
		trace_print(&text, first);
	p->standard = first != NULL ? text_str(&text) : NULL;
	arena_free(a);
}

static void replay_one(void *arg, size_t i)
{
	Pending *p = (Pending *)arg + i;
	if (p->task != NULL)
		replay(p);
}

/* What the cache has of the points; the others are to be made, and some of these again, to be compared. */
static void recall(Gather *g, Pending *p, const char *target_text)
{
	p->row = arena_array(p->arena, CachedRow, p->n + 1);
	p->known = arena_array(p->arena, const CachedRow *, p->n + 1);
	p->made = arena_array(p->arena, bool, p->n + 1);
	for (size_t i = 0; i < p->n; i++) {
		Hash key = row_cache_key(p->of.workload, target_text, p->point[i].trace);
		p->known[i] = row_cache_find(g->cache, key);
		p->made[i] = p->known[i] == NULL || row_cache_doubts(g->cache);
		p->row[i] = p->made[i] ? (CachedRow){ .key = key, .estimate = ROW_REFUSED } : *p->known[i];
	}
}

/* ---- rows ---- */

static void remember(Gather *g, const CachedRow *row, const CachedRow *known)
{
	if (known == NULL)
		row_cache_add(g->cache, row);
	else
		g->stale |= known->estimate != row->estimate || memcmp(known->row, row->row, sizeof row->row) != 0;
}

/* False: the schedule is refused, or its time is no time. */
static bool add_row(Gather *g, const Pending *p, size_t i)
{
	const CachedRow *x = &p->row[i];
	const Point *point = &p->point[i];
	qsort(point->ns.at, point->ns.n, sizeof *point->ns.at, by_value);
	double ns = point->ns.at[point->ns.n / 2];
	if (x->estimate == ROW_REFUSED || ns < (double)roof_floor_ns(p->task, &p->target))
		return false;
	for (int k = 0; k < PREDICTORS; k++)
		vec_push(g->arena, &g->row, x->row[k]);
	vec_push(g->arena, &g->ns, ns);
	vec_push(g->arena, &g->estimate, x->estimate);
	vec_push(g->arena, &g->weight, point->weight);
	vec_push(g->arena, &g->number, (int)g->task.n);
	return true;
}

static void add_task(Gather *g, const Pending *p)
{
	const Target *target = &p->target;
	LearnTask x = { .workload = p->of.workload, .target = p->of.target, .first = (int)g->ns.n, .standard = -1,
		.arch = target->arch, .vector_bits = target->vector_bits, .parallel = target->threads > 1 };
	const MapEntry *standard = p->standard != NULL ? map_find_text(&p->points, p->standard) : NULL;
	for (size_t i = 0; i < p->n; i++) {
		if (p->task != NULL && p->made[i])
			remember(g, &p->row[i], p->known[i]);
		if (p->task == NULL || !add_row(g, p, i))
			g->refused++;
		else if (standard != NULL && (int64_t)i == standard->num)
			x.standard = (int)g->ns.n - 1;
	}
	x.n = (int)g->ns.n - x.first;
	if (x.n == 0)
		return;
	x.class = arena_printf(g->arena, "%.*s", (int)strcspn(p->task->label, " "), p->task->label);
	vec_push(g->arena, &g->task, x);
	for (size_t i = 0; i < g->target.n; i++)
		if (memcmp(&g->target.at[i], &p->of.target, sizeof p->of.target) == 0)
			return;
	vec_push(g->arena, &g->target, p->of.target);
}

/* The points of g->scratch, which is the Task's from now on. */
static void keep_task(Gather *g, const DbTask *t, const Target *target)
{
	const char *dag;
	const Record *r = db_record(g->db, t->workload, NULL, g->scratch, NULL);
	Pending p = { .arena = g->scratch, .of = *t, .target = *target, .points = g->points, .point = g->point.at,
		.n = g->point.n };
	if (r != NULL && json_str(r->json, "dag", &dag, NULL))
		p.task = task_parse(g->scratch, dag, strlen(dag), NULL);
	if (p.task != NULL)
		recall(g, &p, arena_printf(g->scratch, "%s %d", target_json(g->scratch, target), target->threads));
	vec_push(g->arena, &g->pending, p);
	g->scratch = NULL;
}

static bool take_task(const DbTask *t, void *arg)
{
	Gather *g = arg;
	Target target;
	unsigned char key[2 * sizeof(Hash)];
	uint32_t before = g->tasks.index.n;
	memcpy(key, &t->workload, sizeof t->workload);
	memcpy(key + sizeof t->workload, &t->target, sizeof t->target);
	map_add_bytes(&g->tasks, key, sizeof key);
	if (g->tasks.index.n == before || t->ok == 0)
		return true;
	g->scratch = arena_new();
	g->points = MAP_OF(g->scratch);
	g->point.n = g->point.cap = 0;
	g->point.at = NULL;
	bool good = true;
	if (target_of(g, t->target, &target)) {
		for (int i = 0; good && i < g->ask->set.n; i++)
			good = db_each_verified(g->ask->set.db[i], t->workload, t->target, take_run, g, g->err);
		if (good && g->point.n > 0)
			keep_task(g, t, &target);
	}
	arena_free(g->scratch);
	return good;
}

static int by_id(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(Hash));
}

static bool read_all(Gather *g)
{
	g->tasks = g->runs = g->sessions = g->epochs = MAP_OF(g->arena);
	for (int i = 0; i < g->ask->set.n; i++) {
		g->db = g->ask->set.db[i];
		if (!db_each_session(g->db, note_session, g, g->err))
			return false;
	}
	for (int i = 0; i < g->ask->set.n; i++) {
		g->db = g->ask->set.db[i];
		if (!db_each_task(g->db, take_task, g, g->err) || g->err->code != ERR_NONE)
			return false;
	}
	return true;
}

static bool gather(Gather *g)
{
	bool good = read_all(g);
	if (good)
		spread(g->ask->threads, g->pending.n, replay_one, g->pending.at);
	for (size_t i = 0; i < g->pending.n; i++) {
		if (good)
			add_task(g, &g->pending.at[i]);
		arena_free(g->pending.at[i].arena);
	}
	return good;
}

static Hash hash_of_runs(Gather *g)
{
	if (g->id.n > 0)
		qsort(g->id.at, g->id.n, sizeof *g->id.at, by_id);
	return hash_of("dlc/learned-from/v1", g->id.at, g->id.n * sizeof *g->id.at);
}

bool learn_gather(const LearnAsk *ask, LearnSet *out, Arena *a, Err *err)
{
	Err why = { 0 };
	RowCache cache;
	row_cache_open(&cache, a, ask->rows, ask->epoch);
	Gather g = { .arena = a, .ask = ask, .err = &why, .cache = &cache };
	bool ok = gather(&g);
	if (ok && g.stale) {
		row_cache_drop(&cache);
		g = (Gather){ .arena = a, .ask = ask, .err = &why, .cache = &cache };
		ok = gather(&g);
	}
	if (!ok) {
		*err = why;
		return false;
	}
	row_cache_save(&cache);
	*out = (LearnSet){ .rows = { (int)g.ns.n, g.row.at, g.ns.at, g.estimate.at, g.weight.at, g.number.at },
		.task = g.task.at,
		.ntask = (int)g.task.n,
		.ntarget = (int)g.target.n,
		.runs = (int64_t)g.id.n,
		.refused = g.refused,
		.data = hash_of_runs(&g),
		.epoch = ask->epoch,
		.threads = ask->threads,
		.replayed = cache.path != NULL ? cache.added : (int64_t)g.ns.n + g.refused,
		.note = cache.note };
	return true;
}

bool learn_hash(const LearnAsk *ask, Hash *data, int64_t *runs, Err *err)
{
	Err why = { 0 };
	Arena *a = arena_new();
	Gather g = { .arena = a, .ask = ask, .only_hash = true, .err = &why };
	bool ok = gather(&g);
	if (ok) {
		*data = hash_of_runs(&g);
		*runs = (int64_t)g.id.n;
	} else {
		*err = why;
	}
	arena_free(a);
	return ok;
}
