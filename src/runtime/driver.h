/*
 * Drivers of devices, opened by name when a device is first asked for, so that no library of theirs is linked.
 */
#ifndef RUNTIME_DRIVER_H
#define RUNTIME_DRIVER_H

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
