/*
 * Rows of attention. Dimensions that attend are one dimension, heads are one of their own, and the others are the
 * batch: [batch,heads,length,size], which one call of the Dag takes. Where scores are a result, or no product of
 * queries and keys, they are written out. A query that sees no key sees all alike, as in Keras; where version 3 writes
 * scores out by itself (a dropout, other ranks, scores as a result), it sees none.
 */
#include "frontend/keras/mask.h"
#include "frontend/node/attend.h"

#include <math.h>
#include <string.h>

static const double far_below = 1e9; /* what Keras takes from the scores of keys that are not seen */

/* ---- softmax of scores and its product with the values, both kinds of layers */

/* Bools that are true where a query sees a key, all [.., queries, keys] or broadcast to that; DAG_NONE: all true. */
static int both(Visit *v, int a, int b)
{
	return a == DAG_NONE ? b : b == DAG_NONE ? a : node_call2(v, OP_bit_and, a, b);
}

/* 0 where the mask is true, else far below. */
static int bias_of(Visit *v, int mask)
{
	if (mask == DAG_NONE)
		return DAG_NONE;
	return node_with_number(v, OP_mul, node_with_number(v, OP_sub, node_cast(v, mask, F32), 1), far_below);
}

/* Constant [1,..,queries,keys] of `rank` dimensions: a query sees its own place and those before. */
static int look_back(Visit *v, int64_t queries, int64_t keys, int rank)
{
	return node_call2(v, OP_less_equal, node_count(v, keys, rank - 1, rank), node_count(v, queries, rank - 2, rank));
}

/* Scores as weights of the values, in the last two dimensions. `zeros`: keys that are not seen have none. */
static int weighted(Visit *v, int scores, int mask, bool zeros, int values, int *weights)
{
	Attr last = attr_int("axis", -1);
	if (mask != DAG_NONE)
		scores = node_call2(v, OP_add, scores, bias_of(v, mask));
	*weights = node_call(v, OP_softmax, &scores, 1, &last, 1);
	if (mask != DAG_NONE && zeros)
		*weights = node_call2(v, OP_mul, *weights, node_cast(v, mask, F32));
	return node_call2(v, OP_matmul, *weights, values);
}

typedef struct How {
	int mask; /* DAG_NONE: all is seen */
	bool causal, zeros;
	double scale;
} How;

/* Dot products of [batch,heads,length,size]; fewer heads of keys are shared. `weights`: NULL if they are not used. */
static int attend(Visit *v, int q, int k, int values, How how, int *weights)
{
	Shape s = node_val(v, q)->shape, t = node_val(v, k)->shape;
	if (!node_ok(v))
		return DAG_NONE;
	if (how.causal && (how.mask != DAG_NONE || weights != NULL)) {
		how.mask = both(v, how.mask, look_back(v, s.dim[2], t.dim[2], 4));
		how.causal = false;
	}
	if (weights == NULL)
		return node_attention(v, q, k, values, how.zeros ? how.mask : bias_of(v, how.mask),
			&(AttentionHow){
				.scale = how.scale, .causal = how.causal, .zeros = how.zeros ? ZEROS_UNSEEN : ZEROS_NONE });
	int part[] = { k, values };
	for (int i = 0; i < 2 && t.dim[1] != s.dim[1]; i++) {
		Shape p = node_val(v, part[i])->shape;
		int64_t shared = s.dim[1] / p.dim[1];
		Shape wide = { 5, { p.dim[0], p.dim[1], shared, p.dim[2], p.dim[3] } };
		int x = node_view(v, part[i], 5, (int64_t[]){ p.dim[0], p.dim[1], 1, p.dim[2], p.dim[3] });
		part[i] = node_view(v, node_expand(v, x, wide), 4, (int64_t[]){ p.dim[0], s.dim[1], p.dim[2], p.dim[3] });
	}
	int in[] = { how.scale == 1 ? q : node_with_number(v, OP_mul, q, how.scale), part[0] };
	Attr turned = attr_int("tb", 1);
	return weighted(v, node_call(v, OP_matmul, in, 2, &turned, 1), how.mask, how.zeros, part[1], weights);
}

/* ---- MultiHeadAttention, GroupQueryAttention */

typedef struct Axes {
	int rank;                /* of query, key and value */
	int n, at[DAG_MAX_RANK]; /* dimensions that attend */
	int nbatch, batch[DAG_MAX_RANK];
} Axes;

static Axes read_axes(Visit *v, int rank)
{
	Axes a = { .rank = rank };
	int count;
	const int64_t *list = node_attr_ints(v, "attention_axes", &count);
	bool attends[DAG_MAX_RANK] = { false };
	if (node_ok(v) && (rank < 3 || rank >= DAG_MAX_RANK || count > rank - 2))
		node_fail(v, ERR_UNSUPPORTED, "its query has %d dimensions and it attends along %d; 3 to %d are supported",
			rank, count, DAG_MAX_RANK - 1);
	for (int k = 0; k < rank - 2 && node_ok(v); k++) {
		int axis = count <= 0 ? k + 1 : k < count ? node_axis(v, list[k], rank) : 0;
		if (k < count && (axis == 0 || axis == rank - 1 || attends[axis]))
			node_fail(v, ERR_INPUT, "its attention_axes name the batch, the last dimension, or one twice");
		attends[axis] |= axis > 0;
	}
	for (int k = 0; k < rank - 1 && node_ok(v); k++)
		if (attends[k])
			a.at[a.n++] = k;
		else
			a.batch[a.nbatch++] = k;
	return a;
}

/* Elements of x in dimensions that attend, and in those that are the batch. */
static int64_t length_of(const Axes *a, const Shape *s)
{
	int64_t n = 1;
	for (int k = 0; k < a->n; k++)
		n *= s->dim[a->at[k]];
	return n;
}

static int64_t batch_of(const Axes *a, const Shape *s)
{
	int64_t n = 1;
	for (int k = 0; k < a->nbatch; k++)
		n *= s->dim[a->batch[k]];
	return n;
}

/* A dense layer over the last dimension, with a weight [in,..] and a bias of that shape, as [rows,all]. */
static int dense(Visit *v, int x, int64_t in, const char *part, Shape w, Shape b, bool biased)
{
	static const int64_t turn[] = { 1, 0 };
	Arena *a = v->im->arena;
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && in < 1)
		node_fail(v, ERR_TYPE, "its input has no elements along its last dimension");
	if (!node_ok(v))
		return DAG_NONE;
	int64_t all = shape_product(&w, 0, w.rank) / in;
	int kernel = node_view(v, keras_weight(v, arena_printf(a, "%s/kernel", part), w), 2, (int64_t[]){ in, all });
	int bias = biased ? node_view(v, keras_weight(v, arena_printf(a, "%s/bias", part), b), 1, &all) : DAG_NONE;
	int call[] = { node_view(v, x, 2, (int64_t[]){ shape_product(&s, 0, s.rank) / in, in }),
		node_ok(v) ? node_transpose(v, kernel, turn) : DAG_NONE, bias };
	return node_call(v, OP_dense, call, 3, NULL, 0);
}

/* x[..,C] through the weight [C,heads,size] and the bias [heads,size], as [batch,heads,length,size]. */
static int project(Visit *v, const Axes *a, int x, const char *part, int64_t heads, int64_t size, bool biased)
{
	Shape s = node_val(v, x)->shape;
	int64_t in = s.dim[a->rank - 1], perm[DAG_MAX_RANK], n = 0;
	int y = dense(
		v, x, in, part, shape_of(3, (int64_t[]){ in, heads, size }), shape_of(2, (int64_t[]){ heads, size }), biased);
	Shape wide = s;
	wide.dim[a->rank - 1] = heads;
	wide.dim[wide.rank++] = size;
	for (int k = 0; k < a->nbatch; k++)
		perm[n++] = a->batch[k];
	perm[n++] = a->rank - 1;
	for (int k = 0; k < a->n; k++)
		perm[n++] = a->at[k];
	perm[n] = a->rank;
	y = node_view(v, y, wide.rank, wide.dim);
	y = node_ok(v) ? node_transpose(v, y, perm) : y;
	return node_view(v, y, 4, (int64_t[]){ batch_of(a, &s), heads, length_of(a, &s), size });
}

/* [batch,heads,length,size] in the order of the query's dimensions. */
static int in_order(Visit *v, const Axes *a, int y, const Shape *query)
{
	Shape s = node_val(v, y)->shape, wide = { .rank = a->rank + 1 };
	int64_t perm[DAG_MAX_RANK];
	int n = 0;
	for (int k = 0; k < a->nbatch; k++) {
		perm[a->batch[k]] = n;
		wide.dim[n++] = query->dim[a->batch[k]];
	}
	perm[a->rank - 1] = n;
	wide.dim[n++] = s.dim[1];
	for (int k = 0; k < a->n; k++) {
		perm[a->at[k]] = n;
		wide.dim[n++] = query->dim[a->at[k]];
	}
	perm[a->rank] = n;
	wide.dim[n] = s.dim[3];
	y = node_view(v, y, wide.rank, wide.dim);
	return node_ok(v) ? node_transpose(v, y, perm) : y;
}

/* The shape of scores: the batch, heads, then what attends of queries and of keys. */
static Shape scores_shape(const Axes *a, const Shape *query, const Shape *key, int64_t heads)
{
	Shape s = { 0 };
	for (int k = 0; k < a->nbatch; k++)
		s.dim[s.rank++] = query->dim[a->batch[k]];
	s.dim[s.rank++] = heads;
	for (int k = 0; k < 2 * a->n; k++)
		s.dim[s.rank++] = (k < a->n ? query : key)->dim[a->at[k % a->n]];
	return s;
}

/* A mask [batch?..,(heads),queries..,keys..] as [batch,1 or heads,length,length], where dimensions may be 1. */
static int folded_mask(Visit *v, const Axes *a, int mask, const Shape *scores)
{
	Shape s = node_val(v, mask)->shape, wide = { .rank = scores->rank };
	int missing = scores->rank - s.rank, lead = s.rank - 2 * a->n;
	char have[160], need[160];
	bool fits = missing >= 0 && lead >= 0;
	for (int k = 0; k < wide.rank && fits; k++) {
		wide.dim[k] = k < lead ? s.dim[k] : k < lead + missing ? 1 : s.dim[k - missing];
		fits = wide.dim[k] == scores->dim[k] || wide.dim[k] == 1;
	}
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE, "its mask has the shape %s, which does not fit its scores of %s", shape_str(s, have),
			shape_str(*scores, need));
	if (!node_ok(v))
		return mask;
	mask = node_reshape(v, mask, wide);
	for (int k = 0; k < wide.rank; k++) /* what is folded must be whole */
		if (k != a->nbatch)
			wide.dim[k] = scores->dim[k];
	mask = node_expand(v, mask, wide);
	int64_t to[] = { shape_product(scores, 0, a->nbatch), wide.dim[a->nbatch],
		shape_product(scores, a->nbatch + 1, a->nbatch + 1 + a->n),
		shape_product(scores, a->nbatch + 1 + a->n, scores->rank) };
	return node_view(v, mask, 4, to);
}

/* [1,queries,keys]: keys that are fewer than `n` places away. */
static int window_mask(Visit *v, int64_t queries, int64_t keys, int64_t n)
{
	int away = node_call2(v, OP_sub, node_count(v, queries, 1, 3), node_count(v, keys, 2, 3));
	return node_with_number(v, OP_less, node_call1(v, OP_abs, away), (double)n);
}

/* The mask [batch,steps] of an argument, or the one that it carries, as [batch,steps,1] or [batch,1,steps]. */
static int mask_of(Visit *v, int input, const char *name, bool of_keys)
{
	int at = keras_input(v, -1, name);
	at = at >= 0 ? at : keras_mask_of(v, input);
	if (at < 0 || !node_ok(v))
		return DAG_NONE;
	int x = node_cast(v, keras_value(v, at), BOOL);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && s.rank != 2)
		node_fail(v, ERR_UNSUPPORTED, "its %s has %d dimensions; 2 are supported", name, s.rank);
	return node_view(v, x, 3, (int64_t[]){ s.dim[0], of_keys ? 1 : s.dim[1], of_keys ? s.dim[1] : 1 });
}

/* All masks of a call but the causal one, which is apart: on its own it needs no values. */
static int read_masks(Visit *v, const Axes *a, const int *input, const Shape *scores)
{
	int at = keras_input(v, -1, "attention_mask"), given = DAG_NONE;
	int64_t window = node_attr_int(v, "sliding_window", 0);
	int own = both(v, mask_of(v, input[0], "query_mask", false), mask_of(v, input[1], "value_mask", true));
	if (input[2] != input[1])
		own = both(v, own, mask_of(v, input[2], "key_mask", true));
	if (node_ok(v) && (own != DAG_NONE || window > 0) && a->rank != 3)
		node_fail(v, ERR_UNSUPPORTED, "its query has %d dimensions and a mask of steps; 3 are supported", a->rank);
	if (window > 0 && node_ok(v))
		own = both(v, own, window_mask(v, scores->dim[2], scores->dim[3], window));
	if (at >= 0)
		given = folded_mask(v, a, node_cast(v, keras_value(v, at), BOOL), scores);
	return both(v, given, own != DAG_NONE && node_ok(v) ? folded_mask(v, a, own, scores) : DAG_NONE);
}

typedef struct Heads {
	int64_t queries, keys, size, depth; /* heads of queries, of keys and values; elements of a key, of a value */
} Heads;

static void check_heads(Visit *v, const Heads *h)
{
	const int64_t n[] = { h->queries, h->keys, h->size, h->depth };
	for (int k = 0; k < 4; k++)
		if (node_ok(v) && (n[k] < 1 || n[k] > 1 << 20))
			node_fail(v, ERR_INPUT, "it has %lld heads of %lld and %lld elements", (long long)h->queries,
				(long long)h->size, (long long)h->depth);
	if (node_ok(v) && h->queries % h->keys != 0)
		node_fail(v, ERR_INPUT, "its %lld heads of queries cannot share %lld heads of keys", (long long)h->queries,
			(long long)h->keys);
}

/* The last dimensions of the result: output_shape, else those of the query. */
static Shape result_of(Visit *v, const Shape *query)
{
	int count;
	const int64_t *given = node_attr_ints(v, "output_shape", &count);
	Shape out = { .rank = count > 0 ? count : 1 };
	if (node_ok(v) && query->rank - 1 + out.rank > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its output_shape has %d dimensions", count);
	for (int k = 0; k < out.rank && node_ok(v); k++) {
		out.dim[k] = count > 0 ? given[k] : query->dim[query->rank - 1];
		if (out.dim[k] < 1 || out.dim[k] > 1 << 24)
			node_fail(v, ERR_INPUT, "its output_shape has the size %lld", (long long)out.dim[k]);
	}
	return out;
}

static void import_heads(Visit *v, const Heads *h)
{
	bool biased = node_attr_flag(v, "use_bias", true), causal = keras_flag(v, "use_causal_mask");
	int input[] = { keras_input(v, 0, "query"), keras_input(v, 1, "value"), keras_input(v, 2, "key") }, weights;
	input[2] = input[2] < 0 ? input[1] : input[2];
	check_heads(v, h);
	if (node_ok(v) && (input[0] < 0 || input[1] < 0))
		node_fail(v, ERR_INPUT, "it has no query or no value");
	if (!node_ok(v))
		return;
	int q = keras_value(v, input[0]), value = keras_value(v, input[1]), key = keras_value(v, input[2]);
	Shape s = node_val(v, q)->shape, t = node_val(v, value)->shape, u = node_val(v, key)->shape;
	Axes a = read_axes(v, s.rank);
	if (node_ok(v) && (t.rank != s.rank || u.rank != s.rank))
		node_fail(v, ERR_TYPE, "its query, value and key have %d, %d and %d dimensions", s.rank, t.rank, u.rank);
	if (node_ok(v) && s.rank + a.n > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its scores have more than %d dimensions", DAG_MAX_RANK);
	for (int k = 0; k < a.nbatch && node_ok(v); k++)
		if (s.dim[a.batch[k]] != t.dim[a.batch[k]] || s.dim[a.batch[k]] != u.dim[a.batch[k]])
			node_fail(
				v, ERR_TYPE, "its query, value and key differ in dimension %d, which does not attend", a.batch[k]);
	if (causal && node_ok(v) && (a.n != 1 || a.at[0] != 1))
		node_fail(v, ERR_UNSUPPORTED, "its causal mask is along another axis than the second");
	Shape last = result_of(v, &s), scores = scores_shape(&a, &s, &u, h->queries);
	if (!node_ok(v))
		return;
	bool gated = node_attr_flag(v, "use_gate", false), listed = keras_flag(v, "return_attention_scores");
	int x = q, mask = read_masks(v, &a, input, &scores);
	q = project(v, &a, q, "query_dense", h->queries, h->size, biased);
	key = project(v, &a, key, "key_dense", h->keys, h->size, biased);
	value = project(v, &a, value, "value_dense", h->keys, h->depth, biased);
	bool apart = node_attr_float(v, "dropout", 0) > 0 || listed || s.rank != 3;
	How how = { mask, causal, apart && keras_file(v)->version >= 3, 1 / sqrt((double)h->size) };
	int y = attend(v, q, key, value, how, listed && node_used(v, 1) ? &weights : NULL);
	if (gated)
		y = node_call2(
			v, OP_mul, y, node_call1(v, OP_sigmoid, project(v, &a, x, "gate_dense", h->queries, h->depth, biased)));
	y = in_order(v, &a, y, &s);
	Shape w = { 2, { h->queries, h->depth } };
	for (int k = 0; k < last.rank; k++)
		w.dim[w.rank++] = last.dim[k];
	y = dense(v, y, h->queries * h->depth, "output_dense", w, last, biased);
	s.rank--;
	for (int k = 0; k < last.rank; k++)
		s.dim[s.rank++] = last.dim[k];
	if (!node_ok(v))
		return;
	node_set(v, 0, node_reshape(v, y, s));
	if (listed && node_used(v, 1))
		node_set(v, 1, node_reshape(v, weights, scores));
}

static void import_multi_head(Visit *v)
{
	int64_t heads = node_attr_int(v, "num_heads", 0), size = node_attr_int(v, "key_dim", 0);
	import_heads(v, &(Heads){ heads, heads, size, node_attr_int(v, "value_dim", size) });
}

static void import_group_query(Visit *v)
{
	int64_t size = node_attr_int(v, "head_dim", 0);
	import_heads(
		v, &(Heads){ node_attr_int(v, "num_query_heads", 0), node_attr_int(v, "num_key_value_heads", 0), size, size });
}

/* ---- Attention, AdditiveAttention */

/* Number `at` of the list of masks [query, value, ..], or of those that inputs carry, as bools; DAG_NONE: none. */
static int listed_mask(Visit *v, int at)
{
	const Json *list = keras_argument(v, -1, "mask");
	int input = list != NULL ? keras_input(v, -1, "mask") : keras_mask_of(v, at);
	for (int k = 0; list != NULL && list->kind == JV_ARRAY && k < at && (size_t)k < list->list.n; k++)
		input += keras_count_tensors(list->list.at[k], keras_is_listed(v));
	if (list != NULL && (list->kind != JV_ARRAY || list->list.n <= (size_t)at ||
							keras_count_tensors(list->list.at[at], keras_is_listed(v)) == 0))
		return DAG_NONE;
	if (input < 0 || !node_ok(v))
		return DAG_NONE;
	int x = node_cast(v, keras_value(v, input), BOOL);
	if (node_ok(v) && node_val(v, x)->shape.rank != 2)
		node_fail(v, ERR_TYPE, "its mask has %d dimensions, but needs 2", node_val(v, x)->shape.rank);
	return x;
}

/* Scores of Bahdanau, or of the concatenated query and key: sums over tanh of all pairs. */
static int pair_scores(Visit *v, int q, int k, bool additive, bool scaled)
{
	Shape s = node_val(v, q)->shape, t = node_val(v, k)->shape;
	Attr over[] = { attr_ints("axes", (int64_t[]){ 3 }, 1), attr_int("keep", 0) };
	q = node_view(v, q, 4, (int64_t[]){ s.dim[0], s.dim[1], 1, s.dim[2] });
	k = node_view(v, k, 4, (int64_t[]){ t.dim[0], 1, t.dim[1], t.dim[2] });
	int x = node_call2(v, OP_add, q, k);
	if (!additive && scaled)
		x = node_call2(v, OP_mul, x, keras_weight(v, "scale", shape_of(0, NULL)));
	x = node_call1(v, OP_tanh, x);
	if (additive && scaled)
		x = node_call2(v, OP_mul, x, keras_weight(v, "scale", shape_of(1, &t.dim[2])));
	x = node_call(v, OP_reduce_sum, &x, 1, over, 2);
	return additive ? x : node_call2(v, OP_mul, x, keras_weight(v, "concat", shape_of(0, NULL)));
}

/* Inputs query, value, key; scores of Luong or of Bahdanau. */
static void import_scored(Visit *v, bool additive)
{
	bool scaled = node_attr_flag(v, "use_scale", additive), causal = node_attr_flag(v, "causal", false);
	const char *mode = node_attr_text(v, "score_mode", "dot");
	int many = keras_count_at(v, 0, "inputs"), q = keras_value(v, 0), value = keras_value(v, 1), weights, y;
	int k = many > 2 ? keras_value(v, 2) : value;
	Shape s = node_val(v, q)->shape, t = node_val(v, k)->shape;
	causal |= keras_flag(v, "use_causal_mask");
	bool listed = keras_flag(v, "return_attention_scores") && node_used(v, 1);
	if (node_ok(v) && (s.rank != 3 || t.rank != 3 || node_val(v, value)->shape.rank != 3))
		node_fail(v, ERR_UNSUPPORTED, "its inputs must have 3 dimensions");
	if (!node_ok(v))
		return;
	int of_query = listed_mask(v, 0), mask = listed_mask(v, 1);
	mask = mask == DAG_NONE ? mask : node_view(v, mask, 3, (int64_t[]){ s.dim[0], 1, t.dim[1] });
	if (additive || strcmp(mode, "concat") == 0) {
		if (causal)
			mask = both(v, mask, look_back(v, s.dim[1], t.dim[1], 3));
		y = weighted(v, pair_scores(v, q, k, additive, scaled), mask, false, value, &weights);
	} else {
		if (scaled)
			q = node_call2(v, OP_mul, q, keras_weight(v, "scale", shape_of(0, NULL)));
		int part[] = { q, k, value };
		for (int i = 0; i < 3; i++) {
			Shape p = node_val(v, part[i])->shape;
			part[i] = node_view(v, part[i], 4, (int64_t[]){ p.dim[0], 1, p.dim[1], p.dim[2] });
		}
		if (mask != DAG_NONE)
			mask = node_view(v, mask, 4, (int64_t[]){ s.dim[0], 1, 1, t.dim[1] });
		y = attend(v, part[0], part[1], part[2], (How){ mask, causal, false, 1 }, listed ? &weights : NULL);
		Shape p = node_val(v, y)->shape;
		y = node_view(v, y, 3, (int64_t[]){ p.dim[0], p.dim[2], p.dim[3] });
	}
	if (of_query != DAG_NONE)
		y = node_call2(
			v, OP_mul, y, node_view(v, node_cast(v, of_query, F32), 3, (int64_t[]){ s.dim[0], s.dim[1], 1 }));
	if (!node_ok(v))
		return;
	node_set(v, 0, y);
	if (listed)
		node_set(v, 1, node_view(v, weights, 3, (int64_t[]){ s.dim[0], s.dim[1], t.dim[1] }));
}

static void import_attention(Visit *v)
{
	import_scored(v, false);
}

static void import_additive(Visit *v)
{
	import_scored(v, true);
}

#define UNREAD "flash_attention query_shape key_shape value_shape softmax_robust_masking"

const NodeRow keras_attention_rows[] = {
	{ "MultiHeadAttention", 0, UNREAD, import_multi_head },
	{ "GroupQueryAttention", 0, UNREAD, import_group_query },
	{ "Attention", 0, "dropout", import_attention },
	{ "AdditiveAttention", 0, "dropout", import_additive },
	{ NULL, 0, NULL, NULL },
};
