/*
 * What the cost model says of the configs of one Task's space. Configs of one schedule are estimated once. Where the
 * model keeps what it read of a schedule, another revision of it estimates from that, and nothing is scheduled again.
 */
#ifndef TUNER_ESTIMATES_H
#define TUNER_ESTIMATES_H

#include "cost_model/cost_model.h"
#include "schedule/drafts.h"
#include "tuner/outcome.h"
#include "tuner/search.h"

typedef struct Estimates {
	/* Set by the caller, who keeps what they point to. */
	Arena *arena;
	const Task *task;
	Space *space;
	Drafts *drafts;
	const Cost *cost;
	void (*turn)(void *arg); /* called every few milliseconds while configs are estimated */
	bool (*over)(void *arg); /* SearchCost.over */
	void *arg;
	/* The rest begins as zeros. */
	OutcomeSet of;       /* by trace; ns: -1 for what has no schedule */
	Map configs;         /* the picks of each, to its number in `of` */
	VEC(float *) kept;   /* of each of them; NULL: it has no schedule, or the model keeps nothing */
	int revision;        /* of the cost model that the times are of */
} Estimates;

/* How a search asks for them. */
SearchCost estimates_of(Estimates *e);
/* Nanoseconds, if the schedule was estimated by the cost model as it is now; else <= 0. */
double estimates_known(const Estimates *e, const char *trace);
/* The trace of a config, and its text; NULL: the template refuses it. */
const char *estimates_trace(Space *space, const Config *c, Arena *a, Trace **t);

#endif
