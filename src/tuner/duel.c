/*
 * See duel.h.  First all networks have some rounds.  Each Task's gains there are weighed with what was known before
 * (weigh), and a network is made of the schedules that are probably faster.  It is timed in turn with the default
 * one until the difference is beyond noise, or no time is left.  If it is not faster, a network of those schedules
 * follows that are faster beyond doubt; then the one that stays (DuelTask.base).
 *
 * The best of many noisy times is too low.  So a Task's gain is an estimate of empirical Bayes: the mean of what was
 * known before and of its pairs, each by its precision.  How far the one is from the other, and how large the noise is,
 * all Tasks say together: a few pairs of one Task cannot.
 */
#include "tuner/duel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- statistics ---- */

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

static double median(double *v, int n)
{
	if (n == 0)
		return 0;
	qsort(v, (size_t)n, sizeof *v, by_value);
	return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

/* Sorts v, and leaves out one part in TUNE_TRIM on each side, one value at least; of two values none. */
static int trimmed(double *v, int n, double *mean)
{
	int out = n < 3 ? 0 : n / TUNE_TRIM > 0 ? n / TUNE_TRIM : 1;
	qsort(v, (size_t)n, sizeof *v, by_value);
	*mean = 0;
	for (int i = out; i < n - out; i++)
		*mean += v[i] / (n - 2 * out);
	return out;
}

/* Student's t, 97.5 %: a normal quantile, and Hill's expansion, which is within 1 % from three degrees on. */
static double student(int degrees)
{
	static const double few[] = { INFINITY, 12.71, 4.303 };
	double z = 1.96, g = degrees;
	if (degrees < 3)
		return few[degrees];
	return z + (pow(z, 3) + z) / (4 * g) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * g * g) +
	       (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * g * g * g);
}

/* The trimmed mean of the pairs and its interval (Tukey and McLaughlin 1963): a burst of other work moves neither. */
static DuelGain interval(double *pair, int n)
{
	DuelGain g = { .half = INFINITY, .n = n };
	double square = 0, all = 0;
	if (n < 1)
		return g;
	int out = n >= TUNE_TRIM ? trimmed(pair, n, &g.mean) : 0, in = n - 2 * out;
	double wins = 0;
	for (int i = 0; i < n; i++)
		wins += pair[i < out ? out : i >= n - out ? n - out - 1 : i] / n;
	for (int i = 0; i < n; i++) {
		double x = pair[i < out ? out : i >= n - out ? n - out - 1 : i] - wins;
		square += x * x;
		all += pair[i] / n;
	}
	if (out == 0)
		g.mean = all;
	if (in > 1)
		g.half = student(in - 1) * sqrt(square / (n - 1)) * sqrt(n) / in;
	return g;
}

double duel_ns(const DuelTask *t, int schedule)
{
	double v[DUEL_ROUNDS];
	int n = 0;
	for (int r = 0; r < DUEL_ROUNDS; r++)
		if (t->ns[schedule][r] > 0)
			v[n++] = t->ns[schedule][r];
	return median(v, n);
}

DuelGain duel_gain(const Duel *d, int net, int since)
{
	double pair[DUEL_ROUNDS];
	int n = 0;
	for (int r = since; r < d->round; r++)
		if (d->net[net].ms[r] > 0 && d->net[0].ms[r] > 0)
			pair[n++] = log(d->net[0].ms[r] / d->net[net].ms[r]);
	return interval(pair, n);
}

/* ---- the gains of single schedules ---- */

/* The pairs of one schedule and the default: their location, and the variance of one of them. */
typedef struct Pairs {
	int n;
	double mean, variance;
} Pairs;

static Pairs pairs_of(const DuelTask *t, int schedule)
{
	Pairs p = { 0 };
	double pair[DUEL_ROUNDS], square = 0, sum = 0;
	for (int r = 0; r < DUEL_ROUNDS; r++)
		if (t->ns[0][r] > 0 && t->ns[schedule][r] > 0)
			pair[p.n++] = log(t->ns[0][r] / t->ns[schedule][r]);
	for (int i = 0; i < p.n; i++) {
		sum += pair[i];
		square += pair[i] * pair[i];
	}
	p.variance = p.n > 1 ? fmax(0, square - sum * sum / p.n) / (p.n - 1) : 0;
	if (p.n > 0)
		trimmed(pair, p.n, &p.mean);
	return p;
}

static double square(double x)
{
	return x * x;
}

/* Of all pairs together: the usual variance, and how far a gain in the network is from the one that was known. */
typedef struct Pool {
	double variance, offset, apart; /* apart: a variance */
} Pool;

static double variance_of(const Pairs *p, const Pool *all)
{
	return (TUNE_DEGREES * all->variance + (p->n - 1) * p->variance) / (TUNE_DEGREES + p->n - 1);
}

static Pool pool_of(const Duel *d, const Pairs *pairs)
{
	int most = d->ntask * DUEL_SCHEDULES + TUNE_DEGREES, n = 0, known = 0;
	double *v = arena_array(d->arena, double, most), *e = arena_array(d->arena, double, most);
	double *off = arena_array(d->arena, double, most);
	Pool all = { 0 };
	for (; n < TUNE_DEGREES; n++)
		v[n] = square(TUNE_NOISE);
	for (int i = 0; i < d->ntask * DUEL_SCHEDULES; i++)
		if (pairs[i].n > 1)
			v[n++] = pairs[i].variance;
	all.variance = median(v, n);
	for (int i = 0; i < d->ntask * DUEL_SCHEDULES; i++)
		if (pairs[i].n > 1 && isfinite(d->task[i / DUEL_SCHEDULES].prior_se[i % DUEL_SCHEDULES]))
			off[known++] = pairs[i].mean - d->task[i / DUEL_SCHEDULES].prior[i % DUEL_SCHEDULES];
	/* Gains that shrink in the network shrink all: the best of many times alone is too low. */
	all.offset = known > 0 ? fmin(0, median(off, known)) * known / (known + TUNE_DEGREES) : 0;
	n = 0;
	for (int i = 0; i < d->ntask * DUEL_SCHEDULES; i++) {
		const DuelTask *t = &d->task[i / DUEL_SCHEDULES];
		int k = i % DUEL_SCHEDULES;
		if (pairs[i].n < 2 || !isfinite(t->prior_se[k]))
			continue;
		e[n] = square(pairs[i].mean - t->prior[k] - all.offset);
		v[n++] = variance_of(&pairs[i], &all) / pairs[i].n + square(t->prior_se[k]);
	}
	static const double chi = 0.455; /* median of chi squared with one degree of freedom */
	double seen = n > 0 ? fmax(0, median(e, n) / chi - median(v, n)) : 0;
	all.apart = (TUNE_DEGREES * square(TUNE_APART) + n * seen) / (TUNE_DEGREES + n);
	return all;
}

static void weigh(Duel *d)
{
	Pairs *pairs = arena_array(d->arena, Pairs, d->ntask * DUEL_SCHEDULES);
	for (int i = 0; i < d->ntask; i++)
		for (int k = 1; k < d->task[i].n; k++)
			pairs[i * DUEL_SCHEDULES + k] = pairs_of(&d->task[i], k);
	Pool all = pool_of(d, pairs);
	for (int i = 0; i < d->ntask; i++)
		for (int k = 1; k < d->task[i].n; k++) {
			DuelTask *t = &d->task[i];
			const Pairs *p = &pairs[i * DUEL_SCHEDULES + k];
			bool known = isfinite(t->prior_se[k]);
			double before = known ? t->prior[k] + all.offset : 0;
			double w = 1 / (all.apart + (known ? square(t->prior_se[k]) : 0));
			double x = p->n > 0 ? p->n / variance_of(p, &all) : 0;
			t->gain[k] = (w * before + x * p->mean) / (w + x);
			t->se[k] = sqrt(1 / (w + x));
		}
}

/* The schedule of a Task: its base, unless another one is faster by `sure` standard errors. */
static int pick(const DuelTask *t, double sure)
{
	int base = t->gain[t->base] + TUNE_SURE * t->se[t->base] < 0 ? 0 : t->base, best = base;
	double most = 0;
	for (int k = 0; k < t->n; k++) {
		double more = t->gain[k] - t->gain[base], se = hypot(t->se[k], t->se[base]);
		double least = more - sure * se;
		if (k != base && more > TUNE_WORTH && least > most) {
			best = k;
			most = least;
		}
	}
	return best;
}

/* ---- networks ---- */

static bool same_picks(const Duel *d, const int *a, const int *b)
{
	for (int i = 0; i < d->ntask; i++)
		if (d->task[i].runs && a[i] != b[i])
			return false;
	return true;
}

int duel_add(Duel *d, const int *picks)
{
	for (int v = d->all_zero_is_default || d->nnet == 0 ? 0 : 1; v < d->nnet; v++)
		if (same_picks(d, d->net[v].pick, picks))
			return v;
	if (d->nnet == DUEL_NETWORKS)
		return -1;
	d->net[d->nnet].pick = arena_copy(d->arena, picks, sizeof *picks * (size_t)d->ntask);
	return d->nnet++;
}

/* Some networks in a changing order: what gets slower or faster all the time favours none. */
static bool time_round(Duel *d, const int *which, int n, Err *err)
{
	DuelNetwork *net[DUEL_NETWORKS];
	for (int i = 0; i < n; i++)
		net[d->round % 2 == 0 ? i : n - 1 - i] = &d->net[which[i]];
	if (!d->time(d->arg, net, n, d->round, err))
		return false;
	d->round++;
	return true;
}

/* How many of `most` rounds may settle a choice; those without which there is no verdict, however long they take. */
static int may_settle(const Duel *d, int most)
{
	int n = d->settles(d->arg), least = TUNE_ROUNDS - d->settled;
	n = n > least ? n : least;
	return n < most ? n : most;
}

static int settle_rounds(const Duel *d, int makes)
{
	int n = d->rounds(d->arg, makes, 2), most = may_settle(d, TUNE_MOST_ROUNDS);
	return n < most ? n : most;
}

typedef enum { FASTER, SLOWER, OPEN } Verdict;

/*
 * Looking after each round finds a difference in the noise more often than looking once does. So the bounds are wide at
 * first and close at the last of `planned` rounds (O'Brien and Fleming 1979). stays: databases hold this network.
 */
static Verdict verdict(DuelGain g, int planned, bool stays)
{
	double half = TUNE_LOOKS * planned / g.n * g.half;
	if (g.n < TUNE_ROUNDS)
		return OPEN;
	if (g.mean - half > 0)
		return FASTER;
	return (stays ? g.mean + half < 0 : g.mean + g.half < TUNE_WORTH) ? SLOWER : OPEN;
}

/*
 * The network and the default one in turn, until the difference is clear; OPEN: it stays within the noise. Only these
 * rounds count, from *since on: those that a network was chosen by flatter it.
 */
static bool settle(Duel *d, int net, bool stays, int *since, Verdict *out, Err *err)
{
	*out = OPEN;
	*since = d->round;
	bool makes = d->net[net].made == NULL;
	int planned = settle_rounds(d, makes);
	if (planned > 0 && makes && !d->make(d->arg, &d->net[net], err))
		return false;
	for (int n = 0; n < planned && *out == OPEN && (n == 0 || settle_rounds(d, 0) > 0); n++) {
		d->settled++;
		if (!time_round(d, (const int[]){ 0, net }, 2, err))
			return false;
		*out = verdict(duel_gain(d, net, *since), planned, stays);
	}
	return true;
}

static void choose(Duel *d, int net, int since)
{
	d->chosen = net;
	d->since = since;
	d->gain = net == 0 ? (DuelGain){ 0 } : duel_gain(d, net, since);
}

static int add_made(Duel *d, double sure)
{
	int *picks = arena_array(d->arena, int, d->ntask + 1);
	weigh(d);
	for (int i = 0; i < d->ntask; i++)
		picks[i] = isinf(sure) ? d->task[i].base : pick(&d->task[i], sure);
	return duel_add(d, picks);
}

/* Time for a round of n networks after `makes` were compiled, and to settle what it says. */
static bool may_go_on(const Duel *d, int makes, int n)
{
	return d->rounds(d->arg, makes + 1, n + 2 * TUNE_ROUNDS) > 0;
}

static bool first_rounds(Duel *d, Err *err)
{
	int which[DUEL_NETWORKS] = { 0 }, n = 1;
	for (int v = 1; v < d->nnet; v++) {
		if (v > 1 && !may_go_on(d, 1, n + 1))
			continue;
		if (!d->make(d->arg, &d->net[v], err))
			return false;
		which[n++] = v;
	}
	for (int k = 0; k < TUNE_FIRST_ROUNDS && (k == 0 || may_go_on(d, 0, n)); k++)
		if (!time_round(d, which, n, err))
			return false;
	return true;
}

/* Time for rounds that settle a choice, but not for others to choose by: then the winners alone are the choice. */
static bool is_short(const Duel *d)
{
	return !d->held && d->nnet > 1 && d->rounds(d->arg, 1, 2) >= TUNE_ROUNDS &&
	       d->rounds(d->arg, 2, 2) < TUNE_FIRST_ROUNDS + may_settle(d, TUNE_USUAL_ROUNDS);
}

bool duel_run(Duel *d, Err *err)
{
	static const double sure[] = { TUNE_LIKELY, TUNE_SURE, INFINITY };
	int tried = -1, since = 0;
	Verdict v = OPEN;
	d->chosen = -1;
	if (is_short(d)) {
		if (!settle(d, 1, false, &since, &v, err))
			return false;
		tried = 1;
		if (v == FASTER) {
			choose(d, 1, since);
			return true;
		}
	} else if (!first_rounds(d, err)) {
		return d->round == 0;
	}
	if (d->round == 0)
		return true;
	int stays = d->held ? add_made(d, INFINITY) : 0;
	for (size_t k = 0; k < sizeof sure / sizeof *sure; k++) {
		int net = add_made(d, sure[k]);
		if (net == 0 && stays == 0)
			break;
		if (net <= 0)
			continue;
		if (net != tried && !settle(d, net, net == stays, &since, &v, err))
			return false;
		if (d->round == since) { /* what is not known to be faster does not come in */
			d->no_time = tried < 0 || d->round < TUNE_ROUNDS;
			if (stays == 0)
				choose(d, 0, 0);
			return true;
		}
		tried = net;
		/* What databases hold was faster once: it gives way only where it is slower now. */
		if (v == FASTER || (net == stays && (v == OPEN || !d->default_may_win))) {
			choose(d, net, since);
			return true;
		}
	}
	choose(d, 0, 0);
	return true;
}
