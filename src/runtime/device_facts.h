/*
 * What a driver says of a device, from which dlc makes a target (src/target).
 */
#ifndef RUNTIME_DEVICE_FACTS_H
#define RUNTIME_DEVICE_FACTS_H

#include <stdbool.h>

enum { DEVICE_NUMBERS = 24 };

/*
 * Numbers have the keys of target files (docs/targets.md: "cores", "ghz", "block_threads"), and beside them
 * "l2_bytes", "memory_bytes_per_second" and its place on the PCI bus ("pci_domain", "pci_bus", "pci_slot"). Numbers
 * that the driver does not give are left out.
 */
typedef struct DeviceFacts {
	char name[128];    /* "NVIDIA H200" */
	char driver[128];  /* "OpenCL 3.0 PoCL HSTR: ...", "CUDA 13.0" */
	char features[64]; /* of src/target/feature.def, with blanks between: "fp16 fp64", "sm_90" */
	bool is_cpu;       /* the host's, so no threads run each instruction together */
	int n;
	struct {
		const char *key;
		double value;
	} number[DEVICE_NUMBERS];
} DeviceFacts;

/* Adds a number that the driver says; one that is not positive says nothing. */
void device_number(DeviceFacts *f, const char *key, double value);

#endif
