/*
 * The choice confirmed inside the network.  Alone a kernel finds other caches, and other neighbours on a second
 * thread, than between its neighbours: what is faster alone need not be faster there.  So the network is compiled
 * several times: with the default schedules, with those that were fastest alone, with the second ones, and with
 * what databases held before; all are timed in turn, step by step.  Of each task the schedule that took least counts,
 * by records of the stage `network`; the network made of these is timed in turn with the default one, and both
 * figures are told.
 *
 * Steps of one network are timed in the same runs, so that one pass compares candidates of all tasks.
 */
#include "tuner/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Networks that are timed in turn: all defaults, what is fastest alone, the second alone, what was recorded. */
enum { PLAIN, ALONE, SECOND, RECORDED, VARIANTS, CHOSEN = ALONE /* from the second pass on */ };

/* One schedule of a task inside the network: nanoseconds of a call, by rounds of any variant that had it. */
typedef struct Figure {
	const char *trace;
	VEC(double) ns;
	int64_t samples;
} Figure;

typedef struct Figures {
	TaskRun *run;
	const char *want[VARIANTS]; /* traces; NULL: the default */
	bool confirmed; /* the databases have this user's times of the network */
	VEC(Figure) at;
} Figures;

typedef struct Confirm {
	Tuner *t;
	Arena *arena;
	Figures *of; /* of each task that is tuned */
	int variant; /* that is being compiled */
	Compiled *net[VARIANTS]; /* NULL: like another one */
	double ms[VARIANTS][TUNE_MOST_ROUNDS];
	int rounds; /* that have been told */
} Confirm;

/* ---- compiling ---- */

static void on_progress(int done, int all, const char *label, void *arg)
{
	Tuner *t = arg;
	(void)done;
	(void)all;
	(void)label;
	tuner_say(t, t->progress->phase, confirm_ms(t));
}

Compiled *confirm_compile(Tuner *t, const char *(*trace_of)(const Task *task, void *arg), void *arg)
{
	DbSet set = task_run_databases(t->means, t->arena);
	CompileOptions o = { .target = t->ask->target,
		.cost = t->means->cost,
		.cache = t->means->cache,
		.db = set.db,
		.ndb = trace_of != NULL ? set.n : 0,
		.trace_of = trace_of,
		.trace_arg = arg,
		.apart = true,
		.stop = t->means->stop,
		.progress = on_progress,
		.progress_arg = t };
	Err err = { 0 };
	Compiled *c = compile_model(t->arena, t->ask->dag, &o, &err);
	if (c == NULL && err.code != ERR_INTERRUPTED)
		err_format(&err, t->result->network_why, sizeof t->result->network_why);
	return c;
}

static double round_ms(const Tuner *t, int networks)
{
	double ms = fmax(t->progress->tasks_ms, t->progress->default_tasks_ms);
	return networks * fmin(TUNE_TRAIN * ms, TUNE_TRAIN_MS + 2 * ms) + TUNE_START_MS;
}

double confirm_ms(const Tuner *t)
{
	/* No kernel's code takes longer than its trial did. */
	double compile = fmax(tuner_trial_ms(t) * t->progress->ntask, t->compile_ms);
	double rounds = TUNE_FIRST_ROUNDS * round_ms(t, TUNE_CONFIRMED_EACH) + TUNE_ROUNDS * round_ms(t, 2);
	return t->plain != NULL ? TUNE_COMPILES * compile + rounds : 0;
}

static Figures *figures_of(const Confirm *x, const Task *task)
{
	for (int i = 0; i < x->t->progress->ntask; i++)
		if (memcmp(&x->of[i].run->task->id, &task->id, sizeof(Hash)) == 0)
			return &x->of[i];
	return NULL;
}

/* What the databases have for a task, times inside networks first. False: nothing. */
static bool held(const Confirm *x, const Task *task, DbWhose whose, DbChoice *out)
{
	DbSet set = task_run_databases(x->t->means, x->arena);
	DbKey key = { .workload = task->id,
		.target = x->t->target,
		.epoch = CODEGEN_EPOCH,
		.floor_ns = roof_floor_ns(task, x->t->ask->target),
		.whose = whose };
	int n;
	return db_rank(set, &key, out, 1, &n, x->arena, NULL) && n > 0;
}

static const char *wanted_trace(const Task *task, void *arg)
{
	const Confirm *x = arg;
	const Figures *f = figures_of(x, task);
	DbChoice c;
	return f != NULL ? f->want[x->variant] : held(x, task, DB_DECIDED, &c) ? c.run.trace : NULL;
}

/* The fastest two of a task alone, and what the databases held. */
static void want(const Confirm *x, Figures *f)
{
	for (size_t i = 0; i < f->run->doubt.n; i++) /* there was no time to measure them again */
		outcome_find(&f->run->known, f->run->doubt.at[i])->ns = -1;
	f->run->doubt.n = 0;
	Outcome **ranked;
	int n = 0, all = outcome_ranked(&f->run->known, x->arena, &ranked);
	const char *first[2] = { NULL, NULL };
	for (int i = 0; i < all && n < 2; i++)
		if (i == 0 || strcmp(ranked[i]->trace, f->run->default_trace) != 0)
			first[n++] = ranked[i]->trace;
	f->want[ALONE] = first[0];
	f->want[SECOND] = n > 1 && strcmp(first[0], f->run->default_trace) != 0 ? first[1] : first[0];
	DbChoice c;
	bool there = held(x, f->run->task, DB_OWN, &c);
	f->want[RECORDED] = there ? c.run.trace : first[0];
	f->confirmed = there && c.stage == STAGE_NETWORK;
}

static bool is_trace(const Figures *f, const char *a, const char *b)
{
	a = a != NULL ? a : f->run->default_trace;
	b = b != NULL ? b : f->run->default_trace;
	return strcmp(a, b) == 0;
}

/*
 * The default network is cut into the first alternative of each region, and has no records of tasks that are not tuned.
 */
static bool is_like_default(const Tuner *t)
{
	if (t->ask->ntasks > 0)
		return false;
	for (int r = 0; r < t->part->nregion; r++)
		if (t->choice[r] != 0)
			return false;
	return true;
}

/* Whether the variant would be the same as an earlier one. */
static bool is_new(const Confirm *x, int variant)
{
	for (int v = PLAIN; v < variant; v++) {
		bool same = v != PLAIN || is_like_default(x->t);
		for (int i = 0; i < x->t->progress->ntask && same; i++)
			same = x->of[i].run->state->weight == 0 || is_trace(&x->of[i], x->of[i].want[v], x->of[i].want[variant]);
		if (same && (v == PLAIN || x->net[v] != NULL))
			return false;
	}
	return true;
}

static bool compile_variant(Confirm *x, int variant)
{
	x->variant = variant;
	x->net[variant] = confirm_compile(x->t, wanted_trace, x);
	return x->net[variant] != NULL;
}

/* ---- timing ---- */

/* What each task took of a network's run. */
static void take_steps(Confirm *x, const Compiled *c, const MeasureNetwork *net)
{
	for (int k = 0; k < c->partition->ntask; k++) {
		Figures *f = figures_of(x, c->partition->task[k]);
		double ns = 0;
		for (int s = 0; s < c->nstep; s++)
			ns += c->step_task[s] == k ? (double)net->step_ns[s] : 0;
		if (f == NULL || ns <= 0)
			continue;
		const char *trace = c->task[k].trace;
		size_t i = 0;
		while (i < f->at.n && strcmp(f->at.at[i].trace, trace) != 0)
			i++;
		if (i == f->at.n)
			vec_push(x->arena, &f->at, ((Figure){ .trace = trace }));
		Figure *one = &f->at.at[i];
		vec_push(x->arena, &one->ns, ns / c->partition->task[k]->weight);
		one->samples += net->samples;
	}
}

/* One turn of each network. */
static bool time_round(Confirm *x, int round, Err *err)
{
	MeasureNetwork net[VARIANTS];
	int of[VARIANTS], n = 0;
	for (int v = PLAIN; v < VARIANTS; v++)
		if (x->net[v] != NULL) {
			net[n] = (MeasureNetwork){ .bundle = x->net[v]->bundle,
				.bytes = x->net[v]->bundle_bytes,
				.nstep = x->net[v]->nstep,
				.step_ns = arena_array(x->arena, int64_t, x->net[v]->nstep + 1) };
			of[n++] = v;
		}
	if (!measure_networks(x->t->means->measure, net, n, (int)TUNE_TRAIN_MS, err))
		return false;
	for (int i = 0; i < n; i++) {
		x->ms[of[i]][round] = (double)net[i].median_ns / 1e6;
		take_steps(x, x->net[of[i]], &net[i]);
	}
	return true;
}

static bool is_time(const Confirm *x, int round, int rounds, int networks)
{
	const Tuner *t = x->t;
	return round < rounds && !tune_stopped(t->means) &&
		(round == 0 || tuner_now(t) + round_ms(t, networks) < tuner_deadline(t));
}

/* Other work on the machine only adds: of several medians the least is nearest to the truth. */
static double least(const double *v, int n)
{
	double x = n > 0 ? v[0] : 0;
	for (int i = 1; i < n; i++)
		x = fmin(x, v[i]);
	return x;
}

static bool seen_twice(const double *v, int n)
{
	int near = 0;
	for (int i = 0; i < n; i++)
		near += v[i] <= least(v, n) * TUNE_CONFIRMED;
	return near > 1;
}

/* ---- choosing ---- */

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

static double median(Arena *a, const double *v, size_t n)
{
	double *w = arena_copy(a, v, sizeof *v * n);
	qsort(w, n, sizeof *w, by_value);
	return (w[(n - 1) / 2] + w[n / 2]) / 2;
}

static const Figure *fastest(const Confirm *x, const Figures *f, double *ns)
{
	const Figure *best = NULL;
	for (size_t i = 0; i < f->at.n; i++) {
		const Outcome *k = outcome_find(&f->run->known, f->at.at[i].trace);
		double m = median(x->arena, f->at.at[i].ns.at, f->at.at[i].ns.n);
		if (k != NULL && k->ns < 0)
			continue; /* it failed alone */
		if (best == NULL || m < *ns) {
			best = &f->at.at[i];
			*ns = m;
		}
	}
	return best;
}

/* The fastest of each task; whether that is another network than those that are there. */
static bool choose(Confirm *x)
{
	bool like[VARIANTS] = { false };
	for (int v = PLAIN; v < VARIANTS; v++)
		like[v] = x->net[v] != NULL && (v != PLAIN || is_like_default(x->t));
	for (int i = 0; i < x->t->progress->ntask; i++) {
		Figures *f = &x->of[i];
		double ns;
		const Figure *best = fastest(x, f, &ns);
		const char *trace = best != NULL ? best->trace : f->want[ALONE];
		for (int v = PLAIN; v < VARIANTS; v++)
			like[v] = like[v] && (f->run->state->weight == 0 || is_trace(f, f->want[v], trace));
		f->want[CHOSEN] = trace;
	}
	for (int v = PLAIN; v < VARIANTS; v++)
		if (like[v]) {
			x->net[CHOSEN] = x->net[v];
			return false;
		}
	return true;
}

/* ---- telling ---- */

static bool store(Confirm *x, Figures *f, const Figure *one, Err *err)
{
	TaskRun *r = f->run;
	const Outcome *k = outcome_find(&r->known, one->trace);
	double m = median(x->arena, one->ns.at, one->ns.n);
	double *apart = arena_copy(x->arena, one->ns.at, sizeof *one->ns.at * one->ns.n);
	MeasureResult result = { .status = RUN_OK,
		.median_ns = (int64_t)m,
		.min_ns = (int64_t)least(one->ns.at, (int)one->ns.n),
		.samples = one->samples,
		.max_err_e9 = k != NULL ? k->err_e9 : -1,
		.clock = "wall",
		.stage = run_stage_text(STAGE_NETWORK) };
	for (size_t i = 0; i < one->ns.n; i++)
		apart[i] = fabs(apart[i] - m);
	result.mad_ns = (int64_t)median(x->arena, apart, one->ns.n);
	if (k == NULL || k->ns < 0 || k->err_e9 < 0 || m < 1)
		return true; /* its outputs were not compared, or are wrong */
	x->t->submitted++;
	return tuner_store(x->t, r, one->trace, &result, err);
}

/* 95 % of what the mean of the logarithms may be: Student's t. */
static void note_gain(const Confirm *x)
{
	static const double t95[TUNE_MOST_ROUNDS] = { 0, 12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20 };
	TuneResult *s = x->t->result;
	double sum = 0, square = 0, n = x->rounds;
	for (int i = 0; i < x->rounds; i++) {
		double g = log(x->ms[PLAIN][i] / x->ms[CHOSEN][i]);
		sum += g;
		square += g * g;
	}
	if (x->rounds < 2)
		return;
	double half = t95[x->rounds - 1] * sqrt(fmax(0, (square - sum * sum / n) / (n - 1)) / n);
	s->gain[0] = exp(sum / n - half);
	s->gain[1] = exp(sum / n + half);
}

/* The rows of the table: one figure for one schedule, the default's and the best one's of the same rounds. */
static void note_tasks(const Confirm *x)
{
	for (int i = 0; i < x->t->progress->ntask; i++) {
		Figures *f = &x->of[i];
		TaskProgress *s = f->run->state;
		double ns;
		const Figure *best = fastest(x, f, &ns);
		if (best == NULL)
			continue;
		const Outcome *alone = outcome_find(&f->run->known, best->trace);
		s->alone_ms = alone != NULL && alone->ns > 0 ? alone->ns / 1e6 : 0;
		task_run_confirm(f->run, best->trace, ns);
		for (size_t k = 0; k < f->at.n; k++)
			if (is_trace(f, f->at.at[k].trace, NULL))
				s->default_ms = median(x->arena, f->at.at[k].ns.at, f->at.at[k].ns.n) / 1e6;
	}
}

/*
 * All of a task, the fastest first, or nothing: a default that is the only one with a time of the network would come
 * before the schedule that it lost to.
 */
static bool store_task(Confirm *x, Figures *f, Err *err)
{
	double ns;
	const Figure *best = fastest(x, f, &ns);
	if (best == NULL || !tuner_may(x->t, (int64_t)f->at.n))
		return true;
	bool ok = store(x, f, best, err);
	for (size_t k = 0; ok && k < f->at.n; k++)
		ok = &f->at.at[k] == best || store(x, f, &f->at.at[k], err);
	return ok;
}

/* ---- together ---- */

static bool first_pass(Confirm *x, Err *err)
{
	Tuner *t = x->t;
	for (int v = ALONE; v < VARIANTS && !tune_stopped(t->means); v++)
		if (is_new(x, v) && (v == ALONE || tuner_now(t) + confirm_ms(t) < tuner_deadline(t)) && !compile_variant(x, v))
			return false;
	int n = 0;
	for (int v = PLAIN; v < VARIANTS; v++)
		n += x->net[v] != NULL;
	for (int round = 0; n > 1 && is_time(x, round, TUNE_FIRST_ROUNDS, n); round++) {
		tuner_say(t, TUNE_NETWORK, (TUNE_FIRST_ROUNDS - round) * round_ms(t, n) + TUNE_ROUNDS * round_ms(t, 2));
		if (!time_round(x, round, err))
			return false;
	}
	return true;
}

static bool second_pass(Confirm *x, Err *err)
{
	Tuner *t = x->t;
	if (choose(x) && !compile_variant(x, CHOSEN))
		return false;
	for (int v = CHOSEN + 1; v < VARIANTS; v++)
		x->net[v] = NULL;
	for (; is_time(x, x->rounds, TUNE_MOST_ROUNDS, 2); x->rounds++) {
		tuner_say(t, TUNE_NETWORK, (x->rounds < TUNE_ROUNDS ? TUNE_ROUNDS - x->rounds : 1) * round_ms(t, 2));
		if (x->rounds >= TUNE_ROUNDS && seen_twice(x->ms[PLAIN], x->rounds) && seen_twice(x->ms[CHOSEN], x->rounds))
			break;
		if (!time_round(x, x->rounds, err))
			return false;
	}
	return true;
}

bool confirm_run(Tuner *t, Err *err)
{
	Err why = { 0 };
	if (tuner_now(t) + t->compile_ms >= tuner_deadline(t)) {
		snprintf(t->result->network_why, sizeof t->result->network_why, "no time was left of the budget\n");
		return true;
	}
	tuner_say(t, TUNE_NETWORK, confirm_ms(t));
	Confirm x = { .t = t, .arena = t->arena, .of = arena_array(t->arena, Figures, t->progress->ntask + 1) };
	for (int i = 0; i < t->progress->ntask; i++) {
		x.of[i].run = &t->run[i];
		want(&x, &x.of[i]);
	}
	x.net[PLAIN] = t->plain;
	bool timed = first_pass(&x, &why) && !tune_stopped(t->means) && second_pass(&x, &why) && x.rounds > 0;
	bool lost = why.code == ERR_DEVICE && !tune_stopped(t->means);
	if (why.code != ERR_NONE && why.code != ERR_INTERRUPTED)
		err_format(&why, t->result->network_why, sizeof t->result->network_why);
	if (tune_stopped(t->means))
		return true;
	if (timed) {
		note_tasks(&x);
		regions_settle(t, x.net[CHOSEN]->partition);
		t->result->network_ms = least(x.ms[CHOSEN], x.rounds);
		t->result->default_network_ms = least(x.ms[PLAIN], x.rounds);
		note_gain(&x);
	}
	/* What is new is stored, also where the second pass came to nothing. */
	bool fresh = t->progress->trials > 0, ok = true;
	for (int i = 0; ok && i < t->progress->ntask; i++)
		ok = (!fresh && x.of[i].confirmed) || store_task(&x, &x.of[i], err);
	return ok && (!lost || fail(err, ERR_DEVICE, "network", "%s; all trials are kept, and the same command goes on",
							   why.text));
}
