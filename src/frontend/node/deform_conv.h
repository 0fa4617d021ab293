/*
 * A convolution whose taps are moved by offsets, as ONNX, MXNet and torchvision have it. Elements between the taps are
 * interpolated from their four neighbours, whose channels lie side by side; then the convolution is a product of
 * matrices. A ring of zeros around the input stands for all that lies outside, so that each neighbour has a place.
 */
#ifndef FRONTEND_NODE_DEFORM_CONV_H
#define FRONTEND_NODE_DEFORM_CONV_H

#include "frontend/node/windows.h"

/*
 * Values: x [N,C,H,W], w [O,C/groups,KH,KW], offset [N,moved*KH*KW*2,OH,OW] (down, right of each tap), b [O] and mask
 * [N,moved*KH*KW,OH,OW] or DAG_NONE. `moved` groups of channels have offsets of their own. All shapes are checked.
 */
typedef struct DeformConv {
	int x, w, offset, b, mask;
	Windows windows; /* two spatial dimensions */
	int64_t groups, moved;
	/* As MXNet has it: a tap is 0 before the first element and from the end on; behind the last element it is that. */
	bool clamped;
} DeformConv;

/* [N,O,OH,OW] in x's type. */
int node_deform_conv(Visit *v, const DeformConv *c);

#endif
