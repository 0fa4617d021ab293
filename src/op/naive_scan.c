/*
 * Operators that walk along an axis in order: cumulative sums and products, the k largest, suppression. Every line is
 * one instance of a block that holds the loops along the line, since each step reads what the one before it wrote.
 * Lines are independent, so their loops may be scheduled. What a step hands on lies in work buffers of one element
 * a line.
 */
#include "op/naive.h"

#include <math.h>
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
			l->at[l->shape.rank] = l->at_x[k] = nest_axis(&l->nest, axis_name(s->rank, k), ITER_SPATIAL, s->dim[k]);
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
	nest_close(&l.nest, NULL, NULL, ir_seq(start, ir_for(ir, loop, ir_int(ir, 0), ir_int(ir, n), LOOP_SERIAL, step)));
}

/* The row of j says which i it hides; only those count that stay themselves. */
void naive_suppress(Naive *nv)
{
	Ir *ir = nv->ir;
	const Shape *x = &naive_in(nv, 0)->shape;
	int batch = x->rank - 2;
	Nest nest = { .nv = nv };
	const Expr *at_x[DAG_MAX_RANK], *at_i[DAG_MAX_RANK], *at_j[DAG_MAX_RANK], *i, *j, *zero = ir_int(ir, 0);
	for (int k = 0; k < batch; k++)
		at_x[k] = at_i[k] = at_j[k] = nest_axis(&nest, axis_name(x->rank, k), ITER_SPATIAL, x->dim[k]);
	Buf *out = naive_buf(nv, nv->c->out[0]), *keep = naive_work(nv, "keep", BOOL, naive_out(nv, 0)->shape);
	const char *outer = inner_loop(nv, "i", &i), *inner = inner_loop(nv, "j", &j);
	at_i[batch] = at_x[batch + 1] = i;
	at_j[batch] = at_x[batch] = j;
	const Expr *hidden = ir_and(ir, ir_load(ir, keep, at_j, batch + 1), naive_load(nv, 0, at_x, BOOL));
	const Expr *stays = ir_and(ir, ir_load(ir, keep, at_i, batch + 1), ir_unary(ir, IR_NOT, hidden));
	Stmt *step = ir_for(ir, inner, zero, i, LOOP_SERIAL, ir_store(ir, keep, at_i, batch + 1, stays));
	Stmt *body = ir_seq(ir_store(ir, keep, at_i, batch + 1, ir_const(ir, BOOL, 1)), step);
	ir_seq(body, naive_store(nv, out, at_i, ir_load(ir, keep, at_i, batch + 1)));
	nest_close(&nest, NULL, NULL, ir_for(ir, outer, zero, ir_int(ir, x->dim[batch]), LOOP_SERIAL, body));
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
 * The k best elements of a line so far. An element of up to 32 bits and its place are one number of 64, `packed`: the
 * greater comes first, and of equal elements the earlier. So a comparison is one, and exchanging two takes a maximum
 * and a minimum. Wider elements are a heap in the results.
 */
typedef struct Best {
	Lines line;
	bool packed;
	Buf *key, *place, *hole; /* place: NULL if packed; hole: where the element that sinks may go */
	Buf *limit;              /* of a heap of packed floats: the value of its root, or the least one; else NULL */
	int64_t k, n;            /* elements to find; of the line, which is the place of what is not taken yet */
	DType t;
	bool largest;
} Best;

/* Of packed elements that are kept in order, by a maximum and a minimum each: more sink faster through a heap. */
enum { TOP_IN_ORDER = 16 };

/* Lines that are worth lanes; a single line has a heap. */
enum { TOP_LINES = 8 };

typedef struct Item {
	const Expr *key, *place;
} Item;

static const Expr *named(Naive *nv, const char *stem, const Expr *e, Stmt *list)
{
	const char *name = ir_name(nv->ir, names_give(nv->names, stem));
	ir_seq(list, ir_let(nv->ir, name, e));
	return ir_var(nv->ir, name, e->type);
}

static Item item_none(const Best *h)
{
	Ir *ir = h->line.nest.nv->ir;
	if (h->packed)
		return (Item){ ir_int(ir, INT64_MIN), NULL };
	return (Item){ ir_const(ir, h->t, 0), ir_int(ir, h->n) };
}

/*
 * Element i of the line. The bits of floats are in order if those of negative ones are inverted; both zeros are equal,
 * and the one NaN that bits show is above infinity. The low half counts places from the end, so it is never 0, and no
 * element is INT64_MIN.
 */
static Item item_of(Best *h, const Expr *i)
{
	Naive *nv = h->line.nest.nv;
	Ir *ir = nv->ir;
	h->line.at_x[h->line.axis] = i;
	if (!h->packed)
		return (Item){ naive_load(nv, 0, h->line.at_x, h->t), i };
	DType x = naive_in(nv, 0)->type;
	const Expr *key;
	if (dtype_is_float(x)) {
		const Expr *v = naive_load(nv, 0, h->line.at_x, F32), *bits = ir_bitcast(ir, I32, v);
		const Expr *sign = ir_binary(ir, IR_SHR, bits, ir_const_int(ir, I32, 31));
		key = ir_binary(ir, IR_XOR, bits, ir_binary(ir, IR_AND, sign, ir_const_int(ir, I32, INT32_MAX)));
		key = ir_select(ir, ir_eq(ir, v, ir_const(ir, F32, 0)), ir_const_int(ir, I32, 0), key);
		key = ir_cast(ir, I64, key);
	} else {
		key = naive_load(nv, 0, h->line.at_x, I64);
		if (x.kind == DT_UINT)
			key = ir_sub(ir, key, ir_int(ir, (int64_t)1 << 31));
	}
	if (!h->largest)
		key = ir_unary(ir, IR_NOT, key);
	key = ir_binary(ir, IR_SHL, key, ir_int(ir, 32));
	return (Item){ ir_binary(ir, IR_OR, key, ir_sub(ir, ir_int(ir, h->n), i)), NULL };
}

/* Place r among the best; a packed line's neighbours lie side by side, for lanes. */
static Item best_load(Best *h, const Expr *r)
{
	Naive *nv = h->line.nest.nv;
	const Expr *at[DAG_MAX_RANK] = { r };
	h->line.at_x[h->line.axis] = r;
	if (h->packed) {
		memcpy(&at[1], h->line.at, sizeof *at * (size_t)h->line.shape.rank);
		return (Item){ ir_load(nv->ir, h->key, at, h->key->rank), NULL };
	}
	const Expr *v = ir_load(nv->ir, h->key, h->line.at_x, h->key->rank);
	return (Item){ naive_cast(nv, h->t, v), ir_load(nv->ir, h->place, h->line.at_x, h->place->rank) };
}

static Stmt *best_store(Best *h, const Expr *r, Item x)
{
	Naive *nv = h->line.nest.nv;
	const Expr *at[DAG_MAX_RANK] = { r };
	h->line.at_x[h->line.axis] = r;
	if (h->packed) {
		memcpy(&at[1], h->line.at, sizeof *at * (size_t)h->line.shape.rank);
		return ir_store(nv->ir, h->key, at, h->key->rank, x.key);
	}
	Stmt *s = naive_store(nv, h->key, h->line.at_x, x.key);
	return ir_seq(s, naive_store(nv, h->place, h->line.at_x, x.place));
}

/* Whether a comes behind b: by value, then by place; what is not taken yet comes last. */
static const Expr *comes_behind(const Best *h, Item a, Item b)
{
	Ir *ir = h->line.nest.nv->ir;
	if (h->packed)
		return ir_lt(ir, a.key, b.key);
	const Expr *none = ir_int(ir, h->n), *not_before;
	not_before = ir_unary(ir, IR_NOT, comes_before(ir, h->largest, a.key, b.key));
	const Expr *behind = ir_and(ir, not_before, ir_lt(ir, b.place, a.place));
	behind = ir_binary(ir, IR_OR, comes_before(ir, h->largest, b.key, a.key), behind);
	behind = ir_and(ir, ir_binary(ir, IR_NE, b.place, none), behind);
	return ir_binary(ir, IR_OR, ir_eq(ir, a.place, none), behind);
}

/* x takes the place of the root of the first m items and sinks below all that come behind it. */
static Stmt *heap_sink(Best *h, Item x, const Expr *m)
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
		const Expr *second = ir_and(ir, ir_lt(ir, right, m), comes_behind(h, best_load(h, b), best_load(h, a)));
		const Expr *child = named(nv, "child", ir_select(ir, second, b, a), level);
		const Expr *sinks = ir_and(ir, ir_lt(ir, left, m), comes_behind(h, best_load(h, child), x));
		Stmt *rise = ir_seq(best_store(h, at, best_load(h, child)), store_line(&h->line, h->hole, child));
		ir_seq(level, ir_if(ir, sinks, rise, NULL));
		ir_seq(s, ir_for(ir, loop, ir_int(ir, 0), ir_int(ir, levels), LOOP_SERIAL, level));
	}
	return ir_seq(s, best_store(h, hole, x));
}

/* The place of a packed item, between those of the line. */
static const Expr *place_of(const Best *h, const Expr *key)
{
	Ir *ir = h->line.nest.nv->ir;
	const Expr *at = ir_sub(ir, ir_int(ir, h->n), ir_binary(ir, IR_AND, key, ir_int(ir, UINT32_MAX)));
	return ir_max(ir, ir_int(ir, 0), ir_min(ir, ir_int(ir, h->n - 1), at));
}

/* The value that comes last of all. */
static const Expr *last_value(const Best *h)
{
	return ir_const(h->line.nest.nv->ir, F32, h->largest ? -HUGE_VAL : HUGE_VAL);
}

static Stmt *set_limit(Best *h)
{
	Naive *nv = h->line.nest.nv;
	Ir *ir = nv->ir;
	const char *root = ir_name(ir, names_give(nv->names, "root")), *at = ir_name(ir, names_give(nv->names, "at"));
	const Expr *key = ir_var(ir, root, I64);
	Stmt *s = ir_let(ir, root, best_load(h, ir_int(ir, 0)).key);
	ir_seq(s, ir_let(ir, at, place_of(h, key)));
	h->line.at_x[h->line.axis] = ir_idx(ir, at);
	const Expr *v = naive_load(nv, 0, h->line.at_x, F32);
	return ir_seq(s, store_line(&h->line, h->limit,
		ir_select(ir, ir_eq(ir, key, ir_int(ir, INT64_MIN)), last_value(h), v)));
}

/*
 * Whether element i may come before the root, by one comparison of floats: most elements of a long line do not. Of
 * equal values and NaN the packed items decide.
 */
static const Expr *may_come(Best *h, const Expr *i)
{
	Naive *nv = h->line.nest.nv;
	h->line.at_x[h->line.axis] = i;
	const Expr *x = naive_load(nv, 0, h->line.at_x, F32), *limit = load_line(&h->line, h->limit);
	const Expr *behind = h->largest ? ir_lt(nv->ir, x, limit) : ir_lt(nv->ir, limit, x);
	return ir_unary(nv->ir, IR_NOT, behind);
}

/*
 * Each element that comes before the root takes its place. Then the heap is sorted: its root, the last in order, goes
 * behind those that are left. So a line of n elements takes n comparisons, and log k for each that is taken.
 */
static void by_heap(Best *h, Stmt *body)
{
	Naive *nv = h->line.nest.nv;
	Ir *ir = nv->ir;
	const Expr *zero = ir_int(ir, 0), *n = ir_int(ir, h->n), *k = ir_int(ir, h->k), *i, *m;
	const char *elements = inner_loop(nv, "i", &i), *sort = inner_loop(nv, "m", &m);
	const char *first = ir_name(ir, names_give(nv->names, "one"));
	const Expr *key_of = item_of(h, i).key;
	Stmt *each = ir_let(ir, first, key_of);
	Item one = { ir_var(ir, first, key_of->type), h->packed ? NULL : i };
	Stmt *take = heap_sink(h, one, k);
	if (h->limit != NULL)
		ir_seq(take, set_limit(h));
	ir_seq(each, ir_if(ir, comes_behind(h, best_load(h, zero), one), take, NULL));
	if (h->limit != NULL) {
		each = ir_if(ir, may_come(h, i), each, NULL);
		ir_seq(body, store_line(&h->line, h->limit, last_value(h)));
	}
	ir_seq(body, ir_for(ir, elements, zero, n, LOOP_SERIAL, each));

	const Expr *end = ir_sub(ir, ir_int(ir, h->k - 1), m);
	const char *key = ir_name(ir, names_give(nv->names, "key"));
	Item last = best_load(h, end);
	Stmt *swap = ir_let(ir, key, last.key);
	last = (Item){ ir_var(ir, key, last.key->type), h->packed ? NULL : named(nv, "place", last.place, swap) };
	ir_seq(swap, best_store(h, end, best_load(h, zero)));
	ir_seq(swap, heap_sink(h, last, end));
	ir_seq(body, ir_for(ir, sort, zero, ir_int(ir, h->k - 1), LOOP_SERIAL, swap));
}

/* The best are in order: each element passes them, the greater of the two stays and the lesser one goes on. */
static void by_insertion(Best *h, Stmt *body)
{
	Naive *nv = h->line.nest.nv;
	Ir *ir = nv->ir;
	const Expr *i;
	const char *elements = inner_loop(nv, "i", &i), *first = ir_name(ir, names_give(nv->names, "one"));
	Stmt *each = ir_let(ir, first, item_of(h, i).key);
	const Expr *moving = ir_var(ir, first, I64);
	for (int64_t r = 0; r < h->k; r++) {
		const Expr *kept = named(nv, "kept", best_load(h, ir_int(ir, r)).key, each);
		ir_seq(each, best_store(h, ir_int(ir, r), (Item){ ir_max(ir, kept, moving), NULL }));
		moving = r + 1 < h->k ? named(nv, "moving", ir_min(ir, kept, moving), each) : moving;
	}
	ir_seq(body, ir_for(ir, elements, ir_int(ir, 0), ir_int(ir, h->n), LOOP_SERIAL, each));
}

/* Writes packed items into the results: the values from where they came, as -0 has no bits of its own there. */
static Stmt *unpack(Best *h)
{
	Naive *nv = h->line.nest.nv;
	Ir *ir = nv->ir;
	const Expr *r, *at[DAG_MAX_RANK];
	const char *loop = inner_loop(nv, "r", &r), *place = ir_name(ir, names_give(nv->names, "place"));
	Stmt *s = ir_let(ir, place, place_of(h, best_load(h, r).key));
	memcpy(at, h->line.at_x, sizeof at);
	at[h->line.axis] = r;
	h->line.at_x[h->line.axis] = ir_idx(ir, place);
	ir_seq(s, naive_store(nv, naive_buf(nv, nv->c->out[0]), at, naive_load(nv, 0, h->line.at_x, h->t)));
	ir_seq(s, naive_store(nv, naive_buf(nv, nv->c->out[1]), at, ir_idx(ir, place)));
	return ir_for(ir, loop, ir_int(ir, 0), ir_int(ir, h->k), LOOP_SERIAL, s);
}

void naive_top_k(Naive *nv)
{
	Ir *ir = nv->ir;
	const Value *x = naive_in(nv, 0);
	Best h = { .k = op_int(nv->c, "k"), .t = naive_type(nv, x->type), .largest = op_int(nv->c, "largest") != 0 };
	begin_lines(nv, &h.line);
	h.n = x->shape.dim[h.line.axis];
	h.packed = x->type.bits <= 32 && h.n <= INT32_MAX;
	bool in_order = h.packed && h.k > 0 && h.k <= TOP_IN_ORDER && shape_elements(h.line.shape) >= TOP_LINES;
	Shape best = { .rank = h.line.shape.rank + 1, .dim = { h.k } };
	memcpy(&best.dim[1], h.line.shape.dim, sizeof *best.dim * (size_t)h.line.shape.rank);
	if (!in_order)
		h.hole = naive_work(nv, "hole", I64, h.line.shape);
	if (!in_order && h.packed && h.k > 0 && dtype_is_float(x->type))
		h.limit = naive_work(nv, "limit", F32, h.line.shape);
	if (h.k == 0) {
		nest_close(&h.line.nest, NULL, NULL, store_line(&h.line, h.hole, ir_int(ir, 0)));
		return;
	}
	h.key = h.packed ? naive_work(nv, "best", I64, best) : naive_buf(nv, nv->c->out[0]);
	h.place = h.packed ? NULL : naive_buf(nv, nv->c->out[1]);
	const Expr *r;
	const char *fill = inner_loop(nv, "r", &r);
	Stmt *body = ir_for(ir, fill, ir_int(ir, 0), ir_int(ir, h.k), LOOP_SERIAL, best_store(&h, r, item_none(&h)));
	if (in_order)
		by_insertion(&h, body);
	else
		by_heap(&h, body);
	if (h.packed)
		ir_seq(body, unpack(&h));
	nest_close(&h.line.nest, NULL, NULL, body);
}
