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
#include "runtime/device_failure.h"
#include "runtime/model.h"
#include "worker/worker.h"

enum { HUGE_PAGE = 2 << 20 }; /* below it all memory has small pages: runtime/device.c */
#define KEPT_BYTES ((uint64_t)256 << 20)

void site_release(Site *at, void *memory, size_t n)
{
	at->device->release(at->context, memory, n);
}

DlcStatus site_failed(Site *at, int status, bool late, const char *where, DlcError *err)
{
	DlcStatus s = device_failed(at->device, at->context, at->stream, status, where, err);
	at->broken |= late || s == DLC_LOST || at->device->synchronize(at->stream) != 0;
	return s;
}

void site_changed(Site *at)
{
	at->fetched.bytes = 0;
}

DlcStatus site_wait(Site *at, DlcError *err)
{
	int status = at->device->synchronize(at->stream);
	return status == 0 ? DLC_OK : site_failed(at, status, true, "", err);
}

DlcStatus site_fill(Site *at, unsigned char *memory, unsigned char byte, size_t n, DlcError *err)
{
	site_changed(at);
	int status = at->device->fill(at->stream, memory, byte, n);
	return status == 0 ? DLC_OK : site_failed(at, status, false, "", err);
}

static DlcStatus move(Site *at, void *to, const void *from, size_t n, DeviceWay way, DlcError *err)
{
	site_changed(at);
	int status = at->device->copy(at->stream, to, from, n, way), late = at->device->synchronize(at->stream);
	if (status == 0 && late == 0)
		return DLC_OK;
	return site_failed(at, status != 0 ? status : late, true, "", err);
}

DlcStatus worker_copy(const Worker *w, const MsgCopy *m, DlcError *err)
{
	const Buffer *from = worker_find(w, m->from), *to = worker_find(w, m->to);
	if (from == NULL || to == NULL)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "there is no buffer %u", from == NULL ? m->from : m->to);
	if (from->bytes != to->bytes)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "buffer %u has %zu bytes, buffer %u has %zu", m->from, from->bytes,
			m->to, to->bytes);
	Site *at = to->site->device->on_host ? from->site : to->site;
	DeviceWay way = from->site == to->site ? DEVICE_WITHIN : at == to->site ? DEVICE_UP : DEVICE_DOWN;
	return from->bytes > 0 ? move(at, to->data, from->data, from->bytes, way, err) : DLC_OK;
}

/* The host copy of these bytes; NULL: there is none. */
static unsigned char *find_host_copy(const Site *at, const unsigned char *memory, size_t n)
{
	const HostCopy *s = &at->fetched;
	bool inside = memory >= s->memory && n <= s->bytes && (size_t)(memory - s->memory) <= s->bytes - n;
	return inside && s->bytes > 0 ? s->at + (memory - s->memory) : NULL;
}

DlcStatus site_fetch(Site *at, const unsigned char *memory, size_t n, DlcError *err)
{
	HostCopy *s = &at->fetched;
	if (at->device->on_host || n == 0 || find_host_copy(at, memory, n) != NULL)
		return DLC_OK;
	if (s->room < n) {
		free(s->at);
		s->at = malloc(n);
		s->room = s->at != NULL ? n : 0;
	}
	if (s->at == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "no %zu bytes of memory", n);
	DlcStatus status = move(at, s->at, memory, n, DEVICE_DOWN, err);
	s->memory = memory;
	s->bytes = status == DLC_OK ? n : 0;
	return status;
}

DlcStatus view_open(Site *at, unsigned char *memory, size_t n, ViewUse use, View *out, DlcError *err)
{
	*out = (View){ at, memory, memory, n, use, false };
	if (at->device->on_host)
		return DLC_OK;
	unsigned char *fetched = use == VIEW_READ ? find_host_copy(at, memory, n) : NULL;
	out->borrowed = fetched != NULL;
	out->at = fetched != NULL ? fetched : malloc(n + 1);
	if (fetched != NULL)
		return DLC_OK;
	if (out->at == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "no %zu bytes of memory", n);
	DlcStatus s = use == VIEW_READ && n > 0 ? move(at, out->at, memory, n, DEVICE_DOWN, err) : DLC_OK;
	if (s != DLC_OK)
		free(out->at);
	return s;
}

DlcStatus view_close(View *v, DlcError *err)
{
	if (v->site->device->on_host || v->borrowed)
		return DLC_OK;
	DlcStatus s =
		v->use == VIEW_WRITE && v->bytes > 0 ? move(v->site, v->memory, v->at, v->bytes, DEVICE_UP, err) : DLC_OK;
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

static Area take_out(Site *at, int i)
{
	Area a = at->kept[i];
	at->kept_bytes -= a.bytes;
	memmove(&at->kept[i], &at->kept[i + 1], sizeof a * (size_t)(at->nkept - i - 1));
	at->nkept--;
	return a;
}

static void forget_oldest(Site *at)
{
	Area a = take_out(at, 0);
	site_release(at, a.data, a.bytes);
}

void area_forget_all(Site *at)
{
	while (at->nkept > 0)
		forget_oldest(at);
}

DlcStatus site_alloc(Site *at, size_t n, unsigned char **out, DlcError *err)
{
	uint64_t there = at->device->memory(at->context);
	const char *where = at->device->on_host ? "machine" : at->device->name;
	*out = NULL;
	if (there != 0 && n >= there)
		return runtime_fail(err, DLC_NO_MEMORY, "%llu bytes are asked for, and the %s has %llu", (unsigned long long)n,
			where, (unsigned long long)there);
	*out = at->device->alloc(at->context, n);
	if (*out == NULL && at->nkept > 0) {
		area_forget_all(at);
		*out = at->device->alloc(at->context, n);
	}
	if (*out != NULL)
		return DLC_OK;
	if (device_lost(at->device, at->context, " while memory was taken", err))
		return DLC_LOST;
	return runtime_fail(err, device_full(at->device),
		"the %s has no %llu bytes of memory left: end other programs on it", where, (unsigned long long)n);
}

DlcStatus area_take(Site *at, size_t n, bool mapped, Area *out, DlcError *err)
{
	mapped = mapped && n >= HUGE_PAGE && at->device->on_host;
	int best = -1; /* the smallest kept one that fits, and is not much too large */
	for (int i = 0; i < at->nkept; i++) {
		const Area *a = &at->kept[i];
		if (a->mapped == mapped && a->bytes >= n && a->bytes / 2 <= n && (best < 0 || a->bytes < at->kept[best].bytes))
			best = i;
	}
	if (best >= 0) {
		*out = take_out(at, best);
		return DLC_OK;
	}
	*out = (Area){ .bytes = n, .mapped = mapped };
	DlcStatus s = site_alloc(at, n, &out->data, err);
	if (s == DLC_OK && mapped)
		worker_as_mapped(out->data, n);
	return s;
}

void area_leave(Site *at, Area a)
{
	uint64_t part = at->keep == 0 ? at->device->memory(at->context) / 8 : 0;
	if (at->keep == 0)
		at->keep = part > 0 && part < KEPT_BYTES ? part : KEPT_BYTES;
	if (a.bytes > at->keep) {
		site_release(at, a.data, a.bytes);
		return;
	}
	while (at->nkept == WORKER_KEPT || at->kept_bytes + a.bytes > at->keep)
		forget_oldest(at);
	at->kept[at->nkept++] = a;
	at->kept_bytes += a.bytes;
}
