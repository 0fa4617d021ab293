/*
 * Inside the room: the functions that shape rules share, and the rules, one for each family of operators. A
 * rule fills out[0 .. c->nout) with types and shapes, or refuses and names what does not fit.
 */
#ifndef OP_RULES_H
#define OP_RULES_H

#include "op/shape.h"

enum { LARGEST_STEP = 1 << 20 }; /* of strides, dilations, kernels: products stay within int64 */
#define LARGEST_DIM ((int64_t)1 << 40)

bool need_float(const OpCall *c, const Value *v, Err *err);
bool need_number(const OpCall *c, const Value *v, Err *err); /* anything but bool */
bool need_same_type(const OpCall *c, const Value *a, const Value *b, Err *err);
/* x and w are of one type, or integers of 8 bits with or without a sign, whose products are summed in i32. */
bool need_factors(const OpCall *c, const Value *x, const Value *w, Err *err);
bool need_rank(const OpCall *c, const Value *v, int lo, int hi, Err *err);
/* The attribute tf32 is 0, or 1 where x is f32. */
bool need_tf32(const OpCall *c, const Value *x, Err *err);
bool need_broadcast(const OpCall *c, const Value *a, const Value *b, Shape *out, Err *err);
/* Reads n numbers in [lo, hi]; where the attribute is absent, n times `absent`. */
bool read_ints(
	const OpCall *c, const char *name, int n, int64_t lo, int64_t hi, int64_t absent, int64_t *out, Err *err);
/* The type of sums of products: i32 for factors that are integers of 8 bits, else theirs. */
DType product_type(DType factor);
/* The bias b of products of x has the type of their sums. */
bool need_bias(const OpCall *c, const Value *x, const Value *b, Err *err);
/* Copies the type and shape of x and nothing else. */
void set_like(Value *out, const Value *x);

bool infer_conv(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_conv_transpose(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_max_pool_place(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_pool(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_dense(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_suppress(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_det(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_matmul(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_batch_norm(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_fold(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_lrn(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_binary(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_mod(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_compare(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_logic(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_shift(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_where(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_test(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_prelu(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_unary_float(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_unary_number(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_identity(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_clip(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_cast(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_softmax(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_reduce(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_arg(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_scan(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_top_k(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_attention(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_linear_attention(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_recurrent(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_reshape(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_expand(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_transpose(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_concat(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_split(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_slice(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_pad(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_gather(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_resample(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_gather_nd(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_gather_elements(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_scatter_nd(const Dag *d, const OpCall *c, Value *out, Err *err);
bool infer_scatter_elements(const Dag *d, const OpCall *c, Value *out, Err *err);

#endif
