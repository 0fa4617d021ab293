/*
 * Whether a file is a bundle that this runtime can run. It checks every offset, count and index that a run would
 * follow. Checksums find damage; a bundle that passes them and is still wrong comes from a faulty writer, and is
 * refused as well. Code itself is trusted: a bundle is a program.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cpu.h"
#include "runtime/device_failure.h"
#include "runtime/model.h"
#include "runtime/team.h"

#define LIMIT ((int64_t)1 << 62)

/* Bytes of the character at p, which is UTF-8 and may be shown; 0: it is not. */
static size_t shown_bytes(const unsigned char *p)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
	uint32_t code = n < 2 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	bool control = code < 32 || (code >= 127 && code < 160);
	bool turns = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
	             (code >= 0x2066 && code <= 0x2069); /* the direction of writing */
	bool none = (n == 3 && code < 0x800) || (n == 4 && (code < 0x10000 || code > 0x10ffff)) ||
	            (code >= 0xd800 && code < 0xe000);
	return control || turns || none ? 0 : n;
}

const char *runtime_shown(char *out, size_t size, const char *text)
{
	size_t n = 0;
	for (const unsigned char *p = (const unsigned char *)text; *p != 0;) {
		size_t bytes = shown_bytes(p);
		if (n + (bytes > 0 ? bytes : 1) >= size)
			break;
		if (bytes == 0)
			out[n] = '?';
		else
			memcpy(out + n, p, bytes);
		n += bytes > 0 ? bytes : 1;
		p += bytes > 0 ? bytes : 1;
	}
	out[n] = 0;
	return out;
}

DlcStatus runtime_fail(DlcError *err, DlcStatus s, const char *fmt, ...)
{
	char text[sizeof err->text];
	if (err == NULL)
		return s;
	va_list args;
	va_start(args, fmt);
	err->status = s;
	vsnprintf(text, sizeof text, fmt, args); /* names in it are the bundle's */
	va_end(args);
	runtime_shown(err->text, sizeof err->text, text);
	return s;
}

static bool dim_at(const BundleDim *d, int64_t a, int64_t b, int64_t *out)
{
	int64_t v;
	if (__builtin_mul_overflow(a, b, &v) || __builtin_mul_overflow(v, d->mul, &v) ||
		__builtin_add_overflow(v, d->add, &v) || v < 0)
		return false;
	*out = v / d->div;
	return *out <= LIMIT;
}

bool bundle_dim_range(const DlcModel *m, const BundleDim *d, int64_t *lo, int64_t *hi)
{
	int64_t min[2] = { 1, 1 }, max[2] = { 1, 1 };
	for (int k = 0; k < 2; k++)
		if (d->sym[k] >= 0) {
			min[k] = m->sym[d->sym[k]].min;
			max[k] = m->sym[d->sym[k]].max;
		}
	return dim_at(d, min[0], min[1], lo) && dim_at(d, max[0], max[1], hi);
}

int64_t bundle_dim_value(const BundleDim *d, const int64_t *sym)
{
	int64_t v = 1;
	for (int k = 0; k < 2; k++)
		if (d->sym[k] >= 0)
			v *= sym[d->sym[k]];
	return (v * d->mul + d->add) / d->div;
}

int64_t bundle_tensor_bytes(const DlcModel *m, const BundleTensor *t)
{
	int64_t n = t->bits, lo, hi;
	for (uint32_t i = 0; i < t->ndim; i++)
		if (!bundle_dim_range(m, &m->dim[t->dim + i], &lo, &hi) || __builtin_mul_overflow(n, hi, &n))
			return -1;
	return n / 8 + (n % 8 != 0);
}

static DlcStatus damaged(DlcError *err, const char *what)
{
	return runtime_fail(err, DLC_BAD_FILE, "damaged bundle: %s; compile it again", what);
}

/* Before the tables are read: is it a bundle, of this version, complete, and its head undamaged? */
static DlcStatus check_frame(const DlcModel *m, DlcError *err)
{
	const BundleHeader *h = m->h;
	if (m->size < sizeof *h || memcmp(h->magic, BUNDLE_MAGIC, sizeof h->magic) != 0)
		return runtime_fail(err, DLC_BAD_FILE, "not a bundle: the file does not start as dlc-compile's do");
	bool first = h->version == BUNDLE_FIRST_VERSION;
	if ((!first && h->version != BUNDLE_VERSION) ||
		h->header_bytes != (first ? offsetof(BundleHeader, variant) : sizeof *h))
		return runtime_fail(err, DLC_BAD_FILE,
			"bundle of version %u, this runtime reads versions %d to %d: compile it again", h->version,
			BUNDLE_FIRST_VERSION, BUNDLE_VERSION);
	if (h->file_bytes != m->size)
		return runtime_fail(err, DLC_BAD_FILE, "damaged bundle: %llu bytes instead of %llu; copy or compile it again",
			(unsigned long long)m->size, (unsigned long long)h->file_bytes);
	if (h->head_bytes < h->header_bytes || h->head_bytes > m->size)
		return damaged(err, "its head is longer than the file");
	if (bundle_sum(m->base + BUNDLE_SUM_FROM, h->head_bytes - BUNDLE_SUM_FROM) != h->head_sum)
		return damaged(err, "the checksum of its plan does not match");
	if (h->code_offset % BUNDLE_ALIGN != 0 || h->const_offset % BUNDLE_ALIGN != 0)
		return damaged(err, "a section is not aligned");
	if (h->code_offset < h->head_bytes || h->code_offset > m->size || h->code_bytes > m->size - h->code_offset)
		return damaged(err, "its code lies outside the file");
	if (h->const_offset < h->code_offset + h->code_bytes || h->const_offset > m->size ||
		h->const_bytes > m->size - h->const_offset)
		return damaged(err, "its constants lie outside the file");
	if (h->arena_bytes > LIMIT || h->state_bytes > LIMIT)
		return damaged(err, "its workspace has an impossible size");
	if (h->threads < 1 || h->threads > TEAM_MAX)
		return damaged(err, "its number of threads is impossible");
	return DLC_OK;
}

static const void *table(const DlcModel *m, BundleTable t, size_t row, bool *ok)
{
	uint64_t bytes = (uint64_t)t.count * row;
	if (t.offset % 8 != 0 || t.offset < m->h->header_bytes || t.offset > m->h->head_bytes ||
		bytes > m->h->head_bytes - t.offset) {
		*ok = false;
		return NULL;
	}
	return m->base + t.offset;
}

static DlcStatus set_tables(DlcModel *m, DlcError *err)
{
	const BundleHeader *h = m->h;
	bool ok = true;
	m->text = table(m, h->text, 1, &ok);
	m->info = table(m, h->info, sizeof *m->info, &ok);
	m->feature = table(m, h->feature, sizeof *m->feature, &ok);
	m->sym = table(m, h->sym, sizeof *m->sym, &ok);
	m->dim = table(m, h->dim, sizeof *m->dim, &ok);
	m->tensor = table(m, h->tensor, sizeof *m->tensor, &ok);
	m->image = table(m, h->image, sizeof *m->image, &ok);
	m->entry = table(m, h->entry, sizeof *m->entry, &ok);
	m->launch = table(m, h->launch, sizeof *m->launch, &ok);
	m->slot = table(m, h->slot, sizeof *m->slot, &ok);
	m->arg = table(m, h->arg, sizeof *m->arg, &ok);
	m->op = table(m, h->op, sizeof *m->op, &ok);
	m->nvariant = 1;
	if (h->version > BUNDLE_FIRST_VERSION && h->variant.count > 0) {
		m->variant = table(m, h->variant, sizeof *m->variant, &ok);
		m->nvariant = h->variant.count;
	}
	m->nimage = h->image.count / m->nvariant;
	if (!ok || h->text.count == 0 || m->text[h->text.count - 1] != 0)
		return damaged(err, "a table lies outside its head");
	return DLC_OK;
}

static DlcStatus check_texts(const DlcModel *m, DlcError *err)
{
	const BundleHeader *h = m->h;
	uint32_t n = h->text.count;
	bool ok = true;
	for (uint32_t i = 0; i < h->info.count; i++)
		ok &= m->info[i].key < n && m->info[i].value < n;
	for (uint32_t i = 0; i < h->feature.count; i++)
		ok &= m->feature[i] < n;
	for (uint32_t i = 0; m->variant != NULL && i < m->nvariant; i++)
		ok &= m->variant[i].name < n && m->variant[i].feature <= h->feature.count &&
		      m->variant[i].nfeature <= h->feature.count - m->variant[i].feature;
	for (uint32_t i = 0; i < h->sym.count; i++)
		ok &= m->sym[i].name < n;
	for (uint32_t i = 0; i < h->tensor.count; i++)
		ok &= m->tensor[i].name < n;
	for (uint32_t i = 0; i < h->entry.count; i++)
		ok &= m->entry[i].name < n;
	for (uint32_t i = 0; i < h->op.count; i++)
		ok &= m->op[i].name < n;
	return ok ? DLC_OK : damaged(err, "a name lies outside its texts");
}

bool bundle_variant_fits(const DlcModel *m, uint32_t v, char *missing, size_t size)
{
	uint32_t first = m->variant != NULL ? m->variant[v].feature : 0;
	uint32_t n = m->variant != NULL ? m->variant[v].nfeature : m->h->feature.count;
	size_t at = 0;
	missing[0] = 0;
	for (uint32_t i = first; i < first + n && at < size; i++)
		if (!m->device->has(m->context, m->text + m->feature[i]))
			at += (size_t)snprintf(missing + at, size - at, "%s%s", at > 0 ? ", " : "", m->text + m->feature[i]);
	return at == 0;
}

static DlcStatus check_device(DlcModel *m, DlcError *err)
{
	const BundleHeader *h = m->h;
	const char *type = device_type_name(h->device);
	if (m->device == NULL || (uint32_t)m->device->type != h->device)
		m->device = h->device <= INT32_MAX ? device_find((int32_t)h->device) : NULL;
	if (m->device == NULL && type == NULL)
		return runtime_fail(
			err, DLC_BAD_TARGET, "the bundle is for device type %u, which this runtime does not know", h->device);
	if (m->device == NULL)
		return runtime_fail(err, DLC_BAD_TARGET,
			"the bundle is for %s, which this runtime cannot use: compile it for this machine", type);
	const char *want = cpu_arch_name(h->arch), *have = cpu_arch_name(cpu_arch());
	if (h->arch != cpu_arch() && (m->device->on_host || h->arch != BUNDLE_ANY))
		return runtime_fail(err, DLC_BAD_TARGET,
			"the bundle is for %s, this CPU is %s: compile it for this machine",
			want != NULL ? want : "an unknown architecture", have != NULL ? have : "another");
	DlcStatus s = m->device->open(m->device_id, &m->context, err);
	if (s != DLC_OK)
		return s;
	char missing[200];
	bool fits = false;
	for (uint32_t v = 0; v < m->nvariant && !fits; v++)
		fits = bundle_variant_fits(m, v, missing, sizeof missing);
	if (!fits) /* the last variant needs least */
		return runtime_fail(err, DLC_BAD_TARGET,
			"the bundle needs %s, which this %s does not have: compile it for this %s", missing,
			m->device->on_host ? "CPU" : "device", m->device->on_host ? "machine" : "device");
	return DLC_OK;
}

/* Symbols and dims: a dim names symbols, a derived symbol is a dim of earlier ones. */
static DlcStatus check_dims(const DlcModel *m, DlcError *err)
{
	const BundleHeader *h = m->h;
	for (uint32_t i = 0; i < h->sym.count; i++) {
		const BundleSym *s = &m->sym[i];
		if (s->kind > BUNDLE_SYM_LOOP || s->min < 0 || s->max < s->min || s->max > LIMIT)
			return damaged(err, "a symbol has an impossible range");
		if (s->kind == BUNDLE_SYM_DERIVED && s->dim >= h->dim.count)
			return damaged(err, "a symbol lies outside its tables");
	}
	for (uint32_t i = 0; i < h->dim.count; i++) {
		const BundleDim *d = &m->dim[i];
		int64_t lo, hi;
		for (int k = 0; k < 2; k++)
			if (d->sym[k] < -1 || d->sym[k] >= (int64_t)h->sym.count)
				return damaged(err, "a dimension names no symbol");
		if (d->mul < 0 || d->div < 1 || !bundle_dim_range(m, d, &lo, &hi))
			return damaged(err, "a dimension has an impossible value");
	}
	for (uint32_t i = 0; i < h->sym.count; i++) {
		const BundleSym *s = &m->sym[i];
		if (s->kind != BUNDLE_SYM_DERIVED)
			continue;
		const BundleDim *d = &m->dim[s->dim];
		int64_t lo, hi;
		if (d->sym[0] >= (int64_t)i || d->sym[1] >= (int64_t)i || !bundle_dim_range(m, d, &lo, &hi) || lo < s->min ||
			hi > s->max)
			return damaged(err, "a derived symbol leaves its range");
	}
	return DLC_OK;
}

/* Which symbols change while the plan runs: those of loops, and all that are derived from them. NULL: no memory. */
static bool *moving_symbols(const DlcModel *m)
{
	uint32_t n = m->h->sym.count;
	bool *moves = calloc(n + (size_t)1, sizeof *moves);
	for (uint32_t i = 0; i < n && moves != NULL; i++) {
		moves[i] = m->sym[i].kind == BUNDLE_SYM_LOOP;
		for (int k = 0; k < 2 && m->sym[i].kind == BUNDLE_SYM_DERIVED; k++) {
			int32_t of = m->dim[m->sym[i].dim].sym[k]; /* an earlier one */
			moves[i] |= of >= 0 && moves[of];
		}
	}
	return moves;
}

static DlcStatus check_tensor(const DlcModel *m, const BundleTensor *t, const bool *moves, DlcError *err)
{
	const BundleHeader *h = m->h;
	bool known = t->code <= 6 && t->code != 3 && t->code != 5 && t->bits > 0 && t->bits <= 64;
	if (!known || t->output > 1 || t->ndim > BUNDLE_RANK || t->dim > h->dim.count || t->ndim > h->dim.count - t->dim)
		return damaged(err, "a tensor's type or shape is impossible");
	int64_t bytes = bundle_tensor_bytes(m, t);
	if (bytes < 0 || bytes > LIMIT)
		return damaged(err, "a tensor's size is impossible");
	for (uint32_t k = 0; k < t->ndim; k++) {
		const BundleDim *d = &m->dim[t->dim + k];
		for (int s = 0; s < 2; s++)
			if (d->sym[s] >= 0 && moves[d->sym[s]])
				return damaged(err, "a loop decides a tensor's shape");
	}
	return DLC_OK;
}

static DlcStatus check_tensors(DlcModel *m, DlcError *err)
{
	bool *moves = moving_symbols(m);
	DlcStatus s = moves != NULL ? DLC_OK : runtime_fail(err, DLC_NO_MEMORY, "there is no memory for a model");
	for (uint32_t i = 0; i < m->h->tensor.count && s == DLC_OK; i++) {
		const BundleTensor *t = &m->tensor[i];
		s = check_tensor(m, t, moves, err);
		if (s == DLC_OK && t->output == 0 && m->ninput != i)
			s = damaged(err, "an input follows an output");
		m->ninput += t->output == 0;
	}
	free(moves);
	return s;
}

static int64_t slot_room(const DlcModel *m, const BundleSlot *s)
{
	switch (s->kind) {
	case BUNDLE_INPUT: return s->index < m->ninput ? bundle_tensor_bytes(m, &m->tensor[s->index]) : -1;
	case BUNDLE_OUTPUT:
		return s->index < m->h->tensor.count - m->ninput ? bundle_tensor_bytes(m, &m->tensor[m->ninput + s->index])
		                                                 : -1;
	case BUNDLE_CONST: return (int64_t)m->h->const_bytes;
	case BUNDLE_WORK: return (int64_t)m->h->arena_bytes;
	case BUNDLE_STATE: return (int64_t)m->h->state_bytes;
	default: return -1;
	}
}

static DlcStatus check_slots(const DlcModel *m, DlcError *err)
{
	for (uint32_t i = 0; i < m->h->slot.count; i++) {
		const BundleSlot *s = &m->slot[i];
		int64_t room = slot_room(m, s), lo, hi;
		if (room < 0 || s->offset >= m->h->dim.count)
			return damaged(err, "a buffer names nothing");
		const BundleDim *d = &m->dim[s->offset];
		if (!bundle_dim_range(m, d, &lo, &hi) || hi > room || s->bytes > (uint64_t)(room - hi))
			return damaged(err, "a buffer lies outside its memory");
		if (d->div != 1 || d->mul % BUNDLE_BUFFER != 0 || d->add % BUNDLE_BUFFER != 0)
			return damaged(err, "a buffer is not aligned");
	}
	return DLC_OK;
}

bool bundle_launch_fits(const DlcLaunch *l, uint32_t nsym)
{
	for (int k = 0; k < DLC_LAUNCH_DIMS; k++) {
		const DlcDim *d = &l->dim[k];
		for (int s = 0; s < 2; s++)
			if (d->sym[s] < -1 || d->sym[s] >= (int64_t)nsym)
				return false;
		if (d->mul < 0 || d->div < 1)
			return false;
	}
	return true;
}

static DlcStatus check_entries(DlcModel *m, DlcError *err)
{
	if (m->nimage * m->nvariant != m->h->image.count)
		return damaged(err, "its variants differ in their images");
	for (uint32_t i = 0; i < m->h->image.count; i++) {
		const BundleImage *c = &m->image[i];
		if (c->offset % BUNDLE_BUFFER != 0 || c->offset > m->h->code_bytes || c->bytes == 0 ||
			c->bytes > m->h->code_bytes - c->offset)
			return damaged(err, "an image lies outside the code");
		/* A driver reads it as text, without its size. */
		if (!m->device->on_host && m->base[m->h->code_offset + c->offset + c->bytes - 1] != 0)
			return damaged(err, "an image for a device does not end with a 0");
	}
	for (uint32_t i = 0; i < m->h->launch.count; i++)
		if (!bundle_launch_fits(&m->launch[i], UINT32_MAX))
			return damaged(err, "a launch is impossible");
	for (uint32_t i = 0; i < m->h->entry.count; i++) {
		const BundleEntry *e = &m->entry[i];
		for (uint32_t v = 0; v < m->nvariant; v++)
			if (e->image >= m->nimage || e->offset >= m->image[v * m->nimage + e->image].bytes)
				return damaged(err, "a kernel lies outside the code");
		if (e->work_bytes > LIMIT)
			return damaged(err, "a kernel's workspace has an impossible size");
		if (e->launch > m->h->launch.count || (e->launch == 0) != m->device->on_host ||
			(e->launch > 0 && !bundle_launch_fits(&m->launch[e->launch - 1], e->nsym)))
			return damaged(err, "a kernel's launch does not fit its device or its arguments");
		if (e->work_bytes > m->work_bytes)
			m->work_bytes = e->work_bytes;
	}
	return DLC_OK;
}

bool bundle_launch_values(const DlcLaunch *l, const int64_t *sym, DeviceLaunch *out)
{
	for (int k = 0; k < DLC_LAUNCH_DIMS; k++) {
		const DlcDim *d = &l->dim[k];
		int64_t v, least = k == DLC_SHARED ? 0 : 1;
		if (!dim_at(d, d->sym[0] < 0 ? 1 : sym[d->sym[0]], d->sym[1] < 0 ? 1 : sym[d->sym[1]], &v) || v < least ||
			v > INT32_MAX)
			return false;
		out->dim[k] = (uint32_t)v;
	}
	return true;
}

/* Checks a call's arguments, and that no values of them make an impossible launch. *dim: the smallest launch. */
static bool call_fits(const DlcModel *m, const BundleOp *o, uint32_t dim[DLC_LAUNCH_DIMS])
{
	if (o->entry >= m->h->entry.count || m->entry[o->entry].nbuf != o->narg || m->entry[o->entry].nsym != o->ndim)
		return false;
	const BundleEntry *e = &m->entry[o->entry];
	for (int k = 0; k < DLC_LAUNCH_DIMS && e->launch > 0; k++) {
		const DlcDim *d = &m->launch[e->launch - 1].dim[k];
		int64_t lo[2] = { 1, 1 }, hi[2] = { 1, 1 }, least, most;
		for (int s = 0; s < 2; s++)
			if (d->sym[s] >= 0 && !bundle_dim_range(m, &m->dim[o->dim + (uint32_t)d->sym[s]], &lo[s], &hi[s]))
				return false;
		if (!dim_at(d, lo[0], lo[1], &least) || !dim_at(d, hi[0], hi[1], &most) || most > INT32_MAX ||
			least < (k == DLC_SHARED ? 0 : 1))
			return false;
		dim[k] = (uint32_t)least;
	}
	return true;
}

static bool op_fits(const DlcModel *m, const BundleOp *o, uint32_t dim[DLC_LAUNCH_DIMS])
{
	const BundleHeader *h = m->h;
	int64_t lo, hi, from, to;
	if (o->arg > h->arg.count || o->narg > h->arg.count - o->arg || o->dim > h->dim.count ||
		o->ndim > h->dim.count - o->dim)
		return false;
	if (o->kind >= BUNDLE_LOOP && o->narg == 1 && m->slot[m->arg[o->arg]].bytes == 0)
		return false;
	switch (o->kind) {
	case BUNDLE_CALL: return call_fits(m, o, dim);
	case BUNDLE_COPY:
		return o->narg == 2 && o->ndim == 1 && bundle_dim_range(m, &m->dim[o->dim], &lo, &hi) &&
		       (uint64_t)hi <= m->slot[m->arg[o->arg]].bytes && (uint64_t)hi <= m->slot[m->arg[o->arg + 1]].bytes;
	case BUNDLE_LOOP:
		return o->ndim == 2 && o->narg <= 1 && o->other == 0 && o->sym < h->sym.count &&
		       m->sym[o->sym].kind == BUNDLE_SYM_LOOP && bundle_dim_range(m, &m->dim[o->dim], &from, &hi) &&
		       bundle_dim_range(m, &m->dim[o->dim + 1], &lo, &to) && from >= m->sym[o->sym].min &&
		       to <= m->sym[o->sym].max + 1;
	case BUNDLE_IF: return o->narg == 1 && o->ndim == 0;
	default: return false;
	}
}

/* Steps [at, end) nest: a body ends where or before the step around it does. */
static bool nests(const DlcModel *m, uint32_t at, uint32_t end, int depth)
{
	while (at < end) {
		const BundleOp *o = &m->op[at++];
		if (o->kind < BUNDLE_LOOP)
			continue;
		if (depth == 0 || o->body > end - at || o->other > end - at - o->body)
			return false;
		if (!nests(m, at, at + o->body, depth - 1) || !nests(m, at + o->body, at + o->body + o->other, depth - 1))
			return false;
		at += o->body + o->other;
	}
	return true;
}

/* Launches that the device takes for no symbols are refused here, others when they are started. */
static DlcStatus check_plan(const DlcModel *m, DlcError *err)
{
	for (uint32_t i = 0; i < m->h->arg.count; i++)
		if (m->arg[i] >= m->h->slot.count)
			return damaged(err, "a step names no buffer");
	for (uint32_t i = 0; i < m->h->op.count; i++) {
		uint32_t dim[DLC_LAUNCH_DIMS] = { 1, 1, 1, 1, 1, 1 };
		const BundleOp *o = &m->op[i];
		if (!op_fits(m, o, dim))
			return damaged(err, "a step of its plan is impossible");
		if (o->kind != BUNDLE_CALL)
			continue;
		DlcStatus s = device_takes(m->device, m->context, m->text + m->entry[o->entry].name, dim,
			"compile it for this device", err);
		if (s != DLC_OK)
			return s;
	}
	if (!nests(m, 0, m->h->op.count, BUNDLE_DEPTH))
		return damaged(err, "the steps of its plan do not nest");
	return DLC_OK;
}

DlcStatus bundle_check(DlcModel *m, DlcError *err)
{
	m->h = (const BundleHeader *)m->base;
	DlcStatus s = check_frame(m, err);
	if (s == DLC_OK)
		s = set_tables(m, err);
	if (s == DLC_OK)
		s = check_texts(m, err);
	if (s == DLC_OK)
		s = check_device(m, err);
	if (s == DLC_OK)
		s = check_dims(m, err);
	if (s == DLC_OK)
		s = check_tensors(m, err);
	if (s == DLC_OK)
		s = check_slots(m, err);
	if (s == DLC_OK)
		s = check_entries(m, err);
	return s == DLC_OK ? check_plan(m, err) : s;
}
