/* The attributes that convolutions and poolings share, as numbers: padding by name (auto_pad) is resolved. */
#ifndef FRONTEND_ONNX_WINDOWS_H
#define FRONTEND_ONNX_WINDOWS_H

#include "frontend/onnx/visit.h"

enum { MOST_SPATIAL = 3 };

typedef struct Windows {
	int n; /* spatial dimensions; 0 after a refusal */
	int64_t kernel[MOST_SPATIAL], stride[MOST_SPATIAL], dilation[MOST_SPATIAL];
	int64_t pads[2 * MOST_SPATIAL];
} Windows;

/* Of the node's input 0. `kernel`: the sizes without the attribute; NULL: the attribute is required. */
Windows onnx_read_windows(Visit *v, const int64_t *kernel);

#endif
