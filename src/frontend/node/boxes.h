/*
 * Boxes of detectors, ordered by their scores, and which of them others hide: what MXNet's and Caffe's layers share.
 * Sizes are known, so results have a place for each box.
 */
#ifndef FRONTEND_NODE_BOXES_H
#define FRONTEND_NODE_BOXES_H

#include "frontend/node/visit.h"

/* The four columns of boxes [batch, n, 4]: left, top, right, bottom. */
typedef struct Corners {
	int at[4];
} Corners;

typedef struct Suppression {
	double limit;
	bool least;    /* an overlap of the limit hides */
	bool all;      /* boxes of other classes, too */
	int id, valid; /* [batch, k, 1], ordered; id DAG_NONE: one class */
} Suppression;

/* Column k of the last dimension, which stays as 1. */
int node_column(Visit *v, int x, int64_t k);
/* `centre`: the boxes are a centre and a size. */
Corners node_corners(Visit *v, int boxes, bool centre);
/* The common area over that of both, [batch, n, m]; 0 where both have none. */
int node_overlap(Visit *v, const Corners *a, const Corners *b);
/* Rows of x [batch, n, ..] in another order, places [batch, k]. */
int node_reorder(Visit *v, int x, int places);
/* Places [batch, k] of the k largest of keys [batch, n], equal ones in their order. */
int node_order_of(Visit *v, int keys, int64_t k);
/* Which of ordered boxes stay: bool[batch, k, 1]. */
int node_suppress(Visit *v, const Suppression *s, const Corners *boxes);

#endif
