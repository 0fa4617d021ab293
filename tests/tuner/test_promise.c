/*
 * What is shown while a run goes on, beside what its races say: over a recording whose first times are too long, and
 * whose single times are noisy, as on a machine that does other work. Races tell the recorded times.
 */
#include "lab.h"

#include "base/rng.h"
#include "measure/way.h"
#include "tuner/run.h"

#include <math.h>

typedef struct Noisy {
	Measure base;
	Measure *replay;
	Rng rng;
	double spread, start; /* of the logarithm; how many times the first times are */
	int told;
	RunStatus repeats; /* how repeats of a default end */
	bool refutes;      /* their outputs, or those of a candidate meanwhile, show that the default is wrong */
} Noisy;

static MeasureRef *noisy_reference(Measure *m, const Task *task, uint64_t seed, Err *err)
{
	return measure_reference(((Noisy *)m)->replay, task, seed, err);
}

static bool noisy_submit(Measure *m, const MeasureJob *job, Err *err)
{
	return measure_submit(((Noisy *)m)->replay, job, err);
}

/* Most times are near the true one; other work makes some much longer. */
static bool noisy_wait(Measure *m, int ms, MeasureResult *out)
{
	enum { FIRST = 4 };
	Noisy *n = (Noisy *)m;
	if (!measure_wait(n->replay, ms, out))
		return false;
	double normal = rng_normal(&n->rng), up = normal > 1 ? 3 : 1;
	double slow = exp(n->spread * normal * up) * (n->told++ < FIRST ? n->start : 1);
	out->median_ns = llround((double)out->median_ns * slow);
	const Candidate *x = out->user;
	if (x->repeat) {
		out->status = n->repeats;
		out->refuted = n->refutes ? x->trace : NULL;
	}
	return true;
}

static bool noisy_race(Measure *m, const MeasureJob *job, int n, MeasureResult *out, Err *err)
{
	return measure_race(((Noisy *)m)->replay, job, n, out, err);
}

static void noisy_turn(Measure *m)
{
	measure_turn(((Noisy *)m)->replay);
}

static int noisy_pending(const Measure *m)
{
	return measure_pending(((const Noisy *)m)->replay);
}

static int noisy_flight(const Measure *m)
{
	return measure_flight(((const Noisy *)m)->replay);
}

static void noisy_cancel(Measure *m)
{
	measure_cancel(((Noisy *)m)->replay);
}

static const MeasureWay noisy = { .method = "noise",
	.reference = noisy_reference,
	.submit = noisy_submit,
	.wait = noisy_wait,
	.race = noisy_race,
	.turn = noisy_turn,
	.pending = noisy_pending,
	.flight = noisy_flight,
	.cancel = noisy_cancel };

/* Nothing is much faster than the default. */
static Fate little_to_gain(const Task *task, const char *trace, bool is_default)
{
	(void)task;
	return (Fate){ RUN_OK, is_default ? 1000000 : 970000 + (int64_t)(hash_text(trace) % 400000) };
}

/* One of a hundred is. */
static Fate much_to_gain(const Task *task, const char *trace, bool is_default)
{
	Fate f = little_to_gain(task, trace, is_default);
	f.ns = !is_default && hash_text(trace) % 100 == 0 ? 600000 : f.ns;
	return f;
}

typedef struct Shown {
	double gain; /* the last one while it searched, of the sums */
	double raw;  /* by the least times and the first ones of the defaults */
	double first[2];
} Shown;

static void look(const TuneProgress *p, void *arg)
{
	Shown *s = arg;
	double best = 0, plain = 0;
	if (p->phase != TUNE_SEARCH || p->default_unmeasured > 0)
		return;
	for (int k = 0; k < p->ntask; k++) {
		s->first[k] = s->first[k] > 0 ? s->first[k] : p->task[k].default_ms;
		best += p->task[k].best_ms;
		plain += s->first[k];
	}
	s->gain = 1 - p->tasks_ms / p->default_tasks_ms;
	s->raw = 1 - best / plain;
}

/* Means over some runs of what was shown, what least times say, and what the races confirmed. */
static void tune_in_noise(FateFn fate, double spread, double start, double *shown, double *raw, double *confirmed)
{
	enum { RUNS = 6 };
	*shown = *raw = *confirmed = 0;
	for (int i = 0; i < RUNS; i++) {
		Lab *lab = open_lab_of(large, fate);
		Noisy m = { { &noisy }, lab->measure, rng_seed((uint64_t)i), spread, start, 0, RUN_OK, false };
		Shown last = { 0 };
		Job o = job_of(lab);
		o.ask.finalists = 3;
		o.ask.trials = 250;
		o.ask.seed = (uint64_t)i;
		o.with.measure = &m.base;
		o.with.on_trial = NULL;
		o.with.on_progress = look;
		o.with.arg = &last;
		o.with.clock.arg = lab;
		TuneResult s = tune(lab, &o);
		for (int k = 0; k < 2; k++) /* what comes after the races does not change what they found */
			ck_assert(s.end.task[k].raced && s.end.task[k].default_likely_ms == 1 && s.end.task[k].default_ms == 1);
		*shown += last.gain / RUNS;
		*raw += last.raw / RUNS;
		*confirmed += (1 - s.end.tasks_ms / s.end.default_tasks_ms) / RUNS;
		close_lab(lab);
	}
}

START_TEST(noise_promises_little)
{
	double shown, raw, confirmed;
	tune_in_noise(little_to_gain, 0.08, 1.4, &shown, &raw, &confirmed);
	ck_assert_msg(raw > confirmed + 0.2, "%f by least times, %f confirmed", raw, confirmed);
	ck_assert_msg(shown - confirmed < (raw - confirmed) / 3 && shown >= 0, "%f shown, %f by least times, %f confirmed",
		shown, raw, confirmed);
}
END_TEST

START_TEST(true_gains_are_shown)
{
	static const double spread[] = { 0, 0.02, 0.08 }, part[] = { 0.95, 0.95, 0.6 };
	double shown, raw, confirmed;
	tune_in_noise(much_to_gain, spread[_i], 1.4, &shown, &raw, &confirmed);
	ck_assert_msg(confirmed > 0.3, "%f confirmed", confirmed);
	ck_assert_msg(shown > confirmed * part[_i] && shown < confirmed + 0.05, "%f shown, %f confirmed", shown, confirmed);
}
END_TEST

/* One of fifty trials at most repeats a default, and each default has its turn. */
START_TEST(repeats_are_few)
{
	enum { TRIALS = 250, REPEAT = 50 };
	Lab *lab = open_lab_of(large, little_to_gain);
	Job o = job_of(lab);
	o.ask.trials = TRIALS;
	TuneResult s = tune(lab, &o);
	ck_assert_int_eq(s.end.trials, TRIALS);
	ck_assert_int_ge(lab->repeats, 2);
	ck_assert_int_le(lab->repeats, TRIALS / REPEAT);
	close_lab(lab);
}
END_TEST

/* A default that fails when it is repeated, or is found wrong meanwhile, is none; a lost device says nothing of it. */
START_TEST(repeats_that_fail)
{
	static const struct {
		RunStatus status;
		bool refutes;
		double default_ms;
	} repeat[] = { { RUN_OK, false, 1 }, { RUN_DEVICE_LOST, false, 1 }, { RUN_CRASH, false, 0 }, { RUN_OK, true, 0 } };
	Lab *lab = open_lab_of(large, little_to_gain);
	Noisy m = { { &noisy }, lab->measure, rng_seed(1), 0, 1, 0, repeat[_i].status, repeat[_i].refutes };
	Job o = job_of(lab);
	o.ask.trials = 250;
	o.with.measure = &m.base;
	TuneResult s = tune(lab, &o);
	for (int k = 0; k < 2; k++) {
		const TaskProgress *p = &s.end.task[k];
		ck_assert_msg(p->default_ms == repeat[_i].default_ms && p->default_likely_ms == repeat[_i].default_ms,
			"%f, %f", p->default_ms, p->default_likely_ms);
		ck_assert(p->best_ms > 0.9 && (p->default_ms > 0 ? p->best_ms <= 1 : p->best_ms != 1));
	}
	close_lab(lab);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("promise");
	tcase_add_test(tc, noise_promises_little);
	tcase_add_loop_test(tc, true_gains_are_shown, 0, 3);
	tcase_add_test(tc, repeats_are_few);
	tcase_add_loop_test(tc, repeats_that_fail, 0, 4);
	return run_suite("promise", tc);
}
