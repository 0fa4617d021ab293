/*
 * The blobs of layers, found by the layer's name in the file of weights. Shapes of before 2015 have four dimensions, so
 * dimensions of one element do not count. Without a file numbers are drawn from a seed and the layer's name, scaled so
 * that values neither vanish nor explode.
 */
#include "frontend/caffe/caffe.h"

#include "frontend/node/draw.h"

#include <stdint.h>
#include <string.h>

void caffe_index_weights(Arena *a, CaffeWeights *w)
{
	w->names = names_new(a);
	for (size_t k = 0; k < w->net->layer.n; k++)
		if (w->net->layer.at[k].blobs.n > 0 && !names_taken(w->names, caffe_text(w->net->layer.at[k].name)))
			names_bind(w->names, caffe_text(w->net->layer.at[k].name), (int)k);
}

bool caffe_blob_shape(const CaffeBlob *b, Shape *out)
{
	*out = shape_of(4, (int64_t[]){ b->num, b->channels, b->height, b->width });
	if (b->shape != NULL) {
		if (b->shape->dim.n > DAG_MAX_RANK)
			return false;
		*out = shape_of((int)b->shape->dim.n, b->shape->dim.at);
	}
	for (int k = 0; k < out->rank; k++)
		if (out->dim[k] < 0)
			return false;
	return shape_elements(*out) >= 0;
}

static Shape without_ones(Shape s)
{
	Shape out = { 0 };
	for (int k = 0; k < s.rank; k++)
		if (s.dim[k] != 1)
			out.dim[out.rank++] = s.dim[k];
	return out;
}

/* The numbers of a blob as floats: borrowed where they are aligned. */
static const float *numbers_of(Visit *v, const CaffeBlob *b, int64_t n)
{
	Arena *a = v->im->arena;
	if (b->double_data.n == (size_t)n * 8 && n > 0) {
		float *to = arena_array(a, float, n + 1);
		for (int64_t k = 0; k < n; k++) {
			double x;
			memcpy(&x, b->double_data.at + 8 * k, 8);
			to[k] = (float)x;
		}
		return to;
	}
	if (b->data.n != (size_t)n * 4)
		return NULL;
	if (n == 0 || (uintptr_t)b->data.at % sizeof(float) != 0)
		return arena_copy(a, n == 0 ? (const void *)"" : b->data.at, n == 0 ? 1 : b->data.n);
	return (const float *)(const void *)b->data.at;
}

static const float *read_blob(Visit *v, const CaffeWeights *w, int k, const char *what, Shape s)
{
	char have[160], want[160];
	int at = names_find(w->names, v->node->name);
	if (at < 0) {
		node_fail(v, ERR_INPUT, "its %s are missing: '%.200s' has no layer of that name with weights", what, w->file);
		return NULL;
	}
	const CaffeLayer *l = &w->net->layer.at[at];
	if ((size_t)k >= l->blobs.n) {
		node_fail(v, ERR_INPUT, "its %s are missing: the layer has %zu blobs in '%.200s'", what, l->blobs.n, w->file);
		return NULL;
	}
	CaffeBlob *b = arena_new_of(v->im->arena, CaffeBlob);
	Err why = { 0 };
	Shape is;
	if (!wire_read(v->im->arena, &CaffeBlob_message, l->blobs.at[k], b, &why) || !caffe_blob_shape(b, &is)) {
		node_fail(v, ERR_INPUT, "its %s in '%.200s' are damaged: %.200s", what, w->file,
			why.code != ERR_NONE ? why.text : "their shape is none");
		return NULL;
	}
	if (!shape_eq(without_ones(is), without_ones(s))) {
		node_fail(v, ERR_TYPE, "its %s have the shape %s in '%.200s', but the network needs %s", what,
			shape_str(is, have), w->file, shape_str(s, want));
		return NULL;
	}
	const float *x = numbers_of(v, b, shape_elements(s));
	if (x == NULL)
		node_fail(v, ERR_INPUT, "its %s in '%.200s' are %zu bytes, but their shape is %s", what, w->file,
			b->data.n > 0 ? b->data.n : b->double_data.n, shape_str(is, have));
	return x;
}

const float *caffe_take(Visit *v, int k, const char *what, Shape s, double mean, double spread)
{
	CaffeWeights *w = (CaffeWeights *)(uintptr_t)v->im->model->source;
	if (!node_ok(v) || !import_check_size(v->im, what, v->node->name, F32, s))
		return NULL;
	if (w->file != NULL)
		return read_blob(v, w, k, what, s);
	if (w->last != NULL && v->node < w->last) /* the import begins anew */
		w->drawn = 0;
	w->last = v->node;
	const CaffeLayer *l = v->node->source;
	const char *shared = (size_t)k < l->param.n ? caffe_text(l->param.at[k].name) : "";
	const char *key = shared[0] != 0 ? shared : arena_printf(v->im->arena, "%s.%s", v->node->name, what);
	return node_draw(v, &w->drawn, what, key, shape_elements(s), mean, spread);
}

int caffe_constant(Visit *v, int k, const char *what, Shape s, double mean, double spread)
{
	const float *at = caffe_take(v, k, what, s, mean, spread);
	return at == NULL ? DAG_NONE : node_weight(v, what, F32, s, at);
}
