/*
 * Winograd's algorithm as templates schedule it: winograd.c on CPUs, coop_wino.c on devices that run warps of threads.
 */
#ifndef SCHEDULE_TEMPLATE_WINOGRAD_H
#define SCHEDULE_TEMPLATE_WINOGRAD_H

#include "schedule/sketch.h"

extern const char winograd_algo[]; /* its name */

typedef struct WinoConv {
	const Dag *d;
	const OpCall *c;
	int64_t batch, channels, filters, height, width; /* of the output */
	/* Along both axes of images: elements of the window, outputs and points of a tile, tiles. */
	int64_t window[2], outputs[2], points[2], tiles[2];
	int64_t all_points; /* of a tile: those of both axes, multiplied */
	int64_t lanes;
	double bytes; /* bytes of an element */
} WinoConv;

/* The Task's anchor, if the algorithm takes it with tiles of m outputs along each axis of its window. */
bool winograd_find(const Task *task, const Target *target, int64_t m, WinoConv *out);
/* Steps of the prepare Fn, which transforms the weights in f64. */
void winograd_weights(Sketch *s, const WinoConv *v);

#endif
