/* Windows as numbers, and the calls with windows; windows.h says what each is. */
#include "frontend/node/windows.h"

#include "frontend/node/compose.h"

void node_attr_list(Visit *v, const char *name, int n, int64_t least, int64_t otherwise, int64_t *out)
{
	int count;
	const int64_t *at = node_attr_ints(v, name, &count);
	bool same = count == 1 && v->im->model->format->loose;
	for (int k = 0; k < n; k++)
		out[k] = otherwise;
	if (count < 0 || !node_ok(v))
		return;
	if (count != n && !same) {
		node_fail(v, ERR_TYPE, "its attribute %s has %d numbers where its input needs %d", name, count, n);
		return;
	}
	for (int k = 0; k < n; k++) {
		int64_t x = at[same ? 0 : k];
		if (x < least || x > INT32_MAX)
			node_fail(v, ERR_TYPE, "its attribute %s holds %lld, which is out of range", name, (long long)x);
		else
			out[k] = x;
	}
}

Windows windows_over(Visit *v, const Shape *x)
{
	Windows w = { .n = x->rank - 2 };
	if (node_ok(v) && (w.n < 1 || w.n > MOST_SPATIAL))
		node_fail(v, ERR_UNSUPPORTED, "its input has %d dimensions; 3, 4 and 5 are supported", x->rank);
	for (int k = 0; k < w.n && node_ok(v); k++) { /* products with strides and dilations stay in 64 bits */
		if (x->dim[2 + k] > INT32_MAX)
			node_fail(v, ERR_TYPE, "spatial dimension %d of its input has %lld elements, which are too many", k,
				(long long)x->dim[2 + k]);
		w.kernel[k] = w.stride[k] = w.dilation[k] = 1;
	}
	if (!node_ok(v))
		w.n = 0;
	return w;
}

void windows_pad_same(Windows *w, const Shape *x, bool upper)
{
	for (int k = 0; k < w->n; k++) {
		int64_t in = x->dim[k + 2], out = (in + w->stride[k] - 1) / w->stride[k];
		int64_t reach = (w->kernel[k] - 1) * w->dilation[k] + 1;
		int64_t all = (out - 1) * w->stride[k] + reach - in;
		if (all < 0)
			all = 0;
		w->pads[k] = upper ? all / 2 : all - all / 2;
		w->pads[k + w->n] = all - w->pads[k];
	}
}

void windows_pad_for_ceil(Windows *w, const Shape *x)
{
	for (int k = 0; k < w->n; k++) {
		int64_t in = x->dim[k + 2] + w->pads[k], s = w->stride[k];
		int64_t reach = (w->kernel[k] - 1) * w->dilation[k] + 1, room = in + w->pads[k + w->n] - reach;
		if (room < 0)
			continue; /* the operator refuses it */
		int64_t last = (room + s - 1) / s * s;
		if (last >= in)
			last -= s; /* a window must start in the input or before it */
		w->pads[k + w->n] = last + reach > in ? last + reach - in : 0;
	}
}

void windows_pad_transposed(Windows *w, const Shape *x, const int64_t *size, bool upper, int64_t *extend)
{
	for (int k = 0; k < w->n; k++) {
		int64_t in = x->dim[k + 2], out = size != NULL ? size[k] : in * w->stride[k];
		int64_t all = (in - 1) * w->stride[k] + (w->kernel[k] - 1) * w->dilation[k] + 1 + extend[k] - out;
		if (all < 0)
			extend[k] -= all;
		all = all < 0 ? 0 : all;
		w->pads[k] = upper ? all / 2 : all - all / 2;
		w->pads[k + w->n] = all - w->pads[k];
	}
}

void windows_pad_transposed_end(Windows *w, const Shape *x, const int64_t *size, int64_t *extend)
{
	for (int k = 0; k < w->n; k++) {
		int64_t full = (x->dim[2 + k] - 1) * w->stride[k] + (w->kernel[k] - 1) * w->dilation[k] + 1;
		int64_t end = full - w->pads[k] - size[k];
		extend[k] = end < 0 ? -end : 0;
		w->pads[w->n + k] = end < 0 ? 0 : end;
	}
}

int node_conv(Visit *v, int x, int w, int b, const Windows *win, int64_t groups)
{
	Attr attr[] = {
		attr_ints("strides", win->stride, win->n),
		attr_ints("pads", win->pads, 2 * win->n),
		attr_ints("dilations", win->dilation, win->n),
		attr_int("groups", groups),
	};
	int in[] = { x, w, b };
	return node_call(v, OP_conv, in, 3, attr, 4);
}

int node_conv_transpose(Visit *v, int x, int w, int b, const Windows *win, const int64_t *extend, int64_t groups)
{
	Attr attr[] = {
		attr_ints("strides", win->stride, win->n),
		attr_ints("pads", win->pads, 2 * win->n),
		attr_ints("dilations", win->dilation, win->n),
		attr_ints("output_padding", extend, win->n),
		attr_int("groups", groups),
	};
	int in[] = { x, w, b };
	return node_call(v, OP_conv_transpose, in, 3, attr, 5);
}

static int pool(Visit *v, int op, int x, const Windows *win, bool ceil, bool count_pad)
{
	Attr attr[] = {
		attr_ints("kernel", win->kernel, win->n),
		attr_ints("strides", win->stride, win->n),
		attr_ints("pads", win->pads, 2 * win->n),
		attr_ints("dilations", win->dilation, win->n),
		attr_int("ceil", ceil),
		attr_int("count_pad", count_pad),
	};
	return node_call(v, op, &x, 1, attr, op == OP_avg_pool ? 6 : 5);
}

int node_max_pool(Visit *v, int x, const Windows *win, bool ceil)
{
	return pool(v, OP_max_pool, x, win, ceil, false);
}

int node_max_pool_place(Visit *v, int x, const Windows *win, bool ceil)
{
	return pool(v, OP_max_pool_place, x, win, ceil, false);
}

int node_avg_pool(Visit *v, int x, const Windows *win, bool ceil, bool count_pad)
{
	return pool(v, OP_avg_pool, x, win, ceil, count_pad);
}

/* The mean counts padding, but never what rounding up adds: that becomes padding first. */
int node_l2_pool(Visit *v, int x, const Windows *win, bool ceil)
{
	Windows w = *win;
	DType t = node_val(v, x)->type;
	double places = 1;
	if (!node_ok(v))
		return DAG_NONE;
	if (ceil)
		windows_pad_for_ceil(&w, &node_val(v, x)->shape);
	for (int k = 0; k < w.n; k++)
		places *= (double)w.kernel[k];
	x = dtype_is_float(t) && t.bits < 32 ? node_cast(v, x, F32) : x;
	int mean = node_avg_pool(v, node_call2(v, OP_mul, x, x), &w, false, true);
	return node_cast(v, node_call1(v, OP_sqrt, node_with_number(v, OP_mul, mean, places)), t);
}

int node_global(Visit *v, int op, int x)
{
	int64_t axes[DAG_MAX_RANK];
	int rank = node_val(v, x)->shape.rank;
	if (node_ok(v) && rank < 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 3", rank);
	for (int k = 2; k < rank; k++)
		axes[k - 2] = k;
	Attr attr = attr_ints("axes", axes, rank - 2);
	return node_call(v, op, &x, 1, &attr, 1);
}
