/*
 * Inside of the room: the passes of lowering and what several of them need. A pass rewrites one Fn of a set
 * that has an Ir of its own, or the whole set.
 */
#ifndef CODEGEN_LOWER_PASS_H
#define CODEGEN_LOWER_PASS_H

#include "codegen/lower.h"
#include "ir/query.h"
#include "ir/simplify/simplify.h"

/* The functions and their rows; a back end's array (codegen/backend.h) points to rows. */
#define PASS(name, scope, needs, breaks) \
	bool pass_##name(Lower *l); \
	extern const Pass row_##name;
#include "codegen/lower/pass.def"

/* Rows of lower.def: LOWER_LANES. */
#define COUNT(name, value, unit, reason) enum { LOWER_##name = value };
#include "codegen/lower/lower.def"
#undef COUNT

/* Finds the sub Fns of l->ks that stay; what their callers know of scalars goes into them. */
void lower_find_shared(Lower *l);
const LowerShared *lower_shared(const Lower *l, const char *fn); /* NULL: calls of it are inlined */

/*
 * Scalar expressions to `lanes` lanes: variables of the table become vectors, buffers of `own` get
 * a last index that is the lane. What depends on neither stays a scalar. NULL if e is a vector
 * already and would have to change.
 */
typedef struct Widen {
	Lower *l;
	int lanes;
	VEC(struct WidenVar {
		const char *name;
		const Expr *by;
	})
	var;
	VEC(const char *) own;
} Widen;
const Expr *lower_widen(Widen *w, const Expr *e);

/*
 * Replaces each statement of a list by the list f returns for it (children first; the
 * statement comes with next == NULL; NULL deletes it). False as soon as f fails.
 */
typedef bool (*LowerFn)(Lower *l, Stmt *s, Stmt **out);
bool lower_rewrite(Lower *l, Stmt **list, LowerFn f);
/* Whether the Fn has to zero what no index of the buffer reaches: the set's first Fn that writes an out buffer. */
bool lower_pads(Lower *l, const Buf *b);
/* Sees to it that the padding of an out buffer is zero; what has to run first, NULL for nothing. */
Stmt *lower_padding(Lower *l, const Buf *b);
/* f on each statement of a list without blocks and on those below, alone, without siblings and children; env:
   what is known before it runs. */
void lower_each_alone(Lower *l, Stmt *s, void (*f)(Lower *l, Stmt *s, const Range *env), const Range *env);
/* Whether any lane of a mask is on, as a scalar; NULL if it is no mask whose lanes are on from the first. */
const Expr *lower_any_lane(Ir *ir, const Expr *mask);
Stmt *lower_copy_node(Lower *l, const Stmt *s); /* a statement alone, without its children */
/* The instruction that an intrinsic is on the target, as a store; NULL: there is none. Indices load nothing. */
Stmt *lower_intrin(Lower *l, const Stmt *s);
/* For ir_map_expr and ir_map_stmt; arg is a block, whose iterators become their values. */
const Expr *lower_put_iterators(Ir *ir, const Expr *e, void *arg);
/* Gives every name declared in the list (loops, iterators, lets, allocs, blocks) a fresh one. */
void lower_rename(Lower *l, Stmt *list);
/*
 * Lets of the Fn that share a name get different ones: passes put a list into the one around it (a block's
 * body, the only iteration of a loop), where a name would be declared twice.
 */
void lower_separate_lets(Lower *l);
/*
 * All buffers of the Fn by the addresses of their names: parameters and allocs. Later changes of the Fn are not
 * seen; a pass may add to the map.
 */
Map *lower_bufs(Lower *l);
Buf *lower_buf(const Map *bufs, const char *name); /* NULL if there is none */
bool lower_is_alloc(const Lower *l, const char *buf); /* no parameter of the Fn */
bool lower_is_private(const Lower *l, const Buf *b);  /* an alloc that no other thread of the block uses */
const Expr *lower_all_lanes(Ir *ir, int lanes);       /* 0, 1, ..: the index of a whole register */
/* The facts inside a statement's body (loop), its then or its else branch, or after it (let). */
const Range *lower_range(Lower *l, const Stmt *s, bool other, const Range *env);
/* ERR_UNSUPPORTED at the Fn and, if there is one, the line of s. */
bool lower_refuse(Lower *l, const Stmt *s, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
