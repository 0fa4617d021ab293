/*
 * Compares outputs with what they should be.  Nearly all elements are f32 and right, so blocks of them are compared
 * without a branch; a block with an element that is not finite, or with an error larger than any before, is compared
 * element by element.
 */
#include <math.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/model.h"
#include "runtime/tensor.h"
#include "worker/worker.h"

enum { BLOCK = 1024, INFINITE = 0x7f800000 };

/* Elements to compare: want[i] with got[at != NULL ? at[i] : i]. */
typedef struct Pair {
	DlcDataType type;
	size_t element; /* bytes */
	const unsigned char *got, *want;
	const uint64_t *at;
} Pair;

/* Element i: k of got. */
static void note(MsgCompared *c, const Pair *p, uint64_t k, uint64_t i)
{
	double got = element_value(p->type, p->got, (int64_t)k), want = element_value(p->type, p->want, (int64_t)i);
	if (!isfinite(got) || !isfinite(want)) {
		bool same = (isnan(got) && isnan(want)) || got == want;
		if (!same && c->nbad++ == 0)
			c->worst = i;
		return;
	}
	double error = element_distance(p->type, p->got, (int64_t)k, p->want, (int64_t)i);
	if (error > c->max_error) {
		c->max_error = error;
		c->worst = c->nbad == 0 ? i : c->worst;
	}
	if (fabs(want) > c->max_want)
		c->max_want = fabs(want);
}

static void compare_each(const Pair *p, uint64_t from, uint64_t to, MsgCompared *c)
{
	unsigned char poison[16];
	bool real = type_is_real(p->type); /* in other types poison is a value like others */
	memset(poison, WORKER_POISON, sizeof poison);
	for (uint64_t i = from; i < to; i++) {
		uint64_t k = p->at != NULL ? p->at[i] : i;
		c->nleft += real && memcmp(p->got + k * p->element, poison, p->element) == 0;
		note(c, p, k, i);
	}
}

static float from_bits(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

/* True: [from, to) has no error above c's, and its largest |want| is in c.  Magnitudes are compared
 * as whole numbers, where they have the order of their values and NaN is above infinity. */
static bool compare_quick(const Pair *p, uint64_t from, uint64_t to, MsgCompared *c)
{
	const float *got = (const float *)p->got + from, *want = (const float *)p->want + from;
	uint32_t error = 0, size = 0;
	for (uint64_t i = 0; i < to - from; i++) {
		float e = fabsf(got[i] - want[i]), w = fabsf(want[i]);
		uint32_t ebits, wbits;
		memcpy(&ebits, &e, sizeof ebits);
		memcpy(&wbits, &w, sizeof wbits);
		error = ebits > error ? ebits : error;
		size = wbits > size ? wbits : size;
	}
	if (error >= INFINITE || (double)from_bits(error) > c->max_error)
		return false;
	c->max_want = (double)from_bits(size) > c->max_want ? (double)from_bits(size) : c->max_want;
	return true;
}

/* `room`: elements of `got`, which is buffer `number`. */
static DlcStatus compare_all(
	const Pair *p, uint64_t count, uint64_t room, uint32_t number, MsgCompared *out, DlcError *err)
{
	for (uint64_t i = 0; p->at != NULL && i < count; i++)
		if (p->at[i] >= room)
			return runtime_fail(err, DLC_BAD_ARGUMENT, "elements to compare lie outside of buffer %u", number);
	bool quick = p->type.code == TYPE_FLOAT && p->type.bits == 32 && p->at == NULL;
	*out = (MsgCompared){ 0 };
	for (uint64_t i = 0; i < count; i += BLOCK) {
		uint64_t to = count - i < BLOCK ? count : i + BLOCK;
		if (!quick || !compare_quick(p, i, to, out))
			compare_each(p, i, to, out);
	}
	return DLC_OK;
}

DlcStatus worker_compare(const Worker *w, const MsgCompare *m, MsgCompared *out, DlcError *err)
{
	const Buffer *got = worker_find(w, m->got), *want = worker_find(w, m->want),
		     *at = worker_find(w, m->at);
	Pair p = { .type = { m->code, m->bits, 1 }, .element = m->bits / 8u };
	if (got == NULL || want == NULL || (at == NULL && m->at != MSG_TABLE))
		return runtime_fail(err, DLC_BAD_ARGUMENT, "there is no buffer %u",
			got == NULL ? m->got : want == NULL ? m->want : m->at);
	if (!element_known(p.type) || p.element == 0 || m->count > want->bytes / p.element ||
		(at == NULL ? m->count > got->bytes / p.element : m->count > at->bytes / sizeof *p.at))
		return runtime_fail(
			err, DLC_BAD_ARGUMENT, "type and size do not allow to compare buffer %u", m->got);
	View view[3];
	const Buffer *of[3] = { got, want, at };
	int n = 0;
	/* Outputs are compared with points, then as a whole. */
	DlcStatus s = site_fetch(got->site, got->data, got->bytes, err);
	for (; n < 3 && of[n] != NULL && s == DLC_OK; n += s == DLC_OK)
		s = view_open(of[n]->site, of[n]->data, of[n]->bytes, VIEW_READ, &view[n], err);
	if (s == DLC_OK) {
		p.got = view[0].at;
		p.want = view[1].at;
		p.at = at != NULL ? (const uint64_t *)view[2].at : NULL;
		s = compare_all(&p, m->count, got->bytes / p.element, m->got, out, err);
	}
	while (n > 0)
		view_close(&view[--n], err);
	return s;
}
