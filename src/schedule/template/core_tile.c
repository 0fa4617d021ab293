/*
 * Products in the matrix units of a GPU. A block's tile is shared out among warps by rows and columns, a warp's among
 * pieces of 16 x 8 sums, which an instruction of src/ir/text/intrin.def multiplies:
 *
 *	for grid.. { for warps.. { init }
 *	             for rounds.. { copies to shared memory
 *	                            for warps.. { for steps.. { fragments; for pieces.. { mma }}}}
 *	             for warps.. { for pieces.. { epilogue }}}
 *
 * Left out: ldmatrix, and a first factor that has rows side by side.
 */
#include "schedule/template/core_tile.h"

#include "op/op.h"
#include "schedule/template/block.h"
#include "target/capability.h"
#include "target/occupancy.h"

#include <math.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 8, LANES = 32, SHAPES = 8, WAYS = 4 };

static const struct CoreRow {
	const char *name, *feature;
	DType type;
	int depth;
	bool tf32; /* only where the call allows its factors to lose bits */
} core_rows[] = {
	{ "mma_m16n8k16_f16", "sm_80", { DT_FLOAT, 16, 1 }, 16, false },
	{ "mma_m16n8k16_bf16", "sm_80", { DT_BFLOAT, 16, 1 }, 16, false },
	{ "mma_m16n8k8_f16", "sm_75", { DT_FLOAT, 16, 1 }, 8, false },
	{ "mma_m16n8k8_tf32", "sm_80", { DT_FLOAT, 32, 1 }, 8, true },
};
enum { CORE_ROWS = sizeof core_rows / sizeof *core_rows };

static int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static bool allows_tf32(const OpCall *c)
{
	AttrKind kind;
	const char *dflt;
	return op_find_attr(c->op, "tf32", &kind, &dflt) && op_int(c, "tf32") != 0;
}

int core_knob(Sketch *s, const OpCall *c, const CoreTile *t)
{
	const char *word[CORE_ROWS + 1] = { "none" };
	int row[CORE_ROWS + 1] = { -1 }, n = 1;
	bool f32 = dtype_eq(t->sum, F32), fits = t->axis[0].extent >= ROWS && t->axis[1].extent >= COLUMNS;
	for (int k = 0; k < CORE_ROWS; k++) {
		const struct CoreRow *r = &core_rows[k];
		if (!f32 || !fits || !dtype_eq(r->type, t->type) || !target_has_named(s->target, r->feature) ||
			(r->tf32 && !allows_tf32(c)) || t->reduce.extent < r->depth)
			continue;
		row[n] = k;
		word[n++] = r->name;
	}
	int picked = row[sketch_word(s, "cores", word, n, n > 1)];
	if (n > 1)
		sketch_opens(s);
	return picked;
}

/* ---- how large ---- */

typedef struct CoreShape {
	int64_t warps[2], pieces[2]; /* by rows, by columns */
} CoreShape;

static int64_t part_of(const CoreShape *x, int side)
{
	return x->warps[side] * x->pieces[side] * (side == 0 ? ROWS : COLUMNS);
}

/* Of the busiest unit: its blocks' products, and what they copy. */
static double time_of(const Sketch *s, const CoreTile *t, const CoreShape *x)
{
	int64_t m = part_of(x, 0), n = part_of(x, 1);
	int64_t blocks = t->blocks * ceil_div(t->axis[0].extent, m) * ceil_div(t->axis[1].extent, n);
	int64_t each = ceil_div(blocks, s->target->cores > 0 ? s->target->cores : 1);
	double warps = fmin(1, (double)(each * x->warps[0] * x->warps[1]) / TMPL_CORE_WARPS);
	return (double)each * ((double)(m * n) + TMPL_CORE_COPY * (double)(m + n)) / warps;
}

static bool fits(const Sketch *s, const CoreTile *t, const CoreShape *x, int64_t inner)
{
	int64_t gap = 128 / t->type.bits, shared = device_shared(s->target);
	int64_t bytes = dtype_bytes(t->type, (part_of(x, 0) + part_of(x, 1)) * (inner + gap));
	int64_t registers = x->pieces[0] * x->pieces[1] * TMPL_CORE_PIECE + TMPL_CORE_REGISTERS +
		(x->pieces[0] + x->pieces[1]) * TMPL_CORE_SIDE;
	int most = target_thread_regs(s->target, (int)(x->warps[0] * x->warps[1] * LANES));
	return part_of(x, 0) <= t->axis[0].extent && part_of(x, 1) <= t->axis[1].extent &&
		(most == 0 || registers <= most) && bytes <= shared;
}

static int ask_pair(Sketch *s, const char *name, int64_t (*pair)[2], const double *time, int n)
{
	const char *word[KNOB_OPTIONS];
	int first = 0;
	for (int k = 0; k < n; k++) {
		word[k] = arena_printf(s->arena, "%lldx%lld", (long long)pair[k][0], (long long)pair[k][1]);
		first = time[k] < time[first] ? k : first;
	}
	int picked = sketch_word(s, name, word, n, first);
	sketch_opens(s);
	return picked;
}

/* Powers of two up to `most` by rows and columns, that fit; how many. In time[] the best with any pieces. */
static int pairs_of(const Sketch *s, const CoreTile *t, const CoreShape *warps, int64_t most, int64_t (*pair)[2],
	double *time)
{
	int n = 0;
	for (int64_t i = 1; i <= most; i *= 2)
		for (int64_t j = 1; j <= most; j *= 2) {
			double best = INFINITY;
			for (int64_t p = 1; p <= (warps != NULL ? 1 : most); p *= 2)
				for (int64_t q = 1; q <= (warps != NULL ? 1 : most); q *= 2) {
					CoreShape x = { { i, j }, { p, q } };
					if (warps != NULL)
						x = (CoreShape){ { warps->warps[0], warps->warps[1] }, { i, j } };
					if (fits(s, t, &x, t->depth))
						best = fmin(best, time_of(s, t, &x));
				}
			bool many = warps == NULL && i * j * LANES > TMPL_COOP_THREADS;
			if (!isfinite(best) || many || n == KNOB_OPTIONS)
				continue;
			pair[n][0] = i;
			pair[n][1] = j;
			time[n++] = best;
		}
	return n;
}

/* Products of a round, and the rounds that are under way ahead. */
static void ask_rounds(Sketch *s, const CoreTile *t, const CoreShape *x, int64_t *inner, int64_t *stages)
{
	int64_t option[KNOB_OPTIONS];
	int n = 0, first = 0;
	for (int64_t k = t->depth; k <= TMPL_CORE_ROUND && k < t->reduce.extent + t->depth; k *= 2) {
		if (n > 0 && !fits(s, t, x, k))
			continue;
		first = k * t->type.bits <= TMPL_CORE_FIRST_BITS ? n : first;
		option[n++] = k;
	}
	*inner = sketch_number(s, "round", option, n, first);
	sketch_opens(s);
	n = first = 0;
	option[n++] = 1;
	for (int64_t k = 2; k <= WAYS && target_capability(s->target)->copies; k++) {
		int64_t rounds = ceil_div(t->reduce.extent, *inner);
		CoreShape all = *x;
		if (k > rounds || !fits(s, t, &all, k * (*inner + 128 / t->type.bits)))
			break;
		first = k <= TMPL_CORE_STAGES ? n : first;
		option[n++] = k;
	}
	*stages = sketch_number(s, "stages", option, n, first);
}

/* ---- steps ---- */

static const char *dotted(Sketch *s, const char *name, const char *part)
{
	return arena_printf(s->arena, "%s.%s", name, part);
}

/* The loops of a copy that its threads share: block.z and .y are warps, .x lanes. Bound later. */
typedef struct Copy {
	const char *name, *all;
	int64_t elements, lanes;
} Copy;

static void copy_split(Sketch *s, const CoreFactor *f, int64_t side, int64_t inner, Copy *c)
{
	int last = f->rank - 1;
	c->elements = side * inner;
	c->all = arena_printf(s->arena, "%s.f", c->name);
	sketch_step(s, "fuse %s.%d %s.%d as %s", c->name, last - 1, c->name, last, c->all);
	if (c->lanes > 1)
		sketch_step(s, "split %s %lld as %s.e %s.v", c->all, (long long)c->lanes, c->all, c->all);
}

static void copy_bind(Sketch *s, const CoreShape *x, const Copy *c)
{
	const char *t = c->lanes > 1 ? dotted(s, c->all, "e") : c->all;
	int64_t loads = ceil_div(c->elements, c->lanes), warps = x->warps[0] * x->warps[1];
	if (loads > warps * LANES) {
		sketch_step(s, "split %s %lld as %s.r %s.t", t, (long long)(warps * LANES), c->all, c->all);
		t = dotted(s, c->all, "t");
		loads = warps * LANES;
	}
	if (loads <= LANES) {
		sketch_step(s, "bind %s block.x", t);
		return;
	}
	sketch_step(s, "split %s %d as %s.w %s.x", t, LANES, c->all, c->all);
	if (ceil_div(loads, LANES) > x->warps[1]) {
		sketch_step(s, "split %s.w %lld as %s.z %s.y", c->all, (long long)x->warps[1], c->all, c->all);
		sketch_step(s, "bind %s.z block.z", c->all);
		sketch_step(s, "bind %s.y block.y", c->all);
	} else {
		sketch_step(s, "bind %s.w block.y", c->all);
	}
	sketch_step(s, "bind %s.x block.x", c->all);
}

/* The loops of a fragment's copy: pieces, then a tile of the instruction. */
static void fragment_split(Sketch *s, const CoreFactor *f, const char *name, int64_t size)
{
	int last = f->rank - 1, side = f->by_inner ? last : last - 1;
	sketch_step(s, "split %s.%d %lld as %s.p %s.s", name, side, (long long)size, name, name);
	if (f->by_inner)
		sketch_step(s, "reorder %s.p %s.%d %s.s", name, name, last - 1, name);
}

static void steps(Sketch *s, const Tiled *t, const CoreTile *c, const CoreShape *x, int64_t inner, int64_t stages,
	const char *intrin)
{
	const char *m = c->axis[0].name, *n = c->axis[1].name, *k = c->reduce.name, *b = t->block;
	int64_t bm = part_of(x, 0), bn = part_of(x, 1), wm = x->pieces[0] * ROWS, wn = x->pieces[1] * COLUMNS;
	TileAxis grid[TILE_AXES + 2];
	int ngrid = 0;
	Text line = { .arena = s->arena };
	coop_begin(s, t);
	for (int i = 0; i < c->nouter; i++)
		text_add(&line, " %s", (grid[ngrid++] = c->outer[i]).name);
	grid[ngrid++] = (TileAxis){ dotted(s, b, "gm"), ceil_div(c->axis[0].extent, bm) };
	grid[ngrid++] = (TileAxis){ dotted(s, b, "gn"), ceil_div(c->axis[1].extent, bn) };
	sketch_step(s, "split %s %lld as %s.gm %s.tm", c->out[0], (long long)bm, b, b);
	sketch_step(s, "split %s %lld as %s.gn %s.tn", c->out[1], (long long)bn, b, b);
	sketch_step(s, "reorder%s %s.gm %s.gn %s.tm %s.tn", text_str(&line), b, b, b, b);
	if (c->axis[0].extent % bm != 0)
		sketch_step(s, "widen %s %s %lld", b, m, (long long)bm);
	if (c->axis[1].extent % bn != 0)
		sketch_step(s, "widen %s %s %lld", b, n, (long long)bn);
	if (c->reduce.extent % inner != 0)
		sketch_step(s, "widen %s %s %lld", b, k, (long long)inner);
	sketch_step(s, "pad %s %s as af", c->factor[0].name, b);
	sketch_step(s, "pad %s %s as bf", c->factor[1].name, b);
	sketch_step(s, "pad %s af as xs", c->factor[0].name);
	sketch_step(s, "pad %s bf as ws", c->factor[1].name);
	sketch_step(s, "compute_at %s %s.gn", b, b);
	sketch_step(s, "split %s %lld as %s.wm %s.m", m, (long long)wm, b, b);
	sketch_step(s, "split %s.m %d as %s.pm %s.im", b, ROWS, b, b);
	sketch_step(s, "split %s %lld as %s.wn %s.n", n, (long long)wn, b, b);
	sketch_step(s, "split %s.n %d as %s.pn %s.in", b, COLUMNS, b, b);
	sketch_step(s, "split %s %lld as %s.ko %s.k", k, (long long)inner, b, b);
	sketch_step(s, "split %s.k %lld as %s.kp %s.ik", b, (long long)c->depth, b, b);
	sketch_step(s, "reorder %s.ko %s.wm %s.wn %s.kp %s.pm %s.pn %s.im %s.in %s.ik", b, b, b, b, b, b, b, b, b);
	sketch_step(s, "compute_at af %s.kp", b);
	sketch_step(s, "compute_at bf %s.kp", b);
	sketch_step(s, "compute_at xs %s.ko", b);
	sketch_step(s, "compute_at ws %s.ko", b);
	sketch_step(s, "decompose_init %s %s.ko", b, b);
	fragment_split(s, &c->factor[0], "af", ROWS);
	fragment_split(s, &c->factor[1], "bf", COLUMNS);
	sketch_step(s, "split %s.tm %lld as %s.vm %s.tmi", b, (long long)wm, b, b);
	sketch_step(s, "split %s.tmi %d as %s.qm %s.jm", b, ROWS, b, b);
	sketch_step(s, "split %s.tn %lld as %s.vn %s.tni", b, (long long)wn, b, b);
	sketch_step(s, "split %s.tni %d as %s.qn %s.jn", b, COLUMNS, b, b);
	sketch_step(s, "reorder %s.vm %s.vn %s.qm %s.qn %s.jm %s.jn", b, b, b, b, b, b);
	Copy copy[2] = { { .name = "xs", .lanes = 1 }, { .name = "ws", .lanes = 1 } };
	for (int i = 0; i < 2; i++) {
		int64_t side = i == 0 ? bm : bn, by = c->factor[i].by_inner ? side : inner;
		bool whole = c->axis[i].extent % side == 0 && c->reduce.extent % inner == 0;
		copy[i].lanes = whole ? coop_lanes(s, c->type, by) : 1;
		copy_split(s, &c->factor[i], side, inner, &copy[i]);
	}
	device_bind_grid(s, grid, ngrid);
	sketch_step(s, "scope %s shared", t->sums); /* until all warps are bound */
	sketch_step(s, "scope xs shared");
	sketch_step(s, "scope ws shared");
	static const char *const by_rows[] = { "wm.init", "wm", "vm" }, *const by_columns[] = { "wn.init", "wn", "vn" };
	for (int i = 0; i < 3; i++) {
		sketch_step(s, "bind %s.%s block.z", b, by_rows[i]);
		sketch_step(s, "bind %s.%s block.y", b, by_columns[i]);
	}
	copy_bind(s, x, &copy[0]);
	copy_bind(s, x, &copy[1]);
	sketch_step(s, "scope %s fragment", t->sums);
	sketch_step(s, "scope af fragment");
	sketch_step(s, "scope bf fragment");
	sketch_step(s, "gap xs %d %d", c->factor[0].rank, 128 / c->type.bits);
	sketch_step(s, "gap ws %d %d", c->factor[1].rank, 128 / c->type.bits);
	for (int i = 0; i < 2; i++)
		if (copy[i].lanes > 1)
			sketch_step(s, "vectorize %s.v", copy[i].all);
	if (stages > 1)
		sketch_step(s, "pipeline %s.ko %lld", b, (long long)stages);
	sketch_step(s, "tensorize %s.im %s%s", b, intrin, c->factor[1].by_inner ? "" : "_nt");
	static const char *const written[] = { "kp", "pm", "pn", "qm", "qn", "pm.init", "pn.init" };
	for (size_t i = 0; i < sizeof written / sizeof *written; i++)
		sketch_step(s, "unroll %s.%s", b, written[i]);
	sketch_step(s, "unroll af.p");
	sketch_step(s, "unroll bf.p");
}

bool core_tiles(Sketch *s, const Tiled *t, CoreTile *c, int row)
{
	int64_t pair[KNOB_OPTIONS][2], inner, stages;
	double time[KNOB_OPTIONS];
	CoreShape x = { { 1, 1 }, { 1, 1 } };
	c->depth = core_rows[row].depth;
	int n = pairs_of(s, c, NULL, SHAPES, pair, time);
	if (n == 0)
		return false;
	memcpy(x.warps, pair[ask_pair(s, "warps", pair, time, n)], sizeof x.warps);
	n = pairs_of(s, c, &x, SHAPES, pair, time);
	if (n == 0)
		return false;
	memcpy(x.pieces, pair[ask_pair(s, "pieces", pair, time, n)], sizeof x.pieces);
	ask_rounds(s, c, &x, &inner, &stages);
	steps(s, t, c, &x, inner, stages, core_rows[row].name);
	return true;
}
