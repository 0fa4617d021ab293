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
	const char *target_text; /* of the Task's target, with all that describes it */
	bool stale;              /* a row of the cache was another one: all are */
	Map points; /* of the Task: by trace */
	VEC(Point) point;
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

static void replay(const Task *task, const Target *target, const char *trace, CachedRow *out)
{
	Arena *a = arena_new();
	Trace *t = trace_parse(a, "record", trace, strlen(trace), NULL);
	const KernelSet *ks = t != NULL ? schedule_draft(ir_new(a), task, target, t, NULL) : NULL;
	out->estimate = ks != NULL ? predictor_row(ks, task, target, out->row) : ROW_REFUSED;
	arena_free(a);
}

/* The row of a schedule: as the cache has it, or by a replay. */
static void row_of(Gather *g, const Task *task, const Target *target, const char *trace, CachedRow *out)
{
	*out = (CachedRow){ .key = row_cache_key(task->id, g->target_text, trace) };
	const CachedRow *known = row_cache_find(g->cache, out->key);
	if (known != NULL && !row_cache_doubts(g->cache)) {
		*out = *known;
		return;
	}
	replay(task, target, trace, out);
	if (known == NULL)
		row_cache_add(g->cache, out);
	else
		g->stale |= known->estimate != out->estimate || memcmp(known->row, out->row, sizeof out->row) != 0;
}

/* False: the schedule is refused, or its time is no time. */
static bool add_row(Gather *g, const Task *task, const Target *target, Point *p)
{
	CachedRow x;
	row_of(g, task, target, p->trace, &x);
	qsort(p->ns.at, p->ns.n, sizeof *p->ns.at, by_value);
	double ns = p->ns.at[p->ns.n / 2];
	if (x.estimate == ROW_REFUSED || ns < (double)roof_floor_ns(task, target))
		return false;
	for (int k = 0; k < PREDICTORS; k++)
		vec_push(g->arena, &g->row, x.row[k]);
	vec_push(g->arena, &g->ns, ns);
	vec_push(g->arena, &g->estimate, x.estimate);
	vec_push(g->arena, &g->weight, p->weight);
	vec_push(g->arena, &g->number, (int)g->task.n);
	return true;
}

/* The number of the point that is the template's default; -1: there is none. */
static int64_t standard_point(Gather *g, const Task *task, const Target *target)
{
	Text text = { .arena = g->scratch };
	Space *space = space_new(g->scratch, task, target, NULL);
	Trace *first = space != NULL ? space_trace(space, &space->first, g->scratch, NULL) : NULL;
	if (first == NULL)
		return -1;
	trace_print(&text, first);
	const MapEntry *e = map_find_text(&g->points, text_str(&text));
	return e != NULL ? e->num : -1;
}

static void add_task(Gather *g, const DbTask *t, const Target *target)
{
	const char *dag;
	const Record *r = db_record(g->db, t->workload, NULL, g->scratch, NULL);
	const Task *task = r != NULL && json_str(r->json, "dag", &dag, NULL)
		? task_parse(g->scratch, dag, strlen(dag), NULL) : NULL;
	LearnTask x = { .workload = t->workload, .target = t->target, .first = (int)g->ns.n, .standard = -1,
		.arch = target->arch, .vector_bits = target->vector_bits, .parallel = target->threads > 1 };
	int64_t standard = task != NULL ? standard_point(g, task, target) : -1;
	for (size_t i = 0; i < g->point.n; i++)
		if (task == NULL || !add_row(g, task, target, &g->point.at[i]))
			g->refused++;
		else if ((int64_t)i == standard)
			x.standard = (int)g->ns.n - 1;
	x.n = (int)g->ns.n - x.first;
	if (x.n == 0)
		return;
	x.class = arena_printf(g->arena, "%.*s", (int)strcspn(task->label, " "), task->label);
	vec_push(g->arena, &g->task, x);
	for (size_t i = 0; i < g->target.n; i++)
		if (memcmp(&g->target.at[i], &t->target, sizeof t->target) == 0)
			return;
	vec_push(g->arena, &g->target, t->target);
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
		g->target_text = arena_printf(g->scratch, "%s %d", target_json(g->scratch, &target), target.threads);
		for (int i = 0; good && i < g->ask->set.n; i++)
			good = db_each_verified(g->ask->set.db[i], t->workload, t->target, take_run, g, g->err);
		if (good && g->point.n > 0)
			add_task(g, t, &target);
	}
	arena_free(g->scratch);
	return good && !g->stale;
}

static int by_id(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(Hash));
}

static bool gather(Gather *g)
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
