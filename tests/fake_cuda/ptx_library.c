/*
 * A library for FAKE_CUDA_KERNELS that interprets the PTX itself: what the driver is given is what runs.
 */
#include "host_kernel.h"
#include "ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 64 };

FakeRun fake_cuda_run;

/* The driver runs one kernel at a time. */
const char *fake_cuda_run(const char *image, const char *name, void **argument, const uint32_t grid[3],
	const uint32_t block[3], uint32_t shared_bytes)
{
	static struct {
		char *image, *name;
		PtxKernel *kernel;
	} kept[KEPT];
	static int next;
	for (int k = 0; k < KEPT; k++)
		if (kept[k].kernel != NULL && strcmp(kept[k].name, name) == 0 && strcmp(kept[k].image, image) == 0)
			return ptx_run(kept[k].kernel, argument, grid, block, shared_bytes);
	int at = next++ % KEPT;
	if (kept[at].kernel != NULL) {
		ptx_free(kept[at].kernel);
		free(kept[at].image);
		free(kept[at].name);
	}
	kept[at].image = strdup(image);
	kept[at].name = strdup(name);
	kept[at].kernel = ptx_read(image, name);
	return ptx_run(kept[at].kernel, argument, grid, block, shared_bytes);
}
