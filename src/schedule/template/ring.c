/*
 * A depthwise convolution and the convolution whose result it alone reads, as one Task on CPUs. Neighbouring rows of
 * the depthwise result read rows of the image between the two in common. Each is made once, right before the first row
 * that needs it, in a ring of as many as a window reads. So the image stays in a near cache, whatever its size.
 *
 *	for channels.. { for rows { for new rows { tiles of the image }  for tiles of the result { taps } } }
 *
 * Where the channels are one part, all rows of the image's source are read once. Where they are several, each part
 * reads them again, and its ring is smaller. Threads share the parts.
 */
#include "schedule/template/conv.h"
#include "schedule/template/device.h"
#include "schedule/template/ring.h"

#include <string.h>

typedef struct Ring {
	const OpCall *window, *maker; /* the depthwise convolution, and what makes its image */
} Ring;

static bool is_depthwise(const Dag *d, const OpCall *c)
{
	return op_int(c, "groups") > 1 && d->value.at[c->in[1]].shape.dim[1] == 1;
}

/* False: the Task has other calls than two convolutions and elementwise ones. */
static bool find_ring(const Dag *d, Ring *r)
{
	*r = (Ring){ NULL, NULL };
	for (size_t k = 0; k < d->call.n; k++) {
		const OpCall *c = &d->call.at[k];
		if (op_row(c->op)->class == OP_ELEMENTWISE)
			continue;
		if (c->op != OP_conv || r->window != NULL || d->value.at[c->out[0]].shape.rank != 4)
			return false;
		if (r->maker == NULL)
			r->maker = c;
		else
			r->window = c;
	}
	return r->window != NULL && is_depthwise(d, r->window) && !is_depthwise(d, r->maker);
}

static bool applies(const Task *task, const Target *target)
{
	Ring r;
	return device_lone(target) && !target_has_blocks(target) && find_ring(task->dag, &r);
}

/* Whether each nest belongs to one of the two, and the rows that the window reads are the maker's. */
static bool covers(const Sketch *s, const Ring *r, const Tiled *y, const Tiled *x)
{
	int own = 0, nests = 0;
	const Tiled *const t[2] = { y, x };
	for (int k = 0; k < 2; k++)
		own += 1 + (t[k]->last != NULL) + t[k]->nmiddle;
	for (const Stmt *n = s->naive->fn[0]->body; n != NULL; n = n->next)
		nests++;
	return own == nests && strcmp(x->result->name, s->task->dag->value.at[r->window->in[0]].name) == 0;
}

/*
 * Asks for "channels" of a part: all, or whole vectors. Parts of one vector have the smallest rings, which stay in the
 * first cache; two or three share what their tiles read. Threads want as many parts as they are.
 */
static int64_t choose_channels(Sketch *s, const Tiled *y, int64_t lanes)
{
	int64_t option[KNOB_OPTIONS], all = y->axis[1].extent, threads = s->target->threads, best = 0;
	int n = 0, first = 0;
	for (int64_t f = 1; f * lanes <= all && n < KNOB_OPTIONS; f++) {
		int64_t part = f * lanes, parts = all / part;
		if (all % part != 0 || (parts < threads && f > 1))
			continue;
		int64_t turn = (parts + threads - 1) / threads * f; /* vectors of the thread that has most */
		if (n == 0 || (f <= TMPL_RING_VECTORS && turn <= best)) {
			best = turn;
			first = n;
		}
		option[n++] = part;
	}
	if (n == 0)
		option[n++] = all;
	int64_t part = sketch_number(s, "channels", option, n, first);
	sketch_opens(s);
	return part;
}

static bool run(Sketch *s, Err *err)
{
	const Dag *d = s->task->dag;
	const Value *out = &d->value.at[d->output.at[0]];
	int64_t lanes = conv_channel_block(out);
	Ring r;
	Tiled y, x;
	(void)err;
	if (!find_ring(d, &r) || !tiled_read(s, r.maker, &x) || !tiled_read(s, r.window, &y) || lanes < 2 ||
		!covers(s, &r, &y, &x) || y.n != 4 || x.n != 4 || y.out[TILE_ROWS].extent < 2)
		return sketch_loops(s);
	int64_t all = y.axis[1].extent;
	bool parts = all % lanes == 0 && all > lanes;
	if (s->target->threads > 1 && !parts && y.axis[0].extent == 1)
		return sketch_loops(s); /* threads would share the rows that a ring keeps */
	sketch_group(s);
	int64_t part = choose_channels(s, &y, lanes);
	x.axis[1].extent = x.out[1].extent = part;
	Tile to = conv_tile(s, r.window, &y, lanes, NULL), by = conv_tile(s, r.maker, &x, lanes, "ring");
	const int order[] = { 0, TILE_ROWS, 1, 3 };
	memcpy(to.outer, order, sizeof order);
	to.rows = true;
	to.group = part < all ? part : 0;
	to.image = out->layout;
	conv_reduction(s, r.window, &y, &to, 0);
	conv_reduction(s, r.maker, &x, &by, 0);
	sketch_group_end(s);
	tile_ring_steps(s, &y, &to, &x, &by);
	return true;
}

const Template tmpl_ring = { .name = "ring",
	.doc = "a depthwise convolution that reads rows from a ring, as the convolution before it makes them",
	.applies = applies,
	.run = run };
