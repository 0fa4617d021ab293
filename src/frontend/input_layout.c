/* See input_layout.h. */
#include "frontend/input_layout.h"

#include "op/op.h"

#include <string.h>

/* Each has a batch, channels and one to three spatial dimensions. */
static const struct {
	const char *name;
	int rank;
	bool last;
} rows[] = {
	{ "ncw", 3, false }, { "nwc", 3, true }, { "nchw", 4, false }, { "nhwc", 4, true }, { "ncdhw", 5, false },
	{ "ndhwc", 5, true },
};
enum { NROWS = sizeof rows / sizeof *rows };

/* Where the axes of a value come from in the input; axis[0] < 0: not from there. */
typedef struct Axes {
	int axis[DAG_MAX_RANK];
} Axes;

static bool reads_channels_second(int op)
{
	return op == OP_conv || op == OP_conv_transpose || op == OP_max_pool || op == OP_avg_pool || op == OP_lrn ||
		op == OP_batch_norm;
}

/* The axes of a call's result, where it keeps those of its input k; others stay unknown. */
static void follow(const Dag *d, const OpCall *c, int k, const Axes *in, Axes *out)
{
	const Shape x = d->value.at[c->in[k]].shape, y = d->value.at[c->out[0]].shape;
	int n = 0;
	const int64_t *perm = c->op == OP_transpose ? op_ints(c, "perm", &n) : NULL;
	if (c->op == OP_transpose || c->op == OP_pad || c->op == OP_slice || c->op == OP_concat ||
		(op_row(c->op)->class == OP_ELEMENTWISE && x.rank == y.rank))
		*out = *in;
	for (int i = 0; i < n; i++)
		out->axis[i] = in->axis[perm[i]];
}

/* 1: the model has the channels of input v second; 2: last; 3: both; 0: no call says. */
static int own_layout(const Dag *d, int v)
{
	const int rank = d->value.at[v].shape.rank;
	Axes *axes = arena_array(d->arena, Axes, d->value.n);
	int found = 0;
	for (size_t i = 0; i < d->value.n; i++)
		axes[i].axis[0] = -1;
	for (int k = 0; k < rank; k++)
		axes[v].axis[k] = k;
	for (size_t i = 0; i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i];
		for (int k = 0; k < c->nin; k++) {
			const Axes *in = c->in[k] != DAG_NONE ? &axes[c->in[k]] : NULL;
			if (in == NULL || in->axis[0] < 0)
				continue;
			if (k == 0 && reads_channels_second(c->op))
				found |= in->axis[1] == 1 ? 1 : in->axis[1] == rank - 1 ? 2 : 0;
			else if (c->nout == 1)
				follow(d, c, k, in, &axes[c->out[0]]);
		}
	}
	return found;
}

/* The input's dimensions in the other order, and a transposition, before all other calls, that turns it back. */
static bool turn(Dag *d, int v, bool last, const char *layout, Err *err)
{
	Value *x = &d->value.at[v];
	const Shape own = x->shape;
	const int rank = own.rank;
	int64_t perm[DAG_MAX_RANK] = { 0 };
	for (int k = 1; k < rank; k++) {
		const int from = last ? (k == rank - 1 ? 1 : k + 1) : (k == 1 ? rank - 1 : k - 1); /* of the outer axis k */
		x->shape.dim[k] = own.dim[from];
		perm[from] = k;
	}
	Attr attr = attr_ints("perm", perm, rank);
	const char *name = arena_printf(d->arena, "%s.from_%s", x->name, layout);
	int c = dag_add_call(d, OP_transpose, name, &v, 1, &attr, 1, err);
	if (c < 0)
		return false;
	const OpCall call = d->call.at[c];
	const int turned = call.out[0];
	memmove(&d->call.at[1], &d->call.at[0], sizeof *d->call.at * (size_t)c);
	d->call.at[0] = call;
	for (size_t i = 0; i < d->value.n; i++)
		if (d->value.at[i].kind == VALUE_CALL)
			d->value.at[i].call = (int)i == turned ? 0 : d->value.at[i].call + 1;
	for (size_t i = 1; i < d->call.n; i++)
		for (int k = 0; k < d->call.at[i].nin; k++)
			if (d->call.at[i].in[k] == v)
				d->call.at[i].in[k] = turned;
	for (size_t i = 0; i < d->output.n; i++)
		if (d->output.at[i] == v)
			d->output.at[i] = turned;
	return true;
}

static const char *input_names(const Dag *d)
{
	Text t = { .arena = d->arena };
	for (size_t k = 0; k < d->input.n && t.n < 200; k++)
		text_add(&t, "%s%s", k > 0 ? ", " : "", d->value.at[d->input.at[k]].name);
	return text_str(&t);
}

static bool lay_out(Dag *d, const LayoutArg *l, Err *err)
{
	static const char *const field = "layout";
	char text[160];
	int row = 0, v = DAG_NONE;
	while (row < NROWS && strcmp(rows[row].name, l->layout) != 0)
		row++;
	if (row == NROWS)
		return fail(err, ERR_USAGE, field,
			"'%.60s' is no layout of an input; there are ncw, nwc, nchw, nhwc, ncdhw, ndhwc", l->layout);
	for (size_t k = 0; k < d->input.n; k++)
		if (strcmp(d->value.at[d->input.at[k]].name, l->name) == 0)
			v = d->input.at[k];
	if (v == DAG_NONE)
		return fail(err, ERR_USAGE, field, "the model has no input '%s'; it has: %s", l->name, input_names(d));
	const Shape s = d->value.at[v].shape;
	if (s.rank != rows[row].rank)
		return fail(err, ERR_USAGE, field, "input '%s' of shape %s cannot be %s, which has %d dimensions", l->name,
			shape_str(s, text), l->layout, rows[row].rank);
	const int own = own_layout(d, v);
	if (own == 0)
		return fail(err, ERR_USAGE, field,
			"no convolution, pooling or batch norm reads input '%s', so dlc does not know which dimension is channels",
			l->name);
	if (own == 3)
		return fail(err, ERR_USAGE, field, "the model reads input '%s' in both orders, so neither is its own", l->name);
	return (own == 2) == rows[row].last || turn(d, v, rows[row].last, l->layout, err);
}

bool input_layouts(Dag *d, const ModelArgs *args, Err *err)
{
	for (int k = 0; k < args->nlayout; k++) {
		for (int i = 0; i < k; i++)
			if (strcmp(args->layout[i].name, args->layout[k].name) == 0)
				return fail(err, ERR_USAGE, "layout", "input '%s' is given twice", args->layout[k].name);
		if (!lay_out(d, &args->layout[k], err))
			return false;
	}
	return args->nlayout == 0 || dag_check(d, err);
}
