/*
 * Statements to interpreter code. Where the body of a parallel, vector or bound loop synchronises, its instances
 * become threads (FORK). Otherwise they become a loop in random order that only changes its identity (SPIN): other
 * instances see no difference, and it is much cheaper.
 */
#include "interp/cx.h"
#include "ir/threads/form.h"
#include "ir/walk.h"

#include <string.h>

enum { LEVEL_INNER = 6, SPIN_SLOTS = 7 };

/* What a loop axis or a barrier names, outermost first; 0 if nothing. */
static int level_of(const char *name)
{
	static const char *const level[] = { "grid", "cluster", "block", "warp", "lane" };
	for (int k = 0; name != NULL && k < 5; k++) {
		size_t n = strlen(level[k]);
		if (strncmp(name, level[k], n) == 0 && (name[n] == 0 || name[n] == '.'))
			return k + 1;
	}
	return 0;
}

/*
 * Whether instances of this code meet, wait or signal. *budget bounds the calls looked into; when
 * it is used up the answer is yes, which costs time and changes nothing.
 */
static bool synchronises(const Cx *c, const Stmt *s, int *budget)
{
	for (; s != NULL; s = s->next) {
		const Fn *f;
		Stmt **list[IR_CHILDREN];
		if (--*budget < 0)
			return true;
		switch (s->kind) {
		case ST_COMMIT:
		case ST_WAIT:
		case ST_BARRIER: return true;
		case ST_REDUCE:
			if (s->reduce.atomic)
				return true;
			break;
		case ST_CALL:
			f = cx_callee(c, s);
			if (f != NULL && synchronises(c, f->body, budget))
				return true;
			break;
		default: break;
		}
		for (int k = 0, n = ir_children(s, list); k < n; k++)
			if (synchronises(c, *list[k], budget))
				return true;
	}
	return false;
}

static bool loop(Cx *c, const Stmt *s)
{
	uint32_t lo, hi;
	size_t names = c->name.n;
	if (!cx_expr(c, s->loop.lo, 0, &lo) || !cx_expr(c, s->loop.hi, 0, &hi))
		return false;
	Op op = OP_FOR;
	int level = 0;
	if (s->loop.kind != LOOP_SERIAL && s->loop.kind != LOOP_UNROLLED && s->loop.kind != LOOP_PIPELINED) {
		level = s->loop.kind == LOOP_BOUND ? level_of(s->loop.axis) : LEVEL_INNER;
		if (level == 0)
			return cx_fail(c, ERR_INPUT, "loop %s is bound to an unknown axis, %s", s->loop.var, s->loop.axis);
		int budget = 4096;
		c->forks++;
		op = synchronises(c, s->loop.body, &budget) ? OP_FORK : OP_SPIN;
		c->prog->threads |= op == OP_FORK;
	}
	uint32_t var = cx_slots(c, op == OP_SPIN ? SPIN_SLOTS : 1), top = (uint32_t)c->ins.n;
	Ins first = { .op = (uint8_t)op, .node = (uint8_t)(op == OP_FORK ? level : 0), .d = var, .a = lo, .b = hi };
	Ins last = { .op = OP_JOIN };
	if (op != OP_FORK)
		last = (Ins){ .op = op == OP_FOR ? OP_NEXT : OP_SPIN_NEXT, .d = var, .b = hi, .c = top + 1 };
	cx_name(c, s->loop.var, var, I64);
	bool ok = cx_emit(c, first) && cx_sequence(c, s->loop.body) && cx_emit(c, last);
	if (ok)
		c->ins.at[top].c = (uint32_t)c->ins.n;
	c->name.n = names;
	return ok;
}

/* The slots [d, d + n) hold the iterators' values and have their names. */
static bool iterators(Cx *c, const Stmt *s, uint32_t d, uint32_t *lo, uint32_t *hi)
{
	int n = s->block.n;
	for (int k = 0; k < n; k++) {
		uint32_t v;
		const Iter *it = &s->block.iter[k];
		if (!cx_expr(c, it->value, 0, &v) || !cx_move(c, d + (uint32_t)k, v) ||
			!cx_expr(c, it->lo, 0, &lo[k]) || !cx_expr(c, it->hi, 0, &hi[k]))
			return false;
	}
	for (int k = 0; k < n; k++)
		cx_name(c, s->block.iter[k].name, d + (uint32_t)k, I64);
	return true;
}

static bool check_iterators(
	Cx *c, const Stmt *s, uint32_t d, const uint32_t *lo, const uint32_t *hi)
{
	uint32_t list = (uint32_t)c->pool.n, scans = 0, others = 0;
	for (int k = 0; k < s->block.n; k++)
		if (!cx_emit(c, (Ins){ .op = OP_RANGE,
					.d = d + (uint32_t)k,
					.a = lo[k],
					.b = hi[k],
					.c = (uint32_t)k }))
			return false;
	vec_push(c->arena, &c->pool, 0u);
	for (int k = 0; k < s->block.n; k++)
		if (s->block.iter[k].kind == ITER_REDUCE)
			c->pool.at[list] = 1;
	for (int k = 0; k < s->block.n; k++)
		if (s->block.iter[k].kind == ITER_SCAN) {
			scans++;
			vec_push(c->arena, &c->pool, d + (uint32_t)k);
			vec_push(c->arena, &c->pool, lo[k]);
			vec_push(c->arena, &c->pool, hi[k]);
		}
	if (scans == 0)
		return true;
	for (int k = 0; k < s->block.n; k++)
		if (s->block.iter[k].kind == ITER_SPATIAL) {
			others++;
			vec_push(c->arena, &c->pool, d + (uint32_t)k);
		}
	return cx_emit(c,
		(Ins){ .op = OP_SCAN, .d = others, .a = scans, .b = list, .c = c->prog->nscan++ });
}

/* init runs where every reduce iterator has its lo. */
static bool block_init(Cx *c, const Stmt *s, uint32_t d, const uint32_t *lo)
{
	size_t jump[RANK], n = 0;
	if (s->block.init == NULL)
		return true;
	for (int k = 0; k < s->block.n; k++) {
		if (s->block.iter[k].kind != ITER_REDUCE)
			continue;
		uint32_t first = cx_slots(c, 1);
		if (!cx_emit(
			    c, (Ins){ .op = OP_IEQ, .d = first, .a = d + (uint32_t)k, .b = lo[k] }))
			return false;
		jump[n++] = c->ins.n;
		if (!cx_emit(c, (Ins){ .op = OP_JUMPZ, .a = first }))
			return false;
	}
	if (!cx_sequence(c, s->block.init))
		return false;
	while (n > 0)
		c->ins.at[jump[--n]].c = (uint32_t)c->ins.n;
	return true;
}

static bool block(Cx *c, const Stmt *s)
{
	uint32_t lo[RANK], hi[RANK], pred;
	size_t names = c->name.n, skip = 0;
	if (s->block.n > RANK)
		return cx_fail(c, ERR_UNSUPPORTED, "block %s has %d iterators, more than %d", s->block.name, s->block.n, RANK);
	uint32_t d = cx_slots(c, (uint32_t)s->block.n);
	if (!iterators(c, s, d, lo, hi))
		return false;
	if (s->block.where != NULL) {
		if (!cx_expr(c, s->block.where, 0, &pred))
			return false;
		skip = c->ins.n;
		if (!cx_emit(c, (Ins){ .op = OP_JUMPZ, .a = pred }))
			return false;
	}
	if (!check_iterators(c, s, d, lo, hi) || !block_init(c, s, d, lo) ||
		!cx_sequence(c, s->block.body))
		return false;
	if (s->block.where != NULL)
		c->ins.at[skip].c = (uint32_t)c->ins.n;
	c->name.n = names;
	return true;
}

static bool let(Cx *c, const Stmt *s)
{
	int lanes = s->let.value->type.lanes;
	uint32_t d = cx_slots(c, (uint32_t)lanes), v;
	for (int k = 0; k < lanes; k++)
		if (!cx_expr(c, s->let.value, k, &v) || !cx_move(c, d + (uint32_t)k, v))
			return false;
	cx_name(c, s->let.var, d, s->let.value->type);
	return true;
}

static bool alloc(Cx *c, const Stmt *s)
{
	const Buf *b = s->alloc;
	Alloc row = { b, NULL, false };
	uint32_t list, more;
	if (b->map.n > 0 &&
		(row.map = ir_map_program(c->arena, b, c->sym, c->nsym, c->at.fn->name, c->err)) == NULL)
		return false;
	/* Two lists behind each other: evaluating the second pushes none of its own in between. */
	const Expr **all = arena_array(c->arena, const Expr *, b->rank + b->map.n + 1);
	if (b->rank > 0)
		memcpy(all, b->shape, sizeof *all * (size_t)b->rank);
	if (b->map.n > 0)
		memcpy(all + b->rank, b->map.extent, sizeof *all * (size_t)b->map.n);
	if (b->rank > RANK)
		return cx_fail(c, ERR_UNSUPPORTED, "buffer %s has %d dimensions, more than %d", b->name, b->rank, RANK);
	uint32_t slot[2 * RANK];
	for (int k = 0; k < b->rank + b->map.n; k++)
		if (!cx_expr(c, all[k], 0, &slot[k]))
			return false;
	list = (uint32_t)c->pool.n;
	for (int k = 0; k < b->rank + b->map.n; k++)
		vec_push(c->arena, &c->pool, slot[k]);
	more = (uint32_t)c->alloc.n;
	vec_push(c->arena, &c->alloc, row);
	vec_push(c->arena, &c->buf,
		((Bound){ b->name, c->prog->nview, dtype_scalar(b->type), b->rank, false }));
	return cx_emit(c, (Ins){ .op = OP_ALLOC,
				  .d = c->prog->nview++,
				  .a = more,
				  .b = list,
				  .c = (uint32_t)b->rank });
}

static bool branch(Cx *c, const Stmt *s)
{
	uint32_t cond;
	if (!cx_expr(c, s->branch.cond, 0, &cond))
		return false;
	size_t to_other = c->ins.n;
	if (!cx_emit(c, (Ins){ .op = OP_JUMPZ, .a = cond }) || !cx_sequence(c, s->branch.then))
		return false;
	size_t to_end = c->ins.n;
	if (s->branch.other != NULL && !cx_emit(c, (Ins){ .op = OP_JUMP }))
		return false;
	c->ins.at[to_other].c = (uint32_t)c->ins.n;
	if (!cx_sequence(c, s->branch.other))
		return false;
	if (s->branch.other != NULL)
		c->ins.at[to_end].c = (uint32_t)c->ins.n;
	return true;
}

/* A hint has no effect; what is wrong in its indices is wrong. */
static bool prefetch(Cx *c, const Stmt *s)
{
	uint32_t slot;
	for (int k = 0; k < s->prefetch.n; k++)
		if (!cx_expr(c, s->prefetch.idx[k], 0, &slot))
			return false;
	return true;
}

static bool statement(Cx *c, const Stmt *s)
{
	int level;
	bool ok;
	if (++c->statements > CODE_LIMIT)
		return cx_fail(c, ERR_MEMORY, "Fn %s has too much code to interpret", c->at.fn->name);
	switch (s->kind) {
	case ST_FOR: return loop(c, s);
	case ST_BLOCK: return block(c, s);
	case ST_STORE: return cx_store(c, s);
	case ST_REDUCE:
		if (c->async)
			return cx_fail(c, ERR_INPUT, "the reduction by %s is async; only copies can be", s->reduce.monoid);
		return cx_reduce(c, s);
	case ST_LET: return let(c, s);
	case ST_ALLOC: return alloc(c, s);
	case ST_IF: return branch(c, s);
	case ST_CALL: return cx_call(c, s);
	case ST_ASYNC:
		if (c->async)
			return cx_fail(c, ERR_INPUT, "an async statement stands inside of another");
		c->async = true;
		ok = cx_sequence(c, s->async);
		c->async = false;
		return ok;
	case ST_COMMIT: return cx_emit(c, (Ins){ .op = OP_COMMIT });
	case ST_WAIT:
		return cx_emit(c,
			(Ins){ .op = OP_WAIT,
				.c = (uint32_t)(s->pending < INT32_MAX ? s->pending : INT32_MAX) });
	case ST_BARRIER:
		level = level_of(s->barrier);
		if (level == 0)
			return cx_fail(c, ERR_INPUT, "the barrier has an unknown scope, %s", s->barrier);
		return cx_emit(c, (Ins){ .op = OP_BARRIER, .node = (uint8_t)level });
	case ST_PREFETCH: return prefetch(c, s);
	}
	return false;
}

bool cx_sequence(Cx *c, const Stmt *s)
{
	size_t names = c->name.n, bufs = c->buf.n, first_alloc = c->alloc.n;
	uint32_t top = c->top, forks = c->forks;
	Origin at = c->at;
	bool ok = true;
	if (++c->nest > NEST)
		return cx_fail(c, ERR_UNSUPPORTED, "statements are nested more than %d deep", NEST);
	for (; s != NULL && ok; s = s->next) {
		uint32_t keep = c->top;
		c->at.stmt = s;
		map_truncate(&c->cached, 0);
		ok = statement(c, s);
		bool named = s->kind == ST_LET || s->kind == ST_ALLOC || (s->kind == ST_REDUCE && s->reduce.old != NULL);
		if (!named)
			c->top = keep;
	}
	map_truncate(&c->cached, 0);
	if (c->forks != forks)
		for (size_t k = first_alloc; k < c->alloc.n; k++)
			c->alloc.at[k].shared = true;
	c->nest--;
	c->at = at;
	c->top = top;
	c->name.n = names;
	c->buf.n = bufs;
	return ok;
}

static uint32_t settle(uint32_t slot, uint32_t nslot)
{
	return slot != NOSLOT && (slot & CONSTANT) ? nslot + (slot & ~(uint32_t)CONSTANT) : slot;
}

/* Constants lie behind the slots, whose number is known only now. */
static void place_constants(Cx *c)
{
	static const char *const slots[] = {
#define OP(name, s, meaning) s,
#include "interp/ins.def"
#undef OP
	};
	uint32_t n = c->prog->nslot;
	for (size_t k = 0; k < c->ins.n; k++) {
		Ins *i = &c->ins.at[k];
		for (const char *s = slots[i->op]; *s; s++) {
			uint32_t *field = *s == 'd'   ? &i->d
			                  : *s == 'a' ? &i->a
			                  : *s == 'b' ? &i->b
			                              : &i->c;
			if (*s != 'l')
				*field = settle(*field, n);
		}
	}
	for (size_t k = 0; k < c->pool.n; k++)
		c->pool.at[k] = settle(c->pool.at[k], n);
}

const char *interp_place(Arena *a, Origin o)
{
	if (o.stmt == NULL || o.stmt->line == 0)
		return o.fn->name;
	return arena_printf(a, "%s:%d", o.fn->name, o.stmt->line);
}

Program *interp_compile(Arena *a, const KernelSet *ks, const Fn *fn, const IrArg *sym, int nsym,
	InterpDomain domain, Err *err)
{
	Program *p = arena_new_of(a, Program);
	fn = ir_thread_form(ks->ir, fn, err);
	if (fn == NULL)
		return NULL;
	Cx c = { .arena = a,
		.ks = ks,
		.prog = p,
		.sym = sym,
		.nsym = nsym,
		.domain = domain,
		.err = err,
		.cached = MAP_OF(a) };
	p->ks = ks;
	p->fn = fn;
	c.at.fn = fn;
	for (int k = 0; k < fn->nparam; k++) {
		const Buf *b = fn->param[k].buf;
		if (b != NULL)
			vec_push(a, &c.buf,
				((Bound){ b->name, (uint32_t)k, dtype_scalar(b->type), b->rank,
					cx_is_input(b) }));
	}
	p->nview = (uint32_t)fn->nparam;
	if (!cx_sequence(&c, fn->body) || !cx_emit(&c, (Ins){ .op = OP_END }))
		return NULL;
	place_constants(&c);
	p->ins = c.ins.at;
	p->origin = c.origin.at;
	p->n = (uint32_t)c.ins.n;
	p->pool = c.pool.at;
	p->constant = c.constant.at;
	p->nconst = (uint32_t)c.constant.n;
	p->alloc = c.alloc.at;
	p->forks = c.forks > 0;
	return p;
}
