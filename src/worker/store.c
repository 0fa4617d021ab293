/*
 * Keeps code, buffers and programs under the parent's numbers.  Every field of a message is checked here once;
 * addresses that depend on other numbers are found again before each run.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/cpu.h"
#include "runtime/device.h"
#include "runtime/device_failure.h"
#include "runtime/element.h"
#include "runtime/model.h"
#include "runtime/tensor.h"
#include "worker/worker.h"

enum { GUARD_BYTE = 0xa5, CALLS = 1 << 20 };

#define refuse(err, ...) runtime_fail((err), DLC_BAD_ARGUMENT, __VA_ARGS__)

/* Copies all guards before it compares the first, so that it waits for the device once. */
DlcStatus worker_check_guards(const Worker *w, const LoadedProgram *p, DlcError *err)
{
	unsigned char want[WORKER_GUARD], *got = malloc(((size_t)p->narg + 1) * WORKER_GUARD);
	int status = 0;
	if (got == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory to look behind %u buffers", p->narg);
	memset(want, GUARD_BYTE, sizeof want);
	for (uint32_t i = 0; i < p->narg && status == 0; i++) {
		const Buffer *b = w->buffer[p->arg[i].buffer];
		if (p->address[i] != NULL)
			status = p->site->device->copy(
				p->site->stream, got + (size_t)i * sizeof want, b->data + b->bytes, sizeof want, DEVICE_DOWN);
	}
	DlcStatus s = status != 0 ? site_failed(p->site, status, true, "", err) : DLC_OK;
	if (s == DLC_OK && p->site != NULL)
		s = site_wait(p->site, err);
	for (uint32_t i = 0; i < p->narg && s == DLC_OK; i++)
		if (p->address[i] != NULL && memcmp(got + (size_t)i * sizeof want, want, sizeof want) != 0)
			s = runtime_fail(err, DLC_KERNEL, "a kernel wrote behind the end of buffer %u", p->arg[i].buffer);
	free(got);
	return s;
}

static void use_number(Worker *w, uint32_t number)
{
	w->end = number < w->end ? w->end : number + 1;
}

static void module_free(Module *m)
{
	if (m == NULL)
		return;
	if (m->code != NULL)
		m->site->device->code_release(m->site->context, NULL, m->code, m->bytes);
	free(m->entry);
	free(m->kernel);
	free(m);
}

static void buffer_free(Buffer *b)
{
	if (b == NULL)
		return;
	area_leave(b->site, b->area);
	free(b);
}

static void program_free(LoadedProgram *p)
{
	if (p == NULL)
		return;
	dlc_instance_close(p->instance);
	dlc_model_close(p->model);
	if (p->file != NULL)
		device_cpu.release(NULL, p->file, p->nfile);
	free(p->call);
	free(p->arg);
	free(p->sym);
	free(p->address);
	free(p->launch);
	free(p);
}

/* Two at least: a device has a thread of its own beside the one that waits for it. */
static int site_cpus(void)
{
	int n = cpu_count();
	return n < 2 ? 2 : n > TEAM_MAX ? TEAM_MAX : n;
}

static DlcStatus open_site(Worker *w, const Device *device, int32_t id, DlcError *err)
{
	Site *at = &w->site[w->nsite];
	DlcStatus s = device->open(id, &at->context, err);
	if (s != DLC_OK)
		return s;
	w->nsite++;
	at->device = device;
	at->id = id;
	at->cpus = !device->on_host && device->on_cpu != NULL && device->on_cpu(at->context) ? site_cpus() : 0;
	at->stream = device->stream_open(at->context);
	if (at->stream != NULL)
		return DLC_OK;
	if (device_lost(device, at->context, "", err))
		return DLC_LOST;
	return runtime_fail(
		err, device_full(device), "the %s has no memory for a stream", device->on_host ? "machine" : device->name);
}

DlcStatus worker_open(Worker *w, const Device *device, int32_t id, DlcError *err)
{
	DlcStatus s = open_site(w, &device_cpu, 0, err);
	return s == DLC_OK && !device->on_host ? open_site(w, device, id, err) : s;
}

void worker_close(Worker *w)
{
	worker_reset(w);
	for (; w->nsite > 0; w->nsite--) {
		Site *at = &w->site[w->nsite - 1];
		if (at->stream != NULL)
			at->device->stream_close(at->stream);
		at->device->close(at->context);
		*at = (Site){ 0 };
	}
}

Site *worker_own(Worker *w)
{
	return &w->site[w->nsite - 1];
}

void worker_reset(Worker *w)
{
	for (uint32_t i = 0; i < w->end; i++) {
		module_free(w->module[i]);
		buffer_free(w->buffer[i]);
		program_free(w->program[i]);
		w->module[i] = NULL;
		w->buffer[i] = NULL;
		w->program[i] = NULL;
	}
	w->end = 0;
	lost_forget(&w->lost);
	team_close(w->team);
	w->team = NULL;
	for (int k = 0; k < w->nsite; k++) {
		Site *at = &w->site[k];
		area_forget_all(at);
		if (at->work != NULL)
			site_release(at, at->work, at->work_bytes);
		at->work = NULL;
		at->work_bytes = 0;
		free(at->fetched.at);
		at->fetched = (HostCopy){ 0 };
	}
	worker_cold_close(w);
}

/* A copy of n rows; NULL only where there is no memory. */
static void *copy_rows(const void *rows, uint64_t n, size_t row)
{
	void *copy = n < SIZE_MAX / row - 1 ? malloc((size_t)n * row + 1) : NULL;
	if (copy != NULL && n > 0)
		memcpy(copy, rows, (size_t)n * row);
	return copy;
}

static DlcStatus load_code(Module *m, const DlcImage *image, DlcError *err)
{
	static const char where[] = " while it loaded the code";
	const Site *at = m->site;
	DlcError why = { .status = DLC_BAD_TARGET, .text = "build it for this device" };
	m->code = at->device->code_load(at->context, image->bytes, image->size, false, &why);
	if (m->code == NULL && at->device->on_host)
		return runtime_fail(err, DLC_SYSTEM, "the system has no memory for code");
	if (m->code == NULL && device_lost(at->device, at->context, where, err))
		return DLC_LOST;
	if (m->code == NULL)
		return runtime_fail(err, why.status, "the %s does not take the code: %.400s", at->device->name, why.text);
	for (uint32_t k = 0; k < m->nentry; k++) {
		const DlcEntry *e = &m->entry[k];
		why = (DlcError){ .status = DLC_BAD_ARGUMENT };
		m->kernel[k] = at->device->kernel(at->context, m->code, e->name, e->offset, &why);
		if (m->kernel[k] == NULL && device_lost(at->device, at->context, where, err))
			return DLC_LOST;
		if (m->kernel[k] == NULL && why.status != DLC_BAD_ARGUMENT)
			return runtime_fail(err, why.status, "the %s does not take the code: %.400s", at->device->name, why.text);
		if (m->kernel[k] == NULL || (!at->device->on_host && !bundle_launch_fits(&e->launch, e->nsym)))
			return runtime_fail(
				err, DLC_BAD_ARGUMENT, "the code has no kernel %s, or its launch is impossible", e->name);
	}
	return DLC_OK;
}

DlcStatus worker_image(Worker *w, const MsgView *in, DlcError *err)
{
	uint32_t number = ((const MsgImage *)in->fixed)->module;
	char why[MSG_WHY];
	DlcImage image;
	if (number >= MSG_TABLE)
		return refuse(err, "module %u has a number above the last, %d", number, MSG_TABLE - 1);
	if (!msg_image_read(in, &image, why))
		return runtime_fail(err, DLC_BAD_ARGUMENT, "%s", why);
	Site *at = worker_own(w);
	if (image.device == device_cpu.type)
		at = &w->site[SITE_HOST];
	else if (image.device != at->device->type)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "the image is for device type %d, this worker has type %d: the %s",
			image.device, at->device->type, at->device->name);
	Module *new = calloc(1, sizeof *new);
	if (new != NULL) {
		*new = (Module){ .site = at, .bytes = image.size, .nentry = image.nentry };
		new->entry = copy_rows(image.entry, image.nentry, sizeof *new->entry);
		new->kernel = calloc(image.nentry + 1u, sizeof *new->kernel);
	}
	DlcStatus s = new != NULL && new->entry != NULL && new->kernel != NULL
	                ? load_code(new, &image, err)
	                : runtime_fail(err, DLC_SYSTEM, "the system has no memory for code");
	if (s != DLC_OK) {
		module_free(new);
		return s;
	}
	module_free(w->module[number]);
	w->module[number] = new;
	use_number(w, number);
	return DLC_OK;
}

const Buffer *worker_find(const Worker *w, uint64_t number)
{
	return number < MSG_TABLE ? w->buffer[number] : NULL;
}

static DlcStatus fill_check(const MsgBuffer *m, DlcError *err)
{
	DlcDataType t = { m->code, m->bits, 1 };
	if (m->buffer >= MSG_TABLE)
		return refuse(err, "buffer %u has a number above the last, %d", m->buffer, MSG_TABLE - 1);
	if (m->fill > MSG_FILL_NONE || (m->fill == MSG_FILL_DATA) != (m->ndata > 0) ||
		(m->ndata > 0 && m->ndata != m->bytes))
		return refuse(err, "buffer %u has a fill that does not go with the %llu bytes of data sent", m->buffer,
			(unsigned long long)m->ndata);
	if (m->fill == MSG_FILL_RANDOM && (!element_known(t) || t.bits < 8 || !(m->lo <= m->hi)))
		return refuse(err, "buffer %u has a type or a range in which there are no random numbers", m->buffer);
	return DLC_OK;
}

/* A buffer of the size that is there already is filled where it lies. */
static DlcStatus find_buffer(Worker *w, const MsgBuffer *m, DlcError *err)
{
	Buffer *b = w->buffer[m->buffer];
	Site *at = m->device != 0 ? worker_own(w) : &w->site[SITE_HOST];
	if (b != NULL && b->site == at && b->bytes == m->bytes && b->constant == m->constant)
		return DLC_OK;
	if (m->bytes > MSG_MAX * 64)
		return runtime_fail(err, DLC_NO_MEMORY, "no %llu bytes of memory",
			(unsigned long long)m->bytes);
	Area area;
	DlcStatus s = area_take(at, (size_t)m->bytes + WORKER_GUARD, m->constant != 0, &area, err);
	if (s != DLC_OK)
		return s;
	Buffer *new = calloc(1, sizeof *new);
	if (new == NULL) {
		area_leave(at, area);
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for a buffer");
	}
	*new = (Buffer){ at, area.data, (size_t)m->bytes, area, m->constant };
	buffer_free(b);
	w->buffer[m->buffer] = new;
	use_number(w, m->buffer);
	return DLC_OK;
}

/* 0 where the list of holes says so; numbers beyond the buffer are no elements of it. */
static DlcStatus fill_holes(const Buffer *holes, unsigned char *data, size_t n, size_t element,
	DlcError *err)
{
	View list;
	DlcStatus s = view_open(holes->site, holes->data, holes->bytes, VIEW_READ, &list, err);
	if (s != DLC_OK)
		return s;
	for (size_t i = 0; i < holes->bytes / 8; i++)
		if (((const uint64_t *)list.at)[i] < n)
			memset(data + ((const uint64_t *)list.at)[i] * element, 0, element);
	return view_close(&list, err);
}

static DlcStatus fill(const Worker *w, const MsgBuffer *m, const void *data, unsigned char *to, size_t n, DlcError *err)
{
	DlcDataType t = { m->code, m->bits, 1 };
	size_t element = t.bits / 8u;
	const Buffer *holes = worker_find(w, m->holes);
	switch (m->fill) {
	case MSG_FILL_RANDOM:
		element_fill(t, to, (int64_t)(n / element), m->seed, m->lo, m->hi);
		return holes != NULL ? fill_holes(holes, to, n / element, element, err) : DLC_OK;
	case MSG_FILL_DATA: memcpy(to, data, n); break;
	default: break;
	}
	return DLC_OK;
}

DlcStatus worker_buffer(Worker *w, const MsgBuffer *m, const void *data, DlcError *err)
{
	View bytes;
	DlcStatus s = fill_check(m, err);
	if (s == DLC_OK)
		s = find_buffer(w, m, err);
	if (s != DLC_OK)
		return s;
	const Buffer *b = w->buffer[m->buffer];
	s = site_fill(b->site, b->data + b->bytes, GUARD_BYTE, WORKER_GUARD, err);
	if (s != DLC_OK || m->fill == MSG_FILL_NONE)
		return s;
	if (m->fill == MSG_FILL_ZERO || m->fill == MSG_FILL_POISON)
		return site_fill(b->site, b->data, m->fill == MSG_FILL_POISON ? WORKER_POISON : 0, b->bytes, err);
	s = view_open(b->site, b->data, b->bytes, VIEW_WRITE, &bytes, err);
	if (s != DLC_OK)
		return s;
	s = fill(w, m, data, bytes.at, b->bytes, err);
	DlcStatus closed = view_close(&bytes, err);
	return s != DLC_OK ? s : closed;
}

DlcStatus worker_read(const Worker *w, const MsgRead *m, View *out, DlcError *err)
{
	const Buffer *b = worker_find(w, m->buffer);
	if (b == NULL)
		return refuse(err, "there is no buffer %llu: send it first", (unsigned long long)m->buffer);
	if (m->offset > b->bytes || m->bytes > b->bytes - m->offset)
		return refuse(err, "the bytes to read do not lie inside buffer %llu, which has %zu",
			(unsigned long long)m->buffer, b->bytes);
	return view_open(b->site, b->data + m->offset, (size_t)m->bytes, VIEW_READ, out, err);
}

static DlcStatus open_bundle(
	Worker *w, LoadedProgram *p, const MsgBundle *m, const void *file, const char *path, DlcError *err)
{
	DlcStatus s = worker_take_bundle(w, p, m, file, path, err);
	if (s == DLC_OK)
		s = dlc_model_open_memory_on(worker_own(w)->id, p->file, p->nfile, &p->model, err);
	if (s == DLC_OK)
		s = dlc_instance_open(p->model, p->threads, &p->instance, err);
	for (int k = 0; s == DLC_OK && k < dlc_model_count(p->model, DLC_INPUT); k++) {
		DlcTensor t;
		s = dlc_instance_tensor(p->instance, DLC_INPUT, k, &t, err);
		if (s != DLC_OK || !element_known(t.dtype))
			continue;
		size_t bytes = (size_t)tensor_bytes(&t);
		void *data = malloc(bytes + 1);
		if (data == NULL)
			return runtime_fail(err, DLC_NO_MEMORY, "no %zu bytes of memory for an input", bytes);
		element_fill(t.dtype, data, tensor_count(&t), m->seed + (uint64_t)k, type_is_real(t.dtype) ? -1 : 0, 1);
		s = dlc_instance_write(p->instance, DLC_INPUT, k, data, bytes, err);
		free(data);
	}
	return s;
}

DlcStatus worker_bundle(Worker *w, const MsgBundle *m, const void *file, const char *path, DlcError *err)
{
	if (m->program >= MSG_TABLE || m->threads > TEAM_MAX)
		return refuse(err, "program %u wants %u threads: its number must be below %d, its threads at most %d",
			m->program, m->threads, MSG_TABLE, TEAM_MAX);
	LoadedProgram *p = calloc(1, sizeof *p);
	if (p == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for a program");
	p->threads = (int)m->threads;
	DlcStatus s = open_bundle(w, p, m, file, path, err);
	if (s != DLC_OK) {
		program_free(p);
		return s;
	}
	lost_forget(&w->lost);
	program_free(w->program[m->program]);
	w->program[m->program] = p;
	use_number(w, m->program);
	return DLC_OK;
}

static bool rows_lie(uint32_t first, uint32_t n, uint64_t all)
{
	return first <= all && n <= all - first;
}

DlcStatus worker_program(Worker *w, const MsgProgram *m, const MsgCall *call, const MsgArg *arg,
	const int64_t *sym, DlcError *err)
{
	if (m->program >= MSG_TABLE || m->threads < 1 || m->threads > TEAM_MAX)
		return refuse(err, "program %u wants %u threads: its number must be below %d, its threads 1 to %d", m->program,
			m->threads, MSG_TABLE, TEAM_MAX);
	if (m->ncall > CALLS || m->narg > 64 * (uint64_t)CALLS || m->nsym > 64 * (uint64_t)CALLS)
		return refuse(err, "program %u has %llu calls, %llu arguments and %llu symbols, more than is allowed",
			m->program, (unsigned long long)m->ncall, (unsigned long long)m->narg, (unsigned long long)m->nsym);
	for (uint64_t i = 0; i < m->narg; i++)
		if (arg[i].use >= MSG_USES)
			return refuse(err, "argument %llu has an unknown use, %u", (unsigned long long)i, (unsigned)arg[i].use);
	for (uint64_t i = 0; i < m->ncall; i++)
		if (!rows_lie(call[i].arg, call[i].narg, m->narg) ||
			!rows_lie(call[i].sym, call[i].nsym, m->nsym))
			return refuse(err, "call %llu has arguments or symbols that do not lie inside the program",
				(unsigned long long)i);
	LoadedProgram *p = calloc(1, sizeof *p);
	if (p == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for a program");
	p->asked = (int)m->threads;
	p->ncall = (uint32_t)m->ncall;
	p->narg = (uint32_t)m->narg;
	p->nsym = (uint32_t)m->nsym;
	p->call = copy_rows(call, m->ncall, sizeof *call);
	p->arg = copy_rows(arg, m->narg, sizeof *arg);
	p->sym = copy_rows(sym, m->nsym, sizeof *sym);
	p->address = calloc((size_t)m->narg + 1, sizeof *p->address);
	p->launch = calloc((size_t)m->ncall + 1, sizeof *p->launch);
	if (p->call == NULL || p->arg == NULL || p->sym == NULL || p->address == NULL || p->launch == NULL) {
		program_free(p);
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for a program");
	}
	lost_forget(&w->lost);
	program_free(w->program[m->program]);
	w->program[m->program] = p;
	use_number(w, m->program);
	return DLC_OK;
}

static DlcStatus ready_call(const Worker *w, LoadedProgram *p, const MsgCall *c, DlcError *err)
{
	const Module *m = c->module < MSG_TABLE ? w->module[c->module] : NULL;
	if (m == NULL || c->entry >= m->nentry)
		return refuse(err, "module %u has no kernel %u to call", c->module, c->entry);
	const DlcEntry *e = &m->entry[c->entry];
	if (p->site != NULL && p->site != m->site)
		return refuse(err, "module %u is for another device than the program's other modules", c->module);
	p->site = m->site;
	if (e->nbuf != c->narg || e->nsym != c->nsym)
		return runtime_fail(err, DLC_BAD_ARGUMENT,
			"kernel %s wants %u buffers and %u symbols, not %u and %u", e->name,
			e->nbuf, e->nsym, c->narg, c->nsym);
	if (e->work_bytes > p->work_bytes)
		p->work_bytes = e->work_bytes;
	if (!p->site->device->on_host) {
		DeviceLaunch *l = &p->launch[c - p->call];
		l->nbuf = e->nbuf;
		l->nsym = e->nsym;
		if (!bundle_launch_values(&e->launch, p->sym + c->sym, l))
			return runtime_fail(err, DLC_BAD_ARGUMENT, "the symbols of kernel %s make its launch impossible", e->name);
		DlcStatus s = device_takes(p->site->device, p->site->context, e->name, l->dim,
			"compile it for this device", err);
		if (s != DLC_OK)
			return s;
	}
	for (uint32_t i = c->arg; i < c->arg + c->narg; i++) {
		const MsgArg *a = &p->arg[i];
		const Buffer *b = worker_find(w, a->buffer);
		if (b != NULL && b->site != p->site)
			return refuse(err, "argument %u of kernel %s lies on the %s: copy it to the %s", i - c->arg, e->name,
				b->site->device->name, p->site->device->name);
		if (b == NULL || a->offset > b->bytes || a->bytes > b->bytes - a->offset)
			return runtime_fail(err, DLC_BAD_ARGUMENT,
				"argument %u of kernel %s lies outside of buffer %u", i - c->arg,
				e->name, a->buffer);
		if (a->offset % DLC_CALL_ALIGN != 0)
			return runtime_fail(err, DLC_BAD_ARGUMENT, "argument %u of kernel %s is not aligned to %d bytes",
				i - c->arg, e->name, DLC_CALL_ALIGN);
		p->address[i] = b->data + a->offset;
	}
	return DLC_OK;
}

DlcStatus program_ready(Worker *w, uint64_t number, LoadedProgram **out, DlcError *err)
{
	LoadedProgram *p = number < MSG_TABLE ? w->program[number] : NULL;
	*out = p;
	if (p == NULL)
		return refuse(err, "there is no program %llu: send it first", (unsigned long long)number);
	if (p->instance != NULL)
		return DLC_OK;
	p->work_bytes = 64;
	p->site = NULL;
	for (uint32_t i = 0; i < p->ncall; i++) {
		DlcStatus s = ready_call(w, p, &p->call[i], err);
		if (s != DLC_OK)
			return s;
	}
	if (p->work_bytes > MSG_MAX * 64)
		return runtime_fail(
			err, DLC_NO_MEMORY, "a kernel's workspace is larger than memory");
	p->work_bytes = (p->work_bytes + 4095) / 4096 * 4096;
	Site *at = p->site = p->site != NULL ? p->site : &w->site[SITE_HOST];
	p->threads = at->device->on_host ? p->asked : 1;
	size_t work = p->work_bytes * (size_t)p->threads;
	if (work > at->work_bytes) {
		unsigned char *more;
		DlcStatus s = site_alloc(at, work, &more, err);
		if (s != DLC_OK)
			return s;
		if (at->work != NULL)
			site_release(at, at->work, at->work_bytes);
		at->work = more;
		at->work_bytes = work;
	}
	int team = at->cpus > 0 ? at->cpus : p->threads; /* of a device: to make the CPUs' caches cold */
	if (w->team != NULL && team_threads(w->team) == team)
		return DLC_OK;
	lost_forget(&w->lost);
	team_close(w->team);
	w->team = team_open(team);
	return w->team != NULL ? DLC_OK : refuse(err, "the system does not start %d threads: use fewer", team);
}
