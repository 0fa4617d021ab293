/* What Keras 1 wrote otherwise than versions 2 and 3: words of configurations and layouts of weights. */
#ifndef FRONTEND_KERAS_LEGACY_H
#define FRONTEND_KERAS_LEGACY_H

#include "frontend/keras/keras.h"

/* The layer in today's words, itself if it has them; *old: some words are of version 1. NULL and err: refused. */
const Json *keras_upgrade(Arena *a, const Json *layer, bool *old, Err *err);
/* How many data sets version 1 has for each weight of a layer; order[i]: the gate, in today's order, of the i-th. */
int keras_old_gates(const KerasLayer *l, int *order);
/* Turns a weight of version 1 as versions 2 and 3 have it. */
void keras_old_layout(Arena *a, const KerasLayer *l, const char *slot, Shape need, Hdf5Data *d);
bool keras_join_gates(Arena *a, const char *place, Hdf5Data *part, int n, Hdf5Data *out, Err *err);

#endif
