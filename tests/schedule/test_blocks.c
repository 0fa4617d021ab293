/*
 * Templates of devices whose threads run in warps: what any config of them makes equals the naive set modulo a prime,
 * its threads run in any order, and a launch of the device can run it. Shapes are small, devices are real ones.
 */
#include "equal.h"
#include "suite.h"

#include "base/file.h"
#include "ir/text/ir_text.h"
#include "ir/walk.h"
#include "schedule/launch.h"
#include "schedule/space.h"

#include <string.h>
#include <sys/mman.h>

static const char *const devices[] = { "t4", "h200", "k80", "opencl" };

static const struct {
	const char *tmpl, *dag;
} workloads[] = {
	{ "block.conv", "dag conv\nin x: f32[1,4,6,6]\nconst w: f32[8,4,3,3]\nconst b: f32[8]\nin r: f32[1,8,6,6]\n"
		"y: f32[1,8,6,6] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[1,8,6,6] = add(y, r)\nv: f32[1,8,6,6] = relu(z)\n"
		"out v\n" },
	{ "block.conv", "dag stem\nin x: f32[2,3,13,11]\nconst w: f32[10,3,5,5]\n"
		"y: f32[2,10,7,6] = conv(x, w) pads=[2,2,2,2] strides=[2,2]\nout y\n" },
	{ "block.conv", "dag groups\nin x: f32[1,8,5,6]\nconst w: f32[12,4,3,3]\n"
		"y: f32[1,12,5,6] = conv(x, w) pads=[1,1,1,1] groups=2\nz: f32[1,12,5,6] = relu(y)\nout z\n" },
	{ "block.conv", "dag pointwise\nin x: f32[3,12,4,6]\nconst w: f32[20,12,1,1]\nin r: f32[3,20,4,6]\n"
		"y: f32[3,20,4,6] = conv(x, w)\nz: f32[3,20,4,6] = add(y, r)\nout z\n" },
	{ "block.conv", "dag row\nin x: f32[2,6,17]\nconst w: f32[9,6,3]\ny: f32[2,9,15] = conv(x, w)\nout y\n" },
	{ "block.conv", "dag wide\nin x: f32[1,5,7,8]\nconst w: f32[7,5,3,3]\n"
		"y: f32[1,7,7,8] = conv(x, w) pads=[2,2,2,2] dilations=[2,2]\nout y\n" },
	{ "block.conv", "dag deep\nin x: f32[1,16,3,3]\nconst w: f32[6,16,3,3]\nconst b: f32[6]\n"
		"y: f32[1,6,3,3] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[1,6,3,3] = relu(y)\nout z\n" },
	{ "block.conv", "dag bare\nin x: f32[2,128,2,3]\nconst w: f32[9,128,1,1]\ny: f32[2,9,2,3] = conv(x, w)\nout y\n" },
	{ "block.conv", "dag parts\nin x: f32[1,128,4,4]\nconst w: f32[16,128,1,1]\nconst b: f32[16]\n"
		"y: f32[1,16,4,4] = conv(x, w, b)\nz: f32[1,16,4,4] = relu(y)\nout z\n" },
	{ "block.pair", "dag pair\nin x: f32[2,6,9,8]\nconst w: f32[6,1,3,3]\nconst p: f32[10,6,1,1]\n"
		"in r: f32[2,10,5,4]\ny: f32[2,6,5,4] = conv(x, w) pads=[1,1,1,1] strides=[2,2] groups=6\n"
		"u: f32[2,10,5,4] = conv(y, p)\nv: f32[2,10,5,4] = add(u, r)\nout v\n" },
	{ "block.depthwise", "dag no_pair\nin x: f32[1,6,3,3]\nconst w: f32[6,1,3,3]\nconst p: f32[8,6,1,1]\n"
		"y: f32[1,6,3,3] = conv(x, w) groups=6 pads=[1,1,1,1]\n"
		"z: f32[1,8,3,3] = conv(y, p) pads=[1,1,1,1] strides=[2,2]\nout z\n" },
	{ "block.pair", "dag large\nin x: f32[1,12,4,8]\nconst w: f32[12,1,5,5]\nconst b: f32[12]\n"
		"const p: f32[16,12,1,1]\ny: f32[1,12,4,8] = conv(x, w, b) pads=[2,2,2,2] groups=12\n"
		"z: f32[1,12,4,8] = clip(y) lo=0 hi=6\nu: f32[1,16,4,8] = conv(z, p)\nout u\n" },
	{ "block.depthwise", "dag depthwise\nin x: f32[2,6,9,8]\nconst w: f32[6,1,3,3]\nconst b: f32[6]\n"
		"y: f32[2,6,9,8] = conv(x, w, b) pads=[1,1,1,1] groups=6\nz: f32[2,6,9,8] = clip(y) lo=0 hi=6\nout z\n" },
	{ "block.depthwise", "dag multiplied\nin x: f32[1,5,13,11]\nconst w: f32[10,1,3,3]\n"
		"y: f32[1,10,7,6] = conv(x, w) pads=[1,1,1,1] groups=5 strides=[2,2]\nout y\n" },
	{ "block.depthwise", "dag dilated\nin x: f32[1,9,10,16]\nconst w: f32[9,1,3,5]\nin r: f32[1,9,6,8]\n"
		"y: f32[1,9,6,8] = conv(x, w) groups=9 dilations=[2,2]\nz: f32[1,9,6,8] = add(y, r)\nout z\n" },
	{ "block.depthwise", "dag row\nin x: f32[2,6,33]\nconst w: f32[6,1,7]\n"
		"y: f32[2,6,33] = conv(x, w) pads=[3,3] groups=6\nout y\n" },
	{ "block.depthwise", "dag volume\nin x: f32[1,4,3,6,8]\nconst w: f32[4,1,3,3,3]\n"
		"y: f32[1,4,3,3,4] = conv(x, w) pads=[1,1,1,1,1,1] groups=4 strides=[1,2,2]\nout y\n" },
	{ "block.dense", "dag dense\nin x: f32[13,24]\nconst w: f32[20,24]\nconst b: f32[20]\n"
		"y: f32[13,20] = dense(x, w, b)\nz: f32[13,20] = relu(y)\nout z\n" },
	{ "block.dense", "dag sequence\nin x: f32[2,9,21]\nconst w: f32[16,21]\ny: f32[2,9,16] = dense(x, w)\nout y\n" },
	{ "block.dense", "dag batches\nin a: f32[2,11,13]\nin b: f32[2,13,12]\ny: f32[2,11,12] = matmul(a, b)\nout y\n" },
	{ "block.dense", "dag scores\nin a: f32[2,12,8]\nin b: f32[2,10,8]\ny: f32[2,12,10] = matmul(a, b) tb=1\n"
		"z: f32[2,12,10] = exp(y)\nout z\n" },
	{ "block.loops", "dag attention\nin q: f32[1,4,9,8]\nin k: f32[1,2,7,8]\nin v: f32[1,2,7,12]\n"
		"y: f32[1,4,9,12] = attention(q, k, v) causal=1 scale=0.5\nout y\n" },
	/* Steps of scans, which one block shares: several nests, states that threads do not divide, lengths. */
	{ "block.loops", "dag lstm\nin x: f32[3,2,160]\nconst r: f32[40,4,40]\n"
		"y: f32[3,2,40], h: f32[2,40], c: f32[2,40] = lstm(x, r)\nout y, h, c\n" },
	{ "block.loops", "dag gru\nin x: f32[3,3,15]\nconst r: f32[5,3,5]\nin n: i32[3]\n"
		"y: f32[3,3,5], h: f32[3,5] = gru(x, r, _, _, n) reverse=1\nout y, h\n" },
	{ "block.loops", "dag linear\nin q: f32[2,3,4,3]\nin k: f32[2,3,2,3]\nin v: f32[2,3,2,37]\nin b: f32[2,3,2]\n"
		"y: f32[2,3,4,37], s: f32[2,2,3,37] = linear_attention(q, k, v, _, _, b)\nout y, s\n" },
	/* In NHWC, and at the edges of it. */
	{ "block.conv", "dag last\nin x: f32[2,4,6,6]:NHWC\nconst w: f32[8,4,3,3]\nconst b: f32[8]\n"
		"in r: f32[2,8,6,6]:NHWC\ny: f32[2,8,6,6] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[2,8,6,6] = add(y, r)\n"
		"v: f32[2,8,6,6]:NHWC = relu(z)\nout v\n" },
	{ "block.conv", "dag enters\nin x: f32[1,128,4,4]\nconst w: f32[16,128,1,1]\n"
		"y: f32[1,16,4,4]:NHWC = conv(x, w)\nout y\n" },
	{ "block.conv", "dag leaves\nin x: f32[1,128,4,4]:NHWC\nconst w: f32[16,128,1,1]\n"
		"y: f32[1,16,4,4] = conv(x, w)\nout y\n" },
	{ "block.pair", "dag pair\nin x: f32[1,12,4,8]:NHWC\nconst w: f32[12,1,5,5]\nconst p: f32[16,12,1,1]\n"
		"y: f32[1,12,4,8] = conv(x, w) pads=[2,2,2,2] groups=12\nz: f32[1,12,4,8] = clip(y) lo=0 hi=6\n"
		"u: f32[1,16,4,8]:NHWC = conv(z, p)\nout u\n" },
	{ "block.loops", "dag depthwise\nin x: f32[2,6,9,8]:NHWC\nconst w: f32[6,1,3,3]\nconst b: f32[6]\n"
		"y: f32[2,6,9,8] = conv(x, w, b) pads=[1,1,1,1] groups=6\nz: f32[2,6,9,8]:NHWC = clip(y) lo=0 hi=6\nout z\n" },
	{ "block.depthwise", "dag enters\nin x: f32[2,6,9,8]\nconst w: f32[6,1,3,3]\n"
		"y: f32[2,6,9,8]:NHWC = conv(x, w) pads=[1,1,1,1] groups=6\nout y\n" },
	{ "block.loops", "dag pool\nin x: f32[2,6,9,8]:NHWC\n"
		"y: f32[2,6,5,4]:NHWC = max_pool(x) kernel=[3,3] strides=[2,2] pads=[1,1,1,1]\nout y\n" },
	{ "block.loops", "dag mean\nin x: f32[2,12,5,7]:NHWC\ny: f32[2,12,1,1] = reduce_mean(x) axes=[2,3]\nout y\n" },
	{ "block.loops", "dag softmax\nin x: f32[2,12,5,7]:NHWC\ny: f32[2,12,5,7]:NHWC = softmax(x) axis=1\nout y\n" },
	{ "block.loops", "dag sum\nin x: f32[2,12,5,7]:NHWC\nin r: f32[2,12,5,7]\nin b: f32[1,12,1,1]\n"
		"y: f32[2,12,5,7] = add(x, r)\nz: f32[2,12,5,7]:NHWC = mul(y, b)\nout z\n" },
};

enum { CONFIGS = SANITIZED ? 1 : 4 /* at random, beside the default */, MOST_REFUSED = 50 /* one in so many */ };

/* In memory that the tests' processes share. */
static struct {
	int drawn, refused, shared, vectors, staged, launches, counted;
} *made;

static bool count(Stmt *s, void *arg)
{
	(void)arg;
	made->shared += s->kind == ST_ALLOC && strcmp(s->alloc->scope, "shared") == 0;
	made->vectors += s->kind == ST_FOR && s->loop.kind == LOOP_VECTOR;
	made->staged += s->kind == ST_FOR && s->loop.kind == LOOP_PIPELINED;
	made->counted += s->kind == ST_REDUCE && s->reduce.old != NULL;
	return true;
}

static void device_of(Arena *a, const char *name, Target *t)
{
	Err err = { 0 };
	Bytes file;
	const char *path = arena_printf(a, "%s/configs/targets/%s.json", getenv("DLC_SOURCE_ROOT"), name);
	ck_assert_msg(file_read(a, path, 1 << 16, &file, &err), "%s", err.text);
	ck_assert_msg(target_parse(t, name, (const char *)file.at, file.n, 1, &err), "%s: %s", err.place, err.text);
}

/* A refused config costs its measurement alone; the default must stand. */
static void try_config(Space *s, const Config *c, const Want *want, bool first)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Text said = { .arena = a };
	space_print_config(&said, s, c);
	Trace *t = space_trace(s, c, a, &err);
	ck_assert_msg(t != NULL, "%s: %s: %s", text_str(&said), err.place, err.text);
	KernelSet *ks = schedule_replay(ir_new(a), s->task, s->target, t, &err);
	bool fits = ks != NULL && launch_fit(ks, s->target, "launch", &err);
	ck_assert_msg(fits || !first, "%s of %s for %s: %s: %s", text_str(&said), s->task->label, s->target->model,
		err.place, err.text);
	made->drawn++;
	made->refused += !fits;
	if (fits) {
		ir_each_stmt(ks->fn[0]->body, count, NULL);
		for (const Stmt *l = ks->fn[0]->body; l != NULL; l = l->next)
			made->launches += l->kind == ST_FOR;
		text_add(&said, "\n");
		trace_print(&said, t);
		must_give(want, ks, 3, text_str(&said));
	}
	arena_free(a);
}

START_TEST(configs_of_blocks_equal_the_naive_fn)
{
	int configs = suite_count(CONFIGS, CONFIGS, 200);
	Arena *a = arena_new();
	Task *task = task_of(a, workloads[_i].dag);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL);
	Want want = want_of(a, naive, INTERP_MODP, 2);
	for (size_t d = 0; d < LEN(devices); d++) {
		Err err = { 0 };
		Target target;
		device_of(a, devices[d], &target);
		Space *s = space_new(a, task, &target, &err);
		ck_assert_msg(s != NULL, "%s: %s", err.place, err.text);
		ck_assert_str_eq(s->tmpl->name, workloads[_i].tmpl);
		try_config(s, &s->first, &want, true);
		Rng rng = rng_seed((uint64_t)_i * 100 + d);
		for (int k = 0; k < configs; k++) {
			Config c = space_sample(s, &rng);
			try_config(s, &c, &want, false);
		}
	}
	arena_free(a);
}
END_TEST

/* After them: few configs are refused, and the others are worth something. */
START_TEST(few_configs_are_refused)
{
	ck_assert_int_gt(made->drawn, (int)LEN(workloads) * CONFIGS);
	ck_assert_msg(made->refused * MOST_REFUSED <= made->drawn, "%d of %d configs are refused", made->refused,
		made->drawn);
	ck_assert_int_gt(made->shared, made->drawn);
	ck_assert_int_gt(made->vectors, made->drawn / 4);
	ck_assert_int_gt(made->staged, SANITIZED ? 0 : 4);
	ck_assert_int_gt(made->launches, made->drawn); /* partial sums of some are added up by another launch */
	ck_assert_int_gt(made->counted, 0);             /* or by the last block */
}
END_TEST

int main(void)
{
	made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return 1;
	TCase *tc = tcase_create("blocks");
	tcase_add_loop_test(tc, configs_of_blocks_equal_the_naive_fn, 0, LEN(workloads));
	tcase_add_test(tc, few_configs_are_refused);
	return run_suite("blocks", tc);
}
