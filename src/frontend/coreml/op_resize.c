/* Rows of layers that resample images, and that choose boxes. */
#include "frontend/coreml/calls.h"
#include "frontend/coreml/coreml.h"
#include "frontend/coreml/image.h"

#include "frontend/node/compose.h"
#include "op/element.h"

#include <math.h>

enum { UPSAMPLE_NEAREST };

static Grid grid_of(Visit *v, const CoremlSamplingMode *m)
{
	static const Grid grids[] = { GRID_STRICT_CORNERS, GRID_CORNERS, GRID_UPSAMPLE, GRID_ROI };
	int64_t method = m != NULL ? m->samplingMethod : 0;
	if (method >= 0 && method < 4)
		return grids[method];
	node_fail(v, ERR_UNSUPPORTED, "its sampling method %lld is not known", (long long)method);
	return GRID_CORNERS;
}

static void import_upsample(Visit *v)
{
	const CoremlUpsample *p = coreml_params(v, CoremlUpsample);
	static const Grid grids[] = { GRID_UPSAMPLE, GRID_CORNERS, GRID_HALF };
	Blob b = coreml_blob(v, 0);
	int64_t factor[2];
	bool fraction = p->fractionalScalingFactor.n == 2;
	coreml_list(v, "scalingFactor", &p->scalingFactor, 2, 1, 1, factor);
	if (p->mode < 0 || p->mode > 1 || p->linearUpsampleMode < 0 || p->linearUpsampleMode > 2)
		node_fail(v, ERR_UNSUPPORTED, "its mode %lld is not known", (long long)p->mode);
	int y = b.x;
	for (int k = 0; k < 2 && node_ok(v); k++) {
		double by = fraction ? import_number(F32, &p->fractionalScalingFactor.at[k]) : (double)factor[k];
		double out = floor((double)node_val(v, y)->shape.dim[2 + k] * by + 1e-4);
		if (!(out >= 1 && out < INT32_MAX)) {
			node_fail(v, ERR_INPUT, "its factor %g is out of range", by);
			break;
		}
		y = p->mode == UPSAMPLE_NEAREST ? coreml_nearest(v, y, 2 + k, (int64_t)out, false)
		                                : coreml_linear(v, y, 2 + k, (int64_t)out, grids[p->linearUpsampleMode]);
	}
	coreml_set_blob(v, 0, y == b.x ? node_call1(v, OP_identity, y) : y, &b);
}

static void import_resize_bilinear(Visit *v)
{
	const CoremlResizeBilinear *p = coreml_params(v, CoremlResizeBilinear);
	Blob b = coreml_blob(v, 0);
	int64_t size[2];
	coreml_list(v, "targetSize", &p->targetSize, 2, 1, 1, size);
	Grid grid = grid_of(v, p->mode);
	int y = b.x;
	for (int k = 0; k < 2 && node_ok(v); k++)
		y = coreml_linear(v, y, 2 + k, size[k], grid);
	coreml_set_blob(v, 0, y == b.x ? node_call1(v, OP_identity, y) : y, &b);
}

/* Boxes [R,1,4,1,1] of a single image, or [R,1,5,1,1] that begin with the number of their image. */
static void import_crop_resize(Visit *v)
{
	const CoremlCropResize *p = coreml_params(v, CoremlCropResize);
	CoremlCropping c = { .normalised = p->normalizedCoordinates != 0,
		.grid = grid_of(v, p->mode),
		.order = (BoxOrder)(p->boxIndicesMode != NULL ? p->boxIndicesMode->boxMode : 0),
		.scale = p->spatialScale == 0 ? 1 : import_number(F32, &p->spatialScale) };
	coreml_list(v, "targetSize", &p->targetSize, 2, 1, 1, c.size);
	Blob b = coreml_blob(v, 0), r = coreml_blob(v, 1);
	if (!node_ok(v))
		return;
	Shape s = node_val(v, b.x)->shape, of = node_val(v, r.x)->shape;
	bool named = of.dim[1] == 5;
	if ((of.dim[1] != 4 && !named) || of.dim[2] != 1 || of.dim[3] != 1 || (unsigned)c.order > BOX_CENTRE_W)
		node_fail(v, ERR_TYPE, "its boxes have %lld numbers, not 4 or 5", (long long)of.dim[1]);
	if (node_ok(v) && !named && s.dim[0] != 1)
		node_fail(v, ERR_UNSUPPORTED, "its boxes are of %lld images each; number them", (long long)s.dim[0]);
	if (!node_ok(v))
		return;
	int64_t many = of.dim[0];
	int boxes = node_view(v, r.x, 2, (int64_t[]){ many, of.dim[1] }), x;
	if (named) {
		int which = node_cast(v, node_view(v, node_slice(v, boxes, 1, 0, 1), 1, &many), I64);
		boxes = node_slice(v, boxes, 1, 1, 4);
		x = coreml_gather(v, b.x, which, 0, 0);
	} else {
		x = node_expand(v, b.x, shape_of(4, (int64_t[]){ many, s.dim[1], s.dim[2], s.dim[3] }));
	}
	coreml_set_blob(v, 0, coreml_crop(v, x, boxes, &c), &r);
}

/* The number of input k; absent: that of the layer. */
static double threshold(Visit *v, int k, const float *otherwise)
{
	const Item *it = node_in(v, k) != NULL ? node_known(v, k) : NULL;
	if (it != NULL && node_ok(v) && shape_elements(it->shape) != 1)
		node_fail(v, ERR_TYPE, "its input %d has %lld numbers, not one", k + 1, (long long)shape_elements(it->shape));
	return it != NULL && node_ok(v) ? element_get(it->type, it->data, 0) : import_number(F32, otherwise);
}

static void import_suppression(Visit *v)
{
	const CoremlNMS *p = coreml_params(v, CoremlNMS);
	CoremlSuppression s = { .limit = threshold(v, 2, &p->iouThreshold),
		.score = threshold(v, 3, &p->scoreThreshold),
		.by_class = p->perClassSuppression != 0 };
	int n, out[4];
	const int64_t *most = coreml_known(v, 4, &n);
	if (node_ok(v) && n >= 0 && n != 1)
		node_fail(v, ERR_TYPE, "its input 5 has %d numbers, not one", n);
	if (!node_ok(v))
		return;
	s.most = n == 1 ? most[0] : p->maxBoxes;
	coreml_suppress(v, coreml_value(v, 0), coreml_value(v, 1), &s, out);
	for (int k = 0; k < 4; k++)
		if (node_used(v, k))
			node_set(v, k, k < 2 ? out[k] : node_cast(v, out[k], F32));
}

const NodeRow coreml_resize_rows[] = {
	{ "upsample", 0, "", import_upsample },
	{ "resizeBilinear", 0, "", import_resize_bilinear },
	{ "cropResize", 0, "", import_crop_resize },
	{ "NonMaximumSuppression", 0, "", import_suppression },
	{ NULL, 0, NULL, NULL },
};
