/*
 * Hand-written kernels (tests/codegen/kernels.h) compiled for this machine, checked against their naive
 * forms and timed: what a schedule of that form can reach, and what it costs to compile.
 *
 *     bench_kernel [NAME...] [--file=TEXT.ir] [--threads=N] [--passes] [--lowered] [--llvm] [--asm]
 *
 * A file is a kernel set of any origin (dlc-show --stage=ir), timed on random values and not checked.
 * The rate is that of the fastest of many calls in thread CPU time (several threads: wall time), the
 * probe's rate measured beside it. A text asked for is printed to standard output instead.
 */
#include "codegen/backend.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "kernels.h"
#include "runtime/probe.h"
#include "runtime/team.h"
#include "runtime/timing.h"
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job {
	Arena *arena;
	const HandKernel *row;
	KernelSet *set, *naive;
	Target target;
	Tensors in, want;
	int threads;
} Job;

static int die(const char *name, const Err *e)
{
	fprintf(stderr, "%s: %s: %s\n", name, e->place, e->text);
	exit(1);
}

static KernelSet *parse(Job *j, const char *form)
{
	Err err = { 0 };
	char *text = hand_kernel_text(j->arena, j->row->naive == NULL ? "." : KERNELS, form, j->row->params);
	KernelSet *ks = text == NULL ? NULL : ir_parse_set(ir_new(j->arena), form, text, strlen(text), &err);
	if (text == NULL)
		fail(&err, ERR_INPUT, KERNELS, "there is no text %s", form);
	if (ks == NULL || !ir_verify_set(ks, &err))
		die(j->row->name, &err);
	return ks;
}

static double best_ms(double *ms, int n)
{
	return timing_summary(ms, n).min;
}

typedef struct Clock {
	uint64_t at;
	double ms[32];
	int n;
} Clock;

static bool lap(const char *pass, const KernelSet *ks, void *arg, Err *err)
{
	Clock *c = arg;
	uint64_t now = timing_thread_ns();
	(void)pass, (void)ks, (void)err;
	c->ms[c->n++] = (double)(now - c->at) / 1e6;
	c->at = timing_thread_ns();
	return true;
}

static void print_passes(Job *j)
{
	Clock c = { .at = timing_thread_ns() };
	Err err = { 0 };
	KernelSet *out;
	if (!codegen_lower(j->arena, j->set, &j->target, NULL, lap, &c, &out, &err))
		die(j->row->name, &err);
	printf("  %-12s %6.2f ms\n", "clone", c.ms[0]);
	for (int k = 1; k < c.n; k++)
		printf("  %-12s %6.2f ms\n", backend_for(&j->target)->pass[k - 1]->name, c.ms[k]);
}

/* Milliseconds of the lowering and of all, the fastest of some. */
static void time_compile(Job *j, Module *m, double *lower, double *all)
{
	double a[7], b[7];
	Err err = { 0 };
	for (int k = 0; k < 7; k++) {
		Arena *scratch = arena_new();
		KernelSet *out;
		uint64_t t0 = timing_thread_ns();
		if (!codegen_lower(scratch, j->set, &j->target, NULL, NULL, NULL, &out, &err))
			die(j->row->name, &err);
		uint64_t t1 = timing_thread_ns();
		if (!codegen_compile(j->arena, j->set, &j->target, NULL, m, &err))
			die(j->row->name, &err);
		a[k] = (double)(t1 - t0) / 1e6;
		b[k] = (double)(timing_thread_ns() - t1) / 1e6;
		arena_free(scratch);
	}
	*lower = best_ms(a, 7);
	*all = best_ms(b, 7);
}

static void *tensor(const Tensors *t, const char *name)
{
	for (int k = 0; k < t->n; k++)
		if (strcmp(t->arg[k].name, name) == 0)
			return t->arg[k].data;
	return NULL;
}

/* The naive form's tensors are the scheduled one's by name, but for what prepare makes. */
static void check(Job *j, const Module *m, Tensors *got)
{
	Err err = { 0 };
	Mapped *p;
	Module naive;
	if (!codegen_compile(j->arena, j->naive, &j->target, NULL, &naive, &err) || !codegen_map(&naive, &p, &err) ||
		!codegen_call(j->naive, &naive, p, j->want.arg, j->want.n, &err))
		die(j->row->name, &err);
	codegen_unmap(p);
	for (int k = 0; k < j->want.n; k++) {
		void *other = tensor(got, j->want.arg[k].name);
		if (other != NULL && j->want.buf[k]->role != BUF_OUT)
			memcpy(other, j->want.arg[k].data, (size_t)dtype_bytes(j->want.buf[k]->type, j->want.elements[k]));
	}
	if (!codegen_map(m, &p, &err) || !codegen_call(j->set, m, p, got->arg, got->n, &err))
		die(j->row->name, &err);
	codegen_unmap(p);
	Tensors a = { .n = 0 }, b = { .n = 0 };
	for (int k = 0; k < j->want.n; k++)
		if (j->want.buf[k]->role == BUF_OUT) {
			a.buf[a.n] = j->want.buf[k];
			a.elements[a.n] = j->want.elements[k];
			a.arg[a.n++] = j->want.arg[k];
			b.arg[b.n++].data = tensor(got, j->want.arg[k].name);
		}
	char *wrong = tensors_differ(j->arena, &a, &b, 1e-4);
	if (wrong != NULL)
		fprintf(stderr, "%s: WRONG %s\n", j->row->name, wrong);
}

typedef struct Run {
	const Mapped *code;
	uint32_t kernel;
	DlcCall call[TEAM_MAX];
} Run;

static void enter(void *arg, int thread)
{
	Run *r = arg;
	codegen_launch(r->code, r->kernel, &r->call[thread]);
}

/* The run Fn alone, which is the last entry. */
static double time_run(Job *j, const Module *m, Tensors *got)
{
	Err err = { 0 };
	Mapped *p;
	const DlcEntry *e = &m->image.entry[m->image.nentry - 1];
	const Fn *f = ir_find_fn(j->set, e->name);
	Team *team = team_open(j->threads);
	void *buf[TENSORS];
	static Run r;
	double ms[400];
	if (!codegen_map(m, &p, &err) || team == NULL)
		die(j->row->name, &err);
	for (int k = 0; k < f->nparam; k++)
		buf[k] = tensor(got, f->param[k].name);
	r.code = p;
	r.kernel = m->image.nentry - 1;
	for (int k = 0; k < j->threads; k++)
		r.call[k] = (DlcCall){ buf, NULL, arena_alloc_aligned(j->arena, e->work_bytes + 64, 64), (uint32_t)k,
			(uint32_t)j->threads, team_barrier, team };
	int n = 0;
	for (uint64_t start = timing_wall_ns(); n < 400 && timing_wall_ns() - start < 400000000;) {
		uint64_t t = j->threads == 1 ? timing_thread_ns() : timing_wall_ns();
		if (j->threads == 1)
			enter(&r, 0);
		else
			team_run(team, enter, &r);
		t = (j->threads == 1 ? timing_thread_ns() : timing_wall_ns()) - t;
		ms[n++] = (double)t / 1e6;
	}
	team_close(team);
	codegen_unmap(p);
	return best_ms(ms, n);
}

static void print_texts(Job *j, unsigned texts)
{
	Err err = { 0 };
	CodegenOptions o = { .texts = texts, .no_image = true };
	Module m;
	if (!codegen_compile(j->arena, j->set, &j->target, &o, &m, &err))
		die(j->row->name, &err);
	for (int k = 0; k < CODEGEN_TEXTS; k++)
		if (m.text[k] != NULL)
			puts(m.text[k]);
}

static void bench(const HandKernel *row, int threads, bool passes, unsigned texts)
{
	Job j = { .arena = arena_new(), .row = row, .threads = threads };
	Rng rng = rng_seed(1);
	Module m;
	double lower, all;
	target_host(&j.target, threads);
	j.set = parse(&j, row->form);
	j.naive = row->naive != NULL ? parse(&j, row->naive) : NULL;
	if (texts != 0) {
		print_texts(&j, texts);
		arena_free(j.arena);
		return;
	}
	tensors_make(&j.in, j.arena, j.set, &rng);
	time_compile(&j, &m, &lower, &all);
	if (j.naive != NULL) {
		tensors_make(&j.want, j.arena, j.naive, &rng);
		check(&j, &m, &j.in);
	}
	double probe = probe_fma_gflops(threads), ms = time_run(&j, &m, &j.in), after = probe_fma_gflops(threads);
	const KernelReport *r = &m.report[m.image.nentry - 1];
	probe = after > probe ? after : probe;
	printf("%-18s %7.1f us %6.1f GF/s %5.1f %% of %5.1f  spills %3lld %s (%.2g inner) frame %5lld code %6lld  "
		   "lower %5.1f llvm %5.1f ms\n",
		row->name, ms * 1e3, row->flops / ms / 1e6, 100 * row->flops / ms / 1e6 / probe, probe, (long long)r->spills,
		codegen_spills_hurt(&m, r, &j.target) ? "HURT" : "ok", r->inner_spills, (long long)r->frame_bytes,
		(long long)r->code_bytes, lower, all - lower);
	fflush(stdout);
	if (passes)
		print_passes(&j);
	arena_free(j.arena);
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
	int threads = 1, names = 0;
	unsigned texts = 0;
	bool passes = false;
	for (int k = 1; k < argc; k++) {
		if (strncmp(argv[k], "--threads=", 10) == 0)
			threads = atoi(argv[k] + 10);
		passes = passes || strcmp(argv[k], "--passes") == 0;
		texts |= text_option(argv[k]);
		names += argv[k][0] != '-';
	}
	if (threads < 1 || threads > TEAM_MAX) {
		fprintf(stderr, "--threads is a number from 1 to %d\n", TEAM_MAX);
		return 2;
	}
	for (int k = 1; k < argc; k++) {
		HandKernel row = { argv[k] + 7, argv[k] + 7, NULL, "", 0, 0 };
		if (strncmp(argv[k], "--file=", 7) == 0)
			bench(&row, threads, passes, texts);
		names += strncmp(argv[k], "--file=", 7) == 0;
	}
	for (const HandKernel *row = hand_kernels; row->name != NULL; row++) {
		bool wanted = names == 0 && row->flops > 0;
		for (int k = 1; k < argc; k++)
			wanted = wanted || strcmp(argv[k], row->name) == 0;
		if (wanted)
			bench(row, threads, passes, texts);
	}
	return 0;
}
