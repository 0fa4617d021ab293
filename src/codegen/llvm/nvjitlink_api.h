/*
 * What the code generator uses of CUDA's nvJitLink, declared here, so that neither its header nor its library is needed
 * to build. NVJITLINK(name, parameters): a function that assemble.c finds in libnvJitLink when it is first asked for.
 * All give 0 if they succeed. Numbers are those of <nvJitLink.h>.
 */
#ifndef CODEGEN_LLVM_NVJITLINK_API_H
#define CODEGEN_LLVM_NVJITLINK_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct NvJitLink *NvJitLink; /* the library's handle; never followed */

enum { NVJITLINK_INPUT_PTX = 2 };

#define NVJITLINK_FUNCTIONS \
	NVJITLINK(nvJitLinkCreate, (NvJitLink *, uint32_t, const char **)) \
	NVJITLINK(nvJitLinkDestroy, (NvJitLink *)) \
	NVJITLINK(nvJitLinkAddData, (NvJitLink, int, const void *, size_t, const char *)) \
	NVJITLINK(nvJitLinkComplete, (NvJitLink)) \
	NVJITLINK(nvJitLinkGetLinkedCubinSize, (NvJitLink, size_t *)) \
	NVJITLINK(nvJitLinkGetLinkedCubin, (NvJitLink, void *)) \
	NVJITLINK(nvJitLinkGetInfoLogSize, (NvJitLink, size_t *)) \
	NVJITLINK(nvJitLinkGetInfoLog, (NvJitLink, char *)) \
	NVJITLINK(nvJitLinkGetErrorLogSize, (NvJitLink, size_t *)) \
	NVJITLINK(nvJitLinkGetErrorLog, (NvJitLink, char *))

#endif
