/*
 * The schedule of a Task that has no record, by a learned model: of some configs of its space the one that the model
 * ranks first, if that is expected to be faster than the template's default by more than the model's margin. The margin
 * comes with the model; it was found on Tasks that were held out of its training. What was chosen is kept in a file of
 * the user's cache, by Task, for one target, model, version of dlc and epoch of the code generator: another version may
 * estimate otherwise, and what a cache holds must not decide which bundle is made.
 */
#ifndef COMPILE_UNTUNED_H
#define COMPILE_UNTUNED_H

#include "cost_model/learned_file.h"
#include "schedule/space.h"

typedef struct Untuned Untuned;

typedef struct UntunedPick {
	const char *trace;
	const char *config; /* of the space: "2.0.11" */
	double gain;        /* expected time of the default over that of the schedule */
} UntunedPick;

/*
 * The model of a file. folder: where choices are kept; NULL: nowhere. NULL: it is no use, and err says why; or it gains
 * nothing on such targets, and err says nothing.
 */
Untuned *untuned_open(Arena *a, const char *path, const Target *t, const char *folder, Err *err);
/* Writes what was chosen since it was opened; a sentence if there was something wrong with the file, else NULL. */
const char *untuned_save(Untuned *u);
/*
 * False: the default stays. Costs CHOOSE_UNTUNED_TRIED estimates if the choice is not kept already. The pick is the
 * arena's.
 */
bool untuned_pick(Untuned *u, Space *space, UntunedPick *out, Arena *a);
/* Nanoseconds of one call, as the model believes. */
double untuned_ns(const Untuned *u, const KernelSet *ks, const Task *task);
/* What a schedule without a record must be faster by than the default: a factor above 1. */
double untuned_margin(const Untuned *u);

/* A config as text, and back: false where the text is none. */
const char *untuned_print_config(Arena *a, const Config *c);
bool untuned_parse_config(const char *text, Config *out);

#endif
