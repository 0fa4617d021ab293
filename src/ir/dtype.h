/*
 * Element types: {kind, bits, lanes}, by value. The kinds are DLPack's type codes, so that a
 * tensor's type and an expression's are the same numbers. Sub-byte types are packed, first element
 * in the low bits. bool takes a byte. Text: f32 bf16 i64 u8 bool i4, and f32x16 for a vector.
 */
#ifndef IR_DTYPE_H
#define IR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
	DT_INT = 0,
	DT_UINT = 1,
	DT_FLOAT = 2,
	DT_BFLOAT = 4,
	DT_BOOL = 6,
} DTypeKind;

typedef struct DType {
	uint8_t kind, bits;
	uint16_t lanes; /* 1: a scalar */
} DType;

#define DT(k, b) ((DType){ DT_##k, (b), 1 })
#define F16 DT(FLOAT, 16)
#define F32 DT(FLOAT, 32)
#define F64 DT(FLOAT, 64)
#define I64 DT(INT, 64)
#define I32 DT(INT, 32)
#define BOOL DT(BOOL, 8)

static inline bool dtype_eq(DType a, DType b)
{
	return a.kind == b.kind && a.bits == b.bits && a.lanes == b.lanes;
}

static inline bool dtype_is_float(DType t) /* FLOAT or BFLOAT */
{
	return t.kind == DT_FLOAT || t.kind == DT_BFLOAT;
}

static inline bool dtype_is_int(DType t) /* INT or UINT, not BOOL */
{
	return t.kind == DT_INT || t.kind == DT_UINT;
}

static inline DType dtype_vector(DType t, int lanes)
{
	t.lanes = (uint16_t)lanes;
	return t;
}

static inline DType dtype_scalar(DType t)
{
	return dtype_vector(t, 1);
}

bool dtype_known(DType t); /* a kind and width of the table, 1 to DTYPE_LANES lanes */

enum { DTYPE_TEXT = 16, DTYPE_LANES = 4096 };
/* Writes "f32x16"; returns `out`. */
const char *dtype_print(DType t, char out[DTYPE_TEXT]);
/* Reads exactly n characters; false if they name no type dlc knows. */
bool dtype_parse(const char *s, size_t n, DType *out);

/* The value as an element of the type holds it: rounded (to nearest even), or wrapped. */
double dtype_round(DType t, double v);   /* t floating; every NaN becomes the one quiet NaN */
uint16_t dtype_half_bits(DType t, double v); /* t f16 or bf16; the same, as bits: see runtime/half.h */
double dtype_half_value(DType t, uint16_t bits);
int64_t dtype_wrap(DType t, int64_t v);  /* t integer or bool; u64 keeps its bits */
/* The conversions of IR_CAST: saturating, NaN gives 0; rounded once; `from` tells u64 from i64. */
int64_t dtype_float_to_int(DType t, double v);
double dtype_int_to_float(DType t, DType from, int64_t v);

/* Bytes of n packed elements, rounded up; -1 if that overflows. */
int64_t dtype_bytes(DType t, int64_t n);

#endif
