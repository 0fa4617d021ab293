/*
 * Calls on images and boxes that layers of networks and operators of ML programs share, with plain arguments.
 */
#ifndef FRONTEND_COREML_IMAGE_H
#define FRONTEND_COREML_IMAGE_H

#include "frontend/node/visit.h"

/* ---- images (call_resize.c) */

/* Where element i of `out` lies among `in` ones. */
typedef enum {
	GRID_STRICT_CORNERS, /* 0 .. in - 1 */
	GRID_CORNERS,        /* the same; one element lies in the middle */
	GRID_UPSAMPLE,       /* i in / out */
	GRID_ROI,            /* centres of bins of max(1, in - 1) / out */
	GRID_HALF            /* centres of pixels */
} Grid;

/* Linear resampling of an axis. */
int coreml_linear(Visit *v, int x, int axis, int64_t out, Grid grid);
/* The nearest element: floor(i in / out), with `half` floor((i + 0.5) in / out). */
int coreml_nearest(Visit *v, int x, int axis, int64_t out, bool half);

/* How boxes are written, in the order of BoxCoordinatesMode. */
typedef enum { BOX_CORNERS_H, BOX_CORNERS_W, BOX_CENTRE_H, BOX_CENTRE_W } BoxOrder;
typedef struct CoremlCropping {
	int64_t size[2];
	bool normalised;
	Grid grid;
	BoxOrder order;
	double scale; /* of coordinates */
	bool padded;  /* with 0 around the image; else a place outside counts as the nearest inside */
} CoremlCropping;
/* Boxes of images: x[R,C,H,W], an image a box; boxes[R,4], f32. */
int coreml_crop(Visit *v, int x, int boxes, const CoremlCropping *c);

/* ---- boxes (call_boxes.c) */

typedef struct CoremlSuppression {
	double limit, score; /* of the common area, and the least score */
	int64_t most;
	bool by_class; /* boxes hide those of the same class only */
} CoremlSuppression;

/*
 * Of boxes [B,N,4], a centre and a size, with scores [B,N,C]: the chosen boxes and scores, their places and how many
 * there are. Behind them stand zeros, and places -1. A batch without any has its best box.
 */
void coreml_suppress(Visit *v, int boxes, int scores, const CoremlSuppression *s, int *out);

#endif
