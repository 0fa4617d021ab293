/* Windows of layers by their settings. All are computed with channels second, for both values of data_format. */
#ifndef FRONTEND_KERAS_WINDOW_H
#define FRONTEND_KERAS_WINDOW_H

#include "frontend/keras/keras.h"
#include "frontend/node/windows.h"

/* The input of a layer with channels second, and a result in the layer's own order. */
int keras_windowed(Visit *v, bool last);
int keras_in_format(Visit *v, int y, bool last);
/* Windows from the setting `size`, strides and dilations; a pool's strides are its size. */
Windows keras_windows(Visit *v, const Shape *s, const char *size, bool pool);
void keras_pad_windows(Visit *v, Windows *w, const Shape *s);
/* The weight [spatial..,a,b] as [b,a,spatial..]. */
int keras_kernel(Visit *v, const char *slot, const Windows *w, int64_t a, int64_t b);
int64_t keras_count(Visit *v, const char *name, int64_t otherwise); /* a setting of at least 1 */
int keras_bias(Visit *v, int64_t n);                                /* DAG_NONE: the layer has none */

#endif
