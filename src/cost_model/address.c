/* See address.h. */
#include "cost_model/address.h"

#include "cost_model/columns.h"
#include "cost_model/cost.h"
#include "ir/dtype.h"

#include <string.h>

const NestBuf *nest_buf(const CostNest *n, const char *name)
{
	for (int i = n->nbuf - 1; i >= 0; i--)
		if (n->buf[i].buf->name == name)
			return &n->buf[i];
	return NULL;
}

static unsigned hash_of_name(const char *name)
{
	_Static_assert(NEST_HASHES == 1 << 6, "as many as the last shift leaves");
	return (uint32_t)((uint32_t)(uintptr_t)name * 0x9e3779b1u) >> (32 - 6);
}

/* Names are interned: equal ones are one pointer. The innermost binding counts. */
int nest_find_bind(const CostNest *n, const char *name)
{
	int i = n->newest[hash_of_name(name)];
	while (i > 0 && n->bind[i - 1].name != name)
		i = n->bind[i - 1].older;
	return i - 1;
}

void nest_unbind(CostNest *n, int nbind)
{
	while (n->nbind > nbind) {
		const Bind *x = &n->bind[--n->nbind];
		n->newest[hash_of_name(x->name)] = x->older;
	}
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static bool apply(Node op, int64_t a, int64_t b, int64_t *out)
{
	switch (op) {
	case IR_ADD: return !__builtin_add_overflow(a, b, out);
	case IR_SUB: return !__builtin_sub_overflow(a, b, out);
	case IR_MUL: return !__builtin_mul_overflow(a, b, out);
	case IR_DIV: return b != 0 && b != -1 && (*out = floor_div(a, b), true);
	case IR_MOD: return b != 0 && b != -1 && (*out = a - floor_div(a, b) * b, true);
	case IR_MIN: return *out = a < b ? a : b, true;
	case IR_MAX: return *out = a < b ? b : a, true;
	case IR_LT: return *out = a < b, true;
	case IR_LE: return *out = a <= b, true;
	case IR_EQ: return *out = a == b, true;
	case IR_NE: return *out = a != b, true;
	case IR_AND: return *out = a & b, true;
	case IR_OR: return *out = a | b, true;
	case IR_XOR: return *out = a ^ b, true;
	case IR_SHL: return b >= 0 && b < 62 && !__builtin_mul_overflow(a, INT64_C(1) << b, out);
	case IR_SHR: return b >= 0 && b < 64 && (*out = a >> b, true);
	default: return false;
	}
}

static bool eval(CostNest *n, const Expr *e, int depth, int64_t *out)
{
	int64_t a, b;
	if (depth == 0)
		return false;
	switch (e->op) {
	case IR_INT: *out = e->i; return true;
	case IR_VAR: {
		int i = nest_find_bind(n, e->name);
		if (i < 0)
			return false;
		Bind *x = &n->bind[i];
		if (x->value != NULL && x->when != n->now) {
			if (!eval(n, x->value, depth - 1, &a))
				return false;
			x->number = a;
			x->when = n->now;
		}
		*out = x->number;
		return true;
	}
	case IR_CAST: return !dtype_is_float(e->type) && eval(n, e->arg[0], depth - 1, out);
	case IR_NEG: return eval(n, e->arg[0], depth - 1, &a) && a != INT64_MIN && (*out = -a, true);
	case IR_NOT: return eval(n, e->arg[0], depth - 1, &a) && (*out = !a, true);
	case IR_SELECT: return eval(n, e->arg[0], depth - 1, &a) && eval(n, e->arg[a != 0 ? 1 : 2], depth - 1, out);
	case IR_LOAD: *out = 0; return n->data_is_zero;
	case IR_FLOAT: return false;
	default:
		return e->nargs == 2 && eval(n, e->arg[0], depth - 1, &a) && eval(n, e->arg[1], depth - 1, &b) &&
		       apply(e->op, a, b, out);
	}
}

/* False where it depends on data, or is no integer. */
static bool number_of(CostNest *n, const Expr *e, int64_t *out)
{
	return eval(n, e, COST_DEPTH, out);
}

static uint64_t loops_named(const CostNest *n, const char *var)
{
	uint64_t loops = 0;
	for (int l = 0; l < n->nloop; l++)
		loops |= (uint64_t)(n->loop[l].var == var) << l;
	return loops;
}

/* The loops whose variables e depends on. */
static uint64_t loops_of(const CostNest *n, const Expr *e, int depth)
{
	uint64_t loops = 0;
	if (depth == 0)
		return UINT64_MAX;
	if (e->op == IR_VAR) {
		int i = nest_find_bind(n, e->name);
		return i >= 0 ? n->bind[i].loops : loops_named(n, e->name);
	}
	for (int i = 0; i < e->nargs; i++)
		loops |= loops_of(n, e->arg[i], depth - 1);
	return loops;
}

void nest_bind(CostNest *n, const char *name, const Expr *value, int64_t number)
{
	if (n->nbind == NEST_BINDS) {
		n->full = true;
		return;
	}
	uint64_t loops = value != NULL ? loops_of(n, value, COST_DEPTH) : loops_named(n, name);
	int *newest = &n->newest[hash_of_name(name)];
	n->bind[n->nbind++] = (Bind){ name, value, number, 0, *newest, loops };
	*newest = n->nbind;
	n->now++;
}

bool nest_depends(const CostNest *n, const Expr *e, int l)
{
	return (loops_of(n, e, COST_DEPTH) >> l & 1) != 0;
}

void nest_set_loop(CostNest *n, int l, int64_t k)
{
	int i = nest_find_bind(n, n->loop[l].var);
	if (i >= 0) {
		n->bind[i].number = n->loop[l].lo + k;
		n->now++;
	}
}

uint64_t nest_loops(const CostNest *n, const Expr *e)
{
	uint64_t several = 0;
	for (int l = 0; l < n->nloop; l++)
		several |= (uint64_t)(n->loop[l].n > 1) << l;
	return loops_of(n, e, COST_DEPTH) & several;
}

bool nest_ends(CostNest *n, const Stmt *loop, int64_t *lo, int64_t *hi)
{
	uint64_t on = nest_loops(n, loop->loop.lo) | nest_loops(n, loop->loop.hi);
	for (int l = 0; l < n->nloop; l++)
		if ((on >> l & 1) != 0)
			nest_set_loop(n, l, n->loop[l].n / 2);
	bool known = number_of(n, loop->loop.lo, lo) && number_of(n, loop->loop.hi, hi);
	for (int l = 0; l < n->nloop; l++)
		if ((on >> l & 1) != 0)
			nest_set_loop(n, l, 0);
	return known;
}

/* Whether the conditions around that have loops in common with `loops` hold, as far as they can be evaluated. */
static bool conditions_hold(CostNest *n, uint64_t loops)
{
	int64_t v;
	for (int i = 0; i < n->nconditions; i++)
		if ((n->condition[i].loops & loops) != 0 && number_of(n, n->condition[i].cond, &v) && v == 0)
			return false;
	return true;
}

static int64_t at_random(uint64_t *draw, int64_t n)
{
	*draw ^= *draw << 13;
	*draw ^= *draw >> 7;
	*draw ^= *draw << 17;
	return (int64_t)(*draw % (uint64_t)n);
}

/* The points of the loops at which a share is taken. */
typedef struct Points {
	uint64_t loops;
	int n;
	int64_t at[NEST_LOOPS][COLUMN_POINTS]; /* iterations of these loops */
} Points;

/* At how many points the condition holds, of those at which the ones around do; false: evaluate it point by point. */
static bool count_columns(CostNest *n, const Condition *cond, Points *p, double *tried, double *holds)
{
	int64_t room[COLUMNS * COLUMN_POINTS];
	Columns c;
	Column v;
	bool around[COLUMN_POINTS];
	columns_begin(&c, n, p->n, room);
	c.loops = p->loops;
	for (int l = 0; l < n->nloop; l++) {
		int64_t *to = (p->loops >> l & 1) != 0 ? columns_room(&c) : NULL;
		c.loop[l] = to;
		for (int s = 0; to != NULL && s < p->n; s++)
			to[s] = n->loop[l].lo + p->at[l][s];
	}
	for (int s = 0; s < p->n; s++)
		around[s] = true;
	for (int i = 0; i < n->nconditions; i++) {
		if ((n->condition[i].loops & cond->loops) == 0)
			continue;
		if (!columns_of(&c, n->condition[i].cond, &v))
			return false;
		for (int s = 0; s < p->n; s++)
			around[s] = around[s] && (v.at != NULL ? v.at[s] : v.value) != 0;
	}
	if (!columns_of(&c, cond->cond, &v))
		return false;
	for (int s = 0; s < p->n; s++) {
		*tried += around[s];
		*holds += around[s] && (v.at != NULL ? v.at[s] : v.value) != 0;
	}
	return true;
}

static void count_each(CostNest *n, const Condition *cond, const Points *p, double *tried, double *holds)
{
	for (int s = 0; s < p->n; s++) {
		int64_t v;
		for (int l = 0; l < n->nloop; l++)
			if ((p->loops >> l & 1) != 0)
				nest_set_loop(n, l, p->at[l][s]);
		if (conditions_hold(n, cond->loops) && number_of(n, cond->cond, &v)) {
			*tried += 1;
			*holds += v != 0;
		}
	}
	for (int l = 0; l < n->nloop; l++)
		if ((p->loops >> l & 1) != 0)
			nest_set_loop(n, l, 0);
}

double nest_share(CostNest *n, const Condition *cond)
{
	uint64_t draw = 88172645463325252u; /* the same points every time */
	double holds = 0, tried = 0, points = 1;
	Points p;
	p.loops = cond->loops;
	for (int i = 0; i < n->nconditions; i++)
		p.loops |= (n->condition[i].loops & cond->loops) != 0 ? n->condition[i].loops : 0;
	for (int l = 0; l < n->nloop; l++)
		points *= (p.loops >> l & 1) != 0 ? (double)n->loop[l].n : 1;
	bool all = points <= COST_POINTS;
	p.n = all ? (int)points : COST_SAMPLES;
	for (int s = 0; s < p.n; s++) {
		int64_t rest = s;
		for (int l = 0; l < n->nloop; l++) {
			if ((p.loops >> l & 1) == 0)
				continue;
			p.at[l][s] = all ? rest % n->loop[l].n : at_random(&draw, n->loop[l].n);
			rest /= n->loop[l].n;
		}
	}
	if (!count_columns(n, cond, &p, &tried, &holds))
		count_each(n, cond, &p, &tried, &holds);
	return tried == 0 ? 1 : holds > 0 || all ? holds / tried : COST_RARE / tried;
}
_Static_assert((int)COST_POINTS <= (int)COLUMN_POINTS && (int)COST_SAMPLES <= (int)COLUMN_POINTS, "there is room");

/* Row-major over the physical dimensions. */
bool nest_address(CostNest *n, const Access *a, const Buf *b, int64_t *out)
{
	int64_t at = 0, extent, part;
	int before = n->nbind, dims = b->map.n != 0 ? b->map.n : b->rank;
	if (b->map.n != 0)
		for (int k = 0; k < a->n && k < b->map.nvar; k++) {
			if (!number_of(n, a->idx[k], &part))
				goto no;
			nest_bind(n, b->map.var[k], NULL, part);
		}
	for (int k = 0; k < dims; k++) {
		const Expr *index = b->map.n != 0 ? b->map.at[k] : a->idx[k];
		const Expr *end = b->map.n != 0 ? b->map.extent[k] : b->shape[k];
		if (!number_of(n, index, &part) || !number_of(n, end, &extent) || __builtin_mul_overflow(at, extent, &at) ||
			__builtin_add_overflow(at, part, &at))
			goto no;
	}
	nest_unbind(n, before);
	*out = at;
	return true;
no:
	nest_unbind(n, before);
	return false;
}

/* The loops that an address may depend on. */
static uint64_t loops_of_access(const CostNest *n, const Access *a, const Buf *b)
{
	uint64_t loops = 0;
	for (int k = 0; k < a->n; k++)
		loops |= loops_of(n, a->idx[k], COST_DEPTH);
	for (int k = 0; k < b->map.n; k++)
		loops |= loops_of(n, b->map.at[k], COST_DEPTH) | loops_of(n, b->map.extent[k], COST_DEPTH);
	for (int k = 0; k < b->rank && b->map.n == 0; k++)
		loops |= loops_of(n, b->shape[k], COST_DEPTH);
	return loops;
}

/*
 * The addresses with all loops at their first iterations, and with each of the `moving` ones at its second, in the
 * order of the loops; false: evaluate each.
 */
static bool addresses(const CostNest *n, const Access *a, const Buf *b, uint64_t moving, int64_t *out)
{
	enum { WIDE = NEST_LOOPS + 1 };
	int64_t room[COLUMNS * WIDE];
	int points = 1 + __builtin_popcountll(moving), dims = b->map.n != 0 ? b->map.n : b->rank, point = 1;
	Column part[IR_MAX_RANK], extent;
	Columns c;
	if (b->map.nvar > IR_MAX_RANK || dims > IR_MAX_RANK)
		return false;
	columns_begin(&c, n, points, room);
	c.loops = moving;
	for (int l = 0; l < n->nloop; l++) {
		int64_t *to = (moving >> l & 1) != 0 ? columns_room(&c) : NULL;
		c.loop[l] = to;
		for (int k = 0; to != NULL && k < points; k++)
			to[k] = n->loop[l].lo + (k == point);
		point += to != NULL;
	}
	for (int k = 0; k < (b->map.n != 0 ? b->map.nvar : a->n); k++)
		if (!columns_of(&c, a->idx[k], &part[k]) || (b->map.n != 0 && nest_find_bind(n, b->map.var[k]) >= 0))
			return false;
	for (int k = 0; b->map.n != 0 && k < b->map.nvar; k++) {
		c.name[k] = b->map.var[k];
		c.of_name[k] = part[k];
	}
	c.nname = b->map.n != 0 ? b->map.nvar : 0;
	for (int p = 0; p < points; p++)
		out[p] = 0;
	for (int k = 0; k < dims; k++) {
		bool wraps = false;
		if ((b->map.n != 0 && !columns_of(&c, b->map.at[k], &part[k])) ||
			!columns_of(&c, b->map.n != 0 ? b->map.extent[k] : b->shape[k], &extent) || extent.at != NULL)
			return false;
		for (int p = 0; p < points; p++)
			wraps |= __builtin_mul_overflow(out[p], extent.value, &out[p]) ||
				__builtin_add_overflow(out[p], part[k].at != NULL ? part[k].at[p] : part[k].value, &out[p]);
		if (wraps)
			return false;
	}
	return true;
}

/* Whether two loops have one name: setting one of them sets the inner one. */
static bool loops_are_named_twice(const CostNest *n)
{
	for (int l = 0; l < n->nloop; l++)
		if (loops_named(n, n->loop[l].var) != UINT64_C(1) << l)
			return true;
	return false;
}

bool nest_strides(CostNest *n, const Access *a, const Buf *b, int64_t stride[NEST_LOOPS])
{
	int64_t base, next, at[NEST_LOOPS + 1];
	uint64_t moving = 0;
	if (a->n != b->rank)
		return false;
	for (int l = 0; l < n->nloop; l++) {
		stride[l] = 0;
		moving |= (uint64_t)(n->loop[l].n > 1) << l;
	}
	moving &= loops_of_access(n, a, b);
	if (!n->data_is_zero && !loops_are_named_twice(n) && addresses(n, a, b, moving, at)) {
		for (int l = 0, k = 1; l < n->nloop; l++)
			if ((moving >> l & 1) != 0)
				stride[l] = at[k++] - at[0];
		return true;
	}
	if (!nest_address(n, a, b, &base))
		return false;
	for (int l = 0; l < n->nloop; l++) {
		if ((moving >> l & 1) == 0)
			continue;
		nest_set_loop(n, l, 1);
		bool ok = nest_address(n, a, b, &next);
		nest_set_loop(n, l, 0);
		if (!ok)
			return false;
		stride[l] = next - base;
	}
	return true;
}

/* Whether e loads what depends on the variable of loop l. */
static bool loads_along(const CostNest *n, const Expr *e, int l, int depth)
{
	if (depth == 0 || e->op == IR_LOAD)
		return (loops_of(n, e, depth) >> l & 1) != 0;
	if (e->op == IR_VAR) {
		int i = nest_find_bind(n, e->name);
		return i >= 0 && n->bind[i].value != NULL && loads_along(n, n->bind[i].value, l, depth - 1);
	}
	for (int i = 0; i < e->nargs; i++)
		if (loads_along(n, e->arg[i], l, depth - 1))
			return true;
	return false;
}

static void set_data_is_zero(CostNest *n, bool is)
{
	n->data_is_zero = is;
	n->now++;
}

bool nest_stride_in_data(CostNest *n, const Access *a, const Buf *b, int l, int64_t *stride)
{
	int64_t base, next;
	if (a->n != b->rank || n->loop[l].n < 2)
		return false;
	for (int k = 0; k < a->n; k++)
		if (loads_along(n, a->idx[k], l, COST_DEPTH))
			return false;
	set_data_is_zero(n, true);
	bool ok = nest_address(n, a, b, &base);
	nest_set_loop(n, l, 1);
	ok = ok && nest_address(n, a, b, &next);
	nest_set_loop(n, l, 0);
	set_data_is_zero(n, false);
	*stride = ok ? next - base : 0;
	return ok;
}

int64_t nest_elements(CostNest *n, const Buf *b)
{
	int64_t elements = 1, extent;
	for (int k = 0; k < (b->map.n != 0 ? b->map.n : b->rank); k++)
		if (number_of(n, b->map.n != 0 ? b->map.extent[k] : b->shape[k], &extent) && extent > 0)
			elements *= extent;
	return elements;
}
