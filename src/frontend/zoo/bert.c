/*
 * BERT: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding"; DistilBERT:
 * Sanh et al., "DistilBERT, a distilled version of BERT"; GPT-2: Radford et al., "Language Models are Unsupervised
 * Multitask Learners". The input is numbers of tokens. The result is that of the last layer, or the scores of the token
 * behind each one (GPT-2). Names are those of Hugging Face.
 */
#include "frontend/zoo/transformer.h"
#include "frontend/zoo/zoo.h"

#include <math.h>

enum { WIDTH = 768, HEADS = 12, INNER = 4 * WIDTH };

/* The first rows of a table of places. Refuses more tokens than it has. */
static Act places(Net *net, const char *name, Act ids, int64_t rows)
{
	if (!net_ok(net))
		return ids;
	int64_t tokens = net_dim(net, ids, 1), sizes[] = { tokens, WIDTH };
	if (tokens > rows) {
		fail(net->err, ERR_USAGE, "shape", "ids has %lld tokens, and the network takes at most %lld",
			(long long)tokens, (long long)rows);
		return ids;
	}
	Act table = net_tensor(net, net_sub(net, name, "weight"), (Shape){ 2, { rows, WIDTH } }, 0, 0.1);
	Attr attr = attr_ints("sizes", sizes, 2);
	return net_call(net, name, OP_slice, &table.value, 1, &attr, 1, 0.01);
}

/* ---- BERT: a norm behind each sum */

static Act bert_layer(Net *net, const char *name, Act x)
{
	const AttentionLayer a = { .heads = HEADS };
	Act y = net_attention(net, net_sub(net, name, "attention.self"), x, &a);
	x = net_add(net, net_sub(net, name, "attention.add"), x, y);
	x = zoo_layer_norm(net, net_sub(net, name, "attention.output.LayerNorm"), x);
	const char *const ffn[] = { net_sub(net, name, "intermediate.dense"), net_sub(net, name, "output.dense") };
	y = zoo_feed_forward(net, ffn, x, INNER, zoo_gelu);
	return zoo_layer_norm(net, net_sub(net, name, "output.LayerNorm"), net_add(net, net_sub(net, name, "add"), x, y));
}

static Act bert(Net *net, Act ids, int layers, bool types)
{
	Act x = net_embedding(net, "embeddings.word_embeddings", ids, 30522, WIDTH, 1, NULL);
	x = net_add(net, "embeddings.add", x, places(net, "embeddings.position_embeddings", ids, 512));
	if (types) {
		Shape s = { 3, { 1, 1, WIDTH } };
		Act type = net_tensor(net, "embeddings.token_type_embeddings.weight", s, 0, 0.1);
		x = net_add(net, "embeddings.typed", x, type);
	}
	x = zoo_layer_norm(net, "embeddings.LayerNorm", x);
	for (int k = 0; k < layers; k++)
		x = bert_layer(net, net_numbered(net, "encoder.layer", k), x);
	return x;
}

Act zoo_bert_base(Net *net, Act x)
{
	return bert(net, x, 12, true);
}

Act zoo_distilbert(Net *net, Act x)
{
	return bert(net, x, 6, false);
}

/* ---- GPT-2: a norm before each branch, and tokens that see none behind them */

/* 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) */
static Act gelu_by_tanh(Net *net, const char *name, Act x)
{
	Act y = net_binary(net, net_sub(net, name, "square"), OP_mul, x, x, x.square);
	y = net_binary(net, net_sub(net, name, "cube"), OP_mul, y, x, x.square);
	y = net_by_number(net, net_sub(net, name, "part"), OP_mul, y, 0.044715, x.square);
	y = net_binary(net, net_sub(net, name, "sum"), OP_add, x, y, x.square);
	y = net_by_number(net, net_sub(net, name, "scaled"), OP_mul, y, sqrt(2 / M_PI), x.square);
	y = net_unary(net, net_sub(net, name, "tanh"), OP_tanh, y, 0.5);
	y = net_by_number(net, net_sub(net, name, "above"), OP_add, y, 1, 1.5);
	y = net_binary(net, net_sub(net, name, "twice"), OP_mul, x, y, x.square * 2);
	return net_by_number(net, name, OP_mul, y, 0.5, x.square / 2);
}

static Act gpt_layer(Net *net, const char *name, Act x, const Act *mask)
{
	const AttentionLayer a = { .heads = HEADS, .joined = true, .mask = mask };
	Act y = net_attention(net, net_sub(net, name, "attn"), zoo_layer_norm(net, net_sub(net, name, "ln_1"), x), &a);
	x = net_add(net, net_sub(net, name, "add_1"), x, y);
	const char *const mlp[] = { net_sub(net, name, "mlp.c_fc"), net_sub(net, name, "mlp.c_proj") };
	y = zoo_feed_forward(net, mlp, zoo_layer_norm(net, net_sub(net, name, "ln_2"), x), INNER, gelu_by_tanh);
	return net_add(net, net_sub(net, name, "add_2"), x, y);
}

Act zoo_gpt2(Net *net, Act ids)
{
	Act table = net_tensor(net, "wte.weight", (Shape){ 2, { 50257, WIDTH } }, 0, 1);
	Act x = net_embedding(net, "wte", ids, 0, 0, 0, &table);
	x = net_add(net, "embedding", x, places(net, "wpe", ids, 1024));
	const int64_t tokens = net_ok(net) ? net_dim(net, ids, 1) : 1;
	Act mask = net_causal_mask(net, "mask", tokens, tokens);
	for (int k = 0; k < 12; k++)
		x = gpt_layer(net, net_numbered(net, "h", k), x, &mask);
	x = zoo_layer_norm(net, "ln_f", x);
	int in[] = { x.value, table.value };
	Attr by_rows = attr_int("tb", 1);
	return net_call(net, "lm_head", OP_matmul, in, 2, &by_rows, 1, WIDTH);
}
