/*
 * What the rules of simplification share: the pass's state, the terms order, and one function a
 * row of simplify_rules.def. Inside of the room: simplify*.c.
 */
#ifndef IR_SIMPLIFY_SIMPLIFY_RULES_H
#define IR_SIMPLIFY_SIMPLIFY_RULES_H

#include "ir/analysis/affine.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

typedef struct Simp {
	Ir *ir;
	const Range *env;
	IrMemo *memo; /* what is simplified already, under env */
	IntervalCache *cache;
	int fuel; /* rewrites left; a net under the rules' own measures */
} Simp;

/* The outermost call: s->fuel is set; an expression too deep is left alone. */
const Expr *simplify_whole(Simp *s, const Expr *e);
/* Under s->env, whose memo is s->memo. */
const Expr *simplify_expr(Simp *s, const Expr *e);

/*
 * A rule is given a node with simplified arguments; it returns something simpler of the same type
 * and value, or NULL (the node itself is taken as NULL, too).
 */
#define RULE(node, name, law, vars, before, after) const Expr *rule_##name(Simp *s, const Expr *e);
#include "ir/simplify/simplify_rules.def"
#undef RULE

/* A total order by structure, not by creation, so that the same text is ordered the same way. */
int simplify_order(const Expr *a, const Expr *b);
/*
 * The canonical sum of the form (of the lanes of t): positive terms, negative ones, the constant;
 * greater coefficients first, then by structure.
 */
const Expr *simplify_build(Ir *ir, const Affine *f, DType t);
/* Inserts e into n sorted expressions. */
void simplify_insert(const Expr **x, int n, const Expr *e);
enum { SIMPLIFY_CHAIN = 12 };
/* The different arguments of a tree of one operator; false if there are more than SIMPLIFY_CHAIN. */
bool simplify_chain(const Expr *e, Node op, const Expr *x[SIMPLIFY_CHAIN], int *n);
const Expr *simplify_chain_build(Ir *ir, Node op, const Expr **x, int n); /* sorts them */
/* Whether the form cannot wrap, by what s->env knows. */
static inline bool simplify_is_exact(const Simp *s, const Affine *f)
{
	return ir_affine_exact(f, s->env, s->cache);
}
/* A constant of any lanes. */
bool simplify_is_int(const Expr *e, int64_t *v);

#endif
