/* Caffe: layers against their formulas, weights by name, old forms of files, what is refused, damaged files. */
#include "caffe_made.h"

#include "base/rng.h"

#include <math.h>

/* ---- formulas */

static float square_of(float x)
{
	return 1 / (0.5f + 2 * x + 3) / (0.5f + 2 * x + 3);
}

static float softplus_of(float x)
{
	return log1pf(expf(x));
}

static float base2_of(float x)
{
	return exp2f(2 * x + 1);
}

static float log10_of(float x)
{
	return log10f(x + 2);
}

static float step_of(float x)
{
	return x > 0.25f;
}

static float leaky_of(float x)
{
	return x < 0 ? 0.1f * x : x;
}

static float swish_of(float x)
{
	return x / (1 + expf(-2 * x));
}

static float relu6_of(float x)
{
	return fminf(fmaxf(x, 0), 6);
}

static const struct {
	const char *layer;
	float (*of)(float);
} functions[] = {
	{ LAYER("Power", "power_param { power: -2 scale: 2 shift: 3.5 }"), square_of },
	{ LAYER("BNLL", ""), softplus_of },
	{ LAYER("Exp", "exp_param { base: 2 scale: 2 shift: 1 }"), base2_of },
	{ LAYER("Log", "log_param { base: 10 shift: 2 }"), log10_of },
	{ LAYER("Threshold", "threshold_param { threshold: 0.25 }"), step_of },
	{ LAYER("ReLU", "relu_param { negative_slope: 0.1 engine: CAFFE }"), leaky_of },
	{ LAYER("Swish", "swish_param { beta: 2 }"), swish_of },
	{ LAYER("ReLU6", ""), relu6_of },
	{ LAYER("AbsVal", ""), fabsf },
	{ LAYER("TanH", ""), tanhf },
};

START_TEST(functions_of_a_number)
{
	Arena *a = arena_new();
	Dag *d;
	const float *x = parts(a, 12);
	const float *y = run_net(a, arena_printf(a, INPUT("1,3,2,2") "%s", functions[_i].layer), x, &d);
	for (int k = 0; k < 12; k++) {
		float want = functions[_i].of(x[k]);
		ck_assert_float_eq_tol(y[k], want, 1e-5f * (1 + fabsf(want)));
	}
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "y");
	arena_free(a);
}
END_TEST

/* Sizes round up, and a window that would begin in the padding at the end is left out. */
static const struct {
	int size, kernel, stride, pad;
	bool floor;
	int out;
} pools[] = { { 5, 2, 2, 0, false, 3 }, { 5, 2, 2, 0, true, 2 }, { 6, 3, 2, 1, false, 4 }, { 4, 3, 2, 1, false, 3 },
	{ 3, 2, 2, 1, false, 2 }, { 7, 3, 3, 1, false, 3 } };

START_TEST(pools_as_caffe_has_them)
{
	Arena *a = arena_new();
	int size = pools[_i].size, kernel = pools[_i].kernel, stride = pools[_i].stride, pad = pools[_i].pad;
	const float *x = parts(a, size * size);
	for (int mean = 0; mean < 2; mean++) {
		Dag *d;
		const char *text = arena_printf(a,
			"input: 'data' input_dim: [1, 1, %d, %d]\n"
			"layer { name: 'p' type: 'Pooling' bottom: 'data' top: 'p' pooling_param { pool: %s kernel_size: %d "
			"stride: %d "
			"pad: %d %s } }",
			size, size, mean ? "AVE" : "MAX", kernel, stride, pad, pools[_i].floor ? "round_mode: FLOOR" : "");
		const float *y = run_net(a, text, x, &d);
		ck_assert_int_eq(d->value.at[d->output.at[0]].shape.dim[2], pools[_i].out);
		for (int i = 0; i < pools[_i].out; i++)
			for (int j = 0; j < pools[_i].out; j++) {
				int top = i * stride - pad, left = j * stride - pad;
				int bottom = top + kernel < size + pad ? top + kernel : size + pad;
				int right = left + kernel < size + pad ? left + kernel : size + pad,
					all = (bottom - top) * (right - left);
				float sum = 0, most = -INFINITY;
				for (int r = top < 0 ? 0 : top; r < bottom && r < size; r++)
					for (int c = left < 0 ? 0 : left; c < right && c < size; c++) {
						sum += x[r * size + c];
						most = fmaxf(most, x[r * size + c]);
					}
				ck_assert_float_eq_tol(y[i * pools[_i].out + j], mean ? sum / (float)all : most, 1e-6f);
			}
	}
	arena_free(a);
}
END_TEST

/* Statistics are sums, to be divided by blob 2; the layers write their own input. */
START_TEST(batches_are_normalised_in_place)
{
	static const float mean[] = { 1, -2 }, variance[] = { 8, 0.5f }, factor[] = { 2 }, scale[] = { 3, -1 },
					   bias[] = { 0.5f, 4 };
	Arena *a = arena_new();
	Dag *d;
	const float *x = parts(a, 8);
	CaffeNet net = { 0 };
	CaffeLayer bn = { .name = "bn", .type = "BatchNorm" }, sc = { .name = "sc", .type = "Scale" };
	add_blob(a, &bn, mean, 1, (int64_t[]){ 2 });
	add_blob(a, &bn, variance, 4, (int64_t[]){ 1, 2, 1, 1 });
	add_blob(a, &bn, factor, 1, (int64_t[]){ 1 });
	add_blob(a, &sc, scale, 1, (int64_t[]){ 2 });
	add_blob(a, &sc, bias, 1, (int64_t[]){ 2 });
	vec_push(a, &net.layer, bn);
	vec_push(a, &net.layer, sc);
	save_weights(a, "net.caffemodel", &net);
	const float *y = run_net(a,
		INPUT("1,2,2,2") "layer { name: 'bn' type: 'BatchNorm' bottom: 'data' top: 'y' }\n"
						 "layer { name: 'sc' type: 'Scale' bottom: 'y' top: 'y' scale_param { bias_term: true } }\n"
						 "layer { name: 'r' type: 'ReLU' bottom: 'y' top: 'y' }",
		x, &d);
	ck_assert_uint_eq(d->output.n, 1);
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "y");
	for (int k = 0; k < 8; k++) {
		int c = k / 4;
		double z = (x[k] - mean[c] / 2) / sqrt(variance[c] / 2 + 1e-5) * scale[c] + bias[c];
		ck_assert_double_eq_tol(y[k], z > 0 ? z : 0, 1e-5);
	}
	arena_free(a);
}
END_TEST

/* A layer by today's form and as a file of before 2015 has it: a type by number or word, weights of four dimensions. */
START_TEST(products_in_old_and_new_files)
{
	static const float w[] = { 1, 2, 3, 4, 5, 6 }, b[] = { 0.5f, -1 }, x[] = { 1, 10, 100 };
	static const char *const nets[] = {
		"layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'y' inner_product_param { num_output: 2 } }",
		"layers { name: 'ip' type: INNER_PRODUCT bottom: 'data' top: 'y' inner_product_param { num_output: 2 } }",
	};
	Arena *a = arena_new();
	Dag *d;
	CaffeNet net = { .name = "net" };
	CaffeLayer new = { .name = "ip", .type = "InnerProduct" };
	CaffeOldLayer old = { .name = "ip", .type = 14 };
	CaffeBlob four = {
		.num = 1, .channels = 1, .height = 2, .width = 3, .data = { (const unsigned char *)w, sizeof w }
	};
	Text t = { .arena = a };
	wire_write(&t, &CaffeBlob_message, &four);
	vec_push(a, &old.blobs, ((Bytes){ (const unsigned char *)text_str(&t), t.n }));
	vec_push(a, &old.blobs, blob(a, b, 1, (int64_t[]){ 2 }));
	add_blob(a, &new, w, 2, (int64_t[]){ 2, 3 });
	add_blob(a, &new, b, 1, (int64_t[]){ 2 });
	if (_i / 2 == 0)
		vec_push(a, &net.layer, new);
	else
		vec_push(a, &net.layers, old);
	save_weights(a, "net.caffemodel", &net);
	const float *y = run_net(a, arena_printf(a, INPUT("1,3,1,1") "%s", nets[_i % 2]), x, &d);
	ck_assert_float_eq(y[0], 321.5f);
	ck_assert_float_eq(y[1], 653);
	arena_free(a);
}
END_TEST

/*
 * A network as files have it from before 2014, with padding as layers, against the same in the form of today. Weights
 * are drawn by the names of layers; as a .caffemodel it has some of its own.
 */
START_TEST(networks_of_before_2014)
{
	static const char oldest[] = INPUT(
		"1,2,6,6") "layers { layer { name: 'p1' type: 'padding' pad: 2 } bottom: 'data' top: 'p1' }"
				   "layers { layer { name: 'c' type: 'conv' num_output: 4 kernelsize: 3 stride: 2 group: 2 biasterm: "
	               "false"
				   " weight_filler { type: 'gaussian' std: 0.01 } blobs_lr: 1. weight_decay: 0. } bottom: 'p1' top: "
	               "'c' }"
				   "layers { layer { name: 'r' type: 'relu' } bottom: 'c' top: 'c' }"
				   "layers { layer { name: 'n' type: 'lrn' local_size: 3 alpha: 0.5 beta: 0.5 k: 2. } bottom: 'c' top: "
	               "'n' }"
				   "layers { layer { name: 'p2' type: 'padding' pad: 1 } bottom: 'n' top: 'p2' }"
				   "layers { layer { name: 'm' type: 'pool' pool: AVE kernelsize: 3 stride: 2 } bottom: 'p2' top: 'm' }"
				   "layers { layer { name: 'q' type: 'pool' pool: MAX kernelsize: 2 stride: 2 pad: 1 } bottom: 'n' "
	               "top: 'q' }"
				   "layers { layer { name: 'k' type: 'concat' concat_dim: 1 } bottom: 'm' bottom: 'q' top: 'k' }"
				   "layers { layer { name: 'f' type: 'flatten' } bottom: 'k' top: 'f' }"
				   "layers { layer { name: 'o' type: 'dropout' dropout_ratio: 0.5 } bottom: 'f' top: 'f' }"
				   "layers { layer { name: 'i' type: 'innerproduct' num_output: 3 } bottom: 'f' top: 'i' }"
				   "layers { layer { name: 's' type: 'softmax' } bottom: 'i' top: 's' }";
	static const char now[] = INPUT(
		"1,2,6,6") "layer { name: 'c' type: 'Convolution' bottom: 'data' top: 'c' convolution_param {"
				   " num_output: 4 kernel_size: 3 stride: 2 group: 2 pad: 2 bias_term: false } }"
				   "layer { name: 'r' type: 'ReLU' bottom: 'c' top: 'c' }"
				   "layer { name: 'n' type: 'LRN' bottom: 'c' top: 'n' lrn_param { local_size: 3 alpha: 0.5 beta: 0.5 "
	               "k: 2 } }"
				   "layer { name: 'm' type: 'Pooling' bottom: 'n' top: 'm' pooling_param { pool: AVE kernel_size: 3 "
	               "stride: 2"
				   " pad: 1 } }"
				   "layer { name: 'q' type: 'Pooling' bottom: 'n' top: 'q' pooling_param { kernel_size: 2 stride: 2 "
	               "pad: 1 } }"
				   "layer { name: 'k' type: 'Concat' bottom: 'm' bottom: 'q' top: 'k' }"
				   "layer { name: 'f' type: 'Flatten' bottom: 'k' top: 'f' }"
				   "layer { name: 'i' type: 'InnerProduct' bottom: 'f' top: 'i' inner_product_param { num_output: 3 } }"
				   "layer { name: 's' type: 'Softmax' bottom: 'i' top: 's' }";
	enum { CONV = 1, INNER = 10, N_CONV = 36, N_INNER = 3 * 72 };
	Arena *a = arena_new();
	Dag *d;
	Err err = { 0 };
	CaffeNet net = { 0 }, weights = { .name = "net" };
	const float *x = parts(a, 72), *w = parts(a, N_INNER);
	const float *y = run_net(a, oldest, x, &d), *z = run_net(a, now, x, &d);
	for (int k = 0; k < 3; k++)
		ck_assert_float_eq(y[k], z[k]);
	ck_assert(caffe_read(a, "", (Bytes){ (const unsigned char *)oldest, sizeof oldest - 1 }, true, &net, NULL, &err));
	net.layer.n = 0;
	vec_push(a, &net.layers.at[CONV].layer->blobs, blob(a, w, 4, (int64_t[]){ 4, 1, 3, 3 }));
	vec_push(a, &net.layers.at[INNER].layer->blobs, blob(a, w, 2, (int64_t[]){ 3, 72 }));
	vec_push(a, &net.layers.at[INNER].layer->blobs, blob(a, w, 1, (int64_t[]){ 3 }));
	Bytes file = bytes_of(a, &net);
	d = frontend_load_bytes(a, "oldest.caffemodel", file, NULL, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	void **out = evaluate(a, d, (const void *const[]){ x }, &err);
	CaffeLayer conv = { .name = "c", .type = "Convolution" }, inner = { .name = "i", .type = "InnerProduct" };
	add_blob(a, &conv, w, 4, (int64_t[]){ 4, 1, 3, 3 });
	add_blob(a, &inner, w, 2, (int64_t[]){ 3, 72 });
	add_blob(a, &inner, w, 1, (int64_t[]){ 3 });
	vec_push(a, &weights.layer, conv);
	vec_push(a, &weights.layer, inner);
	save_weights(a, "net.caffemodel", &weights);
	z = run_net(a, now, x, &d);
	for (int k = 0; k < 3; k++)
		ck_assert_float_eq(((const float *)out[0])[k], z[k]);
	ck_assert_float_ne(y[0], z[0]);
	arena_free(a);
}
END_TEST

/* Boxes at their priors: the second hides the first, and the place of the third row is empty. Offsets move one. */
START_TEST(detections_are_chosen)
{
	static const char *const codes[] = { "CORNER", "CENTER_SIZE", "CORNER_SIZE" };
	static const float score[] = { 0.5f, 0.5f, 0.2f, 0.8f, 0.4f, 0.6f };
	static const float prior[] = { 0, 0, 1, 1, 0, 0, 0.9f, 1, 0.5f, 0.5f, 1, 1, 0.1f, 0.1f, 0.2f, 0.2f, 0.1f, 0.1f,
		0.2f, 0.2f, 0.1f, 0.1f, 0.2f, 0.2f };
	static const float offset[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0 };
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_net(a,
		arena_printf(a,
			"input: 'o' input_shape { dim: [1,12] } input: 's' input_shape { dim: [1,6] } input: 'p' input_shape {"
			" dim: [1,2,12] } layer { name: 'd' type: 'DetectionOutput' bottom: 'o' bottom: 's' bottom: 'p' top: 'd'"
			" detection_output_param { num_classes: 2 code_type: %s keep_top_k: 3 confidence_threshold: 0.1 visualize:"
			" true nms_param { nms_threshold: 0.45 top_k: 9 } } }",
			codes[_i]),
		NULL, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	void **out = evaluate(a, d, (const void *const[]){ offset, score, prior }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	float shift = _i == 0 ? 0.1f : 0.05f, right = _i == 1 ? 1.05f : 1;
	const float want[] = { 0, 1, 0.8f, 0, 0, 0.9f, 1, 0, 1, 0.6f, 0.5f + shift, 0.5f, right, 1, -1, -1, -1, -1, -1, -1,
		-1 };
	for (int k = 0; k < LEN(want); k++)
		ck_assert_float_eq_tol(((const float *)out[0])[k], want[k], 1e-6f);
	arena_free(a);
}
END_TEST

/* A .caffemodel alone has the network, too. */
START_TEST(a_model_without_its_text)
{
	static const float w[] = { 2, -3 }, x[] = { 1, 1, 1, 1, 2, 2, 2, 2 };
	Arena *a = arena_new();
	Err err = { 0 };
	CaffeConvolution c = { .has = 1 << CaffeConvolution_num_output | 1 << CaffeConvolution_bias_term, .num_output = 1 };
	CaffeLayer data = { .name = "d", .type = "Data" }, conv = { .name = "c", .type = "Convolution" };
	CaffeLayer loss = { .name = "loss", .type = "SoftmaxWithLoss" };
	CaffeNet net = { .name = "net" };
	vec_push(a, &c.kernel_size, 1);
	c.has |= 1 << CaffeConvolution_kernel_size;
	conv.convolution_param = &c;
	vec_push(a, &data.top, "data");
	vec_push(a, &data.top, "label");
	vec_push(a, &conv.bottom, "data");
	vec_push(a, &conv.top, "c");
	vec_push(a, &loss.bottom, "c");
	vec_push(a, &loss.bottom, "label");
	vec_push(a, &loss.top, "loss");
	add_blob(a, &conv, w, 4, (int64_t[]){ 1, 2, 1, 1 });
	vec_push(a, &net.layer, data);
	vec_push(a, &net.layer, conv);
	vec_push(a, &net.layer, loss);
	const char *path = save_weights(a, "alone.caffemodel", &net);
	ck_assert(frontend_load(a, path, NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, "does not say the shape of input 'data'") != NULL, "%s", err.text);
	err = (Err){ 0 };
	ShapeArg shape = { "data", shape_of(4, (int64_t[]){ 1, 2, 2, 2 }) };
	Dag *d = frontend_load(a, path, &(ModelArgs){ .shape = &shape, .nshape = 1 }, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_uint_eq(d->input.n, 1);
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "c");
	void **out = evaluate(a, d, (const void *const[]){ x }, &err);
	ck_assert_float_eq(((const float *)out[0])[0], -4);
	ck_assert(frontend_load(a, path, &(ModelArgs){ .weights = path }, &err) == NULL);
	ck_assert_str_eq(err.place, "weights");
	err = (Err){ 0 };
	net.layer.at[0].top.n = net.layer.at[1].top.n = net.layer.at[2].top.n = 0;
	ck_assert(frontend_load(a, save_weights(a, "weights.caffemodel", &net), NULL, &err) == NULL);
	ck_assert_str_eq(err.text, "has weights, but no layer says what it gives: name its .prototxt");
	arena_free(a);
}
END_TEST

/* ---- dimensions */

static const struct {
	const char *layer, *shape;
} shapes[] = {
	{ LAYER("Reshape", "reshape_param { shape { dim: [0, -1] } }"), "2x180" },
	{ LAYER("Reshape", "reshape_param { shape { dim: [2, -1] } axis: 1 num_axes: 1 }"), "2x2x3x5x6" },
	{ LAYER("Reshape", "reshape_param { shape { dim: 1 } axis: -1 num_axes: 0 }"), "2x6x5x6x1" },
	{ LAYER("Flatten", "flatten_param { axis: 1 end_axis: 2 }"), "2x30x6" },
	{ LAYER("Tile", "tile_param { axis: 2 tiles: 3 }"), "2x6x15x6" },
	{ LAYER("Permute", "permute_param { order: [0, 2, 3] }"), "2x5x6x6" },
	{ LAYER("Reduction", "reduction_param { axis: 2 operation: ASUM }"), "2x6" },
	{ LAYER("ArgMax", "argmax_param { top_k: 3 out_max_val: true }"), "2x2x3" },
	{ LAYER("ArgMax", "argmax_param { axis: 1 }"), "2x1x5x6" },
	{ LAYER("SPP", "spp_param { pyramid_height: 2 pool: AVE }"), "2x30" },
	{ LAYER("Interp", "interp_param { zoom_factor: 2 pad_beg: -1 }"), "2x6x7x9" },
	{ LAYER("Convolution", "convolution_param { num_output: 4 kernel_size: 3 stride: 2 pad: 1 group: 2 }"), "2x4x3x3" },
	{ LAYER("Convolution", "convolution_param { num_output: 4 kernel_h: 1 kernel_w: 3 dilation: 2 }"), "2x4x5x2" },
	{ LAYER("Deconvolution", "convolution_param { num_output: 4 kernel_size: 4 stride: 2 pad: 1 bias_term: false }"),
		"2x4x10x12" },
	{ LAYER("InnerProduct", "inner_product_param { num_output: 7 axis: 2 transpose: true }"), "2x6x7" },
	{ LAYER("Embed", "embed_param { num_output: 7 input_dim: 9 }"), "2x6x5x6x7" },
	{ "layer { name: 'r' type: 'Reshape' bottom: 'data' top: 'r' reshape_param { shape { dim: [-1,5,1,1] } } }\n" LAYER(
		  "ROIPooling", "bottom: 'r' roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.0625 }"),
		"72x6x2x3" },
	{ LAYER("PriorBox", "bottom: 'data' prior_box_param { min_size: 2 max_size: 4 aspect_ratio: 2 }"), "1x2x480" },
	{ "layer { name: 'l' type: 'Slice' bottom: 'data' top: 'y' top: 'z' slice_param { slice_point: 2 } }\n"
	  "layer { name: 's' type: 'Silence' bottom: 'z' }",
		"2x2x5x6" },
	{ "layer { name: 'e' type: 'Pooling' bottom: 'data' top: 'e' pooling_param { kernel_size: 2 } }\n"
	  "layer { name: 'l' type: 'Crop' bottom: 'data' bottom: 'e' top: 'y' crop_param { axis: 2 offset: 1 } }\n",
		"2x6x4x5" },
};

START_TEST(shapes_of_results)
{
	Arena *a = arena_new();
	Err err = { 0 };
	char text[160];
	Dag *d = load_net(a, arena_printf(a, INPUT("2,6,5,6") "%s", shapes[_i].layer), NULL, &err);
	ck_assert_msg(d != NULL, "%d: %s", _i, err.text);
	ck_assert_msg(dag_check(d, &err), "%s", err.text);
	ck_assert_uint_eq(d->output.n, 1);
	ck_assert_str_eq(shape_str(d->value.at[d->output.at[0]].shape, text), shapes[_i].shape);
	arena_free(a);
}
END_TEST

/* Rules of phases, levels and stages; results of losses are what they read. */
START_TEST(layers_of_the_phase)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_net(a,
		"state { level: 2 stage: 'deploy' }\n"
		"layer { name: 'd' type: 'Data' top: 'x' top: 'label' include { phase: TRAIN } }\n"
		"layer { name: 'd' type: 'DummyData' top: 'x' top: 'label' include { phase: TEST } dummy_data_param { "
		"shape { dim: 1 dim: 4 } } }\n"
		"layer { name: 'a' type: 'Power' bottom: 'x' top: 'a' exclude { stage: 'deploy' } }\n"
		"layer { name: 'b' type: 'Power' bottom: 'x' top: 'b' include { min_level: 1 not_stage: 'gpu' } }\n"
		"layer { name: 'c' type: 'Power' bottom: 'x' top: 'c' include { max_level: 1 } }\n"
		"layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'b' bottom: 'label' top: 'loss' loss_weight: 0.5 }\n"
		"layer { name: 'acc' type: 'Accuracy' bottom: 'b' bottom: 'label' top: 'acc' accuracy_param { top_k: 5 } }\n",
		NULL, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_uint_eq(d->input.n, 1);
	ck_assert_uint_eq(d->output.n, 1);
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "b");
	arena_free(a);
}
END_TEST

/* ---- refusals */

#include "caffe_refused.inc"

START_TEST(networks_are_refused)
{
	check_refused(_i, refused[_i].text, refused[_i].want);
}
END_TEST

/* Weights that are missing, too few, of another shape, cut off, of another kind. */
START_TEST(weights_are_refused)
{
	static const float w[] = { 1, 2, 3, 4, 5, 6 };
	static const struct {
		const char *name;
		int64_t dim[2];
		int cut;
		const char *want;
	} rows[] = {
		{ "other", { 2, 3 }, 0, "its weights are missing: " },
		{ "l", { 3, 2 }, 0, "its weights have the shape 3x2 in " },
		{ "l", { 2, 3 }, 4, "damaged" },
		{ "l", { 2, 3 }, 0, "its bias are missing: the layer has 1 blobs" },
	};
	Arena *a = arena_new();
	for (int k = 0; k < LEN(rows); k++) {
		CaffeLayer l = { .name = rows[k].name, .type = "InnerProduct" };
		Err err = { 0 };
		add_blob(a, &l, w, 2, rows[k].dim);
		l.blobs.at[0].n -= (size_t)rows[k].cut;
		save_layer(a, l);
		const char *text =
			arena_printf(a, INPUT("1,3,1,1") LAYER("InnerProduct", "inner_product_param { num_output: 2 %s}"),
				k < 3 ? "bias_term: false " : "");
		ck_assert(load_net(a, text, NULL, &err) == NULL);
		ck_assert_msg(strstr(err.text, rows[k].want) != NULL, "%d: %s", k, err.text);
	}
	Err err = { 0 };
	save_bytes(in_folder(a, "net.caffemodel"), "\x89HDF\r\n\x1a\n....", 12);
	ck_assert(load_net(a, INPUT("1,3,1,1") LAYER("ReLU", ""), NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, "is not a .caffemodel") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* ---- files of others */

static int notes;

static void count_note(const char *sentence, void *arg)
{
	(void)arg;
	notes += strstr(sentence, "so weights are drawn") != NULL;
}

#define NET(name) { name, { 0 }, NULL }
static const struct {
	const char *name;
	int64_t shape[4]; /* of data; 0: the file says it */
	const char *result;
} networks[] = { /* all files of the shared folder, the first 8 in a quick run */
	{ "BVLC/lenet", { 0 }, "prob" }, { "BVLC/lenet_train_test", { 1, 1, 28, 28 }, "ip2" },
	{ "BVLC/mnist_siamese", { 0 }, "feat" }, { "BVLC/cifar10_full", { 0 }, "prob" },
	{ "SqueezeNet/squeezenet_v1.1.deploy", { 0 }, "prob" }, NET("soeaver/deploy_air26-1x16d"),
	NET("soeaver/deploy_xception-dw"), NET("soeaver/deploy_dpn68-extra"), NET("BVLC/bvlc_alexnet.deploy"),
	{ "BVLC/bvlc_alexnet.train_val", { 1, 3, 227, 227 }, "fc8" }, NET("BVLC/bvlc_caffenet_full_conv"),
	NET("BVLC/bvlc_googlenet.deploy"), NET("BVLC/bvlc_reference_caffenet.deploy"),
	NET("BVLC/bvlc_reference_rcnn_ilsvrc13.deploy"), NET("BVLC/cifar10_quick"),
	NET("BVLC/finetune_flickr_style.deploy"), NET("BVLC/net_surgery_conv"), NET("SqueezeNet/squeezenet_v1.0.deploy"),
	NET("soeaver/deploy_densenet121"), NET("soeaver/deploy_inception-resnet-v2"),
	NET("soeaver/deploy_inception-v1-tf"), NET("soeaver/deploy_inception-v2"), NET("soeaver/deploy_inception-v3"),
	NET("soeaver/deploy_inception-v4"), NET("soeaver/deploy_resnet101-v2"), NET("soeaver/deploy_resnet101"),
	NET("soeaver/deploy_resnet18-priv"), NET("soeaver/deploy_resnet38a"), NET("soeaver/deploy_resnet50"),
	NET("soeaver/deploy_resnext50-32x4d"), NET("soeaver/deploy_vgg16bn-pytorch"), NET("soeaver/deploy_vgg19-pytorch"),
	NET("soeaver/deploy_wrn50-2"), NET("soeaver/deploy_xception"),
};

START_TEST(networks_without_weights)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *data = getenv("DLC_TEST_DATA");
	const char *path = arena_printf(
		a, "%s/models/caffe/%s.prototxt", data != NULL ? data : SOURCE_ROOT "/../shared", networks[_i].name);
	if (access(path, R_OK) != 0)
		suite_skip(networks[_i].name, "no models in DLC_TEST_DATA");
	else {
		ShapeArg shape = { "data", shape_of(4, networks[_i].shape) };
		notes = 0;
		Dag *d = frontend_load(
			a, path, &(ModelArgs){ .note = count_note, .shape = &shape, .nshape = networks[_i].shape[0] > 0 }, &err);
		ck_assert_msg(d != NULL && dag_check(d, &err), "%s", err.text);
		ck_assert(notes == 1 && d->output.n == 1);
		ck_assert(networks[_i].result == NULL || strcmp(d->value.at[d->output.at[0]].name, networks[_i].result) == 0);
	}
	arena_free(a);
}
END_TEST

/* ---- damage */

static const char whole[] = "input: 'data' input_shape { dim: [1, 4, 6, 6] }\n"
	"layer { name: 'c' type: 'Convolution' bottom: 'data' top: 'c' convolution_param { num_output: 4 kernel_size: 3 "
	"pad: 1 group: 2 } }\nlayer { name: 'b' type: 'BatchNorm' bottom: 'c' top: 'c' }\n"
	"layer { name: 's' type: 'Scale' bottom: 'c' top: 'c' scale_param { bias_term: true } }\n"
	"layer { name: 'p' type: 'Pooling' bottom: 'c' top: 'p' pooling_param { kernel_size: 3 stride: 2 pool: AVE } }\n"
	"layer { name: 'k' type: 'Slice' bottom: 'p' top: 'u' top: 'v' slice_param { slice_point: 2 } }\n"
	"layer { name: 'e' type: 'Eltwise' bottom: 'u' bottom: 'v' top: 'e' eltwise_param { coeff: [1, -1] } }\n"
	"layer { name: 'r' type: 'Reshape' bottom: 'e' top: 'r' reshape_param { shape { dim: [0, -1] } } }\n"
	"layer { name: 'i' type: 'InnerProduct' bottom: 'r' top: 'i' inner_product_param { num_output: 5 } }\n"
	"layer { name: 'm' type: 'Softmax' bottom: 'i' top: 'm' }\n";

static bool load_damaged(Arena *a, Bytes b)
{
	Err err = { 0 };
	Dag *d = frontend_load_bytes(a, "damaged.prototxt", b, NULL, &err);
	ck_assert((d == NULL) == (err.code != ERR_NONE));
	ck_assert(d == NULL || dag_check(d, &err));
	return d != NULL;
}

START_TEST(damaged_networks)
{
	Rng r = rng_seed(7);
	int good = 0;
	for (int k = 0; k < 600; k++) {
		Arena *a = arena_new();
		char *text = arena_copy(a, whole, sizeof whole);
		size_t n = rng_below(&r, 4) == 0 ? rng_below(&r, sizeof whole) : sizeof whole - 1;
		for (uint64_t i = rng_below(&r, 3); i > 0 && n > 0; i--)
			text[rng_below(&r, n)] = "{}:'\n09-,#x"[rng_below(&r, 11)];
		good += load_damaged(a, (Bytes){ (const unsigned char *)text, n });
		arena_free(a);
	}
	ck_assert_int_gt(good, 20);
}
END_TEST

/* The same network in bytes, with weights. */
START_TEST(damaged_models)
{
	Rng r = rng_seed(8);
	Arena *a = arena_new();
	CaffeNet net = { 0 };
	Err err = { 0 };
	int good = 0;
	ck_assert(caffe_read(a, "", (Bytes){ (const unsigned char *)whole, sizeof whole - 1 }, true, &net, NULL, &err));
	static const struct {
		int layer, rank;
		int64_t dim[4];
	} blobs[] = { { 0, 4, { 4, 2, 3, 3 } }, { 0, 1, { 4 } }, { 1, 1, { 4 } }, { 1, 1, { 4 } }, { 1, 1, { 1 } },
		{ 2, 1, { 4 } }, { 2, 1, { 4 } }, { 7, 2, { 5, 18 } }, { 7, 1, { 5 } } };
	for (int k = 0; k < LEN(blobs); k++)
		add_blob(a, &net.layer.at[blobs[k].layer], parts(a, 90), blobs[k].rank, blobs[k].dim);
	Bytes b = bytes_of(a, &net);
	ck_assert(load_damaged(a, b));
	for (int k = 0; k < 600; k++) {
		Arena *tmp = arena_new();
		unsigned char *bytes = arena_copy(tmp, b.at, b.n);
		size_t n = rng_below(&r, 4) == 0 ? rng_below(&r, b.n) : b.n;
		for (uint64_t i = rng_below(&r, 4); i > 0 && n > 0; i--)
			bytes[rng_below(&r, n)] ^= (unsigned char)(1 << rng_below(&r, 8));
		good += load_damaged(tmp, (Bytes){ bytes, n });
		arena_free(tmp);
	}
	ck_assert_int_gt(good, 20);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("caffe");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, functions_of_a_number, 0, LEN(functions));
	tcase_add_loop_test(tc, pools_as_caffe_has_them, 0, LEN(pools));
	tcase_add_test(tc, batches_are_normalised_in_place);
	tcase_add_loop_test(tc, products_in_old_and_new_files, 0, 4);
	tcase_add_test(tc, networks_of_before_2014);
	tcase_add_loop_test(tc, detections_are_chosen, 0, 3);
	tcase_add_test(tc, a_model_without_its_text);
	tcase_add_loop_test(tc, shapes_of_results, 0, LEN(shapes));
	tcase_add_test(tc, layers_of_the_phase);
	tcase_add_loop_test(tc, networks_are_refused, 0, LEN(refused));
	tcase_add_test(tc, weights_are_refused);
	tcase_add_loop_test(tc, networks_without_weights, 0, suite_count(8, 8, LEN(networks)));
	tcase_add_test(tc, damaged_networks);
	tcase_add_test(tc, damaged_models);
	return run_suite("caffe", tc);
}
