/*
 * Rows of the nodes that graph.c puts at the edges of a network: inputs as layers read them, preprocessing of images,
 * results as the file declares them.
 */
#include "frontend/coreml/coreml.h"

#include "frontend/node/compose.h"

enum { ARRAY_INT32 = 131104 };

/* [C], [C,H,W] with a batch or with steps and a batch before it -> [N,C,H,W] in a network of rank 5. */
static void import_array(Visit *v)
{
	const CoremlType *t = coreml_params(v, CoremlType);
	const CoremlFile *f = coreml_file(v);
	const Item *it = node_need(v, 0);
	int x = node_cast(v, node_value(v, 0), F32);
	Shape s = it->shape;
	if (t->imageType != NULL && node_ok(v) && (s.rank != 4 || s.dim[1] != coreml_channels(t->imageType))) {
		char text[160];
		node_fail(v, ERR_TYPE, "the input is an image of %lld channels, [N,C,H,W], but its shape is %s",
			(long long)coreml_channels(t->imageType), shape_str(s, text));
	}
	if (f->rank5 && t->imageType == NULL && node_ok(v)) {
		int own = (int)t->multiArrayType->shape.n, lead = s.rank - own;
		const int64_t *last = &s.dim[lead];
		x = node_view(v, x, 4,
			(int64_t[]){ shape_product(&s, 0, lead), last[0], own == 3 ? last[1] : 1, own == 3 ? last[2] : 1 });
	}
	if (node_ok(v) && x == node_value(v, 0)) /* a name of its own */
		x = node_call1(v, OP_identity, x);
	node_set(v, 0, x);
}

/* Biases in the order of the channels: blue, green, red here are the first, the second and the third one. */
static void import_scaler(Visit *v)
{
	const CoremlScaler *s = coreml_params(v, CoremlScaler);
	Blob b = coreml_blob(v, 0);
	if (!node_ok(v))
		return;
	int64_t channels = node_val(v, b.x)->shape.dim[1];
	float *bias = arena_array(v->im->arena, float, 3);
	bias[0] = channels == 1 ? s->grayBias : s->blueBias;
	bias[1] = s->greenBias;
	bias[2] = s->redBias;
	/* coremltools writes the scale always; a file without one means 1, since 0 would leave nothing of the image. */
	bool given = s->channelScale != 0;
	int y = given ? node_with_number(v, OP_mul, b.x, import_number(F32, &s->channelScale)) : b.x;
	y = node_call2(v, OP_add, y, node_weight(v, "bias", F32, shape_of(3, (int64_t[]){ channels, 1, 1 }), bias));
	coreml_set_blob(v, 0, y, &b);
}

static void import_mean_image(Visit *v)
{
	const CoremlMeanImage *m = coreml_params(v, CoremlMeanImage);
	Blob b = coreml_blob(v, 0);
	if (!node_ok(v))
		return;
	CoremlWeight w = { .floatValue = m->meanImage };
	const int64_t *image = &node_val(v, b.x)->shape.dim[1];
	coreml_set_blob(v, 0, node_call2(v, OP_sub, b.x, coreml_weight(v, "mean image", &w, shape_of(3, image))), &b);
}

/* [N,C,H,W] -> [C] or [C,H,W] with what inputs show before them. */
static void import_result(Visit *v)
{
	const CoremlType *t = coreml_params(v, CoremlType);
	const CoremlFile *f = coreml_file(v);
	const Item *it = node_need(v, 0);
	int y = node_value(v, 0);
	Shape s = it->shape, to = { .rank = 0 };
	size_t declared = t->multiArrayType != NULL ? t->multiArrayType->shape.n : 0;
	if (f->rank5 && node_ok(v) && s.rank == 4) {
		bool one = s.dim[2] == 1 && s.dim[3] == 1 && declared != 3 && t->imageType == NULL;
		int lead = f->lead;
		if (lead == 0 && s.dim[0] != 1) /* a sequence that a layer made */
			lead = 1;
		if (lead == 2)
			to.dim[to.rank++] = coreml_steps(v, s.dim[0]);
		if (lead > 0)
			to.dim[to.rank++] = lead == 2 ? f->batch : s.dim[0];
		for (int k = 1; k < (one ? 2 : 4); k++)
			to.dim[to.rank++] = s.dim[k];
		y = node_reshape(v, y, to);
	}
	if (t->multiArrayType != NULL && t->multiArrayType->dataType == ARRAY_INT32)
		y = node_cast(v, y, I32);
	if (node_ok(v) && y == node_value(v, 0))
		y = node_call1(v, OP_identity, y);
	node_set(v, 0, y);
}

const NodeRow coreml_edge_rows[] = {
	{ "input", 0, "", import_array },
	{ "scaler", 0, "", import_scaler },
	{ "meanImage", 0, "", import_mean_image },
	{ "output", 0, "", import_result },
	{ NULL, 0, NULL, NULL },
};
