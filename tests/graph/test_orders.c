/*
 * Orders: what a reshape or transpose says about memory, by enumeration of all elements; layouts that write them; which
 * offers networks get; and that what is a view under any offer lies where it should.
 */
#include "graph/order.h"
#include "base/rng.h"
#include "graph/orders.h"
#include "op/layout.h"
#include "op/op.h"
#include "suite.h"

#include <string.h>

static Dag *parse(Arena *a, const char *text)
{
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", text, strlen(text), &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	return d;
}

/* Where the element of row-major index i lies. */
static int64_t place_of(const char *layout, Shape s, int64_t i)
{
	Layout l;
	int64_t at = 0, idx[DAG_MAX_RANK];
	ck_assert(layout_read(layout, s, &l));
	for (int k = s.rank - 1; k >= 0; k--) {
		idx[k] = i % s.dim[k];
		i /= s.dim[k];
	}
	for (int k = 0; k < l.n; k++) {
		int64_t v = idx[l.of[k]] / l.step[k];
		at = at * l.extent[k] + (l.mod[k] != 0 ? v % l.mod[k] : v);
	}
	return at;
}

/* The row-major index of the operand's element that element i of the result is. */
static int64_t source_of(const Dag *d, const OpCall *c, int64_t i)
{
	const Shape *x = &d->value.at[c->in[0]].shape, *y = &d->value.at[c->out[0]].shape;
	int64_t idx[DAG_MAX_RANK], at = 0;
	int n;
	if (c->op != OP_transpose)
		return i;
	const int64_t *perm = op_ints(c, "perm", &n);
	for (int k = y->rank - 1; k >= 0; k--) {
		idx[perm[k]] = i % y->dim[k];
		i /= y->dim[k];
	}
	for (int k = 0; k < x->rank; k++)
		at = at * x->dim[k] + idx[k];
	return at;
}

static void check_same_places(const Dag *d, const OpCall *c, const char *from, const char *to)
{
	Shape x = d->value.at[c->in[0]].shape, y = d->value.at[c->out[0]].shape;
	for (int64_t i = 0; i < shape_elements(y); i++)
		ck_assert_msg(place_of(to, y, i) == place_of(from, x, source_of(d, c, i)), "element %lld of %s behind %s",
			(long long)i, to != NULL ? to : "plain", from != NULL ? from : "plain");
}

static const struct {
	const char *call, *from, *to; /* the layout of x, that of y; NULL: none says it */
} moves[] = {
	{ "x: f32[1,6,32]\ny = reshape(x) shape=[1,6,4,8]", "NWC8w", "NHCW" },
	{ "x: f32[2,4,6,8]\ny = transpose(x) perm=[0,2,1,3]", "plain", "NHCW" },
	{ "x: f32[2,4,6,8]\ny = transpose(x) perm=[0,2,1,3]", "NHCW", "plain" },
	{ "x: f32[1,32,3,5]\ny = transpose(x) perm=[0,2,3,1]", "NHWC", "plain" },
	{ "x: f32[1,32,3,5]\ny = transpose(x) perm=[0,2,3,1]", "NCHW16c", "NWCH16w" },
	{ "x: f32[1,24,3,5]\ny = transpose(x) perm=[0,2,3,1]", "NCHW16c", NULL }, /* pads */
	{ "x: f32[1,24,3,5]\ny = reshape(x) shape=[1,24,15]", "NCHW8c", "NCW8c" },
	{ "x: f32[1,24,15]\ny = reshape(x) shape=[2,12,15]", "NCW8c", NULL }, /* 8 channels end in the middle of 12 */
	{ "x: f32[1,14,14,3]\ny = reshape(x) shape=[1,2,7,2,7,3]", "plain", "plain" },
	{ "x: f32[1,2,7,2,7,3]\ny = transpose(x) perm=[0,1,3,2,4,5]", "plain", "ABDCEF" },
	{ "x: f32[1,14,14,3]\ny = reshape(x) shape=[1,2,7,2,7,3]", "NWCH7c7h3w", "ABDCEF" },
	{ "x: f32[6,5]\ny = transpose(x) perm=[1,0]", "plain", "CN" },
	{ "x: f32[6,5]\ny = reshape(x) shape=[5,6]", "CN", NULL },
	{ "x: f32[1,1]\ny = reshape(x) shape=[1]", "plain", "plain" },
};

START_TEST(moves_carry_orders)
{
	Arena *a = arena_new();
	Dag *d = parse(a, arena_printf(a, "dag\nin %s\nout y\n", moves[_i].call));
	const OpCall *c = &d->call.at[0];
	Shape x = d->value.at[c->in[0]].shape, y = d->value.at[c->out[0]].shape;
	const char *from = strcmp(moves[_i].from, "plain") == 0 ? NULL : moves[_i].from, *to, *back;
	Order o, start;
	bool ok = order_of(from, x, &start);
	o = start;
	ok = ok && order_forward(d, c, &o) && order_layout(a, &o, y, &to);
	ck_assert(ok == (moves[_i].to != NULL));
	if (ok) {
		ck_assert_str_eq(to != NULL ? to : "plain", moves[_i].to);
		check_same_places(d, c, from, to);
		ck_assert(order_backward(d, c, &o) && order_eq(&o, &start) && order_layout(a, &o, x, &back));
		check_same_places(d, c, back, to);
	}
	arena_free(a);
}
END_TEST

/* ---- offers */

#define HEADS \
	"dag\nin x: f32[1,8,32]\nconst w: f32[32,32]\na = dense(x, w)\nb = reshape(a) shape=[1,8,2,16]\n" \
	"c = transpose(b) perm=[0,2,1,3]\nd = matmul(c, c) tb=1\n"

static const struct {
	const char *dag, *offers; /* of each region, a line an offer: the values that change */
} nets[] = {
	/* A product may write heads; or what reads them takes them where they are. */
	{ HEADS "e = neg(d)\nout e\n", "region\na:NWC16w b:NHCW\nc:NHCW\n" },
	/* The order passes sums of one shape and parts, not the ends of the network. */
	{ "dag\nin x: f32[1,4,6,6]\nconst w: f32[32,4,1,1]\na = conv(x, w)\nb = transpose(a) perm=[0,2,3,1]\nc = exp(b)\n"
	  "d, e = split(c) axis=3 sizes=[16,16]\nf = exp(d)\nout e, f\n",
		"region\na:NHWC\nb:NWCH c:NWCH d:NWCH\n" },
	{ "dag\nin x: f32[4,6]\na = transpose(x) perm=[1,0]\nb = exp(a)\nc = neg(b)\nout c\n", "region\na:CN b:CN\n" },
	/* Blocks that a later convolution wants reach the one before; its pixels then lie between each other. */
	{ "dag\nin x: f32[1,4,3,3]\nconst w: f32[128,4,1,1]\na = conv(x, w)\nb = reshape(a) shape=[1,2,2,2,16,3,3]\n"
	  "c = transpose(b) perm=[0,1,4,5,2,6,3]\nd = reshape(c) shape=[1,32,6,6]\ne: f32[1,32,6,6]:NCHW16c = exp(d)\n"
	  "f = neg(e)\nout f\n",
		"region\nb:ABEFCGD\nc:ABEGCDF\na:NWCH2c3w32c b:ABFCGDE c:ABDEFGC d:NCHW16c e:NCHW16c\n" },
	/* The same of one dimension: a transposed convolution of audio. */
	{ "dag\nin x: f32[1,4,9]\nconst w: f32[64,4,1]\na = conv(x, w)\nb = reshape(a) shape=[1,2,2,16,9]\n"
	  "c = transpose(b) perm=[0,1,3,4,2]\nd = reshape(c) shape=[1,32,18]\ne: f32[1,32,18]:NCW16c = exp(d)\n"
	  "f = neg(e)\nout f\n",
		"region\nb:NCHWD\nc:NCWDH\na:NCW32c b:NCWDH c:NCHWD d:NCW16c e:NCW16c\n" },
	/* Blocks are offered to what a convolution reads behind a reshape, though they would not be chosen there. */
	{ "dag\nin x: f32[1,4,3,3]\nconst w: f32[128,4,1,1]\nconst v: f32[8,32,3,3]\na = conv(x, w)\n"
	  "b = reshape(a) shape=[1,2,2,2,16,3,3]\nc = transpose(b) perm=[0,1,4,5,2,6,3]\nd = reshape(c) shape=[1,32,6,6]\n"
	  "e = conv(d, v)\nout e\n",
		"region\nb:ABEFCGD\nc:ABEGCDF\na:NWCH2c3w32c b:ABFCGDE c:ABDEFGC d:NCHW16c\n" },
	/* Nothing is offered where nothing moves, and nothing between input and output. */
	{ "dag\nin x: f32[1,4,6,6]\na = reshape(x) shape=[1,24,6]\nb = exp(a)\nout b\n", "" },
	{ "dag\nin x: f32[4,6]\na = transpose(x) perm=[1,0]\nout a\n", "" },
};

static const char *text_of(Arena *a, const Dag *d, const OrderRegion *r, int n)
{
	Text t = { .arena = a };
	for (int i = 0; i < n; i++) {
		text_add(&t, "region\n");
		for (int k = 1; k < r[i].n; k++) {
			const Offer *o = &r[i].offer[k];
			const char *gap = "";
			for (size_t v = 0; v < d->value.n; v++)
				for (int j = 0; j < o->n; j++)
					if (o->value[j] == (int)v && o->layout[j] != NULL) {
						text_add(&t, "%s%s:%s", gap, d->value.at[v].name, o->layout[j]);
						gap = " ";
					}
			text_add(&t, "\n");
		}
	}
	return text_str(&t);
}

START_TEST(transposes_get_offers)
{
	Arena *a = arena_new();
	Dag *d = parse(a, nets[_i].dag);
	OrderRegion *r;
	Target t = { .vector_bits = 512, .line_bytes = 64 };
	int n = graph_order_regions(a, d, &t, &r);
	ck_assert_str_eq(text_of(a, d, r, n), nets[_i].offers);
	arena_free(a);
}
END_TEST

/* ---- views under offers */

static void grow(Dag *d, Rng *r)
{
	Err err = { 0 };
	int x = (int)rng_below(r, d->value.n), c;
	Shape s = d->value.at[x].shape;
	Attr attr;
	int64_t perm[DAG_MAX_RANK];
	switch (rng_below(r, 3)) {
	case 0:
		for (int k = 0; k < s.rank; k++)
			perm[k] = k;
		for (int k = s.rank - 1; k > 0; k--) {
			int j = (int)rng_below(r, (uint64_t)k + 1);
			int64_t t = perm[k];
			perm[k] = perm[j];
			perm[j] = t;
		}
		attr = attr_ints("perm", perm, s.rank);
		c = dag_add_call(d, OP_transpose, NULL, &x, 1, &attr, 1, &err);
		break;
	case 1: /* two dimensions become one, or one is halved */
		if (s.rank > 1 && rng_below(r, 2) == 0) {
			int k = (int)rng_below(r, (uint64_t)s.rank - 1);
			s.dim[k] *= s.dim[k + 1];
			for (int j = k + 1; j + 1 < s.rank; j++)
				s.dim[j] = s.dim[j + 1];
			s.rank--;
		} else if (s.rank < DAG_MAX_RANK) {
			int k = (int)rng_below(r, (uint64_t)s.rank);
			for (int j = s.rank; j > k + 1; j--)
				s.dim[j] = s.dim[j - 1];
			s.dim[k + 1] = s.dim[k] % 2 == 0 ? 2 : 1;
			s.dim[k] /= s.dim[k + 1];
			s.rank++;
		}
		attr = attr_ints("shape", s.dim, s.rank);
		c = dag_add_call(d, OP_reshape, NULL, &x, 1, &attr, 1, &err);
		break;
	default: c = dag_add_call(d, OP_exp, NULL, &x, 1, NULL, 0, &err); break;
	}
	ck_assert_msg(c >= 0, "%s", err.text);
}

START_TEST(views_lie_where_they_should)
{
	Rng r = rng_seed((uint64_t)_i);
	int views = 0;
	for (int round = 0; round < 20; round++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Dag *d = dag_new(a, "m");
		dag_add_input(d, "x", F32, shape_of(3, (int64_t[]){ 4, 6, 8 }));
		for (int k = 0; k < 12; k++)
			grow(d, &r);
		dag_add_output(d, (int)d->value.n - 1);
		OrderRegion *region;
		int n = graph_order_regions(a, d, NULL, &region);
		for (int k = 0; k < n; k++)
			graph_take_offer(d, &region[k].offer[rng_below(&r, (uint64_t)region[k].n)]);
		ck_assert_msg(dag_check(d, &err), "%s", err.text);
		Partition *p = graph_partition(a, d, &err);
		ck_assert_msg(p != NULL, "%s", err.text);
		for (int g = 0; g < p->ngroup; g++) {
			const OpCall *c = &d->call.at[p->group[g].call[0]];
			if (p->group[g].task != NULL)
				continue;
			check_same_places(d, c, d->value.at[c->in[0]].layout, d->value.at[c->out[0]].layout);
			views += c->op == OP_transpose;
		}
		arena_free(a);
	}
	ck_assert_msg(views > 20, "only %d transposes are views", views);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("orders");
	tcase_add_loop_test(tc, moves_carry_orders, 0, LEN(moves));
	tcase_add_loop_test(tc, transposes_get_offers, 0, LEN(nets));
	tcase_add_loop_test(tc, views_lie_where_they_should, 0, 8);
	return run_suite("orders", tc);
}
