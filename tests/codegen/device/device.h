/*
 * Kernel sets for devices, written by hand with bound loops: tests/codegen/device/NAME.ir. Interpreted as they are,
 * after every pass, and run on what OpenCL devices there are.
 */
#ifndef TESTS_CODEGEN_DEVICE_H
#define TESTS_CODEGEN_DEVICE_H

#include "ir/ir.h"
#include "target/target.h"

extern const char *const device_sets[]; /* names; ends with NULL */
/* Parsed and verified; fails the test otherwise. */
KernelSet *device_set(Arena *a, const char *name);
/* An OpenCL device as large as the sets need. */
void device_target(Target *t);

#endif
