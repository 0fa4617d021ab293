/*
 * Rows of signal processing. Windows and mel filters are computed while importing. A discrete Fourier transform is a
 * product with a matrix of cosines and sines; over the frames of a signal (STFT) it is a convolution with that matrix.
 */
#include "frontend/node/compose.h"
#include "frontend/onnx/rows.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

enum { MOST_WINDOW = 1 << 24, MOST_MATRIX = 1 << 26 /* elements that an import computes */ };

static const double two_pi = 6.283185307179586476925286766559;

/* One integer that must be known. */
static int64_t known_int(Visit *v, int k, int64_t least, int64_t most)
{
	int n;
	node_need(v, k);
	const int64_t *at = node_ints(v, k, &n);
	if (node_ok(v) && n != 1)
		node_fail(v, ERR_TYPE, "its input %d must be one integer, but has %d", k + 1, n);
	if (node_ok(v) && (at[0] < least || at[0] > most))
		node_fail(v, ERR_TYPE, "its input %d is %lld, which is not between %lld and %lld", k + 1, (long long)at[0],
			(long long)least, (long long)most);
	return node_ok(v) ? at[0] : least;
}

static DType output_type(Visit *v)
{
	DType t = F32;
	int64_t code = node_attr_int(v, "output_datatype", 1);
	if (node_ok(v) && !onnx_type_from(code, &t))
		node_fail(v, ERR_UNSUPPORTED, "its results are %s, which dlc does not have", onnx_type_name(code));
	return t;
}

/* a + b cos(x) + c cos(2 x) over one period. A window of one element is 1. */
static void import_window(Visit *v, double a, double b, double c)
{
	int64_t n = known_int(v, 0, 0, MOST_WINDOW);
	DType t = output_type(v);
	double period = (double)(node_attr_flag(v, "periodic", true) ? n : n - 1);
	if (!node_ok(v))
		return;
	void *data = arena_alloc(v->im->arena, (size_t)dtype_bytes(t, n) + 1);
	for (int64_t i = 0; i < n; i++) {
		double x = two_pi * (double)i / period;
		element_set(t, data, i, n == 1 ? 1 : a + b * cos(x) + c * cos(2 * x));
	}
	node_set_known(v, 0, t, shape_of(1, &n), data);
}

static void import_hann(Visit *v)
{
	import_window(v, 0.5, -0.5, 0);
}

static void import_hamming(Visit *v)
{
	import_window(v, 25.0 / 46, -21.0 / 46, 0);
}

static void import_blackman(Visit *v)
{
	import_window(v, 0.42, -0.5, 0.08);
}

static double known_number(Visit *v, int k)
{
	const Item *it = node_known(v, k);
	if (node_ok(v) && shape_elements(it->shape) != 1)
		node_fail(v, ERR_TYPE, "its input %d must be one number", k + 1);
	return node_ok(v) ? element_get(it->type, it->data, 0) : 0;
}

/* Triangles over the bins of a spectrum, whose corners are equally far from each other in mel. */
static void import_mel(Visit *v)
{
	int64_t mels = known_int(v, 0, 1, MOST_WINDOW), length = known_int(v, 1, 1, MOST_WINDOW);
	int64_t rate = known_int(v, 2, 1, INT32_MAX), bins = length / 2 + 1, dim[] = { bins, mels };
	double low = known_number(v, 3), high = known_number(v, 4);
	DType t = output_type(v);
	if (node_ok(v) && (!(low >= 0) || !(high >= low) || !(high <= (double)rate / 2)))
		node_fail(v, ERR_TYPE, "its edges, %g and %g Hz, do not lie in order between 0 and half of the sample rate",
			low, high);
	if (node_ok(v) && bins > MOST_MATRIX / mels)
		node_fail(v, ERR_TYPE, "a matrix of %lld x %lld filters is too large", (long long)bins, (long long)mels);
	if (!node_ok(v))
		return;
	int64_t *corner = arena_array(v->im->arena, int64_t, mels + 2);
	double first = 2595 * log10(1 + low / 700), step = (2595 * log10(1 + high / 700) - first) / (double)(mels + 2);
	for (int64_t i = 0; i < mels + 2; i++) {
		double hertz = 700 * (pow(10, (first + (double)i * step) / 2595) - 1);
		corner[i] = (int64_t)floor((double)(length + 1) * hertz / (double)rate);
	}
	void *data = arena_alloc(v->im->arena, (size_t)dtype_bytes(t, bins * mels) + 1);
	for (int64_t i = 0; i < mels; i++) {
		int64_t lower = corner[i], center = corner[i + 1], upper = corner[i + 2];
		for (int64_t j = lower; j < upper && j < bins; j++)
			if (j < center)
				element_set(t, data, j * mels + i, (double)(j - lower) / (double)(center - lower));
			else
				element_set(t, data, j * mels + i, (double)(upper - j) / (double)(upper - center));
		if (center < bins)
			element_set(t, data, center * mels + i, 1);
	}
	node_set_known(v, 0, t, shape_of(2, dim), data);
}

/* A transform of `length` points, of which the input gives `points`. */
typedef struct Fourier {
	int64_t length, points, bins; /* bins: of the result */
	int in, out;                  /* components of an element: 1 real, 2 complex */
	bool inverse, onesided;
} Fourier;

/* The share of component `ci` of point p in component `co` of bin k. */
static double share(const Fourier *f, int64_t k, int co, int64_t p, int ci)
{
	double x = two_pi * (double)(k * p % f->length) / (double)f->length, sign = f->inverse ? 1 : -1;
	double v = co == ci ? cos(x) : co == 1 ? sign * sin(x) : -sign * sin(x);
	if (f->inverse && f->onesided && p != 0 && 2 * p != f->length)
		v *= 2; /* the point's conjugate is not in the input */
	return f->inverse ? v / (double)f->length : v;
}

static bool check_fourier(Visit *v, const Fourier *f)
{
	if (node_ok(v) && (f->in < 1 || f->in > 2))
		node_fail(v, ERR_TYPE, "its input has %d components an element, but 1 or 2 are needed", f->in);
	if (node_ok(v) && f->onesided && !f->inverse && f->in == 2)
		node_fail(v, ERR_TYPE, "onesided is for real inputs, but its input is complex");
	if (node_ok(v) && (f->length < 1 || f->points < 1 || f->bins < 1))
		node_fail(v, ERR_TYPE, "a transform of %lld points is not possible", (long long)f->length);
	if (node_ok(v) && f->bins > MOST_MATRIX / (f->points * 4))
		node_fail(v, ERR_UNSUPPORTED, "a transform of %lld points is too large", (long long)f->length);
	return node_ok(v);
}

static DType float_type(Visit *v)
{
	const Item *x = node_need(v, 0);
	if (node_ok(v) && !dtype_is_float(x->type))
		node_fail(v, ERR_TYPE, "its input '%s' is not of a floating type", x->name);
	return x->type;
}

/* Bins [bins * out, points * in] of the matrix, as a constant. */
static int dft_matrix(Visit *v, const Fourier *f, DType t)
{
	int64_t dim[] = { f->bins * f->out, f->points * f->in };
	void *data = arena_alloc(v->im->arena, (size_t)dtype_bytes(t, dim[0] * dim[1]) + 1);
	for (int64_t i = 0; i < dim[0] * dim[1]; i++) {
		int64_t row = i / dim[1], column = i % dim[1];
		element_set(t, data, i, share(f, row / f->out, (int)(row % f->out), column / f->in, (int)(column % f->in)));
	}
	return node_const(v, t, shape_of(2, dim), data);
}

/* The axis goes before the components, both become one dimension, and a dense layer transforms it. */
static void import_dft(Visit *v)
{
	const Item *x = node_need(v, 0);
	int rank = x->shape.rank;
	DType t = float_type(v);
	int64_t axis = -2;
	if (v->frame->version < 20)
		axis = node_attr_int(v, "axis", 1);
	else if (node_in(v, 2) != NULL)
		axis = known_int(v, 2, INT32_MIN, INT32_MAX);
	if (node_ok(v) && rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 2", rank);
	int at = node_axis(v, axis, rank);
	if (node_ok(v) && at == rank - 1)
		node_fail(v, ERR_TYPE, "axis %lld holds the components of the elements", (long long)axis);
	if (!node_ok(v))
		return;
	Fourier f = { .points = x->shape.dim[at], .in = x->shape.dim[rank - 1] > 2 ? 3 : (int)x->shape.dim[rank - 1] };
	f.inverse = node_attr_flag(v, "inverse", false);
	f.onesided = node_attr_flag(v, "onesided", false);
	bool real = f.inverse && f.onesided;
	f.length = real ? 2 * (f.points - 1) : f.points;
	if (node_in(v, 1) != NULL)
		f.length = known_int(v, 1, 1, MOST_WINDOW);
	f.bins = f.onesided && !f.inverse ? f.length / 2 + 1 : f.length;
	f.out = real ? 1 : 2;
	int64_t most = real ? f.length / 2 + 1 : f.length;
	f.points = f.points < most ? f.points : most; /* fewer count as zeros behind them */
	if (!check_fourier(v, &f))
		return;
	int64_t perm[DAG_MAX_RANK], back[DAG_MAX_RANK];
	int n = 0;
	for (int k = 0; k < rank; k++)
		if (k != at && k != rank - 1)
			perm[n++] = k;
	perm[n] = at;
	perm[n + 1] = rank - 1;
	for (int k = 0; k < rank; k++)
		back[perm[k]] = k;
	int y = node_transpose(v, node_slice(v, node_value(v, 0), at, 0, f.points), perm);
	Shape lines = node_val(v, y)->shape, s = lines;
	lines.rank = rank - 1;
	lines.dim[rank - 2] = f.points * f.in;
	int in[] = { node_reshape(v, y, lines), dft_matrix(v, &f, t) };
	y = node_call(v, OP_dense, in, 2, NULL, 0);
	s.dim[rank - 2] = f.bins;
	s.dim[rank - 1] = f.out;
	node_set(v, 0, node_transpose(v, node_reshape(v, y, s), back));
}

/* Frames are the places of a window; each bin's cosine and sine is a filter. The window scales the filters. */
static void import_stft(Visit *v)
{
	const Item *x = node_need(v, 0), *window = node_in(v, 2);
	int64_t step = known_int(v, 1, 1, 1 << 20), length = 0;
	DType t = float_type(v);
	if (window != NULL && node_ok(v) && (window->shape.rank != 1 || !dtype_eq(window->type, t)))
		node_fail(v, ERR_TYPE, "its window must be a list of the signal's type");
	if (window != NULL)
		length = window->shape.dim[0];
	if (node_in(v, 3) != NULL)
		length = known_int(v, 3, 1, MOST_WINDOW);
	if (node_ok(v) && length == 0)
		node_fail(v, ERR_INPUT, "it has neither a window nor a frame length");
	if (node_ok(v) && window != NULL && window->shape.dim[0] != length)
		node_fail(v, ERR_TYPE, "its window has %lld elements, but a frame %lld", (long long)window->shape.dim[0],
			(long long)length);
	if (node_ok(v) && x->shape.rank != 2 && x->shape.rank != 3)
		node_fail(v, ERR_TYPE, "its signal has %d dimensions, but 2 or 3 are needed", x->shape.rank);
	if (!node_ok(v))
		return;
	Fourier f = { .length = length, .points = length, .in = 1, .out = 2 };
	if (x->shape.rank == 3)
		f.in = x->shape.dim[2] > 2 ? 3 : (int)x->shape.dim[2];
	f.onesided = node_attr_flag(v, "onesided", true);
	f.bins = f.onesided ? length / 2 + 1 : length;
	if (!check_fourier(v, &f))
		return;
	int64_t signal[] = { x->shape.dim[0], x->shape.dim[1], f.in }, turn[] = { 0, 2, 1 };
	int64_t filters[] = { f.bins * 2, length, f.in };
	int w = node_transpose(v, node_view(v, dft_matrix(v, &f, t), 3, filters), turn);
	if (window != NULL)
		w = node_call2(v, OP_mul, w, node_value(v, 2));
	int in[] = { node_transpose(v, node_view(v, node_value(v, 0), 3, signal), turn), w };
	Attr attr = attr_ints("strides", &step, 1);
	int y = node_transpose(v, node_call(v, OP_conv, in, 2, &attr, 1), turn);
	int64_t dim[] = { signal[0], node_val(v, y)->shape.dim[1], f.bins, 2 };
	node_set(v, 0, node_view(v, y, 4, dim));
}

const NodeRow onnx_signal_rows[] = {
	{ "HannWindow", 17, "", import_hann },
	{ "HammingWindow", 17, "", import_hamming },
	{ "BlackmanWindow", 17, "", import_blackman },
	{ "MelWeightMatrix", 17, "", import_mel },
	{ "DFT", 17, "", import_dft },
	{ "STFT", 17, "", import_stft },
	{ NULL, 0, NULL, NULL },
};
