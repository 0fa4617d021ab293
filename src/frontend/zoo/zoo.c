/* The zoo as a format that needs no file: architectures of torchvision and others, with seeded weights. */
#include "frontend/zoo/zoo.h"

#include "frontend/format.h"

#include <string.h>

enum { SEED = 2021 };

static const int64_t most_bytes = (int64_t)1 << 40;

static const struct {
	NamedModel model;
	Act (*build)(Net *net, Act x);
	const char *input;
	Shape shape; /* of the input */
} rows[] = {
#define NETWORK(name, doc, input, ...) { { #name, doc }, zoo_##name, input, __VA_ARGS__ },
#include "frontend/zoo/zoo.def"
};
enum { NROW = sizeof rows / sizeof *rows };

static const NamedModel *named(int k)
{
	return k < NROW ? &rows[k].model : NULL;
}

static bool takes_tokens(int row)
{
	return strcmp(rows[row].input, "ids") == 0;
}

/* Whether a user's shape is one that the network takes. */
static bool check_shape(int row, Shape s, Err *err)
{
	const Shape usual = rows[row].shape;
	const char *name = rows[row].input;
	char text[160];
	bool tokens = takes_tokens(row);
	if (usual.rank == 4 && (s.rank != 4 || s.dim[1] != usual.dim[1]))
		return fail(err, ERR_USAGE, "shape", "%s must be N,%lld,H,W: a batch of images", name, (long long)usual.dim[1]);
	if (tokens && s.rank != 2)
		return fail(err, ERR_USAGE, "shape", "%s must be N,T: a batch of T tokens", name);
	if (usual.rank == 3 && (s.rank != 3 || s.dim[2] != usual.dim[2]))
		return fail(err, ERR_USAGE, "shape", "%s must be T,N,%lld: T steps of a batch", name,
			(long long)usual.dim[2]);
	if (usual.rank == 2 && !tokens && (s.rank != 2 || s.dim[1] != usual.dim[1]))
		return fail(err, ERR_USAGE, "shape", "%s must be N,%lld, not %s", name, (long long)usual.dim[1],
			shape_str(s, text));
	return true;
}

/* The row's unless a batch, a sequence or a shape is given. */
static bool input_shape(int row, const ModelArgs *args, Shape *out, Err *err)
{
	const char *name = rows[row].input;
	*out = rows[row].shape;
	const int batch = out->rank == 3 ? 1 : 0; /* steps come before the batch */
	if (args->batch > 0)
		out->dim[batch] = args->batch;
	if (args->seq > 0 && !takes_tokens(row) && out->rank != 3)
		return fail(err, ERR_USAGE, "seq", "%s is no sequence: give its shape instead", name);
	if (args->seq > 0)
		out->dim[1 - batch] = args->seq;
	for (int k = 0; k < args->nshape; k++) {
		const ShapeArg *s = &args->shape[k];
		if (strcmp(s->name, name) != 0)
			return fail(err, ERR_USAGE, "shape", "the network has no input '%s', only '%s'", s->name, name);
		if (!check_shape(row, s->shape, err))
			return false;
		*out = s->shape;
	}
	if (args->batch > 0 && out->dim[batch] != args->batch)
		return fail(err, ERR_USAGE, "batch", "is %lld, but %s is given a batch of %lld: give only one of them",
			(long long)args->batch, name, (long long)out->dim[batch]);
	if (args->seq > 0 && out->dim[1 - batch] != args->seq)
		return fail(err, ERR_USAGE, "seq", "is %lld, but %s is given a sequence of %lld: give only one of them",
			(long long)args->seq, name, (long long)out->dim[1 - batch]);
	if (args->nbind > 0)
		return fail(err, ERR_USAGE, "bind", "a network of the zoo has no input to bind");
	for (int k = 0; k < out->rank; k++)
		if (out->dim[k] < 1)
			return fail(err, ERR_USAGE, "shape", "%s has a dimension of %lld", name, (long long)out->dim[k]);
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
	if (!input_shape(row, args, &s, err))
		return NULL;
	Net net;
	net_open(&net, a, name, SEED, args);
	net.late = true;
	Act x = { dag_add_input(net.dag, rows[row].input, takes_tokens(row) ? I64 : F32, s), 1 };
	if (!check_sizes(net.dag, name, err))
		return NULL;
	x = rows[row].build(&net, x);
	if (!net_ok(&net)) {
		*err = net.im.err;
		return NULL;
	}
	if (!check_sizes(net.dag, name, err))
		return NULL;
	net_draw(&net);
	dag_rename(net.dag, x.value, "out");
	dag_add_output(net.dag, x.value);
	return net.dag;
}

const Format format_zoo = { .name = "zoo", .doc = "networks of the zoo", .named = named, .load = load };
