/* The attributes that ONNX's convolutions and poolings share, as numbers: padding by name (auto_pad) is resolved. */
#ifndef FRONTEND_ONNX_WINDOWS_H
#define FRONTEND_ONNX_WINDOWS_H

#include "frontend/node/windows.h"

/* Of the node's input 0. `kernel`: the sizes without the attribute; NULL: the attribute is required. */
Windows onnx_windows(Visit *v, const int64_t *kernel);

#endif
