/*
 * What the loop primitives ask of a nest before they touch it. They ask where a named loop hangs, what is around and
 * below it, and what its blocks say.  Blocks are the whole truth on dependences. Spatial iterators are independent.
 * Reduce iterators may be reordered if their monoid is associative. Scan iterators keep their order.
 */
#ifndef SCHEDULE_NEST_H
#define SCHEDULE_NEST_H

#include "ir/ir.h"

/* Where a loop hangs: *link is loop; around[0] is the outermost loop of those it stands in. */
typedef struct Place {
	Fn *fn;
	Stmt **link;
	Stmt *loop;
	int naround;
	Stmt *around[IR_MAX_DEPTH];
} Place;

typedef enum { FOUND_NONE, FOUND_ONE, FOUND_SEVERAL } Found;
/* Names of loops are unique in a Fn; a set of several Fns may have two loops of one name. */
Found nest_find(const KernelSet *ks, const char *name, Place *out);

/* Where a block hangs: *link is block; around[0] is the outermost loop of those it stands in. */
typedef struct BlockPlace {
	Fn *fn;
	Stmt **link;
	Stmt *block;
	int naround;
	Stmt *around[IR_MAX_DEPTH];
} BlockPlace;
Found nest_find_block(const KernelSet *ks, const char *name, BlockPlace *out);
/* The link to the statement of the list in which, below loops and conditions alone, the block stands; NULL: none. */
Stmt **nest_link_to(Stmt **list, const Stmt *block);

/* True and *n set where both bounds are constants. */
bool nest_extent(const Stmt *loop, int64_t *n);

/* Whether `skip` takes the reduction: it combines the identity in some instances, as a select says. */
bool nest_skips(const KernelSet *ks, const Stmt *reduce);

/* Whether writes to buf are seen outside of these statements: none of them declares it. */
bool nest_outlives(Stmt *body, const char *buf);

/* What stands below a loop, and how it depends on the loop's variable. */
typedef struct Uses {
	const char *var;
	Stmt *body;
	bool spatial, reduce, scan; /* some iterator of that kind depends on var */
	bool idle;   /* a block whose spatial iterators all ignore var writes what outlives an iteration */
	bool unused; /* the same, and none of its iterators depends on var */
	bool folds;  /* nest_folds of a block that writes such */
	bool bare;                  /* a statement that stands in no block */
	bool bounds;                /* bounds that depend on var */
	bool waits;                 /* a commit of copies, or a wait for them */
	bool lanes, threads;        /* a vector loop, a parallel or bound one */
	int blocks;
	const Stmt *block; /* the last one */
} Uses;
Uses nest_uses(const Stmt *loop);

/* Whether the order of a block's reduce iterators shows in its result (beyond rounding). */
bool nest_ordered(const KernelSet *ks, const Stmt *block);
/* Whether instances that differ in `var` write and read different elements of what the block writes. */
bool nest_apart(const Stmt *block, const char *var);
/* Whether an iterator takes some values in several iterations of `var`: var stands below min or max, as
   where the last tile of a split overlaps. */
bool nest_folds(const Stmt *block, const char *var);

/* Whether only the block of a grid that counted last runs the statements below (step `last`). */
bool nest_is_last(const Stmt *s);

/* How often unrolled loops copy the statement that they copy most; s and what is below. */
int64_t nest_copies(const Stmt *s);
/* Levels of nested statements; and the deepest expression below. */
int nest_depth(const Stmt *s);
int nest_expr_depth(Stmt *s);
/* Adds what anything of the Fn is called, blocks aside. */
void nest_names(const Fn *fn, Interner *out);
/* Whether anything of the Fn is called that; for many names, take nest_names. */
bool nest_has_name(const Fn *fn, const char *name);

#endif
