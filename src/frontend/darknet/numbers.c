/*
 * The numbers of a .weights file: 32-bit floats behind a header of three integers and a count of images. Without a file
 * they are drawn from a seed and the layer's name, scaled so that values neither vanish nor explode.
 */
#include "frontend/darknet/darknet.h"

#include "frontend/node/draw.h"

#include <stdint.h>
#include <string.h>

bool darknet_open_numbers(Arena *a, const char *name, Bytes file, DarknetNumbers *out, Err *err)
{
	int32_t version[3];
	if (file.n < sizeof version)
		return fail(err, ERR_INPUT, name, "is too short for DarkNet's weights: it has %zu bytes", file.n);
	memcpy(version, file.at, sizeof version);
	int32_t major = version[0], minor = version[1];
	if (major < 0 || minor < 0 || major > 2000 || minor > 2000)
		return fail(err, ERR_INPUT, name, "is not a file of DarkNet's weights: its version is %d.%d", major, minor);
	size_t head = sizeof version + (major * 10 + minor >= 2 ? 8 : 4); /* the count of images grew to 64 bits */
	if (file.n < head || (file.n - head) % 4 != 0)
		return fail(err, ERR_INPUT, name, "is cut off: %zu bytes are no whole number of floats", file.n);
	out->transpose = major > 1000 || minor > 1000;
	out->n = (int64_t)((file.n - head) / 4);
	const unsigned char *at = file.at + head;
	out->at = (const float *)(const void *)at;
	if ((uintptr_t)at % sizeof(float) != 0)
		out->at = arena_copy(a, at, file.n - head);
	return true;
}

void darknet_begin(Visit *v, int64_t share)
{
	DarknetNumbers *s = (DarknetNumbers *)(uintptr_t)v->im->model->source;
	int64_t k = v->node - s->node;
	if (k <= s->last) /* the import begins anew */
		s->used = s->drawn = 0;
	s->last = k;
	s->first[k] = share >= 0 ? s->first[share] : s->used;
	if (share >= 0) {
		s->first[k] = s->used;
		s->used = s->first[share];
	}
}

void darknet_end(Visit *v, int64_t share)
{
	DarknetNumbers *s = (DarknetNumbers *)(uintptr_t)v->im->model->source;
	int64_t k = v->node - s->node;
	if (share < 0)
		return;
	s->used = s->first[k];
	s->first[k] = s->first[share];
}

const float *darknet_take(Visit *v, const char *what, Shape shape, double mean, double spread)
{
	DarknetNumbers *s = (DarknetNumbers *)(uintptr_t)v->im->model->source;
	if (!node_ok(v) || !import_check_size(v->im, what, v->node->name, F32, shape))
		return NULL;
	int64_t n = shape_elements(shape);
	if (s->at == NULL)
		return node_draw(
			v, &s->drawn, what, arena_printf(v->im->arena, "%s.%s", v->node->name, what), n, mean, spread);
	if (n > s->n - s->used) {
		node_fail(v, ERR_INPUT,
			"its %s are %lld numbers, but %lld are left in the file: the weights are cut off or another network's",
			what, (long long)n, (long long)(s->n - s->used));
		return NULL;
	}
	const float *at = s->at + s->used;
	s->used += n;
	return at;
}

int darknet_constant(Visit *v, const char *what, Shape s, double mean, double spread)
{
	const float *at = darknet_take(v, what, s, mean, spread);
	return at == NULL ? DAG_NONE : node_weight(v, what, F32, s, at);
}
