/* See assemble.h. The library is found by its names, then in the folder where CUDA's installer puts it. */
#include "codegen/llvm/assemble.h"

#include "base/text.h"
#include "codegen/llvm/nvjitlink_api.h"
#include "target/capability.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct NvJitLinkApi {
#define NVJITLINK(name, parameters) int(*name) parameters;
	NVJITLINK_FUNCTIONS
#undef NVJITLINK
} NvJitLinkApi;

static NvJitLinkApi api;
static int (*library_version)(unsigned *major, unsigned *minor); /* NULL: the library is older than 12.3 */
static const char *lacks = "everything"; /* what could not be found; NULL: all is there */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
	static const char *const names[] = { "libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so",
		"/usr/local/cuda/lib64/libnvJitLink.so" };
	void *lib = NULL, *f;
	for (size_t k = 0; lib == NULL && k < sizeof names / sizeof *names; k++)
		lib = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
	lacks = "libnvJitLink.so of the CUDA toolkit is not installed";
	if (lib == NULL)
		return;
	lacks = NULL;
#define NVJITLINK(name, parameters) \
	f = dlsym(lib, #name); \
	memcpy(&api.name, &f, sizeof f); \
	lacks = f == NULL ? "libnvJitLink.so has no function " #name : lacks;
	NVJITLINK_FUNCTIONS
#undef NVJITLINK
	f = dlsym(lib, "nvJitLinkVersion");
	memcpy(&library_version, &f, sizeof f);
}

const char *assemble_lacks(void)
{
	pthread_once(&once, open_library);
	return lacks;
}

const char *assemble_tool(Arena *a)
{
	unsigned major = 0, minor = 0;
	if (assemble_lacks() != NULL || library_version == NULL || library_version(&major, &minor) != 0)
		return "nvJitLink";
	return arena_printf(a, "nvJitLink %u.%u", major, minor);
}

static NvJitLink create(int sm)
{
	char arch[32];
	const char *options[] = { arch, "-Xptxas=-v" };
	NvJitLink h = NULL;
	snprintf(arch, sizeof arch, "-arch=sm_%d", sm);
	if (api.nvJitLinkCreate(&h, 2, options) == 0)
		return h;
	if (h != NULL) /* there is a handle even if the architecture is refused */
		api.nvJitLinkDestroy(&h);
	return NULL;
}

int assemble_nearest(int sm)
{
	for (int k = 0; assemble_lacks() == NULL && capability_at(k) != NULL; k++) {
		int now = capability_at(k)->number;
		NvJitLink h = now >= sm ? create(now) : NULL;
		if (h != NULL) {
			api.nvJitLinkDestroy(&h);
			return now;
		}
	}
	return 0;
}

static char *log_of(Arena *a, NvJitLink h, int (*size)(NvJitLink, size_t *), int (*get)(NvJitLink, char *))
{
	size_t n = 0;
	if (size(h, &n) != 0)
		n = 0;
	char *s = arena_alloc(a, n + 1);
	memset(s, 0, n + 1);
	if (n > 0)
		get(h, s);
	return s;
}

bool assemble_ptx(Arena *a, const char *text, int sm, Assembled *out, Err *err)
{
	NvJitLink h = assemble_lacks() == NULL ? create(sm) : NULL;
	if (h == NULL)
		return fail(err, ERR_MISSING, "assembler", "there is no assembler for sm_%d%s%s", sm, lacks != NULL ? ": " : "",
			lacks != NULL ? lacks : "");
	bool ok = api.nvJitLinkAddData(h, NVJITLINK_INPUT_PTX, text, strlen(text) + 1, "dlc") == 0 &&
	          api.nvJitLinkComplete(h) == 0 && api.nvJitLinkGetLinkedCubinSize(h, &out->size) == 0;
	out->log = log_of(a, h, api.nvJitLinkGetInfoLogSize, api.nvJitLinkGetInfoLog);
	if (ok) {
		out->cubin = arena_alloc_aligned(a, out->size + 1, 64);
		out->cubin[out->size] = 0;
		ok = api.nvJitLinkGetLinkedCubin(h, out->cubin) == 0;
		out->size++;
	}
	if (!ok)
		fail(err, ERR_BUG, "assembler", "sm_%d: %s", sm,
			log_of(a, h, api.nvJitLinkGetErrorLogSize, api.nvJitLinkGetErrorLog));
	api.nvJitLinkDestroy(&h);
	return ok;
}

/* The number that stands before `words`, in s up to `end`; 0 if they are not there. */
static int64_t number_before(const char *s, const char *end, const char *words)
{
	const char *p = strstr(s, words);
	if (p == NULL || p >= end)
		return 0;
	while (p > s && p[-1] >= '0' && p[-1] <= '9')
		p--;
	return strtoll(p, NULL, 10);
}

/*
 * "Compiling entry function 'f' for 'sm_90'", then "8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads" and
 * "Used 24 registers, used 1 barriers, 1024 bytes smem".
 */
bool assemble_kernel(const Assembled *x, const char *symbol, AssembledKernel *out)
{
	static const char begin[] = "Compiling entry function '";
	*out = (AssembledKernel){ 0 };
	for (const char *p = x->log; (p = strstr(p, begin)) != NULL;) {
		p += strlen(begin);
		const char *end = strstr(p, begin);
		if (strncmp(p, symbol, strlen(symbol)) != 0 || p[strlen(symbol)] != '\'')
			continue;
		end = end != NULL ? end : p + strlen(p);
		out->registers = (int)number_before(p, end, " registers");
		out->stack_bytes = number_before(p, end, " bytes stack frame");
		out->spill_bytes = number_before(p, end, " bytes spill stores") + number_before(p, end, " bytes spill loads");
		out->shared_bytes = number_before(p, end, " bytes smem");
		return true;
	}
	return false;
}
