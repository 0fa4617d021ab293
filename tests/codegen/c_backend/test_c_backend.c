/*
 * A second back end through the seam that every back end has: what it prints as C is built by the system's
 * compiler, all cases in one file, and gives what the interpreter gives. Cases: the naive Fn of every operator in
 * several types, kernels written by hand, random sets, and schedules: random steps and the templates' defaults.
 */
#include "c_backend.h"

#include "ir/random.h"
#include "ir/text/ir_text.h"
#include "kernels.h"
#include "runtime/team.h"
#include "schedule/space.h"
#include "steps.h"
#include "code_suite.h"
#include "tensors.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const dags[] = {
#include "op/calls.inc"
};

typedef struct Case {
	const char *label;
	KernelSet *ks;
	Module m;
	double tolerance; /* of functions, which the interpreter computes in another way */
	uint64_t seed;
} Case;

static Arena *arena;
static Target target;
static VEC(Case) cases;
static Text source;
static void *library;
static int random_tried, random_printed;

/* ---- what is compiled ---- */

static double tolerance_of(const KernelSet *ks)
{
	double most = 1e-5;
	for (size_t k = 0; k < ks->n; k++)
		for (int j = 0; j < ks->fn[k]->nparam; j++)
			if (ks->fn[k]->param[j].buf != NULL && ks->fn[k]->param[j].buf->type.bits == 16)
				most = 1e-2;
	return most;
}

/* False: the back end does not print it, which only random sets may meet. */
static bool add(const char *label, KernelSet *ks, uint64_t seed, bool may_refuse)
{
	Case c = { .label = label, .ks = ks, .tolerance = tolerance_of(ks), .seed = seed };
	CodegenOptions o = { .backend = &backend_c, .texts = 1u << backend_text(&backend_c, "c"), .exact = true };
	Err err = { 0 };
	if (!codegen_compile(arena, ks, &target, &o, &c.m, &err)) {
		if (!may_refuse || err.code != ERR_UNSUPPORTED) {
			fprintf(stderr, "%s: %s: %s\n%s\n", label, err.place, err.text, ir_set_str(arena, ks));
			exit(1);
		}
		return false;
	}
	text_add(&source, "/* %s */\n#undef C_KERNEL\n#define C_KERNEL(name) case%zu_##name\n%s", label, cases.n,
		c.m.text[backend_text(&backend_c, "c")]);
	vec_push(arena, &cases, c);
	return true;
}

static void die(const Err *e, const char *text)
{
	fprintf(stderr, "%s: %s\n%s\n", e->place, e->text, text);
	exit(1);
}

static void add_operators(void)
{
	Err err = { 0 };
	for (int k = 0; k < 2 * LEN(dags); k++) {
		const char *text = dags[k / 2];
		Dag *d = dag_parse(arena, "case", text, strlen(text), &err);
		KernelSet *ks = d != NULL ? op_naive(ir_new(arena), d, "k", k % 2 ? NAIVE_F64 : NAIVE_AS_TYPED, &err) : NULL;
		if (ks == NULL)
			die(&err, text);
		add(arena_printf(arena, "operator %d%s", k / 2, k % 2 ? " in f64" : ""), ks, (uint64_t)k, false);
	}
}

static void add_kernels(void)
{
	Err err = { 0 };
	for (const HandKernel *row = hand_kernels; row->name != NULL; row++) {
		if (!row->small)
			continue;
		const char *text = hand_kernel_text(arena, KERNELS, row->form, row->params);
		KernelSet *ks = ir_parse_set(ir_new(arena), row->name, text, strlen(text), &err);
		if (ks == NULL)
			die(&err, text);
		add(row->name, ks, 7, false);
	}
}

/* Masks and places that the statement's own stores could change. */
static void add_own_places(void)
{
	static const char text[] =
		"fn f(x: in f32[16], y: inout f32[40], p: inout i64[36], q: inout i64[36]) {\n"
		"\ty[ramp(1, 1, 16)] = x[ramp(0, 1, 16)] * splat(0.5, 16) where y[ramp(0, 1, 16)] < splat(0.25, 16)\n"
		"\ty[ramp(18, 1, 16)] = splat(1.0, 16) where splat(0.0, 16) < y[ramp(17, 1, 16)]\n"
		"\tp[p[ramp(0, 1, 16)] % splat(36, 16)] = ramp(7, 5, 16)\n"
		"\tq[q[ramp(0, 1, 16)] % splat(36, 16)] = ramp(7, 5, 16) where splat(0, 16) < q[ramp(4, 2, 16)]\n}\n";
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(arena), "own", text, strlen(text), &err);
	if (ks == NULL)
		die(&err, text);
	for (uint64_t seed = 1; seed <= 3; seed++)
		add("own places", ks, seed, false);
}

static void add_random(void)
{
	int rounds = getenv("DLC_TEST_ALL") != NULL ? 400 : 60;
	for (int k = 0; k < rounds; k++) {
		uint64_t seed = 0xcbac0000u + (uint64_t)k;
		Rng rng = rng_seed(seed);
		/* Elements of less than a byte are among the narrow types. */
		unsigned allow =
			k % 4 == 0 ? RANDOM_ALL : RANDOM_ALL & ~(RANDOM_THREADS | RANDOM_LIBM | (k % 4 < 3 ? RANDOM_NARROW : 0u));
		KernelSet *ks = random_set(&rng, ir_new(arena), allow, 1 + k % 4);
		random_tried++;
		random_printed += add(arena_printf(arena, "random set %#llx", (unsigned long long)seed), ks, seed, true);
	}
}

static void add_schedules(void)
{
	Err err = { 0 };
	for (int k = 0; k < step_nworkload; k++) {
		const char *text = step_workloads[k];
		Dag *d = dag_parse(arena, "workload", text, strlen(text), &err);
		Task *task = d != NULL ? task_new(arena, d, &err) : NULL;
		Space *space = task != NULL ? space_new(arena, task, &target, &err) : NULL;
		Trace *t = space != NULL ? space_trace(space, &space->first, arena, &err) : NULL;
		KernelSet *ks = t != NULL ? schedule_replay(ir_new(arena), task, &target, t, &err) : NULL;
		if (ks == NULL)
			die(&err, text);
		add(arena_printf(arena, "default of workload %d", k), ks, (uint64_t)k, false);
		for (int round = 0; round < 2; round++) {
			Rng rng = rng_seed(1000 + (uint64_t)(2 * k + round));
			ks = op_naive(ir_new(arena), task->dag, "k", NAIVE_AS_TYPED, &err);
			for (int i = 0; i < 30; i++) {
				const char *step = random_step(arena, ks, &rng);
				Trace *one = trace_parse(arena, "step", step, strlen(step), &err);
				if (one != NULL)
					trace_apply(ks, one, NULL, &target, &err);
			}
			add(arena_printf(arena, "random steps %d on workload %d", round, k), ks, (uint64_t)k, false);
		}
	}
}

/* One file, one call of the compiler. */
static void build(void)
{
	char folder[] = "/tmp/dlc-c-XXXXXX";
	if (mkdtemp(folder) == NULL)
		exit(1);
	const char *c = arena_printf(arena, "%s/cases.c", folder), *so = arena_printf(arena, "%s/cases.so", folder);
	FILE *f = fopen(c, "w");
	bool ok = f != NULL;
	for (const char *const *part = c_dialect.prelude; ok && *part != NULL; part++)
		ok = fputs(*part, f) >= 0;
	if (!ok || fputs(text_str(&source), f) < 0 || fclose(f) != 0)
		exit(1);
	if (system(arena_printf(
			arena, CC " -std=gnu11 -shared -fPIC -O0 -w -fwrapv -ffp-contract=off -o %s %s -lm", so, c)) != 0) {
		fprintf(stderr, "the compiler does not take %s\n", c);
		exit(1);
	}
	library = dlopen(so, RTLD_NOW);
	if (library == NULL)
		fprintf(stderr, "%s\n", dlerror());
	unlink(so);
	unlink(c);
	rmdir(folder);
	if (library == NULL)
		exit(1);
}

/* ---- what is run ---- */

typedef struct Run {
	DlcKernel kernel;
	DlcCall call;
	unsigned char *work;
	size_t work_bytes;
	Team *team;
	int status;
} Run;

static void enter(void *arg, int thread)
{
	Run *r = arg;
	DlcCall call = r->call;
	call.thread = (uint32_t)thread;
	call.work = r->work + (size_t)thread * r->work_bytes;
	call.barrier = call.threads > 1 ? team_barrier : NULL;
	call.team = r->team;
	r->status |= r->kernel(&call);
}

static IrArg *argument(Tensors *t, const char *name)
{
	for (int k = 0; k < t->n; k++)
		if (strcmp(t->arg[k].name, name) == 0)
			return &t->arg[k];
	ck_abort_msg("no tensor %s", name);
	return NULL;
}

/* As the printer names it: letters, digits, `__` for `_`, `_d` for `.`. */
static const char *symbol_of(Arena *a, size_t k, const char *fn)
{
	Text t = { .arena = a };
	text_add(&t, "case%zu_v", k);
	for (; *fn != 0; fn++)
		text_add(&t, *fn == '_' ? "__" : *fn == '.' ? "_d" : "%c", *fn);
	return text_str(&t);
}

static void run_module(Arena *a, size_t k, int threads, Tensors *t)
{
	const Case *c = &cases.at[k];
	Team *team = team_open(threads);
	for (uint32_t i = 0; i < c->m.image.nentry; i++) {
		const DlcEntry *e = &c->m.image.entry[i];
		const Fn *fn = ir_find_fn(c->ks, e->name);
		void **buf = arena_array(a, void *, e->nbuf + 1);
		int64_t *sym = arena_array(a, int64_t, e->nsym + 1);
		int nbuf = 0, nsym = 0;
		for (int j = 0; j < fn->nsym; j++)
			sym[nsym++] = argument(t, fn->sym[j].name)->value;
		for (int j = 0; j < fn->nparam; j++)
			if (fn->param[j].buf != NULL)
				buf[nbuf++] = argument(t, fn->param[j].name)->data;
			else
				sym[nsym++] = argument(t, fn->param[j].name)->value;
		ck_assert(nbuf == (int)e->nbuf && nsym == (int)e->nsym);
		Run r = { .call = { .buf = buf, .sym = sym, .threads = (uint32_t)threads },
			.work_bytes = (size_t)(e->work_bytes + 64),
			.team = team };
		r.work = arena_alloc_aligned(a, r.work_bytes * (size_t)threads, 64);
		void *code = dlsym(library, symbol_of(a, k, e->name));
		ck_assert_msg(code != NULL, "%s: no kernel %s", c->label, e->name);
		memcpy(&r.kernel, &code, sizeof r.kernel);
		team_run(team, enter, &r);
		ck_assert_int_eq(r.status, 0);
	}
	team_close(team);
}

enum { BATCH = 16 };

START_TEST(printed_c_equals_the_interpreter)
{
	for (size_t k = (size_t)_i * BATCH; k < (size_t)(_i + 1) * BATCH && k < cases.n; k++) {
		const Case *c = &cases.at[k];
		Arena *a = arena_new();
		Rng rng = rng_seed(c->seed);
		Err err = { 0 };
		Tensors in, want, got;
		tensors_make(&in, a, c->ks, &rng);
		tensors_copy(&want, a, &in);
		InterpRun how = { .seed = c->seed, .skip_races = true };
		ck_assert_msg(interp_run_set(c->ks, want.arg, want.n, &how, &err), "%s: %s: %s\n%s", c->label, err.place,
			err.text, ir_set_str(a, c->ks));
		for (int threads = 1; threads <= 2; threads++) {
			tensors_copy(&got, a, &in);
			run_module(a, k, threads, &got);
			const char *wrong = tensors_differ(a, &want, &got, c->tolerance);
			ck_assert_msg(wrong == NULL, "%s, %d threads: %s\n%s\n%s", c->label, threads, wrong, ir_set_str(a, c->ks),
				(const char *)c->m.image.bytes);
		}
		arena_free(a);
	}
}
END_TEST

START_TEST(most_random_sets_are_printed)
{
	ck_assert_msg(2 * random_printed > random_tried, "%d of %d", random_printed, random_tried);
}
END_TEST

/* Its array of passes is its own and shares rows; its texts are its own. */
START_TEST(the_row_is_its_own)
{
	int shared = 0, own = 0;
	for (const Pass *const *p = backend_c.pass; *p != NULL; p++) {
		bool both = false;
		for (const Pass *const *q = backend_llvm.pass; *q != NULL; q++)
			both = both || *p == *q;
		shared += both;
		own += !both;
	}
	ck_assert(shared > 5 && own == 1);
	ck_assert(backend_text(&backend_c, "c") == 1 && backend_text(&backend_c, "llvm") < 0 &&
			  backend_text(&backend_llvm, "c") < 0);
	ck_assert_ptr_eq(backend_for(&target), &backend_llvm);
	KernelReport spilling = cases.at[0].m.report[0];
	spilling.inner_spills = 9;
	spilling.frame_bytes = 1 << 20;
	Module by_llvm = { .backend = backend_for(&target) };
	ck_assert(codegen_spills_hurt(&by_llvm, &spilling, &target));
	ck_assert(!codegen_spills_hurt(&cases.at[0].m, &spilling, &target)); /* this row does not know */
}
END_TEST

static const struct {
	const char *text, *says;
} refused[] = {
	{ "fn f(h: inout i4[8]) {\n\th[0] = i4(1)\n}\n", "does not print elements of less than a byte" },
	{ "fn f(h: inout i32[8]) {\n\tatomic sum h[0] <- i32(1)\n}\n", "does not print atomics" },
};

START_TEST(refusals)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Module m;
	CodegenOptions o = { .backend = &backend_c };
	KernelSet *ks = ir_parse_set(ir_new(a), "f", refused[_i].text, strlen(refused[_i].text), &err);
	ck_assert(ks != NULL && !codegen_compile(a, ks, &target, &o, &m, &err));
	ck_assert_msg(err.code == ERR_UNSUPPORTED && strstr(err.text, refused[_i].says) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

int main(void)
{
	arena = arena_new();
	source.arena = arena;
	target_host(&target, 1);
	add_operators();
	add_kernels();
	add_own_places();
	add_random();
	add_schedules();
	build();
	TCase *tc = tcase_create("c");
	tcase_add_loop_test(tc, printed_c_equals_the_interpreter, 0, (int)(cases.n + BATCH - 1) / BATCH);
	tcase_add_test(tc, most_random_sets_are_printed);
	tcase_add_test(tc, the_row_is_its_own);
	tcase_add_loop_test(tc, refusals, 0, LEN(refused));
	return run_code_suite("codegen-c", tc);
}
