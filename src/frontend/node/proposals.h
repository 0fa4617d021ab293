/*
 * The regions that a network of regions proposes: boxes around the places of a map of features, moved by what the
 * network says, the best of them that do not overlap. py-faster-rcnn, its forks of Caffe, and MXNet have it.
 */
#ifndef FRONTEND_NODE_PROPOSALS_H
#define FRONTEND_NODE_PROPOSALS_H

#include "frontend/node/visit.h"

typedef struct Proposals {
	const float *ratio, *scale; /* of anchors: height / width, and times the base */
	int nratio, nscale;
	double base, stride;  /* the side of a square; the distance of places in the image */
	double limit, least;  /* an overlap above it hides; the least side of a box, before the image was scaled */
	int64_t ranked, most; /* boxes that are compared, 0: all; rows of each image */
	/*
	 * MXNet's formulas: half a side is (side - 1) / 2; boxes below the least side stay, with the score -1, as those of
	 * places behind the image do; rows repeat where fewer boxes are found. Else as py-faster-rcnn: rows behind the
	 * found ones are -1.
	 */
	bool mxnet;
	bool corners; /* offsets move corners, else centre and size */
} Proposals;

enum { MOST_PROPOSALS = 1 << 14 /* compared boxes: they are a matrix */ };

/*
 * From inputs 0 (scores [N,2A,H,W], the second half), 1 (offsets [N,4A,H,W]) and 2 (height, width and scale of each
 * image, [N,3]): rows [N * most, 5] of the image's number and a box, and *score [N * most, 1].
 */
int node_proposals(Visit *v, const Proposals *p, int *score);

#endif
