/*
 * Rows of attention. Masks, windows and the lengths of padded caches become one mask, whose constant parts are computed
 * later; the call `attention` takes it. Where a model reads scores, or wants its softmax in another type, there are
 * products and a softmax, with everything between them elementwise, and causality is part of the mask. Heads that share
 * keys and values (grouped queries) are then a dimension of their own, so nothing is repeated. The text is that of
 * ONNX 1.23, which corrects 1.22 without a new version: the places of queries among the keys of a cache, and zeros
 * where a query sees no key.
 */
#include "frontend/node/attend.h"
#include "frontend/node/compose.h"
#include "frontend/node/traverse.h"
#include "frontend/onnx/rows.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

/* The modes of the result qk_matmul_output: what the product has been through. */
enum { SCORES_SCALED, SCORES_CAPPED, SCORES_BIASED, SCORES_SOFTMAX, SCORES_MODES };

typedef struct Attention {
	Visit *v;
	bool flat; /* inputs and Y are [batch, length, heads * size] */
	int64_t batch, heads, shared; /* shared: heads of keys and values */
	int64_t queries, keys, past;  /* lengths; keys with the past ones */
	int64_t size, depth;          /* of an element of Q and K, of V */
	bool causal;
	int64_t left, right; /* keys that a query sees before and behind its own place; -1: all */
	int lengths;         /* valid keys of each sequence, [batch,1,1,1]; DAG_NONE */
} Attention;

static const int64_t WINDOW = (int64_t)1 << 40; /* bounds of keys stay far from overflow */

/* Input k as [batch, heads, length, size]. */
static int operand(Attention *a, int k, const char *what, const char *attr)
{
	Visit *v = a->v;
	const Item *x = node_need(v, k);
	int64_t heads = node_attr_int(v, attr, 0);
	if (node_ok(v) && x->shape.rank != 3 && x->shape.rank != 4)
		node_fail(v, ERR_TYPE, "its input %s has %d dimensions, but 3 or 4 are needed", what, x->shape.rank);
	if (node_ok(v) && !dtype_is_float(x->type))
		node_fail(v, ERR_TYPE, "its input %s is not of a floating type", what);
	if (x->shape.rank == 4 || !node_ok(v))
		return node_value(v, k);
	a->flat = true;
	if (heads < 1 || x->shape.dim[2] % heads != 0) {
		node_fail(v, ERR_TYPE, "its attribute %s is %lld, which does not divide the %lld elements of its input %s",
			attr, (long long)heads, (long long)x->shape.dim[2], what);
		return DAG_NONE;
	}
	return node_split_heads(v, node_value(v, k), heads);
}

/* Input `past` before the new keys or values. */
static int with_past(Visit *v, int past, int x)
{
	const Item *it = node_in(v, past);
	if (it == NULL)
		return x;
	if (node_ok(v) && it->shape.rank != 4)
		node_fail(v, ERR_TYPE, "its input %d has %d dimensions, but 4 are needed", past + 1, it->shape.rank);
	int both[] = { node_value(v, past), x };
	return node_concat(v, both, 2, 2);
}

/* Constant 0, 1, 2, ... in a shape of one dimension that is not 1. */
static int places(Visit *v, int64_t count, int rank, const int64_t *dim)
{
	int64_t *at = arena_array(v->im->arena, int64_t, count + 1);
	for (int64_t k = 0; k < count; k++)
		at[k] = k;
	return node_const(v, I64, shape_of(rank, dim), at);
}

/* The queries' places among the keys, [queries,1] or [batch,1,queries,1]: behind the past, or the last valid keys. */
static int query_places(const Attention *a)
{
	Visit *v = a->v;
	int at = places(v, a->queries, 2, (int64_t[]){ a->queries, 1 });
	if (a->lengths == DAG_NONE)
		return node_with_number(v, OP_add, at, (double)a->past);
	return node_call2(v, OP_add, node_with_number(v, OP_sub, a->lengths, (double)a->queries), at);
}

static int both(Visit *v, int a, int b)
{
	return a == DAG_NONE ? b : b == DAG_NONE ? a : node_call2(v, OP_bit_and, a, b);
}

/* True where a query may see a key by causality, windows and lengths; DAG_NONE: everywhere. */
static int seen(const Attention *a, bool causal)
{
	Visit *v = a->v;
	int64_t right = causal ? 0 : a->right;
	if (right < 0 && a->left < 0 && a->lengths == DAG_NONE)
		return DAG_NONE;
	int keys = places(v, a->keys, 1, &a->keys), y = DAG_NONE;
	int from = right >= 0 || a->left >= 0 ? query_places(a) : DAG_NONE;
	if (right >= 0)
		y = node_call2(v, OP_less_equal, keys, node_with_number(v, OP_add, from, (double)right));
	if (a->left >= 0)
		y = both(v, y, node_call2(v, OP_less_equal, node_with_number(v, OP_sub, from, (double)a->left), keys));
	if (a->lengths != DAG_NONE && right != 0) /* else the last query sees the last valid key, and no other one more */
		y = both(v, y, node_call2(v, OP_less, keys, a->lengths));
	return y;
}

/*
 * The mask of the model for all keys. It broadcasts to [batch, heads, queries, keys]. Since opset 24 one of fewer keys
 * hides the others, also one of 1 key.
 */
static int model_mask(const Attention *a, DType t)
{
	Visit *v = a->v;
	const Item *it = node_in(v, 3);
	int x = node_value(v, 3), rank = it->shape.rank;
	bool shorter = v->frame->version >= 24;
	char s[160];
	int64_t last = rank > 0 ? it->shape.dim[rank - 1] : 0, pads[8] = { 0 };
	if (rank < 1 || rank > 4 || last > a->keys || (!shorter && last != a->keys && last != 1)) {
		node_fail(v, ERR_TYPE, "its mask of shape %s does not fit %lld keys", shape_str(it->shape, s),
			(long long)a->keys);
		return DAG_NONE;
	}
	bool flags = it->type.kind == DT_BOOL;
	x = flags ? x : node_cast(v, x, t);
	if (last == a->keys || !shorter)
		return x;
	pads[2 * rank - 1] = a->keys - last;
	Attr attr[] = { attr_ints("pads", pads, 2 * rank), attr_float("value", flags ? 0 : -INFINITY) };
	return node_call(v, OP_pad, &x, 1, attr, 2);
}

/* All masks as one, bools or numbers to add to the scores; DAG_NONE: there is none. */
static int mask_of(const Attention *a, DType t, bool causal)
{
	Visit *v = a->v;
	int mask = node_in(v, 3) != NULL ? model_mask(a, t) : DAG_NONE, may = seen(a, causal);
	if (mask == DAG_NONE || may == DAG_NONE || !node_ok(v) || node_val(v, mask)->type.kind == DT_BOOL)
		return both(v, mask, may);
	return node_where(v, may, mask, node_number(v, t, -INFINITY));
}

/* x[batch, heads, ..] with the heads as [shared, heads / shared]; a dimension of 1 stays one. */
static int grouped(const Attention *a, int x)
{
	if (a->heads == a->shared || !node_ok(a->v) || x == DAG_NONE)
		return x;
	Shape s = node_val(a->v, x)->shape, t = { .rank = 5 };
	int missing = 4 - s.rank;
	for (int k = 0; k < 4; k++)
		t.dim[k < 2 ? k : k + 1] = k < missing ? 1 : s.dim[k - missing];
	t.dim[2] = t.dim[1] == 1 ? 1 : a->heads / a->shared;
	t.dim[1] = t.dim[1] == 1 ? 1 : a->shared;
	return node_reshape(a->v, x, t);
}

static void read_lengths(Attention *a, int q, int k, int value)
{
	Visit *v = a->v;
	Shape s = node_val(v, q)->shape, t = node_val(v, k)->shape, u = node_val(v, value)->shape;
	if (!node_ok(v))
		return;
	a->batch = s.dim[0];
	a->heads = s.dim[1];
	a->queries = s.dim[2];
	a->size = s.dim[3];
	a->shared = t.dim[1];
	a->keys = t.dim[2];
	a->depth = u.dim[3];
	if (t.dim[0] != a->batch || u.dim[0] != a->batch || u.dim[1] != a->shared || u.dim[2] != a->keys ||
		t.dim[3] != a->size)
		node_fail(v, ERR_TYPE, "its keys and values do not fit its queries or each other");
	else if (a->shared == 0 || a->heads % a->shared != 0)
		node_fail(v, ERR_TYPE, "%lld heads of queries cannot share %lld heads of keys", (long long)a->heads,
			(long long)a->shared);
}

static double read_scale(Attention *a)
{
	Visit *v = a->v;
	double scale = a->size > 0 ? 1 / sqrt((double)a->size) : 1;
	if (node_has(v, "scale"))
		scale = node_attr_float(v, "scale", scale);
	return scale;
}

/* Scores [batch, shared, group, queries, keys], or without the group where each head has its own keys. */
static int product(const Attention *a, int q, int k)
{
	Attr turn = attr_int("tb", 1);
	Shape s = node_val(a->v, k)->shape;
	if (a->heads != a->shared) {
		int64_t dim[] = { s.dim[0], s.dim[1], 1, s.dim[2], s.dim[3] };
		k = node_view(a->v, k, 5, dim);
	}
	int in[] = { grouped(a, q), k };
	return node_call(a->v, OP_matmul, in, 2, &turn, 1);
}

static int weighted(const Attention *a, int probs, int value)
{
	Shape s = node_val(a->v, value)->shape;
	if (a->heads != a->shared) {
		int64_t dim[] = { s.dim[0], s.dim[1], 1, s.dim[2], s.dim[3] };
		value = node_view(a->v, value, 5, dim);
	}
	return node_call2(a->v, OP_matmul, probs, value);
}

static DType softmax_type(Visit *v, DType t)
{
	int64_t code = node_attr_int(v, "softmax_precision", 0);
	if (code != 0 && node_ok(v) && (!onnx_type_from(code, &t) || !dtype_is_float(t)))
		node_fail(v, ERR_UNSUPPORTED, "its attribute softmax_precision is %s, which is not supported",
			onnx_type_name(code));
	return t;
}

/* The scores as calls of their own: result 3 gives them as they are at stage `mode`. */
static int composed(const Attention *a, int q, int k, int value, double scale, double cap, int mode)
{
	Visit *v = a->v;
	DType t = node_val(v, q)->type;
	int64_t scores[] = { a->batch, a->heads, a->queries, a->keys };
	int stage[SCORES_MODES], s = product(a, node_with_number(v, OP_mul, q, scale), k);
	stage[SCORES_SCALED] = s;
	if (cap > 0)
		s = node_with_number(v, OP_mul, node_call1(v, OP_tanh, node_with_number(v, OP_div, s, cap)), cap);
	stage[SCORES_CAPPED] = s;
	int mask = grouped(a, mask_of(a, t, a->causal)), minus = node_number(v, t, -INFINITY);
	if (mask != DAG_NONE && node_ok(v))
		s = node_val(v, mask)->type.kind == DT_BOOL ? node_where(v, mask, s, minus) : node_call2(v, OP_add, s, mask);
	stage[SCORES_BIASED] = s;
	s = node_cast(v, s, softmax_type(v, t));
	Attr last = attr_int("axis", -1);
	s = node_cast(v, node_call(v, OP_softmax, &s, 1, &last, 1), node_val(v, value)->type);
	if (mask != DAG_NONE && node_ok(v)) { /* queries that see no key */
		int64_t axis = node_val(v, s)->shape.rank - 1;
		Attr over = attr_ints("axes", &axis, 1);
		int empty = node_call2(v, OP_equal, node_call(v, OP_reduce_max, &stage[SCORES_BIASED], 1, &over, 1), minus);
		s = node_where(v, empty, node_number(v, node_val(v, s)->type, 0), s);
	}
	stage[SCORES_SOFTMAX] = s;
	if (node_used(v, 3))
		node_set(v, 3, node_view(v, stage[mode], 4, scores));
	return weighted(a, s, value);
}

/* One call. It computes in f32 where elements have 16 bits, so that is no other type for the softmax. */
static bool fits_call(const Attention *a, int q, int value)
{
	Visit *v = a->v;
	DType t = node_val(v, q)->type, soft = softmax_type(v, t), wide = t.bits < 32 ? F32 : t;
	return !node_used(v, 3) && dtype_eq(t, node_val(v, value)->type) && (dtype_eq(soft, t) || dtype_eq(soft, wide)) &&
		a->keys > 0 && a->heads > 0;
}

/* Causality that depends on lengths, or comes with windows, is part of the mask. */
static int one_call(const Attention *a, int q, int k, int value, double scale, double cap)
{
	Visit *v = a->v;
	bool plain = a->lengths == DAG_NONE && a->left < 0;
	AttentionHow how = { scale, cap, a->causal && plain, a->past, ZEROS_UNSEEN };
	return node_attention(v, q, k, value, mask_of(a, node_val(v, q)->type, a->causal && !plain), &how);
}

/* Attributes and inputs that hide keys; k: keys with the past ones, `fresh` without. */
static void read_hiding(Attention *a, int k, int fresh)
{
	Visit *v = a->v;
	int64_t dim[] = { a->batch, 1, 1, 1 };
	a->causal = node_attr_flag(v, "is_causal", false);
	a->past = node_val(v, k)->shape.dim[2] - node_val(v, fresh)->shape.dim[2];
	a->lengths = DAG_NONE;
	a->left = a->right = -1;
	if (v->frame->version >= 25) {
		a->left = node_attr_int(v, "left_window_size", -1);
		a->right = node_attr_int(v, "right_window_size", -1);
	}
	if (node_ok(v) && (a->left < -1 || a->right < -1 || a->left > WINDOW || a->right > WINDOW))
		node_fail(v, ERR_INPUT, "its windows are %lld and %lld keys, but must be from -1 to 2^40", (long long)a->left,
			(long long)a->right);
	if (a->causal)
		a->right = -1; /* no key behind its own place anyway */
	if (v->frame->version < 24 || node_in(v, 6) == NULL)
		return;
	if (node_ok(v) && node_in(v, 4) != NULL)
		node_fail(v, ERR_INPUT, "it has past keys and lengths of a cache, but these exclude each other");
	node_check_range(v, 6, 0, a->keys);
	a->lengths = node_view(v, node_cast(v, node_value(v, 6), I64), 4, dim);
}

static void import_attention(Visit *v)
{
	Attention a = { .v = v };
	int q = operand(&a, 0, "Q", "q_num_heads"), fresh = operand(&a, 1, "K", "kv_num_heads");
	int value = operand(&a, 2, "V", "kv_num_heads");
	int64_t mode = node_attr_int(v, "qk_matmul_output_mode", 0);
	double cap = node_attr_size(v, "softcap", 0);
	if (node_ok(v) && (mode < 0 || mode >= SCORES_MODES))
		node_fail(v, ERR_INPUT, "its attribute qk_matmul_output_mode is %lld, not 0 to 3", (long long)mode);
	if (node_ok(v) && (node_in(v, 4) == NULL) != (node_in(v, 5) == NULL))
		node_fail(v, ERR_INPUT, "it has past keys or past values, but not both");
	int k = with_past(v, 4, fresh);
	value = with_past(v, 5, value);
	if (!node_ok(v))
		return;
	read_lengths(&a, q, k, value);
	read_hiding(&a, k, fresh);
	int64_t result[] = { a.batch, a.heads, a.queries, a.depth };
	double scale = read_scale(&a);
	if (!node_ok(v))
		return;
	int y = fits_call(&a, q, value) ? one_call(&a, q, k, value, scale, cap)
									: node_view(v, composed(&a, q, k, value, scale, cap, mode), 4, result);
	node_set(v, 0, a.flat ? node_join_heads(v, y) : y);
	if (node_used(v, 1))
		node_set(v, 1, k);
	if (node_used(v, 2))
		node_set(v, 2, value);
}

/* x[batch, heads, queries, keys] through the graph of an attribute, if the node has it. */
static int modified(const Attention *a, const char *attr, int x)
{
	Visit *v = a->v;
	Shape whole = node_val(v, x)->shape;
	int64_t dim[] = { a->batch, a->heads, a->queries, a->keys };
	if (!node_has(v, attr))
		return x;
	const NodeGraph *g = node_attr_graph(v, attr);
	Item *in = node_new_item(v, node_view(v, x, 4, dim)), *out;
	Frame f;
	if (!node_ok(v) || !node_open_graph(v, g, &f) || !node_run_graph(v, g, &f, "", &in, 1, &out, 1))
		return x;
	if (out->kind != ITEM_TENSOR || !shape_eq(out->shape, in->shape))
		node_fail(v, ERR_TYPE, "its graph %s changes the shape of what it gets", attr);
	return node_reshape(v, node_item_value(v, out), whole);
}

/* Without masks and pasts, in f32 for types of 16 bits; graphs may change scores and probabilities. */
static void import_flex_attention(Visit *v)
{
	Attention a = { .v = v };
	int q = operand(&a, 0, "Q", "q_num_heads"), k = operand(&a, 1, "K", "kv_num_heads");
	int value = operand(&a, 2, "V", "kv_num_heads");
	if (node_ok(v) && a.flat)
		node_fail(v, ERR_TYPE, "its inputs need 4 dimensions");
	if (!node_ok(v))
		return;
	read_lengths(&a, q, k, value);
	DType t = node_val(v, q)->type, wide = dtype_is_float(t) && t.bits < 32 ? F32 : t;
	int64_t result[] = { a.batch, a.heads, a.queries, a.depth };
	Attr last = attr_int("axis", -1);
	int s = product(&a, node_with_number(v, OP_mul, node_cast(v, q, wide), read_scale(&a)), node_cast(v, k, wide));
	s = node_cast(v, modified(&a, "score_mod", s), softmax_type(v, wide));
	s = modified(&a, "prob_mod", node_cast(v, node_call(v, OP_softmax, &s, 1, &last, 1), wide));
	node_set(v, 0, node_cast(v, node_view(v, weighted(&a, s, node_cast(v, value, wide)), 4, result), t));
}

/* Rows of a cache of cosines or sines for each position, [batch, 1, length, half]. */
static int rotations(Visit *v, int k, int64_t batch, int64_t length, int64_t half)
{
	const Item *cache = node_need(v, k), *at = node_in(v, 3);
	int x = node_value(v, k);
	char s[160];
	int64_t dim[] = { batch, 1, length, half };
	if (at != NULL) {
		if (node_ok(v) && cache->shape.rank > 0)
			node_check_range(v, 3, 0, cache->shape.dim[0] - 1);
		int in[] = { x, node_value(v, 3) };
		Attr attr = attr_int("axis", 0);
		x = node_call(v, OP_gather, in, 2, &attr, 1);
	}
	Shape want = shape_of(3, (int64_t[]){ batch, length, half }), have = node_val(v, x)->shape;
	if (have.rank == 3 && have.dim[2] > half) {
		x = node_slice(v, x, 2, 0, half);
		have.dim[2] = half;
	}
	if (node_ok(v) && !shape_eq(have, want))
		node_fail(v, ERR_TYPE, "its cache of shape %s does not give %lld angles for each position",
			shape_str(cache->shape, s), (long long)half);
	return node_view(v, x, 4, dim);
}

/* Pairs of elements are rotated: those of both halves, or neighbours where they are interleaved. */
static void import_rotary(Visit *v)
{
	const Item *x = node_need(v, 0);
	int64_t heads = node_attr_int(v, "num_heads", 0), size = node_attr_int(v, "rotary_embedding_dim", 0);
	bool interleaved = node_attr_flag(v, "interleaved", false), flat = x->shape.rank == 3;
	if (node_ok(v) && x->shape.rank != 3 && x->shape.rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but 3 or 4 are needed", x->shape.rank);
	if (node_ok(v) && flat && (heads < 1 || x->shape.dim[2] % heads != 0))
		node_fail(v, ERR_TYPE, "its attribute num_heads is %lld, which does not divide %lld elements", (long long)heads,
			(long long)x->shape.dim[2]);
	if (!node_ok(v))
		return;
	int in = flat ? node_split_heads(v, node_value(v, 0), heads) : node_value(v, 0);
	Shape s = node_val(v, in)->shape;
	int64_t all = s.dim[3];
	size = size != 0 ? size : all;
	if (size < 0 || size > all || size % 2 != 0)
		node_fail(v, ERR_TYPE, "it cannot rotate %lld of %lld elements", (long long)size, (long long)all);
	if (!node_ok(v))
		return;
	int64_t half = size / 2, pairs[] = { s.dim[0], s.dim[1], s.dim[2], half, 2 };
	int64_t lone[] = { s.dim[0], s.dim[1], s.dim[2], half };
	int cosine = rotations(v, 1, s.dim[0], s.dim[2], half), sine = rotations(v, 2, s.dim[0], s.dim[2], half);
	int turned = node_slice(v, in, 3, 0, size), a, b, part[2];
	if (interleaved) {
		int two = node_view(v, turned, 5, pairs);
		a = node_view(v, node_slice(v, two, 4, 0, 1), 4, lone);
		b = node_view(v, node_slice(v, two, 4, 1, 1), 4, lone);
	} else {
		a = node_slice(v, turned, 3, 0, half);
		b = node_slice(v, turned, 3, half, half);
	}
	part[0] = node_call2(v, OP_sub, node_call2(v, OP_mul, cosine, a), node_call2(v, OP_mul, sine, b));
	part[1] = node_call2(v, OP_add, node_call2(v, OP_mul, sine, a), node_call2(v, OP_mul, cosine, b));
	if (interleaved) {
		pairs[4] = 1;
		part[0] = node_view(v, part[0], 5, pairs);
		part[1] = node_view(v, part[1], 5, pairs);
	}
	turned = node_concat(v, part, 2, interleaved ? 4 : 3);
	if (interleaved)
		turned = node_view(v, turned, 4, (int64_t[]){ s.dim[0], s.dim[1], s.dim[2], size });
	int whole[] = { turned, node_slice(v, in, 3, size, all - size) };
	int y = size == all ? turned : node_concat(v, whole, 2, 3);
	node_set(v, 0, flat ? node_join_heads(v, y) : y);
}

const NodeRow onnx_attention_rows[] = {
	{ "Attention", 23, "", import_attention },
	{ "ai.onnx.preview::FlexAttention", 1, "", import_flex_attention },
	{ "RotaryEmbedding", 23, "", import_rotary },
	{ NULL, 0, NULL, NULL },
};
