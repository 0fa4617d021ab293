/* Regions of images, the greatest element of each bin: ONNX's MaxRoiPool, ROIPooling of MXNet and Caffe, roi_pool. */
#ifndef FRONTEND_NODE_ROI_POOL_H
#define FRONTEND_NODE_ROI_POOL_H

#include "frontend/node/visit.h"

typedef struct RegionPool {
	int64_t height, width; /* of a result */
	double scale;          /* of the places of regions */
} RegionPool;

/* x [N,C,H,W], rois [count,5] (number of the image, left, top, right, bottom): [count,C,height,width]. */
int node_roi_pool(Visit *v, int x, int rois, const RegionPool *p);
/*
 * The mean of each bin, of channels of its own: R-FCN's PSROIPooling. x [N,C * n * n,H,W], n = p->height = p->width:
 * [count,C,n,n]. Edges of bins are not whole; a bin is the elements that it touches. 0 where it has none.
 */
int node_psroi_pool(Visit *v, int x, int rois, const RegionPool *p);

#endif
