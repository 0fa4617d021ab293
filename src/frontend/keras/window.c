/* What rows of layers with windows share; window.h says what each is. */
#include "frontend/keras/window.h"

#include <string.h>

int keras_windowed(Visit *v, bool last)
{
	int x = keras_value(v, 0);
	return last ? node_to_second(v, x) : x;
}

int keras_in_format(Visit *v, int y, bool last)
{
	return last ? node_to_last(v, y) : y;
}

Windows keras_windows(Visit *v, const Shape *s, const char *size, bool pool)
{
	Windows w = windows_over(v, s);
	node_attr_list(v, size, w.n, 1, pool ? 2 : 1, w.kernel);
	for (int k = 0; k < w.n; k++)
		w.stride[k] = pool ? w.kernel[k] : 1;
	if (node_has(v, "strides"))
		node_attr_list(v, "strides", w.n, 1, 1, w.stride);
	if (!pool)
		node_attr_list(v, "dilation_rate", w.n, 1, 1, w.dilation);
	return w;
}

void keras_pad_windows(Visit *v, Windows *w, const Shape *s)
{
	const char *word = node_attr_text(v, "padding", "valid");
	if (strcmp(word, "same") == 0)
		windows_pad_same(w, s, true);
	else if (strcmp(word, "causal") == 0 && w->n == 1)
		w->pads[0] = (w->kernel[0] - 1) * w->dilation[0];
	else if (node_ok(v) && strcmp(word, "valid") != 0)
		node_fail(v, ERR_INPUT, "its padding is '%.20s', not valid or same", word);
}

/* A kernel of Theano's convolutions, which flips it. */
static int flipped(Visit *v, int w, int n)
{
	Shape s = node_val(v, w)->shape;
	int64_t starts[DAG_MAX_RANK] = { 0 }, steps[DAG_MAX_RANK];
	if (!keras_file(v)->theano || !node_ok(v))
		return w;
	for (int k = 0; k < s.rank; k++) {
		steps[k] = k < n ? -1 : 1;
		starts[k] = k < n ? s.dim[k] - 1 : 0;
	}
	Attr attr[] = { attr_ints("starts", starts, s.rank), attr_ints("steps", steps, s.rank),
		attr_ints("sizes", s.dim, s.rank) };
	return node_call(v, OP_slice, &w, 1, attr, 3);
}

int keras_kernel(Visit *v, const char *slot, const Windows *w, int64_t a, int64_t b)
{
	Shape s = { .rank = w->n + 2 };
	int64_t perm[DAG_MAX_RANK] = { w->n + 1, w->n };
	for (int k = 0; k < w->n; k++) {
		s.dim[k] = w->kernel[k];
		perm[k + 2] = k;
	}
	s.dim[w->n] = a;
	s.dim[w->n + 1] = b;
	return node_transpose(v, flipped(v, keras_weight(v, slot, s), w->n), perm);
}

int64_t keras_count(Visit *v, const char *name, int64_t otherwise)
{
	int64_t n = node_attr_int(v, name, otherwise);
	if (n < 1 || n > INT32_MAX)
		node_fail(v, ERR_INPUT, "its setting %s is %lld, but must be at least 1", name, (long long)n);
	return node_ok(v) ? n : 1;
}

int keras_bias(Visit *v, int64_t n)
{
	return node_attr_flag(v, "use_bias", true) ? keras_weight(v, "bias", shape_of(1, &n)) : DAG_NONE;
}
