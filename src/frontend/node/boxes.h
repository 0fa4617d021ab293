/*
 * Boxes of detectors, ordered by their scores, and which of them others hide: what the detectors of all formats share.
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

/* What a non-maximum suppression chooses: at most `most` boxes, which do not overlap by more than `limit`. */
typedef struct Pick {
	double limit, score;
	bool least; /* an overlap of the limit hides */
	bool above; /* scores must be above the score, else at least it */
	bool first; /* the best box is chosen, even below the score */
	bool apart; /* a box hides those of its own class only: id, [batch, n] */
	int id;
	int64_t most;
} Pick;

/* The chosen boxes, best first: places among all and scores [batch, k], k <= most; `given` says which there are. */
typedef struct Picked {
	int at, score, given;
	int64_t k;
} Picked;

enum { NODE_BOXES = 1 << 12, NODE_PAIRS = 1 << 29 /* of boxes, in all batches: they are a matrix */ };

/* Of boxes [batch or 1, n, 4], two corners each, with scores [batch, n], both f32. */
Picked node_pick(Visit *v, int boxes, int scores, const Pick *p);
/* The best of all classes: f32 boxes [batch, total, 4], scores and classes [batch, total], i32 counts [batch]. */
typedef struct Detected {
	int boxes, scores, classes, count;
} Detected;
/* Each class has boxes and scores of its own: [batch * classes, n, 4], [batch * classes, n]. */
Detected node_pick_classes(Visit *v, int boxes, int scores, const Pick *p, int64_t classes, int64_t total);
/* x with zeros behind it, so that an axis has `size` elements. */
int node_pad_to(Visit *v, int x, int axis, int64_t size);

#endif
