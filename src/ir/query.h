/*
 * Questions about statements. A list is a statement, its siblings and all that is below them; walks go in the order
 * of the text, parents before children. Cost: at most one visit of each statement and of each expression in it.
 */
#ifndef IR_QUERY_H
#define IR_QUERY_H

#include "ir/walk.h"

/* The first statement that is so; NULL: there is none. */
Stmt *ir_find_stmt(Stmt *list, bool (*is)(const Stmt *s, void *arg), void *arg);

Stmt *ir_find_below(const Stmt *s, bool (*is)(const Stmt *s, void *arg), void *arg); /* in the lists of s itself */
/* Where one statement hangs; whether it is below another. */
Stmt **ir_link_to(Stmt **list, const Stmt *s); /* NULL: it is not in the list */
bool ir_is_below(const Stmt *s, const Stmt *below);
/* The first expression that is so of a statement itself, and in a list; NULL: there is none. */
const Expr *ir_find_node_of(const Stmt *s, bool (*is)(const Expr *e, void *arg), void *arg);
const Expr *ir_find_node_in(Stmt *list, bool (*is)(const Expr *e, void *arg), void *arg);
/* Every expression of a statement itself, and in a list, once for each place of a statement where it stands. */
void ir_each_node_of(const Stmt *s, void (*f)(const Expr *e, void *arg), void *arg);
void ir_each_node_in(Stmt *list, void (*f)(const Expr *e, void *arg), void *arg);

bool ir_has_load(const Expr *e); /* NULL has none */

/* Where a statement uses a buffer. A load in one of its expressions is met once. */
typedef enum { USE_LOAD, USE_STORE, USE_REDUCE, USE_WINDOW, USE_PREFETCH } IrUseKind;
typedef struct IrUse {
	IrUseKind kind;
	Stmt *stmt;
	const char *buf;
	const Expr *const *idx; /* of a window: its start */
	int n;
} IrUse;
void ir_each_use(Stmt *list, void (*f)(const IrUse *use, void *arg), void *arg);
/* The same with the uses of one buffer. */
void ir_each_use_of(Stmt *list, const char *buf, void (*f)(const IrUse *use, void *arg), void *arg);
void ir_each_use_below(const Stmt *s, void (*f)(const IrUse *use, void *arg), void *arg); /* in the lists of s itself */

/* The places of the buffers' names that a statement itself holds, loads not among them; they may be filled anew. */
void ir_each_buf_name(Stmt *s, void (*f)(const char **buf, void *arg), void *arg);

/* The names a statement declares itself, but for a block's: loop variables, iterators, lets, olds, allocs. */
void ir_each_declared(Stmt *s, void (*f)(const char **name, void *arg), void *arg);
bool ir_declares(Stmt *list, const char *name);
Stmt **ir_find_alloc(Stmt **list, const char *buf); /* the link to it */

#endif
