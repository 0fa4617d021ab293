/* See task_run.h. */
#include "tuner/task_run.h"

#include "db/rank.h"
#include "record/record.h"
#include "tuner/expect.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- traces ---- */

static Trace *parse(const TaskRun *r, const char *trace, Arena *a, Err *err)
{
	return trace_parse(a, r->task->label, trace, strlen(trace), err);
}

KernelSet *task_run_replay(const TaskRun *r, const char *trace, Arena *a, Err *err)
{
	Trace *t = parse(r, trace, a, err);
	return t != NULL ? schedule_replay(ir_new(a), r->task, r->ask->target, t, err) : NULL;
}

/* ---- what is known already ---- */

static void note_algorithm(TaskProgress *s, const char *trace)
{
	const Algo *algo = trace_algo(trace);
	snprintf(s->algorithm, sizeof s->algorithm, "%s", algo != NULL ? algo->label : "");
}

static void note_time(TaskRun *r, const char *trace, double ns)
{
	TaskProgress *s = r->state;
	double ms = ns / 1e6;
	if (r->confirmed)
		return;
	if (s->best_ms == 0 || ms < s->best_ms) {
		s->best_ms = ms;
		note_algorithm(s, trace);
	}
	if (strcmp(trace, r->default_trace) == 0 && (s->default_ms == 0 || ms < s->default_ms))
		s->default_ms = ms;
}

DbSet task_run_databases(const TuneMeans *with, Arena *a)
{
	Db **db = arena_array(a, Db *, with->nmore + 1);
	DbSet set = { db, 0 };
	if (with->db != NULL)
		db[set.n++] = with->db;
	for (int i = 0; i < with->nmore; i++)
		db[set.n++] = with->more[i];
	return set;
}

DbKey task_run_key(const TaskRun *r)
{
	return (DbKey){ .workload = r->task->id,
		.target = target_id(r->ask->target),
		.epoch = CODEGEN_EPOCH,
		.floor_ns = roof_floor_ns(r->task, r->ask->target),
		.alone = true };
}

typedef struct Reading {
	TaskRun *r;
	DbSet set;
	DbKey key;
	Err err;
} Reading;

/*
 * What this user has measured here is known, and not measured again; what others say is a hint, which is (seeds.c).
 * Runs of a schedule come one by one; what they say together is asked when all were seen.
 */
static bool reuse_run(const RunRecord *run, void *arg)
{
	Reading *x = arg;
	TaskRun *r = x->r;
	char id[HASH_HEX];
	bool gone = false; /* a database leaves out what it knows to be retracted; another one may know more */
	hash_hex(run->id, id);
	if (!run->own || run->status == RUN_CANCELLED || run->status == RUN_DEVICE_LOST ||
		outcome_find(&r->records, id) != NULL)
		return true; /* says nothing of the candidate; or was read before */
	if (x->set.n > 1 && !db_retracted(x->set, run->id, true, &gone, &x->err))
		return false;
	if (gone || (run->status == RUN_OK && run->median_ns < x->key.floor_ns))
		return true; /* no core is so fast: as if it were not there, so that it is measured like any other */
	outcome_add(&r->records, id, 0, true);
	r->state->reused++;
	if (outcome_find(&r->known, run->trace) == NULL)
		outcome_add(&r->known, run->trace, -1, true);
	return true;
}

/* Times inside of networks are left out: candidates are compared with what they are timed like, alone. */
static bool ask_figures(Reading *x)
{
	TaskRun *r = x->r;
	for (size_t i = 0; i < r->known.at.n; i++) {
		Arena *scratch = arena_new();
		Outcome *k = &r->known.at.at[i];
		DbChoice c;
		bool there, ok = db_of_trace(x->set, &x->key, k->trace, &c, &there, scratch, &x->err);
		k->ns = ok && there ? (double)c.ns : -1;
		k->err_e9 = ok && there ? c.run.max_err_e9 : -1;
		k->scatter = ok && there && c.stage == STAGE_RACE
			? outcome_scatter(c.run.median_ns, c.run.mad_ns, c.run.samples) : 0;
		arena_free(scratch);
		if (!ok)
			return false;
	}
	return true;
}

bool tune_stopped(const TuneMeans *with)
{
	return with->stop != NULL && *with->stop != 0;
}

void task_run_refused(TaskRun *r, Outcome *k)
{
	k->ns = -1;
	r->state->reused--;
	r->state->refused++;
}

/* The best time is that of the fastest schedule that this version takes. */
static void note_known(TaskRun *r)
{
	Arena *scratch = arena_new();
	Outcome **ranked, *first = outcome_find(&r->known, r->default_trace);
	int n = outcome_ranked(&r->known, scratch, &ranked);
	for (int i = 0; i < n && r->state->best_ms == 0 && !tune_stopped(r->means); i++) {
		Arena *own = arena_new(); /* a refused one may leave much */
		if (task_run_replay(r, ranked[i]->trace, own, NULL) != NULL)
			note_time(r, ranked[i]->trace, ranked[i]->ns);
		else
			task_run_refused(r, ranked[i]);
		arena_free(own);
	}
	if (first != NULL && first->ns > 0)
		note_time(r, first->trace, first->ns);
	arena_free(scratch);
}

static bool read_known(TaskRun *r, Err *err)
{
	Arena *scratch = arena_new();
	Reading x = { .r = r, .set = task_run_databases(r->means, scratch), .key = task_run_key(r) };
	x.key.whose = DB_OWN;
	if (db_hold(x.set, &x.err)) {
		bool ok = true;
		for (int i = 0; ok && i < x.set.n; i++)
			ok = db_each_run(x.set.db[i], x.key.workload, x.key.target, CODEGEN_EPOCH, reuse_run, &x, &x.err) &&
				x.err.code == ERR_NONE;
		if (ok && db_count_below(x.set, &x.key, &r->state->implausible, &x.err))
			ask_figures(&x);
		db_release(x.set);
	}
	arena_free(scratch);
	if (x.err.code != ERR_NONE) {
		*err = x.err;
		return false;
	}
	note_known(r);
	return true;
}

/* ---- opening ---- */

/* What is under way goes on while a search estimates. */
static void turn(void *arg)
{
	const TaskRun *r = arg;
	if (r->meanwhile != NULL)
		r->meanwhile(r->meanwhile_arg);
	else if (r->means->measure != NULL)
		measure_turn(r->means->measure);
}

static bool is_over(void *arg)
{
	const TaskRun *r = arg;
	const Clock *c = &r->means->clock;
	return tune_stopped(r->means) || (r->until_ms > 0 && c->now_ms(c->arg) >= r->until_ms);
}

bool task_run_open(TaskRun *r, TaskProgress *state, Arena *a, const Task *task, const TuneRequest *ask,
	const TuneMeans *with, Err *err)
{
	char hex[HASH_HEX];
	*r = (TaskRun){ .ask = ask, .means = with, .arena = a, .state = state, .task = task };
	r->cost = cost_or_first(with->cost, a, ask->target);
	r->known.index.arena = r->records.index.arena = a;
	state->task = task;
	r->space = space_new(a, task, ask->target, err);
	if (r->space == NULL)
		return false;
	r->drafts = drafts_new(a, task, ask->target);
	Arena *scratch = arena_new();
	TaskPlan plan;
	CompileOptions o = { .target = ask->target, .cost = with->compiling, .untuned = with->untuned };
	bool takes = compile_lowered_default(ir_new(scratch), task, &o, &plan, err) != NULL;
	Trace *t;
	const char *first = estimates_trace(r->space, &r->space->first, scratch, &t);
	r->default_trace = takes ? arena_printf(a, "%s", plan.trace) : "";
	r->default_apart = first == NULL || strcmp(first, r->default_trace) != 0;
	r->guess_ms = takes ? plan.estimated_ms : 0;
	arena_free(scratch);
	if (!takes)
		return false;
	if (!read_known(r, err))
		return false;
	for (int i = 0; i < state->reused && state->best_ms > 0; i++)
		vec_push(a, &r->best_after, state->best_ms);
	state->space = space_size(r->space);
	state->roof_ms = roof_ns(task, &with->roof) / 1e6;
	space_saves(r->space, &r->least_saved, &r->most_saved);
	Rng seed = rng_seed(ask->seed);
	hash_hex(task->id, hex);
	r->estimates = (Estimates){ .arena = a,
		.task = task,
		.space = r->space,
		.drafts = r->drafts,
		.cost = &r->cost,
		.turn = turn,
		.over = is_over,
		.arg = r };
	r->search =
		ask->search->open(a, r->space, estimates_of(&r->estimates), ask->effort, rng_fork(&seed, hex));
	return true;
}

/* ---- candidates ---- */

static void tell(TaskRun *r, Config c, double ns)
{
	if (ns > 0 && (r->best_ns == 0 || ns < r->best_ns)) {
		r->best = c;
		r->best_ns = ns;
	}
	r->ask->search->tell(r->search, c, ns);
}

/* Replays a trace that nothing is known of; NULL: it is refused, which is known from now on. */
static Candidate *candidate_new(TaskRun *r, Arena *a, const char *trace)
{
	const KernelSet *ks = task_run_replay(r, trace, a, NULL);
	const Outcome *k = outcome_add(&r->known, trace, ks != NULL ? 0 : -1, false);
	if (ks == NULL) {
		r->state->pruned++;
		return NULL;
	}
	Candidate *x = arena_new_of(a, Candidate);
	const char *source = trace == r->default_trace ? "default" : r->seed_head <= r->hints ? "hint" : "record";
	*x = (Candidate){ .arena = a, .run = r, .trace = k->trace, .source = source, .ks = ks };
	return x;
}

/* What was measured already, once more. */
static Candidate *next_doubt(TaskRun *r)
{
	while (r->doubt.n > 0) {
		Outcome *k = outcome_find(&r->known, r->doubt.at[--r->doubt.n]);
		Arena *a = arena_new();
		const KernelSet *ks = k->ns > 0 ? task_run_replay(r, k->trace, a, NULL) : NULL;
		if (ks != NULL) {
			Candidate *x = arena_new_of(a, Candidate);
			*x = (Candidate){ .arena = a, .run = r, .trace = k->trace, .source = "again", .ks = ks };
			k->ns = 0;
			return x;
		}
		arena_free(a);
	}
	return NULL;
}

static Candidate *next_seed(TaskRun *r)
{
	while (r->seed_head < r->seed.n && !tune_stopped(r->means)) {
		const char *trace = r->seed.at[r->seed_head++];
		if (outcome_find(&r->known, trace) != NULL)
			continue;
		Arena *a = arena_new();
		Candidate *x = candidate_new(r, a, trace);
		if (x != NULL)
			return x;
		arena_free(a);
	}
	return NULL;
}

/* NULL: nothing new; *again: the search may be asked for another one. */
static Candidate *next_searched(TaskRun *r, Candidate *const *flying, int n, bool *again)
{
	Config c;
	int got = r->ask->search->ask(r->search, &c, 1);
	*again = got > 0;
	if (got <= 0) {
		r->waits = got == SEARCH_WAITS;
		if (got == SEARCH_DONE && !is_over(r)) /* else it may have ended for lack of time */
			r->state->end = TASK_SEARCHED;
		return NULL;
	}
	Arena *a = arena_new();
	Trace *t;
	const char *trace = estimates_trace(r->space, &c, a, &t);
	const Outcome *k = trace != NULL ? outcome_find(&r->known, trace) : NULL;
	Candidate *x = trace != NULL && k == NULL ? candidate_new(r, a, trace) : NULL;
	if (x != NULL) {
		x->config = c;
		x->searched = true;
		const Search *search = r->ask->search;
		const char *said = search->source != NULL ? search->source(r->search) : NULL;
		if (strcmp(x->trace, r->default_trace) == 0)
			x->source = "default";
		else
			x->source = said != NULL ? said : search->name;
		return x;
	}
	if (k == NULL || k->ns != 0)
		tell(r, c, k != NULL ? k->ns : -1);
	for (int i = 0; k != NULL && k->ns == 0 && i < n; i++) /* it is about to be measured */
		if (flying[i] != NULL && flying[i]->run == r && flying[i]->trace == k->trace && !flying[i]->searched) {
			flying[i]->config = c;
			flying[i]->searched = true;
		}
	arena_free(a);
	return NULL;
}

Candidate *task_run_next(TaskRun *r, Candidate *const *flying, int n)
{
	bool again = true, begun = outcome_find(&r->known, r->default_trace) != NULL;
	Candidate *x = next_doubt(r);
	if (x == NULL && begun)
		x = next_seed(r);
	if (x == NULL && !begun && r->default_apart) {
		Arena *a = arena_new();
		x = candidate_new(r, a, r->default_trace);
		if (x == NULL)
			arena_free(a);
	}
	r->waits = false;
	for (int i = 0; x == NULL && again; i++) {
		x = next_searched(r, flying, n, &again);
		if (i == TUNE_ASK_TRIES)
			r->state->end = TASK_SEARCHED;
		if (r->state->end != TASK_OPEN)
			break;
	}
	return x;
}

/* No proposal of the search, which is not told. Its outputs may have been found wrong meanwhile. */
static void take_repeat(TaskRun *r, Outcome *k, double ns)
{
	if (ns <= 0 || k->ns <= 0)
		return;
	vec_push(r->arena, &r->repeat, ns);
	if (k->scatter > 0) /* a race's time is not compared with single ones */
		return;
	k->ns = fmin(k->ns, ns);
	note_time(r, k->trace, ns);
}

void task_run_take(TaskRun *r, const Candidate *x, double ns, int64_t err_e9)
{
	Outcome *k = outcome_find(&r->known, x->trace);
	if (x->repeat) {
		take_repeat(r, k, ns);
		return;
	}
	if (ns > 0 && strcmp(x->trace, r->default_trace) == 0) {
		if (r->first_ns == 0 && !k->reused)
			r->first_ns = ns;
		else /* a doubt */
			vec_push(r->arena, &r->repeat, ns);
	}
	bool gain = ns > 0 && (r->state->best_ms == 0 || ns / 1e6 < r->state->best_ms * TUNE_IMPROVED);
	k->ns = ns > 0 ? ns : -1;
	k->err_e9 = err_e9;
	r->waits = false;
	r->since_gain = gain ? 0 : r->since_gain + 1;
	if (ns > 0)
		note_time(r, x->trace, ns);
	if (r->state->best_ms > 0)
		vec_push(r->arena, &r->best_after, r->state->best_ms);
	if (x->searched)
		tell(r, x->config, ns);
	const TaskProgress *s = r->state;
	if (s->end == TASK_OPEN && r->most_saved == 1 && s->best_ms > 0 && s->best_ms <= s->roof_ms * TUNE_AT_ROOF)
		r->state->end = TASK_AT_ROOF;
}

void task_run_observe(TaskRun *r, const Candidate *x, double ns)
{
	if (ns > 0)
		cost_observe(&r->cost, &(CostCandidate){ x->ks, r->task }, 1, &ns);
}

void task_run_expose(TaskRun *r, const char *trace)
{
	Outcome *k = outcome_find(&r->known, trace);
	if (k == NULL || k->ns == 0)
		return;
	k->ns = -1;
	Arena *scratch = arena_new();
	Outcome **ranked, *first = outcome_find(&r->known, r->default_trace);
	int n = outcome_ranked(&r->known, scratch, &ranked);
	r->state->best_ms = r->state->default_ms = 0;
	if (n > 0)
		note_time(r, ranked[0]->trace, ranked[0]->ns);
	if (first != NULL && first->ns > 0)
		note_time(r, first->trace, first->ns);
	arena_free(scratch);
}

void task_run_doubt(TaskRun *r, const char *trace)
{
	const Outcome *k = outcome_find(&r->known, trace);
	if (k == NULL || k->ns <= 0)
		return;
	vec_push(r->arena, &r->doubt, k->trace);
	r->state->end = TASK_OPEN; /* the search says again when it is over */
}

void task_run_confirm(TaskRun *r, const char *trace, double ns)
{
	r->state->best_ms = ns / 1e6;
	r->confirmed = true;
	note_algorithm(r->state, trace);
}

double task_run_gain_rate(const TaskRun *r, double save)
{
	return expect_next(r->task->weight * save, r->since_gain + r->in_flight);
}

double task_run_gain(const TaskRun *r)
{
	const TaskProgress *s = r->state;
	int64_t had = s->trials + s->reused + r->in_flight;
	if (had == 0 || (r->seed_head == 0 && r->hints > 0))
		return INFINITY;
	if (r->seed_head < r->hints || r->doubt.n > 0)
		return TUNE_URGENT;
	if (s->failed > 0 && s->best_ms == 0 && had < TUNE_NOTHING_RAN)
		return TUNE_URGENT;
	double now = s->best_ms > 0 ? s->best_ms : r->guess_ms;
	return task_run_gain_rate(r, expect_left(now, s->roof_ms / r->least_saved));
}

double task_run_belief(const TaskRun *r, const Candidate *x)
{
	double ns = estimates_known(&r->estimates, x->trace);
	return ns > 0 ? ns : cost_estimate_one(&r->cost, x->ks, r->task);
}

double task_run_could_save(const TaskRun *r)
{
	const TaskProgress *s = r->state;
	if (s->roof_ms <= 0 || s->best_ms <= 0)
		return -1;
	return s->weight * fmax(0, s->best_ms - s->roof_ms / r->most_saved);
}

double task_run_left(const TaskRun *r)
{
	const TaskProgress *s = r->state;
	const Search *search = r->ask->search;
	bool known = s->roof_ms > 0 && s->best_ms > 0;
	double roof = known ? fmax(0, 1 - s->roof_ms / r->most_saved / s->best_ms) : -1;
	double believed = -1;
	if (search->left != NULL && s->trials > 0 && !tune_stopped(r->means)) /* it takes some milliseconds */
		believed = search->left(r->search);
	return roof < 0 || believed < 0 ? fmax(roof, believed) : fmin(roof, believed);
}

double task_run_expected(const TaskRun *r, int trials)
{
	const TaskProgress *s = r->state;
	double all = task_run_could_save(r);
	if (s->end != TASK_OPEN || all < 0 || r->best_after.n == 0)
		return 0;
	return fmin(all, s->weight * s->best_ms * expect_saved(r->best_after.at, (int)r->best_after.n, trials));
}

/* ---- advice ---- */

void task_run_advise(TaskRun *r, const TaskRun *const *others, int n)
{
	double after = -1;
	if (r->ask->search->hint == NULL)
		return;
	for (int given = 0; given < TUNE_ADVICE; given++) {
		const TaskRun *next = NULL;
		double nearest = INFINITY;
		for (int i = 0; i < n; i++) {
			const Task *a = r->task, *b = others[i]->task;
			double d = fabs(log((a->flops + 1) / (b->flops + 1))) + fabs(log((a->bytes + 1) / (b->bytes + 1)));
			Config c;
			if (others[i] == r || others[i]->best_ns == 0 || d <= after || d >= nearest ||
				!space_alike(r->space, others[i]->space, &others[i]->best, &c))
				continue;
			next = others[i];
			nearest = d;
		}
		if (next == NULL)
			return;
		Config c;
		space_alike(r->space, next->space, &next->best, &c);
		r->ask->search->hint(r->search, c);
		after = nearest;
	}
}
