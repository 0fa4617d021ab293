/*
 * Attention of few queries on CPUs, as a decoder has them with a cache of keys and values: what is read decides, and
 * each key and value is read once for all queries of the heads that share it. For each such group of heads:
 *
 *	masked: for keys.o { for keys { for heads, queries { for size.o.. { size lanes }; lanes become one }}; scale, mask }
 *	max, exp, sum: for heads, queries { for keys.. { key lanes }}
 *	y:      for depth.o { for keys.. { for heads, queries { f vectors of values: registers }}}; division
 *
 * Scores of all keys are there before the softmax begins, as where queries are many (attention.c).
 */
#include "schedule/template/attention.h"
#include "schedule/template/fold.h"
#include "schedule/template/share.h"

/* Sums of the values that fit registers together, beside f vectors of values and a weight. */
static int64_t choose_vectors(const Sketch *s, int64_t rows, int64_t vectors)
{
	int64_t best = 1;
	for (int64_t f = 1; f <= vectors; f++)
		if (vectors % f == 0 && rows * f + f + 1 <= tile_registers(s))
			best = f;
	return best;
}

bool attention_is_few(const Sketch *s, const Attention *a)
{
	int64_t queries = a->scores.axis[QUERY].extent, keys = a->scores.axis[FOURTH].extent;
	int64_t bytes = 2 * a->group * queries * keys * (a->scores.sum.bits / 8);
	return queries <= TMPL_ATTENTION_MOST && keys >= 2 * tile_lanes(s, &a->scores, keys) &&
		a->scores.reduce[0].extent >= TMPL_PROMISING_LANES && queries + 2 <= tile_registers(s) &&
		(!target_has_blocks(s->target) || bytes <= TMPL_LONE_LOCAL);
}

/* Parts of a loop as vectors; the last one, which is not full, is code of its own. */
static void lane_steps(Sketch *s, const char *loop, int64_t extent, int64_t lanes)
{
	Cut k = attention_cut(s, loop, extent, lanes);
	if (k.out != NULL && extent % lanes != 0) {
		sketch_step(s, "cut %s %lld", k.out, (long long)(extent / lanes));
		sketch_step(s, "vectorize %s.2", k.in);
	}
	sketch_step(s, "vectorize %s", k.in);
}

/* Values pass once for each f vectors of the result; all rows that share them keep their sums in registers. */
static void value_steps(Sketch *s, const Attention *a, int64_t rows, bool together)
{
	const Tiled *t = &a->values;
	int64_t depth = t->axis[FOURTH].extent, lanes = tile_lanes(s, t, depth), vectors = (depth + lanes - 1) / lanes;
	int64_t f = choose_vectors(s, rows, vectors), option[KNOB_OPTIONS], first = 0;
	int n = tile_unrolls(t->reduce[0].extent, rows * f, TMPL_DENSE_MOST_STEPS, TMPL_BODY, option);
	for (int k = 0; k < n; k++)
		first = t->reduce[0].extent % option[k] == 0 && option[k] <= TMPL_ATTENTION_STEPS ? k : first;
	int64_t unroll = sketch_number(s, "values.unroll", option, n, (int)first);
	Cut v = attention_cut(s, t->axis[FOURTH].name, depth, lanes), vector = { NULL, NULL };
	Cut r = { t->reduce[0].name, NULL };
	if (v.out != NULL)
		vector = attention_cut(s, v.out, vectors, f);
	if (unroll > 1)
		r = attention_cut(s, t->reduce[0].name, t->reduce[0].extent, unroll);
	const char *head = t->axis[HEAD].name, *query = t->axis[QUERY].name;
	const char *loop[] = { t->axis[BATCH].name, together ? NULL : head, vector.out, r.out, r.in, together ? head : NULL,
		query, vector.in, v.in };
	attention_reorder(s, loop, 9);
	attention_step(s, "unroll", r.in);
	if (together)
		sketch_step(s, "unroll %s", head);
	sketch_step(s, "unroll %s", query);
	attention_step(s, "unroll", vector.in);
	sketch_step(s, "vectorize %s", v.in);
}

/* A vector of keys at a time: each key meets all rows, and the lanes along its elements become one score. */
static void score_steps(Sketch *s, const Attention *a, int64_t rows, const char *at)
{
	const Tiled *t = &a->scores;
	int64_t keys = t->out[FOURTH].extent, size = t->reduce[0].extent, lanes = tile_lanes(s, t, keys);
	int64_t steps = size / tile_lanes(s, t, size);
	Cut key = attention_cut(s, t->out[FOURTH].name, keys, lanes);
	const char *loop[] = { t->out[BATCH].name, key.out, t->out[HEAD].name, t->out[QUERY].name, key.in };
	attention_reorder(s, loop, 5);
	sketch_step(s, "compute_at %s %s", t->block, key.out != NULL ? key.out : at);
	sketch_step(s, "vectorize %s", key.in);
	const char *own[] = { t->axis[BATCH].name, t->axis[FOURTH].name, t->axis[HEAD].name, t->axis[QUERY].name,
		t->reduce[0].name };
	attention_reorder(s, own, 5);
	fold_steps(s, t->block, t->reduce[0].name, size, tile_lanes(s, t, size), 1);
	if (size % tile_lanes(s, t, size) == 0 && steps * rows <= TMPL_BODY) {
		if (steps > 1)
			sketch_step(s, "unroll %s.o", t->reduce[0].name);
		sketch_step(s, "unroll %s", t->axis[QUERY].name);
		sketch_step(s, "unroll %s", t->axis[HEAD].name);
	}
	if (key.out != NULL && keys % lanes != 0)
		sketch_step(s, "cut %s %lld", key.out, (long long)(keys / lanes));
}

void attention_few(Sketch *s, const Attention *a)
{
	const Tiled *t = &a->values;
	const TileAxis *x = t->out;
	int64_t heads = x[HEAD].extent, queries = x[QUERY].extent, keys = t->reduce[0].extent;
	int64_t lanes = tile_lanes(s, &a->scores, keys), rows = a->group * queries;
	bool together = rows + 2 <= tile_registers(s); /* all rows of a group in registers, or those of a head */
	for (int k = 0; k < t->nmiddle; k++)
		sketch_step(s, "inline %s", t->middle[k]);
	Cut head = { x[HEAD].name, NULL };
	if (a->group > 1)
		head = attention_cut(s, x[HEAD].name, heads, a->group);
	const char *at = head.out != NULL ? head.out : x[BATCH].name;
	const char *loop[] = { x[BATCH].name, head.out, head.in, x[QUERY].name, x[FOURTH].name };
	attention_reorder(s, loop, 5);
	sketch_step(s, "compute_at %s %s", t->block, at);
	value_steps(s, a, together ? rows : queries, together);
	lane_steps(s, x[FOURTH].name, x[FOURTH].extent, tile_lanes(s, t, x[FOURTH].extent));
	for (int k = SUM; k >= MAX; k--)
		sketch_step(s, "compute_at %s %s", a->row[k].block, at);
	sketch_step(s, "compute_at %s %s", a->scores.last, at);
	score_steps(s, a, rows, at);
	fold_steps(s, a->row[MAX].block, a->row[MAX].key, keys, lanes, TMPL_ROWS_SUMS);
	lane_steps(s, a->row[EXP].key, keys, lanes);
	fold_steps(s, a->row[SUM].block, a->row[SUM].key, keys, lanes, TMPL_ROWS_SUMS);
	share_some(s, (TileAxis[]){ x[BATCH], { at, heads / a->group } }, head.out != NULL ? 2 : 1);
	if (target_has_blocks(s->target)) {
		TileAxis grid[] = { x[BATCH], { head.out, heads / a->group } };
		device_bind_grid(s, grid, head.out != NULL ? 2 : 1);
	}
}
