/*
 * A libnvidia-ml.so.1 without a GPU. FAKE_NVML has its states, "MHZ:CELSIUS:REASONS" with blanks between. Each query of
 * the reasons goes on to the next state, and the last one stays. Without the variable the library does not start.
 */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NVML_OK = 0, NVML_NOT_FOUND = 6, NVML_DRIVER_NOT_LOADED = 9 };

struct NvmlDevice {
	int unused;
};

static struct NvmlDevice the_device;
static const char *state;

#define SHOWN __attribute__((visibility("default")))
SHOWN int nvmlInit_v2(void);
SHOWN int nvmlDeviceGetHandleByPciBusId_v2(const char *place, struct NvmlDevice **out);
SHOWN int nvmlDeviceGetClockInfo(struct NvmlDevice *d, unsigned which, unsigned *out);
SHOWN int nvmlDeviceGetTemperature(struct NvmlDevice *d, unsigned which, unsigned *out);
SHOWN int nvmlDeviceGetCurrentClocksThrottleReasons(struct NvmlDevice *d, unsigned long long *out);

int nvmlInit_v2(void)
{
	state = getenv("FAKE_NVML");
	return state != NULL ? NVML_OK : NVML_DRIVER_NOT_LOADED;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *place, struct NvmlDevice **out)
{
	unsigned domain, bus, slot;
	if (sscanf(place, "%8x:%2x:%2x.0", &domain, &bus, &slot) != 3 || bus < FAKE_PCI_BUS ||
		bus >= FAKE_PCI_BUS + FAKE_DEVICES)
		return NVML_NOT_FOUND;
	*out = &the_device;
	return NVML_OK;
}

/* The k-th number of the state. */
static unsigned long number(int k)
{
	const char *s = state;
	for (; k > 0 && s != NULL; k--)
		s = strchr(s, ':') != NULL ? strchr(s, ':') + 1 : NULL;
	return s != NULL ? strtoul(s, NULL, 0) : 0;
}

int nvmlDeviceGetClockInfo(struct NvmlDevice *d, unsigned which, unsigned *out)
{
	*out = (unsigned)number(0);
	return d == &the_device && which == 1 ? NVML_OK : NVML_NOT_FOUND;
}

int nvmlDeviceGetTemperature(struct NvmlDevice *d, unsigned which, unsigned *out)
{
	*out = (unsigned)number(1);
	return d == &the_device && which == 0 ? NVML_OK : NVML_NOT_FOUND;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(struct NvmlDevice *d, unsigned long long *out)
{
	*out = number(2);
	const char *next = strchr(state, ' ');
	state = next != NULL ? next + 1 : state;
	return d == &the_device ? NVML_OK : NVML_NOT_FOUND;
}
