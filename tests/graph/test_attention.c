/*
 * Attention as exporters write it becomes one call that computes the same, and what is no attention stays. The
 * reference evaluates both Dags.
 */
#include "graph/graph.h"
#include "ref.h"
#include "suite.h"

#include <math.h>
#include <string.h>

#define QKV "dag\nin q: f32[1,2,8,3]\nin k: f32[1,2,2,3]\nin v: f32[1,2,2,5]\n"
#define CAUSAL "const m: f32[8,2] = {0, -inf, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}\n"

static const struct {
	const char *dag, *call; /* the call that stands there then; NULL: none */
} models[] = {
	{ QKV "s = matmul(q, k) tb=1\np = softmax(s)\ny = matmul(p, v)\nout y\n", "attention(q, k, v)\n" },
	/* The scale: behind the product, before it, on both sides, before a transpose. */
	{ QKV "const c: f32[] = {8}\ns = matmul(q, k) tb=1\nt = div(s, c)\np = softmax(t)\ny = matmul(p, v)\nout y\n",
		"attention(q, k, v) scale=0.125\n" },
	{ QKV "const c: f32[1] = {0.5}\na = mul(q, c)\nt = transpose(k) perm=[0,1,3,2]\nb = mul(c, t)\ns = matmul(a, b)\n"
		"p = softmax(s)\ny = matmul(p, v)\nout y\n", "attention(q, k, v) scale=0.25\n" },
	{ QKV "const c: f32[] = {0.5}\nb = mul(k, c)\nt = transpose(b) perm=[0,1,3,2]\ns = matmul(q, t)\n"
		"p = softmax(s)\ny = matmul(p, v)\nout y\n", "attention(q, k, v) scale=0.5\n" },
	/* A scale of the values is none of the scores. */
	{ QKV "const c: f32[] = {0.5}\nb = mul(v, c)\ns = matmul(q, k) tb=1\np = softmax(s)\ny = matmul(p, b)\nout y\n",
		"attention(q, k, b)\n" },
	/* Keys that are transposed in one step, and behind reshapes; products of three dimensions. */
	{ "dag\nin q: f32[1,2,8,3]\nin x: f32[1,4,2,3]\nin v: f32[1,2,4,5]\nt = transpose(x) perm=[0,2,3,1]\n"
		"s = matmul(q, t)\np = softmax(s)\ny = matmul(p, v)\nout y\n", "attention(q, t_1, v)\n" },
	{ QKV "a = reshape(k) shape=[2,2,3]\nb = transpose(a) perm=[0,2,1]\nc = reshape(b) shape=[1,2,3,2]\n"
		"s = matmul(q, c)\np = softmax(s)\ny = matmul(p, v)\nout y\n", "attention(q, k, v)\n" },
	{ "dag\nin q: f32[2,8,3]\nin k: f32[2,4,3]\nin v: f32[2,4,5]\ns = matmul(q, k) tb=1\np = softmax(s)\n"
		"y = matmul(p, v)\nout y\n", "attention(q_1, k_1, v_1)\n" },
	{ "dag\nin q: f32[8,3]\nin k: f32[5,3]\nin v: f32[5,5]\ns = matmul(q, k) tb=1\np = softmax(s)\n"
		"y = matmul(p, v)\nout y\n", "attention(q_1, k_1, v_1)\n" },
	{ "dag\nin q: f32[2,3,2,8,3]\nin k: f32[2,3,2,4,3]\nin v: f32[2,3,2,4,5]\n"
		"const m: f32[1,2,1,4] = {1, 2, 3, 4, 5, 6, 7, 8}\n"
		"s = matmul(q, k) tb=1\nt = add(s, m)\np = softmax(t)\ny = matmul(p, v)\nout y\n",
		"attention(q_1, k_1, v_1, m)\n" },
	/* Masks: constant and causal, constant, nothing, of the model, as a choice, the other way round. */
	{ QKV CAUSAL "s = matmul(q, k) tb=1\nt = add(s, m)\np = softmax(t)\ny = matmul(p, v)\nout y\n",
		"attention(q, k, v) causal=1\n" },
	{ "dag\nin q: f32[1,2,8,3]\nin k: f32[1,2,3,3]\nin v: f32[1,2,3,5]\nconst m: bool[1,1,8,3] = {1, 1, 0, 1, 1, 1, "
		"1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}\nconst low: f32[] = {-10000}\n"
		"s = matmul(q, k) tb=1\nt = where(m, s, low)\np = softmax(t)\ny = matmul(p, v)\nout y\n",
		"attention(q, k, v) causal=1 past=1\n" },
	{ QKV "const m: f32[8,2] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}\ns = matmul(q, k) tb=1\n"
		"t = add(m, s)\np = softmax(t)\ny = matmul(p, v)\nout y\n", "attention(q, k, v)\n" },
	{ QKV "const m: f32[1,2] = {-inf, 1}\ns = matmul(q, k) tb=1\nt = add(s, m)\np = softmax(t)\n"
		"y = matmul(p, v)\nout y\n", "attention(q, k, v, m_1)\n" },
	{ QKV "const m: f32[8,2] = {-inf, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}\ns = matmul(q, k) tb=1\n"
		"t = add(s, m)\np = softmax(t)\ny = matmul(p, v)\nout y\n", "attention(q, k, v, m_1)\n" },
	/* As many sequences as queries, each with a mask of its own. */
	{ "dag\nin q: f32[8,1,8,3]\nin k: f32[8,1,2,3]\nin v: f32[8,1,2,5]\n"
		"const m: f32[8,1,1,2] = {0, -inf, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}\n"
		"s = matmul(q, k) tb=1\nt = add(s, m)\np = softmax(t)\ny = matmul(p, v)\nout y\n",
		"attention(q, k, v, m)\n" },
	{ QKV "in m: f32[1,1,8,2]\nconst c: f32[] = {2}\ns = matmul(q, k) tb=1\na = div(s, c)\nt = add(a, m)\n"
		"p = softmax(t)\ny = matmul(p, v)\nout y\n", "attention(q, k, v, m) scale=0.5\n" },
	{ QKV "const m: bool[2] = {0, 1}\nconst low: f32[] = {-inf}\ns = matmul(q, k) tb=1\n"
		"t = where(m, s, low)\np = softmax(t)\ny = matmul(p, v)\nout y\n", "attention(q, k, v, m_1)\n" },
	{ QKV "const m: bool[2] = {0, 1}\nconst low: f32[] = {-3e+38}\ns = matmul(q, k) tb=1\nt = where(m, low, s)\n"
		"p = softmax(t)\ny = matmul(p, v)\nout y\n", "attention(q, k, v, mask_1)\n" },
	{ QKV "in m: f32[1,1,8,2]\ns = matmul(q, k) tb=1\na = reshape(s) shape=[1,1,2,8,2]\nt = add(a, m)\n"
		"b = reshape(t) shape=[1,2,8,2]\np = softmax(b)\ny = matmul(p, v)\nout y\n", "attention(q, k, v, m)\n" },
	/* Two masks: added, of windows behind a reshape, constants; one that is causal and one that is not. */
	{ QKV "in m: f32[1,2,8,2]\nin n: f32[1,1,8,2]\ns = matmul(q, k) tb=1\na = add(s, m)\nt = add(a, n)\n"
		"p = softmax(t)\ny = matmul(p, v)\nout y\n", "attention(q, k, v, mask)\n" },
	{ "dag\nin q: f32[3,2,8,3]\nin k: f32[3,2,2,3]\nin v: f32[3,2,2,5]\nin n: f32[2,8,2]\nin m: f32[3,8,2]\n"
		"s = matmul(q, k) tb=1\na = add(s, n)\nb = reshape(a) shape=[1,3,2,8,2]\nc = reshape(m) shape=[1,3,1,8,2]\n"
		"t = add(b, c)\nu = reshape(t) shape=[3,2,8,2]\np = softmax(u)\ny = matmul(p, v)\nout y\n",
		"attention(q, k, v, mask)\n" },
	{ QKV "const m: f32[2] = {1, 2}\nconst n: f32[2,1,1] = {3, 4}\ns = matmul(q, k) tb=1\na = add(s, m)\n"
		"t = add(a, n)\np = softmax(t)\ny = matmul(p, v)\nout y\n", "const mask: f32[1,2,1,2] = {4, 5, 5, 6}\n" },
	{ QKV CAUSAL "in n: f32[1,1,8,2]\ns = matmul(q, k) tb=1\na = add(s, n)\nt = add(a, m)\np = softmax(t)\n"
		"y = matmul(p, v)\nout y\n", "attention(q, k, v, n) causal=1\n" },
	/* A factor for each head is one of its queries. */
	{ QKV "in c: f32[2,1,1]\nin m: f32[2]\ns = matmul(q, k) tb=1\na = mul(s, c)\nt = add(a, m)\np = softmax(t)\n"
		"y = matmul(p, v)\nout y\n", "attention(q_1, k, v, m_1)\n" },
	/* Few queries. */
	{ "dag\nin q: f32[1,2,1,3]\nin k: f32[1,2,4,3]\nin v: f32[1,2,4,5]\ns = matmul(q, k) tb=1\np = softmax(s)\n"
		"y = matmul(p, v)\nout y\n", "attention(q, k, v)\n" },
	/* Rows that see nothing give 0; the reference of the models has none. */
	{ QKV "const z: f32[] = {0}\ns = matmul(q, k) tb=1\np = softmax(s)\nn = is_nan(p)\nr = where(n, z, p)\n"
		"y = matmul(r, v)\nout y\n", "attention(q, k, v) zeros=1\n" },
	{ QKV "const c: f32[] = {5}\nconst d: f32[] = {4}\ns = matmul(q, k) tb=1\na = div(s, d)\nb = tanh(a)\n"
		"t = mul(b, c)\np = softmax(t)\ny = matmul(p, v)\nout y\n", "attention(q, k, v) cap=5 scale=1.25\n" },
	/* Heads that share keys: a dimension of their own, and repeated keys. */
	{ "dag\nin q: f32[1,2,3,8,5]\nin k: f32[1,2,1,6,5]\nin v: f32[1,2,1,6,2]\ns = matmul(q, k) tb=1\np = softmax(s)\n"
		"y = matmul(p, v)\nout y\n", "attention(q_1, k_1, v_1)\n" },
	{ "dag\nin q: f32[1,6,8,5]\nin k: f32[1,2,6,5]\nin v: f32[1,2,6,2]\na = reshape(k) shape=[1,2,1,6,5]\n"
		"b = expand(a) shape=[1,2,3,6,5]\nc = reshape(b) shape=[1,6,6,5]\nd = reshape(v) shape=[1,2,1,6,2]\n"
		"e = expand(d) shape=[1,2,3,6,2]\nf = reshape(e) shape=[1,6,6,2]\ng = transpose(c) perm=[0,1,3,2]\n"
		"s = matmul(q, g)\np = softmax(s)\ny = matmul(p, f)\nout y\n", "attention(q, a_1, d_1)\n" },
	/* None: heads share keys along one dimension and values along the other. */
	{ "dag\nin q: f32[1,2,2,8,3]\nin k: f32[1,2,1,4,3]\nin v: f32[1,1,2,4,5]\ns = matmul(q, k) tb=1\n"
		"p = softmax(s)\ny = matmul(p, v)\nout y\n", NULL },
	/* None: something else reads scores; products are faster; a mask before the scale; another axis; a mask of no
	   number; three masks; a factor behind tanh; a factor of each query. */
	{ QKV "s = matmul(q, k) tb=1\np = softmax(s)\ny = matmul(p, v)\nout y, s\n", NULL },
	{ QKV "s = matmul(q, k) tb=1\np = softmax(s)\ny = matmul(p, v)\nout y, p\n", NULL },
	{ "dag\nin q: f32[1,2,7,3]\nin k: f32[1,2,4,3]\nin v: f32[1,2,4,5]\ns = matmul(q, k) tb=1\np = softmax(s)\n"
		"y = matmul(p, v)\nout y\n", NULL },
	{ QKV "in m: f32[8,2]\nconst c: f32[] = {2}\ns = matmul(q, k) tb=1\na = add(s, m)\nt = mul(a, c)\n"
		"p = softmax(t)\ny = matmul(p, v)\nout y\n", NULL },
	{ QKV "s = matmul(q, k) tb=1\np = softmax(s) axis=2\ny = matmul(p, v)\nout y\n", NULL },
	{ QKV "const m: bool[2] = {0, 1}\nconst low: f32[] = {-3}\ns = matmul(q, k) tb=1\nt = where(m, s, low)\n"
		"p = softmax(t)\ny = matmul(p, v)\nout y\n", NULL },
	{ QKV "in m: f32[1,2,8,2]\nin n: f32[1,1,8,2]\ns = matmul(q, k) tb=1\na = add(s, m)\nt = add(a, n)\n"
		"u = add(t, n)\np = softmax(u)\ny = matmul(p, v)\nout y\n", NULL },
	{ QKV "in c: f32[2,1,1]\ns = matmul(q, k) tb=1\na = tanh(s)\nt = mul(a, c)\np = softmax(t)\n"
		"y = matmul(p, v)\nout y\n", NULL },
	{ QKV "in c: f32[2,8,1]\ns = matmul(q, k) tb=1\nt = mul(s, c)\np = softmax(t)\ny = matmul(p, v)\nout y\n", NULL },
};

static bool run_pass(Dag *d, const char *name, Err *err)
{
	const GraphPass *p = graph_passes;
	while (strcmp(p->name, name) != 0)
		p++;
	return p->run(d, graph_eval_interp, err);
}

/* Both Dags give the same output 0 for random inputs. Values are below 2 and weights have the sum 1. */
static void compare(Arena *a, const Dag *d, const Dag *e, uint64_t seed)
{
	Rng r = rng_seed(seed);
	Tensor *v = arena_array(a, Tensor, d->value.n + 1), *w = arena_array(a, Tensor, e->value.n + 1);
	for (size_t i = 0; i < d->input.n; i++) {
		const Value *x = &d->value.at[d->input.at[i]];
		v[d->input.at[i]] = w[e->input.at[i]] = tensor_random(a, x->type, x->shape, &r);
	}
	ref_eval(a, d, v);
	ref_eval(a, e, w);
	const Tensor *y = &v[d->output.at[0]], *z = &w[e->output.at[0]];
	ck_assert(shape_eq(y->shape, z->shape));
	for (int64_t i = 0; i < y->n; i++)
		ck_assert_msg(fabs(y->v[i] - z->v[i]) < 1e-5, "%lld: %g, not %g\n%s", (long long)i, z->v[i], y->v[i],
			dag_str(a, e));
}

START_TEST(attention_is_one_call)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_parse(a, "d", models[_i].dag, strlen(models[_i].dag), &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	Dag *e = dag_copy(a, d);
	ck_assert_msg(run_pass(e, "attention", &err) && run_pass(e, "dead", &err) && dag_check(e, &err), "%s", err.text);
	const char *text = dag_str(a, e), *want = models[_i].call;
	ck_assert_msg((strstr(text, "= attention(") != NULL) == (want != NULL), "%s", text);
	ck_assert_msg(want == NULL || strstr(text, want) != NULL, "lacks %s\n%s", want, text);
	compare(a, d, e, 40 + (uint64_t)_i);
	arena_free(a);
}
END_TEST

static const char *const calls[] = {
	"dag\nin q: f32[2,4,3,5]\nin k: f32[2,2,6,5]\nin v: f32[2,2,6,3]\nin m: f32[2,1,1,6]\n"
	"y = attention(q, k, v, m) scale=0.5 causal=1 past=3\nout y\n",
	"dag\nin q: f32[2,4,3,5]\nin k: f32[2,2,6,5]\nin v: f32[2,2,6,3]\nin m: f32[4,3,6]\n"
	"y = attention(q, k, v, m) zeros=1\nz = add(y, y)\nout z\n",
	"dag\nin q: f32[1,2,7,4]\nin k: f32[1,2,5,4]\nin v: f32[1,2,5,4]\ny = attention(q, k, v) causal=1 cap=2\nout y\n",
	"dag\nin q: f32[1,3,3,4]\nin k: f32[1,1,5,4]\nin v: f32[1,1,5,4]\nconst m: bool[3,5] = {1, 0, 1, 1, 0, 0, 0, 1, "
	"0, 0, 1, 1, 1, 1, 1}\ny = attention(q, k, v, m)\nout y\n",
	"dag\nin q: f32[1,4,3,4]\nin k: f32[1,2,5,4]\nin v: f32[1,2,5,4]\nconst m: bool[3,5] = {1, 0, 1, 1, 0, 0, 0, 0, "
	"0, 0, 1, 1, 1, 1, 1}\ny = attention(q, k, v, m) zeros=2\nout y\n",
};

START_TEST(calls_compute_the_same)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_parse(a, "d", calls[_i], strlen(calls[_i]), &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	Dag *e = dag_copy(a, d);
	ck_assert_msg(graph_unjoin_attention(e, &err) && dag_check(e, &err), "%s", err.text);
	ck_assert_ptr_null(strstr(dag_str(a, e), "attention("));
	compare(a, d, e, 90 + (uint64_t)_i);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("attention");
	tcase_add_loop_test(tc, calls_compute_the_same, 0, LEN(calls));
	tcase_add_loop_test(tc, attention_is_one_call, 0, LEN(models));
	return run_suite("attention", tc);
}
