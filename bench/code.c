/*
 * What machine code the schedules of a log become, so that two builds of dlc can be compared: a change
 * that promises the same code must print the same lines.
 *
 *     bench_code EXPORT.jsonl [MOST [TARGET.json]] > codes        (from `dlc db export`)
 *
 * A line for each schedule (workload, threads, trace) that ran correctly, sorted by its run's id: the id and
 * a hash of the image and its entries, for this machine or that target; or why the schedule is refused. Prints the
 * count, and the median times of replaying and compiling one, to stderr.
 */
#include "log.h"

#include "codegen/codegen.h"
#include "op/task.h"
#include "runtime/timing.h"
#include "schedule/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int die(const Err *e)
{
	fprintf(stderr, "bench_code: %s: %s\n", e->place, e->text);
	exit(1);
}

/* The hash of what codegen makes of a run's trace; false: err says why nothing. */
static bool code_of(
	Arena *a, const Log *g, const char *name, const Json *run, char hex[HASH_HEX], double ns[2], Err *err)
{
	const char *workload, *target, *trace, *dag;
	const Json *task_of, *target_of;
	int64_t threads = 1;
	if (!json_str(run, "workload", &workload, err) || !json_str(run, "target", &target, err) ||
		!json_str(run, "trace", &trace, err) || (task_of = log_find(g, workload, err)) == NULL ||
		(target_of = log_find(g, target, err)) == NULL || !json_str(task_of, "dag", &dag, err) ||
		!json_int(target_of, "threads", 1, TEAM_MAX, &threads, err))
		return false;
	Target made_for;
	if (!target_resolve(&made_for, name, (int)threads, NULL, 0, err))
		return false;
	Task *task = task_parse(a, dag, strlen(dag), err);
	Trace *t = task != NULL ? trace_parse(a, "trace", trace, strlen(trace), err) : NULL;
	uint64_t from = timing_thread_ns();
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), task, &made_for, t, err) : NULL;
	uint64_t replayed = timing_thread_ns();
	Module m;
	if (ks == NULL || !codegen_compile(a, ks, &made_for, NULL, &m, err))
		return false;
	ns[0] = (double)(replayed - from);
	ns[1] = (double)(timing_thread_ns() - replayed);
	HashState s;
	hash_begin(&s, "code");
	hash_add(&s, m.image.bytes, m.image.size);
	for (uint32_t k = 0; k < m.image.nentry; k++) {
		const DlcEntry *e = &m.image.entry[k];
		hash_add(&s, e->name, strlen(e->name));
		hash_add(&s, &e->offset, sizeof e->offset);
		hash_add(&s, &e->work_bytes, sizeof e->work_bytes);
	}
	hash_hex(hash_end(&s), hex);
	return true;
}

static int by_number(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	Err err = { 0 };
	Log g;
	if (argc < 2) {
		fprintf(stderr, "usage: bench_code EXPORT.jsonl [MOST [TARGET.json]]\n");
		return 2;
	}
	if (!log_read(&g, arena_new(), argv[1], &err))
		die(&err);
	size_t most = argc > 2 ? (size_t)atol(argv[2]) : g.line.n, n = 0, refused = 0;
	double *took[2] = { arena_array(g.arena, double, g.line.n), arena_array(g.arena, double, g.line.n) };
	for (size_t i = 0; i < g.line.n && n + refused < most; i++) {
		if (!log_ran(&g.line.at[i]))
			continue;
		Arena *a = arena_new();
		char hex[HASH_HEX];
		double ns[2];
		err = (Err){ 0 };
		bool ok = code_of(a, &g, argc > 3 ? argv[3] : "host", g.line.at[i].json, hex, ns, &err);
		printf("%s %s%s%s\n", g.line.at[i].id, ok ? hex : err.place, ok ? "" : ": ", ok ? "" : err.text);
		for (int k = 0; ok && k < 2; k++)
			took[k][n] = ns[k];
		*(ok ? &n : &refused) += 1;
		arena_free(a);
	}
	for (int k = 0; k < 2; k++)
		qsort(took[k], n, sizeof **took, by_number);
	fprintf(stderr, "%zu schedules, %zu refused; median %.2f ms to replay, %.2f ms to compile\n", n, refused,
		n > 0 ? took[0][n / 2] / 1e6 : 0, n > 0 ? took[1][n / 2] / 1e6 : 0);
	return n == 0;
}
