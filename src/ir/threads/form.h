/*
 * The threads of a block. A loop bound to a block axis is no fork and join: its instance t is the thread t of the
 * block, and the loops of a block that are bound to one axis have the same threads. docs/ir.md says what that means for
 * the statements between such loops; ir_thread_form writes it out, for the interpreter and for code generation.
 */
#ifndef IR_THREADS_FORM_H
#define IR_THREADS_FORM_H

#include "ir/ir.h"

enum { THREAD_AXES = 3 };

typedef enum { AXIS_NONE, AXIS_GRID, AXIS_BLOCK, AXIS_WARP } AxisKind;
/* The kind of a bound loop's axis, and *k 0 to 2 for x to z; AXIS_NONE: no bound loop, or an unknown axis. k may be
   NULL. */
AxisKind ir_axis_of(const Stmt *s, int *k);
/* The most iterations of a loop that is bound to axis k (0 to 2) of the grid or the block (axis.def). */
int64_t ir_axis_most(AxisKind kind, int k);
/* Whether a loop bound to an axis of that kind is in the list. */
bool ir_has_axis(Stmt *list, AxisKind kind);
/*
 * Code generation and the interpreter see a block as the body of all loops around which a grid or parallel loop is the
 * innermost; without such a loop, each top-level statement is a block. Calls f on each list that is the body of a block
 * with a loop bound to a block axis; *body may be replaced. one: it is one statement, whose siblings do not belong to
 * it. Stops where f returns false.
 */
bool ir_each_block(Stmt **list, bool (*f)(Stmt **body, bool one, void *arg), void *arg);

/*
 * A copy in which each block is one nest of loops bound to block axes, which holds all that its threads do, below its
 * shared buffers. The Fn itself where no loop is bound to a block axis. NULL and ERR_INPUT: the extent of such a loop
 * depends on a statement of the block, a value that one thread makes is used by all, an axis is bound twice in a
 * nest, or a loop bound to a grid axis stands in a block.
 */
const Fn *ir_thread_form(Ir *ir, const Fn *fn, Err *err);

#endif
