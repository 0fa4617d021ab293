/*
 * The sizes of tiles in matrix units: which ones a device can run, and which one is likely best. An estimate of the
 * time of the busiest unit ranks warps and pieces. The knobs offer all that fit.
 */
#include "schedule/template/core_tile.h"

#include "ir/text/intrin.h"
#include "op/op.h"
#include "schedule/template/block.h"
#include "target/capability.h"
#include "target/occupancy.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { LANES = 32, WAYS = 4 };

static const CoreRow core_rows[] = {
	{ "mma_m16n8k16_f16", { DT_FLOAT, 16, 1 }, 16, false },
	{ "mma_m16n8k16_bf16", { DT_BFLOAT, 16, 1 }, 16, false },
	{ "mma_m16n8k8_f16", { DT_FLOAT, 16, 1 }, 8, false },
	{ "mma_m16n8k8_tf32", { DT_FLOAT, 32, 1 }, 8, true },
};
enum { ROWS = sizeof core_rows / sizeof *core_rows };

static bool allows_tf32(const OpCall *c)
{
	AttrKind kind;
	const char *dflt;
	return op_find_attr(c->op, "tf32", &kind, &dflt) && op_int(c, "tf32") != 0;
}

const CoreRow *core_knob(Sketch *s, const OpCall *c, const CoreTile *t)
{
	const char *word[ROWS + 1] = { "none" };
	const CoreRow *row[ROWS + 1] = { NULL };
	int n = 1;
	bool f32 = dtype_eq(t->sum, F32), fits = t->axis[0].extent >= CORE_ROWS && t->axis[1].extent >= CORE_COLUMNS;
	for (int k = 0; k < ROWS; k++) {
		const CoreRow *r = &core_rows[k];
		if (!f32 || !fits || !dtype_eq(r->type, t->type) ||
			!target_has_named(s->target, ir_find_intrin(r->name)->feature) || (r->tf32 && !allows_tf32(c)) ||
			t->reduce.extent < r->depth)
			continue;
		row[n] = r;
		word[n++] = r->name;
	}
	const CoreRow *picked = row[sketch_word(s, "cores", word, n, n > 1)];
	if (n > 1)
		sketch_opens(s);
	return picked;
}

/* ---- resources ---- */

int64_t core_part(const CoreShape *x, int side)
{
	return x->warps[side] * x->pieces[side] * (side == 0 ? CORE_ROWS : CORE_COLUMNS);
}

CoopJoin core_join(const CoreTile *t, const CoreShape *x)
{
	return (CoopJoin){ .parts = t->parts, .results = core_part(x, 0) * core_part(x, 1),
		.threads = { LANES, x->warps[1], x->warps[0] }, .sum = t->sum };
}

int64_t core_lanes(const Sketch *s, const CoreTile *t, const CoreShape *x, int side)
{
	const CoreFactor *f = &t->factor[side];
	int64_t part = f->along ? core_part(x, side) : x->inner;
	int64_t extent = f->along ? t->axis[side].extent : t->reduce.extent;
	int64_t lanes = coop_lanes(s, t->type, part);
	while (lanes > 1 && f->run % lanes != 0)
		lanes /= 2;
	return extent % part == 0 ? lanes : 1; /* else each element has a condition of its own */
}

int64_t core_row(const CoreTile *t, const CoreShape *x, int side)
{
	return t->factor[side].along ? core_part(x, side) : x->inner;
}

int64_t core_gap(const CoreTile *t, const CoreShape *x, int side)
{
	int64_t bits = t->type.bits;
	return bits == 32 && t->factor[side].along && core_row(t, x, side) * bits % 1024 != 256 ? 256 / bits : 0;
}

/* Elements of a factor's part in shared memory, with padding. */
static int64_t places(const CoreTile *t, const CoreShape *x, int side)
{
	int64_t rows = t->factor[side].along ? x->inner : core_part(x, side);
	return rows * (core_row(t, x, side) + core_gap(t, x, side));
}

/* Registers of a thread's loads in flight to shared memory, if the device has no asynchronous copies. */
static int64_t copy_registers(const Sketch *s, const CoreTile *t, const CoreShape *x)
{
	int64_t all = 0, threads = x->warps[0] * x->warps[1] * LANES;
	for (int i = 0; i < CORE_SIDES; i++) {
		int64_t lanes = core_lanes(s, t, x, i), loads = ceil_div(core_part(x, i) * x->inner, lanes * threads);
		loads = loads < TMPL_CORE_COPIES ? loads : TMPL_CORE_COPIES;
		if (!target_capability(s->target)->copies || lanes * t->type.bits < 32)
			all += loads * (ceil_div(lanes * t->type.bits, 32) + TMPL_CORE_LOAD);
	}
	return all;
}

/* Registers that a thread lacks; negative: free ones. */
static int64_t lacks(const Sketch *s, const CoreShape *x)
{
	int64_t pieces = x->pieces[0] * x->pieces[1] * TMPL_CORE_PIECE;
	int most = target_thread_regs(s->target, (int)(x->warps[0] * x->warps[1] * LANES));
	return most == 0 ? INT_MIN : pieces + TMPL_CORE_REGISTERS + (x->pieces[0] + x->pieces[1]) * TMPL_CORE_SIDE - most;
}

/* Whether copies or the epilogue's loads may need registers that a thread lacks. */
static bool may_spill(const Sketch *s, const CoreTile *t, const CoreShape *x)
{
	return lacks(s, x) + copy_registers(s, t, x) + x->pieces[0] * x->pieces[1] * t->reads > 0;
}

static bool fits(const Sketch *s, const CoreTile *t, const CoreShape *x)
{
	int64_t bytes = dtype_bytes(t->type, x->stages * (places(t, x, 0) + places(t, x, 1)));
	return core_part(x, 0) <= t->axis[0].extent && core_part(x, 1) <= t->axis[1].extent &&
		lacks(s, x) <= 0 && bytes <= device_shared(s->target);
}

/* ---- estimated time ---- */

/*
 * The time of the busiest unit, in cycles for each step of the inner dimension: the greater of matrix units and shared
 * memory, and the copies, by instructions and by bytes. Few warps do not hide latencies. Partial sums are added up.
 */
static double time_of(const Sketch *s, const CoreTile *t, const CoreShape *x)
{
	const Target *d = s->target;
	double blocks = (double)t->blocks, bytes = (double)t->type.bits / 8, copies = 0, near = 0;
	int64_t warps = x->warps[0] * x->warps[1];
	for (int i = 0; i < CORE_SIDES; i++) {
		double part = (double)core_part(x, i), read = part * (double)x->warps[!i];
		blocks *= (double)ceil_div(t->axis[i].extent, core_part(x, i));
		copies += part / (double)core_lanes(s, t, x, i) * TMPL_CORE_COPY / fmax(d->core.decode, 1);
		copies += part * bytes / fmax(d->core.level[1], 1);
		near += read * bytes / fmax(d->core.level[0], 1);
	}
	double each = ceil(blocks / fmax(d->cores, 1)), busy = fmin(1, each * (double)warps / TMPL_CORE_WARPS);
	double multiply = (double)(core_part(x, 0) * core_part(x, 1)) / fmax(target_matrix_rate(d, t->type, true), 1);
	double spills = may_spill(s, t, x) ? TMPL_CORE_SPILLS : 1, joins = 0;
	if (t->parts > 1) {
		CoopJoin j = core_join(t, x);
		bool last;
		joins = coop_join_cycles(d, &j, &last) / (double)t->reduce.extent;
	}
	return each * (fmax(multiply, near) + copies) / busy * spills + joins;
}

/* ---- knobs ---- */

static int ask_pair(Sketch *s, const char *name, int64_t (*pair)[CORE_SIDES], const double *time, int n)
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

/* Powers of two up to `most`, by rows and columns, that fit. Returns their number; time[]: the best with any pieces. */
static int pairs_of(const Sketch *s, const CoreTile *t, const CoreShape *base, bool warps, int64_t most,
	int64_t (*pair)[CORE_SIDES], double *time)
{
	int n = 0;
	for (int64_t i = 1; i <= most; i *= 2)
		for (int64_t j = 1; j <= most; j *= 2) {
			double best = INFINITY;
			for (int64_t p = 1; p <= (warps ? most : 1); p *= 2)
				for (int64_t q = 1; q <= (warps ? most : 1); q *= 2) {
					CoreShape x = *base;
					memcpy(warps ? x.warps : x.pieces, (int64_t[]){ i, j }, sizeof x.warps);
					if (warps)
						memcpy(x.pieces, (int64_t[]){ p, q }, sizeof x.pieces);
					if (fits(s, t, &x))
						best = fmin(best, time_of(s, t, &x));
				}
			if (!isfinite(best) || (warps && i * j * LANES > TMPL_COOP_THREADS) || n == KNOB_OPTIONS)
				continue;
			pair[n][0] = i;
			pair[n][1] = j;
			time[n++] = best;
		}
	return n;
}

/* Asks for the products of a round and for the rounds in shared memory. */
static void ask_rounds(Sketch *s, const CoreTile *t, const CoreRow *row, CoreShape *x)
{
	int64_t option[KNOB_OPTIONS];
	int n = 0, first = 0;
	bool whole = false;
	CoreShape all = *x;
	for (int64_t k = row->depth; k <= TMPL_CORE_ROUND && k < t->reduce.extent + row->depth; k *= 2) {
		all.inner = k;
		if ((n > 0 && !fits(s, t, &all)) || (t->whole && t->reduce.extent % k != 0))
			continue;
		bool divides = t->reduce.extent % k == 0; /* else each element has a condition of its own */
		if (k * t->type.bits <= TMPL_CORE_FIRST_BITS && (divides || !whole)) {
			first = n;
			whole = divides;
		}
		option[n++] = k;
	}
	x->inner = all.inner = sketch_number(s, "round", option, n, first);
	sketch_opens(s);
	n = first = 0;
	option[n++] = 1;
	for (int64_t k = 2; k <= WAYS && target_capability(s->target)->copies; k++) {
		all.stages = k;
		if (k > ceil_div(t->reduce.extent, x->inner) || !fits(s, t, &all))
			break;
		first = k <= TMPL_CORE_STAGES ? n : first;
		option[n++] = k;
	}
	x->stages = sketch_number(s, "stages", option, n, first);
}

/* Cycles of the busiest unit, with those that add up the parts. */
static double time_split(const Sketch *s, const CoreTile *t, const CoreRow *row, int64_t parts)
{
	int64_t pair[KNOB_OPTIONS][CORE_SIDES];
	double time[KNOB_OPTIONS], best = INFINITY;
	CoreTile part = *t;
	const Target *d = s->target;
	part.blocks *= parts;
	part.parts = parts;
	part.reduce.extent /= parts;
	CoreShape x = { { 1, 1 }, { 1, 1 }, row->depth, 1 };
	for (int k = pairs_of(s, &part, &x, true, TMPL_CORE_MOST, pair, time) - 1; k >= 0; k--)
		best = fmin(best, time[k]);
	double results = (double)(t->blocks * t->axis[0].extent * t->axis[1].extent), bytes = (double)t->sum.bits / 8;
	double moved = results * (double)(2 * parts) * bytes / (fmax(d->core.level[1], 1) * fmax(d->cores, 1));
	return best * (double)part.reduce.extent + (parts > 1 ? moved : 0);
}

int64_t core_split_knob(Sketch *s, CoreTile *t, const CoreRow *row)
{
	int64_t option[KNOB_OPTIONS];
	int n = 0, first = 0;
	double best = INFINITY;
	bool fills = t->blocks * t->axis[0].extent * t->axis[1].extent / TMPL_COOP_FILLS >= s->target->cores;
	for (int64_t parts = 1; parts <= (fills ? 1 : TMPL_COOP_SPLITS); parts *= 2) {
		int64_t round = TMPL_CORE_FIRST_BITS / t->type.bits;
		if (parts > 1 && (t->reduce.extent % (parts * round) != 0 || t->reduce.extent / parts < TMPL_COOP_PART))
			continue;
		double time = time_split(s, t, row, parts);
		first = time < best ? n : first;
		best = fmin(time, best);
		option[n++] = parts;
	}
	int64_t parts = sketch_number(s, "split", option, n, first);
	sketch_opens(s);
	t->blocks *= parts;
	t->parts = parts;
	t->reduce.extent /= parts;
	t->whole = parts > 1;
	return parts;
}

bool core_shape_knobs(Sketch *s, const CoreTile *t, const CoreRow *row, CoreShape *x)
{
	int64_t pair[KNOB_OPTIONS][CORE_SIDES];
	double time[KNOB_OPTIONS];
	*x = (CoreShape){ { 1, 1 }, { 1, 1 }, row->depth, 1 };
	int n = pairs_of(s, t, x, true, TMPL_CORE_MOST, pair, time);
	if (n == 0)
		return false;
	memcpy(x->warps, pair[ask_pair(s, "warps", pair, time, n)], sizeof x->warps);
	n = pairs_of(s, t, x, false, TMPL_CORE_MOST, pair, time);
	if (n == 0)
		return false;
	memcpy(x->pieces, pair[ask_pair(s, "pieces", pair, time, n)], sizeof x->pieces);
	ask_rounds(s, t, row, x);
	return true;
}
