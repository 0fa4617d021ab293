/* Workloads: one canonical text and id for what is one computation, however it was written. */
#include "base/rng.h"
#include "op/task.h"
#include "suite.h"

#include <math.h>
#include <string.h>

/* Texts of a pair are one workload (same) or are two. */
static const struct {
	const char *a, *b;
	bool same;
} pairs[] = {
	{ "dag m\nin data: f32[1,4,8,8]\nin res: f32[1,4,8,8]\nconst w: f32[4,4,3,3]\nconst b: "
	  "f32[4]\n"
	  "y = conv(data, w, b) pads=[1,1,1,1]\nz = add(res, y)\nr = relu(z)\nout r\n",
		"dag\nin r: f32[1,4,8,8]\nin x: f32[1,4,8,8]\nconst bias: f32[4]\nconst k: "
		"f32[4,4,3,3]\n"
		"c = conv(x, k, bias) strides=[1,1] pads=[1,1,1,1] groups=1\ns = add(c, r)\nt = "
		"relu(s)\nout t\n",
		true },
	/* the residual may be an input or a constant: two roles, two workloads */
	{ "dag\nin x: f32[4]\nin y: f32[4]\nz = add(x, y)\nout z\n",
		"dag\nin x: f32[4]\nconst y: f32[4]\nz = add(x, y)\nout z\n", false },
	{ "dag\nin x: f32[4]\nin y: f32[4]\nz = sub(x, y)\nout z\n",
		"dag\nin y: f32[4]\nin x: f32[4]\nz = sub(x, y)\nout z\n", true },
	{ "dag\nin x: f32[4]\nin y: f32[1]\nz = sub(x, y)\nout z\n",
		"dag\nin x: f32[4]\nin y: f32[1]\nz = sub(y, x)\nout z\n", false },
	/* independent branches in another order, outputs in another order */
	{ "dag\nin x: f32[4]\na = exp(x)\nb = tanh(x)\nc = mul(a, b)\nout c, a\n",
		"dag\nin x: f32[4]\nb = tanh(x)\na = exp(x)\nc = mul(b, a)\nout a, c\n", true },
	/* which of two equal inputs is read again shows */
	{ "dag\nin x: f32[4]\nin y: f32[4]\ns = add(x, y)\nt = sub(s, x)\nout t\n",
		"dag\nin x: f32[4]\nin y: f32[4]\ns = add(x, y)\nt = sub(s, y)\nout t\n", true },
	{ "dag\nin x: f32[4]\nin y: f32[4]\ns = sub(x, y)\nt = sub(s, x)\nout t\n",
		"dag\nin x: f32[4]\nin y: f32[4]\ns = sub(x, y)\nt = sub(s, y)\nout t\n", false },
	/* unused inputs, calls and constants are dropped */
	{ "dag\nin u: i8[9]\nin x: f32[4]\nconst k: f32[7]\nq = exp(x)\nr = relu(x)\nout r\n",
		"dag\nin x: f32[4]\nr = relu(x)\nout r\n", true },
	{ "dag\nin x: f32[2,4]\nr = softmax(x) axis=-1\nout r\n", "dag\nin x: f32[2,4]\nr = softmax(x) axis=1\nout r\n",
		true },
	{ "dag\nin x: f32[2,4]\nr = elu(x) alpha=0.5\nout r\n", "dag\nin x: f32[2,4]\nr = elu(x)\nout r\n", false },
	{ "dag\nin x: f32[2,4]:NC4c\nr = relu(x)\nout r\n", "dag\nin x: f32[2,4]\nr = relu(x)\nout r\n", false },
};

static Task *task_of(Arena *a, const char *text)
{
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", text, strlen(text), &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	Task *t = task_new(a, d, &err);
	ck_assert_msg(t != NULL, "%s", err.text);
	return t;
}

START_TEST(one_computation_is_one_workload)
{
	Arena *a = arena_new();
	Task *s = task_of(a, pairs[_i].a), *t = task_of(a, pairs[_i].b);
	ck_assert_msg((strcmp(s->text, t->text) == 0) == pairs[_i].same, "%s\n%s", s->text, t->text);
	ck_assert_int_eq(memcmp(&s->id, &t->id, sizeof(Hash)) == 0, pairs[_i].same);
	arena_free(a);
}
END_TEST

START_TEST(text_and_id_are_fixed)
{
	/* The id is what records are found by: it may change only together with every database. */
	Arena *a = arena_new();
	Task *t = task_of(a, pairs[0].a);
	ck_assert_str_eq(t->text, "dag\nin v0: f32[1,4,8,8]\nin v1: f32[1,4,8,8]\nconst c0: f32[4,4,3,3]\n"
							  "const c1: f32[4]\nv2: f32[1,4,8,8] = conv(v0, c0, c1) pads=[1,1,1,1]\n"
							  "v3: f32[1,4,8,8] = add(v2, v1)\nv4: f32[1,4,8,8] = relu(v3)\nout v4\n");
	/* python3: hashlib.blake2b(b"dlc/workload/v1\0" + line without id, digest_size=16).hexdigest() */
	ck_assert_str_eq(task_record(a, task_of(a, "dag\nin x: f32[2]\ny = relu(x)\nout y\n")),
		"{\"dag\":\"dag\\nin v0: f32[2]\\nv1: f32[2] = relu(v0)\\nout v1\\n\","
		"\"id\":\"8723c1ef1c6cfe130bb116f331bfb75e\",\"kind\":\"workload\"}");
	arena_free(a);
}
END_TEST

/* A random Dag of elementwise calls on a few values of one shape. */
static Dag *random_dag(Arena *a, Rng *r)
{
	static const int ops[] = { OP_add, OP_sub, OP_mul, OP_maximum, OP_relu, OP_exp, OP_prelu };
	Dag *d = dag_new(a, "random");
	int64_t dim[2] = { 2, 3 };
	int nin = (int)rng_range(r, 1, 3), ncall = (int)rng_range(r, 1, 9), n = 0;
	for (int i = 0; i < nin; i++)
		dag_add_input(d, "x", F32, shape_of(2, dim));
	dag_add_const(d, "k", F32, shape_of(2, dim), NULL);
	for (int i = 0; i < ncall; i++) {
		int in[2] = { (int)rng_below(r, d->value.n), (int)rng_below(r, d->value.n) };
		int op = ops[rng_below(r, LEN(ops))];
		n = dag_add_call(d, op, NULL, in, op == OP_relu || op == OP_exp ? 1 : 2, NULL, 0, NULL);
		ck_assert_int_ge(n, 0);
	}
	dag_add_output(d, d->call.at[n].out[0]);
	if (rng_below(r, 2) == 0)
		dag_add_output(d, d->call.at[n / 2].out[0]);
	return d;
}

/* The same Dag with inputs, ready calls and commutative operands in random order, renamed. */
static Dag *shuffled(Arena *a, const Dag *d, Rng *r)
{
	Dag *s = dag_new(a, "other");
	int *map = arena_array(a, int, d->value.n), left = (int)(d->value.n - d->call.n);
	bool *done = arena_array(a, bool, d->call.n);
	for (size_t i = 0; i < d->value.n; i++)
		map[i] = DAG_NONE;
	while (left > 0) {
		int v = (int)rng_below(r, d->value.n);
		const Value *from = &d->value.at[v];
		if (from->kind == VALUE_CALL || map[v] != DAG_NONE)
			continue;
		map[v] = from->kind == VALUE_INPUT ? dag_add_input(s, "in", from->type, from->shape)
		                                   : dag_add_const(s, "in", from->type, from->shape, NULL);
		left--;
	}
	for (size_t n = 0; n < d->call.n;) {
		int i = (int)rng_below(r, d->call.n), in[2];
		const OpCall *c = &d->call.at[i];
		bool ready = !done[i],
			 swap = (c->op == OP_add || c->op == OP_mul || c->op == OP_maximum) && rng_below(r, 2) == 0;
		for (int k = 0; k < c->nin; k++) {
			in[swap ? 1 - k : k] = map[c->in[k]];
			ready &= map[c->in[k]] != DAG_NONE;
		}
		if (!ready)
			continue;
		done[i] = true;
		n++;
		int call = dag_add_call(s, c->op, "call", in, c->nin, NULL, 0, NULL);
		map[c->out[0]] = s->call.at[call].out[0];
	}
	for (size_t i = d->output.n; i-- > 0;)
		dag_add_output(s, map[d->output.at[i]]);
	return s;
}

static void try_shuffled(int seed)
{
	Rng r = rng_seed((uint64_t)seed);
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = random_dag(a, &r);
	Task *t = task_new(a, d, &err), *s = task_new(a, shuffled(a, d, &r), &err);
	Text before = { .arena = a };
	dag_print(&before, d);
	ck_assert_msg(strcmp(t->text, s->text) == 0, "seed %d\n%s\n%s\n%s", seed, text_str(&before), t->text, s->text);
	/* A canonical text is its own canonical form, and reads back. */
	Task *again = task_parse(a, t->text, strlen(t->text), &err);
	ck_assert_msg(again != NULL, "%s", err.text);
	ck_assert_int_eq(memcmp(&again->id, &t->id, sizeof(Hash)), 0);
	arena_free(a);
}

START_TEST(order_and_names_do_not_matter)
{
	for (int i = 0; i < 50; i++) /* a fork for each would take longer than the case */
		try_shuffled(77 + _i * 50 + i);
}
END_TEST

START_TEST(other_texts_are_no_workload)
{
	static const char *const texts[] = {
		"dag\nin x: f32[2]\nv1: f32[2] = relu(x)\nout v1\n",
		"dag\nin v0: f32[2]\nv1 = relu(v0)\nout v1\n",
		"dag m\nin v0: f32[2]\nv1: f32[2] = relu(v0)\nout v1\n",
		"dag\nin v0: f32[2]\nv1: f32[2] = relu(v0)\nout v1\n\n",
		"dag\nin v0: f32[2]\nv1: f32[2] = rely(v0)\nout v1\n",
	};
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert_ptr_null(task_parse(a, texts[_i], strlen(texts[_i]), &err));
	ck_assert_int_eq(err_exit_code(err.code), 1);
	arena_free(a);
}
END_TEST

static const struct {
	const char *dag, *label;
	double flops, bytes;
} costs[] = {
	{ "in x: f32[1,64,56,56]\nconst w: f32[64,64,3,3]\nconst b: f32[64]\n"
	  "c = conv(x, w, b) pads=[1,1,1,1]\ny = relu(c)\n",
		"conv3x3 64>64 56 +relu", 2.0 * 64 * 56 * 56 * 64 * 9 + 64 * 56 * 56,
		4.0 * (2 * 64 * 56 * 56 + 64 * 64 * 9 + 64) },
	{ "in x: f32[1,64,56,56]\nconst w: f32[128,64,1,1]\ny = conv(x, w) strides=[2,2]\n", "conv1x1 64>128 28 /2",
		2.0 * 128 * 28 * 28 * 64, 4.0 * (64 * 56 * 56 + 128 * 64 + 128 * 28 * 28) },
	{ "in x: f32[2,8,6,7]\nconst w: f32[8,1,3,3]\ny = conv(x, w) groups=8 pads=[1,1,1,1]\n", "dwconv3x3 8 6x7 b2",
		2.0 * 2 * 8 * 42 * 9, 4.0 * (2 * 2 * 8 * 42 + 72) },
	{ "in x: f32[1,8,6]\nconst w: f32[4,4,3]\ny = conv(x, w) groups=2\n", "conv3 8>4 4 g2", 2.0 * 16 * 12,
		4.0 * (48 + 48 + 16) },
	{ "in x: f32[1,512]\nconst w: f32[1000,512]\ny = dense(x, w)\n", "dense 512>1000", 2.0 * 512000,
		4.0 * (512 + 512000 + 1000) },
	{ "in x: f16[3,4,8]\nconst w: f16[2,8]\ny = dense(x, w)\n", "dense 8>2 m12 f16", 2.0 * 12 * 16,
		2.0 * (96 + 16 + 24) },
	{ "in x: f32[2,3]\nin z: f32[3,4]\ny = matmul(x, z)\n", "matmul 2x3 by 3x4", 48, 4.0 * 26 },
	{ "in x: f32[1,64,112,112]\ny = max_pool(x) kernel=[3,3] strides=[2,2] pads=[1,1,1,1]\n", "max_pool3x3 64 56 /2",
		9.0 * 64 * 56 * 56, 4.0 * 64 * (112 * 112 + 56 * 56) },
	{ "in x: f32[1,8,6]\nconst w: f32[4,8,1]\na = relu(x)\nb = mul(x, a)\nc = conv(b, w)\ny = relu(c)\n",
		"relu+mul+conv1 8>4 6 +relu", 96 + 2.0 * 24 * 8 + 24, 4.0 * (48 + 32 + 24) },
	{ "in x: f32[2,10]\ny = softmax(x)\n", "softmax 2x10", 100, 160 },
	{ "in x: f32[2,10]\nin z: f32[2,10]\ns = add(x, z)\ny = relu(s)\n", "add 2x10 +relu", 40, 240 },
	{ "in x: f32[2,10]\ny = reshape(x) shape=[20]\n", "reshape 20", 0, 160 },
	/* What is not read does not count. */
	{ "const x: f32[1000,8]\nin i: i64[3]\ny = gather(x, i)\n", "gather 3x8", 0, 4.0 * (24 + 24) + 24 },
	{ "in x: f32[100,8]\na = relu(x)\ny = slice(a) starts=[2,0] steps=[1,1] sizes=[5,8]\n",
		"relu 100x8 +slice", 800, 320 },
	{ "in x: f32[100,8]\na = relu(x)\nb = reduce_sum(a) axes=[0] keep=1\n"
	  "c = slice(a) starts=[2,0] steps=[1,1] sizes=[5,8]\ny = add(b, c)\n",
		"relu+reduce_sum 100x8 +slice+add", 800 + 800 + 40, 4.0 * (800 + 40) },
};

START_TEST(labels_and_costs)
{
	Arena *a = arena_new();
	Task *t = task_of(a, arena_printf(a, "dag\n%sout y\n", costs[_i].dag));
	ck_assert_str_eq(t->label, costs[_i].label);
	ck_assert_double_eq(t->flops, costs[_i].flops);
	ck_assert_double_eq(t->bytes, costs[_i].bytes);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("task");
	int randoms = getenv("DLC_TEST_ALL") != NULL ? 60 : 6;
	tcase_add_loop_test(tc, one_computation_is_one_workload, 0, LEN(pairs));
	tcase_add_test(tc, text_and_id_are_fixed);
	tcase_add_loop_test(tc, order_and_names_do_not_matter, 0, randoms);
	tcase_add_loop_test(tc, other_texts_are_no_workload, 0, 5);
	tcase_add_loop_test(tc, labels_and_costs, 0, LEN(costs));
	return run_suite("task", tc);
}
