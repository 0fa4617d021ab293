/* An image read at the places of a grid, as ONNX and PyTorch have it. */
#ifndef FRONTEND_NODE_GRID_SAMPLE_H
#define FRONTEND_NODE_GRID_SAMPLE_H

#include "frontend/node/visit.h"

typedef enum { GRID_ZEROS, GRID_BORDER, GRID_REFLECTION } GridPadding;

typedef struct GridSampling {
	GridPadding padding;
	bool corners; /* -1 and 1 are the centres of the outer elements, not their edges */
	int taps;     /* of one dimension: 1 nearest, 2 linear, 4 cubic */
} GridSampling;

/* image [N,C,S], grid [N,out..,spatial], the last dimension of the image first: [N,C,out..]. */
int node_grid_sample(Visit *v, int image_value, int grid_value, const GridSampling *s);

#endif
