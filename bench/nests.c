/*
 * What a builder saves and changes that compiles schedules in nests (codegen/nests.h): the schedules of a log are
 * compiled whole and from kept nests, and both codes are timed in turns.
 *
 *     bench_nests EXPORT.jsonl [THREADS] [MOST]     (from `dlc db export`)
 *
 * A line for each schedule that ran correctly and has several nests, sorted by id: the id, the milliseconds
 * of both compilations, which nests were kept (1) or compiled (0), the microseconds of both codes and their ratio. The
 * sums go to stderr. Built by `ninja -C build tests/measure/bench_nests`. Times of code are the fastest quarter of
 * calls, with warm caches and zeros in all buffers.
 */
#include "log.h"

#include "codegen/nests.h"
#include "ir/text/ir_text.h"
#include "measure/kept_modules.h"
#include "measure/method.h"
#include "op/task.h"
#include "runtime/kernel.h"
#include "runtime/team.h"
#include "runtime/timing.h"
#include "schedule/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 31, BUFS = 64, NESTS = 64 };

static const CodegenOptions options = { .unchecked = true, .resources = true };

static int die(const Err *e)
{
	fprintf(stderr, "bench_nests: %s: %s\n", e->place, e->text);
	exit(1);
}

static const KernelSet *run_set(Arena *a, const Log *g, const Json *run, const Target *host, Err *err)
{
	const char *workload, *trace, *dag;
	const Json *task_of;
	if (!json_str(run, "workload", &workload, err) || !json_str(run, "trace", &trace, err) ||
		(task_of = log_find(g, workload, err)) == NULL || !json_str(task_of, "dag", &dag, err))
		return NULL;
	Task *task = task_parse(a, dag, strlen(dag), err);
	Trace *t = task != NULL ? trace_parse(a, "trace", trace, strlen(trace), err) : NULL;
	const KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), task, host, t, err) : NULL;
	/* As a builder gets it: from its text. */
	const char *text = ks != NULL ? ir_set_str(a, ir_set_of_kind(a, ks, FN_RUN)) : NULL;
	return text != NULL ? ir_parse_set(ir_new(a), "candidate", text, strlen(text), err) : NULL;
}

static int by_number(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* A Fn's code and its call. */
typedef struct Code {
	const Module *module;
	Mapped *mapped;
	DlcCall call;
	unsigned char *work;
	uint64_t work_bytes; /* of each thread */
} Code;

static void run_thread(void *arg, int thread)
{
	const Code *c = arg;
	DlcCall call = c->call;
	call.thread = (uint32_t)thread;
	call.work = c->work + (size_t)thread * c->work_bytes;
	for (uint32_t k = 0; k < c->module->image.nentry; k++) {
		codegen_launch(c->mapped, k, &call);
		if (call.threads > 1)
			team_barrier(call.team);
	}
}

/* Of both in turns, in us. */
static void time_both(Arena *a, const KernelSet *run, const Module *const m[2], Team *team, double us[2])
{
	Err err = { 0 };
	const Fn *fn = NULL;
	void *buf[BUFS];
	int n = 0;
	for (size_t k = 0; k < run->n; k++)
		fn = run->fn[k]->kind == FN_RUN ? run->fn[k] : fn;
	for (int k = 0; k < fn->nparam && n < BUFS; k++) {
		const Buf *b = fn->param[k].buf;
		if (b == NULL) /* a size: Tasks with sizes that are not known have no records */
			continue;
		size_t bytes = (size_t)dtype_bytes(b->type, ir_buf_elements(b, NULL, 0)) + 64;
		buf[n] = arena_alloc_aligned(a, bytes, 64);
		memset(buf[n++], 0, bytes);
	}
	Code code[2];
	double ns[2][CALLS];
	uint64_t work_bytes = 64; /* one workspace for both: where it lies matters */
	for (int k = 0; k < 2; k++)
		for (uint32_t e = 0; e < m[k]->image.nentry; e++)
			if (m[k]->image.entry[e].work_bytes > work_bytes)
				work_bytes = m[k]->image.entry[e].work_bytes;
	void *work = arena_alloc_aligned(a, work_bytes * (size_t)team_threads(team), 64);
	for (int k = 0; k < 2; k++) {
		code[k] = (Code){ .module = m[k], .work = work, .work_bytes = work_bytes };
		code[k].call = (DlcCall){ .buf = buf, .threads = (uint32_t)team_threads(team), .team = team };
		code[k].call.barrier = team_threads(team) > 1 ? team_barrier : NULL;
		if (!codegen_map(m[k], &code[k].mapped, &err))
			die(&err);
	}
	for (int i = 0; i < CALLS; i++)
		for (int k = 0; k < 2; k++) {
			int which = k ^ (i & 1);
			uint64_t from = timing_wall_ns();
			team_run(team, run_thread, &code[which]);
			ns[which][i] = (double)(timing_wall_ns() - from);
		}
	for (int k = 0; k < 2; k++) {
		qsort(ns[k], CALLS, sizeof **ns, by_number);
		us[k] = ns[k][CALLS / 4] / 1e3;
		codegen_unmap(code[k].mapped);
	}
}

/* A schedule's run Fns, compiled whole and in nests. */
typedef struct Both {
	const KernelSet *run;
	Module whole, joined;
	size_t parts; /* 0: it stays whole */
	char hit[NESTS + 1];
	double ms[2];
} Both;

static void compile_both(Arena *a, const Log *g, const Json *run, KeptModules *kept, Both *out)
{
	Err err = { 0 };
	const Module *nest[NESTS];
	*out = (Both){ .run = run_set(a, g, run, kept->target, &err) };
	uint64_t from = timing_thread_ns();
	if (out->run == NULL || !codegen_compile(a, out->run, kept->target, &options, &out->whole, &err))
		die(&err);
	out->ms[0] = out->ms[1] = (double)(timing_thread_ns() - from) / 1e6;
	from = timing_thread_ns();
	const KernelSet **set = codegen_nests(a, out->run, kept->target, &out->parts);
	if (set == NULL || out->parts > NESTS) {
		out->parts = 0;
		return;
	}
	for (size_t k = 0; k < out->parts; k++) {
		uint64_t before = kept->compiled;
		nest[k] = kept_module(kept, set[k], &err);
		out->hit[k] = kept->compiled == before ? '1' : '0';
		if (nest[k] == NULL)
			die(&err);
	}
	if (!codegen_join_nests(a, kept->target, nest, out->parts, &out->joined, &err))
		die(&err);
	out->ms[1] = (double)(timing_thread_ns() - from) / 1e6;
}

int main(int argc, char **argv)
{
	static KeptModule place[METHOD_NESTS_KEPT];
	Err err = { 0 };
	Log g;
	Target host;
	if (argc < 2) {
		fprintf(stderr, "usage: bench_nests EXPORT.jsonl [THREADS] [MOST]\n");
		return 2;
	}
	target_host(&host, argc > 2 ? atoi(argv[2]) : 1);
	Team *team = team_open(host.threads);
	KeptModules kept = { .target = &host, .options = &options, .n = METHOD_NESTS_KEPT, .at = place };
	if (!log_read(&g, arena_new(), argv[1], &err))
		die(&err);
	size_t most = argc > 3 ? (size_t)atol(argv[3]) : g.line.n, n = 0, several = 0;
	double all[2] = { 0 }, cut[2] = { 0 }, us[2], *ratio = arena_array(g.arena, double, g.line.n + 1);
	for (size_t i = 0; i < g.line.n && n < most; i++) {
		Both b;
		Arena *a = arena_new();
		if (log_ran(&g.line.at[i])) {
			compile_both(a, &g, g.line.at[i].json, &kept, &b);
			n++;
			for (int k = 0; k < 2; k++) {
				all[k] += b.ms[k];
				cut[k] += b.parts > 0 ? b.ms[k] : 0;
			}
			if (b.parts > 0) {
				time_both(a, b.run, (const Module *[]){ &b.whole, &b.joined }, team, us);
				ratio[several++] = us[1] / us[0];
				printf("%s %.1f %.1f %s %.1f %.1f %.3f\n", g.line.at[i].id, b.ms[0], b.ms[1], b.hit, us[0], us[1],
					us[1] / us[0]);
			}
		}
		arena_free(a);
	}
	team_close(team);
	qsort(ratio, several, sizeof *ratio, by_number);
	if (n > 0)
		fprintf(stderr, "%zu schedules, %.2f ms to compile one whole, %.2f in nests\n", n, all[0] / (double)n,
			all[1] / (double)n);
	if (several == 0)
		fprintf(stderr, "none has several nests\n");
	else
		fprintf(stderr, "%zu of several nests, %.2f ms whole, %.2f in nests; times in nests over times of the whole: "
			"10 %% %.3f, median %.3f, 90 %% %.3f\n", several, cut[0] / (double)several, cut[1] / (double)several,
			ratio[several / 10], ratio[several / 2], ratio[several * 9 / 10]);
	return n == 0;
}
