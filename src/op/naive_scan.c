/*
 * Operators that walk along an axis in order: cumulative sums and products, the largest k. Every line is one
 * instance of a block that holds the loops along the line, since each step reads what the one before it wrote.
 * Lines are independent, so their loops may be scheduled. What a step hands on lies in work buffers of one element
 * a line.
 */
#include "op/naive.h"

#include <string.h>

/* The lines of x along an axis: a spatial loop for each other dimension. */
typedef struct Lines {
	Nest nest;
	Shape shape; /* of what has one element a line */
	int axis;
	const Expr *at_x[DAG_MAX_RANK]; /* the axis is left to the caller */
	const Expr *at[DAG_MAX_RANK];   /* of a line */
} Lines;

static void begin_lines(Naive *nv, Lines *l)
{
	const Shape *s = &naive_in(nv, 0)->shape;
	*l = (Lines){ .nest = { .nv = nv }, .axis = (int)op_int(nv->c, "axis") };
	for (int k = 0; k < s->rank; k++)
		if (k != l->axis) {
			l->at[l->shape.rank] = l->at_x[k] =
				nest_axis(&l->nest, axis_name(s->rank, k), ITER_SPATIAL, s->dim[k]);
			l->shape.dim[l->shape.rank++] = s->dim[k];
		}
}

static const Expr *load_line(const Lines *l, const Buf *b)
{
	return ir_load(l->nest.nv->ir, b, l->at, b->rank);
}

static Stmt *store_line(const Lines *l, Buf *b, const Expr *value)
{
	return ir_store(l->nest.nv->ir, b, l->at, b->rank, value);
}

/* A serial loop inside of a block; *var is its variable. */
static const char *inner_loop(Naive *nv, const char *stem, const Expr **var)
{
	const char *name = ir_name(nv->ir, names_give(nv->names, stem));
	*var = ir_idx(nv->ir, name);
	return name;
}

void naive_scan(Naive *nv)
{
	Ir *ir = nv->ir;
	const Value *x = naive_in(nv, 0);
	DType t = naive_acc(nv, x->type);
	Node combine = strcmp(op_text(nv->c, "kind"), "prod") == 0 ? IR_MUL : IR_ADD;
	Lines l;
	begin_lines(nv, &l);
	int64_t n = x->shape.dim[l.axis];
	Buf *out = naive_buf(nv, nv->c->out[0]), *acc = naive_work(nv, "acc", t, l.shape);
	const Expr *k;
	const char *loop = inner_loop(nv, "k", &k);
	l.at_x[l.axis] = op_int(nv->c, "reverse") != 0 ? ir_sub(ir, ir_int(ir, n - 1), k) : k;
	Stmt *add = store_line(&l, acc, ir_binary(ir, combine, load_line(&l, acc), naive_load(nv, 0, l.at_x, t)));
	Stmt *put = naive_store(nv, out, l.at_x, load_line(&l, acc));
	Stmt *step = op_int(nv->c, "exclusive") != 0 ? ir_seq(put, add) : ir_seq(add, put);
	Stmt *start = store_line(&l, acc, ir_const(ir, t, combine == IR_MUL ? 1 : 0));
	nest_close(
		&l.nest, NULL, NULL, ir_seq(start, ir_for(ir, loop, ir_int(ir, 0), ir_int(ir, n), LOOP_SERIAL, step)));
}

/* Whether a comes before b: a NaN counts as the largest of all. */
static const Expr *comes_before(Ir *ir, bool largest, const Expr *a, const Expr *b)
{
	const Expr *more = largest ? ir_lt(ir, b, a) : ir_lt(ir, a, b);
	if (!dtype_is_float(a->type))
		return more;
	const Expr *top = largest ? a : b, *other = largest ? b : a;
	const Expr *not_other = ir_unary(ir, IR_NOT, ir_unary(ir, IR_ISNAN, other));
	return ir_binary(ir, IR_OR, more, ir_and(ir, ir_unary(ir, IR_ISNAN, top), not_other));
}

/*
 * Round r takes the first of the elements that come behind the one taken before it. The order is that of values,
 * and of places where values are equal; elements are visited by place, so only a strictly better one replaces the
 * best. A place of n means that none is taken yet.
 */
void naive_top_k(Naive *nv)
{
	Ir *ir = nv->ir;
	const Value *x = naive_in(nv, 0);
	DType t = naive_type(nv, x->type);
	bool largest = op_int(nv->c, "largest") != 0;
	Lines l;
	begin_lines(nv, &l);
	const Expr *n = ir_int(ir, x->shape.dim[l.axis]), *zero = ir_int(ir, 0), *r, *i;
	Buf *best = naive_work(nv, "best", t, l.shape), *place = naive_work(nv, "place", I64, l.shape);
	Buf *last = naive_work(nv, "last", t, l.shape), *last_place = naive_work(nv, "last_place", I64, l.shape);
	const char *rounds = inner_loop(nv, "r", &r), *elements = inner_loop(nv, "i", &i);

	l.at_x[l.axis] = i;
	const Expr *v = naive_load(nv, 0, l.at_x, t), *before = load_line(&l, last), *have = load_line(&l, place);
	const Expr *behind = ir_unary(ir, IR_NOT, comes_before(ir, largest, v, before));
	behind = ir_and(ir, behind,
		ir_binary(ir, IR_OR, comes_before(ir, largest, before, v), ir_lt(ir, load_line(&l, last_place), i)));
	behind = ir_binary(ir, IR_OR, ir_lt(ir, load_line(&l, last_place), zero), behind);
	const Expr *better = ir_binary(ir, IR_OR, ir_eq(ir, have, n), comes_before(ir, largest, v, load_line(&l, best)));
	const char *name = ir_name(ir, names_give(nv->names, "take"));
	const Expr *take = ir_var(ir, name, BOOL);
	Stmt *look = ir_let(ir, name, ir_and(ir, behind, better));
	ir_seq(look, store_line(&l, best, ir_select(ir, take, v, load_line(&l, best))));
	ir_seq(look, store_line(&l, place, ir_select(ir, take, i, have)));

	Stmt *round = store_line(&l, best, ir_const(ir, t, 0));
	ir_seq(round, store_line(&l, place, n));
	ir_seq(round, ir_for(ir, elements, zero, n, LOOP_SERIAL, look));
	l.at_x[l.axis] = r;
	ir_seq(round, naive_store(nv, naive_buf(nv, nv->c->out[0]), l.at_x, load_line(&l, best)));
	ir_seq(round, naive_store(nv, naive_buf(nv, nv->c->out[1]), l.at_x, load_line(&l, place)));
	ir_seq(round, store_line(&l, last, load_line(&l, best)));
	ir_seq(round, store_line(&l, last_place, load_line(&l, place)));

	Stmt *body = store_line(&l, last, ir_const(ir, t, 0));
	ir_seq(body, store_line(&l, last_place, ir_int(ir, -1)));
	ir_seq(body, ir_for(ir, rounds, zero, ir_int(ir, op_int(nv->c, "k")), LOOP_SERIAL, round));
	nest_close(&l.nest, NULL, NULL, body);
}
