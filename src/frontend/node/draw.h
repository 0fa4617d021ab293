/* Weights that no file gives: drawn from one seed and a key, so that a network is the same in every import. */
#ifndef FRONTEND_NODE_DRAW_H
#define FRONTEND_NODE_DRAW_H

#include "frontend/node/visit.h"

/*
 * n numbers with that mean and deviation. *drawn counts the numbers of an import, which are limited; `what` names these
 * in the refusal. NULL after one.
 */
const float *node_draw(
	Visit *v, int64_t *drawn, const char *what, const char *key, int64_t n, double mean, double spread);

#endif
