/*
 * An assembler for tests without CUDA's toolkit: a libnvJitLink.so.13 with the functions that
 * src/codegen/llvm/nvjitlink_api.h names. It knows sm_75 to sm_90. Its machine code is what fake_cuda/cubin.h says, so
 * the fake driver runs it. Its log says that each kernel takes 32 registers and spills none. With FAKE_JIT_FAILS in the
 * environment it refuses all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/llvm/nvjitlink_api.h"
#include "fake_cuda/cubin.h"

enum { FAILED = 1, OLDEST = 75, NEWEST = 90 };

struct NvJitLink {
	int sm;
	char *text, *log;
};

#define NVJITLINK(name, parameters) __attribute__((visibility("default"))) int name parameters;
NVJITLINK_FUNCTIONS
NVJITLINK(nvJitLinkVersion, (unsigned *, unsigned *))
#undef NVJITLINK

typedef struct Cubin {
	Elf64_Ehdr head;
	Elf64_Shdr section[3];
	char names[32];
} Cubin;

int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
	*major = 0;
	*minor = 1;
	return 0;
}

int nvJitLinkCreate(NvJitLink *out, uint32_t n, const char **option)
{
	int sm = 0;
	for (uint32_t k = 0; k < n; k++)
		sscanf(option[k], "-arch=sm_%d", &sm);
	if (sm < OLDEST || sm > NEWEST)
		return FAILED;
	*out = calloc(1, sizeof **out);
	(*out)->sm = sm;
	return 0;
}

int nvJitLinkDestroy(NvJitLink *h)
{
	free((*h)->text);
	free((*h)->log);
	free(*h);
	*h = NULL;
	return 0;
}

int nvJitLinkAddData(NvJitLink h, int kind, const void *data, size_t bytes, const char *name)
{
	(void)name;
	if (kind != NVJITLINK_INPUT_PTX || h->text != NULL || bytes == 0 || ((const char *)data)[bytes - 1] != 0)
		return FAILED;
	h->text = strdup(data);
	return 0;
}

/* A line for each .entry, as ptxas -v has it. */
int nvJitLinkComplete(NvJitLink h)
{
	size_t size = 0;
	FILE *log = open_memstream(&h->log, &size);
	for (const char *at = h->text; (at = strstr(at, ".entry ")) != NULL;) {
		at += strlen(".entry ");
		fprintf(log,
			"ptxas info : Compiling entry function '%.*s' for 'sm_%d'\n"
			"    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info : Used 32 registers\n",
			(int)strcspn(at, "( \n"), at, h->sm);
	}
	fclose(log);
	return strstr(h->text, ".version") != NULL && getenv("FAKE_JIT_FAILS") == NULL ? 0 : FAILED;
}

int nvJitLinkGetLinkedCubinSize(NvJitLink h, size_t *out)
{
	*out = sizeof(Cubin) + strlen(h->text) + 1;
	return 0;
}

int nvJitLinkGetLinkedCubin(NvJitLink h, void *out)
{
	Cubin c = { .head = { .e_type = ET_EXEC,
		.e_machine = CUBIN_MACHINE,
		.e_version = EV_CURRENT,
		.e_shoff = offsetof(Cubin, section),
		.e_flags = (unsigned)h->sm << 8,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 1 } };
	memcpy(c.head.e_ident, ELFMAG, SELFMAG);
	c.head.e_ident[EI_CLASS] = ELFCLASS64;
	c.head.e_ident[EI_DATA] = ELFDATA2LSB;
	c.head.e_ident[EI_VERSION] = EV_CURRENT;
	c.head.e_ident[EI_ABIVERSION] = CUBIN_ABI;
	memcpy(c.names + 1, CUBIN_SECTION, sizeof CUBIN_SECTION);
	c.section[1] =
		(Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(Cubin, names), .sh_size = sizeof c.names };
	c.section[2] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = sizeof c, .sh_size = strlen(h->text) + 1 };
	memcpy(out, &c, sizeof c);
	memcpy((char *)out + sizeof c, h->text, strlen(h->text) + 1);
	return 0;
}

int nvJitLinkGetInfoLogSize(NvJitLink h, size_t *out)
{
	*out = h->log != NULL ? strlen(h->log) + 1 : 0;
	return 0;
}

int nvJitLinkGetInfoLog(NvJitLink h, char *out)
{
	strcpy(out, h->log);
	return 0;
}

int nvJitLinkGetErrorLogSize(NvJitLink h, size_t *out)
{
	(void)h;
	*out = sizeof "there is no .version";
	return 0;
}

int nvJitLinkGetErrorLog(NvJitLink h, char *out)
{
	(void)h;
	strcpy(out, "there is no .version");
	return 0;
}
