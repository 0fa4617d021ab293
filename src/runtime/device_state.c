/* See device_state.h. The place on the PCI bus tells which device of NVML is the device of CUDA. */
#include "runtime/device_state.h"

#include "runtime/driver.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct NvmlDevice *NvmlDevice;

enum { NVML_OK = 0, NVML_TEMPERATURE_GPU = 0, NVML_CLOCK_SM = 1 };

#define NVML_FUNCTIONS \
	NVML(nvmlInit_v2, (void)) \
	NVML(nvmlDeviceGetHandleByPciBusId_v2, (const char *, NvmlDevice *)) \
	NVML(nvmlDeviceGetClockInfo, (NvmlDevice, unsigned, unsigned *)) \
	NVML(nvmlDeviceGetTemperature, (NvmlDevice, unsigned, unsigned *)) \
	NVML(nvmlDeviceGetCurrentClocksThrottleReasons, (NvmlDevice, unsigned long long *))

static struct {
#define NVML(name, parameters) int(*name) parameters;
	NVML_FUNCTIONS
#undef NVML
} nvml;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool there;

static void open_library(void)
{
	static const char *const names[] = {
#define NVML(name, parameters) #name,
		NVML_FUNCTIONS
#undef NVML
	};
	there = driver_open("libnvidia-ml.so.1", names, sizeof names / sizeof *names, &nvml) == NULL &&
	        nvml.nvmlInit_v2() == NVML_OK;
}

static unsigned number_of(const DeviceFacts *f, const char *key)
{
	for (int k = 0; k < f->n; k++)
		if (strcmp(f->number[k].key, key) == 0)
			return (unsigned)f->number[k].value;
	return 0;
}

DeviceState device_state(const Device *row, int32_t id)
{
	DeviceState s = { 0 };
	DeviceFacts facts;
	DlcError why;
	NvmlDevice device;
	char place[32];
	unsigned v;
	unsigned long long reasons;
	if (row->type != DLC_DEVICE_CUDA || row->describe(id, &facts, &why) != DLC_OK)
		return s;
	pthread_once(&once, open_library);
	snprintf(place, sizeof place, "%08x:%02x:%02x.0", number_of(&facts, "pci_domain"), number_of(&facts, "pci_bus"),
		number_of(&facts, "pci_slot"));
	if (!there || nvml.nvmlDeviceGetHandleByPciBusId_v2(place, &device) != NVML_OK)
		return s;
	if (nvml.nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &v) == NVML_OK)
		s.mhz = v;
	if (nvml.nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &v) == NVML_OK)
		s.celsius = (int32_t)v;
	if (nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device, &reasons) == NVML_OK)
		s.slowed = reasons & (
#define SLOWED(name, bit, words) bit |
#include "runtime/slowed.def"
#undef SLOWED
			0);
	return s;
}
