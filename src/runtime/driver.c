/* See driver.h. */
#include "runtime/driver.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>

#include "runtime/kernel.h"

const DriverStatus *driver_status(int32_t type, int number)
{
	static const DriverStatus CUDA_ROW[] = {
#define CUDA(number, name, status, way_out) { number, DLC_##status, NULL, way_out },
#include "runtime/driver_status.def"
	}, OPENCL_ROW[] = {
#define OPENCL(number, name, status, meaning) { number, DLC_##status, "CL_" #name, meaning },
#include "runtime/driver_status.def"
	}, NONE = { 0, DLC_KERNEL, NULL, "" };
	const DriverStatus *row = type == DLC_DEVICE_CUDA ? CUDA_ROW : OPENCL_ROW;
	size_t n = type == DLC_DEVICE_CUDA ? sizeof CUDA_ROW / sizeof *CUDA_ROW : sizeof OPENCL_ROW / sizeof *OPENCL_ROW;
	for (size_t k = 0; k < n; k++)
		if (row[k].number == number)
			return &row[k];
	return &NONE;
}

const char *driver_open(const char *library, const char *const *name, int n, void *api)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	const char *lacks = handle == NULL ? "" : NULL;
	for (int k = 0; k < n; k++) {
		void *f = handle != NULL ? dlsym(handle, name[k]) : NULL;
		memcpy((char *)api + (size_t)k * sizeof f, &f, sizeof f);
		if (f == NULL && lacks == NULL)
			lacks = name[k];
	}
	return lacks;
}

void driver_keep_signals(void (*first)(void))
{
	enum { SIGNALS = 32 };
	struct sigaction before[SIGNALS];
	for (int k = 1; k < SIGNALS; k++)
		sigaction(k, NULL, &before[k]);
	first();
	for (int k = 1; k < SIGNALS; k++)
		if (k != SIGFPE && k != SIGKILL && k != SIGSTOP)
			sigaction(k, &before[k], NULL);
}
