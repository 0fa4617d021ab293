/*
 * Sentences and statuses for a device that fails.
 */
#ifndef RUNTIME_DEVICE_FAILURE_H
#define RUNTIME_DEVICE_FAILURE_H

#include "runtime/device.h"

/*
 * Says that the device failed: "the CUDA device failed in step 3 (add): CUDA_ERROR_...". `where`, which may be empty,
 * begins with a blank. Returns DLC_LOST if the context is lost, else the status of the row's `explain`.
 */
DlcStatus device_failed(
	const Device *d, DeviceContext *c, DeviceStream *s, int status, const char *where, DlcError *err);
/* Whether the context is lost; then err says so, with `where` as above. */
bool device_lost(const Device *d, DeviceContext *c, const char *where, DlcError *err);
/*
 * Refuses a launch of a kernel with more blocks or threads than the device takes: DLC_BAD_TARGET, a sentence that names
 * the kernel and the axis, and ends with the way out.
 */
DlcStatus device_takes(const Device *d, const DeviceContext *c, const char *kernel, const uint32_t dim[DLC_LAUNCH_DIMS],
	const char *way_out, DlcError *err);
/* The status of exhausted memory: DLC_NO_MEMORY on the host, else DLC_DEVICE_MEMORY. */
DlcStatus device_full(const Device *d);

#endif
