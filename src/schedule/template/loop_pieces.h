/*
 * Parts of an axis that are code of their own: its ends, and pieces along which all indices and conditions of a nest go
 * in equal steps, as the inside of a padded row and its borders. A piece has neither conditions nor gathers.
 */
#ifndef SCHEDULE_TEMPLATE_LOOP_PIECES_H
#define SCHEDULE_TEMPLATE_LOOP_PIECES_H

#include "schedule/template/block.h"
#include "schedule/template/loop_nest.h"

/*
 * Reads the pieces of the nest's innermost axis, as the nest and those of the set that are inlined have them: their
 * sizes and their number n->pieces, 1 where more than PIECES were needed. Before runs are fused.
 */
void loop_pieces_read(const BlockSet *set, Nest *n);
/* Whether pieces are for that axis, which has `lanes` a vector: results lie along it, and one piece fills a vector. */
bool loop_pieces_fit(const Nest *n, int axis, int64_t lanes);
/* Steps that make each piece a loop of its own: with lanes, or one shorter vector. */
void loop_pieces_steps(Sketch *s, const Nest *n, int64_t lanes, bool overlap);

/*
 * Its first and its last part of `size` elements become code of their own. A loop inside that was cut before has taken
 * the names that end with .2, so all names in the first copy end with .3 then.
 */
void loop_cut_ends(Sketch *s, const Axis *x, int64_t size, bool around_cut);

/* The same of what is left behind its last whole part. */
void loop_cut_tail(Sketch *s, const Axis *x, int64_t size);

#endif
