/*
 * Walking, substituting, cloning. Rewriters rebuild expressions bottom-up and edit statements in
 * place; shared sub-expressions are visited once per call (memo by Expr.id).
 */
#ifndef IR_WALK_H
#define IR_WALK_H

#include "ir/ir.h"

/*
 * A table Expr -> Expr, empty at first, taken from a pool of the Ir: begin and end cost nothing
 * that grows with the Ir. Calls nest like brackets.
 */
typedef struct IrMemo IrMemo;
IrMemo *ir_memo_begin(Ir *ir);
/* The slot of e, *slot == NULL if unset; valid until the next call. */
const Expr **ir_memo_at(IrMemo *m, const Expr *e);
void ir_memo_end(Ir *ir, IrMemo *m);

/* The places of the lists of statements that s itself holds, in the order of the text; returns how many. */
enum { IR_CHILDREN = 2 };
int ir_children(const Stmt *s, Stmt **list[IR_CHILDREN]);
/*
 * Calls f on every statement: s, its siblings, their children; parents first. f returns false to
 * skip the children.
 */
void ir_each_stmt(Stmt *s, bool (*f)(Stmt *s, void *arg), void *arg);
/* The same on what is below s alone. */
void ir_each_below(const Stmt *s, bool (*f)(Stmt *s, void *arg), void *arg);
/* Calls f on the expressions a statement itself holds (not its children's). */
void ir_each_expr(const Stmt *s, void (*f)(const Expr *e, void *arg), void *arg);
/* The same with the places where they stand, which f may fill anew. */
void ir_each_place(Stmt *s, void (*f)(const Expr **e, void *arg), void *arg);
/* Calls f on e and every sub-expression, each once, arguments first. */
void ir_each_node(const Expr *e, void (*f)(const Expr *e, void *arg), void *arg);
/* The first that is so, arguments first; NULL: there is none. */
const Expr *ir_find_node(const Expr *e, bool (*is)(const Expr *e, void *arg), void *arg);

/*
 * Rebuilds e: f is given each node with its arguments already rebuilt and returns its replacement
 * (or the node itself). ir_map_stmt does so for every expression of s, its siblings and children
 * (with one memo: f must be a function of the node alone), index maps and shapes left out.
 */
typedef const Expr *(*IrMapFn)(Ir *ir, const Expr *e, void *arg);
const Expr *ir_map_expr(Ir *ir, const Expr *e, IrMapFn f, void *arg);
void ir_map_stmt(Ir *ir, Stmt *s, IrMapFn f, void *arg);
/* The same where f changes nothing but expressions with one of the names (ir_name_bit), or with that name. */
const Expr *ir_map_named(Ir *ir, const Expr *e, uint32_t names, IrMapFn f, void *arg);
void ir_map_stmt_named(Ir *ir, Stmt *s, const char *name, IrMapFn f, void *arg);

/* e with variable `name` replaced; capture cannot happen since names in one Fn do not shadow. */
const Expr *ir_subst(Ir *ir, const Expr *e, const char *name, const Expr *by);
void ir_subst_stmt(Ir *ir, Stmt *s, const char *name, const Expr *by);
bool ir_uses_var(const Expr *e, const char *name);
/* e with new arguments, same node, type and payload. */
const Expr *ir_with_args(Ir *ir, const Expr *e, const Expr *const *arg);

/*
 * A copy of a sub Fn's body becomes what a call with these arguments does: parameters are the caller's values
 * and windows of its buffers. An argument must not use a name that the body declares.
 */
void ir_bind_params(Ir *ir, Stmt *body, const Fn *fn, const CallArg *arg);

/* Deep copies within the same Ir (expressions are shared). Siblings are copied too. */
Stmt *ir_clone_stmt(Ir *ir, const Stmt *s);
Fn *ir_clone_fn(Ir *ir, const Fn *fn);
KernelSet *ir_clone_set(const KernelSet *ks); /* its monoids are ks's */
/* The same in a fork of the set's Ir (ir_fork). */
KernelSet *ir_fork_set(Arena *a, const KernelSet *ks);
/* A copy in another Ir, which has none yet: names, and ids in the order that parsing the set's text would give. */
KernelSet *ir_clone_set_into(Ir *ir, const KernelSet *ks);

#endif
