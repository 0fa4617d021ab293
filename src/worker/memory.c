/*
 * Memory of a worker's buffers. A buffer's memory is kept for the next one: a page that is there costs no fault, and
 * candidates of a Task need buffers of the same sizes. Constants lie in small pages, like those of a bundle, which are
 * mapped from its file: there each page costs a walk through tables, so it must cost one here.
 *
 * Only this file of the room knows whether a buffer's address may be followed: the others open a view.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/device.h"
#include "runtime/model.h"
#include "worker/worker.h"

enum { HUGE_PAGE = 2 << 20 }; /* below it all memory has small pages: runtime/device.c */
#define KEPT_BYTES ((uint64_t)256 << 20)

static DlcStatus take(const Device *d, DeviceContext *c, size_t n, unsigned char **out, DlcError *err)
{
	uint64_t there = d->memory(c);
	*out = there == 0 || n < there ? d->alloc(c, n) : NULL;
	if (*out == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "no %llu bytes of memory", (unsigned long long)n);
	return DLC_OK;
}

DlcStatus worker_alloc(const Worker *w, size_t n, unsigned char **out, DlcError *err)
{
	return take(w->device, w->context, n, out, err);
}

DlcStatus worker_alloc_host(size_t n, unsigned char **out, DlcError *err)
{
	return take(&device_cpu, NULL, n, out, err);
}

void worker_release(const Worker *w, void *memory, size_t n)
{
	w->device->release(w->context, memory, n);
}

static DlcStatus move(const Worker *w, void *to, const void *from, size_t n, DeviceWay way, DlcError *err)
{
	int status = w->device->copy(w->stream, to, from, n, way), late = w->device->synchronize(w->stream);
	if (status == 0 && late == 0)
		return DLC_OK;
	return runtime_fail(
		err, DLC_KERNEL, "the %s failed with status %d", w->device->name, status != 0 ? status : late);
}

DlcStatus view_open(const Worker *w, unsigned char *memory, size_t n, ViewUse use, View *out, DlcError *err)
{
	*out = (View){ memory, memory, n, use };
	if (w->device->on_host)
		return DLC_OK;
	out->at = malloc(n + 1);
	if (out->at == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "no %zu bytes of memory", n);
	DlcStatus s = use == VIEW_READ && n > 0 ? move(w, out->at, memory, n, DEVICE_DOWN, err) : DLC_OK;
	if (s != DLC_OK)
		free(out->at);
	return s;
}

DlcStatus view_close(const Worker *w, View *v, DlcError *err)
{
	if (w->device->on_host)
		return DLC_OK;
	DlcStatus s = v->use == VIEW_WRITE && v->bytes > 0 ? move(w, v->memory, v->at, v->bytes, DEVICE_UP, err) : DLC_OK;
	free(v->at);
	return s;
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
	worker_release(w, a.data, a.bytes);
}

void area_forget_all(Worker *w)
{
	while (w->nkept > 0)
		forget_oldest(w);
}

DlcStatus area_take(Worker *w, size_t n, bool mapped, Area *out, DlcError *err)
{
	mapped = mapped && n >= HUGE_PAGE && w->device->on_host;
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
	DlcStatus s = worker_alloc(w, n, &out->data, err);
	if (s == DLC_NO_MEMORY && w->nkept > 0) {
		area_forget_all(w);
		s = worker_alloc(w, n, &out->data, err);
	}
	if (s == DLC_OK && mapped)
		worker_as_mapped(out->data, n);
	return s;
}

void area_leave(Worker *w, Area a)
{
	uint64_t part = w->keep == 0 ? w->device->memory(w->context) / 8 : 0;
	if (w->keep == 0)
		w->keep = part > 0 && part < KEPT_BYTES ? part : KEPT_BYTES;
	if (a.bytes > w->keep) {
		worker_release(w, a.data, a.bytes);
		return;
	}
	while (w->nkept == WORKER_KEPT || w->kept_bytes + a.bytes > w->keep)
		forget_oldest(w);
	w->kept[w->nkept++] = a;
	w->kept_bytes += a.bytes;
}
