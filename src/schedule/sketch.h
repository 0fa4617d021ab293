/*
 * What a template function talks to: it asks for knobs and writes steps, in one go, without knowing
 * whether it is declaring the space or building the trace of a config.
 */
#ifndef SCHEDULE_SKETCH_H
#define SCHEDULE_SKETCH_H

#include "schedule/space.h"

struct Sketch {
	Arena *arena;
	const Task *task;
	const Target *target;
	const KernelSet *naive; /* to look at; not to be changed */
	Space *declare;         /* where knobs go; NULL when building */
	const Space *space;     /* building: the knobs, and ... */
	const Config *config;   /* ... what is picked */
	Text steps;
};

/*
 * The value of a knob: the picked option, or option[first] while declaring. Options may not depend
 * on the values of other knobs, so that the space is a product. Asking for a knob beyond the
 * space's limits, or with no option, returns option[first] and adds nothing.
 */
int64_t sketch_knob(Sketch *s, const char *name, const int64_t *option, int n, int first);
/* Appends one step of the trace. */
void sketch_step(Sketch *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The generated space of any loops (template/loops.c), for templates that meet what they cannot read. */
bool sketch_loops(Sketch *s);

extern const Template tmpl_conv, tmpl_dense, tmpl_pool, tmpl_loops;

#endif
