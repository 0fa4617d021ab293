/*
 * Runs a module of another architecture under an emulator: reads a request from its standard input,
 * maps the image, makes the calls in order, writes the buffers to its standard output. Linked
 * statically. The request is made of int64_t and bytes: image bytes, buffers, calls; then the
 * image; for each buffer its bytes and content; for each call offset, workspace, number of buffers
 * and symbols, their indices and values.
 */
#include "runtime/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST = 256 };

static int64_t number(void)
{
	int64_t v;
	if (fread(&v, sizeof v, 1, stdin) != 1)
		exit(3);
	return v;
}

static void *block(int64_t bytes)
{
	void *p = aligned_alloc(64, ((size_t)bytes + 127) / 64 * 64);
	if (p == NULL || (bytes > 0 && fread(p, (size_t)bytes, 1, stdin) != 1))
		exit(3);
	return p;
}

static void call(char *code, void *const *buffers)
{
	int64_t offset = number(), work = number(), nbuf = number(), nsym = number(), sym[MOST];
	void *buf[MOST], *entry = code + offset, *space = aligned_alloc(64, ((size_t)work + 127) / 64 * 64);
	DlcKernel kernel;
	if (nbuf > MOST || nsym > MOST || space == NULL)
		exit(3);
	for (int64_t k = 0; k < nbuf; k++)
		buf[k] = buffers[number()];
	for (int64_t k = 0; k < nsym; k++)
		sym[k] = number();
	memcpy(&kernel, &entry, sizeof kernel);
	DlcCall c = { .buf = buf, .sym = sym, .work = space, .threads = 1 };
	if (kernel(&c) != 0)
		exit(4);
	free(space);
}

int main(void)
{
	int64_t size = number(), nbuffer = number(), ncall = number(), bytes[MOST];
	void *buffers[MOST];
	char *code = mmap(NULL, (size_t)size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (nbuffer > MOST || code == MAP_FAILED || (size > 0 && fread(code, (size_t)size, 1, stdin) != 1))
		return 3;
	if (mprotect(code, (size_t)size + 1, PROT_READ | PROT_EXEC) != 0)
		return 3;
	__builtin___clear_cache(code, code + size);
	for (int64_t k = 0; k < nbuffer; k++) {
		bytes[k] = number();
		buffers[k] = block(bytes[k]);
	}
	while (ncall-- > 0)
		call(code, buffers);
	for (int64_t k = 0; k < nbuffer; k++)
		if (bytes[k] > 0 && fwrite(buffers[k], (size_t)bytes[k], 1, stdout) != 1)
			return 3;
	return fflush(stdout) == 0 ? 0 : 3;
}
