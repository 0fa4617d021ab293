/*
 * Constructors. ir_node makes a node exactly as asked (the parser and rewriters use it); the named
 * ones fold constants and the identities x+0, x*1, x*0 (integers), min(x,x), select(true,..), so
 * that builders read like formulas. Arguments must have fitting types: that is the caller's bug
 * otherwise (assert). Loop indices and shapes are i64.
 */
#ifndef IR_BUILD_H
#define IR_BUILD_H

#include "ir/ir.h"

const Expr *ir_node(Ir *ir, Node op, DType type, const Expr *const *arg, int n);
const Expr *ir_const_int(Ir *ir, DType t, int64_t v); /* wraps v to the type */
const Expr *ir_const_float(Ir *ir, DType t, double v); /* rounds v to the type */
const Expr *ir_const(Ir *ir, DType t, double v); /* of any scalar type; for ints v is integral */
const Expr *ir_int(Ir *ir, int64_t v);  /* i64 */
const Expr *ir_bool(Ir *ir, bool v);
const Expr *ir_var(Ir *ir, const char *name, DType t);
const Expr *ir_idx(Ir *ir, const char *name); /* an i64 variable */
const Expr *ir_load(Ir *ir, const Buf *b, const Expr *const *idx, int n);
/* The same by name, with the element type (vector of as many lanes as the indices have). */
const Expr *ir_load_named(Ir *ir, const char *buf, DType t, const Expr *const *idx, int n);

/* The result type follows from the arguments. */
const Expr *ir_unary(Ir *ir, Node op, const Expr *a);
const Expr *ir_binary(Ir *ir, Node op, const Expr *a, const Expr *b);
/* What ir_binary makes of it where that is another node; NULL: it makes this node. */
const Expr *ir_fold_binary(Ir *ir, Node op, const Expr *a, const Expr *b);
const Expr *ir_select(Ir *ir, const Expr *c, const Expr *a, const Expr *b);
const Expr *ir_fma(Ir *ir, const Expr *a, const Expr *b, const Expr *c);
const Expr *ir_dot4(Ir *ir, const Expr *c, const Expr *a, const Expr *b);
const Expr *ir_cast(Ir *ir, DType t, const Expr *a);
const Expr *ir_bitcast(Ir *ir, DType t, const Expr *a);
const Expr *ir_ramp(Ir *ir, const Expr *base, const Expr *stride, int lanes);
const Expr *ir_splat(Ir *ir, const Expr *a, int lanes); /* lanes == 1: a itself */
const Expr *ir_lane(Ir *ir, const Expr *a, int lane);

#define ir_add(ir, a, b) ir_binary((ir), IR_ADD, (a), (b))
#define ir_sub(ir, a, b) ir_binary((ir), IR_SUB, (a), (b))
#define ir_mul(ir, a, b) ir_binary((ir), IR_MUL, (a), (b))
#define ir_div(ir, a, b) ir_binary((ir), IR_DIV, (a), (b))
#define ir_mod(ir, a, b) ir_binary((ir), IR_MOD, (a), (b))
#define ir_min(ir, a, b) ir_binary((ir), IR_MIN, (a), (b))
#define ir_max(ir, a, b) ir_binary((ir), IR_MAX, (a), (b))
#define ir_lt(ir, a, b) ir_binary((ir), IR_LT, (a), (b))
#define ir_le(ir, a, b) ir_binary((ir), IR_LE, (a), (b))
#define ir_eq(ir, a, b) ir_binary((ir), IR_EQ, (a), (b))
#define ir_and(ir, a, b) ir_binary((ir), IR_AND, (a), (b))

/*
 * The constant that node `op` of type `type` gives on constant scalar arguments; NULL if one is not
 * constant, the result is an error (a zero divisor), or libm's rounding would decide (exp, pow).
 */
const Expr *ir_fold(Ir *ir, Node op, DType type, const Expr *const *arg, int n);
/* The same on integers or bools of type t, b being a where there is one argument; false: an error or no such node. */
bool ir_fold_int(Node op, DType t, int64_t a, int64_t b, int64_t *out);
/* The type ir_unary and ir_binary give to a node of this kind with such a first argument. */
DType ir_result_type(Node op, DType arg);

/* True and *v set if e is an integer or bool constant. */
static inline bool ir_is_int(const Expr *e, int64_t *v)
{
	if (e->op != IR_INT)
		return false;
	*v = e->i;
	return true;
}

static inline bool ir_is_const(const Expr *e, int64_t v)
{
	return e->op == IR_INT && e->i == v;
}

Stmt *ir_for(Ir *ir, const char *var, const Expr *lo, const Expr *hi, LoopKind kind, Stmt *body);
Stmt *ir_block(Ir *ir, const char *name, const Iter *iter, int n, const Expr *where, Stmt *init,
	Stmt *body);
Stmt *ir_store(Ir *ir, const Buf *b, const Expr *const *idx, int n, const Expr *value);
Stmt *ir_reduce(Ir *ir, const char *monoid, const Buf *b, const Expr *const *idx, int n,
	const Expr *value);
Stmt *ir_prefetch(Ir *ir, const Buf *b, const Expr *const *idx, int n);
Stmt *ir_let(Ir *ir, const char *var, const Expr *value);
Stmt *ir_alloc(Ir *ir, Buf *b);
Stmt *ir_if(Ir *ir, const Expr *cond, Stmt *then, Stmt *other);
Stmt *ir_stmt(Ir *ir, StmtKind kind); /* empty, to be filled in */
/* Links b behind the last sibling of a; either may be NULL. */
Stmt *ir_seq(Stmt *a, Stmt *b);

Buf *ir_buf(Ir *ir, const char *name, BufRole role, DType t, const char *scope,
	const int64_t *shape, int rank);
Fn *ir_fn(Ir *ir, const char *name, FnKind kind);
void ir_fn_add_buf(Ir *ir, Fn *fn, Buf *b);
void ir_fn_add_scalar(Ir *ir, Fn *fn, const char *name, DType t);
void ir_fn_add_sym(Ir *ir, Fn *fn, const char *name, int64_t lo, int64_t hi, int64_t div);

#endif
