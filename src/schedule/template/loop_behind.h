/*
 * What is behind a reduction: the elementwise nest that alone reads its sums. Where a tile of sums is made inside of
 * that nest, they are stored once, as what it makes of them, and no buffer holds all of them.
 */
#ifndef SCHEDULE_TEMPLATE_LOOP_BEHIND_H
#define SCHEDULE_TEMPLATE_LOOP_BEHIND_H

#include "schedule/template/block.h"
#include "schedule/template/loop_nest.h"

typedef struct Behind {
	int nest;                     /* of the set */
	const char *loop[BLOCK_AXES]; /* its loops, by the reduction's axes; those of a reduction as they are */
	int nlone;
	const char *lone[BLOCK_AXES]; /* its further loops, of one iteration */
} Behind;

/* Of nest `at` of the set. False: there is none, or it may not be where the sums are made. */
bool loop_behind_read(const Sketch *s, const BlockSet *set, int at, Behind *out);

#endif
