/*
 * Products in the matrix units of a GPU. A block's tile is shared out among warps by rows and columns, a warp's among
 * pieces of 16 x 8 sums, which an instruction of src/ir/text/intrin.def multiplies:
 *
 *	for grid.. { for warps.. { init }
 *	             for rounds.. { copies to shared memory
 *	                            for warps.. { for steps.. { fragments; for pieces.. { mma }}}}
 *	             for warps.. { for pieces.. { epilogue }}}
 *
 * core_shape.c has the shapes.
 */
#include "schedule/template/core_tile.h"

#include "ir/text/intrin.h"
#include "schedule/template/block.h"

enum { LANES = 32 };

static const char *const shared[CORE_SIDES] = { "xs", "ws" }, *const fragment[CORE_SIDES] = { "af", "bf" };

static const char *dotted(Sketch *s, const char *name, const char *part)
{
	return arena_printf(s->arena, "%s.%s", name, part);
}

/* The loops of a copy that its threads share: block.z and .y are warps, .x lanes. Bound later. */
typedef struct Copy {
	const char *name, *all;
	int64_t elements, lanes;
	const char *written; /* the loop over a thread's loads in flight at once; NULL: there is one load */
} Copy;

/* Neighbouring threads copy contiguous elements: the loop over these is the inner one. Other loops run once. */
static void copy_split(Sketch *s, const CoreFactor *f, Copy *c)
{
	static const char letter[] = "NCHWD", image[] = "NCW";
	int last = f->along ? f->side : f->inner, before = f->along ? f->inner : f->side;
	Text loops = { .arena = s->arena }, layout = { .arena = s->arena };
	c->all = arena_printf(s->arena, "%s.f", c->name);
	for (int k = 0; k < f->rank; k++) {
		bool other = k != last && k != before;
		text_add(&loops, other ? " %s.%d" : "", c->name, k);
		text_add(&layout, other ? "%c" : "", (f->rank == 3 ? image : letter)[k]);
	}
	const char *names = f->rank == 3 ? image : letter;
	text_add(&layout, "%c%c", names[before], names[last]);
	if (before + 1 != last || last + 1 != f->rank)
		sketch_step(s, "reorder%s %s.%d %s.%d", text_str(&loops), c->name, before, c->name, last);
	if (last + 1 != f->rank || before + 1 != last)
		sketch_step(s, "layout %s %s", c->name, text_str(&layout));
	sketch_step(s, "fuse %s.%d %s.%d as %s", c->name, before, c->name, last, c->all);
	if (c->lanes > 1)
		sketch_step(s, "split %s %lld as %s.e %s.v", c->all, (long long)c->lanes, c->all, c->all);
}

static void copy_bind(Sketch *s, const CoreShape *x, Copy *c)
{
	const char *t = c->lanes > 1 ? dotted(s, c->all, "e") : c->all;
	int64_t loads = ceil_div(c->elements, c->lanes), warps = x->warps[0] * x->warps[1];
	if (loads > warps * LANES) {
		sketch_step(s, "split %s %lld as %s.r %s.t", t, (long long)(warps * LANES), c->all, c->all);
		t = dotted(s, c->all, "t");
		c->written = dotted(s, c->all, "r");
		if (loads > warps * LANES * TMPL_CORE_COPIES) {
			sketch_step(s, "split %s.r %d as %s.q %s.c", c->all, TMPL_CORE_COPIES, c->all, c->all);
			c->written = dotted(s, c->all, "c");
		}
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
	bool by_inner = f->inner < f->side;
	Text others = { .arena = s->arena };
	sketch_step(s, "split %s.%d %lld as %s.p %s.s", name, f->side, (long long)size, name, name);
	for (int k = 0; k < f->rank; k++)
		if (k != f->side && k != f->inner && (k > f->side || k > f->inner))
			text_add(&others, " %s.%d", name, k);
	if (by_inner)
		sketch_step(s, "reorder%s %s.p %s.%d %s.s", text_str(&others), name, name, f->inner, name);
	else if (text_str(&others)[0] != 0)
		sketch_step(s, "reorder%s %s.p %s.s %s.%d", text_str(&others), name, name, name, f->inner);
}

/* ldmatrix loads a fragment as matrices of 8 rows. It cannot transpose those of tf32. */
static void load_matrices(Sketch *s, const CoreTile *c, const CoreRow *row, int i)
{
	const CoreFactor *f = &c->factor[i];
	int64_t side = i == 0 ? CORE_ROWS : CORE_COLUMNS;
	const char *type = c->type.bits == 32 ? "f32" : c->type.kind == DT_FLOAT ? "f16" : "bf16";
	bool by_inner = f->inner < f->side, lies = c->type.bits == 16 || f->along == by_inner;
	if (!lies || !target_has_named(s->target, ir_find_intrin("ldmatrix_16x8_f16")->feature))
		return;
	const char *first = by_inner ? arena_printf(s->arena, "%d", f->inner) : "s";
	sketch_step(s, "tensorize %s.%s ldmatrix_%lldx%lld_%s", fragment[i], first,
		(long long)(by_inner ? row->depth : side), (long long)(by_inner ? side : row->depth), type);
}

/*
 * Two accesses must use all banks: the eight rows of 16 bytes of a matrix, and the eight neighbouring pieces of 16
 * bytes that threads copy. So rows that fill all banks together are swizzled alike.
 */
static void spread_banks(Sketch *s, const CoreTile *c, const CoreShape *x, int i)
{
	enum { PIECES = 8 /* of 16 bytes, in all banks */ };
	int64_t gap = core_gap(c, x, i), piece = 128 / c->type.bits, row = core_row(c, x, i) / piece;
	if (gap > 0)
		sketch_step(s, "gap %s %d %lld", shared[i], c->factor[i].rank, (long long)gap);
	else if (row > 1)
		sketch_step(s, "swizzle %s %lld %lld %lld", shared[i], (long long)(row < PIECES ? row : PIECES),
			(long long)piece, (long long)(row < PIECES ? PIECES / row : 1));
}

/* The nest that stores the result: each iteration of its outer loops is a block's tile. */
static void grid_steps(Sketch *s, const Tiled *t, const CoreTile *c, const CoreShape *x, TileAxis *grid, int *n)
{
	static const char *const outer[CORE_SIDES] = { "gm", "gn" }, *const inner[CORE_SIDES] = { "tm", "tn" };
	const char *b = t->block;
	Text line = { .arena = s->arena };
	for (int i = 0; i < c->nouter; i++)
		text_add(&line, " %s", (grid[(*n)++] = c->outer[i]).name);
	for (int i = 0; i < CORE_SIDES; i++) {
		int64_t part = core_part(x, i);
		grid[(*n)++] = (TileAxis){ dotted(s, b, outer[i]), ceil_div(c->axis[i].extent, part) };
		sketch_step(s, "split %s %lld as %s.%s %s.%s", c->out[i], (long long)part, b, outer[i], b, inner[i]);
	}
	sketch_step(s, "reorder%s %s.gm %s.gn %s.tm %s.tn", text_str(&line), b, b, b, b);
}

/* Whole tiles of the reduction, whose factors are copied through shared memory. */
static void factor_steps(Sketch *s, const Tiled *t, const CoreTile *c, const CoreShape *x)
{
	for (int i = 0; i < CORE_SIDES; i++)
		if (c->axis[i].extent % core_part(x, i) != 0)
			sketch_step(s, "widen %s %s %lld", t->block, c->axis[i].name, (long long)core_part(x, i));
	if (c->reduce.extent % x->inner != 0)
		sketch_step(s, "widen %s %s %lld", t->block, c->reduce.name, (long long)x->inner);
	for (int i = 0; i < 2 * CORE_SIDES; i++) {
		const CoreFactor *f = &c->factor[i % CORE_SIDES];
		const char *from = i < CORE_SIDES ? t->block : fragment[i % CORE_SIDES];
		const char *to = (i < CORE_SIDES ? fragment : shared)[i % CORE_SIDES];
		sketch_step(s, "%s %s %s as %s", f->gathers ? "reindex" : "pad", f->name, from, to);
	}
}

static void tile_of(Sketch *s, const Tiled *t, const CoreTile *c, const CoreRow *row, const CoreShape *x)
{
	const char *m = c->axis[0].name, *n = c->axis[1].name, *k = c->reduce.name, *b = t->block;
	int64_t wm = x->pieces[0] * CORE_ROWS, wn = x->pieces[1] * CORE_COLUMNS;
	sketch_step(s, "compute_at %s %s.gn%s", b, b, c->as != NULL ? c->as : "");
	sketch_step(s, "split %s %lld as %s.wm %s.m", m, (long long)wm, b, b);
	sketch_step(s, "split %s.m %d as %s.pm %s.im", b, CORE_ROWS, b, b);
	sketch_step(s, "split %s %lld as %s.wn %s.n", n, (long long)wn, b, b);
	sketch_step(s, "split %s.n %d as %s.pn %s.in", b, CORE_COLUMNS, b, b);
	sketch_step(s, "split %s %lld as %s.ko %s.k", k, (long long)x->inner, b, b);
	sketch_step(s, "split %s.k %d as %s.kp %s.ik", b, row->depth, b, b);
	const char *rest = c->rest != NULL ? arena_printf(s->arena, " %s", c->rest) : "";
	sketch_step(s, "reorder%s %s.ko %s.wm %s.wn %s.kp %s.pm %s.pn %s.im %s.in %s.ik", rest, b, b, b, b, b, b, b, b, b);
	for (int i = 0; i < CORE_SIDES; i++)
		sketch_step(s, "compute_at %s %s.kp", fragment[i], b);
	for (int i = 0; i < CORE_SIDES; i++)
		sketch_step(s, "compute_at %s %s.ko", shared[i], b);
	sketch_step(s, "decompose_init %s %s.ko", b, b);
	fragment_split(s, &c->factor[0], "af", CORE_ROWS);
	fragment_split(s, &c->factor[1], "bf", CORE_COLUMNS);
	sketch_step(s, "split %s.tm %lld as %s.vm %s.tmi", b, (long long)wm, b, b);
	sketch_step(s, "split %s.tmi %d as %s.qm %s.jm", b, CORE_ROWS, b, b);
	sketch_step(s, "split %s.tn %lld as %s.vn %s.tni", b, (long long)wn, b, b);
	sketch_step(s, "split %s.tni %d as %s.qn %s.jn", b, CORE_COLUMNS, b, b);
	sketch_step(s, "reorder %s.vm %s.vn %s.qm %s.qn %s.jm %s.jn", b, b, b, b, b, b);
}

static void bind_steps(Sketch *s, const Tiled *t, const CoreShape *x, Copy *copy)
{
	static const char *const by_rows[] = { "wm.init", "wm", "vm" }, *const by_columns[] = { "wn.init", "wn", "vn" };
	sketch_step(s, "scope %s shared", t->sums); /* until all warps are bound */
	for (int i = 0; i < CORE_SIDES; i++)
		sketch_step(s, "scope %s shared", shared[i]);
	for (int i = 0; i < 3; i++) {
		sketch_step(s, "bind %s.%s block.z", t->block, by_rows[i]);
		sketch_step(s, "bind %s.%s block.y", t->block, by_columns[i]);
	}
	for (int i = 0; i < CORE_SIDES; i++)
		copy_bind(s, x, &copy[i]);
	sketch_step(s, "scope %s fragment", t->sums);
	for (int i = 0; i < CORE_SIDES; i++)
		sketch_step(s, "scope %s fragment", fragment[i]);
}

Tiled core_split_steps(Sketch *s, const Tiled *t, CoreTile *c, const CoreShape *x, bool by_columns)
{
	static const char *const in[CORE_SIDES] = { "row.p", "column.p" }, *const out[CORE_SIDES] = { "row.w", "column.w" };
	const char *store = t->bare ? arena_printf(s->arena, "%s.write", t->block) : t->last;
	const char *row = c->axis[0].name, *column = c->axis[1].name;
	Tiled partial = *t;
	if (by_columns && !c->own_axes)
		sketch_step(s, "reorder %s %s", c->out[0], c->out[1]);
	if (!c->own_axes)
		sketch_step(s, "merge %s %s %s as joined", store, c->out[!by_columns], c->out[by_columns]);
	for (int i = 0; i < CORE_SIDES; i++) {
		int64_t part = core_part(x, i);
		if (c->axis[i].extent % part != 0)
			sketch_step(s, "widen %s %s %lld", t->block, c->axis[i].name, (long long)part);
		c->axis[i] = (TileAxis){ in[i], ceil_div(c->axis[i].extent, part) * part };
		c->out[i] = out[i];
		if (c->factor[i].gathers) { /* side, part, products of it */
			c->factor[i].rank = 3;
			c->factor[i].inner = 2;
		}
	}
	sketch_step(s, "split %s %lld as part products", c->reduce.name, (long long)c->reduce.extent);
	sketch_step(s, "reorder part %s %s products", row, column);
	sketch_step(s, "rfactor %s part as partial", t->block);
	sketch_step(s, "scope partial global");
	sketch_step(s, "cache_write partial as partial.c partial.write part.w row.w column.w");
	if (!by_columns)
		sketch_step(s, "layout partial NWC");
	c->as = " as row.p column.p part.p product.p";
	c->rest = "part.p";
	c->reduce.name = "product.p";
	c->outer[c->nouter++] = (TileAxis){ "part.w", c->parts };
	partial.block = "partial";
	partial.sums = "partial.c";
	return partial;
}

void core_steps(Sketch *s, const Tiled *t, const CoreTile *c, const CoreRow *row, const CoreShape *x)
{
	static const char *const written[] = { "kp", "pm", "pn", "qm", "qn", "pm.init", "pn.init" };
	const char *b = t->block;
	TileAxis grid[TILE_AXES + CORE_SIDES];
	Copy copy[CORE_SIDES];
	int ngrid = 0;
	grid_steps(s, t, c, x, grid, &ngrid);
	factor_steps(s, t, c, x);
	tile_of(s, t, c, row, x);
	for (int i = 0; i < CORE_SIDES; i++) {
		copy[i] = (Copy){ shared[i], NULL, core_part(x, i) * x->inner, core_lanes(s, c, x, i), NULL };
		copy_split(s, &c->factor[i], &copy[i]);
	}
	for (int k = 0; c->own_axes && k < ngrid; k++)
		sketch_step(s, "bind %s grid.%c", grid[k].name, "xyz"[ngrid - 1 - k]);
	if (!c->own_axes)
		device_bind_grid(s, grid, ngrid);
	bind_steps(s, t, x, copy);
	for (int i = 0; i < CORE_SIDES; i++)
		spread_banks(s, c, x, i);
	for (int i = 0; i < CORE_SIDES; i++)
		if (copy[i].lanes > 1)
			sketch_step(s, "vectorize %s.v", copy[i].all);
	if (x->stages > 1)
		sketch_step(s, "pipeline %s.ko %lld", b, (long long)x->stages);
	for (int i = 0; i < CORE_SIDES; i++)
		load_matrices(s, c, row, i);
	sketch_step(s, "tensorize %s.im %s%s", b, row->name, c->factor[1].inner < c->factor[1].side ? "" : "_nt");
	for (size_t i = 0; i < sizeof written / sizeof *written; i++)
		sketch_step(s, "unroll %s.%s", b, written[i]);
	for (int i = 0; i < CORE_SIDES; i++) {
		sketch_step(s, "unroll %s.p", fragment[i]);
		if (copy[i].written != NULL)
			sketch_step(s, "unroll %s", copy[i].written);
	}
}
