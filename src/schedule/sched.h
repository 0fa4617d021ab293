/*
 * Inside the room: what every primitive works on. A primitive is one function prim_NAME. It takes a legal kernel set
 * to a legal one, or refuses with the place and the reason and leaves the set as it is.
 */
#ifndef SCHEDULE_SCHED_H
#define SCHEDULE_SCHED_H

#include "schedule/nest.h"
#include "schedule/trace.h"

#include "ir/threads/meet.h"

typedef struct Sched {
	KernelSet *ks;
	Ir *ir;
	const Dag *dag; /* what the set computes; NULL: not known */
	const Target *target;
	LimitSize size; /* of the set before the step */
	ThreadFacts facts; /* of all steps */
	char place[192]; /* "trace:7" */
	Err *err;
} Sched;

/* "WHAT NAME: WHY", ERR_ILLEGAL; always false. */
bool sched_refuse(Sched *s, const char *what, const char *name, const char *why);
/* The same where `why` has one %s, for `other`. */
bool sched_refuse_for(Sched *s, const char *what, const char *name, const char *why, const char *other);
/* Whether the limits hold with one more copy of the loop; or a refusal. */
bool sched_may_copy(Sched *s, const char *what, const Place *p);
/* Whether they hold where the loop is of that kind; or a refusal. */
bool sched_may_write_out(Sched *s, const char *what, const Place *p, LoopKind kind);
/* Exactly one loop of the set is called that, or a refusal. */
bool sched_find_loop(Sched *s, const char *name, Place *out);
/* The same of a block. */
bool sched_find_block(Sched *s, const char *name, BlockPlace *out);
/* Nothing of the Fn and no block of the set is called one of these, nor an iterator "v" and that; or a refusal. */
bool sched_may_name(Sched *s, const Fn *fn, const char *what, const char *name, const char *const *made, int n);
/* The name of the step's result k: the one behind "as", else this. */
const char *sched_name(Sched *s, const Step *st, int k, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* The loop is serial, or a refusal. */
bool sched_need_serial(Sched *s, const char *what, const Stmt *loop);
/* Its iterations are independent of each other, as lanes and threads need it; or a refusal. */
bool sched_need_spatial(Sched *s, const char *what, const Stmt *loop, const Uses *u);
/* The layout fits the buffer, whose shape is constant, without much padding; or a refusal. */
bool sched_find_layout(Sched *s, const char *what, const Buf *b, const char *text, Shape *shape);

#define PRIM(name, args, makes, kind, law, needs) bool prim_##name(Sched *s, const Step *st);
#include "schedule/prim.def"
#undef PRIM

#endif
