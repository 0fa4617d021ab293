/*
 * See surrogate.h. With x the logarithm of the estimate and y that of the time, y = a + b x + g. The slope b is that of
 * a regression, drawn towards 1. g is a Gaussian process whose correlation falls with the distance of two configs: the
 * sum over knobs of 0 for one option, 0.5 to 1 for options of one knob by how far they lie apart, 1 where one config
 * lacks the knob. (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, algorithm 2.1. Expected
 * improvement: Jones, Schonlau and Welch, 1998.)
 */
#include "tuner/surrogate.h"
#include "tuner/tuning.h"

#include <math.h>
#include <stdlib.h>

struct Surrogate {
	int n;
	const uint32_t *point;
	double a, b, spread; /* y = a + b x; the process's standard deviation */
	double *lower;              /* Cholesky factor of the correlations, n by n */
	double *weight;             /* inverse of the correlations times the errors */
};

static double apart(const Pool *p, uint32_t i, uint32_t j)
{
	const Config *a = pool_config(p, i), *b = pool_config(p, j);
	double d = 0;
	int both = 0;
	for (int k = 0; k < a->n; k++) {
		int at = k < b->n && b->knob[k] == a->knob[k] ? k : 0;
		while (at < b->n && b->knob[at] != a->knob[k])
			at++;
		both += at < b->n;
		if (at == b->n)
			d += 1;
		else if (a->pick[k] != b->pick[at])
			d += 0.5 + 0.5 * abs(a->pick[k] - b->pick[at]) / space_knob(p->space, a, k)->n;
	}
	return d + b->n - both;
}

/* y and x of a point. */
static double log_ns(const Pool *p, uint32_t i)
{
	return log(p->point.at[i].ns);
}

static double log_estimate(const Pool *p, uint32_t i)
{
	return log(p->point.at[i].est);
}

static void fit_line(Surrogate *s, const Pool *p)
{
	double x = 0, y = 0, xx = 0, xy = 0;
	for (int k = 0; k < s->n; k++) {
		x += log_estimate(p, s->point[k]) / s->n;
		y += log_ns(p, s->point[k]) / s->n;
	}
	for (int k = 0; k < s->n; k++) {
		double dx = log_estimate(p, s->point[k]) - x;
		xx += dx * dx;
		xy += dx * (log_ns(p, s->point[k]) - y);
	}
	s->b = fmin(fmax((xy + TUNE_SLOPE) / (xx + TUNE_SLOPE), 0), 1.5);
	s->a = y - s->b * x;
}

/* Solves L v = e in place. */
static void forward(const Surrogate *s, double *v)
{
	for (int i = 0; i < s->n; i++) {
		double sum = v[i];
		for (int k = 0; k < i; k++)
			sum -= s->lower[(size_t)i * (size_t)s->n + (size_t)k] * v[k];
		v[i] = sum / s->lower[(size_t)i * (size_t)s->n + (size_t)i];
	}
}

/* Fits the process to errors e. */
static void fit_process(Surrogate *s, const double *distance, const double *e)
{
	size_t n = (size_t)s->n;
	double square = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++) {
			double sum = exp(-distance[i * n + j] / TUNE_LENGTH) + (i == j ? TUNE_JITTER : 0);
			for (size_t k = 0; k < j; k++)
				sum -= s->lower[i * n + k] * s->lower[j * n + k];
			s->lower[i * n + j] = i == j ? sqrt(fmax(sum, TUNE_JITTER)) : sum / s->lower[j * n + j];
		}
	for (size_t i = 0; i < n; i++)
		s->weight[i] = e[i];
	forward(s, s->weight);
	for (size_t i = 0; i < n; i++)
		square += s->weight[i] * s->weight[i];
	for (size_t i = n; i-- > 0;) {
		double sum = s->weight[i];
		for (size_t k = i + 1; k < n; k++)
			sum -= s->lower[k * n + i] * s->weight[k];
		s->weight[i] = sum / s->lower[i * n + i];
	}
	s->spread = sqrt(fmax(square / s->n, 1e-8));
}

/* The points with a time: the last ones, and the fastest of those before. */
static void choose_points(Surrogate *s, Arena *a, const Pool *p)
{
	Numbers of = { 0 };
	size_t ran = 0;
	for (size_t k = p->told.n; k-- > 0;) {
		uint32_t i = p->told.at[k];
		const Point *x = &p->point.at[i];
		if (x->ns <= 0 || x->est <= 0)
			continue;
		if (ran < TUNE_LEARNED / 2 || (of.n < TUNE_LEARNED && x->ns < 2 * p->point.at[p->best].ns))
			vec_push(a, &of, i);
		ran++;
	}
	s->point = of.at;
	s->n = (int)of.n;
}

Surrogate *surrogate_new(Arena *a, const Pool *p)
{
	Surrogate *s = arena_new_of(a, Surrogate);
	choose_points(s, a, p);
	if (s->n < TUNE_LEARN)
		return NULL;
	size_t n = (size_t)s->n;
	double *distance = arena_array(a, double, n *n), *e = arena_array(a, double, n);
	s->lower = arena_array(a, double, n *n);
	s->weight = arena_array(a, double, n);
	fit_line(s, p);
	for (size_t i = 0; i < n; i++) {
		e[i] = log_ns(p, s->point[i]) - s->a - s->b * log_estimate(p, s->point[i]);
		for (size_t j = 0; j < i; j++)
			distance[i * n + j] = apart(p, s->point[i], s->point[j]);
	}
	fit_process(s, distance, e);
	return s;
}

double surrogate_value(const Surrogate *s, const Pool *p, uint32_t i, double *deviation)
{
	double near[TUNE_LEARNED], y = s->a + s->b * log_estimate(p, i), known = 0;
	for (int k = 0; k < s->n; k++) {
		near[k] = exp(-apart(p, i, s->point[k]) / TUNE_LENGTH);
		y += near[k] * s->weight[k];
	}
	if (deviation == NULL)
		return y;
	forward(s, near);
	for (int k = 0; k < s->n; k++)
		known += near[k] * near[k];
	*deviation = s->spread * sqrt(fmax(1 - known, 0) + TUNE_JITTER);
	return y;
}

double surrogate_gain(const Surrogate *s, const Pool *p, uint32_t i, double best_ns)
{
	double d, below = log(best_ns) - surrogate_value(s, p, i, &d), z = below / d;
	return below * 0.5 * erfc(-z / sqrt(2)) + d * exp(-z * z / 2) / sqrt(2 * 3.14159265358979);
}

double surrogate_left(const Surrogate *s, const Pool *p, const uint32_t *point, size_t n, double best_ns)
{
	double left = 0;
	for (size_t k = 0; k < n; k++) {
		if (!pool_open(p, point[k]))
			continue;
		/* A deviation, which takes long to compute, is at most that of what is far from all that is known. */
		double value = surrogate_value(s, p, point[k], NULL), deviation = s->spread * sqrt(1 + TUNE_JITTER);
		if (1 - exp(value - TUNE_CERTAIN * deviation) / best_ns <= left)
			continue;
		value = surrogate_value(s, p, point[k], &deviation);
		left = fmax(left, 1 - exp(value - TUNE_CERTAIN * deviation) / best_ns);
	}
	return left;
}
