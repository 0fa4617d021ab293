/*
 * Drivers of devices, opened by name when a device is first asked for, so that no library of theirs is linked.
 */
#ifndef RUNTIME_DRIVER_H
#define RUNTIME_DRIVER_H

#include <stdint.h>

#include "dlc/dlc_runtime.h"

/* A row of driver_status.def. */
typedef struct DriverStatus {
	int number;
	DlcStatus status;
	const char *name, *words; /* name: NULL if the driver itself gives one */
} DriverStatus;

/* The row of a number that the driver of a device type returned; without a row DLC_KERNEL and no words. */
const DriverStatus *driver_status(int32_t type, int number);

/*
 * Fills `api`, a struct of n pointers to functions, with the functions of these names; where there is none, NULL.
 * Returns NULL if all is there, else the first name that the library lacks, or "" if it cannot be opened. The library
 * stays open: a driver has threads of its own that must not lose their code.
 */
const char *driver_open(const char *library, const char *const *name, int n, void *api);

/*
 * Makes the first call of a driver. A driver that contains LLVM takes over signals there, also those that the program
 * answers itself or ignores. They are given back, but for SIGFPE: by it a driver survives a kernel's division by zero.
 */
void driver_keep_signals(void (*first)(void));

#endif
