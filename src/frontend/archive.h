/*
 * Zip archives, as Keras, PyTorch and CoreML tools write them, read by libzip from memory. They come from strangers:
 * entries with paths that leave the archive, links, encrypted ones, names twice, and sizes that no deflated data can
 * have are refused when the archive is opened.
 */
#ifndef FRONTEND_ARCHIVE_H
#define FRONTEND_ARCHIVE_H

#include "base/file.h"

typedef struct Archive Archive;

/* NULL and err if the file is no such archive, or if dlc was built without libzip. Lives as long as the arena. */
Archive *archive_open(Arena *a, const char *name, Bytes file, Err *err);
size_t archive_count(const Archive *z);
const char *archive_name(const Archive *z, size_t k); /* "resnet/data/0"; folders end with '/' */
/* -1: there is no entry of that name. */
int64_t archive_find(const Archive *z, const char *name);
/* The entry's content, checked by its sum; 64 bytes aligned, at[n] is 0. */
bool archive_read(Archive *z, size_t k, Bytes *out, Err *err);

#endif
