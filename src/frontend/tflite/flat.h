/*
 * FlatBuffers, read in place: tables, whose fields a table of offsets finds, and vectors. Offsets only point forwards,
 * so there are no cycles, but several may point to one place: all that is read together is at most as large as the
 * file, or it is refused. The first failure stays; then everything is absent or 0.
 */
#ifndef FRONTEND_TFLITE_FLAT_H
#define FRONTEND_TFLITE_FLAT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"

typedef struct Flat {
	Bytes file;
	size_t left; /* bytes that may still be read */
	Err *err;
} Flat;

/* at 0: there is none. */
typedef struct FlatTable {
	size_t at, fields, nfields; /* itself, its offsets, their number */
} FlatTable;

typedef struct FlatVector {
	const unsigned char *at;
	size_t n, width; /* elements, and bytes of one */
} FlatVector;

typedef enum { FLAT_BOOL, FLAT_I8, FLAT_I32, FLAT_U32, FLAT_I64, FLAT_F32 } FlatKind;

FlatTable flat_root(Flat *f);
bool flat_has(Flat *f, const FlatTable *t, int field);
int64_t flat_int(Flat *f, const FlatTable *t, int field, FlatKind kind, int64_t otherwise);
double flat_float(Flat *f, const FlatTable *t, int field, double otherwise);
FlatTable flat_table(Flat *f, const FlatTable *t, int field);
FlatVector flat_vector(Flat *f, const FlatTable *t, int field, size_t width);
/* Never NULL. */
const char *flat_text(Arena *a, Flat *f, const FlatTable *t, int field);

/* Element k of a vector of tables (width 4); of one of integers. */
FlatTable flat_element(Flat *f, const FlatVector *v, size_t k);
int64_t flat_get_int(const FlatVector *v, size_t k);
float flat_get_float(const FlatVector *v, size_t k);

#endif
