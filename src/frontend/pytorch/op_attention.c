/* Rows of attention: as a function of queries, keys and values, and as layers with their projections. */
#include "frontend/node/attend.h"
#include "frontend/node/activate.h"
#include "frontend/pytorch/aten.h"

#include <math.h>

static int dense(Visit *v, int x, int w, int b)
{
	int in[] = { x, w, b };
	return node_call(v, OP_dense, in, 3, NULL, 0);
}

/* x[.., length, size] as [batch, heads, length, size] */
static int four(Visit *v, int x)
{
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && s.rank < 2)
		node_fail(v, ERR_TYPE, "its inputs need at least 2 dimensions");
	if (!node_ok(v))
		return x;
	int64_t heads = s.rank > 2 ? s.dim[s.rank - 3] : 1;
	int64_t dim[] = { s.rank > 3 ? shape_product(&s, 0, s.rank - 3) : 1, heads, s.dim[s.rank - 2], s.dim[s.rank - 1] };
	return node_view(v, x, 4, dim);
}

/* A mask as it broadcasts to [batch, heads, queries, keys]; a bias gets the type of the scores. */
static int mask_of(Aten *n, const char *name, DType t, int rank)
{
	Visit *v = n->v;
	int x = aten_value(n, name);
	if (x == DAG_NONE || !node_ok(v))
		return DAG_NONE;
	Shape s = node_val(v, x)->shape;
	if (s.rank > 4 && rank > 4) /* the batch of the queries is one dimension now */
		x = four(v, x);
	else if (s.rank < 2)
		x = node_view(v, x, 2, (int64_t[]){ 1, s.rank == 1 ? s.dim[0] : 1 });
	return node_val(v, x)->type.kind == DT_BOOL ? x : node_cast(v, x, t);
}

static int scaled_dot_product(Aten *n)
{
	Visit *v = n->v;
	int q = aten_value(n, "query"), k = aten_value(n, "key"), value = aten_value(n, "value");
	Shape s = node_val(v, q)->shape, t = node_val(v, value)->shape;
	if (node_ok(v) && (s.rank < 2 || t.rank != s.rank))
		node_fail(v, ERR_TYPE, "its inputs differ in their number of dimensions");
	if (!node_ok(v))
		return DAG_NONE;
	/* A query that sees no key gives 0, as in PyTorch 2.5 and later. */
	AttentionHow how = { .scale = 1 / sqrt((double)s.dim[s.rank - 1]), .causal = aten_flag(n, "is_causal"),
		.zeros = ZEROS_UNSEEN };
	if (aten_given(n, "scale"))
		how.scale = aten_float(n, "scale");
	if (aten_float(n, "dropout_p") != 0)
		node_fail(v, ERR_UNSUPPORTED, "it drops scores at random: call model.eval() before the export");
	aten_any(n, "enable_gqa");
	int mask = mask_of(n, "attn_mask", node_val(v, q)->type, s.rank);
	int y = node_attention(v, four(v, q), four(v, k), four(v, value), mask, &how);
	s.dim[s.rank - 1] = t.dim[s.rank - 1];
	return node_ok(v) ? node_reshape(v, y, s) : y;
}

static void import_sdpa(Aten *n)
{
	aten_set(n, scaled_dot_product(n));
}

/* A form of one device also gives results for the backward pass. They become None: inference does not read them. */
static void import_sdpa_of_device(Aten *n)
{
	TorchValue all = torch_list(n->v->im->arena, TORCH_TUPLE);
	int y = scaled_dot_product(n);
	torch_push(n->v->im->arena, all.list, torch_of(n->v, y));
	for (int k = 1; k < 9; k++)
		torch_push(n->v->im->arena, all.list, torch_none());
	aten_give(n, all);
}

typedef struct Projections {
	int w, b; /* of queries, keys and values, one below the other */
	int out_w, out_b;
	int64_t heads, size; /* size: of an element of the model */
} Projections;

/* The same attention by parts; *scores are those of all heads, behind the softmax. */
static int composed(Visit *v, const int *in, int mask, double scale, int *scores)
{
	Attr turned = attr_int("tb", 1), last = attr_int("axis", -1);
	int both[] = { node_with_number(v, OP_mul, in[0], scale), in[1] };
	int s = node_call(v, OP_matmul, both, 2, &turned, 1);
	if (mask != DAG_NONE && node_val(v, mask)->type.kind == DT_BOOL)
		s = node_where(v, mask, s, node_number(v, node_val(v, s)->type, -INFINITY));
	else if (mask != DAG_NONE)
		s = node_call2(v, OP_add, s, mask);
	*scores = node_call(v, OP_softmax, &s, 1, &last, 1);
	return node_call2(v, OP_matmul, *scores, in[2]);
}

/* x[batch,length,size] through projections, attention over heads and the projection of the result. */
static int self_attention(Visit *v, const int *in, const Projections *p, int mask, int *scores)
{
	int part[3];
	if (node_ok(v) && (p->heads < 1 || p->size % p->heads != 0))
		node_fail(v, ERR_INPUT, "its %lld heads do not divide %lld elements", (long long)p->heads, (long long)p->size);
	for (int k = 0; k < 3 && node_ok(v); k++) {
		int w = node_slice(v, p->w, 0, k * p->size, p->size);
		int b = p->b != DAG_NONE ? node_slice(v, p->b, 0, k * p->size, p->size) : DAG_NONE;
		part[k] = node_split_heads(v, dense(v, in[k], w, b), p->heads);
	}
	if (!node_ok(v))
		return DAG_NONE;
	AttentionHow how = { .scale = 1 / sqrt((double)p->size / (double)p->heads) };
	int y = scores != NULL ? composed(v, part, mask, how.scale, scores)
	                       : node_attention(v, part[0], part[1], part[2], mask, &how);
	return dense(v, node_ok(v) ? node_join_heads(v, y) : y, p->out_w, p->out_b);
}

/* A mask of bools is true where a key must not be seen. Type 1 is one for keys, [batch,keys]; 0 for [queries,keys]. */
static int native_mask(Aten *n, DType t)
{
	Visit *v = n->v;
	int x = aten_value(n, "mask");
	int64_t kind = aten_given(n, "mask_type") ? aten_int(n, "mask_type") : 0;
	if (x == DAG_NONE || !node_ok(v))
		return DAG_NONE;
	Shape s = node_val(v, x)->shape;
	if (kind == 1 && s.rank == 2)
		x = node_view(v, x, 4, (int64_t[]){ s.dim[0], 1, 1, s.dim[1] });
	if (node_val(v, x)->type.kind == DT_BOOL)
		return node_call1(v, OP_bit_not, x);
	return node_cast(v, x, t);
}

static Projections projections(Aten *n)
{
	Projections p = { .w = aten_value(n, "qkv_weight"),
		.b = aten_value(n, "qkv_bias"),
		.out_w = aten_value(n, "proj_weight"),
		.out_b = aten_value(n, "proj_bias"),
		.heads = aten_int(n, n->row->op != 0 ? "num_heads" : "num_head"),
		.size = aten_int(n, "embed_dim") };
	Shape s = node_val(n->v, p.w)->shape;
	bool fits = s.rank == 2 && p.size >= 1 && p.size <= INT64_MAX / 3;
	if (node_ok(n->v) && (!fits || s.dim[0] != 3 * p.size || s.dim[1] != p.size))
		node_fail(n->v, ERR_TYPE, "its projections do not fit %lld elements", (long long)p.size);
	return p;
}

static void import_native_mha(Aten *n)
{
	Visit *v = n->v;
	int in[] = { aten_value(n, "query"), aten_value(n, "key"), aten_value(n, "value") }, scores = DAG_NONE;
	Projections p = projections(n);
	bool wanted = aten_flag(n, "need_weights"), mean = aten_flag(n, "average_attn_weights");
	int mask = native_mask(n, node_val(v, in[0])->type);
	int y = self_attention(v, in, &p, mask, wanted ? &scores : NULL);
	TorchValue both = torch_list(v->im->arena, TORCH_TUPLE);
	if (wanted && mean) {
		Attr over[] = { attr_ints("axes", (int64_t[]){ 1 }, 1), attr_int("keep", 0) };
		scores = node_call(v, OP_reduce_mean, &scores, 1, over, 2);
	}
	torch_push(v->im->arena, both.list, torch_of(v, y));
	torch_push(v->im->arena, both.list, wanted ? torch_of(v, scores) : torch_none());
	aten_give(n, both);
}

static int layer_norm(Aten *n, int x, const char *w, const char *b)
{
	Visit *v = n->v;
	int64_t axis = node_val(v, x)->shape.rank - 1;
	Attr over[] = { attr_ints("axes", &axis, 1), attr_int("keep", 1) };
	int centred = node_call2(v, OP_sub, x, node_call(v, OP_reduce_mean, &x, 1, over, 2));
	int square = node_call2(v, OP_mul, centred, centred), var = node_call(v, OP_reduce_mean, &square, 1, over, 2);
	int root = node_call1(v, OP_sqrt, node_with_number(v, OP_add, var, aten_float(n, "eps")));
	int y = node_call2(v, OP_mul, centred, node_call2(v, OP_div, node_number(v, node_val(v, x)->type, 1), root));
	y = node_call2(v, OP_mul, y, aten_value(n, w));
	return node_call2(v, OP_add, y, aten_value(n, b));
}

/* A layer of nn.TransformerEncoder, as the fast path of PyTorch calls it. */
static void import_encoder_layer(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "src");
	bool first = aten_flag(n, "norm_first");
	Projections p = projections(n);
	int inner = first ? layer_norm(n, x, "norm_weight_1", "norm_bias_1") : x, in[] = { inner, inner, inner };
	x = node_call2(v, OP_add, x, self_attention(v, in, &p, native_mask(n, node_val(v, x)->type), NULL));
	if (!first)
		x = layer_norm(n, x, "norm_weight_1", "norm_bias_1");
	inner = first ? layer_norm(n, x, "norm_weight_2", "norm_bias_2") : x;
	inner = dense(v, inner, aten_value(n, "ffn_weight_1"), aten_value(n, "ffn_bias_1"));
	inner = node_activate(v, inner, aten_flag(n, "use_gelu") ? "gelu" : "relu");
	x = node_call2(v, OP_add, x, dense(v, inner, aten_value(n, "ffn_weight_2"), aten_value(n, "ffn_bias_2")));
	aten_set(n, first ? x : layer_norm(n, x, "norm_weight_2", "norm_bias_2"));
}

#define QKV "query:T key:T value:T "
#define PROJECTED "qkv_weight:T qkv_bias:T? proj_weight:T proj_bias:T? "

const AtenRow torch_attention_rows[] = {
	{ "scaled_dot_product_attention", QKV "attn_mask:T? dropout_p:f=0 is_causal:b=False scale:f? enable_gqa:b=False",
		import_sdpa, 0 },
	{ "_scaled_dot_product_flash_attention_for_cpu", QKV "dropout_p:f=0 is_causal:b=False attn_mask:T? scale:f?",
		import_sdpa_of_device, 0 },
	{ "_scaled_dot_product_flash_attention", QKV "dropout_p:f=0 is_causal:b=False return_debug_mask:_? scale:f?",
		import_sdpa_of_device, 0 },
	{ "_scaled_dot_product_attention_math", QKV "attn_mask:T? dropout_p:f=0 is_causal:b=False dropout_mask:_? scale:f?",
		import_sdpa_of_device, 0 },
	{ "_native_multi_head_attention",
		QKV "embed_dim:i num_head:i " PROJECTED "mask:T? need_weights:b=True average_attn_weights:b=True mask_type:i?",
		import_native_mha, 0 },
	{ "_transformer_encoder_layer_fwd",
		"src:T embed_dim:i num_heads:i " PROJECTED "use_gelu:b norm_first:b eps:f norm_weight_1:T norm_bias_1:T "
		"norm_weight_2:T norm_bias_2:T ffn_weight_1:T ffn_bias_1:T ffn_weight_2:T ffn_bias_2:T mask:T? mask_type:i?",
		import_encoder_layer, 1 },
	{ NULL, NULL, NULL, 0 },
};
