/*
 * What a template leaves open. A template is one C function that schedules while it asks for knobs:
 * run in declare mode it yields the Space, run with a config it yields the Trace. A config is one
 * option index per knob; the space is their mixed-radix product.
 */
#ifndef SCHEDULE_SPACE_H
#define SCHEDULE_SPACE_H

#include "base/rng.h"
#include "op/task.h"
#include "schedule/trace.h"

enum { KNOBS = 32, KNOB_OPTIONS = 64 };

typedef struct Knob {
	const char *name;
	int n;
	int64_t option[KNOB_OPTIONS];
} Knob;

typedef struct Config {
	uint8_t pick[KNOBS]; /* option index of each knob; beyond the space's knobs 0 */
} Config;

typedef struct Space {
	Arena *arena;
	const Task *task;
	const Target *target;
	const struct Template *tmpl;
	const KernelSet *naive;
	int n;
	Knob knob[KNOBS];
	Config first; /* the template's own default */
} Space;

/* One per operator family and target class; the first row that applies is taken. */
typedef struct Sketch Sketch;
typedef struct Template {
	const char *name, *doc;
	bool (*applies)(const Task *task, const Target *target);
	bool (*run)(Sketch *s, Err *err);
} Template;
extern const Template *const templates[]; /* ends with NULL; the last one fits any operator */

/* ERR_UNSUPPORTED where no template fits the target: an empty space fails loudly. */
Space *space_new(Arena *a, const Task *task, const Target *target, Err *err);
double space_size(const Space *s); /* number of configs; exact below 2^53 */
Config space_sample(const Space *s, Rng *rng);
/* The trace a config stands for. */
Trace *space_trace(const Space *s, Config c, Arena *a, Err *err);
/*
 * The naive set of the task with the trace applied, verified, each access proved to stay inside its buffer: what
 * code is made of. It asks no template: every record replays from its text with the template table empty.
 */
KernelSet *schedule_replay(Ir *ir, const Task *task, const Target *target, const Trace *t, Err *err);
/* The same without the proof, which takes a fifth of the time: for estimates. No code is made of it. */
const KernelSet *schedule_draft(Ir *ir, const Task *task, const Target *target, const Trace *t, Err *err);

#endif
