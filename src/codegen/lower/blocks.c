/*
 * Blocks become their bodies with the iterators' values put in; init runs where the reduce iterators have
 * their first values.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

const Expr *lower_put_iterators(Ir *ir, const Expr *e, void *arg)
{
	const Stmt *s = arg;
	(void)ir;
	if (e->op == IR_VAR)
		for (int k = 0; k < s->block.n; k++)
			if (s->block.iter[k].name == e->name)
				return s->block.iter[k].value;
	return e;
}

/* An iterator's value is what it is at the entry, whatever the block stores. */
static Stmt *bind_loads(Lower *l, Stmt *s)
{
	Stmt *lets = NULL;
	for (int k = 0; k < s->block.n; k++) {
		Iter *it = &s->block.iter[k];
		if (!ir_has_load(it->value))
			continue;
		const char *name = ir_fresh_name(l->ir, it->name);
		lets = ir_seq(lets, ir_let(l->ir, name, it->value));
		it->value = ir_idx(l->ir, name);
	}
	return lets;
}

static bool block(Lower *l, Stmt *s, Stmt **out)
{
	*out = s;
	if (s->kind != ST_BLOCK)
		return true;
	Stmt *lets = bind_loads(l, s);
	const Expr *first = ir_bool(l->ir, true), *where = s->block.where;
	for (int k = 0; k < s->block.n; k++)
		if (s->block.iter[k].kind == ITER_REDUCE)
			first = ir_and(l->ir, first, ir_eq(l->ir, s->block.iter[k].value, s->block.iter[k].lo));
	ir_map_stmt(l->ir, s->block.init, lower_put_iterators, s);
	ir_map_stmt(l->ir, s->block.body, lower_put_iterators, s);
	Stmt *body = s->block.body;
	if (s->block.init != NULL)
		body = ir_seq(ir_is_const(first, 1) ? s->block.init : ir_if(l->ir, first, s->block.init, NULL), body);
	if (where != NULL) {
		where = ir_map_expr(l->ir, where, lower_put_iterators, s);
		body = ir_if(l->ir, where, body, NULL);
	}
	*out = ir_seq(lets, body);
	return true;
}

bool pass_blocks(Lower *l)
{
	lower_separate_lets(l);
	return lower_rewrite(l, &l->fn->body, block);
}
