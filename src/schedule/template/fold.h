/* Reductions within a row: vectors of partial results, which become one number. */
#ifndef SCHEDULE_TEMPLATE_FOLD_H
#define SCHEDULE_TEMPLATE_FOLD_H

#include "schedule/template/tile.h"

/* The loop of a row's lanes, innermost in the row (NULL: one element), and the outermost one, perhaps the same. */
typedef struct FoldLoop {
	const char *loop, *outer;
	int64_t extent;
} FoldLoop;

/*
 * Steps by which the block's `loop` over `width` partial results, as rfactor leaves them, adds up to one: vectors of so
 * many lanes become one vector, that one becomes half as long, and so on.
 */
void fold_tree(Sketch *s, const char *block, const char *loop, int64_t width, int64_t lanes);
/* A reduction along that loop, the innermost one: partial results in vectors of so many lanes, then the tree. */
void fold_parts(Sketch *s, const char *block, FoldLoop k, int64_t lanes, int64_t vectors);
/*
 * A reduction along `loop`, which has that extent and stands inside of the block's other loops: partial results in so
 * many vectors, then the tree. The last iterations, which fill no vectors, are code of their own.
 */
void fold_steps(Sketch *s, const char *block, const char *loop, int64_t extent, int64_t lanes, int64_t vectors);

#endif
