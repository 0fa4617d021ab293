/* See address.h. */
#include "cost_model/address.h"

#include "cost_model/cost.h"
#include "ir/dtype.h"

#include <string.h>

void nest_bind(CostNest *n, const char *name, const Expr *value, int64_t number)
{
	if (n->nbind == NEST_BINDS) {
		n->full = true;
		return;
	}
	n->bind[n->nbind++] = (Bind){ name, value, number, 0 };
	n->now++;
}

const NestBuf *nest_buf(const CostNest *n, const char *name)
{
	for (int i = n->nbuf - 1; i >= 0; i--)
		if (n->buf[i].buf->name == name)
			return &n->buf[i];
	return NULL;
}

/* Names are interned: equal ones are one pointer. The innermost binding counts. */
static int find_bind(const CostNest *n, const char *name)
{
	int i = n->nbind - 1;
	while (i >= 0 && n->bind[i].name != name)
		i--;
	return i;
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
		int i = find_bind(n, e->name);
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

static bool depends(const CostNest *n, const Expr *e, const char *var, int depth)
{
	if (depth == 0)
		return true;
	if (e->op == IR_VAR) {
		if (e->name == var)
			return true;
		int i = find_bind(n, e->name);
		return i >= 0 && n->bind[i].value != NULL && depends(n, n->bind[i].value, var, depth - 1);
	}
	for (int i = 0; i < e->nargs; i++)
		if (depends(n, e->arg[i], var, depth - 1))
			return true;
	return false;
}

bool nest_depends(const CostNest *n, const Expr *e, int l)
{
	return depends(n, e, n->loop[l].var, COST_DEPTH);
}

void nest_set_loop(CostNest *n, int l, int64_t k)
{
	int i = find_bind(n, n->loop[l].var);
	if (i >= 0) {
		n->bind[i].number = n->loop[l].lo + k;
		n->now++;
	}
}

uint64_t nest_loops(const CostNest *n, const Expr *e)
{
	uint64_t loops = 0;
	for (int l = 0; l < n->nloop; l++)
		if (n->loop[l].n > 1 && nest_depends(n, e, l))
			loops |= UINT64_C(1) << l;
	return loops;
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

double nest_share(CostNest *n, const Condition *cond)
{
	uint64_t draw = 88172645463325252u, loops = cond->loops; /* the same points every time */
	double holds = 0, tried = 0, points = 1;
	for (int i = 0; i < n->nconditions; i++)
		loops |= (n->condition[i].loops & cond->loops) != 0 ? n->condition[i].loops : 0;
	for (int l = 0; l < n->nloop; l++)
		points *= (loops >> l & 1) != 0 ? (double)n->loop[l].n : 1;
	bool all = points <= COST_POINTS;
	for (int s = 0; s < (all ? (int)points : COST_SAMPLES); s++) {
		int64_t v, rest = s;
		for (int l = 0; l < n->nloop; l++) {
			if ((loops >> l & 1) == 0)
				continue;
			nest_set_loop(n, l, all ? rest % n->loop[l].n : at_random(&draw, n->loop[l].n));
			rest /= n->loop[l].n;
		}
		if (conditions_hold(n, cond->loops) && number_of(n, cond->cond, &v)) {
			tried++;
			holds += v != 0;
		}
	}
	for (int l = 0; l < n->nloop; l++)
		if ((loops >> l & 1) != 0)
			nest_set_loop(n, l, 0);
	return tried == 0 ? 1 : holds > 0 || all ? holds / tried : COST_RARE / tried;
}

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
	n->nbind = before;
	*out = at;
	return true;
no:
	n->nbind = before;
	return false;
}

bool nest_strides(CostNest *n, const Access *a, const Buf *b, int64_t stride[NEST_LOOPS])
{
	int64_t base, next;
	if (a->n != b->rank || !nest_address(n, a, b, &base))
		return false;
	for (int l = 0; l < n->nloop; l++) {
		stride[l] = 0;
		if (n->loop[l].n < 2)
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

/* Whether e loads what depends on a variable. */
static bool loads_along(const CostNest *n, const Expr *e, const char *var, int depth)
{
	if (depth == 0 || e->op == IR_LOAD)
		return depends(n, e, var, depth);
	if (e->op == IR_VAR) {
		int i = find_bind(n, e->name);
		return i >= 0 && n->bind[i].value != NULL && loads_along(n, n->bind[i].value, var, depth - 1);
	}
	for (int i = 0; i < e->nargs; i++)
		if (loads_along(n, e->arg[i], var, depth - 1))
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
		if (loads_along(n, a->idx[k], n->loop[l].var, COST_DEPTH))
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
