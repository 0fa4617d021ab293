/* See dot.h. */
#include "schedule/template/dot.h"

#include "ir/build.h"

static const struct {
	const char *instruction, *feature;
	int lanes;
} rows[] = {
	{ "dpbusd_bcast_i32x16", "avx512vnni", 16 },
	{ "dpbusd_bcast_i32x8", "avx2", 8 },
};

static bool is_byte(const Value *v, DTypeKind kind)
{
	return v->type.kind == kind && v->type.bits == 8;
}

/* The widest instruction whose lanes divide the sums: a part of it would be a predicate in its loops. */
Dot dot_read(const Sketch *s, const OpCall *c, int64_t columns, int64_t depth)
{
	const Dag *d = s->task->dag;
	const Value *x = &d->value.at[c->in[0]], *w = &d->value.at[c->in[1]];
	if (target_has_blocks(s->target) || !is_byte(x, DT_UINT) || !is_byte(w, DT_INT) || w->kind != VALUE_CONST ||
		depth % DOT_STEPS != 0)
		return (Dot){ NULL, 0 };
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (columns % rows[k].lanes == 0 && target_has_named(s->target, rows[k].feature))
			return (Dot){ rows[k].instruction, rows[k].lanes };
	return (Dot){ NULL, 0 };
}

int64_t dot_side(const Buf *b)
{
	int64_t n = 0;
	return b != NULL && b->map.n > b->rank && ir_is_int(b->map.extent[b->map.n - 1], &n) ? n : 0;
}

void dot_cut(Sketch *s, const Dot *dot, Tiled *t, int k)
{
	const char *name = t->reduce[k].name;
	t->dot = dot->instruction;
	t->four = arena_printf(s->arena, "%s.i", name);
	t->reduce[k] = (TileAxis){ arena_printf(s->arena, "%s.o", name), t->reduce[k].extent / DOT_STEPS };
}

void dot_copy(Sketch *s, const Value *image, int64_t block, Tiled *t)
{
	const char *x = image->name;
	int rank = image->shape.rank;
	static const char *const spatial[] = { "", "W", "HW", "DHW" };
	sketch_step(s, "pad %s %s", x, t->block);
	sketch_step(s, "layout %s.b NC%s%lldc", x, spatial[rank - 2], (long long)block);
	const char *lanes = arena_printf(s->arena, "%s.b.1", x), *blocks = lanes;
	Text order = { .arena = s->arena };
	text_add(&order, "%s.b.0", x);
	if (image->shape.dim[1] > block) {
		sketch_step(s, "split %s %lld", lanes, (long long)block);
		blocks = arena_printf(s->arena, "%s.o", lanes);
		lanes = arena_printf(s->arena, "%s.i", lanes);
		text_add(&order, " %s", blocks);
	}
	for (int k = 2; k < rank; k++)
		text_add(&order, " %s.b.%d", x, k);
	sketch_step(s, "reorder %s %s", text_str(&order), lanes);
	sketch_step(s, "vectorize %s", lanes);
	if (s->target->threads > 1)
		sketch_step(s, "parallel %s", blocks != lanes ? blocks : arena_printf(s->arena, "%s.b.2", x));
	t->selects = false;
	t->copied = block;
}

static int64_t attr(const OpCall *c, const char *name, int k, int64_t absent)
{
	int n;
	const int64_t *v = op_ints(c, name, &n);
	return k < n ? v[k] : absent;
}

void dot_turn(Sketch *s, const OpCall *c, const Tiled *t)
{
	const Value *image = &s->task->dag->value.at[c->in[0]], *w = &s->task->dag->value.at[c->in[1]];
	const char *x = image->name;
	if (s->target->threads > 1 && image->shape.rank == 3 && image->shape.dim[1] <= t->copied)
		return; /* threads share the pixels */
	for (int k = image->shape.rank - 1, last = k; k >= 2; k--) {
		int64_t steps = t->axis[k].extent - 1, taps = w->shape.dim[k] - 1, before = attr(c, "pads", k - 2, 0);
		int64_t all = steps * attr(c, "strides", k - 2, 1) + taps * attr(c, "dilations", k - 2, 1) + 1;
		int64_t size = all - before < image->shape.dim[k] ? all - before : image->shape.dim[k];
		const char *loop = arena_printf(s->arena, "%s.b.%d", x, k);
		if (before < 0 || size < 1)
			return;
		if (before > 0) {
			const char *inside = arena_printf(s->arena, "%s.in.%d", x, k);
			sketch_step(s, "cut %s %lld as %s", loop, (long long)before, inside);
			loop = inside;
		}
		if (before + size < all)
			sketch_step(s, "cut %s %lld", loop, (long long)size);
		if (k == last && size > TMPL_DOT_TURN) {
			sketch_step(s, "split %s %d%s", loop, TMPL_DOT_TURN, size % TMPL_DOT_TURN != 0 ? " overlap" : "");
			sketch_step(s, "unroll %s.i", loop);
		}
	}
}

void dot_steps(Sketch *s, const Tiled *t, const Tile *tile, const char *vectors, const char *lanes)
{
	sketch_step(s, "decompose_init %s %s", t->block, tile->reduce[0]);
	sketch_step(s, "tensorize %s %s", lanes, t->dot);
	if (tile->pixel >= 0)
		sketch_step(s, "unroll %s.init", t->axis[tile->pixel].name);
	if (vectors != NULL)
		sketch_step(s, "unroll %s.init", vectors);
	sketch_step(s, "vectorize %s.init", lanes);
}
