/*
 * Pickles as PyTorch writes them. Nothing of them is executed: objects keep their class's name and state, calls of the
 * few functions that PyTorch's own files need are read as what they make, and any other name is refused.
 */
#ifndef FRONTEND_PYTORCH_PICKLE_H
#define FRONTEND_PYTORCH_PICKLE_H

#include "base/map.h"
#include "frontend/archive.h"
#include "frontend/pytorch/tensor.h"

/* The value of a pickle. Tensors lie in entries "FOLDER" + key of the archive, which may be NULL: none is allowed. */
bool torch_unpickle(Arena *a, const char *name, Bytes file, Archive *z, const char *folder, TorchValue *out, Err *err);
/* A tensor of the file. Those of one entry share their elements: `storage` has the first one of each. */
TorchTensor *torch_saved(Arena *a, Map *storage, const TorchSaved *s);
/* The type, shape and data of a saved tensor, checked against its entry. *copied: its elements were gathered. */
bool torch_saved_read(Arena *a, const TorchSaved *s, Item *out, bool *copied, Err *err);

#endif
