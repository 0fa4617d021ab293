/*
 * A device of tests that is not the host. Nobody else may follow its addresses. It finds kernels by their names, starts
 * them with the launch that is given, and does nothing before it must (synchronize). Its kernels are the test kernels,
 * one call for each thread of the grid.
 */
#ifndef TESTS_RUNTIME_FAR_H
#define TESTS_RUNTIME_FAR_H

#include "runtime/device.h"

#define FAR ((uintptr_t)1 << 62) /* set in its addresses, in none of this machine's */

enum { FAR_LAUNCHES = 16 };

extern const Device device_far; /* its type is CUDA's */
extern int far_held;            /* allocations, contexts, streams, code */
/* Threads of the launches, in order, + 1000000 for each byte of shared memory. */
extern uint32_t far_launched[FAR_LAUNCHES];
extern int far_nlaunched;
extern int far_downs; /* copies to the host */

extern int far_room;            /* allocations that still have memory; negative: all have */
extern int far_lost;            /* what lost the device; 0: it works */
/* As an earlier launch leaves the stream when its kernel fails. */
void far_fail(DeviceStream *s, int status);

#endif
