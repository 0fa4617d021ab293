/*
 * Boxes of a tensor: a partitioned variable is stored in slices, each under a key of its own, and a graph reads parts
 * of it.
 */
#ifndef FRONTEND_TENSORFLOW_SLICES_H
#define FRONTEND_TENSORFLOW_SLICES_H

#include "frontend/tensorflow/proto.h"

/* A part of a tensor: start and length of each dimension. */
typedef struct TfBox {
	int64_t start[DAG_MAX_RANK];
	Shape length;
} TfBox;

TfBox tf_box_whole(Shape shape);
/* A slice as a checkpoint's index lists it; false: it does not lie in the shape. */
bool tf_box_listed(const TfSlice *s, Shape shape, TfBox *out);
/* "6 4 0,3:-", as savers write the part of a tensor of shape 6,4; "": all of it. False: it is none of the shape. */
bool tf_box_read(const char *spec, Shape shape, TfBox *out);
/* The key under which a slice of a tensor is stored, in letters. */
const char *tf_slice_key(Arena *a, const char *tensor, const TfSlice *s);
/* Keys of slices begin with a 0; in letters they do not. */
const char *tf_key_letters(Arena *a, const char *key, size_t n);

/* Elements that both have. */
int64_t tf_box_common(const TfBox *a, const TfBox *b);
/* Copies those from one to the other; elements have `size` bytes. */
void tf_box_copy(const TfBox *to, void *data, const TfBox *from, const void *source, size_t size);

#endif
