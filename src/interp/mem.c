/*
 * Tensors and windows of them: where an element lies, what an alloc or a window makes. Lists by size keep the blocks of
 * memory that were given back, so that an alloc in a loop costs little. The allocs of a thread end with it.
 */
#include "interp/step.h"

#include <string.h>

static int size_class(size_t bytes)
{
	int k = 5;
	while ((size_t)1 << k < bytes)
		k++;
	return k;
}

bool interp_count_memory(Run *r, size_t bytes)
{
	if (bytes > r->limit || r->used > r->limit - bytes)
		return fail(r->err, ERR_MEMORY, r->p != NULL ? r->p->fn->name : "", "interpreting needs more than %zu MB",
			r->limit >> 20);
	r->used += bytes;
	return true;
}

void *interp_get(Run *r, size_t bytes, bool zero)
{
	int k = bytes < (size_t)1 << 46 ? size_class(bytes) : POOLS;
	void *p = k < POOLS ? r->pool[k] : NULL;
	size_t whole = (size_t)1 << k;
	if (p != NULL) {
		memcpy(&r->pool[k], p, sizeof(void *));
	} else {
		return interp_count_memory(r, k < POOLS ? whole : SIZE_MAX) ? arena_alloc(r->arena, whole) : NULL;
	}
	if (zero)
		memset(p, 0, bytes);
	return p;
}

void interp_put(Run *r, void *p, size_t bytes)
{
	if (p == NULL)
		return;
	int k = size_class(bytes);
	memcpy(p, &r->pool[k], sizeof(void *));
	r->pool[k] = p;
}

/*
 * The physical offset of the element that the slots of `list` index, -1 if there is none. *logical
 * is set where several logical elements may share one place, to tell them apart.
 */
int64_t interp_at(const View *v, const uint32_t *list, const Val *slot, int64_t *logical)
{
	const Store *s = v->store;
	int64_t at = v->off;
	if (s->map == NULL) {
		for (int k = 0; k < v->rank; k++) {
			int64_t i = slot[list[k]].i;
			if ((uint64_t)i >= (uint64_t)v->extent[k])
				return -1;
			at += i * v->stride[k];
		}
		return at;
	}
	int64_t idx[RANK], line = 0;
	for (int k = 0; k < v->rank; k++)
		if ((uint64_t)slot[list[k]].i >= (uint64_t)v->extent[k])
			return -1;
	for (int k = 0; k < s->rank; k++) {
		idx[k] = v->base[k] + (v->dim[k] >= 0 ? slot[list[v->dim[k]]].i : 0);
		line = line * s->shape[k] + idx[k];
	}
	*logical = line + 1;
	int64_t phys[RANK];
	if (!ir_map_index(s->map, idx, s->nphys, phys))
		return -1;
	at = 0;
	for (int k = 0; k < s->nphys; k++) {
		if ((uint64_t)phys[k] >= (uint64_t)s->extent[k])
			return -1; /* the map leads outside */
		at = at * s->extent[k] + phys[k];
	}
	return at;
}

void interp_whole(View *v, Store *s)
{
	int64_t stride = 1;
	v->store = s;
	v->rank = s->rank;
	v->off = 0;
	for (int k = s->rank - 1; k >= 0; k--) {
		v->extent[k] = s->shape[k];
		v->stride[k] = stride;
		v->base[k] = 0;
		v->dim[k] = (int8_t)k;
		stride *= s->shape[k];
	}
}

Val interp_load(const Store *s, int64_t at)
{
	if (!s->residues)
		return num_load(s->type, s->data, at);
	Val v;
	memcpy(&v, s->data + 8 * at, sizeof v);
	v.m = modp_norm(v.m);
	return v;
}

void interp_save(Store *s, int64_t at, Val v)
{
	if (s->residues)
		memcpy(s->data + 8 * at, &v, sizeof v);
	else
		num_store(s->type, s->data, at, v);
}

/* The thread's own view for this place of the program: the one of last time, or a new one. */
static View *own_view(Run *r, Thread *t, uint32_t d)
{
	View *v = t->view[d];
	if (v != NULL && v->owner == t)
		return v;
	v = r->idle_view;
	if (v != NULL)
		r->idle_view = v->next;
	else if ((v = interp_get(r, sizeof *v, true)) == NULL)
		return NULL;
	v->own = NULL;
	v->owner = t;
	v->next = t->owned;
	t->owned = v;
	t->view[d] = v;
	return v;
}

static void drop_reads(Run *r, Store *s)
{
	for (int64_t k = 0; s->shadow != NULL && k < s->n; k++) {
		if (s->shadow[k].nread > 1)
			interp_put(r, s->shadow[k].read.many.list,
				sizeof(Epoch) * s->shadow[k].read.many.cap);
		interp_know_drop(r, s->shadow[k].known);
	}
}

static void drop_store(Run *r, Store *s)
{
	drop_reads(r, s);
	interp_put(r, s->block, s->held);
	interp_put(r, s, sizeof *s);
}

void interp_release(Run *r, Thread *t)
{
	while (t->owned != NULL) {
		View *v = t->owned;
		t->owned = v->next;
		if (v->own != NULL)
			drop_store(r, v->own);
		v->own = NULL;
		v->owner = NULL;
		v->next = r->idle_view;
		r->idle_view = v;
	}
}

static bool extents(Run *r, const Thread *t, const uint32_t *list, int n, int64_t *out, uint32_t pc,
	const char *name, int64_t *count)
{
	for (int k = 0; k < n; k++)
		out[k] = t->slot[list[k]].i;
	return ir_count_elements(out, n, count) ||
	       interp_fail(r, pc, ERR_MEMORY, "%s has a size that is negative or overflows", name);
}

bool interp_fill(Run *r, Store *s, bool shadow, bool outside)
{
	size_t n = (size_t)s->n, at_tag = shadow ? sizeof(Shadow) * n : 0;
	size_t at_data = at_tag + (s->map != NULL ? sizeof(int64_t) * n : 0);
	size_t data = s->residues ? 8 * n : (size_t)dtype_bytes(s->type, s->n);
	size_t at_def = at_data + (outside ? 0 : (data + 7) & ~(size_t)7);
	s->held = at_def + n + 1;
	s->block = interp_get(r, s->held, true);
	if (s->block == NULL)
		return false;
	s->shadow = shadow ? (Shadow *)s->block : NULL;
	s->tag = s->map != NULL ? (int64_t *)(s->block + at_tag) : NULL;
	s->def = s->block + at_def;
	if (!outside)
		s->data = s->block + at_data;
	return true;
}

bool interp_alloc(Run *r, Thread *t, const Ins *i, uint32_t pc)
{
	const Alloc *row = &r->p->alloc[i->a];
	const uint32_t *list = r->p->pool + i->b;
	int64_t shape[RANK], extent[RANK], count, all;
	int rank = (int)i->c, nphys = row->map != NULL ? row->buf->map.n : 0;
	View *v = own_view(r, t, i->d);
	if (v == NULL || !extents(r, t, list, rank, shape, pc, row->buf->name, &count) ||
		!extents(r, t, list + rank, nphys, extent, pc, row->buf->name, &all))
		return false;
	Store *s = v->own;
	if (s != NULL && memcmp(s->shape, shape, sizeof *shape * (size_t)rank) == 0 &&
		memcmp(s->extent, extent, sizeof *extent * (size_t)nphys) == 0) {
		size_t n = (size_t)s->n; /* the same memory again, undefined */
		drop_reads(r, s);
		if (s->shadow != NULL)
			memset(s->shadow, 0, sizeof(Shadow) * n);
		if (s->tag != NULL)
			memset(s->tag, 0, sizeof(int64_t) * n);
		memset(s->def, UNDEFINED, n);
	} else {
		if (s != NULL)
			drop_store(r, s);
		v->own = NULL;
		s = interp_get(r, sizeof *s, true);
		if (s == NULL)
			return false;
		s->name = row->buf->name;
		s->type = dtype_scalar(row->buf->type);
		s->residues = r->how->domain == INTERP_MODP && dtype_is_float(s->type);
		s->map = row->map;
		s->n = row->map != NULL ? all : count;
		s->rank = rank;
		s->nphys = nphys;
		memcpy(s->shape, shape, sizeof *shape * (size_t)rank);
		memcpy(s->extent, extent, sizeof *extent * (size_t)nphys);
		if (!interp_fill(r, s, r->races && row->shared, false))
			return false;
		v->own = s;
	}
	s->born = ++r->births;
	interp_whole(v, s);
	return true;
}

bool interp_window(Run *r, Thread *t, const Ins *i, uint32_t pc)
{
	const uint32_t *list = r->p->pool + i->b;
	const View *from = t->view[i->a];
	View *v = own_view(r, t, i->d);
	if (v == NULL)
		return false;
	v->store = from->store;
	v->off = from->off;
	v->rank = 0;
	memcpy(v->base, from->base, sizeof v->base);
	int8_t kept[RANK];
	for (int k = 0; k < from->rank; k++) {
		bool keep = list[2 * k + 1] != NOSLOT;
		int64_t at = t->slot[list[2 * k]].i, len = keep ? t->slot[list[2 * k + 1]].i : 1;
		if (at < 0 || len < 0 || at > from->extent[k] || len > from->extent[k] - at)
			return interp_fail(r, pc, ERR_INPUT,
				"a window of %s leaves dimension %d: %lld elements from %lld on, of %lld", v->store->name, k,
				(long long)len, (long long)at, (long long)from->extent[k]);
		v->off += at * from->stride[k];
		kept[k] = (int8_t)(keep ? v->rank : -1);
		if (keep) {
			v->extent[v->rank] = len;
			v->stride[v->rank++] = from->stride[k];
		}
	}
	for (int k = 0; k < v->store->rank; k++) {
		int d = from->dim[k];
		v->dim[k] = (int8_t)(d < 0 ? -1 : kept[d]);
		if (d >= 0)
			v->base[k] += t->slot[list[2 * d]].i;
	}
	return true;
}

bool interp_shape(Run *r, Thread *t, const Ins *i, uint32_t pc)
{
	const uint32_t *list = r->p->pool + i->b;
	const View *v = t->view[i->d];
	for (uint32_t k = 0; k < i->c; k++) {
		int64_t want = t->slot[list[k]].i;
		if (v->extent[k] != want)
			return interp_fail(r, pc, ERR_TYPE,
				"the window of %s has %lld elements in dimension %u, the parameter %lld", v->store->name,
				(long long)v->extent[k], k, (long long)want);
	}
	return true;
}
