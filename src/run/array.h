/*
 * Arrays in files: NumPy's .npy and .npz, ONNX's TensorProto.  A reader works on the bytes of the
 * whole file and never trusts a size in them; an Array points into those bytes where it can.
 */
#ifndef RUN_ARRAY_H
#define RUN_ARRAY_H

#include <stdbool.h>

#include "dlc/dlc_runtime.h"

enum { ARRAY_RANK = 32, ARRAY_NAME = 128 };

typedef struct Array {
	DlcDataType dtype;
	int ndim;
	int64_t shape[ARRAY_RANK];
	int64_t bytes;             /* of the data: what type and shape say */
	const unsigned char *data; /* unaligned, little-endian unless swapped */
	bool fortran, swapped;     /* first dimension fastest; big-endian */
	char name[ARRAY_NAME];     /* empty where the file has none */
	void *owned; /* released by array_free; NULL: data lies in the file's bytes */
} Array;

/* Reads a file, or standard input for "-", into memory that the caller frees. */
DlcStatus array_read_file(const char *path, unsigned char **bytes, size_t *size, DlcError *err);

DlcStatus npy_parse(const unsigned char *bytes, size_t size, Array *out, DlcError *err);
/* The header that makes t's compact data a .npy file; its length, a multiple of 64. */
size_t npy_header(const DlcTensor *t, char out[512]);

bool npz_recognise(const unsigned char *bytes, size_t size);
/* The number of members; the name of one, without ".npy". */
DlcStatus npz_count(const unsigned char *bytes, size_t size, int *n, DlcError *err);
/* Member `index`. */
DlcStatus npz_parse(const unsigned char *bytes, size_t size, int index, Array *out, DlcError *err);

/* An ONNX TensorProto, as in the input_N.pb files of ONNX test data. */
DlcStatus tensor_pb_parse(const unsigned char *bytes, size_t size, Array *out, DlcError *err);

void array_free(Array *a);
/* A tensor of the array's type and shape, which points at a's shape and data. */
DlcTensor array_tensor(Array *a);
/* Copies the data to `to` in row-major order and this machine's byte order; a->bytes bytes. */
void array_copy(const Array *a, void *to);

#endif
