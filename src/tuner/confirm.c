/*
 * The choice confirmed inside the network.  Alone a kernel finds other caches, and other neighbours on a second
 * thread, than between its neighbours: what is faster alone need not be faster there.  So the network is compiled
 * several times: with the default schedules, with those that were fastest alone, with the second ones, and with
 * what databases held before; all are timed in turn, step by step.  duel.c makes networks of what that says, and
 * chooses one of them or the default.  Records of the stage `network` make dlc-compile choose the same, and both
 * networks' figures are told.
 *
 * Steps of one network are timed in the same runs, so that one pass compares candidates of all tasks.
 */
#include "tuner/duel.h"
#include "tuner/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One task: its schedules, by number as in DuelTask; [0] is its default. */
typedef struct Contest {
	TaskRun *run;
	const char *trace[DUEL_SCHEDULES];
	DuelTask *duel;
	const char *told; /* the schedule of the network that is told; NULL: that network does not run the task */
	bool confirmed;   /* the databases have this user's times of the network */
} Contest;

typedef struct Confirm {
	Tuner *t;
	Arena *arena;
	Contest *of; /* of each task that is tuned */
	Duel duel;
	const int *pick;  /* of the network that is being compiled */
	int makes;        /* networks that were compiled */
	int unloaded;     /* networks that are compiled and were not timed yet */
	double settle_ms; /* when the rounds that settle the choice began; 0: not yet */
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
		.cost = t->means->compiling,
		.untuned = t->means->untuned,
		.cache = t->means->cache,
		.db = set.db,
		.ndb = trace_of != NULL ? set.n : 0,
		.trace_of = trace_of,
		.trace_arg = arg,
		.constants = t->constants,
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

/* Sending a bundle to the runner. One without its constants, which the runner maps, takes no time. */
static double load_ms(const Tuner *t)
{
	return t->plain->shared_bytes > 0 ? 0 : (double)t->plain->whole_bytes / 1e3 / TUNE_LOAD_MB_S;
}

double confirm_ms(const Tuner *t)
{
	if (t->plain == NULL)
		return 0;
	/* No kernel's code takes longer than its trial did. */
	double compile = fmax(tuner_trial_ms(t) * t->progress->ntask, t->compile_ms);
	double two = round_ms(t, 2), settle = fmax(TUNE_ROUNDS * two, fmin(TUNE_USUAL_ROUNDS * two, TUNE_SETTLE_MS));
	double rounds = TUNE_FIRST_ROUNDS * round_ms(t, TUNE_CONFIRMED_EACH) + settle;
	return TUNE_COMPILES * compile + (TUNE_COMPILES + 1) * load_ms(t) + rounds;
}

static Contest *contest_of(const Confirm *x, const Task *task)
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
	const Contest *f = contest_of(x, task);
	DbChoice c;
	return f != NULL ? f->trace[x->pick[f - x->of]] : held(x, task, DB_DECIDED, &c) ? c.run.trace : NULL;
}

static bool make(void *arg, DuelNetwork *net, Err *err)
{
	Confirm *x = arg;
	double start = tuner_now(x->t);
	(void)err; /* network_why has it */
	x->pick = net->pick;
	net->made = confirm_compile(x->t, wanted_trace, x);
	x->unloaded++;
	/* Of the default one all code may be cached, and all constants were made for it. */
	if (net->made != NULL)
		x->t->compile_ms = fmax(x->makes++ > 0 ? x->t->compile_ms : 0, tuner_now(x->t) - start);
	return net->made != NULL;
}

/* ---- what is known before ---- */

/* The number of a trace among a task's schedules; -1: it is none of them. */
static int schedule_of(const Contest *f, const char *trace)
{
	for (int k = 0; k < f->duel->n; k++)
		if (strcmp(f->trace[k], trace) == 0)
			return k;
	return -1;
}

/* Its number, among them from now on; 0 where it failed alone. */
static int add_schedule(Contest *f, const char *trace)
{
	const Outcome *k = outcome_find(&f->run->known, trace), *plain = outcome_find(&f->run->known, f->trace[0]);
	int at = schedule_of(f, trace);
	if (at >= 0 || (k != NULL && k->ns < 0))
		return at >= 0 ? at : 0;
	at = f->duel->n++;
	f->trace[at] = trace;
	f->duel->prior_se[at] = INFINITY;
	if (k == NULL || plain == NULL || k->ns <= 0 || plain->ns <= 0)
		return at;
	bool raced = k->scatter > 0 && plain->scatter > 0;
	f->duel->prior[at] = log(plain->ns / k->ns) * (raced ? 1 : TUNE_LUCK);
	f->duel->prior_se[at] = raced ? hypot(k->scatter, plain->scatter) : TUNE_SCATTER;
	return at;
}

/* What earlier sessions saw inside networks is nearer to the truth than times alone. */
static bool add_recorded(const Confirm *x, Contest *f, int *at)
{
	DbSet set = task_run_databases(x->t->means, x->arena);
	DbKey key = task_run_key(f->run);
	DbChoice c, plain;
	bool there;
	*at = -1;
	if (!held(x, f->run->task, DB_OWN, &c))
		return false;
	*at = add_schedule(f, c.run.trace);
	key.whose = DB_OWN;
	key.alone = false;
	if (c.stage != STAGE_NETWORK || *at == 0)
		return c.stage == STAGE_NETWORK;
	f->duel->base = *at;
	if (db_of_trace(set, &key, f->trace[0], &plain, &there, x->arena, NULL) && there && plain.stage == STAGE_NETWORK) {
		f->duel->prior[*at] = log((double)plain.ns / (double)c.ns);
		f->duel->prior_se[*at] = TUNE_SCATTER;
	}
	return true;
}

/* The fastest two of a task alone, of a race if there was one, and what the databases held: their numbers. */
static void want(const Confirm *x, Contest *f, int pick[3])
{
	for (size_t i = 0; i < f->run->doubt.n; i++) /* there was no time to measure them again */
		outcome_find(&f->run->known, f->run->doubt.at[i])->ns = -1;
	f->run->doubt.n = 0;
	Outcome **ranked;
	int n = 0, all = outcome_ranked(&f->run->known, x->arena, &ranked);
	f->duel->runs = f->run->state->weight > 0;
	f->duel->n = 1;
	f->trace[0] = f->run->default_trace;
	pick[0] = pick[1] = 0;
	bool raced = false; /* then single times, of which the least is an outlier, decide nothing */
	for (int i = 0; i < all; i++)
		raced |= ranked[i]->scatter > 0;
	for (int i = 0; i < all && n < 2; i++)
		if ((!raced || ranked[i]->scatter > 0) && (n == 0 || strcmp(ranked[i]->trace, f->trace[0]) != 0))
			pick[n++] = add_schedule(f, ranked[i]->trace);
	pick[1] = n > 1 && pick[0] != 0 ? pick[1] : pick[0];
	f->confirmed = add_recorded(x, f, &pick[2]);
	pick[2] = pick[2] >= 0 ? pick[2] : pick[0];
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

/* ---- timing ---- */

/* What each task took of a network's run; where two networks have one schedule, the mean of both. */
static void take_steps(Confirm *x, const Compiled *c, const MeasureNetwork *net, int round)
{
	for (int k = 0; k < c->partition->ntask; k++) {
		Contest *f = contest_of(x, c->partition->task[k]);
		int at = f != NULL ? schedule_of(f, c->task[k].trace) : -1;
		double ns = 0;
		for (int s = 0; s < c->nstep; s++)
			ns += c->step_task[s] == k ? (double)net->step_ns[s] : 0;
		if (at < 0 || ns <= 0)
			continue;
		double *to = &f->duel->ns[at][round];
		ns /= c->partition->task[k]->weight;
		*to = *to > 0 ? sqrt(*to * ns) : ns;
		f->duel->samples[at] += net->samples;
	}
}

/* One turn of each network. */
static bool time_round(void *arg, DuelNetwork *const *which, int n, int round, Err *err)
{
	Confirm *x = arg;
	Tuner *t = x->t;
	MeasureNetwork net[DUEL_NETWORKS];
	if (x->settle_ms == 0 && x->duel.settled > 0)
		x->settle_ms = tuner_now(t);
	tuner_say(t, TUNE_NETWORK, TUNE_ROUNDS * round_ms(t, n));
	for (int i = 0; i < n; i++) {
		const Compiled *c = which[i]->made;
		net[i] = (MeasureNetwork){ .bundle = c->bundle,
			.bytes = c->bundle_bytes,
			.constants_path = c->shared_bytes > 0 ? constants_path(t->constants) : NULL,
			.constants_bytes = c->shared_bytes,
			.nstep = c->nstep,
			.step_ns = arena_array(x->arena, int64_t, c->nstep + 1) };
	}
	if (!measure_networks(t->means->measure, net, n, (int)TUNE_TRAIN_MS, err))
		return false;
	x->unloaded = 0;
	for (int i = 0; i < n; i++) {
		which[i]->ms[round] = (double)net[i].median_ns / 1e6;
		take_steps(x, which[i]->made, &net[i], round);
	}
	return true;
}

static int rounds_left(void *arg, int makes, int networks)
{
	const Confirm *x = arg;
	const Tuner *t = x->t;
	double end = tuner_deadline(t), now = tuner_now(t);
	double before = makes * t->compile_ms + (makes + x->unloaded) * load_ms(t);
	double n = (end - now - before) / round_ms(t, networks);
	return tune_stopped(t->means) || n < 1 ? 0 : (int)fmin(n, DUEL_ROUNDS);
}

static int settles(void *arg)
{
	const Confirm *x = arg;
	double spent = x->settle_ms > 0 ? tuner_now(x->t) - x->settle_ms : 0;
	return (int)fmin(fmax(0, TUNE_SETTLE_MS - spent) / round_ms(x->t, 2), DUEL_ROUNDS);
}

/* ---- telling ---- */

static double median_of(double *v, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && v[k] < v[k - 1]; k--) {
			double swap = v[k];
			v[k] = v[k - 1];
			v[k - 1] = swap;
		}
	return n > 0 ? (v[(n - 1) / 2] + v[n / 2]) / 2 : 0;
}

/* Of the network and the default one, by the same rounds. */
static double network_ms(const Duel *d, int net)
{
	double v[DUEL_ROUNDS];
	int n = 0;
	for (int r = d->since; r < d->round; r++)
		if (d->net[net].ms[r] > 0 && d->net[d->chosen].ms[r] > 0)
			v[n++] = d->net[net].ms[r];
	return median_of(v, n);
}

static void note_gain(const Confirm *x)
{
	const Duel *d = &x->duel;
	TuneResult *s = x->t->result;
	s->network_ms = network_ms(d, d->chosen);
	s->default_network_ms = network_ms(d, 0);
	if (d->chosen == 0 && d->no_time)
		snprintf(s->network_why, sizeof s->network_why, "the budget left no time to time others beside them\n");
	if (d->chosen == 0 || d->gain.n > 1) {
		s->gain[0] = exp(d->gain.mean - d->gain.half);
		s->gain[1] = exp(d->gain.mean + d->gain.half);
	}
}

/* What the told network runs. The rows of the table: the default's figure and that of the told schedule. */
static void note_tasks(const Confirm *x, const Compiled *told)
{
	for (int k = 0; k < told->partition->ntask; k++) {
		Contest *f = contest_of(x, told->partition->task[k]);
		int at = f != NULL ? schedule_of(f, told->task[k].trace) : -1;
		double ns = at >= 0 ? duel_ns(f->duel, at) : 0, plain = f != NULL ? duel_ns(f->duel, 0) : 0;
		if (f != NULL)
			f->told = told->task[k].trace;
		if (ns <= 0)
			continue;
		const Outcome *alone = outcome_find(&f->run->known, f->told);
		f->run->state->alone_ms = alone != NULL && alone->ns > 0 ? alone->ns / 1e6 : 0;
		task_run_confirm(f->run, f->told, ns);
		if (plain > 0)
			f->run->state->default_ms = plain / 1e6;
	}
}

/* ---- storing ---- */

static bool may_store(const Contest *f, int at)
{
	const Outcome *k = outcome_find(&f->run->known, f->trace[at]);
	return duel_ns(f->duel, at) >= 1 && k != NULL && k->ns >= 0 &&
	       k->err_e9 >= 0; /* else its outputs were not compared */
}

static bool store(const Confirm *x, const Contest *f, int at, Err *err)
{
	const Outcome *k = outcome_find(&f->run->known, f->trace[at]);
	double v[DUEL_ROUNDS], m = duel_ns(f->duel, at);
	int n = 0;
	MeasureResult result = { .status = RUN_OK,
		.median_ns = (int64_t)m,
		.min_ns = (int64_t)m,
		.samples = f->duel->samples[at],
		.max_err_e9 = k->err_e9,
		.clock = "wall",
		.stage = run_stage_text(STAGE_NETWORK) };
	for (int r = 0; r < DUEL_ROUNDS; r++)
		if (f->duel->ns[at][r] > 0) {
			result.min_ns = (int64_t)fmin((double)result.min_ns, f->duel->ns[at][r]);
			v[n++] = fabs(f->duel->ns[at][r] - m);
		}
	result.mad_ns = (int64_t)median_of(v, n);
	x->t->submitted++;
	return tuner_store(x->t, f->run, f->trace[at], &result, err);
}

/*
 * The databases choose what has the least time inside networks. What was timed in another session, or seems faster
 * and is not, so far as noise lets us see, would come before the schedule that is told: its time is retracted.
 */
static bool retract_others(const Confirm *x, const Contest *f, Err *err)
{
	DbChoice c;
	Hash last = { 0 };
	while (held(x, f->run->task, DB_OWN, &c) && c.stage == STAGE_NETWORK &&
		   (f->told == NULL || strcmp(c.run.trace, f->told) != 0)) {
		DbSet written = { &x->t->means->db, 1 };
		if (memcmp(&last, &c.run.id, sizeof last) == 0 || db_run(written, c.run.id, x->arena, NULL) == NULL)
			return true; /* another database has it, where nothing is written */
		last = c.run.id;
		if (!db_put_retraction(x->t->means->db, c.run.id,
				f->told == NULL ? "the network without this Task was not slower"
								: "timed again in turn with others, another schedule was chosen",
				err))
			return false;
	}
	return true;
}

static bool is_chosen(const Confirm *x, const Contest *f)
{
	DbChoice c;
	return held(x, f->run->task, DB_OWN, &c) && c.stage == STAGE_NETWORK && strcmp(c.run.trace, f->told) == 0;
}

/* The told schedule, and those that were slower: what is stored must lead to the network that is told. */
static bool store_task(const Confirm *x, const Contest *f, bool fresh, Err *err)
{
	int told = f->told != NULL ? schedule_of(f, f->told) : -1;
	if (f->told == NULL)
		return x->duel.chosen != 0 || x->duel.all_zero_is_default || retract_others(x, f, err);
	if (told < 0 || (!fresh && is_chosen(x, f)))
		return true;
	bool ok = true;
	if (may_store(f, told) && tuner_may(x->t, 1))
		ok = store(x, f, told, err);
	for (int k = 0; ok && k < f->duel->n; k++)
		if (k != told && may_store(f, k) && tuner_may(x->t, 1) && duel_ns(f->duel, k) > duel_ns(f->duel, told))
			ok = store(x, f, k, err);
	return ok && (!may_store(f, told) || retract_others(x, f, err));
}

/* ---- together ---- */

static void open_duel(Confirm *x)
{
	Tuner *t = x->t;
	int n = t->progress->ntask;
	x->of = arena_array(x->arena, Contest, n + 1);
	x->duel = (Duel){ .arena = x->arena,
		.task = arena_array(x->arena, DuelTask, n + 1),
		.ntask = n,
		.all_zero_is_default = is_like_default(t),
		.default_may_win = t->ask->ntasks == 0,
		.make = make,
		.time = time_round,
		.rounds = rounds_left,
		.settles = settles,
		.arg = x };
	int *pick[3], *none = arena_array(x->arena, int, n + 1);
	for (int v = 0; v < 3; v++)
		pick[v] = arena_array(x->arena, int, n + 1);
	for (int i = 0; i < n; i++) {
		int of[3];
		x->of[i] = (Contest){ .run = &t->run[i], .duel = &x->duel.task[i] };
		want(x, &x->of[i], of);
		x->duel.held |= x->of[i].confirmed;
		for (int v = 0; v < 3; v++)
			pick[v][i] = of[v];
	}
	duel_add(&x->duel, none);
	x->duel.net[0].made = t->plain;
	for (int v = 0; v < 3; v++)
		duel_add(&x->duel, pick[v]);
}

bool confirm_run(Tuner *t, Err *err)
{
	Err why = { 0 };
	/* One network and one round of it may pass the budget: without them times alone would choose. */
	if (t->progress->trials == 0 && tuner_now(t) + t->compile_ms >= tuner_deadline(t)) {
		snprintf(t->result->network_why, sizeof t->result->network_why, "no time was left of the budget\n");
		return true;
	}
	tuner_say(t, TUNE_NETWORK, confirm_ms(t));
	Confirm *x = arena_new_of(t->arena, Confirm);
	*x = (Confirm){ .t = t, .arena = t->arena, .unloaded = 1 };
	open_duel(x);
	bool timed = duel_run(&x->duel, &why) && x->duel.chosen >= 0 && x->duel.round > 0;
	bool lost = why.code == ERR_DEVICE && !tune_stopped(t->means);
	if (why.code != ERR_NONE && why.code != ERR_INTERRUPTED)
		err_format(&why, t->result->network_why, sizeof t->result->network_why);
	if (tune_stopped(t->means))
		return true;
	bool ok = true;
	if (timed) {
		const Compiled *told = x->duel.net[x->duel.chosen].made;
		note_tasks(x, told);
		regions_settle(t, told->partition);
		note_gain(x);
		bool fresh = t->progress->trials > 0;
		for (int i = 0; ok && i < t->progress->ntask; i++)
			ok = store_task(x, &x->of[i], fresh, err);
	}
	return ok && (!lost || fail(err, ERR_DEVICE, "network", "%s; all trials are kept, and the same command goes on",
							   why.text));
}
