/*
 * What it costs to make candidates for a target: configs of a Task's space are drawn, replayed, estimated and compiled.
 *
 *     bench_candidate TARGET.json CONFIGS FILE.dag... [--codes | --estimates]
 *
 * For each Dag: the CPU time of counting its space, and the medians over its candidates in thread CPU time: of drawing
 * a config and writing its trace, of replay, estimate, lowering, code, and of machine code where an assembler is
 * installed. The last line has the mean over all candidates, how many that is a second on one core, and how many were
 * refused. --codes prints a line for each candidate instead, with a hash of its code or why it is refused, so that
 * two builds of dlc can be compared. --estimates does what a search does that ranks the space: schedules are drafts
 * (schedule/drafts.h). It prints hashes of traces and loops, and all digits of their estimates; to stderr the mean
 * thread CPU time of trace, draft and estimate.
 */
#include "base/file.h"
#include "base/hash.h"
#include "codegen/backend.h"
#include "cost_model/cost_model.h"
#include "ir/text/ir_text.h"
#include "runtime/timing.h"
#include "schedule/drafts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAW, REPLAY, ESTIMATE, LOWER, EMIT, ASSEMBLE, STAGES };

static const char *const stages[STAGES] = { "draw", "replay", "estimate", "lower", "emit", "assemble" };

typedef struct Bench {
	Target target;
	Cost cost;
	int configs;
	bool codes, estimates;
	int drawn, made; /* candidates of all Tasks, and those that have code */
	double ms;       /* that these took */
} Bench;

static int die(const Err *e)
{
	fprintf(stderr, "bench_candidate: %s: %s\n", e->place, e->text);
	exit(1);
}

/* Milliseconds since *at, which is now. */
static double lap(uint64_t *at)
{
	uint64_t from = *at;
	*at = timing_thread_ns();
	return (double)(*at - from) / 1e6;
}

static bool make(const Bench *b, Space *s, Rng *rng, bool first, double ms[STAGES], char hex[HASH_HEX], Err *err)
{
	Arena *a = arena_new();
	KernelSet *lowered;
	Module m = { 0 }, assembled;
	uint64_t at = timing_thread_ns();
	Config c = first ? s->first : space_sample(s, rng);
	Trace *t = space_trace(s, &c, a, err);
	ms[DRAW] = lap(&at);
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), s->task, &b->target, t, err) : NULL;
	ms[REPLAY] = lap(&at);
	bool ok = ks != NULL;
	if (ok) {
		cost_estimate_one(&b->cost, ks, s->task);
		ms[ESTIMATE] = lap(&at);
		ks = ir_set_of_kind(a, ks, FN_RUN); /* prepare Fns run on the host */
		ok = codegen_lower(a, ks, &b->target, NULL, NULL, NULL, &lowered, err);
		ms[LOWER] = lap(&at);
	}
	if (ok) {
		ok = codegen_compile(a, ks, &b->target, &(CodegenOptions){ .unchecked = true }, &m, err);
		ms[EMIT] = lap(&at) - ms[LOWER];
	}
	if (ok && !b->codes) {
		CodegenOptions o = { .unchecked = true, .resources = true };
		ok = codegen_compile(a, ks, &b->target, &o, &assembled, err);
		ms[ASSEMBLE] = lap(&at) - ms[LOWER] - ms[EMIT];
	}
	if (ok)
		hash_hex(hash_of("code", m.image.bytes, m.image.size), hex);
	arena_free(a);
	return ok;
}

/* As a search that ranks the space: traces, drafts and estimates of configs that are drawn. */
static void rank(const Bench *b, Space *s, const char *path)
{
	enum { TRACE, DRAFT, COST, PARTS };
	Arena *kept = arena_new();
	Drafts *drafts = drafts_new(kept, s->task, &b->target);
	Rng rng = rng_seed(1);
	double ms[PARTS] = { 0 };
	for (int i = 0; i < b->configs; i++) {
		Arena *a = arena_new();
		Text text = { .arena = a };
		char hex[HASH_HEX];
		Err err = { 0 };
		uint64_t at = timing_thread_ns();
		Config c = i == 0 ? s->first : space_sample(s, &rng);
		Trace *t = space_trace(s, &c, a, &err);
		if (t != NULL)
			trace_print(&text, t);
		ms[TRACE] += lap(&at);
		const KernelSet *ks = t != NULL ? drafts_make(drafts, a, t, &err) : NULL;
		ms[DRAFT] += lap(&at);
		double ns = ks != NULL ? cost_estimate_one(&b->cost, ks, s->task) : 0;
		ms[COST] += lap(&at);
		if (ks != NULL)
			ir_print_set(&text, ks);
		hash_hex(hash_of("schedule", text_str(&text), text.n), hex);
		printf("%s %d %s %a%s%s%s\n", path, i, hex, ns, ks != NULL ? "" : " ", ks != NULL ? "" : err.place,
			ks != NULL ? "" : err.text);
		arena_free(a);
	}
	fprintf(stderr, "%s: ms trace %.3f draft %.3f estimate %.3f\n", path, ms[TRACE] / b->configs,
		ms[DRAFT] / b->configs, ms[COST] / b->configs);
	arena_free(kept);
}

static int by_number(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void bench(Bench *b, const char *path)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file;
	bool read = file_read(a, path, 1 << 20, &file, &err);
	Dag *dag = read ? dag_parse(a, path, (const char *)file.at, file.n, &err) : NULL;
	Task *task = dag != NULL ? task_new(a, dag, &err) : NULL;
	Space *s = task != NULL ? space_new(a, task, &b->target, &err) : NULL;
	if (s == NULL)
		die(&err);
	if (b->estimates) {
		rank(b, s, path);
		arena_free(a);
		return;
	}
	Rng rng = rng_seed(1);
	double *took[STAGES];
	int n = 0;
	for (int k = 0; k < STAGES; k++)
		took[k] = arena_array(a, double, b->configs);
	for (int i = 0; i < b->configs; i++) {
		double ms[STAGES] = { 0 };
		char hex[HASH_HEX];
		err = (Err){ 0 };
		bool ok = make(b, s, &rng, i == 0, ms, hex, &err);
		if (b->codes)
			printf("%s %d %s%s%s\n", path, i, ok ? hex : err.place, ok ? "" : ": ", ok ? "" : err.text);
		for (int k = 0; ok && k < STAGES; k++) {
			took[k][n] = ms[k];
			b->ms += ms[k];
		}
		n += ok;
		b->made += ok;
		b->drawn++;
	}
	if (!b->codes) {
		uint64_t at = timing_thread_ns();
		double size = space_size(s), counted = lap(&at), all = 0;
		printf("%s: %s, %d of %d candidates, %.3g configs counted in %.0f ms; ms", path, s->tmpl->name, n, b->configs,
			size, counted);
		for (int k = 0; k < STAGES && n > 0; k++) {
			qsort(took[k], (size_t)n, sizeof **took, by_number);
			all += took[k][n / 2];
			printf(" %s %.2f", stages[k], took[k][n / 2]);
		}
		printf(" all %.1f\n", all);
		fflush(stdout);
	}
	arena_free(a);
}

int main(int argc, char **argv)
{
	Bench b = { 0 };
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file;
	b.codes = argc > 4 && strcmp(argv[argc - 1], "--codes") == 0;
	b.estimates = argc > 4 && strcmp(argv[argc - 1], "--estimates") == 0;
	b.configs = argc > 3 ? atoi(argv[2]) : 0;
	if (b.configs < 1) {
		fprintf(stderr, "usage: bench_candidate TARGET.json CONFIGS FILE.dag... [--codes | --estimates]\n");
		return 2;
	}
	if (!file_read(a, argv[1], 1 << 16, &file, &err) ||
		!target_parse(&b.target, argv[1], (const char *)file.at, file.n, 1, &err))
		die(&err);
	b.cost = cost_or_first(NULL, a, &b.target);
	for (int k = 3; k < argc - (b.codes || b.estimates); k++)
		bench(&b, argv[k]);
	if (b.made > 0 && !b.codes)
		printf("%d of %d candidates have code, in %.1f ms on average: %.1f a second on one core; %.2f %% are refused\n",
			b.made, b.drawn, b.ms / b.made, 1000 * b.made / b.ms, 100.0 * (b.drawn - b.made) / b.drawn);
	cost_close(&b.cost);
	arena_free(a);
	return 0;
}
