/*
 * Finds attention that is written as calls: a product of queries and keys, a softmax of what scales and masks make of
 * it, a product with values. One call takes their place. Exporters write the same in many ways: the scale is at the
 * queries, the keys, both or the scores; keys are transposed, maybe behind a reshape; a mask is added or chosen with
 * `where`, or two masks are added; shared keys are repeated; some dimensions are joined for the products.
 *
 * The walk goes from the last product backwards. What lies between the softmax and the first product is a chain of the
 * rows of links[]. A constant mask that hides later keys becomes `causal`, so that its work can be left out. Left out:
 * masks before the scale, and scores that something else reads too.
 */
#include "graph/edit.h"
#include "op/element.h"

#include <math.h>
#include <string.h>

enum { LONGEST_CHAIN = 12, MASKS = 2 };

typedef struct Found {
	Edit *e;
	const OpCall *scores, *values; /* the products */
	double scale, cap;
	int mask[MASKS], outer[MASKS]; /* old values: what is added, and the scores as it meets them */
	int nmask;
	int factor, factored; /* old values: a factor for each head, and the scores that it gives; DAG_NONE */
	int choice;      /* or the call `where` that masks; DAG_NONE */
	bool zeros;      /* NaN became 0 */
	int64_t batch, heads, group; /* heads of queries; group: those that share keys */
	int64_t queries, keys;
} Found;

static const Value *old_value(const Found *f, int v)
{
	return &f->e->from->value.at[v];
}

/* The call of the old Dag that writes v; NULL: none does. */
static const OpCall *writer(const Found *f, int v)
{
	const Value *x = old_value(f, v);
	return x->kind == VALUE_CALL ? &f->e->from->call.at[x->call] : NULL;
}

static bool is_known(const Value *v)
{
	return v->kind == VALUE_CONST && v->data != NULL;
}

/* The number that a constant of one element is. */
static bool is_number(const Found *f, int v, double *out)
{
	const Value *x = old_value(f, v);
	if (!is_known(x) || shape_elements(x->shape) != 1 || !dtype_is_float(x->type))
		return false;
	*out = element_get(x->type, x->data, 0);
	return isfinite(*out);
}

/* x times a number: the operand x, DAG_NONE: c is no such call. */
static int scaled(const Found *f, const OpCall *c, double *by)
{
	const Value *y = old_value(f, c->out[0]);
	int x = DAG_NONE;
	if (c->op == OP_mul && is_number(f, c->in[1], by))
		x = c->in[0];
	else if (c->op == OP_mul && is_number(f, c->in[0], by))
		x = c->in[1];
	else if (c->op == OP_div && is_number(f, c->in[1], by) && *by != 0) {
		x = c->in[0];
		*by = 1 / *by;
	}
	return x != DAG_NONE && shape_eq(old_value(f, x)->shape, y->shape) ? x : DAG_NONE;
}

static bool same_matrix(Shape a, Shape b)
{
	return a.rank >= 2 && b.rank >= 2 && a.dim[a.rank - 1] == b.dim[b.rank - 1] &&
		a.dim[a.rank - 2] == b.dim[b.rank - 2];
}

/* ---- between the softmax and the first product */

/* Of two operands, a mask or a factor is the one that no chain of such calls leads to. */
static bool leads_to_product(const Found *f, int v, int depth)
{
	const OpCall *c = writer(f, v);
	if (c == NULL || depth == 0)
		return false;
	if (c->op == OP_matmul)
		return true;
	bool elementwise = op_row(c->op)->class == OP_ELEMENTWISE || c->op == OP_reshape;
	for (int k = 0; elementwise && k < c->nin; k++)
		if (c->in[k] != DAG_NONE && leads_to_product(f, c->in[k], depth - 1))
			return true;
	return false;
}

/* A factor that is the same for all queries and keys of a head, which may as well stand at its queries. */
static int link_factor(Found *f, const OpCall *c)
{
	int at = leads_to_product(f, c->in[0], LONGEST_CHAIN) ? 0 : 1, x = c->in[at];
	Shape s = old_value(f, c->in[1 - at])->shape, y = old_value(f, c->out[0])->shape;
	if (c->op != OP_mul || f->factor != DAG_NONE || s.rank < 2 || s.dim[s.rank - 1] != 1 || s.dim[s.rank - 2] != 1 ||
		!shape_eq(old_value(f, x)->shape, y))
		return DAG_NONE;
	f->factor = c->in[1 - at];
	f->factored = c->out[0];
	return x;
}

static int link_scale(Found *f, const OpCall *c)
{
	double by;
	int x = scaled(f, c, &by);
	if (x == DAG_NONE)
		return link_factor(f, c);
	f->scale *= by;
	return x;
}

/* cap tanh(x / cap): the product behind tanh is seen first. */
static int link_tanh(Found *f, const OpCall *c)
{
	if (f->cap != 0 || !(f->scale > 0) || f->factor != DAG_NONE)
		return DAG_NONE;
	f->cap = f->scale;
	return c->in[0];
}

/* Next to the softmax: a scale or a cap behind a mask would change it. */
static bool takes_mask(const Found *f)
{
	return f->choice == DAG_NONE && f->scale == 1 && f->cap == 0 && f->factor == DAG_NONE;
}

static int link_mask(Found *f, const OpCall *c)
{
	int at = leads_to_product(f, c->in[0], LONGEST_CHAIN) ? 0 : 1, x = c->in[at];
	if (!takes_mask(f) || f->nmask == MASKS || !shape_eq(old_value(f, x)->shape, old_value(f, c->out[0])->shape))
		return DAG_NONE;
	f->mask[f->nmask] = c->in[1 - at];
	f->outer[f->nmask++] = c->out[0];
	return x;
}

/* where(cond, x, low) or where(cond, low, x) with a number so low that exp gives 0. */
static int link_choice(Found *f, const OpCall *c)
{
	int at = leads_to_product(f, c->in[1], LONGEST_CHAIN) ? 1 : 2, x = c->in[at];
	const Value *low = old_value(f, c->in[3 - at]);
	if (!takes_mask(f) || f->nmask > 0 || !shape_eq(old_value(f, x)->shape, old_value(f, c->out[0])->shape) ||
		!is_known(low) || shape_elements(low->shape) != 1 || element_get(low->type, low->data, 0) > GRAPH_MASKED)
		return DAG_NONE;
	f->choice = (int)(c - f->e->from->call.at);
	f->outer[0] = c->out[0];
	return x;
}

static int link_reshape(Found *f, const OpCall *c)
{
	return same_matrix(old_value(f, c->in[0])->shape, old_value(f, c->out[0])->shape) ? c->in[0] : DAG_NONE;
}

/* What may stand between: takes note of the call, and returns the operand that goes on; DAG_NONE: no attention. */
static const struct {
	int op;
	int (*take)(Found *f, const OpCall *c);
} links[] = {
	{ OP_mul, link_scale },
	{ OP_div, link_scale },
	{ OP_tanh, link_tanh },
	{ OP_add, link_mask },
	{ OP_where, link_choice },
	{ OP_reshape, link_reshape },
	{ OP_identity, link_reshape },
};

/* From what the softmax reads to the first product. */
static bool walk_chain(Found *f, int v)
{
	double behind = 1; /* the scale behind tanh, which is the cap */
	for (int k = 0; k < LONGEST_CHAIN; k++) {
		const OpCall *c = writer(f, v);
		int next = DAG_NONE;
		if (c == NULL || f->e->uses[v] != 1)
			return false;
		if (c->op == OP_matmul) {
			f->scores = c;
			f->scale = f->cap > 0 ? f->scale * behind : f->scale;
			return true;
		}
		for (size_t i = 0; i < sizeof links / sizeof *links; i++)
			if (links[i].op == c->op)
				next = links[i].take(f, c);
		if (next == DAG_NONE)
			return false;
		if (c->op == OP_tanh) { /* from here the scale is that of tanh's operand */
			behind = f->cap;
			f->scale = 1;
		}
		v = next;
	}
	return false;
}

/* ---- from the last product to the softmax */

/* where(is_nan(p), 0, p) is p in all rows but those of which all is masked. */
static int through_zeros(Found *f, int v)
{
	const OpCall *c = writer(f, v), *test = c != NULL && c->op == OP_where ? writer(f, c->in[0]) : NULL;
	double number;
	if (test == NULL || test->op != OP_is_nan || test->in[0] != c->in[2] || !is_number(f, c->in[1], &number) ||
		number != 0 || f->e->uses[c->in[0]] != 1 || f->e->uses[c->in[2]] != 2 || f->e->uses[v] != 1)
		return v;
	f->zeros = true;
	return c->in[2];
}

/* The softmax along rows that gives operand v of the last product. */
static const OpCall *find_softmax(Found *f, int v)
{
	for (int k = 0; k < LONGEST_CHAIN; k++) {
		const OpCall *c = writer(f, v);
		if (c == NULL || !(f->e->uses[v] == 1 || f->zeros))
			return NULL;
		if (c->op == OP_softmax) {
			int64_t axis = op_int(c, "axis");
			return axis == -1 || axis == old_value(f, v)->shape.rank - 1 ? c : NULL;
		}
		int next = c->op == OP_where ? through_zeros(f, v) : c->op == OP_reshape ? link_reshape(f, c) : DAG_NONE;
		if (next == v || next == DAG_NONE)
			return NULL;
		v = next;
	}
	return NULL;
}

/* ---- dimensions */

static int64_t product_of(const int64_t *dim, int n)
{
	int64_t p = 1;
	for (int k = 0; k < n; k++)
		p *= dim[k];
	return p;
}

/*
 * Batches and heads: the last dimension before the rows is the heads. Where keys have a 1 there and queries more, heads
 * of the dimension before share them.
 */
static bool read_heads(Found *f)
{
	const OpCall *c = f->scores;
	const Shape *q = &old_value(f, c->in[0])->shape, *k = &old_value(f, c->in[1])->shape;
	const Shape *y = &old_value(f, c->out[0])->shape;
	if (q->rank != k->rank || q->rank < 2 || y->rank != q->rank)
		return false;
	int n = q->rank - 2, heads = n > 0 ? n - 1 : 0;
	bool shared = n >= 2 && k->dim[n - 1] == 1 && q->dim[n - 1] > 1;
	for (int i = 0; i < n - shared; i++)
		if (q->dim[i] != k->dim[i])
			return false;
	f->group = shared ? q->dim[n - 1] : 1;
	heads -= shared;
	f->batch = product_of(q->dim, heads);
	f->heads = product_of(&q->dim[heads], n - heads);
	f->queries = y->dim[n];
	f->keys = y->dim[n + 1];
	bool fits = f->queries >= GRAPH_ATTENTION_QUERIES || f->queries <= GRAPH_ATTENTION_FEW;
	return fits && f->queries > 0 && f->keys > 0 && f->batch > 0 && f->heads > 0;
}

/* Dimensions [0, n) of a mask beside those of the scores as one: all, or 1; 0: some of both. */
static int64_t joined(const int64_t *mask, const int64_t *all, int n)
{
	bool whole = true, one = true;
	for (int k = 0; k < n; k++) {
		whole = whole && mask[k] == all[k];
		one = one && mask[k] == 1;
	}
	return one ? 1 : whole ? product_of(all, n) : 0;
}

/* The shape of a mask as batch, heads, queries and keys; `outer` are the scores as it meets them. */
static bool mask_shape(const Found *f, Shape mask, int outer, Shape *out)
{
	Shape all = old_value(f, outer)->shape;
	int64_t dim[DAG_MAX_RANK];
	int n = 0, lead = all.rank - 2;
	for (int k = 0; k < all.rank; k++)
		dim[k] = k < all.rank - mask.rank ? 1 : mask.dim[k - (all.rank - mask.rank)];
	while (n < lead && product_of(all.dim, n) < f->batch)
		n++;
	if (product_of(all.dim, n) != f->batch)
		return false;
	int64_t of_batch = joined(dim, all.dim, n), of_heads = joined(&dim[n], &all.dim[n], lead - n);
	*out = shape_of(4, (int64_t[]){ of_batch, of_heads, dim[lead], dim[lead + 1] });
	return of_batch != 0 && of_heads != 0;
}

/* ---- operands in the new Dag */

static int move(Edit *e, int op, int x, const char *attr, const int64_t *v, int n)
{
	Attr a = attr_ints(attr, v, n);
	return x == DAG_NONE ? x : edit_call(e, op, edit_at(e, x)->name, &x, 1, &a, 1);
}

static int reshape(Edit *e, int x, Shape s)
{
	return x == DAG_NONE || shape_eq(edit_at(e, x)->shape, s) ? x : move(e, OP_reshape, x, "shape", s.dim, s.rank);
}

/* Keys or values that are repeated for all heads of a group, reshape(expand(x)): x with its heads; DAG_NONE: not so. */
static int unrepeated(Found *f, int v)
{
	const OpCall *c = writer(f, v), *wide = c != NULL && c->op == OP_reshape ? writer(f, c->in[0]) : NULL;
	if (wide == NULL || wide->op != OP_expand)
		return DAG_NONE;
	Shape y = old_value(f, v)->shape, s = old_value(f, c->in[0])->shape, x = old_value(f, wide->in[0])->shape;
	if (y.rank != 4 || s.rank != 5 || x.rank != 5 || x.dim[2] != 1 || s.dim[0] != y.dim[0] || s.dim[0] != x.dim[0] ||
		s.dim[1] * s.dim[2] != y.dim[1] || s.dim[1] != x.dim[1] || !same_matrix(s, x) || !same_matrix(s, y))
		return DAG_NONE;
	f->group = s.dim[2];
	Shape alone = shape_of(4, (int64_t[]){ x.dim[0], x.dim[1], x.dim[3], x.dim[4] });
	return reshape(f->e, edit_value(f->e, wide->in[0]), alone);
}

static int turned(Edit *e, int x)
{
	int64_t perm[DAG_MAX_RANK];
	if (x == DAG_NONE)
		return x;
	int n = edit_at(e, x)->shape.rank;
	for (int k = 0; k < n; k++)
		perm[k] = k;
	perm[n - 1] = n - 2;
	perm[n - 2] = n - 1;
	return move(e, OP_transpose, x, "perm", perm, n);
}

/* Whether a transpose exchanges the last two dimensions and nothing else. */
static bool turns(const OpCall *c)
{
	int n;
	const int64_t *perm = op_ints(c, "perm", &n);
	bool only = perm != NULL && n >= 2 && perm[n - 1] == n - 2 && perm[n - 2] == n - 1;
	for (int k = 0; only && k < n - 2; k++)
		only = perm[k] == k;
	return only;
}

/*
 * The matrices of old value v in the new Dag, transposed if `turn`; what lies before the last two dimensions may be
 * joined otherwise. A scale goes to *scale, if that is not NULL. Of transposes "moves" makes one.
 */
static int operand(Found *f, int v, bool turn, double *scale)
{
	Edit *e = f->e;
	const OpCall *c = writer(f, v);
	Shape s = old_value(f, v)->shape;
	double by;
	int x = c != NULL && scale != NULL ? scaled(f, c, &by) : DAG_NONE;
	if (x != DAG_NONE) {
		*scale *= by;
		return operand(f, x, turn, scale);
	}
	x = c != NULL ? unrepeated(f, v) : DAG_NONE;
	if (x != DAG_NONE)
		return turn ? turned(e, x) : x;
	if (c != NULL && c->op == OP_reshape && same_matrix(old_value(f, c->in[0])->shape, s))
		return operand(f, c->in[0], turn, scale);
	if (c != NULL && c->op == OP_transpose && turns(c))
		return operand(f, c->in[0], !turn, scale);
	if (c != NULL && c->op == OP_transpose && scale != NULL && writer(f, c->in[0]) != NULL &&
		scaled(f, writer(f, c->in[0]), &by) != DAG_NONE) {
		x = edit_value(e, scaled(f, writer(f, c->in[0]), &by));
		*scale *= by;
		x = edit_call(e, OP_transpose, edit_at(e, x)->name, &x, 1, c->attr, c->nattr);
	} else {
		x = edit_value(e, v);
	}
	return turn ? turned(e, x) : x;
}

/* x as [batch, heads, rows, columns]; DAG_NONE: it does not have as many elements. */
static int as_heads(Found *f, int x, int64_t heads)
{
	if (x == DAG_NONE)
		return x;
	Shape s = edit_at(f->e, x)->shape;
	Shape want = shape_of(4, (int64_t[]){ f->batch, heads, s.dim[s.rank - 2], s.dim[s.rank - 1] });
	return shape_elements(s) == shape_elements(want) ? reshape(f->e, x, want) : DAG_NONE;
}

/* ---- masks */

/* Whether the element lets the key be seen: 1, or hides it: 0; -1: neither. */
static int sees(const Found *f, const Value *m, int64_t at)
{
	double x = element_get(m->type, m->data, at);
	if (f->choice != DAG_NONE) { /* where(cond, x, low) sees where cond is true */
		const OpCall *c = &f->e->from->call.at[f->choice];
		return (x != 0) == (is_known(old_value(f, c->in[2])) && !is_known(old_value(f, c->in[1])));
	}
	return x == 0 ? 1 : x <= GRAPH_MASKED ? 0 : -1;
}

/* A constant mask of queries and keys by which query i sees keys j <= i + past, or all. */
static bool is_causal(const Found *f, const Value *m, bool *all, int64_t *past)
{
	int rank = m->shape.rank;
	if (!is_known(m) || rank < 2 || shape_elements(m->shape) != f->queries * f->keys ||
		m->shape.dim[rank - 2] != f->queries || m->shape.dim[rank - 1] != f->keys)
		return false;
	int64_t seen = 0;
	while (seen < f->keys && sees(f, m, seen) == 1)
		seen++;
	*all = seen == f->keys;
	*past = seen - 1;
	for (int64_t i = 0; seen > 0 && i < f->queries; i++)
		for (int64_t j = 0; j < f->keys; j++)
			if (sees(f, m, i * f->keys + j) != (*all || j <= i + *past))
				return false;
	return seen > 0;
}

static int number(Edit *e, DType t, double v)
{
	void *data = arena_alloc(e->to->arena, 16);
	element_set(t, data, 0, v);
	return edit_const(e, "mask.zero", t, (Shape){ 0 }, data);
}

/* What the choice adds, where(cond, 0, low) as a value of its own. A bool where that means the same. */
static int choice_value(Found *f)
{
	Edit *e = f->e;
	const OpCall *c = &e->from->call.at[f->choice];
	int at = is_known(old_value(f, c->in[2])) && !is_known(old_value(f, c->in[1])) ? 2 : 1;
	const Value *low = old_value(f, c->in[at]);
	double value = element_get(low->type, low->data, 0);
	if (at == 2 && value == -INFINITY)
		return edit_value(e, c->in[0]);
	if (value > GRAPH_HIDDEN)
		return DAG_NONE;
	int in[3] = { edit_value(e, c->in[0]) };
	in[at] = edit_value(e, c->in[at]);
	in[3 - at] = number(e, low->type, 0);
	return edit_call(e, OP_where, "mask", in, 3, NULL, 0);
}

/* A mask in the new Dag as batch, heads, queries and keys; DAG_NONE: it has no such form. */
static int as_mask(Found *f, int mask, int outer)
{
	Shape s;
	return mask != DAG_NONE && mask_shape(f, edit_at(f->e, mask)->shape, outer, &s) ? reshape(f->e, mask, s) : DAG_NONE;
}

/* The k-th mask is added to operand 3, unless it says that attention is causal; false: it has no such form. */
static bool take_one(Found *f, int k, int *mask, bool *causal, int64_t *past)
{
	Edit *e = f->e;
	const OpCall *c = f->choice != DAG_NONE ? &e->from->call.at[f->choice] : NULL;
	bool all = false;
	int64_t seen;
	if (!*causal && is_causal(f, old_value(f, c != NULL ? c->in[0] : f->mask[k]), &all, &seen)) {
		*causal = !all;
		*past = all ? 0 : seen;
		return true;
	}
	int in[2] = { as_mask(f, c != NULL ? choice_value(f) : edit_value(e, f->mask[k]), f->outer[k]), *mask };
	*mask = in[0] == DAG_NONE || in[1] == DAG_NONE ? in[0] : edit_call(e, OP_add, "mask", in, 2, NULL, 0);
	return *mask != DAG_NONE;
}

/* Operand 3 of the call and its attributes; false: the masks have no such form. */
static bool take_mask(Found *f, int *mask, bool *causal, int64_t *past)
{
	*mask = DAG_NONE;
	for (int k = 0; k < (f->choice != DAG_NONE ? 1 : f->nmask); k++)
		if (!take_one(f, k, mask, causal, past))
			return false;
	return true;
}

/* The queries, times the factor of each head. */
static int take_factor(Found *f, int q)
{
	if (f->factor == DAG_NONE || q == DAG_NONE)
		return q;
	int in[2] = { q, as_mask(f, edit_value(f->e, f->factor), f->factored) };
	return in[1] == DAG_NONE ? DAG_NONE : edit_call(f->e, OP_mul, edit_at(f->e, q)->name, in, 2, NULL, 0);
}

static bool join_attention(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	Found f = { .e = e, .values = c, .scale = 1, .factor = DAG_NONE, .choice = DAG_NONE };
	if (c->op != OP_matmul || op_int(c, "ta") != 0 || !dtype_is_float(old_value(&f, c->out[0])->type))
		return false;
	const OpCall *softmax = find_softmax(&f, c->in[0]);
	if (softmax == NULL || !walk_chain(&f, softmax->in[0]) || !read_heads(&f))
		return false;
	Shape v = old_value(&f, c->in[1])->shape;
	if (f.group > 1 && v.rank > 2 && v.dim[v.rank - 3] != 1) /* values are shared by other heads than keys */
		return false;
	const OpCall *p = f.scores;
	double *scale = &f.scale;
	int64_t past = 0, group = f.group;
	bool causal = false;
	int in[4], mask;
	if (!take_mask(&f, &mask, &causal, &past))
		return false;
	in[0] = take_factor(&f, as_heads(&f, operand(&f, p->in[0], op_int(p, "ta") != 0, scale), f.heads));
	int keys = operand(&f, p->in[1], op_int(p, "tb") == 0, scale);
	int64_t of_keys = f.group;
	f.group = group; /* values may be repeated too */
	int values = operand(&f, c->in[1], op_int(c, "tb") != 0, NULL);
	in[1] = as_heads(&f, keys, f.heads / f.group);
	in[2] = as_heads(&f, values, f.heads / f.group);
	in[3] = mask;
	if (in[0] == DAG_NONE || in[1] == DAG_NONE || in[2] == DAG_NONE || of_keys != f.group || !isfinite(f.scale))
		return false;
	Attr attr[] = { attr_float("scale", f.scale), attr_float("cap", f.cap), attr_int("causal", causal),
		attr_int("past", past), attr_int("zeros", f.zeros ? ZEROS_NAN : ZEROS_NONE) };
	Shape y = old_value(&f, c->out[0])->shape;
	Shape own = shape_of(4, (int64_t[]){ f.batch, f.heads, f.queries, y.dim[y.rank - 1] });
	if (shape_elements(own) != shape_elements(y))
		return false;
	if (shape_eq(own, y))
		return edit_call_as(e, c, OP_attention, in, mask != DAG_NONE ? 4 : 3, attr, 5);
	int x = edit_call(e, OP_attention, e->from->value.at[c->out[0]].name, in, mask != DAG_NONE ? 4 : 3, attr, 5);
	Attr shape = attr_ints("shape", y.dim, y.rank);
	return x != DAG_NONE && edit_call_as(e, c, OP_reshape, &x, 1, &shape, 1);
}

bool pass_attention(Dag *d, EvalFn eval, Err *err)
{
	return edit_dag(d, eval, join_attention, NULL, err) && pass_fold(d, eval, err); /* sums of constant masks */
}
