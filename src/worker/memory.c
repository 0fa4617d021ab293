/*
 * Memory of a worker's buffers. A buffer's memory is kept for the next one: a page that is there costs no fault, and
 * candidates of a Task need buffers of the same sizes. Constants lie in small pages, like those of a bundle, which are
 * mapped from its file: there each page costs a walk through tables, so it must cost one here.
 */
#include <string.h>
#include <sys/mman.h>

#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/model.h"
#include "worker/worker.h"

enum { HUGE_PAGE = 2 << 20 }; /* below it all memory has small pages: runtime/device.c */
#define KEPT_BYTES ((uint64_t)256 << 20)

DlcStatus worker_alloc(size_t n, unsigned char **out, DlcError *err)
{
	uint64_t there = host_memory(NULL, NULL);
	*out = there == 0 || n < there ? device_cpu.alloc(NULL, n) : NULL;
	if (*out == NULL)
		return runtime_fail(
			err, DLC_NO_MEMORY, "no %llu bytes of memory", (unsigned long long)n);
	return DLC_OK;
}

void worker_as_mapped(unsigned char *p, size_t n)
{
#if defined(MADV_NOHUGEPAGE)
	madvise(p, n, MADV_NOHUGEPAGE);
#else
	(void)p;
	(void)n;
#endif
}

void worker_poison(void *bytes, size_t n)
{
	memset(bytes, 0xff, n);
}

static Area take_out(Worker *w, int i)
{
	Area a = w->kept[i];
	w->kept_bytes -= a.bytes;
	memmove(&w->kept[i], &w->kept[i + 1], sizeof a * (size_t)(w->nkept - i - 1));
	w->nkept--;
	return a;
}

static void forget_oldest(Worker *w)
{
	Area a = take_out(w, 0);
	device_cpu.release(NULL, a.data, a.bytes);
}

void area_forget_all(Worker *w)
{
	while (w->nkept > 0)
		forget_oldest(w);
}

DlcStatus area_take(Worker *w, size_t n, bool mapped, Area *out, DlcError *err)
{
	mapped = mapped && n >= HUGE_PAGE;
	int best = -1; /* the smallest kept one that fits, and is not much too large */
	for (int i = 0; i < w->nkept; i++) {
		const Area *a = &w->kept[i];
		if (a->mapped == mapped && a->bytes >= n && a->bytes / 2 <= n && (best < 0 || a->bytes < w->kept[best].bytes))
			best = i;
	}
	if (best >= 0) {
		*out = take_out(w, best);
		return DLC_OK;
	}
	*out = (Area){ .bytes = n, .mapped = mapped };
	DlcStatus s = worker_alloc(n, &out->data, err);
	if (s == DLC_NO_MEMORY && w->nkept > 0) {
		area_forget_all(w);
		s = worker_alloc(n, &out->data, err);
	}
	if (s == DLC_OK && mapped)
		worker_as_mapped(out->data, n);
	return s;
}

void area_leave(Worker *w, Area a)
{
	uint64_t part = w->keep == 0 ? host_memory(NULL, NULL) / 8 : 0;
	if (w->keep == 0)
		w->keep = part > 0 && part < KEPT_BYTES ? part : KEPT_BYTES;
	if (a.bytes > w->keep) {
		device_cpu.release(NULL, a.data, a.bytes);
		return;
	}
	while (w->nkept == WORKER_KEPT || w->kept_bytes + a.bytes > w->keep)
		forget_oldest(w);
	w->kept[w->nkept++] = a;
	w->kept_bytes += a.bytes;
}
