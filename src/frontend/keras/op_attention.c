/* Rows of attention. Heads are a dimension of their own, [batch,heads,length,size], which one call of the Dag takes. */
#include "frontend/keras/keras.h"
#include "frontend/node/attend.h"

#include <math.h>
#include <string.h>

/* x[B,T,C] through the weight [C,heads,size] and the bias [heads,size], as [B,heads,T,size]. */
static int project(Visit *v, int x, const char *part, int64_t heads, int64_t size, bool biased)
{
	Arena *a = v->im->arena;
	static const int64_t turn[] = { 1, 0 }, heads_first[] = { 0, 2, 1, 3 };
	Shape s = node_val(v, x)->shape;
	int64_t all = heads * size;
	int w = keras_weight(v, arena_printf(a, "%s/kernel", part), shape_of(3, (int64_t[]){ s.dim[2], heads, size }));
	w = node_transpose(v, node_view(v, w, 2, (int64_t[]){ s.dim[2], all }), turn);
	int b = DAG_NONE;
	if (biased)
		b = node_view(
			v, keras_weight(v, arena_printf(a, "%s/bias", part), shape_of(2, (int64_t[]){ heads, size })), 1, &all);
	int in[] = { node_view(v, x, 2, (int64_t[]){ s.dim[0] * s.dim[1], s.dim[2] }), w, b };
	int y = node_call(v, OP_dense, in, 3, NULL, 0);
	y = node_view(v, y, 4, (int64_t[]){ s.dim[0], s.dim[1], heads, size });
	return node_ok(v) ? node_transpose(v, y, heads_first) : y;
}

/* A mask of [queries,keys], [batch,queries,keys] or [batch,heads,queries,keys] as the latter; DAG_NONE: none. */
static int read_mask(Visit *v, const char *name)
{
	int at = keras_input(v, -1, name);
	if (at < 0 || !node_ok(v))
		return DAG_NONE;
	int x = node_cast(v, keras_value(v, at), BOOL);
	Shape s = node_val(v, x)->shape;
	if (s.rank != 3)
		return x;
	return node_view(v, x, 4, (int64_t[]){ s.dim[0], 1, s.dim[1], s.dim[2] });
}

static int attend(Visit *v, int q, int k, int value, int mask, double scale, bool causal)
{
	return node_attention(v, q, k, value, mask, &(AttentionHow){ .scale = scale, .causal = causal });
}

static int argument(Visit *v, int at, const char *name, int otherwise)
{
	int k = keras_input(v, at, name);
	return k >= 0 ? keras_value(v, k) : otherwise;
}

static void no_masks(Visit *v, const char *const *names, int n)
{
	for (int k = 0; k < n; k++)
		if (keras_input(v, -1, names[k]) >= 0)
			node_fail(v, ERR_UNSUPPORTED, "its argument %s is not supported", names[k]);
	if (keras_flag(v, "return_attention_scores") && node_used(v, 1))
		node_fail(v, ERR_UNSUPPORTED, "its scores as a result are not supported");
}

static void import_multi_head(Visit *v)
{
	static const char *const masks[] = { "query_mask", "value_mask", "key_mask" };
	static const int64_t back[] = { 0, 2, 1, 3 }, turn[] = { 1, 0 };
	int64_t heads = node_attr_int(v, "num_heads", 0), size = node_attr_int(v, "key_dim", 0);
	int64_t depth = node_attr_int(v, "value_dim", size), given = node_attr_int(v, "output_shape", 0);
	bool biased = node_attr_flag(v, "use_bias", true);
	int count, q = argument(v, 0, "query", DAG_NONE), value = argument(v, 1, "value", DAG_NONE);
	int k = argument(v, 2, "key", value);
	const int64_t *axes = node_attr_ints(v, "attention_axes", &count);
	if (node_ok(v) && (q == DAG_NONE || value == DAG_NONE))
		node_fail(v, ERR_INPUT, "it has no query or no value");
	if (node_ok(v) && (heads < 1 || size < 1 || depth < 1 || heads > 1 << 16 || size > 1 << 20 || depth > 1 << 20))
		node_fail(v, ERR_INPUT, "it has %lld heads of %lld and %lld elements", (long long)heads, (long long)size,
			(long long)depth);
	Shape s = node_val(v, q)->shape;
	if (node_ok(v) && (s.rank != 3 || node_val(v, k)->shape.rank != 3 || node_val(v, value)->shape.rank != 3 ||
						  count > 1 || (count == 1 && axes[0] != 1)))
		node_fail(v, ERR_UNSUPPORTED, "it attends along other axes than the second of three");
	if (node_attr_flag(v, "use_gate", false) || node_has(v, "sliding_window"))
		node_fail(v, ERR_UNSUPPORTED, "its settings use_gate and sliding_window are not supported");
	no_masks(v, masks, 3);
	if (!node_ok(v))
		return;
	int64_t width = given > 0 ? given : s.dim[2], all = heads * depth;
	q = project(v, q, "query_dense", heads, size, biased);
	k = project(v, k, "key_dense", heads, size, biased);
	value = project(v, value, "value_dense", heads, depth, biased);
	int y = attend(
		v, q, k, value, read_mask(v, "attention_mask"), 1 / sqrt((double)size), keras_flag(v, "use_causal_mask"));
	if (!node_ok(v))
		return;
	y = node_view(v, node_transpose(v, y, back), 2, (int64_t[]){ s.dim[0] * s.dim[1], all });
	int w = keras_weight(v, "output_dense/kernel", shape_of(3, (int64_t[]){ heads, depth, width }));
	w = node_transpose(v, node_view(v, w, 2, (int64_t[]){ all, width }), turn);
	int in[] = { y, w, biased ? keras_weight(v, "output_dense/bias", shape_of(1, &width)) : DAG_NONE };
	s.dim[2] = width;
	node_set(v, 0, node_reshape(v, node_call(v, OP_dense, in, 3, NULL, 0), s));
}

/* Constant [1,queries,keys]: true where a query may see a key. */
static int causal(Visit *v, int scores)
{
	Shape s = node_val(v, scores)->shape;
	if (!node_ok(v))
		return DAG_NONE;
	return node_call2(v, OP_less_equal, node_count(v, s.dim[2], 2, 3), node_count(v, s.dim[1], 1, 3));
}

/* Inputs query, value, key; scores of Luong or of Bahdanau. */
static void import_scored(Visit *v, bool additive)
{
	static const char *const masks[] = { "mask" };
	bool scaled = node_attr_flag(v, "use_scale", additive), look_back = node_attr_flag(v, "causal", false);
	const char *mode = node_attr_text(v, "score_mode", "dot");
	int q = keras_value(v, 0), value = keras_value(v, 1), k = node_nin(v) > 2 ? keras_value(v, 2) : value, scores;
	Shape s = node_val(v, q)->shape, t = node_val(v, k)->shape;
	look_back |= keras_flag(v, "use_causal_mask");
	no_masks(v, masks, 1);
	if (node_ok(v) && (s.rank != 3 || t.rank != 3 || node_val(v, value)->shape.rank != 3))
		node_fail(v, ERR_UNSUPPORTED, "its inputs must have 3 dimensions");
	if (!node_ok(v))
		return;
	bool concat = strcmp(mode, "concat") == 0;
	if (!additive && !concat) {
		if (scaled)
			q = node_call2(v, OP_mul, q, keras_weight(v, "scale", shape_of(0, NULL)));
		int part[] = { q, k, value };
		for (int i = 0; i < 3; i++) {
			Shape p = node_val(v, part[i])->shape;
			part[i] = node_view(v, part[i], 4, (int64_t[]){ p.dim[0], 1, p.dim[1], p.dim[2] });
		}
		int y = attend(v, part[0], part[1], part[2], DAG_NONE, 1, look_back);
		Shape p = node_val(v, y)->shape;
		node_set(v, 0, node_view(v, y, 3, (int64_t[]){ p.dim[0], p.dim[2], p.dim[3] }));
		return;
	}
	q = node_view(v, q, 4, (int64_t[]){ s.dim[0], s.dim[1], 1, s.dim[2] });
	k = node_view(v, k, 4, (int64_t[]){ t.dim[0], 1, t.dim[1], t.dim[2] });
	scores = node_call2(v, OP_add, q, k);
	if (concat && scaled)
		scores = node_call2(v, OP_mul, scores, keras_weight(v, "scale", shape_of(0, NULL)));
	scores = node_call1(v, OP_tanh, scores);
	if (additive && scaled)
		scores = node_call2(v, OP_mul, scores, keras_weight(v, "scale", shape_of(1, &t.dim[2])));
	Attr over[] = { attr_ints("axes", (int64_t[]){ 3 }, 1), attr_int("keep", 0) }, last = attr_int("axis", -1);
	scores = node_call(v, OP_reduce_sum, &scores, 1, over, 2);
	if (concat)
		scores = node_call2(v, OP_mul, scores, keras_weight(v, "concat", shape_of(0, NULL)));
	if (look_back)
		scores = node_where(v, causal(v, scores), scores, node_with_number(v, OP_sub, scores, 1e9));
	node_set(v, 0, node_call2(v, OP_matmul, node_call(v, OP_softmax, &scores, 1, &last, 1), value));
}

static void import_attention(Visit *v)
{
	import_scored(v, false);
}

static void import_additive(Visit *v)
{
	import_scored(v, true);
}

const NodeRow keras_attention_rows[] = {
	{ "MultiHeadAttention", 0, "dropout flash_attention query_shape key_shape value_shape softmax_robust_masking",
		import_multi_head },
	{ "Attention", 0, "dropout", import_attention },
	{ "AdditiveAttention", 0, "dropout", import_additive },
	{ NULL, 0, NULL, NULL },
};
