/*
 * The written form: ir_parse(ir_print(x)) equals x, for expressions, Fns and kernel sets.
 * Parsing is bounded (64 MiB of text, nesting depth 256) and never trusts its input; it checks
 * syntax, the verifier (ir/verify/verify.h) the rest.
 */
#ifndef IR_TEXT_IR_TEXT_H
#define IR_TEXT_IR_TEXT_H

#include "ir/ir.h"

void ir_print_stmt(Text *out, const Stmt *s, int depth); /* s and its siblings */
void ir_print_fn(Text *out, const Fn *fn);
void ir_print_set(Text *out, const KernelSet *ks);
char *ir_expr_str(Arena *a, const Expr *e);
const char *ir_set_str(Arena *a, const KernelSet *ks);

/* True if s can name something in a text: letters, digits, inner dots, no reserved word. */
bool ir_is_name(const char *s);

/*
 * NULL and err filled in (place "name:line") if the text does not parse. What comes out is shaped
 * right and not checked: names nothing declares count as i64, a hostile text needs ir_verify_set.
 */
KernelSet *ir_parse_set(Ir *ir, const char *name, const char *text, size_t n, Err *err);
/* One well-typed expression whose free names are the n variables `var` (i64 or their own type). */
const Expr *ir_parse_expr(Ir *ir, const char *text, const Param *var, int n, Err *err);

#endif
