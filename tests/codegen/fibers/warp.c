/* Instructions that the lanes of a warp do together. */
#include "block.h"

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
