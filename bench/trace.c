/*
 * Traces of one workload, side by side: each is replayed, compiled for this machine, held against the
 * unscheduled form and timed with cold weights.
 *
 *     bench_trace WORKLOAD.dag TRACE... [--lowered|--llvm|--asm] [--blocks] [--mb=N] [--target=FILE.json]
 *
 * The trace `default` is the template's own. A TRACE with a "=" is options of the template's knobs, such as
 * "tile=2x7 sums=panel"; all others are as by default. Constants are kept in as many copies as make N MB, 256 by
 * default, and used in turn, so that they come from memory, as in a network; activations stay where the caches have
 * them. Time is the median and the least of the calls in thread CPU time, one thread; the rate counts the operations of
 * the naive form, beside the probe's. --blocks times prefixes of the run Fn, up to the end of each of its top-level
 * nests.
 */
#include "base/file.h"
#include "base/rng.h"
#include "codegen/backend.h"
#include "ir/walk.h"
#include "op/element.h"
#include "runtime/probe.h"
#include "runtime/timing.h"
#include "schedule/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFS = 64, COPIES = 256, SAMPLES = 600 };

typedef struct Tensor {
	const Buf *buf;
	const Fn *fn;
	int64_t bytes;
	void *at[COPIES];
} Tensor;

typedef struct Job {
	Arena *arena;
	const Task *task;
	Target target;
	int64_t mb; /* of copies of constants */
	int n, copies;
	Tensor tensor[BUFS];
} Job;

static int die(const Err *e)
{
	fprintf(stderr, "%s: %s\n", e->place, e->text);
	exit(1);
}

static Tensor *find(Job *j, const Fn *fn, const Buf *b)
{
	for (int k = 0; k < j->n; k++)
		if (strcmp(j->tensor[k].buf->name, b->name) == 0)
			return &j->tensor[k];
	Tensor *t = &j->tensor[j->n++];
	*t = (Tensor){ .buf = b, .fn = fn, .bytes = ir_buf_elements(b, NULL, 0) * dtype_bytes(b->type, 1) };
	t->at[0] = arena_alloc_aligned(j->arena, (size_t)t->bytes, 64);
	memset(t->at[0], 0, (size_t)t->bytes);
	return t;
}

/* The same values for a name in every set, whatever its layout; padding stays zero. */
static void fill(Tensor *t)
{
	Rng rng = rng_seed(7);
	int64_t idx[8] = { 0 }, shape[8], left = 1;
	for (int i = 0; i < t->buf->rank; i++)
		left *= ir_is_int(t->buf->shape[i], &shape[i]) ? shape[i] : 0;
	for (; left > 0; left--) {
		double v = rng_real(&rng) * 2 - 1; /* of integers, all of the smallest types and a part of the others */
		if (dtype_is_int(t->buf->type))
			v = floor(t->buf->type.kind == DT_INT ? 128 * v : 128 * (v + 1));
		element_set(t->buf->type, t->at[0], ir_buf_offset(t->buf, idx), v);
		for (int i = t->buf->rank - 1; i >= 0 && ++idx[i] == shape[i]; i--)
			idx[i] = 0;
	}
}

static void call(Job *j, const KernelSet *ks, const Module *m, const Mapped *p, uint32_t entry, int copy, void *work)
{
	const Fn *fn = ir_find_fn(ks, m->image.entry[entry].name);
	void *buf[BUFS];
	for (int k = 0; k < fn->nparam; k++) {
		Tensor *t = find(j, fn, fn->param[k].buf);
		buf[k] = t->at[t->at[copy] != NULL ? copy : 0];
	}
	DlcCall c = { .buf = buf, .work = work, .threads = 1 };
	codegen_launch(p, entry, &c);
}

/* Copies of what the run Fn reads as constants. */
static void copy_constants(Job *j, const Fn *run)
{
	int64_t bytes = 0;
	for (int k = 0; k < run->nparam; k++)
		if (run->param[k].buf->role == BUF_CONST)
			bytes += find(j, run, run->param[k].buf)->bytes;
	j->copies = bytes > 0 ? 1 + (int)((j->mb << 20) / bytes) : 1;
	if (j->copies > COPIES)
		j->copies = COPIES;
	for (int k = 0; k < run->nparam; k++) {
		Tensor *t = find(j, run, run->param[k].buf);
		for (int c = 1; t->buf->role == BUF_CONST && c < j->copies; c++) {
			t->at[c] = arena_alloc_aligned(j->arena, (size_t)t->bytes, 64);
			memcpy(t->at[c], t->at[0], (size_t)t->bytes);
		}
	}
}

static void *work_of(Job *j, const Module *m)
{
	uint64_t most = 64;
	for (uint32_t k = 0; k < m->image.nentry; k++)
		if (m->image.entry[k].work_bytes > most)
			most = m->image.entry[k].work_bytes;
	return arena_alloc_aligned(j->arena, most, 64);
}

/* Runs the set once on fresh tensors; the output. */
static const Tensor *run_once(Job *j, const KernelSet *ks, const Module *m, const Mapped *p)
{
	const Tensor *out = NULL;
	for (size_t k = 0; k < ks->n; k++)
		for (int i = 0; ks->fn[k]->kind != FN_SUB && i < ks->fn[k]->nparam; i++) {
			const Buf *b = ks->fn[k]->param[i].buf;
			bool made = b->role == BUF_OUT || b->role == BUF_WORK;
			for (size_t f = 0; f < ks->n; f++) {
				const Buf *same = ir_find_buf(ks->fn[f], b->name);
				made |= same != NULL && same->role == BUF_OUT;
			}
			Tensor *t = find(j, ks->fn[k], b);
			if (!made)
				fill(t);
			if (b->role == BUF_OUT && ks->fn[k]->kind == FN_RUN)
				out = t;
		}
	void *work = work_of(j, m);
	for (uint32_t k = 0; k < m->image.nentry; k++)
		call(j, ks, m, p, k, 0, work);
	return out;
}

static double value_at(const Tensor *t, const int64_t *idx)
{
	return element_get(t->buf->type, t->at[0], ir_buf_offset(t->buf, idx));
}

static double error_of(const Tensor *x, const Tensor *y)
{
	int64_t idx[8] = { 0 }, shape[8], left = 1;
	double off = 0, most = 0;
	for (int i = 0; i < x->buf->rank; i++)
		left *= ir_is_int(x->buf->shape[i], &shape[i]) ? shape[i] : 0;
	for (; left > 0; left--) {
		off = fmax(off, fabs(value_at(x, idx) - value_at(y, idx)));
		most = fmax(most, fabs(value_at(y, idx)));
		for (int i = x->buf->rank - 1; i >= 0 && ++idx[i] == shape[i]; i--)
			idx[i] = 0;
	}
	return off / most;
}

static Timing time_run(Job *j, const KernelSet *ks, const Module *m, const Mapped *p)
{
	double us[SAMPLES];
	int n = 0;
	void *work = work_of(j, m);
	uint32_t last = m->image.nentry - 1;
	copy_constants(j, ir_find_fn(ks, m->image.entry[last].name));
	for (uint64_t start = timing_wall_ns(); n < SAMPLES && timing_wall_ns() - start < 1000000000;) {
		uint64_t t = timing_thread_ns();
		call(j, ks, m, p, last, n % j->copies, work);
		us[n++] = (double)(timing_thread_ns() - t) / 1e3;
	}
	return timing_summary(us, n);
}

/* The template's default with these options; a knob that is not met, or has no such option, stays as it is. */
static Config config_of(Job *j, Space *space, const char *picks)
{
	Config c = space->first;
	for (char *text = arena_printf(j->arena, "%s", picks), *pick; (pick = strsep(&text, " ")) != NULL;)
		for (int k = 0; k < c.n; k++) {
			const Knob *knob = space_knob(space, &c, k);
			size_t n = strlen(knob->name);
			for (int o = 0; o < knob->n && strncmp(pick, knob->name, n) == 0 && pick[n] == '='; o++) {
				Text option = { .arena = j->arena };
				knob_print_option(&option, &knob->option[o]);
				if (strcmp(text_str(&option), pick + n + 1) == 0) {
					c = space_move(space, &c, k, o);
					break;
				}
			}
		}
	return c;
}

/* NULL: no step at all. */
static Trace *read_trace(Job *j, const char *path, Err *err)
{
	Bytes file = { 0 };
	if (path != NULL && (strcmp(path, "default") == 0 || strchr(path, '=') != NULL)) {
		Space *space = space_new(j->arena, j->task, &j->target, err);
		Config c = space != NULL ? config_of(j, space, path) : (Config){ 0 };
		return space != NULL ? space_trace(space, &c, j->arena, err) : NULL;
	}
	if (path != NULL && !file_read(j->arena, path, 1 << 20, &file, err))
		return NULL;
	return trace_parse(j->arena, path != NULL ? path : "naive", (const char *)file.at, file.n, err);
}

static KernelSet *replay(Job *j, const char *path, Err *err)
{
	Trace *t = read_trace(j, path, err);
	return t != NULL ? schedule_replay(ir_new(j->arena), j->task, &j->target, t, err) : NULL;
}

static void compile(Job *j, const KernelSet *ks, Module *m, Mapped **p)
{
	Err err = { 0 };
	if (!codegen_compile(j->arena, ks, &j->target, NULL, m, &err) || !codegen_map(m, p, &err))
		die(&err);
}

/* Only the first `nests` statements of the run Fn. */
static double time_prefix(const Job *of, const char *path, int nests)
{
	Job j = { .arena = arena_new(), .task = of->task, .target = of->target, .mb = of->mb };
	Err err = { 0 };
	Module m;
	Mapped *p;
	KernelSet *ks = replay(&j, path, &err);
	size_t last = ks->n - 1;
	while (ks->fn[last]->kind != FN_RUN)
		last--;
	Stmt *s = ks->fn[last]->body;
	/* Nests are those at the top, or in a loop that is all there is. */
	while (s->kind == ST_FOR && s->next == NULL && s->loop.body->kind != ST_BLOCK)
		s = s->loop.body;
	for (int left = nests; s != NULL; s = s->next)
		if (s->kind == ST_FOR && --left == 0)
			break;
	if (s == NULL)
		return 0;
	s->next = NULL;
	compile(&j, ks, &m, &p);
	run_once(&j, ks, &m, p);
	Timing t = time_run(&j, ks, &m, p);
	codegen_unmap(p);
	arena_free(j.arena);
	return t.min;
}

static void bench(const Task *task, const Target *target, const char *path, int64_t mb, unsigned texts, bool blocks)
{
	Job j = { .arena = arena_new(), .task = task, .target = *target, .mb = mb };
	Job naive = { .arena = arena_new(), .task = task, .target = *target };
	Err err = { 0 };
	Module m, nm;
	Mapped *p, *np;
	CodegenOptions o = { .texts = texts, .no_image = true };
	KernelSet *ks = replay(&j, path, &err), *plain = replay(&naive, NULL, &err);
	if (ks == NULL || plain == NULL)
		die(&err);
	if (texts != 0) {
		if (!codegen_compile(j.arena, ks, &j.target, &o, &m, &err))
			die(&err);
		for (int k = 0; k < CODEGEN_TEXTS; k++)
			if (m.text[k] != NULL)
				puts(m.text[k]);
		return;
	}
	uint64_t t0 = timing_thread_ns();
	compile(&j, ks, &m, &p);
	double ms = (double)(timing_thread_ns() - t0) / 1e6;
	compile(&naive, plain, &nm, &np);
	double error = error_of(run_once(&j, ks, &m, p), run_once(&naive, plain, &nm, np));
	double before = probe_fma_gflops(1);
	Timing t = time_run(&j, ks, &m, p);
	double probe = fmax(before, probe_fma_gflops(1));
	const KernelReport *r = &m.report[m.image.nentry - 1];
	printf("%-28s %7.1f us, least %7.1f  %6.1f GF/s of %5.1f  error %.1e  spills %lld frame %lld code %lld  compiled "
	       "in %.1f ms\n",
		path, t.median, t.min, task->flops / t.median / 1e3, probe, error, (long long)r->spills,
		(long long)r->frame_bytes, (long long)r->code_bytes, ms);
	for (int k = 1; blocks && k < 8; k++) {
		double us = time_prefix(&j, path, k);
		if (us == 0)
			break;
		printf("    up to nest %d: %7.1f us\n", k, us);
	}
	fflush(stdout);
	codegen_unmap(p);
	codegen_unmap(np);
	arena_free(j.arena);
	arena_free(naive.arena);
}

/* --lowered, --llvm, ...: the bit of a text of this machine's back end; 0 for another option. */
static unsigned text_option(const char *word)
{
	Target host;
	target_host(&host, 1);
	int k = strncmp(word, "--", 2) == 0 ? backend_text(backend_for(&host), word + 2) : -1;
	return k >= 0 ? 1u << k : 0;
}

int main(int argc, char **argv)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file;
	unsigned texts = 0;
	int64_t mb = 256;
	bool blocks = false;
	Target target, host;
	target_host(&target, 1);
	host = target;
	if (argc < 3) {
		fprintf(stderr, "bench_trace WORKLOAD.dag TRACE... [--lowered|--llvm|--asm] [--blocks] [--mb=N] "
						"[--target=FILE.json]\n");
		return 2;
	}
	for (int k = 2; k < argc; k++) {
		texts |= text_option(argv[k]);
		blocks |= strcmp(argv[k], "--blocks") == 0;
		mb = strncmp(argv[k], "--mb=", 5) == 0 ? atoi(argv[k] + 5) : mb;
		if (strncmp(argv[k], "--target=", 9) == 0 &&
			(!target_resolve(&target, argv[k] + 9, 1, NULL, 0, &err) || !target_runs_on(&target, &host, &err)))
			die(&err);
	}
	if (!file_read(a, argv[1], 1 << 20, &file, &err))
		die(&err);
	Dag *d = dag_parse(a, argv[1], (const char *)file.at, file.n, &err);
	Task *task = d != NULL ? task_new(a, d, &err) : NULL;
	if (task == NULL)
		die(&err);
	for (int k = 2; k < argc; k++)
		if (argv[k][0] != '-')
			bench(task, &target, argv[k], mb, texts, blocks);
	return 0;
}
