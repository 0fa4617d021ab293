/*
 * Chooses layouts. Tensors of floats and of codes that convolutions and pools read or write get their channels in
 * blocks of a vector's length (NCHW16c). So do the tensors that are computed from them element by element: nothing is
 * converted inside a region. A call works with the layouts of its values, so the edge of a region costs no
 * call: the stem reads the plain input, a transpose reads blocks.
 *
 * Row-major stay: inputs, outputs and constants of the network; tensors of few channels, or of one pixel
 * (where blocks would only add padding); the results of reshapes, and what only reshapes read, since a
 * reshape costs nothing between row-major tensors; regions of one spatial dimension that a dense layer reads or
 * writes, since its vectors lie along the row. orders.c offers blocks for what is behind transposes.
 *
 * A device whose threads run each instruction together (warp > 1) gets no blocks: neighbouring threads take
 * neighbouring pixels of row-major tensors. Its matrix units rather take neighbouring channels: regions that
 * convolutions in matrix units read or write may be NHWC. compile/channels_last.c chooses among these.
 */
#include "graph/layouts.h"

#include "graph/without.h"
#include "target/capability.h"

typedef struct Lay {
	const Dag *d;
	bool *may;    /* of each value: it may be blocked */
	int *region;  /* of each value: another value of its region, itself for the first one */
	bool *wanted; /* of each region's first value: a convolution or pool reads or writes in it */
} Lay;

/* Floats; codes of 8 bits and their sums. */
static bool is_pixel(DType t)
{
	return dtype_is_float(t) || (dtype_is_int(t) && (t.bits == 8 || dtype_eq(t, I32)));
}

/* Of one, two or three spatial dimensions, and several pixels. */
static bool is_image(const Value *x)
{
	const int64_t *dim = x->shape.dim;
	bool several = false;
	for (int k = 2; k < x->shape.rank; k++)
		several = several || dim[k] > 1;
	return x->kind == VALUE_CALL && is_pixel(x->type) && several && x->shape.rank <= 5 &&
		dim[1] > GRAPH_FEW_CHANNELS && shape_elements(x->shape) > 0;
}

static void find_candidates(Lay *l, bool warps)
{
	const Dag *d = l->d;
	int *readers = arena_array(d->arena, int, d->value.n + 1), *reshapes = arena_array(d->arena, int, d->value.n + 1);
	for (size_t i = 0; i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i];
		for (int k = 0; k < c->nin; k++)
			if (c->in[k] != DAG_NONE) {
				readers[c->in[k]]++;
				reshapes[c->in[k]] += c->op == OP_reshape;
			}
	}
	for (size_t v = 0; v < d->value.n; v++) {
		const Value *x = &d->value.at[v];
		bool takes = x->shape.rank == 4 || !warps; /* NHWC has two spatial dimensions */
		l->may[v] = takes && is_image(x) && d->call.at[x->call].op != OP_reshape && readers[v] > reshapes[v];
	}
	for (size_t i = 0; i < d->output.n; i++)
		l->may[d->output.at[i]] = false;
}

static int first_of(Lay *l, int v)
{
	while (l->region[v] != v)
		v = l->region[v] = l->region[l->region[v]];
	return v;
}

/* Joins a call's values to one region, but for those that stay row-major or have another rank than the result. */
static void join_values(Lay *l, const OpCall *c)
{
	int to = DAG_NONE;
	for (int k = 0; k < c->nin + c->nout; k++) {
		int v = k < c->nin ? c->in[k] : c->out[k - c->nin];
		if (v == DAG_NONE || !l->may[v] || l->d->value.at[v].shape.rank != l->d->value.at[c->out[0]].shape.rank)
			continue;
		if (to == DAG_NONE)
			to = first_of(l, v);
		else
			l->region[first_of(l, v)] = to;
	}
}

/* Whether the call is fastest with the channels of its images in blocks (warps false) or side by side. */
static bool wants_channels(const Dag *d, const OpCall *c, const Target *t, bool warps)
{
	if (!warps)
		return (op_row(c->op)->traits & OP_BLOCKED) != 0;
	return c->op == OP_conv && op_int(c, "groups") == 1 &&
		target_matrix_rate(t, d->value.at[c->in[0]].type, op_int(c, "tf32") != 0) > 0;
}

static void find_regions(Lay *l, const Target *t, bool warps)
{
	const Dag *d = l->d;
	for (size_t v = 0; v < d->value.n; v++)
		l->region[v] = (int)v;
	for (size_t i = 0; i < d->call.n; i++) {
		const OpRow *row = op_row(d->call.at[i].op);
		/* The result takes the layout of the operands: no element moves. */
		if (row->class == OP_ELEMENTWISE || (row->traits & OP_FOLLOWS))
			join_values(l, &d->call.at[i]);
	}
	for (size_t i = 0; i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i];
		if (!wants_channels(d, c, t, warps))
			continue;
		l->wanted[first_of(l, c->in[0])] = true;
		l->wanted[first_of(l, c->out[0])] = true;
	}
	for (size_t i = 0; i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i];
		if (c->op == OP_dense && d->value.at[c->out[0]].shape.rank == 3)
			l->wanted[first_of(l, c->in[0])] = l->wanted[first_of(l, c->out[0])] = false;
	}
}

/*
 * A vector of the type, but no less than LEAST_BLOCK and no more than a cache line: 16 of f32 for 64 bytes. Codes have
 * the blocks of their sums, which are the lanes of products.
 */
static int64_t block_of(const Target *t, DType type)
{
	type = dtype_is_float(type) ? type : I32;
	int64_t lanes = target_lanes(t, type), line = (int64_t)t->line_bytes * 8 / type.bits;
	lanes = lanes < line ? lanes : line;
	return lanes > GRAPH_LEAST_BLOCK ? lanes : GRAPH_LEAST_BLOCK;
}

static const char *blocks_of(const Dag *d, const Target *t, const Value *x)
{
	int64_t fits = block_of(t, x->type); /* half a block is enough for half as many channels */
	while (fits > GRAPH_FEW_CHANNELS && fits / 2 >= x->shape.dim[1])
		fits /= 2;
	static const char *const letters[] = { "NCW", "NCHW", "NCDHW" };
	return arena_printf(d->arena, "%s%lldc", letters[x->shape.rank - 3], (long long)fits);
}

static Lay read_layouts(const Dag *d, const Target *t, bool warps)
{
	Lay l = { .d = d };
	l.may = arena_array(d->arena, bool, d->value.n + 1);
	l.region = arena_array(d->arena, int, d->value.n + 1);
	l.wanted = arena_array(d->arena, bool, d->value.n + 1);
	find_candidates(&l, warps);
	find_regions(&l, t, warps);
	return l;
}

int graph_matrix_regions(const Dag *d, const Target *t, int *region)
{
	Lay l = read_layouts(d, t, true);
	int n = 0, *number = arena_array(d->arena, int, d->value.n + 1);
	for (size_t v = 0; v < d->value.n; v++)
		number[v] = l.may[v] && l.region[v] == (int)v && l.wanted[v] ? n++ : DAG_NONE;
	for (size_t v = 0; v < d->value.n; v++)
		region[v] = number[first_of(&l, (int)v)];
	return n;
}

void graph_channels_last(Dag *d, const int *region, const bool *last)
{
	for (size_t v = 0; v < d->value.n; v++)
		if (d->value.at[v].kind == VALUE_CALL)
			d->value.at[v].layout = region[v] != DAG_NONE && last[region[v]] ? "NHWC" : NULL;
}

void graph_layouts(Dag *d, const Target *t)
{
	Lay l = read_layouts(d, t, false);
	for (size_t v = 0; v < d->value.n; v++) {
		Value *x = &d->value.at[v];
		if (x->kind != VALUE_CALL)
			continue;
		x->layout = NULL;
		if (t == NULL || target_has_warps(t) || !graph_does(d, FEATURE_OF_GRAPH_blocks) ||
			!l.may[v] || !l.wanted[first_of(&l, (int)v)])
			continue;
		x->layout = blocks_of(d, t, x);
	}
}

const char *graph_blocks(const Dag *d, const Target *t, int v)
{
	const Value *x = &d->value.at[v];
	bool may = t != NULL && !target_has_warps(t) && graph_does(d, FEATURE_OF_GRAPH_blocks) && is_image(x);
	return may ? blocks_of(d, t, x) : NULL;
}
