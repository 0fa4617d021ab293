/*
 * The state of a device at this moment, which decides how fast it is: clock, temperature, and what slows it down. It
 * comes from NVML (libnvidia-ml.so.1), opened by name; other devices, and machines without that library, say nothing.
 */
#ifndef RUNTIME_DEVICE_STATE_H
#define RUNTIME_DEVICE_STATE_H

#include "runtime/device.h"

typedef struct DeviceState {
	uint32_t mhz;     /* of its units; 0: not known */
	int32_t celsius;  /* 0: not known */
	uint64_t slowed;  /* bits of slowed.def */
} DeviceState;

/* Of the row's device `id`; zeros where nothing is known. Takes some microseconds after the first call. */
DeviceState device_state(const Device *row, int32_t id);
/* The words of slowed.def for the bits, with commas between; "" for none. */
enum { SLOWED_TEXT = 160 };
const char *device_slowed_text(uint64_t slowed, char out[SLOWED_TEXT]);

#endif
