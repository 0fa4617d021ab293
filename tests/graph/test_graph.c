/*
 * Passes on golden texts, each alone and all together against the reference of tests/op on random
 * models; partition into Tasks; constants for frontends.
 */
#include "graph/graph.h"
#include "op/element.h"
#include "ref.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static Dag *parse(Arena *a, const char *text)
{
	Err err = { 0 };
	Dag *d = dag_parse(a, "t.dag", text, strlen(text), &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	return d;
}

static const GraphPass *find_pass(const char *name)
{
	for (const GraphPass *p = graph_passes; p->name != NULL; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	ck_abort_msg("no pass %s", name);
	return NULL;
}

static const struct {
	const char *pass, *before, *after;
} golden[] = {
#include "passes.inc"
};

START_TEST(passes_do_what_they_say)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = parse(a, golden[_i].before);
	ck_assert_msg(find_pass(golden[_i].pass)->run(d, graph_eval_interp, &err), "%s", err.text);
	ck_assert_msg(dag_check(d, &err), "%s", err.text);
	ck_assert(find_pass("dead")->run(d, graph_eval_interp, &err) && dag_check(d, &err));
	ck_assert_str_eq(dag_str(d->arena, d), golden[_i].after);
	arena_free(a);
}
END_TEST

START_TEST(every_pass_has_a_golden_text)
{
	for (const GraphPass *p = graph_passes; p->name != NULL; p++) {
		int n = 0;
		for (int i = 0; i < LEN(golden); i++)
			n += strcmp(golden[i].pass, p->name) == 0;
		ck_assert_msg(n > 0 && p->needs[0] != 0 && p->breaks[0] != 0, "%s", p->name);
	}
}
END_TEST

/* ---- random models ---- */

static int pick(Rng *r, const Dag *d, int rank)
{
	for (;;) {
		int v = (int)rng_below(r, d->value.n);
		if (d->value.at[v].kind != VALUE_CONST && (rank == 0 || d->value.at[v].shape.rank == rank))
			return v;
	}
}

static int constant(Dag *d, Rng *r, int rank, const int64_t *dim, double least)
{
	Shape s = shape_of(rank, dim);
	Tensor t = tensor_random(d->arena, F32, s, r);
	for (int64_t i = 0; i < t.n; i++)
		t.v[i] = least > 0 ? fabs(t.v[i]) + least : t.v[i];
	return dag_add_const(d, "k", F32, s, tensor_data(d->arena, t));
}

/* The result of a call that must be right. */
static int call(Dag *d, int op, const char *name, const int *in, int nin, const Attr *attr, int nattr)
{
	Err err = { 0 };
	int n = dag_add_call(d, op, name, in, nin, attr, nattr, &err);
	ck_assert_msg(n >= 0, "%s", err.text);
	return d->call.at[n].out[0];
}

static void grow(Dag *d, Rng *r)
{
	static const int unary[] = { OP_relu, OP_identity, OP_tanh, OP_clip, OP_sigmoid };
	static const int binary[] = { OP_add, OP_sub, OP_mul, OP_maximum };
	int x = pick(r, d, 4), in[5] = { x }, op = OP_identity, nin = 1, nattr = 0;
	Shape s = d->value.at[x].shape;
	Attr attr[2];
	int64_t c = s.dim[1], one[4] = { 1, 1, 1, 1 }, pads[4] = { 1, 1, 1, 1 }, w[4] = { 0, c, 3, 3 };
	int64_t perm[4] = { 0, 1, 3, 2 }, flat[2] = { s.dim[0] * c, -1 }, back[4];
	switch (rng_below(r, 9)) {
	case 0: op = unary[rng_below(r, LEN(unary))]; break;
	case 1:
		op = OP_conv;
		w[0] = rng_range(r, 1, 3);
		in[nin++] = constant(d, r, 4, w, 0);
		if (rng_below(r, 2) == 0)
			in[nin++] = constant(d, r, 1, w, 0);
		attr[nattr++] = attr_ints("pads", pads, 4);
		break;
	case 2:
		op = OP_batch_norm;
		for (; nin < 5; nin++)
			in[nin] = constant(d, r, 1, &c, nin == 4 ? 0.5 : 0);
		break;
	case 3:
		op = binary[rng_below(r, LEN(binary))];
		one[1] = rng_below(r, 2) == 0 ? c : 1;
		in[nin++] = rng_below(r, 2) == 0 ? constant(d, r, 4, one, 0) : constant(d, r, 0, one, 0);
		if (rng_below(r, 2) == 0) {
			in[1] = x;
			in[0] = constant(d, r, 3, &one[1], 0);
		}
		break;
	case 4: /* a residual sum, or the square of something */
		op = binary[rng_below(r, LEN(binary))];
		in[nin++] = pick(r, d, 4);
		if (!shape_eq(d->value.at[in[1]].shape, s))
			in[1] = x;
		break;
	case 5:
		op = OP_transpose;
		attr[nattr++] = attr_ints("perm", perm, 4);
		break;
	case 6: /* there and back again */
		attr[0] = attr_ints("shape", flat, 2);
		in[0] = call(d, OP_reshape, NULL, in, 1, attr, 1);
		if (rng_below(r, 2) == 0) {
			int64_t m[2] = { s.dim[2] * s.dim[3], s.dim[2] * s.dim[3] };
			in[1] = constant(d, r, 2, m, 0);
			in[0] = call(d, OP_matmul, NULL, in, 2, NULL, 0);
		}
		op = OP_reshape;
		memcpy(back, s.dim, sizeof back);
		attr[nattr++] = attr_ints("shape", back, 4);
		break;
	case 7: /* constants of constants */
		op = binary[rng_below(r, LEN(binary))];
		in[1] = constant(d, r, 1, one, 0);
		in[1] = call(d, OP_exp, NULL, &in[1], 1, NULL, 0);
		nin = 2;
		break;
	default:
		op = OP_avg_pool;
		attr[nattr++] = attr_ints("kernel", one, 2);
		break;
	}
	call(d, op, NULL, in, nin, attr, nattr);
}

static void compare(const Dag *x, const Tensor *vx, const Dag *y, const Tensor *vy, int seed, const char *text)
{
	for (size_t o = 0; o < x->output.n; o++) {
		const Tensor *s = &vx[x->output.at[o]], *t = &vy[y->output.at[o]];
		ck_assert_str_eq(x->value.at[x->output.at[o]].name, y->value.at[y->output.at[o]].name);
		ck_assert(shape_eq(s->shape, t->shape));
		double most = 1, off = 0;
		for (int64_t i = 0; i < s->n; i++) {
			most = fmax(most, fabs(s->v[i]));
			off = fmax(off, fabs(s->v[i] - t->v[i]));
		}
		/* Weights are rounded once more: some units in the last place of f32, through 12 calls. */
		ck_assert_msg(
			off <= 1e-5 * most, "seed %d: off by %g of %g\n%s\n%s", seed, off, most, text, dag_str(y->arena, y));
	}
}

/* A random model of one input x, and up to three outputs. */
static Dag *random_model(Arena *a, Rng *r)
{
	Dag *d = dag_new(a, "random");
	int64_t dim[4] = { rng_range(r, 1, 2), rng_range(r, 1, 3), rng_range(r, 1, 3), rng_range(r, 1, 3) };
	int x = dag_add_input(d, "x", F32, shape_of(4, dim)), ncall = (int)rng_range(r, 1, 12);
	for (int i = 0; i < ncall; i++)
		grow(d, r);
	dag_add_output(d, d->call.at[d->call.n - 1].out[0]);
	for (int i = (int)rng_below(r, 3); i > 0; i--) {
		int v = pick(r, d, 0);
		bool again = v == x;
		for (size_t o = 0; o < d->output.n; o++)
			again |= d->output.at[o] == v;
		if (!again)
			dag_add_output(d, v);
	}
	return d;
}

/* A transposed convolution of random geometry; one of a stride and a dilation stays, and so do three dimensions. */
static Dag *random_transposed(Arena *a, Rng *r)
{
	Dag *d = dag_new(a, "transposed");
	int n = (int)rng_range(r, 1, 3);
	int64_t groups = rng_range(r, 1, 2), filters = rng_range(r, 1, 2), channels[1] = { groups * filters };
	int64_t x[5] = { rng_range(r, 1, 2), groups * rng_range(r, 1, 2) }, w[5] = { x[1], filters };
	int64_t stride[3], dilation[3], pads[6], extend[3];
	bool dilated = rng_below(r, 3) == 0;
	for (int k = 0; k < n; k++) {
		x[2 + k] = rng_range(r, 2, 4);
		w[2 + k] = rng_range(r, 2, 4);
		stride[k] = dilated ? 1 : rng_range(r, 1, 3);
		dilation[k] = dilated ? rng_range(r, 1, 2) : 1;
		pads[k] = rng_range(r, 0, 1);
		pads[n + k] = rng_range(r, 0, 1);
		extend[k] = rng_range(r, 0, 2);
	}
	int in[] = { dag_add_input(d, "x", F32, shape_of(2 + n, x)), constant(d, r, 2 + n, w, 0),
		constant(d, r, 1, channels, 0) };
	Attr attr[] = { attr_ints("strides", stride, n), attr_ints("dilations", dilation, n),
		attr_ints("pads", pads, 2 * n), attr_ints("output_padding", extend, n), attr_int("groups", groups) };
	dag_add_output(d, call(d, OP_conv_transpose, "y", in, (int)rng_range(r, 2, 3), attr, 5));
	return d;
}

START_TEST(transposed_convolutions_compute_the_same)
{
	for (int seed = _i * 10; seed < _i * 10 + 10; seed++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Rng r = rng_seed(700 + (uint64_t)seed);
		Dag *d = random_transposed(a, &r), *e = dag_copy(a, d);
		const char *text = dag_str(a, d);
		ck_assert_msg(graph_optimize(e, graph_eval_interp, &err), "%s: %s", err.text, text);
		Tensor *v = arena_array(a, Tensor, d->value.n), *w = arena_array(a, Tensor, e->value.n);
		const Value *x = &d->value.at[d->input.at[0]];
		v[d->input.at[0]] = w[e->input.at[0]] = tensor_random(a, x->type, x->shape, &r);
		ref_eval(a, d, v);
		ref_eval(a, e, w);
		compare(d, v, e, w, seed, text);
		arena_free(a);
	}
}
END_TEST

/* A group without a Task: its result's memory is its input's, or made of its inputs'; all is row-major. */
static void look_at(Arena *a, const Dag *d, const OpCall *c, Tensor *v)
{
	int64_t n = 0;
	double *at = v[c->in[0]].v;
	if (c->op == OP_concat) {
		Tensor *y = &v[c->out[0]];
		*y = tensor_new(a, d->value.at[c->out[0]].type, d->value.at[c->out[0]].shape);
		for (int k = 0; k < c->nin; k++) {
			memcpy(y->v + n, v[c->in[k]].v, sizeof(double) * (size_t)v[c->in[k]].n);
			n += v[c->in[k]].n;
		}
		return;
	}
	if (c->op == OP_slice) {
		int64_t inner = v[c->in[0]].n;
		const int64_t *start = op_ints(c, "starts", &(int){ 0 });
		for (int k = 0; start != NULL && k < v[c->in[0]].shape.rank; k++) {
			inner /= v[c->in[0]].shape.dim[k];
			at += start[k] * inner;
		}
	}
	for (int r = 0; r < c->nout; r++) {
		const Value *y = &d->value.at[c->out[r]];
		v[c->out[r]] = (Tensor){ y->type, y->shape, shape_elements(y->shape), at };
		at += shape_elements(y->shape);
	}
}

/* Runs the groups' Tasks one after the other, in their order. */
static void run_groups(Arena *a, const Dag *d, const Partition *p, Tensor *v)
{
	for (size_t i = 0; i < d->value.n; i++)
		if (d->value.at[i].kind == VALUE_CONST)
			v[i] = tensor_of(a, F32, d->value.at[i].shape, d->value.at[i].data);
	for (int g = 0; g < p->ngroup; g++) {
		const Group *grp = &p->group[g];
		if (grp->task == NULL) {
			look_at(a, d, &d->call.at[grp->call[0]], v);
			continue;
		}
		const Dag *t = grp->task->dag;
		Tensor *local = arena_array(a, Tensor, t->value.n);
		int n = 0;
		for (size_t i = 0; i < t->input.n; i++)
			local[t->input.at[i]] = v[grp->in[n++]];
		for (size_t i = 0; i < t->value.n; i++)
			if (t->value.at[i].kind == VALUE_CONST)
				local[i] = v[grp->in[n++]];
		ck_assert_int_eq(n, grp->nin);
		for (int i = 0; i < n; i++) /* made before it is read */
			ck_assert_ptr_nonnull(v[grp->in[i]].v);
		ref_eval(a, t, local);
		ck_assert_int_eq(grp->nout, (int)t->output.n);
		for (int i = 0; i < grp->nout; i++)
			v[grp->out[i]] = local[t->output.at[i]];
	}
}

/* Every call is in one group, and weights count groups. */
static void check_cover(Arena *a, const Dag *d, const Partition *p)
{
	int *seen = arena_array(a, int, d->call.n), weight = 0;
	int tasks = 0;
	for (int g = 0; g < p->ngroup; g++) {
		tasks += p->group[g].task != NULL;
		for (int k = 0; k < p->group[g].ncall; k++)
			seen[p->group[g].call[k]]++;
	}
	for (size_t i = 0; i < d->call.n; i++)
		ck_assert_int_eq(seen[i], 1);
	for (int t = 0; t < p->ntask; t++)
		weight += p->task[t]->weight;
	ck_assert_int_eq(weight, tasks);
}

/* Any choice covers the model, has the weights that graph_weights says, and computes the same; v as run_groups. */
static void try_alternatives(Arena *a, const Dag *d, const Partition *p, Rng *r, Tensor *v)
{
	int *choice = arena_array(a, int, p->nregion + 1), *weight = arena_array(a, int, p->ntask + p->nmore + 1);
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < p->nregion; k++)
			choice[k] = (int)rng_below(r, (uint64_t)p->region[k].n);
		const Partition *q = graph_take(a, p, choice);
		check_cover(a, d, q);
		graph_weights(p, choice, weight);
		ck_assert_int_eq(q->ntask + q->nmore, p->ntask + p->nmore);
		for (int k = 0; k < q->ntask + q->nmore; k++)
			for (int j = 0; j < q->ntask + q->nmore; j++)
				if (strcmp(p->task[k]->text, q->task[j]->text) == 0)
					ck_assert_int_eq(weight[k], j < q->ntask ? q->task[j]->weight : 0);
		for (int k = 0; k < q->nregion; k++)
			ck_assert_int_eq(q->region[k].taken, choice[k]);
		for (size_t k = 0; k < d->value.n; k++)
			if (d->value.at[k].kind == VALUE_CALL)
				v[k] = (Tensor){ 0 };
		run_groups(a, d, q, v);
		p = i % 2 == 0 ? q : p; /* from any one to any other */
	}
}

static void try_model(int seed)
{
	Rng r = rng_seed((uint64_t)seed);
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = random_model(a, &r);
	int x = d->input.at[0];
	const char *text = dag_str(d->arena, d);
	Tensor in = tensor_random(a, F32, d->value.at[x].shape, &r);
	Tensor *before = arena_array(a, Tensor, d->value.n);
	before[x] = in;
	ref_eval(a, d, before);
	Dag was = *d;
	ck_assert_msg(graph_optimize(d, graph_eval_interp, &err), "%s: %s", err.place, err.text);
	Tensor *after = arena_array(a, Tensor, d->value.n);
	after[d->input.at[0]] = in;
	ref_eval(a, d, after);
	compare(&was, before, d, after, seed, text);
	for (size_t i = 0; i < d->call.n; i++) /* all constants have data here: none is left */
		ck_assert_int_ne(d->call.at[i].op, OP_batch_norm);

	ck_assert(graph_optimize(d, graph_eval_interp, &err)); /* again: it must not undo itself */
	Partition *p = graph_partition(a, d, &err);
	ck_assert_msg(p != NULL, "%s", err.text);
	check_cover(a, d, p);
	Tensor *v = arena_array(a, Tensor, d->value.n);
	v[d->input.at[0]] = in;
	run_groups(a, d, p, v);
	compare(&was, before, d, v, seed, text);
	try_alternatives(a, d, p, &r, v);
	compare(&was, before, d, v, seed, text);
	arena_free(a);
}

START_TEST(optimized_models_compute_the_same)
{
	for (int i = 0; i < 20; i++) /* a fork for each would take longer than the case */
		try_model(500 + _i * 20 + i);
}
END_TEST

/* ---- partition ---- */

static const struct {
	const char *dag, *groups; /* labels of groups in order, with the Task's weight; (what needs no Task) */
} parts[] = {
	{ /* a residual block with a projection: the larger convolution takes the sum */
		"dag\nin x: f32[1,8,6,6]\nconst w1: f32[8,8,3,3]\nconst w2: f32[8,8,3,3]\nconst "
		"wp: f32[8,8,1,1]\n"
		"p = conv(x, wp)\na = conv(x, w1) pads=[1,1,1,1]\nb = relu(a)\nc = conv(b, w2) "
		"pads=[1,1,1,1]\n"
		"d = add(c, p)\ny = relu(d)\nout y\n",
		"conv1x1 8>8 6 *1; conv3x3 8>8 6 +relu *1; conv3x3 8>8 6 +add+relu *1; " },
	{ /* the projection comes last, but does less */
		"dag\nin x: f32[1,8,6,6]\nconst w1: f32[8,8,3,3]\nconst w2: f32[8,8,3,3]\nconst "
		"wp: f32[8,8,1,1]\n"
		"a = conv(x, w1) pads=[1,1,1,1]\nb = relu(a)\nc = conv(b, w2) pads=[1,1,1,1]\np = "
		"conv(x, wp)\n"
		"d = add(c, p)\ny = relu(d)\nout y\n",
		"conv3x3 8>8 6 +relu *1; conv1x1 8>8 6 *1; conv3x3 8>8 6 +add+relu *1; " },
	{ /* equal layers are one Task; an identity shortcut is an input */
		"dag\nin x: f32[1,8,6,6]\nconst w1: f32[8,8,3,3]\nconst w2: f32[8,8,3,3]\nconst "
		"w3: f32[8,8,3,3]\n"
		"a = conv(x, w1) pads=[1,1,1,1]\nb = relu(a)\nc = conv(b, w2) pads=[1,1,1,1]\nd = "
		"add(x, c)\n"
		"e = relu(d)\nf = conv(e, w3) pads=[1,1,1,1]\ny = relu(f)\nout y\n",
		"conv3x3 8>8 6 +relu *2; conv3x3 8>8 6 +add+relu *1; conv3x3 8>8 6 +relu *2; " },
	{ /* squeeze and excite: the wide product does not follow the narrow sigmoid */
		"dag\nin x: f32[1,4,5,5]\nconst w: f32[4,4]\nm = reduce_mean(x) axes=[2,3] "
		"keep=0\nd = dense(m, w)\n"
		"s = sigmoid(d)\nr = reshape(s) shape=[1,4,1,1]\ny = mul(x, r)\nz = relu(y)\nout "
		"z\n",
		"reduce_mean 1x4x5x5 *1; dense 4>4 +sigmoid *1; (reshape); mul 1x4x5x5 "
		"+relu *1; " },
	{ /* an output in the middle is not fused away, nor is what two calls read */
		"dag\nin x: f32[2,4]\nconst w: f32[4,4]\nd = dense(x, w)\nr = relu(d)\ns = "
		"exp(d)\nt = tanh(r)\nu = add(t, s)\n"
		"out u, r\n",
		"dense 4>4 m2 *1; relu 2x4 *1; tanh 2x4 +exp+add *1; " },
	{ "dag\nin x: f32[2,4]\na = exp(x)\nb = mul(a, a)\nc = softmax(b)\nd = neg(c)\ne = "
	  "concat(d, d) axis=0\nf = relu(e)\nout f\n",
		"exp+mul+softmax 2x4 +neg *1; concat 4x4 *1; relu 4x4 *1; " },
	{ "dag\nin x: f32[6]\na, b = split(x) sizes=[3,3]\nc = add(b, a)\nd, e = split(x) "
	  "sizes=[3,3]\nf = mul(d, c)\nout f, e\n",
		"split 3 *2; split 3 *2; add 3 +mul *1; " },
	/* Both results of a call are used: its group has no room for a call behind it. One alone is followed. */
	{ "dag\nin x: f32[3,1,2]\nconst r: f32[2,1,2]\na, b = rnn(x, r)\nc = neg(b)\nd = exp(a)\nout c, d\n",
		"rnn 3x1x2 *1; neg 1x2 *1; exp 3x1x2 *1; " },
	{ "dag\nin x: f32[3,1,2]\nconst r: f32[2,1,2]\na, b = rnn(x, r)\nd = exp(a)\nout d\n", "rnn 3x1x2 +exp *1; " },
	/* x * sigmoid(x), and a hard swish in parts: all readers of the convolution meet in the product */
	{ "dag\nin x: f32[1,8,6,6]\nconst w: f32[8,8,1,1]\na = conv(x, w)\ns = sigmoid(a)\nm = mul(a, s)\nb = conv(m, w)\n"
	  "t = add(b, x)\nu = clip(t) lo=0 hi=6\nv = mul(u, b)\nr = neg(u)\nz = sub(v, r)\ny = relu(z)\nout y\n",
		"conv1x1 8>8 6 +sigmoid+mul *1; conv1x1 8>8 6 +add+clip+mul+neg+sub+relu *1; " },
	/* They do not: a convolution reads it, too; one of them is an output; one is narrower */
	{ "dag\nin x: f32[1,8,6,6]\nconst w: f32[8,8,1,1]\na = conv(x, w)\ns = sigmoid(a)\nm = mul(a, s)\nb = conv(a, w)\n"
	  "c = add(b, m)\nout c\n",
		"conv1x1 8>8 6 *1; sigmoid 1x8x6x6 +mul *1; conv1x1 8>8 6 +add *1; " },
	{ "dag\nin x: f32[1,8,6,6]\nconst w: f32[8,8,1,1]\na = conv(x, w)\ns = sigmoid(a)\nm = mul(a, s)\nout s, m\n",
		"conv1x1 8>8 6 *1; sigmoid 1x8x6x6 *1; mul 1x8x6x6 *1; " },
	{ "dag\nin x: f32[1,8,6,6]\nconst w: f32[8,8,1,1]\na = conv(x, w)\ns = reduce_max(a) axes=[1]\nm = sub(a, s)\nn = "
	  "exp(m)\n"
	  "o = tanh(m)\np = div(n, o)\nout p\n",
		"conv1x1 8>8 6 *1; reduce_max 1x8x6x6 +sub+exp+tanh+div *1; " },
	/* A layer norm behind a residual sum, which joins its product; a scale and a mask before a softmax */
	{ "dag\nin x: f32[5,8]\nconst w: f32[8,8]\nconst e: f32[]\nconst g: f32[8]\na = dense(x, w)\nb = add(a, x)\n"
	  "m = reduce_mean(b) axes=[1]\nd = sub(b, m)\nq = mul(d, d)\nv = reduce_mean(q) axes=[1]\ns = add(v, e)\n"
	  "r = sqrt(s)\nn = div(d, r)\ny = mul(n, g)\nout y\n",
		"dense 8>8 m5 +add *1; reduce_mean 5x8 +sub+mul+reduce_mean+add+sqrt+div+1 *1; " },
	{ "dag\nin x: f32[2,3,8]\nin mask: f32[1,3,8]\nconst c: f32[]\na = mul(x, c)\nb = add(a, mask)\n"
	  "y = softmax(b)\nout y\n",
		"mul+add+softmax 2x3x8 *1; " },
	/* Gates: what is computed of a row's mean joins; reductions over other axes do not, nor what is read as columns */
	{ "dag\nin x: f32[1,8,6,6]\nm = reduce_mean(x) axes=[2,3]\ns = sigmoid(m)\ny = mul(x, s)\nout y\n",
		"reduce_mean 1x8x6x6 +sigmoid+mul *1; " },
	{ "dag\nin x: f32[8,8]\na = reduce_max(x) axes=[1]\nb = sub(x, a)\n"
	  "c = reduce_sum(b) axes=[0]\nd = div(b, c)\nout d\n",
		"reduce_max 8x8 *1; sub+reduce_sum 8x8 +div *1; " },
	{ "dag\nin x: f32[8,8]\na = reduce_max(x) axes=[1] keep=0\nb = sub(x, a)\nout b\n",
		"reduce_max 8x8 *1; sub 8x8 *1; " },
	{ "dag\nin x: f32[4,8]\na = reduce_max(x) axes=[0] keep=0\nb = sub(x, a)\nc = exp(b)\nd = reduce_sum(c) axes=[0]\n"
	  "e = log(d)\nout e\n",
		"reduce_max 4x8 +sub+exp+reduce_sum+log *1; " },
	/* Two chains that meet; a narrower value that no row gives */
	{ "dag\nin x: f32[4,8]\nin z: f32[4,8]\nin k: f32[8]\na = exp(x)\nb = neg(a)\nc = tanh(z)\nd = abs(c)\n"
	  "e = add(b, d)\n"
	  "f = exp(k)\ng = mul(e, f)\nout g\n",
		"exp 8 *1; tanh 4x8 +abs+exp+neg+add+mul *1; " },
	/* What an output or a product reads, too, ends its group */
	{ "dag\nin x: f32[4,8]\nconst w: f32[8,8]\nm = reduce_mean(x) axes=[1]\nd = sub(x, m)\np = dense(d, w)\n"
	  "q = mul(d, d)\n"
	  "v = reduce_mean(q) axes=[1]\nn = div(d, v)\nout n, p, m\n",
		"reduce_mean 4x8 *1; sub 4x8 *1; dense 8>8 m4 *1; mul+reduce_mean 4x8 +div *1; " },
	/* Two that share a reader: the first one gets it. */
	{ "dag\nin x: f32[4,8]\nconst w: f32[8,8]\na = dense(x, w)\nb = dense(x, w)\nc = exp(a)\nd = exp(b)\ne = add(a, "
	  "b)\n"
	  "f = add(c, e)\ng = add(d, e)\nh = add(f, g)\nout h\n",
		"dense 8>8 m4 *1; exp 4x8 *1; dense 8>8 m4 +add+add+exp+add+add *1; " },
	/* Pieces that are one aligned run of bytes are views: blocks but for the last are full; one image; not 12 bytes. */
	{ "dag\nin x: f32[1,40,2,2]\na: f32[1,40,2,2]:NCHW16c = neg(x)\n"
	  "b: f32[1,32,2,2]:NCHW16c, c: f32[1,8,2,2]:NCHW16c = split(a) axis=1 sizes=[32,8]\n"
	  "d: f32[1,8,2,2]:NCHW16c, e: f32[1,32,2,2]:NCHW16c = split(a) axis=1 sizes=[8,32]\nout b, c, d, e\n",
		"neg 1x40x2x2 *1; (split); split 1x8x2x2 *1; " },
	{ "dag\nin x: f32[2,32,2,2]\na: f32[2,32,2,2]:NCHW16c = neg(x)\nb: f32[2,64,2,2]:NCHW16c = concat(a, a) axis=1\n"
	  "c: f32[4,32,2,2]:NCHW16c = concat(a, a) axis=0\nd: f32[2,32,4,2]:NCHW16c = concat(a, a) axis=2\n"
	  "e: f32[2,64,2,2] = concat(a, a) axis=1\nout b, c, d, e\n",
		"neg 2x32x2x2 *1; concat 2x64x2x2 *1; (concat); concat 2x32x4x2 *1; concat 2x64x2x2 *1; " },
	{ "dag\nin x: f32[1,16,2,2]\na: f32[1,16,2,2]:NCHW16c = neg(x)\nb: f32[1,16,2,2]:NCHW16c = identity(a)\n"
	  "c: f32[1,16,2,2] = identity(a)\nd: f32[1,64] = reshape(a) shape=[1,64]\ne: f32[4,16] = reshape(c) shape=[4,16]\n"
	  "f = slice(e) starts=[1,0] sizes=[2,16]\ng = slice(e) starts=[1,0] sizes=[2,8]\nh = slice(e) starts=[3,0] "
	  "steps=[-1,1] sizes=[4,16]\n"
	  "i = concat(x, x) axis=1\nout b, d, f, g, h, i\n", /* nothing but inputs: a Task can share that work */
		"neg 1x16x2x2 *1; (identity); identity 1x16x2x2 *1; reshape 1x64 *1; (reshape); (slice); slice 2x8 *1; "
		"slice 4x16 *1; concat 1x32x2x2 *1; " },
};

START_TEST(groups_are_what_they_should_be)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = parse(a, parts[_i].dag);
	Partition *p = graph_partition(a, d, &err);
	ck_assert_msg(p != NULL, "%s", err.text);
	Text t = { .arena = a };
	for (int g = 0; g < p->ngroup; g++)
		if (p->group[g].task != NULL)
			text_add(&t, "%s *%d; ", p->group[g].task->label, p->group[g].task->weight);
		else
			text_add(&t, "(%s); ", op_row(d->call.at[p->group[g].call[0]].op)->name);
	ck_assert_str_eq(text_str(&t), parts[_i].groups);
	arena_free(a);
}
END_TEST

/* ---- constants for frontends ---- */

START_TEST(const_value_sees_through_calls)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = parse(a, "dag\nin x: f32[2]\nconst s: i64[4] = {2, 3, 4, 5}\nconst k: i64[1] = {10}\n"
					  "a, b = split(s) sizes=[1,3]\nc = concat(b, k) axis=0\ne = reshape(c) shape=[2,2]\n"
					  "t = transpose(e)\nu = cast(x) to=i64\nw = add(u, k)\nout t, w\n");
	const int64_t *v = graph_const_value(d, dag_find_value(d, "t"), graph_eval_interp, &err);
	static const int64_t is[] = { 3, 5, 4, 10 };
	ck_assert_ptr_nonnull(v);
	ck_assert_int_eq(memcmp(v, is, sizeof is), 0);
	ck_assert_ptr_eq(v, graph_const_value(d, dag_find_value(d, "t"), graph_eval_interp, &err));
	ck_assert_ptr_null(graph_const_value(d, dag_find_value(d, "w"), graph_eval_interp, &err));
	ck_assert_ptr_null(graph_const_value(d, dag_find_value(d, "x"), graph_eval_interp, &err));
	ck_assert_int_eq(err.code, ERR_NONE);
	ck_assert_msg(dag_check(d, &err), "%s", err.text);
	ck_assert(graph_optimize(d, graph_eval_interp, &err));
	arena_free(a);
}
END_TEST

/* ---- speed ---- */

/* A chain of 2 000 convolutions, batch norms, sums: passes and partition must not be quadratic. */
START_TEST(large_models_take_no_time)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_new(a, "deep");
	int64_t dim[4] = { 1, 8, 4, 4 }, w[4] = { 8, 8, 1, 1 }, c = 8;
	float *data = arena_array(a, float, 64);
	for (int i = 0; i < 64; i++)
		data[i] = 1;
	int x = dag_add_input(d, "x", F32, shape_of(4, dim));
	for (int i = 0; i < 2000; i++) {
		int in[5] = { x, dag_add_const(d, "w", F32, shape_of(4, w), arena_copy(a, data, 256)) };
		in[0] = call(d, OP_conv, "conv", in, 2, NULL, 0);
		for (int k = 1; k < 5; k++)
			in[k] = dag_add_const(d, "k", F32, shape_of(1, &c), data);
		in[0] = call(d, OP_batch_norm, "bn", in, 5, NULL, 0);
		in[1] = x;
		x = call(d, OP_add, "sum", in, 2, NULL, 0);
	}
	dag_add_output(d, x);
	clock_t start = clock();
	ck_assert_msg(graph_optimize(d, graph_eval_interp, &err), "%s", err.text);
	Partition *p = graph_partition(a, d, &err);
	double s = (double)(clock() - start) / CLOCKS_PER_SEC;
	ck_assert_int_eq(d->call.n, 4000);
	ck_assert_int_eq(p->ngroup, 2000);
	ck_assert_int_eq(p->ntask, 1);
	ck_assert_int_eq(p->task[0]->weight, 2000);
	/* Some 0.1 s in a release build; quadratic would be minutes, and sanitizers cost ten times. */
	ck_assert_msg(s < 10, "%g s", s);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("graph");
	int models = getenv("DLC_TEST_ALL") != NULL ? 150 : 15;
	tcase_add_loop_test(tc, passes_do_what_they_say, 0, LEN(golden));
	tcase_add_test(tc, every_pass_has_a_golden_text);
	tcase_add_loop_test(tc, optimized_models_compute_the_same, 0, models);
	tcase_add_loop_test(tc, transposed_convolutions_compute_the_same, 0, models / 5);
	tcase_add_loop_test(tc, groups_are_what_they_should_be, 0, LEN(parts));
	tcase_add_test(tc, const_value_sees_through_calls);
	tcase_add_test(tc, large_models_take_no_time);
	return run_suite("graph", tc);
}
