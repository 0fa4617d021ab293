/*
 * What a template function talks to: it asks for knobs and writes steps, in one go. It always gets an answer, and
 * does not know whether its run counts the space, draws a config or writes the trace of one.
 */
#ifndef SCHEDULE_SKETCH_H
#define SCHEDULE_SKETCH_H

#include "schedule/space.h"

struct Sketch {
	Arena *arena;
	const Task *task;
	const Target *target;
	const KernelSet *naive; /* to look at; not to be changed */
	Text steps;
	struct SketchRun *run; /* space.c's */
};

/*
 * Asks for a knob; which option was picked. With one option nothing is asked. A knob asked twice in a run, more
 * than KNOBS knobs or KNOB_OPTIONS options fail the run with ERR_BUG; the answer is then `first`.
 */
int sketch_knob(Sketch *s, const char *name, const KnobOption *option, int n, int first);
/* The same where options are numbers; the number. */
int64_t sketch_number(Sketch *s, const char *name, const int64_t *option, int n, int first);
/* The same where options are words. */
int sketch_word(Sketch *s, const char *name, const char *const *word, int n, int first);
/* Options "no" and "yes". */
bool sketch_flag(Sketch *s, const char *name, bool first);

/* Knobs asked from here on may depend on the option of the last one. */
void sketch_opens(Sketch *s);
/* What is asked between these depends on nothing inside of other groups; nothing behind it depends on it. */
void sketch_group(Sketch *s);
void sketch_group_end(Sketch *s);
/* How many knobs may still be asked. */
int sketch_room(const Sketch *s);

/* Appends one step of the trace. */
void sketch_step(Sketch *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The generated space of any loops (template/loops.c), for templates that meet what they cannot read. */
bool sketch_loops(Sketch *s);

extern const Template tmpl_conv, tmpl_dense, tmpl_pool, tmpl_loops;

#endif
