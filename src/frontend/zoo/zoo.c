/*
 * The zoo: architectures of torchvision, and MobileNet v1, written as calls of the Dag, with He-normal weights from a
 * fixed seed. Each tensor draws from a stream of its own name, so that none depends on the others.
 * The builder carries the mean square of every activation and gives batch norms the statistics that
 * fit, as training would, so that values stay in range from the first to the last layer.
 */
#include "base/rng.h"
#include "frontend/format.h"

#include <math.h>
#include <string.h>

enum { SEED = 2021, CLASSES = 1000 };
static const int64_t most_bytes = (int64_t)1 << 40;

typedef struct Net {
	Arena *arena;
	Dag *dag;
	Err *err;
	bool ok;
} Net;

/* A value and its mean square, which sets the scale of the weights that follow. */
typedef struct Act {
	int value;
	double square;
} Act;

static Act call(Net *net, const char *name, int op, const int *in, int nin, const Attr *attr, int nattr, double square)
{
	if (!net->ok)
		return (Act){ 0, 1 };
	int c = dag_add_call(net->dag, op, name, in, nin, attr, nattr, net->err);
	net->ok = c >= 0;
	return (Act){ net->ok ? net->dag->call.at[c].out[0] : 0, square };
}

static int64_t channels(const Net *net, Act x)
{
	return net->dag->value.at[x.value].shape.dim[1];
}

/* mean + spread * normal, from the stream of the tensor's name. */
static int tensor(Net *net, const char *name, Shape s, double mean, double spread)
{
	if (!net->ok)
		return 0;
	Rng seed = rng_seed(SEED), r = rng_fork(&seed, name);
	int64_t n = shape_elements(s);
	float *w = arena_array(net->arena, float, n);
	for (int64_t k = 0; k < n; k++)
		w[k] = (float)(mean + spread * rng_normal(&r));
	return dag_add_const(net->dag, name, F32, s, w);
}

/*
 * n values around `center`, at most a quarter of it away: variances and scales must stay positive.
 */
static int around(Net *net, const char *name, int64_t n, double center)
{
	if (!net->ok)
		return 0;
	Rng seed = rng_seed(SEED), r = rng_fork(&seed, name);
	float *w = arena_array(net->arena, float, n);
	for (int64_t k = 0; k < n; k++)
		w[k] = (float)(center * (0.75 + 0.5 * rng_real(&r)));
	return dag_add_const(net->dag, name, F32, shape_of(1, &n), w);
}

static const char *sub(Net *net, const char *name, const char *part)
{
	return arena_printf(net->arena, "%s.%s", name, part);
}

typedef struct ConvSpec {
	int64_t out, kernel, stride, pad, groups;
	bool bias;
} ConvSpec;

/* He: variance 2 / fan-in, so the result's is twice the input's mean square. */
static Act conv(Net *net, const char *name, Act x, ConvSpec c)
{
	int64_t in_group = channels(net, x) / c.groups;
	Shape w = { 4, { c.out, in_group, c.kernel, c.kernel } };
	double fan_in = (double)(in_group * c.kernel * c.kernel);
	int in[3] = { x.value, tensor(net, sub(net, name, "weight"), w, 0, sqrt(2 / fan_in)), DAG_NONE };
	if (c.bias)
		in[2] = tensor(net, sub(net, name, "bias"), shape_of(1, &c.out), 0, 0.1);
	int64_t strides[] = { c.stride, c.stride }, pads[] = { c.pad, c.pad, c.pad, c.pad };
	Attr attr[] = { attr_ints("strides", strides, 2), attr_ints("pads", pads, 4), attr_int("groups", c.groups) };
	return call(net, name, OP_conv, in, 3, attr, 3, 2 * x.square);
}

/* The result has the variance scale^2, approximately. */
static Act batch_norm(Net *net, const char *name, Act x, double scale)
{
	int64_t n = channels(net, x);
	Shape s = shape_of(1, &n);
	int in[] = { x.value, around(net, sub(net, name, "weight"), n, scale),
		tensor(net, sub(net, name, "bias"), s, 0, 0.1),
		tensor(net, sub(net, name, "running_mean"), s, 0, 0.1 * sqrt(x.square)),
		around(net, sub(net, name, "running_var"), n, x.square) };
	return call(net, name, OP_batch_norm, in, 5, NULL, 0, scale * scale);
}

static Act relu(Net *net, const char *name, Act x)
{
	return call(net, name, OP_relu, &x.value, 1, NULL, 0, x.square / 2);
}

static Act add(Net *net, const char *name, Act a, Act b)
{
	int in[] = { a.value, b.value };
	return call(net, name, OP_add, in, 2, NULL, 0, a.square + b.square);
}

static Act max_pool(Net *net, const char *name, Act x, int64_t pad, bool ceil)
{
	int64_t kernel[] = { 3, 3 }, strides[] = { 2, 2 }, pads[] = { pad, pad, pad, pad };
	Attr attr[] = { attr_ints("kernel", kernel, 2), attr_ints("strides", strides, 2), attr_ints("pads", pads, 4),
		attr_int("ceil", ceil) };
	return call(net, name, OP_max_pool, &x.value, 1, attr, 4, x.square);
}

/* Mean over height and width: [N,C]. */
static Act global_pool(Net *net, const char *name, Act x)
{
	int64_t axes[] = { 2, 3 };
	Attr attr[] = { attr_ints("axes", axes, 2), attr_int("keep", 0) };
	return call(net, name, OP_reduce_mean, &x.value, 1, attr, 2, x.square);
}

static Act classifier(Net *net, const char *name, Act x)
{
	int64_t in = channels(net, x), out = CLASSES;
	Shape w = { 2, { out, in } };
	int arg[] = { x.value, tensor(net, sub(net, name, "weight"), w, 0, sqrt(1 / (double)in)),
		tensor(net, sub(net, name, "bias"), shape_of(1, &out), 0, 0.1) };
	return call(net, name, OP_dense, arg, 3, NULL, 0, x.square);
}

/* ---- ResNet: He et al., "Deep Residual Learning for Image Recognition" */

typedef struct ResNet {
	int blocks[4];
	bool bottleneck; /* 1x1, 3x3, 1x1 to four times the width; else 3x3, 3x3 */
} ResNet;

static const ResNet resnet18 = { { 2, 2, 2, 2 }, false }, resnet50 = { { 3, 4, 6, 3 }, true };

/* The second branch's batch norm halves it, so that the sum of many blocks does not grow. */
static Act residual_block(Net *net, const char *name, Act x, int64_t width, int64_t stride, bool bottleneck)
{
	int64_t out = bottleneck ? 4 * width : width;
	Act y = x, skip = x;
	int last = bottleneck ? 3 : 2;
	for (int k = 1; k <= last; k++) {
		bool wide = bottleneck && k != 2; /* 1x1; torchvision puts the stride on the 3x3 */
		ConvSpec c = { k == last ? out : width, wide ? 1 : 3, k == (bottleneck ? 2 : 1) ? stride : 1, wide ? 0 : 1, 1,
			false };
		y = conv(net, arena_printf(net->arena, "%s.conv%d", name, k), y, c);
		y = batch_norm(net, arena_printf(net->arena, "%s.bn%d", name, k), y, k == last ? 0.5 : 1);
		if (k < last)
			y = relu(net, arena_printf(net->arena, "%s.relu%d", name, k), y);
	}
	if (net->ok && (stride != 1 || channels(net, x) != out)) {
		skip = conv(net, sub(net, name, "downsample.0"), x, (ConvSpec){ out, 1, stride, 0, 1, false });
		skip = batch_norm(net, sub(net, name, "downsample.1"), skip, 1);
	}
	Act sum = add(net, sub(net, name, "add"), y, skip);
	y = relu(net, sub(net, name, "relu"), sum);
	y.square = sum.square; /* the skip is mostly positive: little is cut off */
	return y;
}

static Act build_resnet(Net *net, Act x, const void *plan)
{
	const ResNet *r = plan;
	x = conv(net, "conv1", x, (ConvSpec){ 64, 7, 2, 3, 1, false });
	x = relu(net, "relu", batch_norm(net, "bn1", x, 1));
	x = max_pool(net, "maxpool", x, 1, false);
	for (int stage = 0; stage < 4; stage++)
		for (int k = 0; k < r->blocks[stage]; k++)
			x = residual_block(net, arena_printf(net->arena, "layer%d.%d", stage + 1, k), x, (int64_t)64 << stage,
				stage > 0 && k == 0 ? 2 : 1, r->bottleneck);
	return classifier(net, "fc", global_pool(net, "avgpool", x));
}

/*
 * ---- MobileNet: Howard et al., "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications".
 * Activations are clipped at 6, as in its authors' published networks.
 */

static const struct {
	int64_t out, stride;
} mobilenet_v1[] = {
	{ 64, 1 },
	{ 128, 2 },
	{ 128, 1 },
	{ 256, 2 },
	{ 256, 1 },
	{ 512, 2 },
	{ 512, 1 },
	{ 512, 1 },
	{ 512, 1 },
	{ 512, 1 },
	{ 512, 1 },
	{ 1024, 2 },
	{ 1024, 1 },
};

static Act conv_bn_relu6(Net *net, const char *name, Act x, ConvSpec c)
{
	Attr attr[] = { attr_float("lo", 0), attr_float("hi", 6) };
	x = conv(net, sub(net, name, "0"), x, c);
	x = batch_norm(net, sub(net, name, "1"), x, 1);
	return call(net, sub(net, name, "2"), OP_clip, &x.value, 1, attr, 2, x.square / 2);
}

static Act build_mobilenet_v1(Net *net, Act x, const void *plan)
{
	(void)plan;
	x = conv_bn_relu6(net, "features.0", x, (ConvSpec){ 32, 3, 2, 1, 1, false });
	for (size_t row = 0; row < sizeof mobilenet_v1 / sizeof *mobilenet_v1 && net->ok; row++) {
		const char *name = arena_printf(net->arena, "features.%zu", row + 1);
		int64_t in = channels(net, x);
		x = conv_bn_relu6(
			net, sub(net, name, "depthwise"), x, (ConvSpec){ in, 3, mobilenet_v1[row].stride, 1, in, false });
		x = conv_bn_relu6(net, sub(net, name, "pointwise"), x, (ConvSpec){ mobilenet_v1[row].out, 1, 1, 0, 1, false });
	}
	return classifier(net, "classifier", global_pool(net, "avgpool", x));
}

/* ---- MobileNetV2: Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks" */

static const struct {
	int64_t expand, out, blocks, stride;
} mobilenet_v2[] = {
	{ 1, 16, 1, 1 },
	{ 6, 24, 2, 2 },
	{ 6, 32, 3, 2 },
	{ 6, 64, 4, 2 },
	{ 6, 96, 3, 1 },
	{ 6, 160, 3, 2 },
	{ 6, 320, 1, 1 },
};

static Act inverted_residual(Net *net, const char *name, Act x, int64_t out, int64_t stride, int64_t expand)
{
	int64_t in = channels(net, x), hidden = in * expand;
	int k = 0;
	Act y = x;
	if (expand > 1)
		y = conv_bn_relu6(
			net, arena_printf(net->arena, "%s.conv.%d", name, k++), y, (ConvSpec){ hidden, 1, 1, 0, 1, false });
	y = conv_bn_relu6(
		net, arena_printf(net->arena, "%s.conv.%d", name, k++), y, (ConvSpec){ hidden, 3, stride, 1, hidden, false });
	y = conv(net, arena_printf(net->arena, "%s.conv.%d", name, k), y, (ConvSpec){ out, 1, 1, 0, 1, false });
	bool residual = stride == 1 && in == out;
	y = batch_norm(net, arena_printf(net->arena, "%s.conv.%d", name, k + 1), y, residual ? 0.5 : 1);
	return residual ? add(net, sub(net, name, "add"), x, y) : y;
}

static Act build_mobilenet_v2(Net *net, Act x, const void *plan)
{
	(void)plan;
	int n = 0;
	x = conv_bn_relu6(net, "features.0", x, (ConvSpec){ 32, 3, 2, 1, 1, false });
	for (size_t row = 0; row < sizeof mobilenet_v2 / sizeof *mobilenet_v2; row++)
		for (int k = 0; k < mobilenet_v2[row].blocks && net->ok; k++)
			x = inverted_residual(net, arena_printf(net->arena, "features.%d", ++n), x, mobilenet_v2[row].out,
				k == 0 ? mobilenet_v2[row].stride : 1, mobilenet_v2[row].expand);
	x = conv_bn_relu6(net, arena_printf(net->arena, "features.%d", ++n), x, (ConvSpec){ 1280, 1, 1, 0, 1, false });
	return classifier(net, "classifier.1", global_pool(net, "avgpool", x));
}

/* ---- SqueezeNet 1.1: Iandola et al.; squeeze > 0: a fire module, 0: a pool */

static const struct {
	int feature; /* torchvision's number of the layer */
	int64_t squeeze, expand;
} squeezenet1_1[] = {
	{ 2, 0, 0 },
	{ 3, 16, 64 },
	{ 4, 16, 64 },
	{ 5, 0, 0 },
	{ 6, 32, 128 },
	{ 7, 32, 128 },
	{ 8, 0, 0 },
	{ 9, 48, 192 },
	{ 10, 48, 192 },
	{ 11, 64, 256 },
	{ 12, 64, 256 },
};

static Act conv_relu(Net *net, const char *name, Act x, ConvSpec c)
{
	return relu(net, arena_printf(net->arena, "%s_activation", name), conv(net, name, x, c));
}

static Act fire(Net *net, const char *name, Act x, int64_t squeeze, int64_t expand)
{
	x = conv_relu(net, sub(net, name, "squeeze"), x, (ConvSpec){ squeeze, 1, 1, 0, 1, true });
	Act a = conv_relu(net, sub(net, name, "expand1x1"), x, (ConvSpec){ expand, 1, 1, 0, 1, true });
	Act b = conv_relu(net, sub(net, name, "expand3x3"), x, (ConvSpec){ expand, 3, 1, 1, 1, true });
	int in[] = { a.value, b.value };
	Attr attr = attr_int("axis", 1);
	return call(net, sub(net, name, "concat"), OP_concat, in, 2, &attr, 1, (a.square + b.square) / 2);
}

static Act build_squeezenet(Net *net, Act x, const void *plan)
{
	(void)plan;
	x = conv_relu(net, "features.0", x, (ConvSpec){ 64, 3, 2, 0, 1, true });
	for (size_t row = 0; row < sizeof squeezenet1_1 / sizeof *squeezenet1_1 && net->ok; row++) {
		const char *name = arena_printf(net->arena, "features.%d", squeezenet1_1[row].feature);
		x = squeezenet1_1[row].squeeze > 0 ? fire(net, name, x, squeezenet1_1[row].squeeze, squeezenet1_1[row].expand)
		                                   : max_pool(net, name, x, 0, true);
	}
	x = conv_relu(net, "classifier.1", x, (ConvSpec){ CLASSES, 1, 1, 0, 1, true });
	return global_pool(net, "classifier.3", x);
}

/* ---- the table */

static const struct {
	NamedModel model;
	Act (*build)(Net *net, Act x, const void *plan);
	const void *plan;
} rows[] = {
	{ { "resnet18", "ResNet-18, 3x224x224, 11.7 M weights, 3.6 GFLOP" }, build_resnet, &resnet18 },
	{ { "resnet50", "ResNet-50, 3x224x224, 25.6 M weights, 8.2 GFLOP" }, build_resnet, &resnet50 },
	{ { "mobilenet_v1", "MobileNet v1, 3x224x224, 4.2 M weights, 1.1 GFLOP" }, build_mobilenet_v1, NULL },
	{ { "mobilenet_v2", "MobileNet v2, 3x224x224, 3.5 M weights, 0.6 GFLOP" }, build_mobilenet_v2, NULL },
	{ { "squeezenet1_1", "SqueezeNet 1.1, 3x224x224, 1.2 M weights, 0.7 GFLOP" }, build_squeezenet, NULL },
};
enum { NROW = sizeof rows / sizeof *rows };

static const NamedModel *named(int k)
{
	return k < NROW ? &rows[k].model : NULL;
}
/* 1,3,224,224 unless a batch or the shape N,3,H,W of data is given. */
static bool input_shape(const ModelArgs *args, Shape *out, Err *err)
{
	*out = (Shape){ 4, { args->batch > 0 ? args->batch : 1, 3, 224, 224 } };
	for (int k = 0; k < args->nshape; k++) {
		const ShapeArg *s = &args->shape[k];
		if (strcmp(s->name, "data") != 0)
			return fail(err, ERR_USAGE, "shape", "the network has no input '%s', only 'data'", s->name);
		if (s->shape.rank != 4 || s->shape.dim[1] != 3)
			return fail(err, ERR_USAGE, "shape", "data must be N,3,H,W: a batch of images");
		*out = s->shape;
	}
	if (args->batch > 0 && out->dim[0] != args->batch)
		return fail(err, ERR_USAGE, "batch", "is %lld, but data is given a batch of %lld: give only one of them",
			(long long)args->batch, (long long)out->dim[0]);
	if (args->nbind > 0)
		return fail(err, ERR_USAGE, "bind", "a network of the zoo has no input to bind");
	for (int k = 0; k < 4; k++)
		if (out->dim[k] < 1)
			return fail(err, ERR_USAGE, "shape", "data has a dimension of %lld", (long long)out->dim[k]);
	return true;
}

static bool check_sizes(const Dag *d, const char *name, Err *err)
{
	char text[160];
	for (size_t k = 0; k < d->value.n; k++) {
		const Value *v = &d->value.at[k];
		int64_t n = value_bytes(v);
		if (n < 0 || n > most_bytes)
			return fail(err, ERR_MEMORY, name, "value '%s' of shape %s needs more memory than there is", v->name,
				shape_str(v->shape, text));
	}
	return true;
}

static Dag *load(Arena *a, const char *name, Bytes file, const ModelArgs *args, Err *err)
{
	(void)file;
	Shape s;
	int row = 0;
	while (strcmp(rows[row].model.name, name) != 0)
		row++;
	if (!input_shape(args, &s, err))
		return NULL;
	Net net = { .arena = a, .dag = dag_new(a, name), .err = err, .ok = true };
	Act x = { dag_add_input(net.dag, "data", F32, s), 1 };
	if (!check_sizes(net.dag, name, err))
		return NULL;
	x = rows[row].build(&net, x, rows[row].plan);
	if (!net.ok || !check_sizes(net.dag, name, err))
		return NULL;
	dag_rename(net.dag, x.value, "out");
	dag_add_output(net.dag, x.value);
	return net.dag;
}

const Format format_zoo = { .name = "zoo", .doc = "networks of the zoo", .named = named, .load = load };
