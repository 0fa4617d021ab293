/*
 * What a template leaves open. A template is one C function that schedules while it asks for knobs. Which knobs it
 * asks for may depend on what was picked for those before. A Config is the path of such a run: the options picked, in
 * the order of asking. Run with a config, the template writes its Trace.
 *
 * A Space notes the knobs that its runs meet, so no function on a Space may run beside another on the same one.
 */
#ifndef SCHEDULE_SPACE_H
#define SCHEDULE_SPACE_H

#include "base/map.h"
#include "base/rng.h"
#include "op/algo.h"
#include "op/task.h"
#include "schedule/trace.h"

enum { KNOBS = 32 /* of one config */, KNOB_OPTIONS = 64 };

typedef enum { KNOB_NUMBER, KNOB_WORD, KNOB_TILE, KNOB_PART, KNOB_ALGO } KnobKind;

/* As text: 4, row, 2x14, w:16, conv2d.winograd:4. */
typedef struct KnobOption {
	KnobKind kind;
	union {
		int64_t number;
		const char *word;
		struct {
			int64_t vectors, pixels;
		} tile;
		struct {
			const char *axis;
			int64_t size;
		} part;
		struct {
			const Algo *algo;
			int64_t param; /* its first one */
			double saves;  /* multiplications of the naive form for each one of the algorithm's */
		} algo;
	};
} KnobOption;
void knob_print_option(Text *out, const KnobOption *o);

typedef struct Knob {
	const char *name;  /* within a Space, knobs of one name share the pointer */
	const char *under; /* "algorithm=direct": the path of options where it was met first; NULL: it is always asked */
	int n, first;      /* options; the default */
	const KnobOption *option;
	bool opens; /* which knobs are asked after it depends on its option */
} Knob;

typedef struct Config {
	uint8_t n;              /* knobs of the path */
	uint8_t pick[KNOBS];    /* option of each; behind them 0 */
	uint16_t knob[KNOBS];   /* number of each in the Space */
} Config;

typedef struct Space {
	Arena *arena;
	const Task *task;
	const Target *target;
	const struct Template *tmpl;
	const KernelSet *naive;
	VEC(Knob) knob; /* those met so far; space_size meets all */
	Config first;   /* the template's own default */
	double size;    /* 0: not counted yet */
	Map known;      /* what templates noted (sketch_known) */
} Space;

/* One per operator family and target class; the first row that applies is taken. */
typedef struct Sketch Sketch;
typedef struct Template {
	const char *name, *doc;
	bool (*applies)(const Task *task, const Target *target);
	bool (*run)(Sketch *s, Err *err);
	/* What it may compute instead of the operator's own form (schedule/sketch.h); ends with NULL. NULL: nothing. */
	const struct TemplateAlgo *const *algo;
} Template;
extern const Template *const templates[]; /* ends with NULL; the last one fits any operator */

/* ERR_UNSUPPORTED where no template fits the target. ERR_BUG where a template asks for too many knobs or options. */
Space *space_new(Arena *a, const Task *task, const Target *target, Err *err);
/* The same of the last template that applies, which fits any operator. */
Space *space_of_any(Arena *a, const Task *task, const Target *target, Err *err);
/*
 * The number of configs. It is exact if it is below 2^53 and some hundred runs of the template meet all knobs; else it
 * is an estimate. The first call counts.
 */
double space_size(Space *s);
const Knob *space_knob(const Space *s, const Config *c, int at);
/* Each knob of the path is drawn in turn, so options of one knob are equally likely. */
Config space_sample(Space *s, Rng *rng);
/* All configs in a fixed order: the last knob changes fastest. False: *c was the last one and is the first again. */
Config space_begin(Space *s);
bool space_next(Space *s, Config *c);
/* c with another option of one knob. Knobs that it opens keep the picks of those of the same name. */
Config space_move(Space *s, const Config *c, int at, int option);
/* The config of `to` that is most like c of `from`; false: they do not have the same knobs. */
bool space_alike(Space *to, const Space *from, const Config *c, Config *out);
/* How many knobs two configs of the Space pick differently; a knob that one of them lacks counts. */
int space_distance(const Space *s, const Config *a, const Config *b);
/* What the algorithms among the knobs' options save, as op/algo.h has it; 1: there are none. */
void space_saves(const Space *s, double *least, double *most);
/* The trace that a config stands for. */
Trace *space_trace(Space *s, const Config *c, Arena *a, Err *err);
/* "tile=2x14 order=row" */
void space_print_config(Text *out, const Space *s, const Config *c);

/*
 * The naive set of the task with the trace applied, verified, each access proved to stay inside its buffer: what
 * code is made of. It asks no template: every record replays from its text with the template table empty.
 */
KernelSet *schedule_replay(Ir *ir, const Task *task, const Target *target, const Trace *t, Err *err);
/*
 * The same, neither verified nor proved: for estimates, which need many. Each step refuses what is illegal; the
 * verifier looks for what a step did wrong. No code is made of it.
 */
const KernelSet *schedule_draft(Ir *ir, const Task *task, const Target *target, const Trace *t, Err *err);

#endif
