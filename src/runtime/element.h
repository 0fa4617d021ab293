/*
 * Elements of tensors as numbers: reading, random filling, comparing.  For programs around the
 * runtime (dlc-run, dlc-worker, the tuner); not part of libdlc_runtime.
 */
#ifndef RUNTIME_ELEMENT_H
#define RUNTIME_ELEMENT_H

#include <stdbool.h>

#include "dlc/dlc_runtime.h"

/* Whether it is a type that is read below: i2..i64 u2..u64 f16..f64 bf16 bool. Below 8 bits the first is the lowest. */
bool element_known(DlcDataType t);
/* Element i of data; 64-bit integers lose what a double cannot hold. */
double element_value(DlcDataType t, const void *data, int64_t i);
/* |got[i] - want[k]|: of whole numbers exact until it is rounded to a double, so that 0 is said of equal ones only. */
double element_distance(DlcDataType t, const void *got, int64_t i, const void *want, int64_t k);
enum { ELEMENT_TEXT = 32 };
/* Element i of data in decimal: whole numbers with all digits, others with nine. Returns `out`. */
const char *element_print(DlcDataType t, const void *data, int64_t i, char out[ELEMENT_TEXT]);
/* Rounds to nearest (floats) or toward zero (integers, which must fit). */
void element_store(DlcDataType t, void *data, int64_t i, double value);

/*
 * Uniform in [lo, hi] (integers: whole numbers of that range).  Element i depends on seed and i
 * alone, so two processes agree on a tensor by its seed.
 */
void element_fill(DlcDataType t, void *data, int64_t n, uint64_t seed, double lo, double hi);

typedef struct Compared {
	double max_error, max_want; /* largest |got - want|, |want| where both are finite */
	int64_t worst; /* index of max_error */
	int64_t nbad; /* NaN or infinite on one side only, or of different sign */
	int64_t nout; /* outside atol + rtol * |want|, the bad ones included */
} Compared;
/* NaN equals NaN and infinity itself. */
Compared element_compare(
	DlcDataType t, const void *got, const void *want, int64_t n, double rtol, double atol);

#endif
