/*
 * The child's side of hdf5_file.h: it opens the file with libhdf5, says so in a first answer, and answers requests.
 * Both processes are one program, so messages are structs. The parent checks answers as it would a stranger's.
 */
#ifndef FRONTEND_HDF5_SERVE_H
#define FRONTEND_HDF5_SERVE_H

#include "base/file.h"
#include "op/dag.h"

typedef enum { HDF5_HAS, HDF5_NAMES, HDF5_TEXTS, HDF5_READ } Hdf5Ask;

enum { HDF5_MOST_PATH = 4096, HDF5_MOST_NAME = 1024, HDF5_MOST_NAMES = 1 << 16, HDF5_MOST_TEXT = 1 << 26 };
/* Data may be this many times as large as the whole file, for compressed ones that are mostly zeros. */
enum { HDF5_MOST_RATIO = 64 };

typedef struct Hdf5Request {
	Hdf5Ask ask;
	uint32_t number;
	uint64_t bytes; /* that follow: more paths, each ended by a 0, of which each gets its own answer behind the first */
	char path[HDF5_MOST_PATH];
	char attribute[HDF5_MOST_NAME];
} Hdf5Request;

typedef enum {
	HDF5_FOUND,
	HDF5_ABSENT,
	HDF5_DAMAGED, /* libhdf5 says no */
	HDF5_GROUP,
	HDF5_ELSEWHERE,
	HDF5_NOT_NUMBERS,
	HDF5_RANK,
	HDF5_LARGE,
	HDF5_WORDS,
} Hdf5Word;

typedef struct Hdf5Answer {
	uint32_t number; /* the request's; 0: the file is open */
	uint32_t word;
	uint64_t texts; /* names or texts, each ended by a 0 */
	uint64_t bytes; /* that follow: texts or data */
	DType type;
	Shape shape;
} Hdf5Answer;

/* In the parent, before the child is made. */
bool hdf5_library_open(const char *name, Err *err);
/* In the child, by its Bytes: until the parent ends. */
void hdf5_serve(void *file);

/* Of hdf5_file.c, for both: bytes of data that a file of so many may have; -1: it cannot have that shape. */
int64_t hdf5_data_bytes(DType type, Shape shape, size_t file);

#endif
