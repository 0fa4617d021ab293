/*
 * The one way an expression comes to be: ir_cons returns the node of the Ir that equals *e with
 * e->nargs arguments `arg`, making it if there is none. Only build.c and walk.c, which know what a
 * well-formed node is, have a reason to call it.
 */
#ifndef IR_CONS_H
#define IR_CONS_H

#include "ir/expr.h"

/* id, depth and size are filled in; e->arg is not read; every NaN must be dtype_round's NaN. */
const Expr *ir_cons(Ir *ir, const Expr *e, const Expr *const *arg);

#endif
