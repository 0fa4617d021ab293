/* Regions of images, read at computed places: RoiAlign as ONNX, Caffe2, MXNet and torchvision have it. */
#ifndef FRONTEND_NODE_ROI_ALIGN_H
#define FRONTEND_NODE_ROI_ALIGN_H

#include "frontend/node/visit.h"

typedef struct Regions {
	int64_t height, width; /* of a result */
	int64_t samples;       /* of a bin along an axis; 0: as many as it has elements, for regions that are known */
	double scale;          /* of the places of regions */
	bool half_pixel, max;  /* places lie half an element further; the largest sample counts, not the mean */
} Regions;

/* x [N,C,H,W], rois [count,4] (left, top, right, bottom), which [count], the image of each: [count,C,height,width]. */
int node_roi_align(Visit *v, int x, Item *rois, int which, const Regions *is);

#endif
