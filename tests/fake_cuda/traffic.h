/*
 * What the callers of the fake driver ask of a device: calls and bytes. FAKE_CUDA_TRAFFIC=FILE names a file of this
 * size, in which all processes count together, so that a test sees what its children do.
 */
#ifndef TESTS_FAKE_CUDA_TRAFFIC_H
#define TESTS_FAKE_CUDA_TRAFFIC_H

#include <stdint.h>

typedef struct FakeTraffic {
	_Atomic uint64_t ups, up_bytes;     /* copies from the host */
	_Atomic uint64_t downs, down_bytes; /* to the host */
	_Atomic uint64_t fills, fill_bytes;
	_Atomic uint64_t waits, launches, loads, allocations;
} FakeTraffic;

#endif
