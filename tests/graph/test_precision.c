/*
 * Precisions on golden texts: which values become 16 bits, where casts stand, which products are marked; that fp32
 * changes nothing, and that records of one precision serve no other.
 */
#include "graph/precision.h"
#include "suite.h"

#include <string.h>

static Dag *parse(Arena *a, const char *text)
{
	Err err = { 0 };
	Dag *d = dag_parse(a, "t.dag", text, strlen(text), &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	return d;
}

static const struct {
	Precision precision;
	const char *before, *after;
} golden[] = {
	/* Constants are converted; the input is cast once for its two readers; the output is cast back. */
	{ PRECISION_fp16,
		"dag\nin x: f32[1,1,2]\nconst w: f32[1,1,1] = {0.1}\nconst b: f32[1] = {1e6}\n"
		"c = conv(x, w, b)\nd = conv(x, w)\ne = add(c, d)\ny = relu(e)\nout y\n",
		"dag\nin x: f32[1,1,2]\nconst w: f16[1,1,1] = {0.099975586}\nconst b: f16[1] = {65504}\n"
		"x.f16: f16[1,1,2] = cast(x) to=f16\nc: f16[1,1,2] = conv(x.f16, w, b)\nd: f16[1,1,2] = conv(x.f16, w)\n"
		"e: f16[1,1,2] = add(c, d)\ny.inner: f16[1,1,2] = relu(e)\ny: f32[1,1,2] = cast(y.inner) to=f32\nout y\n" },
	/* What precedes the first product stays f32, as do calls whose results may leave the range. */
	{ PRECISION_bf16,
		"dag\nin x: f32[2,2]\nconst m: f32[] = {0.5}\nconst w: f32[2,2] = {1, 2, 3, 4}\nu = sub(x, m)\n"
		"c = dense(u, w)\np = exp(c)\ns = reduce_sum(p) axes=[1]\nq = div(p, s)\ny = dense(q, w)\nout y\n",
		"dag\nin x: f32[2,2]\nconst m: f32[] = {0.5}\nconst w: bf16[2,2] = {1, 2, 3, 4}\n"
		"u: f32[2,2] = sub(x, m)\nu.bf16: bf16[2,2] = cast(u) to=bf16\nc: bf16[2,2] = dense(u.bf16, w)\n"
		"c.f32: f32[2,2] = cast(c) to=f32\np: f32[2,2] = exp(c.f32)\ns: f32[2,1] = reduce_sum(p) axes=[1]\n"
		"q: f32[2,2] = div(p, s)\nq.bf16: bf16[2,2] = cast(q) to=bf16\ny.inner: bf16[2,2] = dense(q.bf16, w)\n"
		"y: f32[2,2] = cast(y.inner) to=f32\nout y\n" },
	/* A cast comes before the reshape of what it casts; integers stay. */
	{ PRECISION_fp16,
		"dag\nin x: f32[2,3]\nin i: i32[2,3]\nconst w: f32[1,6]\ne = exp(x)\nr = reshape(e) shape=[1,6]\n"
		"y = dense(r, w)\nj = neg(i)\nout y, j\n",
		"dag\nin x: f32[2,3]\nin i: i32[2,3]\nconst w: f32[1,6]\ne: f32[2,3] = exp(x)\n"
		"e.f16: f16[2,3] = cast(e) to=f16\nr.f16: f16[1,6] = reshape(e.f16) shape=[1,6]\n"
		"w.f16: f16[1,6] = cast(w) to=f16\ny.inner: f16[1,1] = dense(r.f16, w.f16)\nj: i32[2,3] = neg(i)\n"
		"y: f32[1,1] = cast(y.inner) to=f32\nout y, j\n" },
	/* Weights of samples stay f32, and so do values whose bits are read. */
	{ PRECISION_fp16,
		"dag\nin x: f32[1,2]\nconst w: f32[3,2] = {1, 2, 3, 4, 5, 6}\nconst i: i64[2,2] = {0, 1, 1, 2}\n"
		"const v: f32[2,2] = {0.1, 0.9, 0.5, 0.5}\nc = dense(x, w)\ny = resample(c, i, v) axis=1\n"
		"b = bitcast(c) to=i32\nout y, b\n",
		"dag\nin x: f32[1,2]\nconst w: f16[3,2] = {1, 2, 3, 4, 5, 6}\nconst i: i64[2,2] = {0, 1, 1, 2}\n"
		"const v: f32[2,2] = {0.1, 0.9, 0.5, 0.5}\nx.f16: f16[1,2] = cast(x) to=f16\nc: f16[1,3] = dense(x.f16, w)\n"
		"y.inner: f16[1,2] = resample(c, i, v) axis=1\nc.f32: f32[1,3] = cast(c) to=f32\n"
		"b: i32[1,3] = bitcast(c.f32) to=i32\ny: f32[1,2] = cast(y.inner) to=f32\nout y, b\n" },
	/* Products of f32 are marked, others are not. */
	{ PRECISION_tf32,
		"dag\nin x: f32[2,2]\nin z: f64[2,2]\na = matmul(x, x) ta=1\ny = relu(a)\nb = matmul(z, z)\nout y, b\n",
		"dag\nin x: f32[2,2]\nin z: f64[2,2]\na: f32[2,2] = matmul(x, x) ta=1 tf32=1\ny: f32[2,2] = relu(a)\n"
		"b: f64[2,2] = matmul(z, z)\nout y, b\n" },
	{ PRECISION_fp32, "dag\nin x: f32[2]\na: f32[2] = identity(x)\ny: f32[2] = relu(a)\nout y\n",
		"dag\nin x: f32[2]\na: f32[2] = identity(x)\ny: f32[2] = relu(a)\nout y\n" },
};

START_TEST(networks_become_what_they_should)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = parse(a, golden[_i].before);
	ck_assert_msg(graph_precision(d, golden[_i].precision, graph_eval_interp, &err), "%s", err.text);
	ck_assert_str_eq(dag_str(a, d), golden[_i].after);
	/* Passes that run again change nothing. */
	ck_assert_msg(golden[_i].precision == PRECISION_fp32 || graph_optimize(d, graph_eval_interp, &err), "%s", err.text);
	ck_assert_str_eq(dag_str(a, d), golden[_i].after);
	arena_free(a);
}
END_TEST

/* Each precision has Tasks of its own; that of fp32 is what it was before there were others. */
START_TEST(each_precision_has_its_own_records)
{
	static const char text[] = "dag\nin x: f32[1,8,4,4]\nconst w: f32[8,8,1,1]\nconst v: f32[8,8,1,1]\n"
							   "a = conv(x, w)\nb = relu(a)\nc = conv(b, v)\ny = neg(c)\nout y\n";
	static const char *const was[] = {
		"dag\nin v0: f32[1,8,4,4]\nconst c0: f32[8,8,1,1]\nv1: f32[1,8,4,4] = conv(v0, c0)\n"
		"v2: f32[1,8,4,4] = relu(v1)\nout v2\n",
		"c71b6dd344ef280ff4e802ccba8302cf",
	};
	Arena *a = arena_new();
	Err err = { 0 };
	Hash first[PRECISIONS];
	for (int p = 0; p < PRECISIONS; p++) {
		Dag *d = parse(a, text);
		ck_assert_msg(graph_precision(d, (Precision)p, graph_eval_interp, &err), "%s", err.text);
		Partition *cut = graph_partition(a, d, &err);
		ck_assert_msg(cut != NULL, "%s", err.text);
		for (int k = 0; k < cut->ntask; k++)
			if (strstr(cut->task[k]->text, "relu") != NULL)
				first[p] = cut->task[k]->id;
		for (int q = 0; q < p; q++)
			ck_assert(memcmp(&first[p], &first[q], sizeof *first) != 0);
		if (p == PRECISION_fp32) {
			char hex[HASH_HEX];
			hash_hex(cut->task[0]->id, hex);
			ck_assert_str_eq(cut->task[0]->text, was[0]);
			ck_assert_str_eq(hex, was[1]);
		}
	}
	arena_free(a);
}
END_TEST

/* A workload that says what cannot be is refused. */
START_TEST(marks_are_for_f32)
{
	static const char *const wrong[][2] = {
		{ "dag\nin x: f16[2,2]\ny = matmul(x, x) tf32=1\nout y\n", "tf32 is for factors of f32, but x is f16" },
		{ "dag\nin x: f32[2,2]\ny = dense(x, x) tf32=2\nout y\n", "tf32 is 2, but must be 0 or 1" },
	};
	for (int i = 0; i < LEN(wrong); i++) {
		Arena *a = arena_new();
		Err err = { 0 };
		ck_assert_ptr_null(dag_parse(a, "t.dag", wrong[i][0], strlen(wrong[i][0]), &err));
		ck_assert_msg(strstr(err.text, wrong[i][1]) != NULL, "%s", err.text);
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("precision");
	tcase_add_loop_test(tc, networks_become_what_they_should, 0, LEN(golden));
	tcase_add_test(tc, each_precision_has_its_own_records);
	tcase_add_test(tc, marks_are_for_f32);
	return run_suite("precision", tc);
}
