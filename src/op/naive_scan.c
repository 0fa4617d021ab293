/*
 * Operators that walk along an axis in order: cumulative sums and products, the k largest. Every line is one
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

/* The k best elements of a line so far: a heap in the results, whose root is the worst of them. */
typedef struct Heap {
	Lines line;
	Buf *value, *place, *hole; /* hole: where the element that sinks may go */
	int64_t k, n;              /* elements of the heap; of the line, which is the place of what is not taken yet */
	DType t;
	bool largest;
} Heap;

typedef struct Item {
	const Expr *value, *place;
} Item;

static const Expr *named(Naive *nv, const char *stem, const Expr *e, Stmt *list)
{
	const char *name = ir_name(nv->ir, names_give(nv->names, stem));
	ir_seq(list, ir_let(nv->ir, name, e));
	return ir_var(nv->ir, name, e->type);
}

static Item heap_load(Heap *h, const Expr *at)
{
	Naive *nv = h->line.nest.nv;
	h->line.at_x[h->line.axis] = at;
	const Expr *v = ir_load(nv->ir, h->value, h->line.at_x, h->value->rank);
	return (Item){ naive_cast(nv, h->t, v), ir_load(nv->ir, h->place, h->line.at_x, h->place->rank) };
}

static Stmt *heap_store(Heap *h, const Expr *at, Item x)
{
	Naive *nv = h->line.nest.nv;
	h->line.at_x[h->line.axis] = at;
	Stmt *s = naive_store(nv, h->value, h->line.at_x, x.value);
	return ir_seq(s, naive_store(nv, h->place, h->line.at_x, x.place));
}

/* Whether a comes behind b: by value, then by place; what is not taken yet comes last. */
static const Expr *comes_behind(const Heap *h, Item a, Item b)
{
	Ir *ir = h->line.nest.nv->ir;
	const Expr *none = ir_int(ir, h->n), *not_before;
	not_before = ir_unary(ir, IR_NOT, comes_before(ir, h->largest, a.value, b.value));
	const Expr *behind = ir_and(ir, not_before, ir_lt(ir, b.place, a.place));
	behind = ir_binary(ir, IR_OR, comes_before(ir, h->largest, b.value, a.value), behind);
	behind = ir_and(ir, ir_binary(ir, IR_NE, b.place, none), behind);
	return ir_binary(ir, IR_OR, ir_eq(ir, a.place, none), behind);
}

/* x takes the place of the root of the first m items and sinks below all that come behind it. */
static Stmt *heap_sink(Heap *h, Item x, const Expr *m)
{
	Naive *nv = h->line.nest.nv;
	Ir *ir = nv->ir;
	int64_t levels = 0;
	const Expr *one = ir_int(ir, 1), *last = ir_int(ir, h->k - 1), *l;
	while ((int64_t)2 << levels <= h->k)
		levels++;
	Stmt *s = store_line(&h->line, h->hole, ir_int(ir, 0));
	const Expr *hole = ir_max(ir, ir_int(ir, 0), ir_min(ir, last, load_line(&h->line, h->hole)));
	if (levels > 0) {
		const char *loop = inner_loop(nv, "l", &l);
		const char *name = ir_name(ir, names_give(nv->names, "hole"));
		Stmt *level = ir_let(ir, name, hole);
		const Expr *at = ir_idx(ir, name), *left = ir_add(ir, ir_mul(ir, at, ir_int(ir, 2)), one);
		const Expr *right = ir_add(ir, left, one), *a = ir_min(ir, left, last), *b = ir_min(ir, right, last);
		const Expr *second = ir_and(ir, ir_lt(ir, right, m), comes_behind(h, heap_load(h, b), heap_load(h, a)));
		const Expr *child = named(nv, "child", ir_select(ir, second, b, a), level);
		const Expr *sinks = ir_and(ir, ir_lt(ir, left, m), comes_behind(h, heap_load(h, child), x));
		Stmt *rise = ir_seq(heap_store(h, at, heap_load(h, child)), store_line(&h->line, h->hole, child));
		ir_seq(level, ir_if(ir, sinks, rise, NULL));
		ir_seq(s, ir_for(ir, loop, ir_int(ir, 0), ir_int(ir, levels), LOOP_SERIAL, level));
	}
	return ir_seq(s, heap_store(h, hole, x));
}

/*
 * Each element that comes before the root takes its place. Then the heap is sorted: its root, the last in order, goes
 * behind those that are left. So a line of n elements takes n comparisons, and log k for each that is taken.
 */
void naive_top_k(Naive *nv)
{
	Ir *ir = nv->ir;
	const Value *x = naive_in(nv, 0);
	Heap h = { .k = op_int(nv->c, "k"), .t = naive_type(nv, x->type), .largest = op_int(nv->c, "largest") != 0 };
	begin_lines(nv, &h.line);
	h.n = x->shape.dim[h.line.axis];
	h.value = naive_buf(nv, nv->c->out[0]);
	h.place = naive_buf(nv, nv->c->out[1]);
	h.hole = naive_work(nv, "hole", I64, h.line.shape);
	const Expr *zero = ir_int(ir, 0), *n = ir_int(ir, h.n), *k = ir_int(ir, h.k), *r, *i, *m;
	Stmt *body = store_line(&h.line, h.hole, zero);
	if (h.k > 0) {
		const char *fill = inner_loop(nv, "r", &r), *elements = inner_loop(nv, "i", &i);
		const char *sort = inner_loop(nv, "m", &m);
		Stmt *none = heap_store(&h, r, (Item){ ir_const(ir, h.t, 0), n });
		ir_seq(body, ir_for(ir, fill, zero, k, LOOP_SERIAL, none));

		h.line.at_x[h.line.axis] = i;
		Item one = { naive_load(nv, 0, h.line.at_x, h.t), i };
		Stmt *take = ir_if(ir, comes_behind(&h, heap_load(&h, zero), one), heap_sink(&h, one, k), NULL);
		ir_seq(body, ir_for(ir, elements, zero, n, LOOP_SERIAL, take));

		const Expr *end = ir_sub(ir, ir_int(ir, h.k - 1), m);
		const char *value = ir_name(ir, names_give(nv->names, "value"));
		Item last = heap_load(&h, end);
		Stmt *swap = ir_let(ir, value, last.value);
		last = (Item){ ir_var(ir, value, h.t), named(nv, "place", last.place, swap) };
		ir_seq(swap, heap_store(&h, end, heap_load(&h, zero)));
		ir_seq(swap, heap_sink(&h, last, end));
		ir_seq(body, ir_for(ir, sort, zero, ir_int(ir, h.k - 1), LOOP_SERIAL, swap));
	}
	nest_close(&h.line.nest, NULL, NULL, body);
}
