/*
 * See instance.h.  One piece of memory holds arena, state, the threads' workspaces and a buffer for every input and
 * output. The bound tensors decide the symbols, and the symbols decide every size and address.
 */
#include "runtime/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device_failure.h"
#include "runtime/tensor.h"

enum { WORK_ALIGN = 4096 }; /* workspaces of two threads share no page */
#define WAY_OUT "take a smaller batch, or end other programs"

static uint32_t ntensor(const DlcModel *m)
{
	return m->h->tensor.count;
}

/* Adds a part of `bytes` to the memory, at a multiple of `align`; its offset, or -1. */
static int64_t part(int64_t *end, uint64_t bytes, int64_t align)
{
	int64_t at = (*end + align - 1) / align * align;
	if (bytes > (uint64_t)INT64_MAX / 4 || __builtin_add_overflow(at, (int64_t)bytes, end) || *end > INT64_MAX / 4)
		return -1;
	return at;
}

static DlcStatus take_memory(DlcInstance *i, DlcError *err)
{
	const DlcModel *m = i->m;
	uint64_t per_thread = (m->work_bytes + WORK_ALIGN - 1) / WORK_ALIGN * WORK_ALIGN, work;
	if (__builtin_mul_overflow(per_thread, (uint64_t)i->threads, &work))
		return runtime_fail(err, DLC_NO_MEMORY, "the workspaces of %u threads overflow", i->threads);
	int64_t end = 0, io = 0;
	int64_t arena = part(&end, m->h->arena_bytes, WORK_ALIGN);
	int64_t state = arena < 0 ? -1 : part(&end, m->h->state_bytes, WORK_ALIGN);
	int64_t works = state < 0 ? -1 : part(&end, work, WORK_ALIGN);
	int64_t first = end;
	for (uint32_t t = 0; t < ntensor(m) && works >= 0 && io >= 0; t++)
		io = part(&end, (uint64_t)bundle_tensor_bytes(m, &m->tensor[t]), BUNDLE_BUFFER);
	uint64_t there = m->device->memory(m->context);
	if (works < 0 || io < 0)
		return runtime_fail(
			err, device_full(m->device), "an instance is larger than the address space: take a smaller batch");
	if (there != 0 && (uint64_t)end > there)
		return runtime_fail(err, device_full(m->device), "an instance needs %lld MiB of memory and there are %llu: %s",
			(long long)(end >> 20), (unsigned long long)(there >> 20), WAY_OUT);
	i->memory_bytes = (size_t)end;
	i->memory = m->device->alloc(m->context, i->memory_bytes);
	if (i->memory == NULL && device_lost(m->device, m->context, " while memory was taken", err))
		return DLC_LOST;
	if (i->memory == NULL)
		return runtime_fail(err, device_full(m->device), "the %s has no %lld MiB of memory for an instance: %s",
			m->device->on_host ? "machine" : m->device->name, (long long)(end >> 20), WAY_OUT);
	i->arena = i->memory + arena;
	i->state = i->memory + state;
	i->work = i->memory + works;
	i->work_stride = (size_t)per_thread;
	end = first;
	for (uint32_t t = 0; t < ntensor(m); t++)
		i->bound[t].own = i->memory + part(&end, (uint64_t)bundle_tensor_bytes(m, &m->tensor[t]), BUNDLE_BUFFER);
	return DLC_OK;
}

/* Says that a call to the device returned a status, or that one showed in synchronize. */
static DlcStatus fail_device(const DlcInstance *i, int status, const char *where, DlcError *err)
{
	return device_failed(i->m->device, i->m->context, i->stream, status, where, err);
}

static DlcStatus instance_init(DlcInstance *i, DlcError *err)
{
	const BundleHeader *h = i->m->h;
	i->bound = calloc(ntensor(i->m) + (size_t)1, sizeof *i->bound);
	i->sym = calloc(h->sym.count + (size_t)1, sizeof *i->sym);
	i->dim = calloc(h->dim.count + (size_t)1, sizeof *i->dim);
	i->arg = calloc(h->arg.count + (size_t)1, sizeof *i->arg);
	i->launch = i->m->device->on_host ? NULL : calloc(h->op.count + (size_t)1, sizeof *i->launch);
	i->stream = i->m->device->stream_open(i->m->context);
	if (i->stream == NULL && device_lost(i->m->device, i->m->context, "", err))
		return DLC_LOST;
	if (i->stream == NULL && !i->m->device->on_host)
		return runtime_fail(err, DLC_DEVICE_MEMORY,
			"the %s has no memory for another stream: end other programs on it, or open fewer instances",
			i->m->device->name);
	if (i->bound == NULL || i->sym == NULL || i->dim == NULL || i->arg == NULL || i->stream == NULL ||
		!recording_init(i) || (i->launch == NULL && !i->m->device->on_host))
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for an instance");
	DlcStatus s = take_memory(i, err);
	if (s != DLC_OK)
		return s;
	i->team = team_open((int)i->threads);
	if (i->team == NULL)
		return runtime_fail(err, DLC_SYSTEM, "the system does not start %u threads: use fewer", i->threads);
	return instance_resolve(i, err);
}

DlcStatus dlc_instance_open(const DlcModel *m, int threads, DlcInstance **out, DlcError *err)
{
	*out = NULL;
	if (threads < 0 || threads > TEAM_MAX)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "%d threads: take 1 to %d", threads, TEAM_MAX);
	DlcInstance *i = calloc(1, sizeof *i);
	if (i == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for an instance");
	i->m = m;
	i->threads = !m->device->on_host ? 1 : threads > 0 ? (uint32_t)threads : m->h->threads;
	DlcStatus s = instance_init(i, err);
	if (s == DLC_OK)
		*out = i;
	else
		dlc_instance_close(i);
	return s;
}

Team *instance_team(const DlcInstance *i)
{
	return i->team;
}

void dlc_instance_close(DlcInstance *i)
{
	if (i == NULL)
		return;
	team_close(i->team);
	if (i->stream != NULL)
		i->m->device->synchronize(i->stream); /* a run may have been started */
	recording_free(i);
	if (i->memory != NULL)
		i->m->device->release(i->m->context, i->memory, i->memory_bytes);
	if (i->stream != NULL)
		i->m->device->stream_close(i->stream);
	free(i->bound);
	free(i->sym);
	free(i->dim);
	free(i->arg);
	free(i->launch);
	free(i);
}

static void resolve_derived(DlcInstance *i)
{
	for (uint32_t k = 0; k < i->m->h->sym.count; k++)
		if (i->m->sym[k].kind == BUNDLE_SYM_DERIVED)
			i->sym[k] = bundle_dim_value(&i->m->dim[i->m->sym[k].dim], i->sym);
}

/* Where kernels find a tensor. */
static unsigned char *used(const Bound *b)
{
	return b->direct ? b->user : b->own;
}

static void resolve_args(DlcInstance *i, uint32_t first, uint32_t n)
{
	const DlcModel *m = i->m;
	for (uint32_t a = first; a < first + n; a++) {
		const BundleSlot *s = &m->slot[m->arg[a]];
		uint32_t t = s->index + (s->kind == BUNDLE_OUTPUT ? m->ninput : 0);
		unsigned char *base;
		switch (s->kind) {
		case BUNDLE_CONST: base = m->constants; break;
		case BUNDLE_WORK: base = i->arena; break;
		case BUNDLE_STATE: base = i->state; break;
		default: base = used(&i->bound[t]);
		}
		i->arg[a] = base + bundle_dim_value(&m->dim[s->offset], i->sym);
	}
}

static void resolve_dims(DlcInstance *i, uint32_t first, uint32_t n)
{
	for (uint32_t d = first; d < first + n; d++)
		i->dim[d] = bundle_dim_value(&i->m->dim[d], i->sym);
}

/* After the dims of the steps; bundle_check has seen that the values are possible. */
static void resolve_launches(DlcInstance *i, uint32_t from, uint32_t to)
{
	for (uint32_t s = from; i->launch != NULL && s < to; s++) {
		const BundleOp *o = &i->m->op[s];
		const BundleEntry *e = &i->m->entry[o->entry];
		if (o->kind != BUNDLE_CALL)
			continue;
		i->launch[s].nbuf = e->nbuf;
		i->launch[s].nsym = e->nsym;
		bundle_launch_values(&i->m->launch[e->launch - 1], i->dim + o->dim, &i->launch[s]);
	}
}

static DlcStatus take_launch(const DlcInstance *i, uint32_t step, DlcError *err)
{
	const DlcModel *m = i->m;
	const BundleOp *o = &m->op[step];
	if (i->launch == NULL || o->kind != BUNDLE_CALL)
		return DLC_OK;
	return device_takes(m->device, m->context, m->text + m->entry[o->entry].name, i->launch[step].dim,
		"take smaller inputs, or compile it for this device", err);
}

/* Sizes and addresses can be asked for all the same: a start says it. */
static void find_untaken(DlcInstance *i)
{
	i->untaken = 0;
	for (uint32_t s = 0; s < i->m->h->op.count && i->untaken == 0; s++)
		i->untaken = take_launch(i, s, NULL) != DLC_OK ? s + 1 : 0;
}

void instance_resolve_steps(DlcInstance *i, uint32_t from, uint32_t to)
{
	resolve_derived(i);
	for (uint32_t s = from; s < to; s++) {
		const BundleOp *o = &i->m->op[s];
		resolve_args(i, o->arg, o->narg);
		resolve_dims(i, o->dim, o->ndim);
	}
	resolve_launches(i, from, to);
}

/* The symbols that the shape of bound input t binds. */
static DlcStatus bind_symbols(DlcInstance *i, uint32_t t, DlcError *err)
{
	const DlcModel *m = i->m;
	const BundleTensor *row = &m->tensor[t];
	for (uint32_t k = 0; k < row->ndim; k++) {
		const BundleDim *d = &m->dim[row->dim + k];
		int64_t given = i->bound[t].shape[k];
		/* Just a symbol: the input's shape binds it. */
		bool is_sym = d->sym[0] >= 0 && d->sym[1] < 0 && d->mul == 1 && d->add == 0 && d->div == 1;
		if (!is_sym || m->sym[d->sym[0]].kind != BUNDLE_SYM_INPUT)
			continue;
		int64_t *value = &i->sym[d->sym[0]];
		if (*value >= 0 && *value != given)
			return runtime_fail(err, DLC_BAD_ARGUMENT, "input %s: dimension %u is %lld, another input makes %s %lld",
				m->text + row->name, k, (long long)given, m->text + m->sym[d->sym[0]].name, (long long)*value);
		*value = given;
	}
	return DLC_OK;
}

/* The shape that the symbols give must equal the shape that the caller bound. */
static DlcStatus check_bound(const DlcInstance *i, uint32_t t, DlcError *err)
{
	const DlcModel *m = i->m;
	const BundleTensor *row = &m->tensor[t];
	for (uint32_t k = 0; k < row->ndim; k++)
		if (i->bound[t].shape[k] != i->dim[row->dim + k])
			return runtime_fail(err, DLC_BAD_ARGUMENT, "%s %s: dimension %u is %lld, the inputs make it %lld",
				t < m->ninput ? "input" : "output", m->text + row->name, k, (long long)i->bound[t].shape[k],
				(long long)i->dim[row->dim + k]);
	return DLC_OK;
}

static int64_t bytes_now(const DlcInstance *i, uint32_t t)
{
	const BundleTensor *row = &i->m->tensor[t];
	DlcTensor x = { .ndim = (int32_t)row->ndim, .dtype = { row->code, row->bits, 1 }, .shape = i->dim + row->dim };
	return tensor_bytes(&x);
}

/* Whether tensor t at `a` overlaps tensor u at `b`, with the current shapes. Nothing overlaps 0 bytes. */
static bool overlap(const DlcInstance *i, uint32_t t, const void *a, uint32_t u, const void *b)
{
	uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
	uint64_t n = (uint64_t)bytes_now(i, t), m = (uint64_t)bytes_now(i, u);
	return n > 0 && m > 0 && x < y + m && y < x + n;
}

/* Takes the caller's memory of an input and an output that meet from one of them, the output if it is used there. */
static bool part_pair(DlcInstance *i, uint32_t input, uint32_t output)
{
	Bound *in = &i->bound[input], *out = &i->bound[output];
	if ((!in->direct && !out->direct) || !overlap(i, input, used(in), output, used(out)))
		return false;
	*(out->direct ? &out->direct : &in->direct) = false;
	return true;
}

/*
 * Kernels may load an input after they stored an output, so the two must not overlap. An output that the caller bound
 * over an input is computed in the instance's own memory and copied after the last step. An input that overlaps an
 * output's own memory is copied before the first step. Each change may make another pair overlap.
 */
static void part_bound(DlcInstance *i)
{
	const DlcModel *m = i->m;
	for (uint32_t t = 0; t < ntensor(m); t++)
		i->bound[t].direct = i->bound[t].user != NULL && i->bound[t].fits;
	for (bool parted = true; parted;) {
		parted = false;
		for (uint32_t t = m->ninput; t < ntensor(m); t++)
			for (uint32_t u = 0; u < m->ninput; u++)
				parted |= part_pair(i, u, t);
	}
}

/* A run copies tensor t between the caller's memory and its own. */
static bool is_copied(const Bound *b)
{
	return b->user != NULL && !b->direct && b->user != b->own;
}

/*
 * Two outputs lie apart. The instance's own memory of a tensor that is copied is written before the first step, or read
 * after the last one. So no bound tensor of the same role may overlap it, not even the copied tensor itself: drivers do
 * not define such a copy.
 */
static DlcStatus refuse_overlaps(const DlcInstance *i, DlcError *err)
{
	const DlcModel *m = i->m;
	for (uint32_t t = m->ninput; t < ntensor(m); t++) {
		const Bound *b = &i->bound[t];
		for (uint32_t u = m->ninput; u < ntensor(m) && b->user != NULL; u++) {
			const Bound *other = &i->bound[u];
			if (u != t && ((other->user != NULL && overlap(i, t, b->user, u, other->user)) ||
							  (!other->direct && overlap(i, t, b->user, u, other->own))))
				return runtime_fail(err, DLC_BAD_ARGUMENT, "outputs %s and %s overlap: bind memory of its own to each",
					m->text + m->tensor[t].name, m->text + m->tensor[u].name);
		}
	}
	for (uint32_t t = 0; t < ntensor(m); t++)
		for (uint32_t u = 0; u < ntensor(m) && is_copied(&i->bound[t]); u++) {
			const Bound *b = &i->bound[u];
			if ((t < m->ninput) == (u < m->ninput) && b->user != NULL && !b->away &&
				overlap(i, u, b->user, t, i->bound[t].own))
				return runtime_fail(err, DLC_BAD_ARGUMENT,
					"%s %s overlaps the instance's own memory of %s, which each run uses for a copy: bind other memory "
					"to %s",
					u < m->ninput ? "input" : "output", m->text + m->tensor[u].name, m->text + m->tensor[t].name,
					m->text + m->tensor[u].name);
		}
	return DLC_OK;
}

DlcStatus instance_resolve(DlcInstance *i, DlcError *err)
{
	const DlcModel *m = i->m;
	i->stale = true;
	for (uint32_t k = 0; k < m->h->sym.count; k++)
		i->sym[k] = m->sym[k].kind == BUNDLE_SYM_INPUT ? -1 : m->sym[k].min;
	DlcStatus s = DLC_OK;
	for (uint32_t t = 0; t < m->ninput && s == DLC_OK; t++)
		if (i->bound[t].user != NULL)
			s = bind_symbols(i, t, err);
	for (uint32_t k = 0; k < m->h->sym.count; k++)
		if (i->sym[k] < 0)
			i->sym[k] = m->sym[k].max;
	resolve_derived(i);
	resolve_dims(i, 0, m->h->dim.count);
	for (uint32_t t = 0; t < ntensor(m) && s == DLC_OK; t++)
		if (i->bound[t].user != NULL)
			s = check_bound(i, t, err);
	if (s != DLC_OK)
		return s;
	part_bound(i);
	if ((s = refuse_overlaps(i, err)) != DLC_OK)
		return s;
	resolve_args(i, 0, m->h->arg.count);
	resolve_launches(i, 0, m->h->op.count);
	find_untaken(i);
	i->stale = false;
	return DLC_OK;
}

/* Type and shape, as far as they are known before the symbols are. */
static bool tensor_fits(const DlcInstance *i, uint32_t row, const DlcTensor *want, const DlcTensor *t)
{
	if (t->dtype.code != want->dtype.code || t->dtype.bits != want->dtype.bits || t->dtype.lanes != 1 ||
		t->ndim != want->ndim || (t->ndim > 0 && t->shape == NULL))
		return false;
	for (int k = 0; k < t->ndim; k++) {
		const BundleDim *d = &i->m->dim[i->m->tensor[row].dim + (uint32_t)k];
		int64_t lo, hi;
		bundle_dim_range(i->m, d, &lo, &hi);
		if (t->shape[k] < lo || t->shape[k] > hi)
			return false;
	}
	return true;
}

DlcStatus dlc_instance_bind(DlcInstance *i, DlcRole role, int index, const DlcTensor *t, DlcError *err)
{
	DlcTensor want;
	if (dlc_model_tensor(i->m, role, index, &want) != DLC_OK)
		return runtime_fail(
			err, DLC_BAD_ARGUMENT, "the model has no %s %d", role == DLC_INPUT ? "input" : "output", index);
	uint32_t row = (uint32_t)index + (role == DLC_OUTPUT ? i->m->ninput : 0);
	Bound *b = &i->bound[row];
	const char *name = i->m->text + i->m->tensor[row].name;
	i->stale = true;
	if (t == NULL) {
		b->user = NULL;
		return DLC_OK;
	}
	if (!tensor_fits(i, row, &want, t)) {
		char wanted[TENSOR_TEXT], given[TENSOR_TEXT];
		return runtime_fail(err, DLC_BAD_ARGUMENT, "%s %s is %s, it cannot be %s",
			role == DLC_INPUT ? "input" : "output", name, tensor_print(&want, wanted), tensor_print(t, given));
	}
	/* One memory, whatever the id, also where a driver has pinned it. */
	bool host = t->device.type == DLC_DEVICE_CPU || t->device.type == DLC_DEVICE_CUDA_HOST;
	if (!tensor_is_compact(t))
		return runtime_fail(err, DLC_BAD_ARGUMENT, "%s: the tensor must lie row by row, without gaps", name);
	if (!host && (t->device.type != want.device.type || t->device.id != want.device.id))
		return runtime_fail(err, DLC_BAD_ARGUMENT,
			"%s: the tensor lies on device %d of type %d, the model runs on the %s, device %d of type %d: copy the "
			"tensor there or to the host",
			name, t->device.id, t->device.type, i->m->device->name, want.device.id, want.device.type);
	if (t->data == NULL && tensor_count(t) > 0)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "%s: the tensor has no data", name);
	b->away = host && !i->m->device->on_host;
	b->user = t->data != NULL ? (unsigned char *)t->data + t->byte_offset : b->own;
	b->fits = !b->away && (uintptr_t)b->user % BUNDLE_BUFFER == 0;
	for (int k = 0; k < t->ndim; k++)
		b->shape[k] = t->shape[k];
	return DLC_OK;
}

DlcStatus dlc_instance_tensor(DlcInstance *i, DlcRole role, int index, DlcTensor *out, DlcError *err)
{
	DlcStatus s = dlc_model_tensor(i->m, role, index, out);
	if (s != DLC_OK)
		return runtime_fail(err, s, "the model has no %s %d", role == DLC_INPUT ? "input" : "output", index);
	if (i->stale && (s = instance_resolve(i, err)) != DLC_OK)
		return s;
	uint32_t row = (uint32_t)index + (role == DLC_OUTPUT ? i->m->ninput : 0);
	const Bound *b = &i->bound[row];
	out->shape = i->dim + i->m->tensor[row].dim;
	out->data = b->user != NULL ? b->user : b->own;
	if (b->user != NULL && b->away)
		out->device = (DlcDevice){ DLC_DEVICE_CPU, 0 };
	return DLC_OK;
}

/* Checks that `bytes` are the tensor's, and sets *t to where it lies today. */
static DlcStatus find_whole(
	DlcInstance *i, DlcRole role, int index, const void *data, size_t bytes, DlcTensor *t, DlcError *err)
{
	DlcStatus s = dlc_instance_tensor(i, role, index, t, err);
	if (s != DLC_OK)
		return s;
	const char *what = role == DLC_INPUT ? "input" : "output", *name = dlc_model_name(i->m, role, index);
	char text[TENSOR_TEXT];
	if ((uint64_t)tensor_bytes(t) != bytes)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "%s %s is %s and has %lld bytes, the caller's data has %llu", what,
			name, tensor_print(t, text), (long long)tensor_bytes(t), (unsigned long long)bytes);
	if (data == NULL && bytes > 0)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "%s %s: the caller's data is NULL", what, name);
	return DLC_OK;
}

/* Copies between host memory and a tensor t, which may lie on the device. */
static DlcStatus copy_whole(
	DlcInstance *i, const DlcTensor *t, void *to, const void *from, size_t bytes, DeviceWay way, DlcError *err)
{
	if (bytes == 0)
		return DLC_OK;
	if (t->device.type == DLC_DEVICE_CPU) {
		memmove(to, from, bytes);
		return DLC_OK;
	}
	const Device *d = i->m->device;
	int status = d->copy(i->stream, to, from, bytes, way), late = d->synchronize(i->stream);
	status = status != 0 ? status : late;
	return status == 0 ? DLC_OK : fail_device(i, status, "", err);
}

DlcStatus dlc_instance_write(
	DlcInstance *i, DlcRole role, int index, const void *data, size_t bytes, DlcError *err)
{
	DlcTensor t;
	DlcStatus s = find_whole(i, role, index, data, bytes, &t, err);
	return s == DLC_OK ? copy_whole(i, &t, t.data, data, bytes, DEVICE_UP, err) : s;
}

DlcStatus dlc_instance_read(DlcInstance *i, DlcRole role, int index, void *data, size_t bytes, DlcError *err)
{
	DlcTensor t;
	DlcStatus s = find_whole(i, role, index, data, bytes, &t, err);
	return s == DLC_OK ? copy_whole(i, &t, data, t.data, bytes, DEVICE_DOWN, err) : s;
}

/* Copies what is bound and kernels cannot use as it is into the instance's buffers, or out of them. */
static int copy_bound(DlcInstance *i, DlcRole role)
{
	int status = 0;
	for (int k = 0; k < dlc_model_count(i->m, role) && status == 0; k++) {
		uint32_t row = (uint32_t)k + (role == DLC_OUTPUT ? i->m->ninput : 0);
		const Bound *b = &i->bound[row];
		if (!is_copied(b))
			continue;
		DlcTensor t;
		dlc_model_tensor(i->m, role, k, &t);
		t.shape = i->dim + i->m->tensor[row].dim;
		bool in = role == DLC_INPUT;
		DeviceWay way = !b->away ? DEVICE_WITHIN : in ? DEVICE_UP : DEVICE_DOWN;
		status =
			i->m->device->copy(i->stream, in ? b->own : b->user, in ? b->user : b->own, (size_t)tensor_bytes(&t), way);
	}
	return status;
}

static DlcStatus fail_step(const DlcInstance *i, uint32_t step, int status, DlcError *err)
{
	char where[160];
	const char *name = dlc_model_step(i->m, (int)step);
	if (i->m->device->explain == NULL)
		return runtime_fail(err, DLC_KERNEL, "step %u (%s) failed with status %u", step, name, (unsigned)status);
	snprintf(where, sizeof where, " in step %u (%.120s)", step, name);
	return fail_device(i, status, where, err);
}

DlcStatus dlc_instance_start(DlcInstance *i, DlcError *err)
{
	if (i->stale) {
		DlcStatus s = instance_resolve(i, err);
		if (s != DLC_OK)
			return s;
	}
	if (i->untaken > 0)
		return take_launch(i, i->untaken - 1, err);
	uint64_t failed = 0;
	int status = copy_bound(i, DLC_INPUT);
	if (status == 0)
		status = recording_run(i, &failed);
	if (status == 0 && failed == 0)
		status = copy_bound(i, DLC_OUTPUT);
	if (status == 0 && failed == 0)
		return DLC_OK;
	i->m->device->synchronize(i->stream);
	return failed != 0 ? fail_step(i, (uint32_t)(failed >> 32), (int)(uint32_t)failed, err)
	                   : fail_device(i, status, "", err);
}

DlcStatus dlc_instance_wait(DlcInstance *i, DlcError *err)
{
	char where[320] = "";
	int status = i->m->device->synchronize(i->stream), last = dlc_model_steps(i->m) - 1;
	if (status == 0)
		return DLC_OK;
	if (last == 0 && i->m->device->explain != NULL)
		return fail_step(i, 0, status, err);
	if (last > 0 && i->m->device->explain != NULL)
		snprintf(where, sizeof where, " in one of the steps 0 (%.120s) to %d (%.120s)", dlc_model_step(i->m, 0), last,
			dlc_model_step(i->m, last));
	return fail_device(i, status, where, err);
}

DlcStatus dlc_instance_run(DlcInstance *i, DlcError *err)
{
	DlcStatus s = dlc_instance_start(i, err);
	return s == DLC_OK ? dlc_instance_wait(i, err) : s;
}

void *dlc_instance_stream(const DlcInstance *i)
{
	const Device *d = i->m->device;
	return d->stream_handle != NULL ? d->stream_handle(i->stream) : NULL;
}

DlcStatus dlc_instance_profile(DlcInstance *i, uint64_t *ns, DlcError *err)
{
	i->ns = ns;
	DlcStatus s = dlc_instance_run(i, err);
	i->ns = NULL;
	return s;
}
