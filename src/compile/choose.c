/*
 * Chooses the schedule of a task, from the strongest evidence to none. exact: a record of this task on this
 * target, made with this code generator. stale: one made with an older or newer code generator. near: a
 * record of the task on another target; it is taken if that has the same core, or if its estimate beats the default's
 * clearly. model: the config of the Task's space of which a learned model expects more than of the default (untuned.h).
 * default: the template's first choice. If a limit refuses that, the first choice of the template of any loops. The
 * naive loops are what is left.
 * A record that does not replay is skipped. A record that claims a time no core can reach is not considered.
 */
#include "compile/choose.h"

#include "codegen/lower.h"
#include "compile/lock_file.h"
#include "compile/untuned.h"
#include "cost_model/roof.h"
#include "db/rank.h"
#include "op/steps.h"

#include <assert.h>
#include <string.h>

static const char *const names[HIT_COUNT] = { "exact", "near", "stale", "default", "model" };

const char *hit_name(HitClass h)
{
	return names[h];
}

bool hit_fulfils(HitClass h, HitClass least)
{
	static const int strength[HIT_COUNT] = {
		[HIT_EXACT] = 4, [HIT_STALE] = 3, [HIT_NEAR] = 2, [HIT_MODEL] = 1, [HIT_DEFAULT] = 0
	};
	return strength[h] >= strength[least];
}

typedef struct Choice {
	Ir *ir;
	Arena *arena; /* the Ir's */
	const Task *task;
	const CompileOptions *o;
	Cost cost;
	DbSet set;
	DbKey key;
	TaskPlan *plan;
	const char *refused; /* the reason why the best record of this task was not taken; NULL: none */
	Err *err;
} Choice;

static KernelSet *replay_in(Choice *c, Ir *ir, const char *trace, Err *err)
{
	Trace *t = trace_parse(ir_arena(ir), c->task->label, trace, strlen(trace), err);
	return t != NULL ? schedule_replay(ir, c->task, c->o->target, t, err) : NULL;
}

/* Replays in an Ir of its own first: the nodes of a refused trace are freed with it. */
static KernelSet *replay(Choice *c, const char *trace, Err *err)
{
	Arena *scratch = arena_new();
	bool takes = replay_in(c, ir_new(scratch), trace, err) != NULL;
	arena_free(scratch);
	return takes ? replay_in(c, c->ir, trace, err) : NULL;
}

static double estimate_ms(const Choice *c, const KernelSet *ks)
{
	return (c->o->untuned != NULL ? untuned_ns(c->o->untuned, ks, c->task)
				      : cost_estimate_one(&c->cost, ks, c->task)) / 1e6;
}

/* ---- records of the task itself ---- */

/* The best schedule that replays; NULL without an error: none does. */
static KernelSet *first_that_replays(Choice *c, int epoch, DbWhose whose)
{
	DbChoice *x = arena_array(c->arena, DbChoice, CHOOSE_TRIED);
	int n;
	c->key.epoch = epoch;
	c->key.whose = whose;
	if (!db_rank(c->set, &c->key, x, CHOOSE_TRIED, &n, c->arena, c->err))
		return NULL;
	for (int i = 0; i < n; i++) {
		Err why = { 0 };
		KernelSet *ks = replay(c, x[i].run.trace, &why);
		if (ks == NULL) {
			if (c->refused == NULL)
				c->refused = arena_printf(c->arena, "does not replay: %s", why.text);
			continue;
		}
		const char *code = arena_printf(c->arena, "code of epoch %d", epoch);
		*c->plan = (TaskPlan){ .task = c->task,
			.hit = epoch == CODEGEN_EPOCH ? HIT_EXACT : HIT_STALE,
			.trace = x[i].run.trace,
			.estimated_ms = (double)x[i].ns / 1e6,
			.record = x[i].run.id,
			.why = arena_printf(c->arena, "%d session%s%s, %s", x[i].sessions, x[i].sessions == 1 ? "" : "s",
				x[i].own ? "" : " of others", epoch == CODEGEN_EPOCH ? "verified" : code) };
		return ks;
	}
	return NULL;
}

/* Own measurements decide. Records of others are used if there are no own ones. */
static KernelSet *recorded(Choice *c, int epoch)
{
	KernelSet *ks = first_that_replays(c, epoch, DB_OWN);
	return ks != NULL || c->err->code != ERR_NONE ? ks : first_that_replays(c, epoch, DB_HINTS);
}

static KernelSet *stale(Choice *c)
{
	int epoch[CHOOSE_STALE_EPOCHS], n;
	if (!db_epochs(c->set, c->key.workload, c->key.target, CODEGEN_EPOCH, epoch, CHOOSE_STALE_EPOCHS, &n, c->err))
		return NULL;
	for (int i = 0; i < n; i++) {
		KernelSet *ks = recorded(c, epoch[i]);
		if (ks != NULL || c->err->code != ERR_NONE)
			return ks;
	}
	return NULL;
}

/* ---- the default ---- */

static KernelSet *take_first(Choice *c, const char *trace, const char *why, Err *err)
{
	KernelSet *ks = replay(c, trace, err);
	if (ks != NULL)
		*c->plan = (TaskPlan){
			.task = c->task, .hit = HIT_DEFAULT, .trace = trace, .estimated_ms = estimate_ms(c, ks), .why = why
		};
	return ks;
}

/* The naive loops, which no limit of schedules refuses. */
static KernelSet *naive_set(Choice *c, const char *refused)
{
	static const char text[] = "unscheduled, since its default schedule is refused: %s";
	KernelSet *ks = take_first(c, "", arena_printf(c->arena, text, refused), c->err);
	c->plan->naive = ks != NULL;
	return ks;
}

/* The default of a space; NULL: it is refused. */
static KernelSet *first_of(Choice *c, Space *space, const char *why, Err *refused)
{
	Text text = { .arena = c->arena };
	Trace *first = space_trace(space, &space->first, c->arena, refused);
	if (first == NULL)
		return NULL;
	trace_print(&text, first);
	return take_first(c, text_str(&text), why, refused);
}

/* The default of the template of any loops. NULL: it is refused. */
static KernelSet *any_set(Choice *c, const char *why)
{
	Err ignored = { 0 };
	Space *any = space_of_any(c->arena, c->task, c->o->target, &ignored);
	return any != NULL ? first_of(c, any, why, &ignored) : NULL;
}

/*
 * The replacement of a refused default. tried: the refused trace, or NULL. The naive loops have no lanes, and on a
 * device they would be a kernel of one thread, so the template of any loops comes first.
 */
static KernelSet *without_default(Choice *c, const char *tried, const char *refused)
{
	static const char text[] = "a schedule of any loops, since its default schedule is refused: %s";
	KernelSet *ks = any_set(c, arena_printf(c->arena, text, refused));
	return ks != NULL && (tried == NULL || strcmp(c->plan->trace, tried) != 0) ? ks : naive_set(c, refused);
}

static KernelSet *default_set(Choice *c, const char *why)
{
	Err refused = { 0 };
	if (c->o->unscheduled)
		return take_first(c, "", why, c->err);
	Space *space = space_new(c->arena, c->task, c->o->target, &refused);
	if (space == NULL && refused.code != ERR_UNSUPPORTED) {
		*c->err = refused;
		return NULL;
	}
	if (space == NULL) /* no template is for the target */
		return naive_set(c, refused.text);
	KernelSet *ks = first_of(c, space, why, &refused);
	return ks != NULL ? ks : without_default(c, NULL, refused.text);
}

/* What the model expects more of than of the default, or the default. */
static KernelSet *untuned_set(Choice *c, const char *why)
{
	UntunedPick pick;
	Untuned *u = c->o->unscheduled ? NULL : c->o->untuned;
	Space *space = u != NULL ? space_new(c->arena, c->task, c->o->target, NULL) : NULL;
	KernelSet *ks =
		space != NULL && untuned_pick(u, space, &pick, c->arena) ? replay(c, pick.trace, NULL) : NULL;
	if (ks == NULL)
		return default_set(c, why);
	*c->plan = (TaskPlan){ .task = c->task,
		.hit = HIT_MODEL,
		.trace = pick.trace,
		.config = pick.config,
		.estimated_ms = estimate_ms(c, ks),
		.why = arena_printf(c->arena, "%s; %.2fx expected", why, pick.gain) };
	return ks;
}

/* The schedule that the caller gives; the default if it gives none or its schedule is refused. */
static KernelSet *given(Choice *c)
{
	const char *trace = c->o->trace_of(c->task, c->o->trace_arg);
	KernelSet *ks = trace != NULL ? replay(c, trace, NULL) : NULL;
	if (ks == NULL)
		return untuned_set(c, "given");
	*c->plan = (TaskPlan){
		.task = c->task, .hit = HIT_EXACT, .trace = trace, .estimated_ms = estimate_ms(c, ks), .why = "given"
	};
	return ks;
}

/* ---- other targets ---- */

/*
 * The best schedule of the Task on another target, of any epoch; NULL: it has none. Times below what any core can
 * reach do not count; on the same core, nor do those below what this one can reach.
 */
static const char *best_of(Choice *c, Hash target, bool same_core, Hash *record)
{
	int64_t floor = same_core ? c->key.floor_ns : ROOF_LEAST_NS;
	DbChoice best;
	int epoch[CHOOSE_STALE_EPOCHS + 1] = { CODEGEN_EPOCH }, n, found = 0;
	DbKey key = { .workload = c->task->id, .target = target, .floor_ns = floor };
	if (!db_epochs(c->set, c->task->id, target, CODEGEN_EPOCH, epoch + 1, CHOOSE_STALE_EPOCHS, &n, c->err))
		return NULL;
	for (int i = 0; i <= n && found == 0; i++) {
		key.epoch = epoch[i];
		if (!db_rank(c->set, &key, &best, 1, &found, c->arena, c->err))
			return NULL;
	}
	if (found == 0)
		return NULL;
	*record = best.run.id;
	return best.run.trace;
}

/*
 * What was measured on the same core replaces the schedule in c->plan. Of other cores, what has the best estimate does,
 * if that is clearly faster; a model must expect more of it than of the default by its margin.
 */
static KernelSet *near(Choice *c, KernelSet *otherwise)
{
	DbNear on[CHOOSE_OTHER_TARGETS];
	int n;
	KernelSet *best = otherwise;
	bool margin = c->o->untuned != NULL && c->plan->hit == HIT_DEFAULT;
	double most = c->plan->estimated_ms * (margin ? 1 / untuned_margin(c->o->untuned) : CHOOSE_NEAR_PERCENT / 100.0);
	if (!db_elsewhere(c->set, c->task, c->o->target, on, CHOOSE_OTHER_TARGETS, &n, c->arena, c->err))
		return NULL;
	for (int i = 0; i < n; i++) {
		Hash record;
		char hex[HASH_HEX];
		bool same_core = on[i].apart < DB_SAME_CORE;
		const char *trace = best_of(c, on[i].target, same_core, &record);
		if (c->err->code != ERR_NONE)
			return NULL;
		bool is_default = trace != NULL && strcmp(trace, c->plan->trace) == 0;
		KernelSet *ks = trace == NULL || is_default ? NULL : replay(c, trace, NULL);
		double ms = ks != NULL ? estimate_ms(c, ks) : 0;
		if (ks != NULL && (same_core || ms < most)) {
			hash_hex(on[i].target, hex);
			best = ks;
			most = ms;
			*c->plan = (TaskPlan){ .task = c->task,
				.hit = HIT_NEAR,
				.trace = trace,
				.estimated_ms = ms,
				.record = record,
				.why = arena_printf(c->arena, "of target %.7s", hex) };
		}
		if (same_core && (is_default || ks != NULL))
			break;
	}
	return best;
}

/* ---- a lock ---- */

static bool not_locked(Choice *c, ErrCode code, const char *why)
{
	return fail(c->err, code, c->o->lock_name,
		"is a lock that cannot be obeyed: %s: %s; delete the file to choose anew",
		c->task->label, why);
}

static const char *locked_trace(Choice *c, const LockRow *row)
{
	bool gone;
	char hex[HASH_HEX];
	const RunRecord *run = db_run(c->set, row->record, c->arena, c->err);
	hash_hex(row->record, hex);
	if (c->err->code != ERR_NONE)
		return NULL;
	if (run == NULL) {
		not_locked(c, ERR_MISSING, arena_printf(c->arena, "no database has record %.12s", hex));
		return NULL;
	}
	if (!db_retracted(c->set, row->record, run->own, &gone, c->err))
		return NULL;
	if (gone) {
		not_locked(c, ERR_MISSING, arena_printf(c->arena, "record %.12s has been retracted", hex));
		return NULL;
	}
	c->plan->estimated_ms = (double)run->median_ns / 1e6; /* for HIT_NEAR this is the time of another target */
	return run->trace;
}

static bool is_trace(const char *trace, Hash hash)
{
	Hash own = steps_hash(trace);
	return memcmp(&own, &hash, sizeof own) == 0;
}

/* The schedule that a model chose. */
static KernelSet *locked_config(Choice *c, const LockRow *row)
{
	Text text = { .arena = c->arena };
	Config config;
	Space *space = space_new(c->arena, c->task, c->o->target, c->err);
	Trace *t = space != NULL && untuned_parse_config(row->config, &config)
		? space_trace(space, &config, c->arena, c->err) : NULL;
	if (t == NULL)
		return NULL;
	trace_print(&text, t);
	KernelSet *ks = replay(c, text_str(&text), c->err);
	*c->plan = (TaskPlan){ .task = c->task, .hit = HIT_MODEL, .trace = text_str(&text), .config = row->config,
		.estimated_ms = ks != NULL ? estimate_ms(c, ks) : 0, .why = "locked" };
	return ks;
}

static KernelSet *locked(Choice *c)
{
	const LockRow *row = lock_find(c->o->lock, c->task->id);
	KernelSet *ks;
	if (row == NULL) {
		not_locked(c, ERR_MISSING, "the lock does not name this task");
		return NULL;
	}
	if (row->hit == HIT_DEFAULT) {
		bool is_naive = is_trace("", row->trace);
		ks = is_naive ? take_first(c, "", "locked", c->err) : default_set(c, "locked");
		if (ks != NULL && !is_trace(c->plan->trace, row->trace)) { /* code generation refused the default */
			KernelSet *any = any_set(c, "locked");
			ks = any != NULL ? any : ks;
		}
		c->plan->why = "locked";
	} else if (row->hit == HIT_MODEL) {
		ks = locked_config(c, row);
	} else {
		*c->plan = (TaskPlan){ .task = c->task, .hit = row->hit, .record = row->record, .why = "locked" };
		c->plan->trace = locked_trace(c, row);
		ks = c->plan->trace != NULL ? replay(c, c->plan->trace, c->err) : NULL;
		if (ks != NULL && row->hit == HIT_NEAR)
			c->plan->estimated_ms = estimate_ms(c, ks);
	}
	if (ks == NULL)
		return not_locked(c, ERR_INPUT, "its locked schedule cannot be made"), NULL;
	if (!is_trace(c->plan->trace, row->trace))
		return not_locked(
			c, ERR_INPUT, "a lock holds for one version of dlc, and this one makes another schedule"), NULL;
	return ks;
}

/* ---- together ---- */

/* Why there is no better schedule than the default; NULL: the databases failed. */
static const char *why_default(Choice *c, int64_t below)
{
	int64_t runs = 0;
	if (c->refused != NULL)
		return c->refused;
	if (!db_count_runs(c->set, &c->key, &runs, c->err))
		return NULL;
	if (runs == 0)
		return c->o->ndb == 0 ? "no database" : "no record";
	if (below > 0)
		return arena_printf(c->arena, "%lld of %lld records too fast to be true", (long long)below, (long long)runs);
	return arena_printf(c->arena, "%lld record%s, none verified", (long long)runs, runs == 1 ? "" : "s");
}

static KernelSet *choose(Choice *c)
{
	int64_t below = 0;
	if (c->o->unscheduled)
		return default_set(c, "unscheduled");
	if (c->o->trace_of != NULL)
		return given(c);
	if (c->o->lock != NULL)
		return locked(c);
	if (!db_count_below(c->set, &c->key, &below, c->err))
		return NULL;
	KernelSet *ks = recorded(c, CODEGEN_EPOCH);
	if (ks == NULL && c->err->code == ERR_NONE)
		ks = stale(c);
	if (ks == NULL && c->err->code == ERR_NONE) {
		const char *why = why_default(c, below);
		ks = why != NULL ? untuned_set(c, why) : NULL;
		if (ks != NULL && c->o->ndb > 0)
			ks = near(c, ks);
	}
	c->plan->implausible = below;
	return ks;
}

static Choice open_choice(Ir *ir, const Task *task, const CompileOptions *o, TaskPlan *plan, Err *err)
{
	*plan = (TaskPlan){ .task = task };
	return (Choice){ .ir = ir,
		.arena = ir_arena(ir),
		.task = task,
		.o = o,
		.cost = cost_or_first(o->cost, ir_arena(ir), o->target),
		.set = { o->db, o->ndb },
		.key = { .workload = task->id,
			.target = target_id(o->target),
			.epoch = CODEGEN_EPOCH,
			.floor_ns = roof_floor_ns(task, o->target) },
		.plan = plan,
		.err = err };
}

KernelSet *compile_task(Ir *ir, const Task *task, const CompileOptions *o, TaskPlan *plan, Err *err)
{
	Err why = { 0 };
	Choice c = open_choice(ir, task, o, plan, &why);
	KernelSet *ks = choose(&c);
	assert((ks == NULL) == (why.code != ERR_NONE));
	if (ks == NULL && err != NULL)
		*err = why;
	return ks;
}

KernelSet *compile_default(Ir *ir, const Task *task, const CompileOptions *o, TaskPlan *plan, const char *why, Err *err)
{
	Choice c = open_choice(ir, task, o, plan, err);
	return default_set(&c, why);
}

KernelSet *compile_without_default(
	Ir *ir, const Task *task, const CompileOptions *o, TaskPlan *plan, const char *refused, Err *err)
{
	const char *tried = plan->trace;
	Choice c = open_choice(ir, task, o, plan, err);
	return without_default(&c, tried, refused);
}

KernelSet *compile_lowered_default(Ir *ir, const Task *task, const CompileOptions *o, TaskPlan *plan, Err *err)
{
	Choice c = open_choice(ir, task, o, plan, err);
	KernelSet *ks = untuned_set(&c, "no record");
	while (ks != NULL && plan->trace[0] != 0) {
		Err refused = { 0 };
		KernelSet *lowered, *run = ir_set_of_kind(ir_arena(ir), ks, FN_RUN);
		if (codegen_lower(ir_arena(ir), run, o->target, NULL, NULL, NULL, &lowered, &refused))
			break;
		ks = plan->hit == HIT_MODEL ? compile_default(ir, task, o, plan, refused.text, err)
					    : compile_without_default(ir, task, o, plan, refused.text, err);
	}
	return ks;
}

bool compile_timed_inside(const Task *task, const CompileOptions *o, bool *is, Err *err)
{
	DbSet set = { o->db, o->ndb };
	DbChoice c;
	DbKey key = { .workload = task->id,
		.target = target_id(o->target),
		.epoch = CODEGEN_EPOCH,
		.floor_ns = roof_floor_ns(task, o->target),
		.whose = DB_OWN };
	Arena *a = arena_new();
	int n = 0;
	bool ok = db_rank(set, &key, &c, 1, &n, a, err);
	*is = ok && n > 0 && c.stage == STAGE_NETWORK;
	arena_free(a);
	return ok;
}

bool compile_recorded_ms(const Task *task, const CompileOptions *o, DbWhose whose, double *ms, Err *err)
{
	Arena *a = arena_new();
	Err why = { 0 };
	TaskPlan plan;
	Choice c = open_choice(ir_new(a), task, o, &plan, &why);
	c.key.alone = true; /* Tasks of two alternatives were never measured in one network */
	KernelSet *ks = o->ndb == 0       ? NULL
	                : whose == DB_OWN ? first_that_replays(&c, CODEGEN_EPOCH, whose)
	                                  : recorded(&c, CODEGEN_EPOCH);
	bool there = ks != NULL;
	*ms = there ? plan.estimated_ms : -1;
	arena_free(a);
	if (why.code != ERR_NONE && err != NULL)
		*err = why;
	return why.code == ERR_NONE;
}
