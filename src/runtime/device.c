/*
 * See device.h.  The CPU's memory comes in whole pages, large ones on request, so that a kernel's
 * walk over an arena misses the TLB less.  Code becomes executable in place where the file system
 * allows it; on one mounted noexec it is copied, to anonymous memory or, where that may not change
 * its protection, to a file in memory.
 */
#include "runtime/device.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };

static size_t page_up(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return bytes == 0 ? page : (bytes + page - 1) & ~(page - 1);
}

static void *map_pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void *cpu_alloc(size_t bytes)
{
	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = page_up(bytes);
	if (bytes < HUGE_PAGE)
		return map_pages(bytes);
	unsigned char *p = map_pages(bytes + HUGE_PAGE);
	if (p == NULL)
		return NULL;
	size_t before = -(uintptr_t)p & (HUGE_PAGE - 1);
	if (before > 0)
		munmap(p, before);
	munmap(p + before + bytes, HUGE_PAGE - before);
	p += before;
#if defined(MADV_HUGEPAGE)
	madvise(p, bytes, MADV_HUGEPAGE);
#endif
	return p;
}

static void cpu_release(void *memory, size_t bytes)
{
	munmap(memory, page_up(bytes));
}

static void *copy_anonymous(const void *image, size_t bytes)
{
	void *p = map_pages(page_up(bytes));
	if (p == NULL)
		return NULL;
	memcpy(p, image, bytes);
	if (mprotect(p, page_up(bytes), PROT_READ | PROT_EXEC) == 0)
		return p;
	munmap(p, page_up(bytes));
	return NULL;
}

static void *copy_to_file(const void *image, size_t bytes)
{
#if defined(__linux__)
	int fd = memfd_create("dlc code", MFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	size_t done = 0;
	while (done < bytes) {
		ssize_t n = write(fd, (const char *)image + done, bytes - done);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	void *p = MAP_FAILED;
	if (done == bytes)
		p = mmap(NULL, page_up(bytes), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
#else
	(void)image, (void)bytes;
	return NULL;
#endif
}

static void *cpu_code_load(const void *image, size_t bytes, bool in_place)
{
	void *p = (void *)(uintptr_t)image;
	if (!in_place || mprotect(p, page_up(bytes), PROT_READ | PROT_EXEC) != 0)
		p = copy_anonymous(image, bytes);
	if (p == NULL)
		p = copy_to_file(image, bytes);
	if (p != NULL)
		__builtin___clear_cache((char *)p, (char *)p + bytes);
	return p;
}

static void cpu_code_release(const void *image, void *code, size_t bytes)
{
	if (code != image)
		munmap(code, page_up(bytes));
}

const Device device_cpu = { "cpu", 1, cpu_alloc, cpu_release, cpu_code_load, cpu_code_release };

static const Device *const DEVICE[] = { &device_cpu };

const Device *device_find(int32_t type)
{
	for (size_t i = 0; i < sizeof DEVICE / sizeof *DEVICE; i++)
		if (DEVICE[i]->type == type)
			return DEVICE[i];
	return NULL;
}
