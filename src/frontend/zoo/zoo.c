/* The zoo as a format that needs no file: architectures of torchvision and others, with seeded weights. */
#include "frontend/zoo/zoo.h"

#include "frontend/format.h"

#include <string.h>

static const int64_t most_bytes = (int64_t)1 << 40;

static const struct {
	NamedModel model;
	Act (*build)(Net *net, Act x);
	Shape shape; /* of the input */
} rows[] = {
#define NETWORK(name, doc, ...) { { #name, doc }, zoo_##name, __VA_ARGS__ },
#include "frontend/zoo/zoo.def"
};
enum { NROW = sizeof rows / sizeof *rows };

static const NamedModel *named(int k)
{
	return k < NROW ? &rows[k].model : NULL;
}

/* The row's unless a batch or a shape is given, which may differ in the batch and an image's height and width. */
static bool input_shape(Shape usual, const ModelArgs *args, Shape *out, Err *err)
{
	char text[160];
	*out = usual;
	if (args->batch > 0)
		out->dim[0] = args->batch;
	for (int k = 0; k < args->nshape; k++) {
		const ShapeArg *s = &args->shape[k];
		if (strcmp(s->name, "data") != 0)
			return fail(err, ERR_USAGE, "shape", "the network has no input '%s', only 'data'", s->name);
		if (usual.rank == 4 && (s->shape.rank != 4 || s->shape.dim[1] != usual.dim[1]))
			return fail(err, ERR_USAGE, "shape", "data must be N,%lld,H,W: a batch of images", (long long)usual.dim[1]);
		if (usual.rank == 2 && (s->shape.rank != 2 || s->shape.dim[1] != usual.dim[1]))
			return fail(err, ERR_USAGE, "shape", "data must be N,%lld, not %s", (long long)usual.dim[1],
				shape_str(s->shape, text));
		*out = s->shape;
	}
	if (args->batch > 0 && out->dim[0] != args->batch)
		return fail(err, ERR_USAGE, "batch", "is %lld, but data is given a batch of %lld: give only one of them",
			(long long)args->batch, (long long)out->dim[0]);
	if (args->nbind > 0)
		return fail(err, ERR_USAGE, "bind", "a network of the zoo has no input to bind");
	for (int k = 0; k < out->rank; k++)
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
	if (!input_shape(rows[row].shape, args, &s, err))
		return NULL;
	Net net = { .arena = a, .dag = dag_new(a, name), .err = err, .ok = true };
	Act x = { dag_add_input(net.dag, "data", F32, s), 1 };
	if (!check_sizes(net.dag, name, err))
		return NULL;
	x = rows[row].build(&net, x);
	if (!net.ok || !check_sizes(net.dag, name, err))
		return NULL;
	dag_rename(net.dag, x.value, "out");
	dag_add_output(net.dag, x.value);
	return net.dag;
}

const Format format_zoo = { .name = "zoo", .doc = "networks of the zoo", .named = named, .load = load };
