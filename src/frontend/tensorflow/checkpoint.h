/*
 * A checkpoint: PREFIX.index lists its tensors, PREFIX.data-00000-of-00002 and its like hold them. Each block and
 * tensor has a checksum, which is checked when it is read.
 */
#ifndef FRONTEND_TENSORFLOW_CHECKPOINT_H
#define FRONTEND_TENSORFLOW_CHECKPOINT_H

#include "frontend/tensorflow/graph.h"

typedef struct TfCheckpoint TfCheckpoint;

/* The ending of an index, by its last bytes. */
bool tf_is_index(Bytes file);
/*
 * Reads PREFIX.index; shards are mapped when a tensor of theirs is read. With a folder the prefix is a path below it,
 * and no link is followed.
 */
TfCheckpoint *tf_checkpoint_open(Arena *a, const char *folder, const char *prefix, Err *err);
bool tf_checkpoint_has(const TfCheckpoint *c, const char *key);
/* A tensor or the part of it that "6 4 0,3:0,4" names, in one piece however it is stored; part "": all of it. */
bool tf_checkpoint_read(TfCheckpoint *c, const char *key, const char *part, NodeTensor *out, Err *err);

/* Finds the key of each variable: which tensor the savers of the graph restore it from. */
void tf_find_variables(TfGraphs *all);
/* The value of a variable's node. */
bool tf_variable(const TfGraphs *all, const char *node, NodeTensor *out, Err *err);

#endif
