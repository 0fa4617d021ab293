/* See loop_part.h: what parts are options, and which one is likely to be the best before anything is known. */
#include "schedule/template/loop_part.h"
#include "schedule/template/tile.h"

#include <math.h>

int loop_part_ask(Sketch *s, const Nest *n, const char *what, const KnobOption *option, int count, int first)
{
	return n->asks ? sketch_knob(s, arena_printf(s->arena, "%s.%s", n->block, what), option, count, first) : first;
}

bool loop_part_flag(Sketch *s, const Nest *n, const char *what, bool first)
{
	return n->asks ? sketch_flag(s, arena_printf(s->arena, "%s.%s", n->block, what), first) : first;
}

KnobOption loop_part_option(const Nest *n, Part p)
{
	if (p.axis < 0)
		return (KnobOption){ .kind = KNOB_WORD, .word = "none" };
	return (KnobOption){ .kind = KNOB_PART, .part = { n->axis[p.axis].name, p.size } };
}

int loop_part_shared(const Sketch *s, const Nest *n)
{
	int k = 0;
	while (k < n->n && (n->axis[k].reduce || n->axis[k].extent < 2))
		k++;
	return s->target->threads > 1 && k < n->n ? k : -1;
}

bool loop_part_overlaps(const Nest *n, Part p)
{
	if (!n->again || p.axis < 0 || p.axis == n->shared || n->axis[p.axis].extent % p.size == 0)
		return false;
	int64_t digit = n->axis[p.axis].digit, all = n->axis[p.axis].extent;
	return digit == 0 || (all - p.size) / digit == (all - 1) / digit;
}

/*
 * How good a vector of `part` lanes along an axis looks before anything is known: that along which results lie side
 * by side is best, then the later ones. Then the elements that an instruction makes count. A part that does not divide
 * the extent needs masks. An axis of up to two registers may be one vector, without masks, and so may one of two or
 * three elements side by side, where loads and stores are all there is. What is stored in an order
 * goes to places that others decide: lanes are for elements side by side alone.
 */
static double vector_promise(const Nest *n, int k, int64_t part, int64_t lanes, bool masks)
{
	enum { AXIS = 1000 };
	const Axis *x = &n->axis[k];
	bool whole = part == x->extent && n->across < 0 && !n->reduces;
	bool light = part == x->extent && k == n->side && !n->series && !n->reduces;
	bool one = masks && n->reduces && part <= lanes; /* loads are most of it, and one makes all lanes */
	bool few = part < TMPL_PROMISING_LANES && part < lanes && !light;
	if ((part > lanes && !whole) || few || (n->scans && k != n->side))
		return 0;
	double masked = loop_part_overlaps(n, (Part){ k, part }) ? TMPL_NEST_AGAIN
		: n->reduces ? TMPL_MASKED_SUMS : n->series ? TMPL_MASKED_SERIES : TMPL_MASKED;
	return (k == n->side ? LOOPS + 1 : k + 1) * AXIS + tile_made(x->extent, part, lanes, !n->series && !one, masked);
}

Part loop_part_vector(Sketch *s, const Nest *n)
{
	Part part[KNOB_OPTIONS] = { { -1, 0 } };
	KnobOption option[KNOB_OPTIONS] = { loop_part_option(n, part[0]) };
	int count = 1, first = 0;
	double best = 0;
	int64_t lanes = target_lanes(s->target, n->type), least = lanes < 8 ? 2 : lanes / 4;
	for (int k = 0; k < n->n; k++) {
		const Axis *x = &n->axis[k];
		if (x->reduce || x->extent < 2)
			continue;
		for (int64_t l = least; l <= lanes * 2 && l <= TMPL_STEP_LANES; l *= 2) {
			Part p = { k, l < x->extent ? l : x->extent };
			if (count == KNOB_OPTIONS || (part[count - 1].axis == k && part[count - 1].size == p.size))
				continue;
			double promise = vector_promise(n, k, p.size, lanes, target_has_masks(s->target, n->type));
			first = promise > best ? count : first;
			best = fmax(best, promise);
			part[count] = p;
			option[count++] = loop_part_option(n, p);
		}
	}
	int picked = loop_part_ask(s, n, "vector", option, count, first);
	if (n->asks)
		sketch_opens(s);
	return part[picked];
}

int loop_part_window(const Nest *n, Part tile)
{
	for (int k = 0; k < n->n && tile.axis >= 0 && n->sums; k++) {
		const Axis *x = &n->axis[k];
		if (x->reduce && !x->scan && x->extent > 1 && x->extent * tile.size <= TMPL_BODY &&
			loop_nest_window(n, tile.axis, k) > 0)
			return k;
	}
	return -1;
}

bool loop_part_window_serves(const Sketch *s, const Nest *n, int k, Part tile)
{
	bool often = n->axis[k].extent >= 2 * loop_nest_window(n, tile.axis, k);
	return 2 * tile.size < tile_registers(s) && (often || !tile_few_registers(s));
}

/* What is added up to each sum. */
static double terms_of(const Nest *n)
{
	double terms = 1;
	for (int k = 0; k < n->n; k++)
		terms *= n->axis[k].reduce ? (double)n->axis[k].extent : 1;
	return terms;
}

/*
 * The part of the core's rate that a tile may reach. A sum waits for the one before it, so as many as hide the latency
 * are computed side by side. More gain nothing, nor do more than a sum has terms: the next tile begins meanwhile. A
 * load that does not depend on the tile's axis serves all of its sums, and one of a window serves as many of them as
 * read it. A written-out window leaves no overhead of a loop to hide. Vectors that no neighbour reads come from farther
 * away than single elements, which share a line of the cache.
 */
static double part_promise(const Sketch *s, const Nest *n, Part p, int vector)
{
	const Core *core = &s->target->core;
	const Axis *x = &n->axis[p.axis];
	double want = tile_hides(core), size = (double)p.size, all = (double)x->extent;
	double used = all / (size * ceil(all / size)), loads = x->loads + (n->loads - x->loads) / size;
	double whole = x->extent % p.size == 0 ? 1 : loop_part_overlaps(n, p) ? TMPL_NEST_AGAIN : TMPL_NEST_GUARDED;
	int k = loop_part_window(n, p);
	if (k >= 0 && loop_part_window_serves(s, n, k, p)) {
		double taps = (double)n->axis[k].extent, step = (double)loop_nest_window(n, p.axis, k);
		loads -= 1 - fmin(1, ((size - 1) * step + taps) / (size * taps));
		want /= TMPL_HIDES;
		whole *= 1 + TMPL_PIXEL_BONUS / loads;
	} else if (loop_nest_reads_along(n, p.axis, vector)) {
		whole *= TMPL_NEST_APART;
	}
	want = fmin(want, terms_of(n));
	return whole * used * fmin(1, size / want) * fmin(1, core->loads / (core->fma_rate * fmax(loads, 1e-9)));
}

/*
 * A few iterations of another axis than the vector's: even numbers that leave little empty, and parts of the axis.
 * Each has a sum, and may have an operand of its own, so half of the registers bound them. Where that operand is one
 * element, parts of the axis may have as many sums as hide their latency. A transpose takes columns that are turned in
 * least time, no more than lie in a line that it reads.
 */
Part loop_part_tile(Sketch *s, const Nest *n, Part vec)
{
	int vector = vec.axis;
	Part part[KNOB_OPTIONS] = { { -1, 0 } };
	KnobOption option[KNOB_OPTIONS] = { loop_part_option(n, part[0]) };
	int64_t line = (int64_t)s->target->line_bytes * 8 / (n->type.bits > 0 ? n->type.bits : 8);
	int64_t half = tile_registers(s) / 2, spared = tile_registers(s) - TMPL_NEST_SPARE;
	int64_t hide = (int64_t)fmin((double)spared, tile_hides(&s->target->core));
	int count = 1, first = 0;
	double best = 0;
	for (int k = 0; k < n->n; k++) {
		bool scalars = n->sums && vector >= 0 && !loop_nest_reads_along(n, k, vector);
		int64_t most = scalars && hide > half ? hide : half;
		for (int64_t size = 2, x = n->axis[k].extent; size <= x && size <= most; size++) {
			bool fits = x % size == 0 || (size % 2 == 0 && size <= half && tile_wastes_little(x, size));
			if (fits && !n->axis[k].reduce && k != vector && count < KNOB_OPTIONS) {
				part[count] = (Part){ k, size };
				option[count] = loop_part_option(n, part[count]);
				double promise = n->reduces && vector >= 0 ? part_promise(s, n, part[count], vector) : 0;
				if (k == n->across && vec.axis >= 0 && size <= line)
					promise = 1 / loop_nest_turns(n, k, size, vec.axis, vec.size);
				if (promise > best) {
					best = promise;
					first = count;
				}
				count++;
			}
		}
	}
	int picked = loop_part_ask(s, n, "tile", option, count, first);
	if (n->asks)
		sketch_opens(s);
	return part[picked];
}
