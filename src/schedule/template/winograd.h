/*
 * The Winograd branch of the convolution's template: its knobs, and the steps that a choice of them
 * stands for. Transformations and products go over blocks of tile rows, so that V and M stay in the
 * cache; the product is a register tile of p tiles by f vectors of output channels.
 */
#ifndef SCHEDULE_TEMPLATE_WINOGRAD_H
#define SCHEDULE_TEMPLATE_WINOGRAD_H

#include "schedule/sketch.h"

/* What is picked; read by the steps alone. */
typedef struct WinogradKnobs {
	int64_t tiles;  /* of a block, at most; 0: all in one */
	int64_t tile;   /* of the product: f * 1000 + p */
	int64_t unroll; /* input channels at a time */
	int64_t edges;  /* 1: the first and last tiles of a row are code of their own */
	int64_t ahead;  /* 1: the next weights are asked for while these are used */
	int64_t order;  /* 0: weights stay while tiles pass; 1: tiles stay */
} WinogradKnobs;

/* A 3x3 convolution of stride 1 of blocked channels, on a CPU, with tiles of m x m outputs. */
bool winograd_fits(const Task *task, const Target *target, int64_t m);
/*
 * What is likely best before anything is known: 0 (direct), 2 or 4. Arithmetic at the machine's rate and the time
 * in which cold weights come, which grow with the tile: the longer of both, and half of the other.
 */
int64_t winograd_guess(const Task *task, const Target *target);
/* Declares the knobs "wino.*" or reads them. The same for all m: call it once. */
WinogradKnobs winograd_knobs(Sketch *s);
/* Appends the trace; the first step is compute, so nothing may stand before it. */
void winograd_steps(Sketch *s, int64_t m, WinogradKnobs k);

#endif
