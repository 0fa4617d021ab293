/*
 * Loops that the threads of a team share, on shapes that neither tiles nor numbers of threads divide: every sampled
 * schedule replays and equals the naive set, its threads run in any order.
 */
#include "equal.h"
#include "suite.h"

#include "ir/walk.h"
#include "schedule/nest.h"
#include "schedule/space.h"

#define CONV(in, o, out, rest)                                                                                  \
	"dag t\nin x: f32[" in "]:NCHW8c\nin r: f32[" out "]:NCHW8c\nconst w: f32[" o "]\ny: f32[" out "]:NCHW8c = " \
	"conv(x, w) " rest "\nz: f32[" out "]:NCHW8c = add(y, r)\nout z\n"

static const char *const dags[] = {
	CONV("1,16,7,7", "20,16,1,1", "1,20,7,7", ""),
	CONV("2,8,5,9", "40,8,3,3", "2,40,5,9", "pads=[1,1,1,1]"),
	CONV("1,8,9,9", "8,8,7,7", "1,8,5,5", "strides=[2,2] pads=[3,3,3,3]"),
	CONV("1,24,6,7", "24,1,3,3", "1,24,6,7", "groups=24 pads=[1,1,1,1]"),
	CONV("3,20,5,5", "20,1,3,3", "3,20,3,3", "groups=20"),
	CONV("1,32,5,7", "24,8,3,3", "1,24,5,7", "groups=4 pads=[1,1,1,1]"),
	CONV("1,16,11,10", "24,16,3,3", "1,24,11,10", "pads=[1,1,1,1]"),
	"dag t\nin x: f32[1,6,7,9]\nconst w: f32[11,6,3,3]\ny: f32[1,11,5,7] = conv(x, w)\nz = relu(y)\nout z\n",
	"dag t\nin x: f32[1,24,5,5]:NCHW8c\nin s: f32[1,24,1,1]\nconst w: f32[40,24,1,1]\n"
	"a: f32[1,24,5,5]:NCHW8c = mul(x, s)\ny: f32[1,40,5,5]:NCHW8c = conv(a, w)\nout y\n",
	"dag t\nin x: f32[1,16,7,9]:NCHW8c\nconst v: f32[40,16,1,1]\nconst w: f32[40,1,3,3]\n"
	"p: f32[1,40,7,9] = conv(x, v)\ns: f32[1,40,5,7]:NCHW8c = conv(p, w) groups=40\nout s\n",
	"dag t\nin x: f32[7,24]\nconst w: f32[37,24]\ny: f32[7,37] = dense(x, w)\nz = relu(y)\nout z\n",
	"dag t\nin x: f32[3,5,16]\nconst w: f32[70,16]\ny: f32[3,5,70] = dense(x, w)\nout y\n",
	"dag t\nin x: f32[3,5,7,16]\nin w: f32[3,5,16,40]\ny: f32[3,5,7,40] = matmul(x, w)\nout y\n",
	"dag t\nin x: f32[5,7,16]\nin w: f32[5,16,21]\ny: f32[5,7,21] = matmul(x, w)\nz = relu(y)\nout z\n",
	"dag t\nin x: f32[1,24,9,9]:NCHW8c\ny: f32[1,24,4,4]:NCHW8c = max_pool(x) kernel=[3,3] strides=[2,2]\nout y\n",
	"dag t\nin x: f32[3,7,5,13]\nin z: f32[3,7,1,1]\ny: f32[3,7,5,13] = mul(x, z)\nout y\n",
	"dag t\nin x: f32[3,5,37]\ny: f32[3,5,37] = softmax(x)\nout y\n",
	"dag t\nin x: f32[3,5,37]\ny: f32[3,5,1] = reduce_sum(x) axes=[2]\nout y\n",
	"dag t\nin q: f32[2,3,19,8]\nin k: f32[2,3,19,8]\nin v: f32[2,3,19,8]\n"
	"y: f32[2,3,19,8] = attention(q, k, v) scale=0.5\nout y\n",
	"dag t\nin q: f32[1,1,37,8]\nin k: f32[1,1,37,8]\nin v: f32[1,1,37,8]\n"
	"y: f32[1,1,37,8] = attention(q, k, v) causal=1\nout y\n",
	"dag t\nin q: f32[1,3,37,8]\nin k: f32[1,3,37,8]\nin v: f32[1,3,37,8]\n"
	"y: f32[1,3,37,8] = attention(q, k, v)\nout y\n",
	"dag t\nin q: f32[3,5,2,8]\nin k: f32[3,5,23,8]\nin v: f32[3,5,23,8]\n"
	"y: f32[3,5,2,8] = attention(q, k, v)\nout y\n",
};

START_TEST(every_number_of_threads_computes_the_same)
{
	static const int threads[] = { 2, 3, 5, 8, 64 };
	Arena *a = arena_new();
	Err err = { 0 };
	Task *task = task_of(a, dags[_i]);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	InterpDomain domain = strstr(dags[_i], "softmax") != NULL || strstr(dags[_i], "attention") != NULL ||
		strstr(dags[_i], "relu") != NULL || strstr(dags[_i], "max_pool") != NULL ? INTERP_EXACT : INTERP_MODP;
	Want want = want_of(a, naive, domain, (uint64_t)_i + 1);
	for (int i = 0; i < LEN(threads) * 2; i++) {
		Target target = named_target("cpu:znver5", threads[i / 2]);
		target.vector_bits = i % 2 == 0 ? 256 : 512;
		Space *space = space_new(a, task, &target, &err);
		ck_assert_msg(space != NULL, "%s", err.text);
		const char *seed = getenv("DLC_SEED");
		Rng rng = rng_seed((uint64_t)_i * 100 + (uint64_t)i + (seed != NULL ? (uint64_t)atoi(seed) * 100000 : 0));
		for (int k = 0; k < suite_count(4, 3, 60); k++) {
			Arena *own = arena_new();
			Text text = { .arena = own };
			Config c = k == 0 ? space->first : space_sample(space, &rng);
			Trace *t = space_trace(space, &c, own, &err);
			ck_assert_msg(t != NULL, "%d threads: %s", target.threads, err.text);
			text_add(&text, "# %d threads, %d bits\n", target.threads, target.vector_bits);
			trace_print(&text, t);
			KernelSet *ks = schedule_replay(ir_new(own), task, &target, t, &err);
			ck_assert_msg(ks != NULL, "%s: %s\n%s\n%s", err.place, err.text, dags[_i], text_str(&text));
			must_give(&want, ks, (uint64_t)k + 1, text_str(&text));
			arena_free(own);
		}
	}
	arena_free(a);
}
END_TEST

static bool see_parallel(Stmt *s, void *arg)
{
	int64_t *least = arg, extent;
	if (s->kind == ST_FOR && s->loop.kind == LOOP_PARALLEL) {
		ck_assert(nest_extent(s, &extent));
		*least = extent < *least ? extent : *least;
	}
	return true;
}

/* Four tiles of an image give eight threads no work, their blocks of channels do, in both orders. */
START_TEST(few_tiles_are_shared_with_their_channels)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Task *task = task_of(a, CONV("1,64,7,7", "64,64,3,3", "1,64,7,7", "pads=[1,1,1,1]"));
	Target target = named_target("cpu:znver5", 8);
	target.vector_bits = 256;
	Space *space = space_new(a, task, &target, &err);
	ck_assert_msg(space != NULL, "%s", err.text);
	Rng rng = rng_seed(3);
	int seen[2] = { 0 };
	for (int k = 0; k < 400; k++) {
		Arena *own = arena_new();
		Text text = { .arena = own };
		Config c = space_sample(space, &rng);
		trace_print(&text, space_trace(space, &c, own, &err));
		bool whole = strstr(text_str(&text), "winograd m=4") != NULL && strstr(text_str(&text), "compute_at") == NULL;
		if (whole) {
			KernelSet *ks = schedule_replay(ir_new(own), task, &target, space_trace(space, &c, own, &err), &err);
			int64_t least = INT64_MAX;
			ck_assert_msg(ks != NULL, "%s", err.text);
			for (size_t i = 0; i < ks->n; i++)
				ir_each_stmt(ks->fn[i]->body, see_parallel, &least);
			ck_assert_msg(least >= 8 && least < INT64_MAX, "%lld\n%s", (long long)least, text_str(&text));
			seen[strstr(text_str(&text), "reorder v.th v.tw v.c.o") != NULL]++;
		}
		arena_free(own);
	}
	ck_assert_msg(seen[0] > 0 && seen[1] > 0, "%d %d", seen[0], seen[1]);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("shares");
	tcase_add_loop_test(tc, every_number_of_threads_computes_the_same, 0, LEN(dags));
	tcase_add_test(tc, few_tiles_are_shared_with_their_channels);
	return run_suite("shares", tc);
}
