/*
 * See opencl.h: programs, which the driver builds from the text of a bundle's image.
 */
#include "runtime/opencl_cache.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/model.h"

enum { LOG = 4096, KERNELS = 64 };

typedef struct Code {
	ClProgram program;
	struct Code *next;
	int n;
	ClKernel kernel[];
} Code;

/* Reports why a program was not built: the first line of the log that is not empty, or the driver's status. */
static void build_failed(const DeviceContext *c, ClProgram p, int status, DlcError *err)
{
	static const char what[] = "the OpenCL driver does not build the code";
	char *log = calloc(LOG + 1, 1);
	if (log == NULL || status != CL_BUILD_PROGRAM_FAILURE ||
		cl.clGetProgramBuildInfo(p, c->device, CL_PROGRAM_BUILD_LOG, LOG, log, NULL) != CL_OK)
		opencl_fail(err, status, what);
	else {
		char *line = strstr(log, "error");
		while (line != NULL && line > log && line[-1] != '\n')
			line--;
		line = line != NULL ? line : log;
		line[strcspn(line, "\r\n")] = 0;
		runtime_fail(err, DLC_BAD_TARGET, "%s: %.300s", what, line[0] != 0 ? line : "it gives no reason");
	}
	free(log);
}

void *opencl_code_load(DeviceContext *c, const void *image, size_t bytes, bool in_place, DlcError *err)
{
	static const char options[] = "-cl-std=CL1.2";
	OpenclKey key;
	int32_t status = CL_OUT_OF_HOST_MEMORY;
	const char *text = image;
	size_t n = bytes > 0 ? bytes - 1 : 0; /* without its 0 */
	(void)in_place;
	Code *code = calloc(1, sizeof *code + KERNELS * sizeof *code->kernel);
	bool kept = code != NULL && opencl_cache_key(c, text, n, options, &key);
	if (kept && (code->program = opencl_cache_find(c, &key, options)) != NULL)
		return code;
	if (code != NULL)
		code->program = cl.clCreateProgramWithSource(c->context, 1, &text, &n, &status);
	if (code != NULL && code->program != NULL)
		status = cl.clBuildProgram(code->program, 1, &c->device, options, NULL, NULL);
	status = opencl_made(c, status);
	if (code != NULL && code->program != NULL && status == CL_OK) {
		if (kept)
			opencl_cache_store(&key, code->program);
		return code;
	}
	build_failed(c, code != NULL ? code->program : NULL, status, err);
	if (code != NULL && code->program != NULL)
		cl.clReleaseProgram(code->program);
	free(code);
	return NULL;
}

void opencl_code_release(DeviceContext *c, const void *image, void *code, size_t bytes)
{
	Code *first = code;
	(void)c, (void)image, (void)bytes;
	for (Code *k = first, *next; k != NULL; k = next) {
		next = k->next;
		for (int i = 0; i < k->n; i++)
			cl.clReleaseKernel(k->kernel[i]);
		if (k->program != NULL)
			cl.clReleaseProgram(k->program);
		free(k);
	}
}

void *opencl_kernel(DeviceContext *c, void *code, const char *name, uint64_t offset, DlcError *err)
{
	int32_t status = CL_OUT_OF_HOST_MEMORY;
	char symbol[DLC_SYMBOL];
	Code *k = code;
	(void)offset;
	kernel_symbol(name, symbol);
	while (k->n == KERNELS && k->next != NULL)
		k = k->next;
	if (k->n == KERNELS && (k->next = calloc(1, sizeof *k + KERNELS * sizeof *k->kernel)) != NULL)
		k = k->next;
	ClKernel kernel = k->n < KERNELS ? cl.clCreateKernel(((Code *)code)->program, symbol, &status) : NULL;
	if (kernel != NULL)
		k->kernel[k->n++] = kernel;
	else if ((status = opencl_made(c, status)) != CL_INVALID_KERNEL_NAME)
		opencl_fail(err, status, symbol);
	return kernel;
}
