/*
 * The current state of a device: clock, temperature, and reasons for a lower clock. NVML gives it (libnvidia-ml.so.1,
 * opened by name). For other devices, and without that library, the state is not known.
 */
#ifndef RUNTIME_DEVICE_STATE_H
#define RUNTIME_DEVICE_STATE_H

#include "runtime/device.h"

typedef struct DeviceState {
	uint32_t mhz;     /* of its units; 0: not known */
	int32_t celsius;  /* 0: not known */
	uint64_t slowed;  /* bits of slowed.def */
} DeviceState;

/* The state of the row's device `id`; zeros are not known. Takes some microseconds after the first call. */
DeviceState device_state(const Device *row, int32_t id);
/* The words of slowed.def for the bits, with commas between; "" for none. */
enum { SLOWED_TEXT = 160 };
const char *device_slowed_text(uint64_t slowed, char out[SLOWED_TEXT]);

#endif
