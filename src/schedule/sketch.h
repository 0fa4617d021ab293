/*
 * What a template function talks to: it asks for knobs and writes steps, in one go. It always gets an answer, and
 * does not know whether its run counts the space, draws a config or writes the trace of one.
 */
#ifndef SCHEDULE_SKETCH_H
#define SCHEDULE_SKETCH_H

#include "schedule/space.h"

struct Sketch {
	Arena *arena;
	const Template *tmpl; /* the one that runs */
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

/*
 * What a template found out under that name behind the picks made so far, for all runs of the Space: its ptr is NULL at
 * first. What it points to lives in *keep.
 */
MapEntry *sketch_known(Sketch *s, const char *what, Arena **keep);

/* Appends one step of the trace. */
void sketch_step(Sketch *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/*
 * An algorithm of op/algo.h as a template schedules it: a row of the template's column. Its options stand in the knob
 * "algorithm" beside the operator's own form.
 */
enum { TEMPLATE_PARAMS = 8 };
struct Tiled; /* template/tile.h: the reduction that the algorithm takes the place of */
typedef struct TemplateAlgo {
	const char *name; /* "conv2d.winograd" */
	/*
	 * Fills in what the algorithm's first parameter may be for the Task; how many. *best: the one that is likely best
	 * before anything is measured; 0: the operator's own form is. The first row of a column that names one is believed.
	 */
	int (*offer)(Sketch *s, const struct Tiled *t, int64_t param[TEMPLATE_PARAMS], int64_t *best);
	/* Asks for the algorithm's knobs and appends the trace; the first step is compute. */
	void (*steps)(Sketch *s, const struct Tiled *t, int64_t param);
} TemplateAlgo;

/* The generated space of any loops (template/loops.c), for templates that meet what they cannot read. */
bool sketch_loops(Sketch *s);
/* The same for devices that run blocks of threads (template/block_loops.c). */
bool sketch_blocks(Sketch *s);

/* Asks, behind all that a template asked for, which outputs are stored past the caches (template/stream.c). */
void sketch_stores(Sketch *s);

extern const Template tmpl_conv, tmpl_dense, tmpl_attention, tmpl_rows, tmpl_pool, tmpl_recurrent, tmpl_loops;
extern const Template tmpl_ring;
extern const Template tmpl_block_pair, tmpl_block_conv, tmpl_block_depthwise, tmpl_block_dense, tmpl_block_loops;
extern const TemplateAlgo tmpl_winograd, tmpl_coop_winograd, tmpl_strassen;

#endif
