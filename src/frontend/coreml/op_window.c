/*
 * Rows of layers with windows over an image: convolutions, poolings, borders. Padding `same` and rounding up become
 * pads, since shapes are known. A convolution in three dimensions reads [N,C,D,H,W] as it is.
 */
#include "frontend/coreml/coreml.h"

#include "frontend/node/compose.h"
#include "frontend/node/windows.h"

enum { POOL_MAX, POOL_AVERAGE, POOL_L2 };
enum { PAD_CUSTOM, PAD_VALID, PAD_SAME }; /* of layers in three dimensions */

/* Edges [H begin, W begin, H end, W end] of borders, which may be absent. */
static void edges_of(Visit *v, const char *what, const CoremlBorders *b, int64_t *pads)
{
	size_t n = b != NULL ? b->borderAmounts.n : 0;
	for (int k = 0; k < 4; k++)
		pads[k] = 0;
	if (n != 0 && n != 2)
		node_fail(v, ERR_INPUT, "its %s have %zu edges, but 2 are needed", what, n);
	for (size_t k = 0; k < n && node_ok(v); k++) {
		pads[k] = coreml_size(v, what, b->borderAmounts.at[k].startEdgeSize, 0);
		pads[k + 2] = coreml_size(v, what, b->borderAmounts.at[k].endEdgeSize, 0);
	}
}

static void import_convolution(Visit *v)
{
	const CoremlConvolution *p = coreml_params(v, CoremlConvolution);
	Blob b = coreml_blob(v, 0);
	if (!node_ok(v))
		return;
	Shape s = node_val(v, b.x)->shape;
	Windows w = windows_over(v, &s);
	int64_t out = coreml_size(v, "outputChannels", p->outputChannels, 1), groups = p->nGroups == 0 ? 1 : p->nGroups;
	int64_t size[2], extend[2] = { 0, 0 };
	bool transposed = p->isDeconvolution != 0, sized = transposed && p->outputShape.n > 0;
	coreml_list(v, "kernelSize", &p->kernelSize, 2, 1, 3, w.kernel);
	coreml_list(v, "stride", &p->stride, 2, 1, 1, w.stride);
	coreml_list(v, "dilationFactor", &p->dilationFactor, 2, 1, 1, w.dilation);
	coreml_list(v, "outputShape", &p->outputShape, 2, 1, 1, size);
	coreml_size(v, "kernelChannels", p->kernelChannels, 1);
	if (node_ok(v) && (groups < 1 || out % groups != 0))
		node_fail(
			v, ERR_INPUT, "%lld output channels cannot be cut into %lld groups", (long long)out, (long long)groups);
	if (p->valid != NULL)
		edges_of(v, "paddingAmounts", p->valid->paddingAmounts, w.pads);
	if (!node_ok(v))
		return;
	bool upper = p->same == NULL || p->same->asymmetryMode == 0;
	if (sized && p->valid != NULL)
		windows_pad_transposed_end(&w, &s, size, extend);
	else if (transposed && (sized || p->same != NULL))
		windows_pad_transposed(&w, &s, sized ? size : NULL, upper, extend);
	else if (p->same != NULL)
		windows_pad_same(&w, &s, upper);
	int64_t m = transposed ? p->kernelChannels : out, c = transposed ? out / groups : p->kernelChannels;
	Shape ws = shape_of(4, (int64_t[]){ m, c, w.kernel[0], w.kernel[1] });
	int bias = p->hasBias ? coreml_weight(v, "bias", p->bias, shape_of(1, &out)) : DAG_NONE, weight;
	if (transposed) { /* scales go by channels of the result, dimension 1 */
		import_check_size(v->im, "weight of layer", v->node->name, F32, ws);
		const float *x =
			node_ok(v) ? coreml_numbers(v, "weights", p->weights, shape_elements(ws), c, w.kernel[0] * w.kernel[1])
					   : NULL;
		weight = x == NULL ? DAG_NONE : node_weight(v, "weights", F32, ws, x);
	} else {
		weight = coreml_weight(v, "weights", p->weights, ws);
	}
	int y = transposed ? node_conv_transpose(v, b.x, weight, bias, &w, extend, groups)
	                   : node_conv(v, b.x, weight, bias, &w, groups);
	coreml_set_blob(v, 0, y, &b);
}

/* [N,C,D,H,W] */
static int volume(Visit *v, Shape *s)
{
	*s = node_need(v, 0)->shape;
	if (node_ok(v) && s->rank != 5)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 5", s->rank);
	return node_value(v, 0);
}

static void import_convolution_3d(Visit *v)
{
	const CoremlConvolution3D *p = coreml_params(v, CoremlConvolution3D);
	const int64_t kernel[] = { p->kernelDepth, p->kernelHeight, p->kernelWidth };
	const int64_t stride[] = { p->strideDepth, p->strideHeight, p->strideWidth };
	const int64_t dilation[] = { p->dilationDepth, p->dilationHeight, p->dilationWidth };
	const int64_t pads[] = { p->customPaddingFront, p->customPaddingTop, p->customPaddingLeft, p->customPaddingBack,
		p->customPaddingBottom, p->customPaddingRight };
	Shape s;
	int x = volume(v, &s);
	Windows w = windows_over(v, &s);
	int64_t out = coreml_size(v, "outputChannels", p->outputChannels, 1), groups = p->nGroups == 0 ? 1 : p->nGroups;
	int64_t in = coreml_size(v, "inputChannels", p->inputChannels, 1), size[3], extend[3] = { 0, 0, 0 };
	bool transposed = p->isDeconvolution != 0, sized = transposed && p->outputShape.n > 0;
	for (int k = 0; k < w.n; k++) {
		w.kernel[k] = coreml_size(v, "kernel", kernel[k], 1);
		w.stride[k] = stride[k] == 0 ? 1 : coreml_size(v, "stride", stride[k], 1);
		w.dilation[k] = dilation[k] == 0 ? 1 : coreml_size(v, "dilation", dilation[k], 1);
	}
	for (int k = 0; k < 2 * w.n && p->paddingType == PAD_CUSTOM; k++)
		w.pads[k] = coreml_size(v, "padding", pads[k], 0);
	coreml_list(v, "outputShape", &p->outputShape, 3, 1, 1, size);
	if (node_ok(v) && (groups < 1 || out % groups != 0 || in % groups != 0))
		node_fail(v, ERR_INPUT, "%lld channels cannot be cut into %lld groups", (long long)out, (long long)groups);
	if (!node_ok(v))
		return;
	if (p->paddingType == PAD_SAME && !transposed)
		windows_pad_same(&w, &s, true);
	else if (p->paddingType == PAD_SAME)
		windows_pad_transposed(&w, &s, sized ? size : NULL, true, extend);
	else if (sized)
		windows_pad_transposed_end(&w, &s, size, extend);
	int64_t m = transposed ? in : out, c = transposed ? out / groups : in / groups;
	int weight = coreml_weight(
		v, "weights", p->weights, shape_of(5, (int64_t[]){ m, c, w.kernel[0], w.kernel[1], w.kernel[2] }));
	int bias = p->hasBias ? coreml_weight(v, "bias", p->bias, shape_of(1, &out)) : DAG_NONE;
	node_set(v, 0,
		transposed ? node_conv_transpose(v, x, weight, bias, &w, extend, groups)
				   : node_conv(v, x, weight, bias, &w, groups));
}

/* ---- poolings */

static int pool(Visit *v, int64_t type, int x, const Windows *w, bool ceil, bool count_pad)
{
	if (type != POOL_MAX && type != POOL_AVERAGE && type != POOL_L2)
		node_fail(v, ERR_UNSUPPORTED, "its type %lld of pooling is not known", (long long)type);
	if (!node_ok(v))
		return DAG_NONE;
	return type == POOL_MAX       ? node_max_pool(v, x, w, ceil)
	       : type == POOL_AVERAGE ? node_avg_pool(v, x, w, ceil, count_pad)
	                              : node_l2_pool(v, x, w, ceil);
}

static void import_pooling(Visit *v)
{
	const CoremlPooling *p = coreml_params(v, CoremlPooling);
	Blob b = coreml_blob(v, 0);
	if (!node_ok(v))
		return;
	Shape s = node_val(v, b.x)->shape;
	Windows w = windows_over(v, &s);
	if (node_ok(v) && p->globalPooling) {
		for (int k = 0; k < w.n; k++)
			w.kernel[k] = s.dim[2 + k];
		int y = p->type == POOL_MAX       ? node_global(v, OP_reduce_max, b.x)
		        : p->type == POOL_AVERAGE ? node_global(v, OP_reduce_mean, b.x)
		                                  : pool(v, p->type, b.x, &w, false, true);
		coreml_set_blob(v, 0, y, &b);
		return;
	}
	bool ceil = p->includeLastPixel != NULL;
	coreml_list(v, "kernelSize", &p->kernelSize, 2, 1, 3, w.kernel);
	coreml_list(v, "stride", &p->stride, 2, 1, 1, w.stride);
	if (ceil)
		coreml_list(v, "paddingAmounts", &p->includeLastPixel->paddingAmounts, 2, 0, 0, w.pads);
	else if (p->valid != NULL)
		edges_of(v, "paddingAmounts", p->valid->paddingAmounts, w.pads);
	for (int k = 0; ceil && k < w.n && node_ok(v); k++) {
		int64_t reach = s.dim[2 + k] + 2 * w.pads[k] - w.kernel[k];
		w.pads[2 + k] = w.pads[k];
		if (w.pads[0] + w.pads[1] == 0 && reach > 0 &&
			(reach + w.stride[k] - 1) / w.stride[k] * w.stride[k] >= s.dim[2 + k])
			node_fail(v, ERR_UNSUPPORTED, "its last window lies behind the image, so that its result is not defined");
	}
	if (node_ok(v) && p->same != NULL)
		windows_pad_same(&w, &s, p->same->asymmetryMode == 0);
	coreml_set_blob(v, 0, pool(v, p->type, b.x, &w, ceil, !p->avgPoolExcludePadding), &b);
}

static void import_pooling_3d(Visit *v)
{
	const CoremlPooling3D *p = coreml_params(v, CoremlPooling3D);
	const int64_t kernel[] = { p->kernelDepth, p->kernelHeight, p->kernelWidth };
	const int64_t stride[] = { p->strideDepth, p->strideHeight, p->strideWidth };
	const int64_t pads[] = { p->customPaddingFront, p->customPaddingTop, p->customPaddingLeft, p->customPaddingBack,
		p->customPaddingBottom, p->customPaddingRight };
	Shape s;
	int x = volume(v, &s);
	Windows w = windows_over(v, &s);
	for (int k = 0; k < w.n; k++) {
		w.kernel[k] = coreml_size(v, "kernel", kernel[k], 1);
		w.stride[k] = stride[k] == 0 ? 1 : coreml_size(v, "stride", stride[k], 1);
	}
	for (int k = 0; k < 2 * w.n && p->paddingType == PAD_CUSTOM; k++)
		w.pads[k] = coreml_size(v, "padding", pads[k], 0);
	if (node_ok(v) && p->paddingType == PAD_SAME)
		windows_pad_same(&w, &s, true);
	node_set(v, 0, pool(v, p->type, x, &w, false, !p->countExcludePadding));
}

static void import_global_pooling_3d(Visit *v)
{
	const CoremlGlobalPooling3D *p = coreml_params(v, CoremlGlobalPooling3D);
	Shape s;
	int x = volume(v, &s);
	node_set(v, 0, node_global(v, p->type == POOL_MAX ? OP_reduce_max : OP_reduce_mean, x));
}

/* ---- borders */

static void import_padding(Visit *v)
{
	const CoremlPadding *p = coreml_params(v, CoremlPadding);
	int64_t edge[4], pads[8] = { 0 };
	Blob b = coreml_blob(v, 0);
	edges_of(v, "paddingAmounts", p->paddingAmounts, edge);
	for (int k = 0; k < 2; k++) {
		pads[2 + k] = edge[k];
		pads[6 + k] = edge[2 + k];
	}
	const char *mode = p->reflection != NULL ? "reflect" : p->replication != NULL ? "edge" : "constant";
	Attr attr[] = { attr_ints("pads", pads, 8), attr_text("mode", mode),
		attr_float("value", p->constant != NULL ? p->constant->value : 0) };
	coreml_set_blob(v, 0, node_call(v, OP_pad, &b.x, 1, attr, 3), &b);
}

static void import_crop(Visit *v)
{
	const CoremlCrop *p = coreml_params(v, CoremlCrop);
	Blob b = coreml_blob(v, 0);
	int64_t from[4] = { 0 }, size[2] = { 0 };
	Shape s = node_val(v, b.x)->shape;
	if (node_nin(v) > 1) {
		Shape like = node_need(v, 1)->shape;
		coreml_list(v, "offset", &p->offset, 2, 0, 0, from);
		if (node_ok(v) && like.rank < 3)
			node_fail(v, ERR_TYPE, "its second input has %d dimensions, but needs 3 at least", like.rank);
		for (int k = 0; k < 2 && node_ok(v); k++)
			size[k] = like.dim[like.rank - 2 + k];
	} else {
		edges_of(v, "cropAmounts", p->cropAmounts, from);
		for (int k = 0; k < 2 && node_ok(v); k++)
			size[k] = s.dim[2 + k] - from[k] - from[2 + k];
	}
	for (int k = 0; k < 2 && node_ok(v); k++)
		if (size[k] < 1 || from[k] + size[k] > s.dim[2 + k])
			node_fail(v, ERR_TYPE, "it crops more than the %lld elements of its image", (long long)s.dim[2 + k]);
	if (!node_ok(v))
		return;
	int y = node_slice(v, node_slice(v, b.x, 2, from[0], size[0]), 3, from[1], size[1]);
	coreml_set_blob(v, 0, y, &b);
}

const NodeRow coreml_window_rows[] = {
	{ "convolution", 0, "", import_convolution },
	{ "convolution3d", 0, "", import_convolution_3d },
	{ "pooling", 0, "", import_pooling },
	{ "pooling3d", 0, "", import_pooling_3d },
	{ "globalPooling3d", 0, "", import_global_pooling_3d },
	{ "padding", 0, "", import_padding },
	{ "crop", 0, "", import_crop },
	{ NULL, 0, NULL, NULL },
};
