/*
 * Group norms of random shapes, as front ends write them: the pass leaves no call on the cut image and keeps the
 * results. The reference of tests/op evaluates both Dags in f64.
 */
#include "graph/edit.h"
#include "ref.h"
#include "suite.h"

#include <math.h>

static int call(Dag *d, int op, int x, int y, Attr attr)
{
	Err err = { 0 };
	int in[2] = { x, y }, nin = y == DAG_NONE ? 1 : 2;
	int n = dag_add_call(d, op, NULL, in, nin, &attr, attr.name != NULL, &err);
	ck_assert_msg(n >= 0, "%s", err.text);
	return d->call.at[n].out[0];
}

static int plain(Dag *d, int op, int x, int y)
{
	return call(d, op, x, y, (Attr){ 0 });
}

static int constant(Dag *d, Rng *r, Shape s, bool one)
{
	Tensor t = tensor_random(d->arena, F32, s, r);
	for (int64_t i = 0; i < t.n && one; i++)
		t.v[i] = 1;
	return dag_add_const(d, "k", F32, s, tensor_data(d->arena, t));
}

static int scalar(Dag *d, float x)
{
	return dag_add_const(d, "e", F32, shape_of(0, NULL), arena_copy(d->arena, &x, sizeof x));
}

/* A number for each element of dimension 1, or for all. */
static Shape of_second(Rng *r, Shape s)
{
	Shape w = { s.rank - 1, { s.dim[1], 1, 1, 1, 1 } };
	return rng_below(r, 6) == 0 ? shape_of(0, NULL) : w;
}

static int scaled(Dag *d, Rng *r, int y)
{
	static const int ops[] = { OP_mul, OP_add };
	for (int k = 0; k < 2; k++)
		if (rng_below(r, 4) > 0) {
			int w = constant(d, r, of_second(r, d->value.at[y].shape), rng_below(r, 4) == 0);
			y = rng_below(r, 2) == 0 ? plain(d, ops[k], y, w) : plain(d, ops[k], w, y);
		}
	return y;
}

/* The image, of one to three spatial dimensions, is cut into [N,G,L], [N,G,K,L] or [N,G,K,..]. */
static Dag *random_norm(Arena *a, Rng *r)
{
	Dag *d = dag_new(a, "norm");
	int64_t groups = rng_range(r, 1, 4), each = rng_range(r, 1, 4), pixels = 1;
	each = groups * each <= GRAPH_FEW_CHANNELS ? GRAPH_FEW_CHANNELS + 1 : each;
	Shape image = { (int)rng_range(r, 3, 5), { rng_range(r, 1, 2), groups * each } };
	Shape whole = { 3, { image.dim[0], groups, each } };
	for (int k = 2; k < image.rank; k++) {
		whole.dim[whole.rank++] = image.dim[k] = rng_range(r, k == 2 ? 2 : 1, 4);
		pixels *= image.dim[k];
	}
	Shape cut[] = { { 3, { image.dim[0], groups, each * pixels } }, { 4, { image.dim[0], groups, each, pixels } },
		whole }, s = cut[rng_below(r, LEN(cut))];
	Attr axes = attr_ints("axes", (int64_t[]){ 2, 3, 4, 5 }, s.rank - 2);
	Attr back = attr_ints("shape", image.dim, image.rank);
	int x = plain(d, OP_tanh, dag_add_input(d, "x", F32, image), DAG_NONE);
	int y = call(d, OP_reshape, x, DAG_NONE, attr_ints("shape", s.dim, s.rank));
	y = plain(d, OP_sub, y, call(d, OP_reduce_mean, y, DAG_NONE, axes));
	int by = call(d, OP_reduce_mean, plain(d, OP_mul, y, y), DAG_NONE, axes);
	by = plain(d, OP_sqrt, plain(d, OP_add, by, scalar(d, 1e-2f)), DAG_NONE);
	if (rng_below(r, 2) == 0)
		y = plain(d, OP_div, y, by);
	else if (rng_below(r, 2) == 0)
		y = plain(d, OP_mul, y, plain(d, OP_div, scalar(d, 1), by));
	else
		y = plain(d, OP_mul, plain(d, OP_div, scalar(d, 1), by), y);
	y = rng_below(r, 2) == 0 ? scaled(d, r, y) : y;
	int z = scaled(d, r, call(d, OP_reshape, y, DAG_NONE, back));
	if (rng_below(r, 4) == 0) /* another reader, which keeps later numbers out of the norm */
		z = plain(d, OP_add, scaled(d, r, z), z);
	if (rng_below(r, 4) == 0)
		dag_add_output(d, plain(d, OP_tanh, y, DAG_NONE));
	dag_add_output(d, plain(d, OP_add, z, x));
	return d;
}

/* Calls that compute on what was cut from an image, and are no moves. */
static int on_cuts(const Dag *d, Shape image)
{
	int n = 0;
	for (size_t i = 0; i < d->call.n; i++) {
		const Value *y = &d->value.at[d->call.at[i].out[0]];
		n += op_row(d->call.at[i].op)->class != OP_MOVE && shape_elements(y->shape) == shape_elements(image) &&
			!shape_eq(y->shape, image);
	}
	return n;
}

START_TEST(norms_compute_the_same_on_images)
{
	for (int seed = _i * 20; seed < _i * 20 + 20; seed++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Rng r = rng_seed(4100 + (uint64_t)seed);
		Dag *d = random_norm(a, &r), *e = dag_copy(a, d);
		ck_assert_msg(pass_group_norm(e, graph_eval_interp, &err), "%s", err.text);
		ck_assert(pass_dead(e, graph_eval_interp, &err) && dag_check(e, &err));
		Tensor *v = arena_array(a, Tensor, d->value.n), *w = arena_array(a, Tensor, e->value.n);
		const Value *x = &d->value.at[d->input.at[0]];
		v[d->input.at[0]] = w[e->input.at[0]] = tensor_random(a, F32, x->shape, &r);
		ref_eval(a, d, v);
		ref_eval(a, e, w);
		ck_assert_int_le(on_cuts(e, x->shape), d->output.n > 1); /* the second output is computed on the cut image */
		for (size_t o = 0; o < d->output.n; o++) {
			const Tensor *s = &v[d->output.at[o]], *t = &w[e->output.at[o]];
			for (int64_t i = 0; i < s->n; i++) /* values up to about ten, rounded to f32 in some calls */
				ck_assert_msg(fabs(s->v[i] - t->v[i]) < 1e-4, "seed %d: %g, %g\n%s\n%s", seed, s->v[i], t->v[i],
					dag_str(a, d), dag_str(a, e));
		}
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("group_norm");
	tcase_add_loop_test(tc, norms_compute_the_same_on_images, 0, 20);
	return run_suite("group_norm", tc);
}
