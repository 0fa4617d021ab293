/*
 * See fake.h: memory of the device and pinned memory of the host. Device memory has no access rights except between
 * fake_memory_open and fake_memory_close. The bytes up to the end of its last page have a pattern, which cuMemFree
 * checks.
 */
#include "fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, FRESH = 0xcd, BEHIND = 0xab };

typedef struct Memory {
	struct Memory *next;
	unsigned char *at;
	size_t bytes, pages; /* pages: bytes of whole pages, without the guard */
	bool pinned;
} Memory;

static Memory *all;
static size_t taken;
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER, device = PTHREAD_MUTEX_INITIALIZER;
static bool opened;

static const Memory *find(const void *at, size_t bytes, bool pinned)
{
	const unsigned char *p = at;
	pthread_mutex_lock(&list);
	const Memory *m = all;
	while (m != NULL && !(m->pinned == pinned && p >= m->at && p + bytes <= m->at + m->bytes))
		m = m->next;
	pthread_mutex_unlock(&list);
	return m;
}

bool fake_is_device(CuAddress at, size_t bytes)
{
	return find((const void *)(uintptr_t)at, bytes, false) != NULL;
}

bool fake_is_pinned(const void *at)
{
	return find(at, 1, true) != NULL;
}

static void protect(int rights)
{
	pthread_mutex_lock(&list);
	for (Memory *m = all; m != NULL; m = m->next)
		if (!m->pinned && mprotect(m->at, m->pages, rights) != 0)
			abort();
	opened = rights != PROT_NONE;
	pthread_mutex_unlock(&list);
}

void fake_memory_open(void)
{
	pthread_mutex_lock(&device);
	protect(PROT_READ | PROT_WRITE);
}

void fake_memory_close(void)
{
	protect(PROT_NONE);
	pthread_mutex_unlock(&device);
}

static void *take(size_t bytes, bool pinned)
{
	Memory *m = calloc(1, sizeof *m);
	size_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
	unsigned char *at = mmap(NULL, pages + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m == NULL || at == MAP_FAILED)
		abort();
	memset(at, FRESH, bytes);
	memset(at + bytes, BEHIND, pages - bytes);
	*m = (Memory){ .at = at, .bytes = bytes, .pages = pages, .pinned = pinned };
	mprotect(at + pages, PAGE, PROT_NONE);
	pthread_mutex_lock(&list);
	if (!pinned)
		mprotect(at, pages, opened ? PROT_READ | PROT_WRITE : PROT_NONE);
	m->next = all;
	all = m;
	pthread_mutex_unlock(&list);
	fake_hold(1);
	return at;
}

static int give_back(void *at, bool pinned)
{
	fake_flush_all();
	pthread_mutex_lock(&device);
	pthread_mutex_lock(&list);
	Memory **where = &all, *m;
	while ((m = *where) != NULL && (m->at != at || m->pinned != pinned))
		where = &m->next;
	if (m != NULL) {
		*where = m->next;
		taken -= pinned ? 0 : m->bytes;
	}
	pthread_mutex_unlock(&list);
	pthread_mutex_unlock(&device);
	if (m == NULL)
		return CUDA_ERROR_INVALID_VALUE;
	mprotect(m->at, m->pages, PROT_READ);
	for (size_t k = m->bytes; k < m->pages; k++)
		if (m->at[k] != BEHIND) {
			fprintf(stderr, "fake CUDA: byte %zu behind a memory of %zu bytes was written\n", k - m->bytes, m->bytes);
			abort();
		}
	munmap(m->at, m->pages + PAGE);
	free(m);
	fake_hold(-1);
	return CU_OK;
}

int cuMemAlloc_v2(CuAddress *out, size_t bytes)
{
	FAKE_BEGIN(true);
	fake_traffic->allocations++;
	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&list);
	bool fits = bytes <= fake.memory - taken;
	taken += fits ? bytes : 0;
	pthread_mutex_unlock(&list);
	if (!fits)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = (uintptr_t)take(bytes, false);
	return CU_OK;
}

int cuMemFree_v2(CuAddress at)
{
	FAKE_BEGIN(true);
	return give_back((void *)(uintptr_t)at, false);
}

int cuMemGetInfo_v2(size_t *left, size_t *there)
{
	FAKE_BEGIN(true);
	*there = fake.memory;
	*left = fake.memory - taken;
	return CU_OK;
}

int cuMemHostAlloc(void **out, size_t bytes, uint32_t flags)
{
	FAKE_BEGIN(true);
	if (bytes == 0 || flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	*out = take(bytes, true);
	return CU_OK;
}

int cuMemFreeHost(void *at)
{
	FAKE_BEGIN(true);
	return give_back(at, true);
}

int cuPointerGetAttribute(void *out, int what, CuAddress at)
{
	FAKE_BEGIN(true);
	int type = fake_is_device(at, 1) ? 2 : fake_is_pinned((const void *)(uintptr_t)at) ? 1 : 0;
	if (what != CU_POINTER_MEMORY_TYPE || type == 0)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(out, &type, sizeof type);
	return CU_OK;
}
