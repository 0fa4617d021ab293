/*
 * See fake.h: modules and functions. An image is PTX, or a cubin of the fake assembler (cubin.h), which holds PTX. Of
 * the text only .version, .target and the .entry lines with their parameters are read.
 */
#include "cubin.h"
#include "fake.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 1024 };

struct CuModule {
	CuModule next; /* of all: those of a lost device are never unloaded */
	char *text;
	int n;
	struct CuFunction function[FUNCTIONS];
};

static CuModule modules;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int newest_ptx(void)
{
	static const struct {
		int ptx, cuda;
	} ROW[] = {
#define PTX(ptx, cuda) { ptx, cuda },
#include "runtime/cuda_ptx.def"
	};
	int have = fake.driver / 1000 * 10 + fake.driver % 1000 / 10, newest = 0;
	for (size_t k = 0; k < sizeof ROW / sizeof *ROW; k++)
		newest = ROW[k].cuda <= have ? ROW[k].ptx : newest;
	return newest;
}

static void say(uint32_t n, const int *option, void **value, const char *text)
{
	size_t room = 0;
	char *log = NULL;
	for (uint32_t k = 0; k < n; k++) {
		room = option[k] == CU_JIT_LOG_BYTES ? (size_t)(uintptr_t)value[k] : room;
		log = option[k] == CU_JIT_LOG ? value[k] : log;
	}
	if (log != NULL && room > 0)
		snprintf(log, room, "%s", text);
}

/* Each .entry has a name and parameters of 8 bytes. */
static bool read_entries(CuModule m)
{
	for (const char *at = m->text; (at = strstr(at, ".entry")) != NULL; m->n++) {
		struct CuFunction *f = &m->function[m->n];
		at += strlen(".entry");
		at += strspn(at, " \t\n");
		size_t name = strcspn(at, " \t\n("), end = strcspn(at, ")");
		if (m->n == FUNCTIONS || name == 0 || name >= sizeof f->name || at[end] == 0)
			return false;
		memcpy(f->name, at, name);
		f->shared = 49152;
		for (const char *p = at; (p = strstr(p, ".param")) != NULL && p < at + end; p++)
			f->nparameter++;
	}
	return true;
}

enum { CUDA_13 = 13000 /* the first driver that takes cubins of CUBIN_ABI */ };

/* The PTX in an ELF file that begins at `image`; NULL: it is no code for this device, or another assembler's. */
static const char *text_in_cubin(const unsigned char *image)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)image;
	const Elf64_Shdr *s = (const Elf64_Shdr *)(image + h->e_shoff);
	int sm = cubin_sm(h), own = fake.sm[fake_device()];
	if (h->e_machine != CUBIN_MACHINE || sm > own || sm / 10 != own / 10)
		return NULL;
	for (int k = 0; k < h->e_shnum; k++)
		if (strcmp((const char *)image + s[h->e_shstrndx].sh_offset + s[k].sh_name, CUBIN_SECTION) == 0)
			return (const char *)image + s[k].sh_offset;
	return NULL;
}

int cuModuleLoadDataEx(CuModule *out, const void *image, uint32_t n, const int *option, void **value)
{
	FAKE_BEGIN(true);
	fake_traffic->loads++;
	bool cubin = memcmp(image, ELFMAG, SELFMAG) == 0;
	const char *text = cubin ? text_in_cubin(image) : image;
	if (cubin && fake.driver < CUDA_13)
		return CUDA_ERROR_INVALID_IMAGE;
	if (text == NULL)
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	int major = 0, minor = 0, sm = 0;
	const char *target = strstr(text, ".target sm_");
	while ((isspace((unsigned char)*text) || strncmp(text, "//", 2) == 0))
		text += isspace((unsigned char)*text) ? 1 : strcspn(text, "\n");
	if (sscanf(text, ".version %d.%d", &major, &minor) != 2 || target == NULL ||
		sscanf(target, ".target sm_%d", &sm) != 1) {
		say(n, option, value, "ptxas fatal   : Missing .version directive at start of file\n");
		return CUDA_ERROR_INVALID_PTX;
	}
	if (!cubin && 10 * major + minor > newest_ptx())
		return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
	if (sm > fake.sm[fake_device()])
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	if (fake.say)
		fprintf(stderr, "fake CUDA: loads %s for sm_%d\n", cubin ? "a cubin" : "PTX", sm);
	CuModule m = calloc(1, sizeof *m);
	m->text = strdup(text);
	if (!read_entries(m)) {
		say(n, option, value,
			"\nptxas application ptx input, line 7; error   : Parsing error near '.entry': syntax error\n"
			"ptxas fatal   : Ptx assembly aborted due to errors\n");
		free(m->text);
		free(m);
		return CUDA_ERROR_INVALID_PTX;
	}
	pthread_mutex_lock(&lock);
	m->next = modules;
	modules = m;
	pthread_mutex_unlock(&lock);
	fake_hold(1);
	*out = m;
	return CU_OK;
}

int cuModuleUnload(CuModule m)
{
	FAKE_BEGIN(true);
	fake_flush_all();
	pthread_mutex_lock(&lock);
	CuModule *where = &modules;
	while (*where != m)
		where = &(*where)->next;
	*where = m->next;
	pthread_mutex_unlock(&lock);
	free(m->text);
	free(m);
	fake_hold(-1);
	return CU_OK;
}

int cuModuleGetFunction(CuFunction *out, CuModule m, const char *name)
{
	FAKE_BEGIN(true);
	struct CuFunction *f = m->function;
	while (f < m->function + m->n && strcmp(f->name, name) != 0)
		f++;
	if (f == m->function + m->n)
		return CUDA_ERROR_NOT_FOUND;
	void *run = fake.kernels != NULL ? dlsym(fake.kernels, "fake_cuda_run") : NULL;
	void *kernel = fake.kernels != NULL && run == NULL ? dlsym(fake.kernels, name) : NULL;
	memcpy(&f->run, &run, sizeof f->run);
	memcpy(&f->kernel, &kernel, sizeof f->kernel);
	f->image = m->text;
	*out = f;
	if (run == NULL && kernel == NULL)
		fprintf(stderr, "fake CUDA: FAKE_CUDA_KERNELS has no kernel %s\n", name);
	return run != NULL || kernel != NULL ? CU_OK : CUDA_ERROR_NOT_FOUND;
}

int cuFuncGetAttribute(int *out, int what, CuFunction f)
{
	FAKE_BEGIN(false);
	switch (what) {
	case CU_FUNC_THREADS: *out = fake.threads; return CU_OK;
	case CU_FUNC_SHARED: *out = 0; return CU_OK;
	case CU_FUNC_REGISTERS: *out = 65536 / fake.threads < 255 ? 65536 / fake.threads : 255; return CU_OK;
	case CU_FUNC_DYNAMIC_SHARED: *out = f->shared; return CU_OK;
	default: return CUDA_ERROR_INVALID_VALUE;
	}
}

int cuFuncSetAttribute(CuFunction f, int what, int value)
{
	FAKE_BEGIN(true);
	if (what != CU_FUNC_DYNAMIC_SHARED || value < 0 || value > fake_shared_most(fake_device()))
		return CUDA_ERROR_INVALID_VALUE;
	f->shared = value;
	return CU_OK;
}
