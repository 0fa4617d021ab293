/*
 * HDF5 files, as Keras writes weights, read by libhdf5 from memory: groups, data sets and attributes by path. They come
 * from strangers: links to other files and data sets in other files are refused, sizes are checked before their use.
 * Damaged files make libhdf5 1.10 crash, loop and take all memory, so it reads in a child process (hdf5_serve.h).
 */
#ifndef FRONTEND_HDF5_FILE_H
#define FRONTEND_HDF5_FILE_H

#include "base/file.h"
#include "op/dag.h"

typedef struct Hdf5 Hdf5;

/* NULL and err if the file is no such file, or if dlc was built without libhdf5. Lives as long as the arena. */
Hdf5 *hdf5_open(Arena *a, const char *name, Bytes file, Err *err);
/*
 * Ends the child, which else the arena does; nothing is read after that. False: libhdf5 failed meanwhile, and from then
 * on the file seemed to be empty. err says that, in place of what was concluded from it. NULL is allowed.
 */
bool hdf5_close(Hdf5 *h, Err *err);

/* The names in a group, in order; *n = -1: there is no such group. */
const char *const *hdf5_names(Hdf5 *h, const char *group, int *n);
bool hdf5_has(Hdf5 *h, const char *path); /* a group or a data set that is there */
/* A data set of numbers as little-endian row-major data. */
typedef struct Hdf5Data {
	DType type;
	Shape shape;
	const void *data;
} Hdf5Data;
bool hdf5_read(Hdf5 *h, const char *path, Hdf5Data *out, Err *err);
/* A text attribute of a group or a data set; NULL: it has none of that name. */
const char *hdf5_text(Hdf5 *h, const char *path, const char *attribute);
/* An attribute that is a list of texts; NULL and *n = -1: there is none. */
const char *const *hdf5_texts(Hdf5 *h, const char *path, const char *attribute, int *n);

/*
 * Asks for many at once, which are read one after another while others are used: names of groups, data sets, or text
 * attributes of one name. The functions above then return them. Those that are not used after all cost the time to
 * read them.
 */
void hdf5_expect_names(Hdf5 *h, const char *const *group, size_t n);
void hdf5_expect_texts(Hdf5 *h, const char *const *path, size_t n, const char *attribute);
void hdf5_expect_data(Hdf5 *h, const char *const *path, size_t n);

/* For tests: the number of the child. */
int hdf5_child(const Hdf5 *h);

#endif
