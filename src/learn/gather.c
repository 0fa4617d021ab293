/*
 * See gather.h. What a run took, and when, the index of the database says; a trace is read only to be replayed. Tasks
 * are read one after the other, and then replayed by several threads. The time of a schedule is the median over its
 * sessions, brought to one speed (speeds.h). Runs inside of networks are left out, which are timed otherwise, and times
 * below the floor. The weight of a run is 1. It is halved if another user measured the run, if its stage is look, if
 * its code is of another epoch, and for each year that it is older than the newest session.
 */
#include "learn/gather.h"

#include "base/map.h"
#include "cost_model/roof.h"
#include "db/look.h"
#include "learn/row_cache.h"
#include "learn/speeds.h"
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
	int64_t trace; /* its number */
	Hash run;      /* one of its runs, and the database that has it */
	Db *db;
	bool asked;    /* its row is: it has a run of the session that was named, or none was */
	const char *text; /* the trace, where it is to be replayed */
	double ns;
	double weight; /* of its best run */
	int group;     /* of schedules whose times may be compared (speeds.h) */
} Point;

/* A target of the records. */
typedef struct Machine {
	Hash id;
	bool asked; /* it is of the kind that is asked for, and this version knows it */
	Target target;
	const char *text; /* all that describes it */
} Machine;

/* A Task on a target whose records were read, in an arena of its own. */
typedef struct Pending {
	Arena *arena;
	Hash workload;
	const Machine *on;
	const char *dag;
	const Task *task; /* NULL: this version cannot read it */
	Map points;       /* by the number of the trace */
	Point *point;
	size_t n;
	CachedRow *row;         /* of each point */
	const CachedRow **known; /* what the cache says of it; NULL: nothing */
	int standard;            /* the point of the template's default; -1: none */
	TimedRun *timed;         /* of points and sessions */
	size_t ntimed;
} Pending;

typedef struct Gather {
	Arena *arena, *scratch; /* scratch: of one Task */
	const LearnAsk *ask;
	Db *db;                 /* of the Task that is read */
	Db *runs_of;            /* of its runs that are read */
	bool only_hash;
	const Hash *session;    /* only schedules that it ran are replayed; NULL: all */
	Map tasks;              /* workload and target: seen */
	Map runs;               /* ids: seen */
	Map sessions;           /* ids: when it began */
	int64_t newest_s;
	VEC(Machine *) machine;
	VEC(Hash) id;
	VEC(LearnTask) task;
	VEC(Hash) target;
	VEC(float) row;
	VEC(double) ns;
	VEC(double) estimate;
	VEC(double) weight;
	VEC(int) number;
	int64_t refused, replayed;
	RowCache *cache;
	bool stale; /* a row of the cache was another one: all are */
	Map points; /* of the Task: by the number of the trace */
	VEC(Point) point;
	VEC(TimedRun) timed; /* of the Task */
	Map ran;             /* by the id of a session: its number */
	VEC(Pending) pending; /* all Tasks, in the order in which they were read */
	Err *err;
} Gather;

/* ---- runs ---- */

static bool take_run(const DbVerified *run, void *arg)
{
	Gather *g = arg;
	uint32_t before = g->runs.index.n;
	map_add_bytes(&g->runs, &run->id, sizeof run->id);
	if (g->runs.index.n == before || run->stage == STAGE_NETWORK)
		return true;
	vec_push(g->arena, &g->id, run->id);
	if (g->only_hash)
		return true;
	before = g->points.index.n;
	MapEntry *e = map_add(&g->points, (uint64_t)run->trace);
	if (g->points.index.n > before) {
		e->num = (int64_t)g->point.n;
		vec_push(g->scratch, &g->point, ((Point){ .trace = run->trace, .run = run->id, .db = g->runs_of }));
	}
	Point *p = &g->point.at[e->num];
	const MapEntry *began = map_find_bytes(&g->sessions, &run->session, sizeof run->session);
	double age = (double)(g->newest_s - (began != NULL ? began->num : 0));
	double weight = pow(HALF, fmax(age, 0) / HALF_LIFE_S) * (run->own ? 1 : HALF) *
		(run->stage == STAGE_LOOK ? HALF : 1) * (run->epoch == g->ask->epoch ? 1 : HALF);
	before = g->ran.index.n;
	MapEntry *in = map_add_bytes(&g->ran, &run->session, sizeof run->session);
	if (g->ran.index.n > before)
		in->num = before;
	vec_push(g->scratch, &g->timed, ((TimedRun){ (int)e->num, (int)in->num, (double)run->median_ns }));
	p->weight = fmax(p->weight, weight);
	p->asked |= g->session == NULL || memcmp(&run->session, g->session, sizeof run->session) == 0;
	return true;
}

static bool note_session(const DbSession *s, void *arg)
{
	Gather *g = arg;
	Arena *a = arena_new();
	const Record *r = db_record(g->db, s->id, NULL, a, NULL);
	int64_t began = 0;
	if (r != NULL && json_find(r->json, "started_s") != NULL)
		json_int(r->json, "started_s", 0, INT64_MAX, &began, NULL);
	map_add_bytes(&g->sessions, &s->id, sizeof s->id)->num = began;
	g->newest_s = began > g->newest_s ? began : g->newest_s;
	arena_free(a);
	return true;
}

/* ---- Tasks ---- */

/* The target of a record: as this machine describes itself, or as the record and target/model.def do. */
static bool read_target(Gather *g, Hash id, Target *out)
{
	static const char *const key[][2] = { { "kind", "type" }, { "model", "model" }, { "features", "features" } };
	int64_t threads = 1;
	const Record *r = db_record(g->db, id, NULL, g->arena, NULL);
	Text form = { .arena = g->arena };
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

static const Machine *machine_of(Gather *g, Hash id)
{
	for (size_t i = 0; i < g->machine.n; i++)
		if (memcmp(&g->machine.at[i]->id, &id, sizeof id) == 0)
			return g->machine.at[i];
	Machine *m = arena_new_of(g->arena, Machine);
	m->id = id;
	m->asked = read_target(g, id, &m->target);
	if (m->asked)
		m->text = arena_printf(g->arena, "%s %d", target_json(g->arena, &m->target), m->target.threads);
	vec_push(g->arena, &g->machine, m);
	return m;
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
		row->estimate = predictor_row(ks, m->of->task, &m->of->on->target, row->row);
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
		const char *text = p->point[i].text;
		const Trace *t = text != NULL ? trace_parse(a, "record", text, strlen(text), NULL) : NULL;
		if (t == NULL)
			continue;
		Text printed = { .arena = a };
		trace_print(&printed, t);
		job[n] = (DraftJob){ t, text_str(&printed) };
		point[n++] = i;
	}
	Making m = { p, point };
	if (n > 0)
		drafts_each(drafts_new(a, p->task, &p->on->target), job, n, take_draft, &m);
	arena_free(a);
}

static void find_standard(Pending *p)
{
	Arena *a = arena_new();
	Text text = { .arena = a };
	Space *space = space_new(a, p->task, &p->on->target, NULL);
	Trace *first = space != NULL ? space_trace(space, &space->first, a, NULL) : NULL;
	if (first != NULL)
		trace_print(&text, first);
	const MapEntry *e = first != NULL ? map_find(&p->points, (uint64_t)db_trace_number(text_str(&text))) : NULL;
	p->standard = e != NULL ? (int)e->num : -1;
	arena_free(a);
}

typedef struct Replays {
	Pending *pending;
	bool standards; /* are asked for too */
} Replays;

static void replay_one(void *arg, size_t i)
{
	const Replays *r = arg;
	Pending *p = &r->pending[i];
	p->task = p->dag != NULL ? task_parse(p->arena, p->dag, strlen(p->dag), NULL) : NULL;
	if (p->task == NULL)
		return;
	replay(p);
	if (r->standards)
		find_standard(p);
}

/* What the cache has of the points; the others are to be replayed, and some of these again, to be compared. */
static bool recall(Gather *g, Pending *p)
{
	Hash task = row_cache_task(p->workload, p->on->text);
	p->row = arena_array(p->arena, CachedRow, p->n + 1);
	p->known = arena_array(p->arena, const CachedRow *, p->n + 1);
	for (size_t i = 0; i < p->n; i++) {
		Point *x = &p->point[i];
		Hash key = row_cache_key(task, x->trace);
		p->known[i] = row_cache_find(g->cache, key);
		p->row[i] = (CachedRow){ .key = key, .estimate = ROW_REFUSED };
		if (p->known[i] != NULL && !row_cache_doubts(g->cache))
			p->row[i] = *p->known[i];
		else if (x->asked && (x->text = db_trace_of(x->db, x->run, x->trace, p->arena, g->err)) == NULL)
			return false;
	}
	return true;
}

/* ---- rows ---- */

static void remember(Gather *g, const CachedRow *row, const CachedRow *known)
{
	if (known == NULL)
		row_cache_add(g->cache, row);
	else
		g->stale |= known->estimate != row->estimate || memcmp(known->row, row->row, sizeof row->row) != 0;
}

/* False: the schedule is refused. */
static bool add_row(Gather *g, const Pending *p, size_t i)
{
	const CachedRow *x = &p->row[i];
	const Point *point = &p->point[i];
	if (x->estimate == ROW_REFUSED)
		return false;
	for (int k = 0; k < PREDICTORS; k++)
		vec_push(g->arena, &g->row, x->row[k]);
	vec_push(g->arena, &g->ns, point->ns);
	vec_push(g->arena, &g->estimate, x->estimate);
	vec_push(g->arena, &g->weight, point->weight);
	vec_push(g->arena, &g->number, (int)g->task.n);
	return true;
}

/* What was replayed goes into the cache. */
static void remember_task(Gather *g, const Pending *p)
{
	for (size_t i = 0; i < p->n && p->task != NULL; i++)
		if (p->point[i].text != NULL) {
			g->replayed += p->known[i] == NULL;
			remember(g, &p->row[i], p->known[i]);
		}
}

/* The group that most of its schedules are of. */
static int main_group(const Pending *p)
{
	Arena *a = arena_new();
	Map seen = MAP_OF(a);
	int best = -1;
	int64_t most = 0;
	for (size_t i = 0; i < p->n; i++) {
		int group = p->point[i].group;
		int64_t n = group >= 0 ? ++map_add(&seen, (uint64_t)group)->num : 0;
		best = n > most ? group : best;
		most = n > most ? n : most;
	}
	arena_free(a);
	return best;
}

static void add_task(Gather *g, const Pending *p)
{
	const Target *target = &p->on->target;
	LearnTask x = { .workload = p->workload, .target = p->on->id, .first = (int)g->ns.n, .standard = -1,
		.arch = target->arch, .vector_bits = target->vector_bits, .parallel = target->threads > 1 };
	int group = main_group(p);
	for (size_t i = 0; i < p->n; i++) {
		if (p->point[i].group < 0 || p->point[i].group != group || !add_row(g, p, i))
			g->refused++;
		else if ((int)i == p->standard)
			x.standard = (int)g->ns.n - 1;
	}
	x.n = (int)g->ns.n - x.first;
	if (x.n == 0)
		return;
	x.class = arena_printf(g->arena, "%.*s", (int)strcspn(p->task->label, " "), p->task->label);
	vec_push(g->arena, &g->task, x);
	for (size_t i = 0; i < g->target.n; i++)
		if (memcmp(&g->target.at[i], &x.target, sizeof x.target) == 0)
			return;
	vec_push(g->arena, &g->target, x.target);
}

/* The points of g->scratch, which is the Task's from now on. */
static bool keep_task(Gather *g, Hash workload, const Machine *on)
{
	const Record *r = db_record(g->db, workload, NULL, g->scratch, NULL);
	Pending p = { .arena = g->scratch, .workload = workload, .on = on, .points = g->points, .point = g->point.at,
		.n = g->point.n, .standard = -1,
		.timed = g->timed.at, .ntimed = g->timed.n };
	if (r == NULL || !json_str(r->json, "dag", &p.dag, NULL))
		p.dag = NULL;
	g->scratch = NULL;
	vec_push(g->arena, &g->pending, p);
	return recall(g, &g->pending.at[g->pending.n - 1]);
}

static bool any_asked(const Gather *g)
{
	for (size_t i = 0; i < g->point.n; i++)
		if (g->point.at[i].asked)
			return true;
	return false;
}

static bool take_task(Hash workload, Hash target, void *arg)
{
	Gather *g = arg;
	Hash key[] = { workload, target };
	uint32_t before = g->tasks.index.n;
	map_add_bytes(&g->tasks, key, sizeof key);
	const Machine *on = g->tasks.index.n > before ? machine_of(g, target) : NULL;
	if (on == NULL || !on->asked)
		return true;
	g->scratch = arena_new();
	g->points = MAP_OF(g->scratch);
	g->point.n = g->point.cap = 0;
	g->point.at = NULL;
	g->timed.n = g->timed.cap = 0;
	g->timed.at = NULL;
	bool good = true;
	for (int i = 0; good && i < g->ask->set.n; i++) {
		g->runs_of = g->ask->set.db[i];
		good = db_each_indexed(g->runs_of, workload, target, take_run, g, g->err);
	}
	if (good && any_asked(g))
		good = keep_task(g, workload, on);
	arena_free(g->scratch);
	return good;
}

static int by_id(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(Hash));
}

static bool read_all(Gather *g)
{
	g->tasks = g->runs = g->sessions = g->ran = MAP_OF(g->arena);
	for (int i = 0; i < g->ask->set.n; i++) {
		g->db = g->ask->set.db[i];
		if (!db_each_session(g->db, note_session, g, g->err))
			return false;
	}
	for (int i = 0; i < g->ask->set.n; i++) {
		g->db = g->ask->set.db[i];
		if (!db_each_pair(g->db, take_task, g, g->err) || g->err->code != ERR_NONE)
			return false;
	}
	return true;
}

/* The databases are read as they are at one moment. */
static bool read_held(Gather *g)
{
	if (!db_hold(g->ask->set, g->err))
		return false;
	bool good = read_all(g);
	db_release(g->ask->set);
	return good;
}

/* The runs of a target, without those below the floor of their Task; points and sessions are counted from 0. */
static TimedRun *runs_on(const Gather *g, const Machine *on, Arena *a, int n[2], int *sessions)
{
	VEC(TimedRun) all = { 0 };
	int *number = arena_array(a, int, g->ran.index.n + 1);
	n[0] = n[1] = *sessions = 0;
	for (size_t i = 0; i < g->pending.n; i++) {
		const Pending *p = &g->pending.at[i];
		if (p->on != on)
			continue;
		double floor = p->task != NULL ? (double)roof_floor_ns(p->task, &on->target) : INFINITY;
		for (size_t k = 0; k < p->ntimed; k++) {
			const TimedRun *r = &p->timed[k];
			if (r->ns < floor)
				continue;
			number[r->session] = number[r->session] > 0 ? number[r->session] : ++*sessions;
			vec_push(a, &all, ((TimedRun){ n[1] + r->schedule, number[r->session] - 1, r->ns }));
		}
		n[1] += (int)p->n;
	}
	n[0] = (int)all.n;
	return all.at;
}

/* The times of a target's schedules, and which may be compared. */
static void compare_times(Gather *g, const Machine *on)
{
	Arena *a = arena_new();
	int n[2], sessions; /* runs, points */
	TimedRun *run = runs_on(g, on, a, n, &sessions);
	double *ns = arena_array(a, double, n[1] + 1);
	int *group = arena_array(a, int, n[1] + 1), at = 0;
	speeds_join(a, run, n[0], n[1], sessions, ns, group);
	for (size_t i = 0; i < g->pending.n; i++)
		for (size_t k = 0; g->pending.at[i].on == on && k < g->pending.at[i].n; k++, at++) {
			g->pending.at[i].point[k].ns = ns[at];
			g->pending.at[i].point[k].group = group[at];
		}
	arena_free(a);
}

static bool gather(Gather *g)
{
	bool good = read_held(g);
	if (good) {
		Replays r = { g->pending.at, g->session == NULL };
		spread(g->ask->threads, g->pending.n, replay_one, &r);
	}
	for (size_t i = 0; i < g->machine.n && good && g->session == NULL; i++)
		if (g->machine.at[i]->asked)
			compare_times(g, g->machine.at[i]);
	for (size_t i = 0; i < g->pending.n; i++) {
		if (good)
			remember_task(g, &g->pending.at[i]);
		if (good && g->session == NULL)
			add_task(g, &g->pending.at[i]);
		arena_free(g->pending.at[i].arena);
	}
	return good;
}

/* Again from the beginning, without the cache, where a row of it was another one. */
static bool gather_through(Gather *g, RowCache *cache)
{
	Gather fresh = *g;
	row_cache_open(cache, g->arena, g->ask->rows, g->ask->epoch);
	g->cache = fresh.cache = cache;
	bool ok = gather(g);
	if (ok && g->stale) {
		row_cache_drop(cache);
		*g = fresh;
		ok = gather(g);
	}
	if (ok)
		row_cache_save(cache);
	return ok;
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
	Gather g = { .arena = a, .ask = ask, .err = &why };
	if (!gather_through(&g, &cache)) {
		*err = why;
		return false;
	}
	*out = (LearnSet){ .rows = { (int)g.ns.n, g.row.at, g.ns.at, g.estimate.at, g.weight.at, g.number.at },
		.task = g.task.at,
		.ntask = (int)g.task.n,
		.ntarget = (int)g.target.n,
		.runs = (int64_t)g.id.n,
		.refused = g.refused,
		.data = hash_of_runs(&g),
		.epoch = ask->epoch,
		.threads = ask->threads,
		.replayed = g.replayed,
		.note = cache.note };
	return true;
}

bool learn_keep_rows(const LearnAsk *ask, Hash session, const char **note, Arena *a, Err *err)
{
	Err why = { 0 };
	RowCache cache;
	Gather g = { .arena = a, .ask = ask, .session = &session, .err = &why };
	if (!gather_through(&g, &cache)) {
		*err = why;
		return false;
	}
	*note = cache.note;
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
