/*
 * Integer expressions of symbols (shapes, extents), and index maps as short straight programs: what
 * turns a logical index into a physical one, at run time and in ir_buf_offset.
 */
#include "interp/code.h"

#include <string.h>

const char *interp_place(Arena *a, Origin o)
{
	if (o.stmt == NULL || o.stmt->line == 0)
		return o.fn->name;
	return arena_printf(a, "%s:%d", o.fn->name, o.stmt->line);
}

static bool find(const Binding *sym, int nsym, const char *name, int64_t *v)
{
	for (int k = 0; k < nsym; k++)
		if (strcmp(sym[k].name, name) == 0) {
			*v = sym[k].value.i;
			return true;
		}
	return false;
}

/* One node on integers that are known; false if it is not an integer node, or divides by zero. */
static bool apply(Node op, DType t, const int64_t *v, int n, int64_t *out)
{
	Val r = { 0 };
	if (op == IR_SELECT) {
		*out = v[0] ? v[1] : v[2];
		return true;
	}
	if (dtype_is_float(t) || n > 2)
		return false;
	const char *wrong = n == 1 ? num_unary(op, t, (Val){ .i = v[0] }, &r)
	                           : num_binary(op, t, (Val){ .i = v[0] }, (Val){ .i = v[1] }, &r);
	*out = r.i;
	return wrong == NULL;
}

static bool plain(const Expr *e)
{
	return e->nargs >= 1 && e->nargs <= 3 && e->type.lanes == 1 && !dtype_is_float(e->type) &&
	       e->op != IR_LOAD && e->op != IR_LANE && e->op != IR_BITCAST && e->depth < 256;
}

bool interp_eval(const Expr *e, const Binding *sym, int nsym, int64_t *v)
{
	if (e->op == IR_INT || e->op == IR_VAR) {
		*v = e->i;
		return e->op == IR_INT || find(sym, nsym, e->name, v);
	}
	if (!plain(e))
		return false;
	int64_t arg[3] = { 0 };
	for (int k = 0; k < e->nargs; k++)
		if (!interp_eval(e->arg[k], sym, nsym, &arg[k]))
			return false;
	if (e->op == IR_CAST) {
		*v = dtype_wrap(e->type, arg[0]);
		return !dtype_is_float(e->arg[0]->type);
	}
	return apply(e->op, e->arg[0]->type, arg, e->nargs, v);
}

typedef struct Mapper {
	MapCode *code;
	const Buf *buf;
	const Binding *sym;
	int nsym;
	const Expr *done[MAP_OPS]; /* what each instruction computes */
} Mapper;

static int map_push(Mapper *m, const Expr *e, struct MapOp op)
{
	if (m->code->nop == MAP_OPS)
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
	if (interp_eval(e, m->sym, m->nsym, &v))
		return map_push(m, e, (struct MapOp){ .op = IR_INT, .value = v });
	if (!plain(e) || e->op == IR_CAST)
		return -1;
	struct MapOp op = { .op = e->op, .type = e->arg[0]->type, .n = e->nargs };
	for (int k = 0; k < e->nargs; k++)
		if ((op.arg[k] = map_expr(m, e->arg[k])) < 0)
			return -1;
	return map_push(m, e, op);
}

const MapCode *interp_map(
	Arena *a, const Buf *b, const Binding *sym, int nsym, const Fn *fn, Err *err)
{
	Mapper m = { arena_new_of(a, MapCode), b, sym, nsym, { 0 } };
	if (b->map.nvar != b->rank || b->rank > RANK || b->map.n > RANK) {
		fail(err, ERR_INPUT, fn->name, "the index map of %s does not fit its %d dimensions",
			b->name, b->rank);
		return NULL;
	}
	m.code->n = b->rank;
	for (int k = 0; k < b->map.n; k++) {
		m.code->at[k] = map_expr(&m, b->map.at[k]);
		if (m.code->at[k] < 0) {
			fail(err, ERR_UNSUPPORTED, fn->name,
				"index map of %s: only integer operators of its variables and "
				"symbols",
				b->name);
			return NULL;
		}
	}
	return m.code;
}

bool interp_map_at(const MapCode *m, const int64_t *idx, int rank, int64_t *phys)
{
	int64_t reg[RANK + MAP_OPS];
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
