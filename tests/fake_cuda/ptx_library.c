/*
 * A library for FAKE_CUDA_KERNELS that interprets the PTX itself: what the driver is given is what runs.
 */
#include "host_kernel.h"
#include "ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGES = 4096, KEPT = 512 };

FakeRun fake_cuda_run;

/* The one copy of this text that is kept, for as long as the process runs. */
static const char *kept_image(const char *image)
{
	static const char *kept[IMAGES];
	int k = 0;
	while (k < IMAGES - 1 && kept[k] != NULL && strcmp(kept[k], image) != 0)
		k++;
	if (kept[k] == NULL || k == IMAGES - 1)
		kept[k] = strdup(image);
	return kept[k];
}

/* The driver runs one kernel at a time. */
const char *fake_cuda_run(const char *image, const char *name, void **argument, const uint32_t grid[3],
	const uint32_t block[3], uint32_t shared_bytes)
{
	static struct {
		const char *image;
		char *name;
		PtxKernel *kernel;
	} kept[KEPT];
	static int next;
	image = kept_image(image);
	for (int k = 0; k < KEPT && kept[k].kernel != NULL; k++)
		if (kept[k].image == image && strcmp(kept[k].name, name) == 0)
			return ptx_run(kept[k].kernel, argument, grid, block, shared_bytes);
	int at = next++ % KEPT;
	if (kept[at].kernel != NULL) {
		ptx_free(kept[at].kernel);
		free(kept[at].name);
	}
	kept[at].image = image;
	kept[at].name = strdup(name);
	kept[at].kernel = ptx_read(image, name);
	return ptx_run(kept[at].kernel, argument, grid, block, shared_bytes);
}
