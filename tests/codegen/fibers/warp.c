/* Instructions that the lanes of a warp do together. */
#include "block.h"

#include "runtime/half.h"

#include <stdbool.h>
#include <string.h>

void nvvm_bar_warp_sync(uint32_t mask);
void nvvm_bar_warp_sync(uint32_t mask)
{
	fiber_meet(mask, NULL, NULL, __builtin_return_address(0));
}

/* What a lane brings, the lane that it wants, what it gets: PTX ISA, shfl.sync. */
typedef struct Shuffle {
	uint32_t value, from, got;
} Shuffle;

static void shuffled(void *const lane[FIBER_WARP])
{
	for (int k = 0; k < FIBER_WARP; k++) {
		Shuffle *mine = lane[k];
		if (mine == NULL)
			continue;
		const Shuffle *other = lane[mine->from];
		mine->got = other != NULL ? other->value : 0xffffffff; /* of a lane that is not there: undefined */
	}
}

static uint32_t exchange(uint32_t mask, uint32_t value, uint32_t from, uint32_t good, const void *where)
{
	Shuffle s = { value, good ? from : fiber_thread()->lane, 0 };
	fiber_meet(mask, shuffled, &s, where);
	return s.got;
}

/* `segment` and `clamp` of the last operand bound the lanes that may be read. */
#define SHUFFLE(mode, lane_from, is_good) \
	uint32_t nvvm_shfl_sync_##mode##_i32(uint32_t mask, uint32_t value, uint32_t b, uint32_t c); \
	float nvvm_shfl_sync_##mode##_f32(uint32_t mask, float value, uint32_t b, uint32_t c); \
	static uint32_t mode##_shuffle(uint32_t mask, uint32_t value, uint32_t b, uint32_t c, const void *where) \
	{ \
		uint32_t lane = fiber_thread()->lane, segment = c >> 8 & 31, clamp = c & 31; \
		uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment; \
		uint32_t from = (lane_from); \
		b &= 31; \
		(void)least; \
		return exchange(mask, value, from & 31, is_good, where); \
	} \
	uint32_t nvvm_shfl_sync_##mode##_i32(uint32_t mask, uint32_t value, uint32_t b, uint32_t c) \
	{ \
		return mode##_shuffle(mask, value, b & 31, c, __builtin_return_address(0)); \
	} \
	float nvvm_shfl_sync_##mode##_f32(uint32_t mask, float value, uint32_t b, uint32_t c) \
	{ \
		union { \
			float f; \
			uint32_t u; \
		} v = { .f = value }; \
		v.u = mode##_shuffle(mask, v.u, b & 31, c, __builtin_return_address(0)); \
		return v.f; \
	}
SHUFFLE(idx, least | (b & ~segment), from <= most)
SHUFFLE(up, lane - b, lane >= b && (int32_t)from >= (int32_t)most)
SHUFFLE(down, lane + b, from <= most)
SHUFFLE(bfly, lane ^ b, from <= most)

uint32_t nvvm_f2tf32_rna(float v);
uint32_t nvvm_f2tf32_rna(float v)
{
	uint32_t u;
	memcpy(&u, &v, sizeof u);
	return (u + 0x1000) & ~UINT32_C(0x1fff); /* to nearest, ties away from zero */
}

/* ---- mma ---- */

typedef struct Product { /* of one lane */
	uint32_t factor, depth;
	const uint32_t *words;
	float *sums;
} Product;

/* Element k of a lane's factor. */
static float element(uint32_t factor, const uint32_t *words, int k)
{
	float v;
	if (factor == FIBER_TF32) {
		memcpy(&v, &words[k], sizeof v);
		return v;
	}
	uint16_t bits = (uint16_t)(words[k / 2] >> 16 * (k % 2));
	return factor == FIBER_F16 ? (float)half_to_double(HALF_F16, bits)
	                                   : (float)half_to_double(HALF_BF16, bits);
}

/* PTX ISA, "Matrix Fragments for mma.m16n8k8" and "m16n8k16": rows and columns as they are written there. */
static void multiplied(void *const lane[FIBER_WARP])
{
	float a[16][16] = { { 0 } }, b[16][8] = { { 0 } };
	for (int k = 0; k < FIBER_WARP; k++) {
		const Product *p = lane[k];
		int group = k >> 2, in_group = k % 4, na = (int)p->depth / 2, nb = na / 2;
		bool tf = p->factor == FIBER_TF32;
		const uint32_t *wb = p->words + (tf ? na : na / 2); /* elements of 16 bits are pairs */
		for (int i = 0; i < na; i++) {
			int row = tf ? group + (i == 1 || i == 3 ? 8 : 0) : group + ((i >= 2 && i < 4) || i >= 6 ? 8 : 0);
			int col = tf ? in_group + (i >= 2 ? 4 : 0) : in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
			a[row][col] = element(p->factor, p->words, i);
		}
		for (int i = 0; i < nb; i++) {
			int row = tf ? in_group + 4 * i : in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0);
			b[row][group] = element(p->factor, wb, i);
		}
	}
	for (int k = 0; k < FIBER_WARP; k++) {
		const Product *p = lane[k];
		for (int i = 0; i < 4; i++) {
			int row = (k >> 2) + (i < 2 ? 0 : 8), col = (k % 4) * 2 + (i & 1);
			for (uint32_t d = 0; d < p->depth; d++)
				p->sums[i] += a[row][d] * b[d][col];
		}
	}
}

void fiber_mma(uint32_t factor, uint32_t depth, const uint32_t *words, float *sums)
{
	Product p = { factor, depth, words, sums };
	fiber_meet(UINT32_MAX, multiplied, &p, __builtin_return_address(0));
}

/* ---- ldmatrix ---- */

typedef struct Matrices { /* of one lane */
	uint32_t n, transposed;
	const void *row;
	uint32_t *words;
} Matrices;

/* PTX ISA, ldmatrix: row r of matrix m begins where lane 8 m + r says; elements of 16 bits. */
static void loaded(void *const lane[FIBER_WARP])
{
	uint16_t at[4][8][8];
	const Matrices *first = lane[0];
	for (uint32_t k = 0; k < 8 * first->n; k++)
		memcpy(at[k / 8][k % 8], ((const Matrices *)lane[k])->row, sizeof at[0][0]);
	for (int k = 0; k < FIBER_WARP; k++) {
		const Matrices *own = lane[k];
		for (uint32_t m = 0; m < own->n; m++) {
			int i = k / 4, j = k % 4 * 2;
			uint32_t low = own->transposed ? at[m][j][i] : at[m][i][j];
			uint32_t high = own->transposed ? at[m][j + 1][i] : at[m][i][j + 1];
			own->words[m] = low | high << 16;
		}
	}
}

void fiber_ldmatrix(uint32_t n, uint32_t transposed, const void *row, uint32_t *words)
{
	Matrices m = { n, transposed, row, words };
	fiber_meet(UINT32_MAX, loaded, &m, __builtin_return_address(0));
}
