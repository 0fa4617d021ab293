/*
 * Weights of layers as floats: whole ones are borrowed from the file where they are aligned, halves are widened,
 * quantised ones become scale * code + bias, or the entry of a table. Codes of less than 8 bits lie side by side,
 * the first one in the highest bits.
 */
#include "frontend/coreml/coreml.h"

#include "op/element.h"

#include <string.h>

/* Scale and bias of element i. */
typedef struct Scales {
	const WireFloats *scale, *bias;
	int64_t channels, inner;
} Scales;

static float scaled(const Scales *s, int64_t i, float code)
{
	size_t c = (size_t)(i / s->inner % s->channels);
	float by = s->scale->at[s->scale->n == 1 ? 0 : c];
	float plus = s->bias->n == 0 ? 0 : s->bias->at[s->bias->n == 1 ? 0 : c];
	return by * code + plus;
}

static bool check_scales(Visit *v, const char *what, const Scales *s)
{
	size_t n = (size_t)s->channels;
	if ((s->scale->n == 1 || s->scale->n == n) && (s->bias->n == 0 || s->bias->n == 1 || s->bias->n == n))
		return true;
	node_fail(v, ERR_INPUT, "its %s have %zu scales and %zu biases of quantisation for %zu channels", what, s->scale->n,
		s->bias->n, n);
	return false;
}

static const float *from_codes(Visit *v, const char *what, const CoremlWeight *w, int64_t count, Scales s)
{
	const CoremlQuantization *q = w->quantization;
	int64_t bits = q->numberOfBits;
	const CoremlTable *table = q->lookupTableQuantization;
	static const WireFloats none;
	if (bits < 1 || bits > 8 || (q->linearQuantization == NULL && table == NULL)) {
		node_fail(
			v, ERR_UNSUPPORTED, "its %s are quantised to %lld bits in a way that is not known", what, (long long)bits);
		return NULL;
	}
	if (table != NULL && table->floatValue.n != (size_t)1 << bits) {
		node_fail(v, ERR_INPUT, "its %s are codes of %lld bits, but their table has %zu numbers", what, (long long)bits,
			table->floatValue.n);
		return NULL;
	}
	if (w->rawValue.n != (size_t)((count * bits + 7) / 8)) {
		node_fail(v, ERR_INPUT, "its %s are %zu bytes, but %lld codes of %lld bits are needed", what, w->rawValue.n,
			(long long)count, (long long)bits);
		return NULL;
	}
	s.scale = table == NULL ? &q->linearQuantization->scale : &none;
	s.bias = table == NULL ? &q->linearQuantization->bias : &none;
	if (table == NULL && !check_scales(v, what, &s))
		return NULL;
	float *to = arena_array(v->im->arena, float, count + 1);
	for (int64_t i = 0; i < count; i++) {
		int64_t at = i * bits;
		unsigned two = (unsigned)w->rawValue.at[at / 8] << 8;
		if (at % 8 + bits > 8)
			two |= w->rawValue.at[at / 8 + 1];
		unsigned code = two >> (16 - at % 8 - bits) & ((1U << bits) - 1);
		to[i] = table != NULL ? table->floatValue.at[code] : scaled(&s, i, (float)code);
	}
	return to;
}

/* Signed codes of layers that quantise their input while they run: dlc multiplies floats instead. */
static const float *from_int8(Visit *v, const char *what, const CoremlWeight *w, int64_t count, Scales s)
{
	const CoremlQuantization *q = w->quantization;
	if (q == NULL || q->linearQuantization == NULL || w->int8RawValue.n != (size_t)count) {
		node_fail(v, ERR_INPUT, "its %s are %zu bytes of 8 bits, but %lld with a scale are needed", what,
			w->int8RawValue.n, (long long)count);
		return NULL;
	}
	s.scale = &q->linearQuantization->scale;
	s.bias = &q->linearQuantization->bias;
	if (!check_scales(v, what, &s))
		return NULL;
	float *to = arena_array(v->im->arena, float, count + 1);
	for (int64_t i = 0; i < count; i++)
		to[i] = scaled(&s, i, (float)(signed char)w->int8RawValue.at[i]);
	return to;
}

const float *coreml_numbers(
	Visit *v, const char *what, const CoremlWeight *w, int64_t count, int64_t channels, int64_t inner)
{
	Scales s = { .channels = channels > 0 ? channels : 1, .inner = inner > 0 ? inner : 1 };
	if (node_ok(v) && w == NULL)
		node_fail(v, ERR_INPUT, "its %s are missing", what);
	if (!node_ok(v))
		return NULL;
	if (w->int8RawValue.n > 0)
		return from_int8(v, what, w, count, s);
	if (w->quantization != NULL && w->quantization->numberOfBits > 0 && w->rawValue.n > 0)
		return from_codes(v, what, w, count, s);
	bool half = w->float16Value.n > 0;
	size_t size = half ? 2 : 4, have = (half ? w->float16Value.n : w->floatValue.n);
	if (have != (size_t)count * size) {
		node_fail(v, ERR_INPUT, "its %s are %zu bytes, but %lld numbers of %zu bytes are needed", what, have,
			(long long)count, size);
		return NULL;
	}
	if (!half && count > 0 && (uintptr_t)w->floatValue.at % sizeof(float) == 0)
		return (const float *)(const void *)w->floatValue.at;
	float *to = arena_array(v->im->arena, float, count + 1);
	if (!half && count > 0)
		memcpy(to, w->floatValue.at, have);
	for (int64_t i = 0; half && i < count; i++) {
		unsigned char two[2] = { w->float16Value.at[2 * i], w->float16Value.at[2 * i + 1] };
		uint16_t bits = (uint16_t)(two[0] | two[1] << 8);
		to[i] = (float)element_get(F16, &bits, 0);
	}
	return to;
}

int coreml_weight(Visit *v, const char *what, const CoremlWeight *w, Shape s)
{
	if (node_ok(v))
		import_check_size(v->im, "weight of layer", v->node->name, F32, s);
	if (!node_ok(v))
		return DAG_NONE;
	int64_t count = shape_elements(s), channels = s.rank > 0 ? s.dim[0] : 1;
	const float *x = coreml_numbers(v, what, w, count, channels, channels > 0 ? count / channels : 1);
	return x == NULL ? DAG_NONE : node_weight(v, what, F32, s, x);
}

/* The numbers that a weight has, if they are plain floats. */
static int64_t length_of(const CoremlWeight *w)
{
	return w == NULL ? 0 : w->float16Value.n > 0 ? (int64_t)(w->float16Value.n / 2) : (int64_t)(w->floatValue.n / 4);
}

int coreml_by_channel(Visit *v, const char *what, const CoremlWeight *w, int64_t channels)
{
	int64_t n = length_of(w) == 1 ? 1 : channels;
	return coreml_weight(v, what, w, shape_of(3, (int64_t[]){ n, 1, 1 }));
}
