/*
 * Parts of a nest's axes, as the generated space (loops.c) asks for them: which axis is the vector and how wide, and
 * which other one is tiled, by how much.
 */
#ifndef SCHEDULE_TEMPLATE_LOOP_PART_H
#define SCHEDULE_TEMPLATE_LOOP_PART_H

#include "schedule/sketch.h"
#include "schedule/template/loop_nest.h"

/* Some iterations of an axis; axis -1: none. */
typedef struct Part {
	int axis;
	int64_t size;
} Part;

/* A knob of the nest: the option taken, or `first` where the nest asks for none. */
int loop_part_ask(Sketch *s, const Nest *n, const char *what, const KnobOption *option, int count, int first);
bool loop_part_flag(Sketch *s, const Nest *n, const char *what, bool first);
KnobOption loop_part_option(const Nest *n, Part p);
/* The outermost axis of results, where threads share a nest; -1: there is one thread. */
int loop_part_shared(const Sketch *s, const Nest *n);
/*
 * Whether parts of that axis may overlap at its end: threads would store the same elements. A last part that goes from
 * one block of a tensor to the next one would be no vector there, and the places in blocks unknown in all parts.
 */
bool loop_part_overlaps(const Nest *n, Part p);
/* Asks for "vector": the axis of lanes, and how many. */
Part loop_part_vector(Sketch *s, const Nest *n);
/* Asks for "tile": a few iterations of another axis than the vector's. */
Part loop_part_tile(Sketch *s, const Nest *n, Part vec);
/*
 * The reduction axis of a window along which neighbours of the tile read the same elements, if it may be written out.
 * As the innermost one it lets each of them be loaded once. -1: there is none.
 */
int loop_part_window(const Nest *n, Part tile);
/* Whether registers hold the sums and as many elements, and each is read twice or more, or they are many. */
bool loop_part_window_serves(const Sketch *s, const Nest *n, int k, Part tile);

#endif
