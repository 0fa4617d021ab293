/*
 * Values: mostly small, sometimes at the ends of their type, so that what is multiplied stays exact
 * often enough and what saturates is met.
 */
#include "tensors.h"

#include <math.h>
#include <string.h>

static uint16_t half_bits(DType t, Rng *rng)
{
	uint16_t sign = (uint16_t)(rng_below(rng, 2) << 15);
	if (t.kind == DT_BFLOAT)
		return sign | (uint16_t)rng_range(rng, 0x3d80, 0x4100);
	return sign | (uint16_t)(rng_below(rng, 8) == 0 ? rng_below(rng, 0x400) : (uint64_t)rng_range(rng, 0x3000, 0x4800));
}

static void put_value(DType t, unsigned char *data, int64_t i, Rng *rng)
{
	double v = (double)rng_range(rng, -64, 64) / 4;
	float f = (float)v;
	uint16_t half = half_bits(t, rng);
	uint64_t bits = rng_below(rng, 4) == 0 ? rng_next(rng) : (uint64_t)rng_range(rng, -9, 9);
	if (t.kind == DT_BOOL)
		data[i] = (unsigned char)rng_below(rng, 2);
	else if (dtype_is_float(t) && t.bits == 64)
		memcpy(data + 8 * i, &v, 8);
	else if (dtype_is_float(t) && t.bits == 32)
		memcpy(data + 4 * i, &f, 4);
	else if (dtype_is_float(t))
		memcpy(data + 2 * i, &half, 2);
	else if (t.bits >= 8)
		memcpy(data + t.bits / 8 * i, &bits, t.bits / 8u);
	else
		data[i * t.bits / 8] |= (unsigned char)((bits & ((1u << t.bits) - 1)) << i * t.bits % 8);
}

static bool is_constant(const Buf *b)
{
	for (int k = 0; k < b->rank; k++)
		if (b->shape[k]->op != IR_INT)
			return false;
	for (int k = 0; k < b->map.n; k++)
		if (b->map.extent[k]->op != IR_INT)
			return false;
	return true;
}

/* The elements that a logical index reaches; of maps with symbols none. */
static void fill(const Buf *b, unsigned char *data, int64_t elements, Rng *rng)
{
	int64_t idx[16] = { 0 };
	if (b->map.n == 0) {
		for (int64_t i = 0; i < elements; i++)
			put_value(b->type, data, i, rng);
		return;
	}
	if (!is_constant(b))
		return;
	for (;;) {
		int k = b->rank - 1;
		put_value(b->type, data, ir_buf_offset(b, idx), rng);
		while (k >= 0 && ++idx[k] == b->shape[k]->i)
			idx[k--] = 0;
		if (k < 0)
			return;
	}
}

static const IrArg *find(const Tensors *t, const char *name)
{
	for (int k = 0; k < t->n; k++)
		if (strcmp(t->arg[k].name, name) == 0)
			return &t->arg[k];
	return NULL;
}

void tensors_make(Tensors *t, Arena *a, const KernelSet *ks, Rng *rng)
{
	memset(t, 0, sizeof *t);
	for (size_t i = 0; i < ks->n; i++) {
		const Fn *f = ks->fn[i];
		if (f->kind == FN_SUB)
			continue;
		for (int k = 0; k < f->nsym && t->n < TENSORS; k++) {
			const Sym *s = &f->sym[k];
			int64_t v = s->div * rng_range(rng, (s->lo + s->div - 1) / s->div, s->hi / s->div);
			if (find(t, s->name) == NULL)
				t->arg[t->n++] = (IrArg){ s->name, NULL, v };
		}
		for (int k = 0; k < f->nparam && t->n < TENSORS; k++) {
			const Buf *b = f->param[k].buf;
			if (b == NULL || find(t, b->name) != NULL)
				continue;
			int64_t n = ir_buf_elements(b, t->arg, t->n), bytes = dtype_bytes(b->type, n);
			unsigned char *data = arena_alloc_aligned(a, (size_t)bytes + 64, 64);
			if (b->role == BUF_OUT || b->role == BUF_WORK)
				memset(data, b->role == BUF_OUT ? 0xa5 : 0, (size_t)bytes);
			else
				fill(b, data, n, rng);
			t->buf[t->n] = b;
			t->elements[t->n] = n;
			t->arg[t->n++] = (IrArg){ b->name, data, 0 };
		}
	}
}

void tensors_copy(Tensors *out, Arena *a, const Tensors *t)
{
	*out = *t;
	for (int k = 0; k < t->n; k++) {
		if (t->buf[k] == NULL)
			continue;
		size_t bytes = (size_t)dtype_bytes(t->buf[k]->type, t->elements[k]);
		out->arg[k].data = arena_alloc_aligned(a, bytes + 64, 64);
		memcpy(out->arg[k].data, t->arg[k].data, bytes);
	}
}

static double half_value(DType t, uint16_t h)
{
	uint32_t w = (uint32_t)h << 16;
	float f;
	memcpy(&f, &w, 4);
	if (t.kind == DT_BFLOAT)
		return (double)f;
	int e = h >> 10 & 31, m = h & 0x3ff;
	double v = e == 0 ? ldexp(m, -24) : e == 31 ? (m ? NAN : INFINITY) : ldexp(m + 1024, e - 25);
	return h & 0x8000 ? -v : v;
}

static uint64_t bits_at(DType t, const unsigned char *data, int64_t i)
{
	uint64_t v = 0;
	if (t.bits < 8)
		return data[i * t.bits / 8] >> i * t.bits % 8 & ((1u << t.bits) - 1);
	memcpy(&v, data + t.bits / 8 * i, t.bits / 8u);
	return v;
}

double tensors_value(DType t, const void *data, int64_t i)
{
	uint64_t bits = bits_at(t, data, i);
	double d;
	float f;
	uint32_t w = (uint32_t)bits;
	if (!dtype_is_float(t)) {
		int64_t v = dtype_wrap(t, (int64_t)bits);
		return t.kind == DT_UINT ? (double)(uint64_t)v : (double)v;
	}
	if (t.bits == 16)
		return half_value(t, (uint16_t)bits);
	memcpy(&d, &bits, 8);
	memcpy(&f, &w, 4);
	return t.bits == 64 ? d : (double)f;
}

static bool same(DType t, const void *x, const void *y, int64_t i, double tolerance)
{
	double a = tensors_value(t, x, i), b = tensors_value(t, y, i);
	if (!dtype_is_float(t))
		return bits_at(t, x, i) == bits_at(t, y, i);
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	return a == b || fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

char *tensors_differ(Arena *a, const Tensors *x, const Tensors *y, double tolerance)
{
	for (int k = 0; k < x->n; k++) {
		if (x->buf[k] == NULL || x->buf[k]->role == BUF_WORK)
			continue;
		DType t = x->buf[k]->type;
		for (int64_t i = 0; i < x->elements[k]; i++)
			if (!same(t, x->arg[k].data, y->arg[k].data, i, tolerance))
				return arena_printf(a, "%s, element %lld: %.17g and %.17g", x->arg[k].name, (long long)i,
					tensors_value(t, x->arg[k].data, i), tensors_value(t, y->arg[k].data, i));
	}
	return NULL;
}
