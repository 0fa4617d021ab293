/*
 * See run/time.h.  Runs are timed back to back, as rivals are; a few run before, until the clock
 * rate and the caches have settled.
 */
#include "run/time.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/model.h"
#include "runtime/probe.h"
#include "run/print_json.h"
#include "runtime/timing.h"

enum { MAX_RUNS = 1000000, LEAST_RUNS = 3, WARM_RUNS = 3 };
#define WARM_NS 200000000u
#define DEFAULT_SECONDS 2.0

/* When a series of runs ends. */
typedef struct Series {
	uint64_t start, limit_ns;
	int limit_runs;
} Series;

static Series series_start(const RunOptions *o)
{
	double seconds = o->seconds > 0 ? o->seconds : DEFAULT_SECONDS;
	return (Series){ timing_wall_ns(), (uint64_t)(seconds * 1e9), (int)o->runs };
}

static bool series_goes_on(const Series *s, int runs)
{
	if (s->limit_runs > 0)
		return runs < s->limit_runs;
	return runs < LEAST_RUNS || (runs < MAX_RUNS && timing_wall_ns() - s->start < s->limit_ns);
}

/* At least one run, at most WARM_RUNS of a slow network, at most WARM_NS of a quick one. */
static DlcStatus warm_up(DlcInstance *i, DlcError *err)
{
	uint64_t start = timing_wall_ns();
	for (int runs = 0; runs < MAX_RUNS; runs++) {
		uint64_t passed = timing_wall_ns() - start;
		if (runs > 0 && (passed > WARM_NS || (runs >= WARM_RUNS && passed > WARM_NS / 4)))
			break;
		DlcStatus s = dlc_instance_run(i, err);
		if (s != DLC_OK)
			return s;
	}
	return DLC_OK;
}

/* Milliseconds of each run, in memory that the caller frees. */
static DlcStatus take_samples(
	DlcInstance *i, const RunOptions *o, double **sample, int *n, DlcError *err)
{
	int cap = 0;
	*sample = NULL;
	*n = 0;
	for (Series series = series_start(o); series_goes_on(&series, *n);) {
		if (*n == cap) {
			cap = cap > 0 ? 2 * cap : 1024;
			double *more = realloc(*sample, (size_t)cap * sizeof *more);
			if (more == NULL)
				return runtime_fail(
					err, DLC_NO_MEMORY, "there is no memory for %d samples", cap);
			*sample = more;
		}
		uint64_t start = timing_wall_ns();
		DlcStatus s = dlc_instance_run(i, err);
		(*sample)[(*n)++] = (double)(timing_wall_ns() - start) / 1e6;
		if (s != DLC_OK)
			return s;
	}
	return DLC_OK;
}

static const char *info(const DlcModel *m, const char *key)
{
	const char *text = dlc_model_info(m, key);
	return text != NULL ? text : "unknown";
}

static int threads_of(const DlcModel *m, const RunOptions *o)
{
	return o->threads > 0 ? (int)o->threads : dlc_model_threads(m);
}

static void print_bench(
	DlcInstance *i, const DlcModel *m, const RunOptions *o, const Timing *t, double gflops)
{
	int threads = threads_of(m, o);
	DlcTensor in;
	bool batched = dlc_model_count(m, DLC_INPUT) > 0 && dlc_instance_tensor(i, DLC_INPUT, 0, &in, NULL) == DLC_OK &&
	               in.ndim > 0;
	long long batch = batched ? (long long)in.shape[0] : 1;
	if (!o->json) {
		char model[256], target[256];
		printf("%s  %s  %s  threads %d  batch %lld\n", runtime_shown(model, sizeof model, info(m, "model")),
			runtime_shown(target, sizeof target, info(m, "target")), m->device->name, threads, batch);
		printf("median %.4f ms  min %.4f  mean %.4f  p95 %.4f  p99 %.4f  (%d runs; FMA "
		       "probe %.1f GFLOP/s)\n",
			t->median, t->min, t->mean, t->p95, t->p99, t->runs, gflops);
		return;
	}
	printf("{\"model\":");
	json_text(stdout, info(m, "model"));
	printf(",\"target\":");
	json_text(stdout, info(m, "target"));
	printf(",\"device\":\"%s\",\"threads\":%d,\"batch\":%lld,\"runs\":%d", m->device->name,
		threads, batch, t->runs);
	json_number(stdout, "median_ms", t->median);
	json_number(stdout, "min_ms", t->min);
	json_number(stdout, "mean_ms", t->mean);
	json_number(stdout, "p95_ms", t->p95);
	json_number(stdout, "p99_ms", t->p99);
	json_number(stdout, "fma_probe_gflops", gflops);
	printf("}\n");
}

DlcStatus time_bench(DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err)
{
	double *sample = NULL;
	int n = 0;
	DlcStatus s = warm_up(i, err);
	double before = probe_fma_gflops(threads_of(m, o));
	if (s == DLC_OK)
		s = take_samples(i, o, &sample, &n, err);
	if (s == DLC_OK) {
		double after = probe_fma_gflops(threads_of(m, o));
		Timing t = timing_summary(sample, n);
		print_bench(i, m, o, &t, (before + after) / 2);
	}
	free(sample);
	return s;
}

static void print_profile(const DlcModel *m, const RunOptions *o, const uint64_t *ns, int runs)
{
	uint64_t all = 0; /* a loop's or an if's time holds its steps' */
	for (int k = 0; k < dlc_model_steps(m); k++)
		if (m->op[k].kind < BUNDLE_LOOP)
			all += ns[k];
	for (int k = 0; k < dlc_model_steps(m); k++) {
		double ms = (double)ns[k] / runs / 1e6,
		       percent = 100 * (double)ns[k] / (double)(all + !all);
		if (o->json) {
			printf("{\"step\":%d,\"name\":", k);
			json_text(stdout, dlc_model_step(m, k));
			json_number(stdout, "ms", ms);
			json_number(stdout, "percent", percent);
			printf("}\n");
		} else {
			char name[256];
			printf("%5d  %-48s %10.4f ms %5.1f %%\n", k, runtime_shown(name, sizeof name, dlc_model_step(m, k)),
				ms, percent);
		}
	}
	if (o->json)
		printf("{\"steps\":%d,\"runs\":%d,\"ms\":%.9g}\n", dlc_model_steps(m), runs,
			(double)all / runs / 1e6);
	else
		printf("%5s  %-48s %10.4f ms        mean of %d runs\n", "", "all steps",
			(double)all / runs / 1e6, runs);
}

DlcStatus time_profile(DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err)
{
	uint64_t *ns = calloc((size_t)dlc_model_steps(m) + 1, sizeof *ns);
	if (ns == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for a profile");
	int runs = 0;
	DlcStatus s = warm_up(i, err);
	for (Series series = series_start(o); s == DLC_OK && series_goes_on(&series, runs); runs++)
		s = dlc_instance_profile(i, ns, err);
	if (s == DLC_OK)
		print_profile(m, o, ns, runs);
	free(ns);
	return s;
}
