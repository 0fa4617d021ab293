/*
 * Tasks over rows (row_read.c) for targets whose threads run alone: softmax, norms, means and what surrounds them.
 * Each row, or some rows side by side, pass through all nests while they are in the first cache:
 *
 *	for rows { for k.o { for k.i vector { parts[k.i] of x[row, k] } }  tree of parts  ..  for k vector { store } }
 *	for rows.o { for k { for row vector { value[row] of x[k, row] } }  ..  for k { for row vector { store } } }
 *
 * The first form has lanes within a row, and several sums, which hide the latency of one. The second has lanes across
 * rows, for axes behind which others lie in memory, as channels of NCHW. Elementwise nests are inlined into the nests
 * that read them. One that is slow and read by several is kept, for the rows at hand. Where everything is one row (a
 * sum over all axes), nests stay behind each other, with lanes within. What is no such Task goes to the template of
 * pools or to the generated space.
 */
#include "schedule/template/fold.h"
#include "schedule/template/block.h"

#include "ir/query.h"
#include "op/op.h"
#include "schedule/producer.h"

#include <string.h>

typedef struct RowTask {
	Sketch *s;
	BlockSet set;
	BlockRows r;
	bool slow[BLOCK_NESTS]; /* the nest has an operation that takes longer than to store and load its result */
	const char *at;         /* the root's loop in which the work of rows at hand stands; NULL: all is one row */
	bool across;            /* lanes lie across rows, not within */
	int split;              /* the row of which `side` are at hand together; across: those are the lanes */
	int64_t side;
	const char *inner;      /* the root's loop over them; NULL: one row is at hand */
	int64_t sums;           /* within: vectors of a reduction's sums */
	bool flat;              /* within: all that is read or stored of a row lies in one run of memory */
} RowTask;

/* ---- reading ---- */

static void note_slow(const Expr *e, void *arg)
{
	switch (e->op) {
	case IR_DIV:
	case IR_MOD:
	case IR_TDIV:
	case IR_TMOD:
	case IR_POW:
	case IR_EXP:
	case IR_LOG:
	case IR_SQRT:
	case IR_TANH:
	case IR_ERF:
	case IR_SIGMOID:
	case IR_SIN:
	case IR_COS:
	case IR_ATAN:
	case IR_EXPM1:
	case IR_LOG1P: *(bool *)arg |= !dtype_is_int(e->type) || e->op != IR_MOD; break;
	default: break;
	}
}

/* Whether a nest is made of statistics: one value for each row. */
static bool is_statistic(const RowTask *t, int j)
{
	return rows_length(&t->set, &t->r, j) == 1;
}

/* Whether all readers of a nest should compute its values themselves. */
static bool worth_inlining(const RowTask *t, int k)
{
	const BlockNest *n = &t->set.nest[k];
	int axis[IR_MAX_RANK], readers = 0;
	bool plain;
	if (!n->maps || !n->whole || n->made->role != BUF_WORK)
		return false;
	for (int j = k + 1; j < t->set.n; j++) {
		const BlockNest *r = &t->set.nest[j];
		if (!block_reads(r, n->made->name, &plain, axis))
			continue;
		if (r->nodes + n->nodes > TMPL_BLOCK_NODES || (is_statistic(t, k) && !is_statistic(t, j)))
			return false;
		readers++;
	}
	return readers == 1 || (readers <= TMPL_BLOCK_AGAIN && !t->slow[k] && !is_statistic(t, k));
}

/* Marks the nests that are inlined, first ones first. */
static void mark_inlined(RowTask *t)
{
	int axis[IR_MAX_RANK];
	bool plain;
	for (int k = 0; k < t->set.n; k++) {
		BlockNest *n = &t->set.nest[k];
		ir_each_node_in((Stmt *)(uintptr_t)n->stmt->block.body, note_slow, &t->slow[k]);
	}
	for (int k = 0; k < t->r.root; k++) {
		BlockNest *n = &t->set.nest[k];
		if (!worth_inlining(t, k))
			continue;
		n->inlined = true;
		for (int j = k + 1; j < t->set.n; j++)
			if (block_reads(&t->set.nest[j], n->made->name, &plain, axis)) {
				t->set.nest[j].nodes += n->nodes;
				t->slow[j] |= t->slow[k];
			}
	}
}

/* A reduction across rows, with nothing before it: a pooling, whose template has tiles of registers. */
static bool is_pool(const RowTask *t)
{
	bool pool = t->r.folds == 1 && t->r.side >= 0;
	for (int j = 0; j < t->set.n && pool; j++)
		pool = t->set.nest[j].folds || is_statistic(t, j);
	return pool;
}

/* Bytes that are kept of a row between nests. */
static int64_t kept_bytes(const RowTask *t)
{
	int64_t bytes = 0;
	for (int j = 0; j < t->r.root; j++)
		if (!t->set.nest[j].inlined)
			bytes += dtype_bytes(t->set.nest[j].made->type,
				t->set.nest[j].folds ? 1 : rows_length(&t->set, &t->r, j));
	return bytes;
}

/* ---- choosing ---- */

static int64_t lanes_of(const RowTask *t, int j)
{
	return target_lanes(t->s->target, t->set.nest[j].made->type);
}

/* Lanes of the widest type that a nest stores. */
static int64_t all_lanes(const RowTask *t)
{
	int64_t least = 0;
	for (int j = 0; j < t->set.n; j++)
		if (!t->set.nest[j].inlined && (least == 0 || lanes_of(t, j) < least))
			least = lanes_of(t, j);
	return least;
}

/* The row along which neighbours lie, or the last of several places. */
static int row_split(const RowTask *t)
{
	const BlockNest *root = &t->set.nest[t->r.root];
	int at = t->r.side;
	for (int k = 0; k < t->r.n && t->r.side < 0; k++)
		if (at < 0 || root->axis[t->r.axis[k]].extent > 1)
			at = k;
	return at;
}

static void choose_across(RowTask *t, int64_t extent, int64_t lanes)
{
	int64_t option[KNOB_OPTIONS], room = target_cache(t->s->target, 1) / 2, kept = kept_bytes(t);
	int64_t most = rows_neighbours(&t->set, &t->r, t->split);
	int n = 0, best = 0;
	int64_t widest = extent - 1 < TMPL_STEP_LANES ? extent - 1 : TMPL_STEP_LANES;
	for (int64_t side = lanes > 4 ? lanes / 2 : 2; side <= widest && n < TMPL_ROWS_SIDES; side *= 2) {
		if (side > lanes && ((room > 0 && side * kept > room) || extent % side * TMPL_WASTE > side || side > most))
			continue;
		best = n;
		option[n++] = side;
	}
	t->side = sketch_number(t->s, "rows.side", option, n, best);
}

/*
 * Several sums hide the latency of one; several rows at hand hide what becomes one value of a row's sums, while the
 * next row's are made. They stay in the first cache. Behind a device's guards there can be no buffers, so they divide.
 */
static void choose_within(RowTask *t, int64_t extent, int64_t lanes)
{
	int64_t option[KNOB_OPTIONS], room = target_cache(t->s->target, 1) / 2, row = kept_bytes(t);
	int n = 0, best = 0;
	for (int64_t sums = 1; sums <= TMPL_ROWS_SUMS && (n == 0 || sums * lanes <= t->r.length); sums *= 2) {
		best = sums * lanes * TMPL_ROWS_PASSES <= t->r.length ? n : best;
		option[n++] = sums;
	}
	t->sums = sketch_number(t->s, "rows.sums", option, n, best);
	row += dtype_bytes(t->set.nest[t->r.root].made->type, t->r.length) * 2;
	int64_t shares = t->s->target->threads * TMPL_ROWS_SHARES;
	n = best = 0;
	for (int64_t side = 1; side <= TMPL_ROWS_TOGETHER && side <= extent; side *= 2) {
		bool divides = extent % side == 0;
		if (side > 1 && ((room > 0 && side * row > room) || (!divides && target_has_blocks(t->s->target))))
			continue;
		int64_t again = ceil_div(extent, side) * side - extent;
		bool more = again * TMPL_ROWS_AGAIN <= extent && side * shares <= extent && !target_has_blocks(t->s->target);
		best = side <= TMPL_ROWS_HIDE || more ? n : best;
		option[n++] = side;
	}
	t->side = sketch_number(t->s, "rows.together", option, n, best);
}

/* False: there is no form that these rows fit. */
static bool choose_form(RowTask *t)
{
	static const char *const form[] = { "within", "across" };
	if (t->r.n == 0) {
		if (t->r.length <= all_lanes(t) / 2)
			return false;
		sketch_opens(t->s);
		choose_within(t, 1, all_lanes(t));
		return true;
	}
	t->split = row_split(t);
	int64_t lanes = all_lanes(t), extent = t->set.nest[t->r.root].axis[t->r.axis[t->split]].extent;
	bool may_across = extent > lanes, may_within = t->r.side < 0 && t->r.length > lanes / 2;
	if ((!may_across && !may_within) || kept_bytes(t) > TMPL_ROWS_KEPT)
		return false;
	t->across = !may_within || (may_across && t->r.length < lanes);
	if (may_across && may_within)
		t->across = sketch_word(t->s, "rows", form, 2, t->across) == 1;
	sketch_opens(t->s);
	(t->across ? choose_across : choose_within)(t, extent, lanes);
	return true;
}

/* ---- writing ---- */

static const char *loop_of(const RowTask *t, int j, int axis)
{
	const BlockAxis *a = &t->set.nest[j].axis[axis];
	return j == t->r.root || t->r.n == 0 ? a->loop : producer_stem(&(Iter){ .name = a->iter });
}

/* A nest's loop over the rows at hand. */
static const char *row_loop(const RowTask *t, int j)
{
	return j == t->r.root ? t->inner : loop_of(t, j, t->r.of[j][t->split]);
}

/* A step of loop names, if there are two at least. */
static void reorder(RowTask *t, const char *const *loop, int n)
{
	Text line = { .arena = t->s->arena };
	for (int k = 0; k < n; k++)
		text_add(&line, " %s", loop[k]);
	if (n > 1)
		sketch_step(t->s, "reorder%s", text_str(&line));
}

/* The axis along which most traffic finds neighbours; of rows that lie in one run, all axes as one. */
static FoldLoop lane_steps(RowTask *t, int j)
{
	const BlockNest *n = &t->set.nest[j];
	const char *order[BLOCK_AXES];
	int lane = -1, count = 0;
	int64_t all = 1;
	double most = -1;
	for (int a = 0; a < n->n; a++) {
		double weight = block_traffic(&t->set, n, a);
		if (rows_has(&t->r, j, a))
			continue;
		order[count++] = loop_of(t, j, a);
		all *= n->axis[a].extent;
		if (n->axis[a].extent > 1 && weight >= most) {
			most = weight;
			lane = a;
		}
	}
	if (lane < 0)
		return (FoldLoop){ NULL, NULL, 1 };
	if (t->flat && n->axis[lane].extent < all) {
		const char *run = order[0];
		for (int k = 1; k < count; k++) {
			sketch_step(t->s, "fuse %s %s", run, order[k]);
			run = arena_printf(t->s->arena, "%s_%s", run, order[k]);
		}
		return (FoldLoop){ run, run, all };
	}
	count = 0;
	for (int a = 0; a < n->n; a++)
		if (a != lane && !rows_has(&t->r, j, a))
			order[count++] = loop_of(t, j, a);
	order[count++] = loop_of(t, j, lane);
	if (lane != n->n - 1)
		reorder(t, order, count);
	return (FoldLoop){ order[count - 1], order[0], n->axis[lane].extent };
}

static void fold_within(RowTask *t, int j)
{
	const BlockNest *n = &t->set.nest[j];
	FoldLoop k = lane_steps(t, j);
	int64_t lanes = lanes_of(t, j);
	while (lanes > 1 && lanes * 2 > k.extent)
		lanes /= 2;
	if (k.loop != NULL && lanes >= TMPL_PROMISING_LANES)
		fold_parts(t->s, n->block, k, lanes, t->sums);
}

/* Vectors along a row; the last one, which is not full, is code of its own. */
static void map_within(RowTask *t, int j)
{
	Sketch *s = t->s;
	FoldLoop k = lane_steps(t, j);
	int64_t lanes = lanes_of(t, j);
	if (k.loop == NULL)
		return;
	if (k.extent <= lanes) {
		sketch_step(s, "vectorize %s", k.loop);
		return;
	}
	sketch_step(s, "split %s %lld", k.loop, (long long)lanes);
	if (k.extent % lanes != 0) {
		sketch_step(s, "cut %s.o %lld", k.loop, (long long)(k.extent / lanes));
		sketch_step(s, "vectorize %s.i.2", k.loop);
	}
	sketch_step(s, "vectorize %s.i", k.loop);
}

/* Lanes are rows: the loop over them is the innermost one. */
static void nest_across(RowTask *t, int j)
{
	const BlockNest *n = &t->set.nest[j];
	const char *order[BLOCK_AXES], *first = NULL;
	const char *row = row_loop(t, j);
	int count = 0;
	for (int a = 0; a < n->n; a++)
		if (!rows_has(&t->r, j, a)) {
			order[count++] = loop_of(t, j, a);
			first = first == NULL && n->axis[a].reduce ? order[count - 1] : first;
		}
	order[count++] = row;
	reorder(t, order, count);
	if (first != NULL) {
		sketch_step(t->s, "decompose_init %s %s", n->block, first);
		sketch_step(t->s, "vectorize %s.init", row);
	}
	sketch_step(t->s, "vectorize %s", row);
}

/* The root's loops over rows come first: rows[0 .. return), but those over rows at hand, which are behind them. */
static int root_rows(RowTask *t, TileAxis *rows)
{
	Sketch *s = t->s;
	const BlockNest *root = &t->set.nest[t->r.root];
	const BlockAxis *split = &root->axis[t->r.axis[t->split]];
	const char *order[BLOCK_AXES + 1], *outer = split->loop;
	bool moved = t->across || t->split != t->r.n - 1;
	int n = 0, count = 0;
	if (t->side > 1) {
		bool shared = s->target->threads > 1 || target_has_blocks(s->target);
		sketch_step(s, "split %s %lld%s", split->loop, (long long)t->side,
			split->extent % t->side != 0 && !shared ? " overlap" : "");
		outer = arena_printf(s->arena, "%s.o", split->loop);
		t->inner = arena_printf(s->arena, "%s.i", split->loop);
	}
	for (int k = 0; k < t->r.n; k++) {
		const BlockAxis *a = &root->axis[t->r.axis[k]];
		moved |= t->r.axis[k] != k;
		if (k != t->split)
			rows[n++] = (TileAxis){ a->loop, a->extent };
	}
	rows[n++] = (TileAxis){ outer, (split->extent + t->side - 1) / t->side };
	while (count < n) {
		order[count] = rows[count].name;
		count++;
	}
	if (t->inner != NULL && !t->across)
		order[count++] = t->inner;
	for (int a = 0; a < root->n; a++)
		if (!rows_has(&t->r, t->r.root, a))
			order[count++] = root->axis[a].loop;
	if (t->inner != NULL && t->across)
		order[count++] = t->inner;
	if (moved)
		reorder(t, order, count);
	t->at = outer;
	return n;
}

/*
 * As device_bind_lone, but the rows of a block divide those that there are: a guard would stand around the buffers that
 * a row keeps.
 */
static void bind_rows(RowTask *t, TileAxis *rows, int n)
{
	int64_t blocks = 1, inside = t->r.length * t->side;
	int bound = 0;
	for (int k = 0; k < n; k++)
		inside *= rows[k].extent;
	while (bound < n && blocks < (int64_t)TMPL_LONE_BLOCKS * t->s->target->cores) {
		inside /= rows[bound].extent;
		blocks *= rows[bound++].extent;
	}
	TileAxis *last = &rows[bound - 1];
	int64_t part = 1;
	while (last->extent % part != 0 || (part * inside < TMPL_LONE_WORK && part < last->extent))
		part++;
	if (part > 1) {
		sketch_step(t->s, "split %s %lld", last->name, (long long)part);
		*last = (TileAxis){ arena_printf(t->s->arena, "%s.o", last->name), last->extent / part };
	}
	device_bind_grid(t->s, rows, bound);
}

/* Threads share rows; on a device, blocks of one thread do. */
static void share_steps(RowTask *t, TileAxis *rows, int n)
{
	Sketch *s = t->s;
	if (target_has_blocks(s->target)) {
		bind_rows(t, rows, n);
		return;
	}
	for (int k = 0; s->target->threads > 1 && k < n; k++) {
		if (rows[k].extent == 1)
			continue;
		while (k + 1 < n && rows[k].extent < s->target->threads * TMPL_ROWS_SHARES) {
			sketch_step(s, "fuse %s %s", rows[k].name, rows[k + 1].name);
			rows[k + 1] = (TileAxis){ arena_printf(s->arena, "%s_%s", rows[k].name, rows[k + 1].name),
				rows[k].extent * rows[k + 1].extent };
			k++;
		}
		sketch_step(s, "parallel %s", rows[k].name);
		return;
	}
}

/* False: the Task is none of rows, or no form fits it; nothing is written then. */
static bool rows_steps(Sketch *s)
{
	RowTask t = { .s = s };
	TileAxis rows[2 * TILE_AXES];
	bool alone = s->target->threads == 1 && !target_has_blocks(s->target);
	if (!block_read(s, &t.set) || (!rows_read(&t.set, &t.r) && (!alone || !rows_read_one(&t.set, &t.r))))
		return false;
	t.r.side = rows_side(&t.set, &t.r, block_params_traffic);
	mark_inlined(&t);
	if (is_pool(&t) || !choose_form(&t))
		return false;
	for (int j = 0; j < t.r.root; j++)
		if (t.set.nest[j].inlined)
			sketch_step(s, "inline %s", t.set.nest[j].block);
	t.flat = rows_are_flat(&t.set, &t.r);
	int n = t.r.n > 0 ? root_rows(&t, rows) : 0;
	for (int j = t.r.root; j >= 0; j--) {
		const BlockNest *nest = &t.set.nest[j];
		if (nest->inlined)
			continue;
		if (t.at != NULL && j < t.r.root)
			sketch_step(s, "compute_at %s %s", nest->block, t.at);
		if (t.across)
			nest_across(&t, j);
		else if (nest->folds)
			fold_within(&t, j);
		else
			map_within(&t, j);
	}
	if (n > 0)
		share_steps(&t, rows, n);
	return true;
}

/* Products of matrices with vectors whose rows lie in memory one after the other. */
static bool is_vector_product(const Dag *d, const OpCall *c)
{
	if (c->op != OP_matmul)
		return false;
	const Shape *y = &d->value.at[c->out[0]].shape;
	bool column = y->dim[y->rank - 1] == 1 && op_int(c, "ta") == 0;
	return column || (y->dim[y->rank - 2] == 1 && op_int(c, "tb") != 0);
}

static bool applies(const Task *task, const Target *target)
{
	bool rows = false;
	for (size_t i = 0; i < task->dag->call.n; i++) {
		const OpCall *c = &task->dag->call.at[i];
		const OpRow *row = op_row(c->op);
		bool reduces = (row->traits & OP_ROWS) != 0 || is_vector_product(task->dag, c);
		if (row->class != OP_ELEMENTWISE && !reduces)
			return false;
		rows |= reduces;
	}
	return device_lone(target) && rows;
}

static bool run(Sketch *s, Err *err)
{
	if (rows_steps(s))
		return true;
	const Template *other = tmpl_dense.applies(s->task, s->target) ? &tmpl_dense
		: tmpl_pool.applies(s->task, s->target) ? &tmpl_pool : &tmpl_loops;
	return other->run(s, err);
}

const Template tmpl_rows = { .name = "rows",
	.doc = "rows that pass through all nests while they are in cache",
	.applies = applies,
	.run = run };
