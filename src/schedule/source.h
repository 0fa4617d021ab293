/*
 * The part of a tensor that a block reads in an iteration of a loop. cache_read copies it and prefetch requests it,
 * before the statement of the loop's body that the block stands in.
 */
#ifndef SCHEDULE_SOURCE_H
#define SCHEDULE_SOURCE_H

#include "schedule/producer.h"

/* In each dimension at most n[k] elements from lo[k] on, which end at hi[k]. */
typedef struct Source {
	BlockPlace block;
	Place loop;
	const Buf *buf;
	Stmt **link; /* to the statement of the loop's body in which the block stands */
	const Expr *lo[IR_MAX_RANK], *hi[IR_MAX_RANK];
	int64_t n[IR_MAX_RANK];
} Source;

/* Of a step "T B L ..": an input or a constant that the block reads and that the loop leaves as it is; or a refusal. */
bool source_find(Sched *s, const Step *st, const char *what, Source *out);
/* Statements may be put into the loop, which stands around the block; or a refusal. */
bool source_may_put(Sched *s, const char *what, const char *name, const BlockPlace *b, const Place *l);

#endif
