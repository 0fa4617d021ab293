/*
 * Devices: where buffers lie and how code gets there.  One row each; a row for a driver that is
 * opened at run time answers NULL where the driver is not there.
 */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Device {
	const char *name;
	int32_t type; /* DLPack's code */
	/* Zeroed, at least 64-byte aligned; NULL if there is none left. */
	void *(*alloc)(size_t bytes);
	void (*release)(void *memory, size_t bytes);
	/*
	 * Makes an image callable; returns where, or NULL.  in_place: `image` is a private mapping
	 * of whole pages of a file, which may become the code itself.
	 */
	void *(*code_load)(const void *image, size_t bytes, bool in_place);
	void (*code_release)(const void *image, void *code, size_t bytes);
} Device;

extern const Device device_cpu;
/* The row of a DLPack code, NULL if this runtime has none. */
const Device *device_find(int32_t type);

#endif
