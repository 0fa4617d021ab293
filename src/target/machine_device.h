/*
 * Devices of this machine as targets: what their drivers say, on top of the file of their model.
 */
#ifndef TARGET_MACHINE_DEVICE_H
#define TARGET_MACHINE_DEVICE_H

#include "runtime/device.h"
#include "target/target.h"

/* How many devices of the kind there are, numbers from 0; 0 and the reason, with ERR_DEVICE. */
int target_devices(TargetKind kind, Err *err);
/* This machine's device `id` of the kind, as its driver describes it; files of models are in the folders. */
bool target_device(Target *t, TargetKind kind, int id, const char *const *dirs, size_t ndirs, Err *err);

/*
 * Whether times of `machine`, which target_device gave, may be recorded for t. Either it has t's model, or t's model is
 * a class of devices such as sm_86 or pocl.
 */
bool target_times_hold(const Target *t, const Target *machine, Err *err);

/*
 * A device of a kind from what its driver says; model: the target of a file whose model it is, NULL: none. False: the
 * kind has no architecture, or the device none of its features. Pure.
 */
bool target_from_device(Target *t, TargetKind kind, const DeviceFacts *f, const Target *model);
/* Whether the device's name or its driver's has the model's: "NVIDIA H200" is h200, "PoCL" pocl. */
bool device_is_model(const DeviceFacts *f, const char *model);

/* The number of units that its driver gives; 0: not known. */
int device_units(const DeviceFacts *f);

#endif
