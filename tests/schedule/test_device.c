/*
 * Templates on devices: the default and random configs of every operator's Tasks replay, compute what the naive set
 * computes in any order of blocks and threads, and fit the device; and all nests are bound, since each is a kernel.
 */
#include "equal.h"
#include "golden.h"
#include "steps.h"
#include "suite.h"

#include "ir/build.h"
#include "schedule/launch.h"
#include "schedule/space.h"

#include <stdio.h>
#include <string.h>

static const char *const dags[] = {
#include "op/calls.inc"
};

/* Convolutions that Winograd's algorithm takes, tails of channels, groups; rows of all kinds. */
static const char *const more[] = {
	"dag c\nin x: f32[1,16,9,9]:NCHW16c\nconst w: f32[24,16,3,3]\nconst b: f32[24]\n"
	"y: f32[1,24,9,9] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[1,24,9,9]:NCHW16c = relu(y)\nout z\n",
	"dag c\nin x: f32[2,16,5,5]:NCHW16c\nconst w: f32[80,16,1,1]\n"
	"y: f32[2,80,5,5] = conv(x, w)\nz: f32[2,80,5,5]:NCHW16c = relu(y)\nout z\n",
	"dag c\nin x: f32[1,16,9,9]:NCHW16c\nconst w: f32[16,1,3,3]\n"
	"y: f32[1,16,5,5]:NCHW16c = conv(x, w) groups=16 strides=[2,2] pads=[1,1,1,1]\nout y\n",
	"dag p\nin x: f32[1,32,9,9]:NCHW16c\ny: f32[1,32,4,4] = avg_pool(x) kernel=[3,3] strides=[2,2]\n"
	"z: f32[1,32,4,4]:NCHW16c = relu(y)\nout z\n",
	"dag s\nin x: f32[6,100]\ny = softmax(x)\nout y\n",
	"dag s\nin x: f32[2,10,7,5]\ny = softmax(x) axis=1\nout y\n",
	"dag m\nin x: f32[3,20,5,5]\ny = reduce_mean(x) axes=[2,3]\nout y\n",
	"dag a\nin x: f32[40,12]\ny = reduce_sum(x) axes=[0]\nz = relu(y)\nout z\n",
	"dag v\nin x: f32[1,70]\nconst w: f32[50,70]\nconst b: f32[50]\ny = dense(x, w, b)\nz = relu(y)\nout z\n",
	"dag p\nin x: f32[1,16,7,7]:NCHW8c\ny = avg_pool(x) kernel=[7,7]\nz = relu(y)\nout z\n",
	"dag n\nin x: f32[5,48]\nconst g: f32[48]\nconst b: f32[48]\nconst e: f32[]\nm = reduce_mean(x) axes=[1]\n"
	"d = sub(x, m)\nq = mul(d, d)\nv = reduce_mean(q) axes=[1]\nw = add(v, e)\ns = sqrt(w)\nn = div(d, s)\n"
	"o = mul(n, g)\ny = add(o, b)\nout y\n",
#include "rows.inc"
	"dag w\nin x: f32[20,60]\ny = reduce_sum(x) keep=0\nz = reduce_mean(x)\nout y, z\n",
	"dag t\nin x: f32[33,40]\ny = transpose(x) perm=[1,0]\nout y\n",
	"dag t\nin x: f32[2,20,17]\ny = transpose(x) perm=[0,2,1]\nz = relu(y)\nout z\n",
	"dag c\nin x: f32[2,16,9,9]\nconst w: f32[24,16,3,3]\nconst b: f32[24]\n"
	"y: f32[2,24,9,9] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[2,24,9,9] = relu(y)\nout z\n",
	"dag c\nin x: f32[1,16,9,9]\nin w: f32[24,16,3,3]\n"
	"y: f32[1,24,9,9] = conv(x, w) pads=[1,1,1,1]\nz: f32[1,24,9,9] = relu(y)\nout z\n",
	"dag c\nin x: f32[2,16,5,5]\nin w: f32[24,16,1,1]\ny: f32[2,24,5,5] = conv(x, w)\nout y\n",
	"dag b\nin x: f32[1,20,5,28]:NCHW16c\nconst s: f32[20,1,1]\nconst w: f32[40,20,1,1]\n"
	"a: f32[1,20,5,28] = mul(x, s)\nc: f32[1,20,5,28] = relu(a)\n"
	"y: f32[1,40,5,28] = conv(c, w)\nz: f32[1,40,5,28]:NCHW16c = relu(y)\nout z\n",
	"dag b\nin x: f32[1,20,6,8]:NCHW16c\nconst s: f32[20,1,1]\na: f32[1,20,6,8] = mul(x, s)\n"
	"y: f32[1,20,3,4]:NCHW16c = avg_pool(a) kernel=[2,2] strides=[2,2]\nout y\n",
	"dag c\nin x: f32[5,40]\nconst w: f32[70,40]\ny: f32[5,70] = dense(x, w)\nout y\n",
	"dag c\nin x: f32[1,16,1050]:NCW16c\nconst w: f32[16,16,3]\n"
	"y: f32[1,16,1050]:NCW16c = conv(x, w) pads=[1,1]\nout y\n",
	"dag c\nin x: f32[2,16,24]:NCW16c\nconst w: f32[16,16,5]\ny: f32[2,16,24]:NCW16c = conv(x, w) pads=[2,2]\nout y\n",
};

/* A CPU, a large GPU, a small one, what GPUs have in common. */
static const char *const devices[] = { "opencl:pocl", "cuda:h200", "cuda:t4", "opencl:opencl" };

static bool is_bound(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_FOR && s->loop.kind == LOOP_BOUND;
}

enum { TILE = 4096 /* iterations of a nest that may be one tile, and so one thread */ };

/* How many larger nests of the run Fns there are, none of whose loops is bound. */
static int unbound(const KernelSet *ks)
{
	int n = 0;
	for (size_t k = 0; k < ks->n; k++)
		for (Stmt *s = ks->fn[k]->kind == FN_RUN ? ks->fn[k]->body : NULL; s != NULL; s = s->next) {
			int64_t lo, hi, all = 1;
			for (Stmt *l = s; l != NULL && l->kind == ST_FOR; l = l->loop.body)
				all *= ir_is_int(l->loop.lo, &lo) && ir_is_int(l->loop.hi, &hi) ? hi - lo : 1;
			n += all > TILE && !is_bound(s, NULL);
		}
	return n;
}

typedef struct Sample {
	const Task *task;
	const Target *target;
	Space *space;
	const Want *want;
} Sample;

static void try_config(const Sample *x, Config c, uint64_t seed)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Text text = { .arena = a };
	Trace *t = space_trace(x->space, &c, a, &err);
	ck_assert_msg(t != NULL, "%s", err.text);
	text_add(&text, "# %s on %s\n", x->task->label, x->target->model);
	trace_print(&text, t);
	KernelSet *ks = schedule_replay(ir_new(a), x->task, x->target, t, &err);
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text_str(&text));
	ck_assert_msg(launch_fit(ks, x->target, "fit", &err), "%s\n%s", err.text, text_str(&text));
	ck_assert_msg(unbound(ks) == 0, "a nest is not bound\n%s", text_str(&text));
	must_give(x->want, ks, seed, text_str(&text));
	arena_free(a);
}

static void try_task(Arena *a, const char *dag, const Target *target, int random, uint64_t seed)
{
	Err err = { 0 };
	Task *task = task_of(a, dag);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL);
	/* Residues have no bits, which top_k packs. */
	bool bits = strstr(dag, "bitcast(") != NULL || strstr(dag, "top_k(") != NULL;
	Want want = want_of(a, naive, bits ? INTERP_EXACT : INTERP_MODP, seed);
	Space *s = space_new(a, task, target, &err);
	ck_assert_msg(s != NULL, "%s", err.text);
	Sample x = { task, target, s, &want };
	Rng rng = rng_seed(seed);
	try_config(&x, s->first, seed);
	for (int k = 0; k < random; k++)
		try_config(&x, space_sample(s, &rng), seed + (uint64_t)k);
}

enum { PARTS = 4, RANDOM = 1 };

START_TEST(configs_equal_the_naive_set)
{
	Target target = named_target(devices[_i / PARTS], 1);
	for (int k = _i % PARTS; k < LEN(dags) + step_nworkload + LEN(more); k += PARTS) {
		/* A quick run draws for every second one, and with sanitizers has the defaults of these alone. */
		bool second = k / PARTS % 2 == 1 || k >= LEN(dags) + step_nworkload;
		int random = suite_count(second ? RANDOM : 0, 0, 20 * RANDOM);
		if (!second && suite_count(0, 1, 0) > 0)
			continue;
		Arena *a = arena_new();
		int w = k - LEN(dags);
		const char *dag = w < 0 ? dags[k] : w < step_nworkload ? step_workloads[w] : more[w - step_nworkload];
		try_task(a, dag, &target, w < step_nworkload ? random : 5 * random, (uint64_t)k);
		arena_free(a);
	}
}
END_TEST

/* The default of a Task for a target: its config and trace. */
static void print_default(Arena *a, const char *before, const char *what, Text *out)
{
	Err err = { 0 };
	Target *target = arena_new_of(a, Target);
	*target = named_target(what, 1);
	Space *s = space_new(a, task_of(a, before), target, &err);
	Trace *t = s != NULL ? space_trace(s, &s->first, a, &err) : NULL;
	ck_assert_msg(t != NULL, "%s", err.text);
	text_add(out, "# %s ", s->tmpl->name);
	space_print_config(out, s, &s->first);
	text_add(out, "\n");
	trace_print(out, t);
}

START_TEST(defaults)
{
	int cases;
	ck_assert_int_eq(golden_run("tests/golden/schedule/device.t", print_default, &cases), 0);
	ck_assert_int_eq(cases, 10);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("device");
	tcase_add_loop_test(tc, configs_equal_the_naive_set, 0, LEN(devices) * PARTS);
	tcase_add_test(tc, defaults);
	return run_suite("schedule-device", tc);
}
