/* See arg.h.  Index maps become short straight programs once: they are evaluated for every element of a tensor. */
#include "ir/arg.h"

#include "ir/build.h"

#include <string.h>

const IrArg *ir_find_arg(const IrArg *arg, int n, const char *name)
{
	for (int k = 0; k < n; k++)
		if (strcmp(arg[k].name, name) == 0)
			return &arg[k];
	return NULL;
}

/* One node on integers that are known; false if it is not an integer node, or divides by zero. */
static bool apply(Node op, DType t, const int64_t *v, int n, int64_t *out)
{
	if (op == IR_SELECT) {
		*out = v[0] ? v[1] : v[2];
		return true;
	}
	return !dtype_is_float(t) && n <= 2 && ir_fold_int(op, t, v[0], v[n - 1], out);
}

static bool is_plain(const Expr *e)
{
	return e->nargs >= 1 && e->nargs <= 3 && e->type.lanes == 1 && !dtype_is_float(e->type) &&
	       e->op != IR_LOAD && e->op != IR_LANE && e->op != IR_BITCAST && e->depth < 256;
}

/* The value of an integer expression of constants and given symbols; false if it has none or divides by zero. */
bool ir_eval_int(const Expr *e, const IrArg *arg, int n, int64_t *v)
{
	int64_t of[3] = { 0 };
	if (e->op == IR_INT) {
		*v = e->i;
		return true;
	}
	if (e->op == IR_VAR) {
		const IrArg *known = ir_find_arg(arg, n, e->name);
		*v = known != NULL ? known->value : 0;
		return known != NULL;
	}
	if (!is_plain(e))
		return false;
	for (int k = 0; k < e->nargs; k++)
		if (!ir_eval_int(e->arg[k], arg, n, &of[k]))
			return false;
	if (e->op == IR_CAST) {
		*v = dtype_wrap(e->type, of[0]);
		return !dtype_is_float(e->arg[0]->type);
	}
	return apply(e->op, e->arg[0]->type, of, e->nargs, v);
}

bool ir_count_elements(const int64_t *extent, int n, int64_t *count)
{
	*count = 1;
	for (int k = 0; k < n; k++)
		if (extent[k] < 0 || __builtin_mul_overflow(*count, extent[k], count))
			return false;
	return *count < (int64_t)1 << 46;
}

bool ir_eval_extents(const Expr *const *e, int n, const IrArg *arg, int narg, int64_t *extent, int64_t *count)
{
	if (n > IR_MAX_RANK)
		return false;
	for (int k = 0; k < n; k++)
		if (!ir_eval_int(e[k], arg, narg, &extent[k]))
			return false;
	return ir_count_elements(extent, n, count);
}

typedef struct Mapper {
	MapProgram *code;
	const Buf *buf;
	const IrArg *arg;
	int n;
	const Expr *done[IR_MAP_OPS]; /* what each instruction computes */
} Mapper;

static int map_push(Mapper *m, const Expr *e, struct MapOp op)
{
	if (m->code->nop == IR_MAP_OPS)
		return -1;
	m->done[m->code->nop] = e;
	m->code->code[m->code->nop] = op;
	return m->code->n + m->code->nop++;
}

/* The register that holds e; -1 if it has no place in a map. */
static int map_expr(Mapper *m, const Expr *e)
{
	for (int k = 0; k < m->code->nop; k++)
		if (m->done[k] == e)
			return m->code->n + k;
	if (e->op == IR_VAR)
		for (int k = 0; k < m->buf->map.nvar; k++)
			if (strcmp(m->buf->map.var[k], e->name) == 0)
				return k;
	int64_t v;
	if (ir_eval_int(e, m->arg, m->n, &v))
		return map_push(m, e, (struct MapOp){ .op = IR_INT, .value = v });
	if (!is_plain(e) || e->op == IR_CAST)
		return -1;
	struct MapOp op = { .op = e->op, .type = e->arg[0]->type, .n = e->nargs };
	for (int k = 0; k < e->nargs; k++)
		if ((op.arg[k] = map_expr(m, e->arg[k])) < 0)
			return -1;
	return map_push(m, e, op);
}

const MapProgram *ir_map_program(Arena *a, const Buf *b, const IrArg *arg, int n, const char *fn, Err *err)
{
	Mapper m = { arena_new_of(a, MapProgram), b, arg, n, { 0 } };
	if (b->map.nvar != b->rank || b->rank > IR_MAX_RANK || b->map.n > IR_MAX_RANK) {
		fail(err, ERR_INPUT, fn, "the index map of %s does not fit its %d dimensions", b->name, b->rank);
		return NULL;
	}
	m.code->n = b->rank;
	for (int k = 0; k < b->map.n; k++) {
		m.code->at[k] = map_expr(&m, b->map.at[k]);
		if (m.code->at[k] < 0) {
			fail(err, ERR_UNSUPPORTED, fn,
				"index map of %s: only integer operators of its variables and symbols", b->name);
			return NULL;
		}
	}
	return m.code;
}

bool ir_map_index(const MapProgram *m, const int64_t *idx, int rank, int64_t *phys)
{
	int64_t reg[IR_MAX_RANK + IR_MAP_OPS];
	memcpy(reg, idx, sizeof *idx * (size_t)m->n);
	for (int k = 0; k < m->nop; k++) {
		const struct MapOp *o = &m->code[k];
		int64_t v[3] = { reg[o->arg[0]], reg[o->arg[1]], reg[o->arg[2]] };
		if (o->op == IR_INT)
			reg[m->n + k] = o->value;
		else if (!apply(o->op, o->type, v, o->n, &reg[m->n + k]))
			return false;
	}
	for (int k = 0; k < rank; k++)
		phys[k] = reg[m->at[k]];
	return true;
}

int64_t ir_buf_elements(const Buf *b, const IrArg *arg, int n)
{
	int64_t extent[IR_MAX_RANK], count;
	bool mapped = b->map.n > 0;
	const Expr *const *e = mapped ? b->map.extent : b->shape;
	return ir_eval_extents(e, mapped ? b->map.n : b->rank, arg, n, extent, &count) ? count : -1;
}

int64_t ir_buf_offset(const Buf *b, const int64_t *idx)
{
	int64_t shape[IR_MAX_RANK], extent[IR_MAX_RANK], count, phys[IR_MAX_RANK], at = 0;
	bool mapped = b->map.n > 0;
	if (!ir_eval_extents(b->shape, b->rank, NULL, 0, shape, &count))
		return -1;
	for (int k = 0; k < b->rank; k++)
		if (idx[k] < 0 || idx[k] >= shape[k])
			return -1;
	if (mapped) {
		Arena *a = arena_new();
		const MapProgram *m = ir_map_program(a, b, NULL, 0, "", NULL);
		bool ok = m != NULL && ir_eval_extents(b->map.extent, b->map.n, NULL, 0, extent, &count) &&
		          ir_map_index(m, idx, b->map.n, phys);
		arena_free(a);
		if (!ok)
			return -1;
	}
	const int64_t *place = mapped ? phys : idx, *size = mapped ? extent : shape;
	for (int k = 0; k < (mapped ? b->map.n : b->rank); k++) {
		if (place[k] < 0 || place[k] >= size[k])
			return -1;
		at = at * size[k] + place[k];
	}
	return at;
}
