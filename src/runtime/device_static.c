/*
 * The rows of devices that have a driver, for a program that is linked statically and so opens none. It is linked
 * instead of opencl.c, cuda.c and device_state.c, which would only make the program larger.
 */
#include "runtime/device.h"
#include "runtime/device_state.h"
#include "runtime/model.h"

static int static_count(DlcError *err)
{
	runtime_fail(
		err, DLC_SYSTEM, "this program is linked statically and opens no driver: use a dynamic build for devices");
	return 0;
}

static DlcStatus static_open(int32_t id, DeviceContext **out, DlcError *err)
{
	(void)id;
	*out = NULL;
	static_count(err);
	return DLC_SYSTEM;
}

static DlcStatus static_describe(int32_t id, DeviceFacts *out, DlcError *err)
{
	(void)id;
	*out = (DeviceFacts){ .n = 0 };
	static_count(err);
	return DLC_SYSTEM;
}

const Device device_opencl = {
	.name = "OpenCL device",
	.type = DLC_DEVICE_OPENCL,
	.open = static_open,
	.count = static_count,
	.describe = static_describe,
};

const Device device_cuda = {
	.name = "CUDA device",
	.type = DLC_DEVICE_CUDA,
	.open = static_open,
	.count = static_count,
	.describe = static_describe,
};

DeviceState device_state(const Device *row, int32_t id)
{
	(void)row;
	(void)id;
	return (DeviceState){ 0 };
}
