/*
 * Rows of decompressions, whose results are constants: quantised, looked up in tables, sparse. They are computed while
 * importing, so that later rows see whole weights.
 */
#include "frontend/coreml/mil.h"

#include "op/element.h"

#include <string.h>

/* A parameter that must be there. */
static const Item *need(Visit *v, const char *key)
{
	const Item *it = mil_known(v, key);
	if (it == NULL && node_ok(v))
		node_fail(v, ERR_INPUT, "its parameter %s is missing", key);
	return it;
}

static void *room(Visit *v, DType type, Shape s)
{
	if (!node_ok(v) || !import_check_size(v->im, "result of", v->node->name, type, s))
		return NULL;
	return arena_alloc(v->im->arena, (size_t)dtype_bytes(type, shape_elements(s)) + 16);
}

static Shape shape_param(Visit *v)
{
	int n;
	const int64_t *dim = mil_ints(v, "shape", &n);
	Shape s = { .rank = 0 };
	if (node_ok(v) && (n < 0 || n > DAG_MAX_RANK))
		node_fail(v, ERR_TYPE, "its parameter shape has %d numbers", n);
	for (int k = 0; k < n && node_ok(v); k++)
		s.dim[s.rank++] = coreml_size(v, "shape", dim[k], 0);
	if (node_ok(v)) /* so that its bits can be counted */
		import_check_size(v->im, "result of", v->node->name, DT(UINT, 8), s);
	return s;
}

/* scale * (data - zero_point) along an axis */
static void import_affine(Visit *v)
{
	const Item *x = need(v, "quantized_data"), *scale = need(v, "scale"), *zero = need(v, "zero_point");
	int64_t given = mil_int(v, "axis", 0);
	if (!node_ok(v))
		return;
	int axis = node_axis(v, given, x->shape.rank);
	int64_t n = shape_elements(x->shape), many = shape_elements(scale->shape), zeros = shape_elements(zero->shape);
	int64_t inner = node_ok(v) ? shape_product(&x->shape, axis + 1, x->shape.rank) : 1, size = x->shape.dim[axis];
	if (node_ok(v) && ((many != 1 && many != size) || (zeros != 1 && zeros != size)))
		node_fail(v, ERR_TYPE, "its %lld scales and %lld zero points do not fit axis %d", (long long)many,
			(long long)zeros, axis);
	void *to = room(v, scale->type, x->shape);
	for (int64_t i = 0; to != NULL && i < n; i++) {
		int64_t c = i / inner % size;
		element_set(scale->type, to, i,
			element_get(scale->type, scale->data, many == 1 ? 0 : c) *
				(element_get(x->type, x->data, i) - element_get(zero->type, zero->data, zeros == 1 ? 0 : c)));
	}
	if (to != NULL)
		node_set_known(v, 0, scale->type, x->shape, to);
}

/* The element of a smaller tensor that stands for element i: each of its elements counts for a block. */
static int64_t block_of(const Shape *s, const Shape *small, int64_t i)
{
	int64_t at = 0, step = 1;
	for (int k = s->rank - 1; k >= 0; k--) {
		int64_t place = i % s->dim[k] / (s->dim[k] / small->dim[k]);
		at += place * step;
		step *= small->dim[k];
		i /= s->dim[k];
	}
	return at;
}

static bool check_blocks(Visit *v, const Shape *s, const Shape *small, int rank)
{
	bool ok = small->rank >= rank;
	for (int k = 0; k < rank && ok; k++)
		ok = small->dim[k] > 0 && s->dim[k] % small->dim[k] == 0;
	if (!ok && node_ok(v))
		node_fail(v, ERR_TYPE, "its blocks do not divide its data");
	return ok && node_ok(v);
}

/* scale * (data - offset) by blocks; what is 0 in a mask stays 0. */
static void import_blockwise(Visit *v)
{
	const Item *x = need(v, "data"), *scale = need(v, "scale"), *offset = mil_known(v, "offset");
	if (!node_ok(v) || !check_blocks(v, &x->shape, &scale->shape, x->shape.rank) ||
		(offset != NULL && !check_blocks(v, &x->shape, &offset->shape, x->shape.rank)))
		return;
	int64_t n = shape_elements(x->shape);
	void *to = room(v, scale->type, x->shape);
	for (int64_t i = 0; to != NULL && i < n; i++) {
		double code = element_get(x->type, x->data, i);
		if (offset != NULL)
			code -= element_get(offset->type, offset->data, block_of(&x->shape, &offset->shape, i));
		element_set(
			scale->type, to, i, code * element_get(scale->type, scale->data, block_of(&x->shape, &scale->shape, i)));
	}
	if (to != NULL)
		node_set_known(v, 0, scale->type, x->shape, to);
}

/* iOS 16: codes lie side by side in bytes, the first one in the lowest bits. */
static void import_packed_table(Visit *v, const Item *codes, const Item *lut)
{
	Shape s = shape_param(v);
	int64_t entries = shape_elements(lut->shape), n = shape_elements(s);
	int bits = 0;
	while (bits < 8 && (int64_t)1 << bits < entries)
		bits++;
	if (node_ok(v) && (bits == 0 || (int64_t)1 << bits != entries || n < 0 ||
						  shape_elements(codes->shape) != (n * bits + 7) / 8 || codes->type.bits != 8))
		node_fail(v, ERR_TYPE, "its table of %lld entries does not fit its codes", (long long)entries);
	void *to = room(v, lut->type, s);
	const unsigned char *b = codes->data;
	for (int64_t i = 0; to != NULL && i < n; i++) {
		int64_t at = i * bits;
		unsigned two = b[at / 8];
		if (at % 8 + bits > 8)
			two |= (unsigned)b[at / 8 + 1] << 8;
		element_set(lut->type, to, i, element_get(lut->type, lut->data, two >> (at % 8) & ((1U << bits) - 1)));
	}
	if (to != NULL)
		node_set_known(v, 0, lut->type, s, to);
}

/* iOS 18: lut[blocks.., entries, vector]; an entry of more numbers than one fills the vector axis. */
static void import_table(Visit *v)
{
	const Item *codes = need(v, "indices"), *lut = need(v, "lut");
	if (!node_ok(v))
		return;
	if (mil_has(v, "shape")) {
		import_packed_table(v, codes, lut);
		return;
	}
	Shape s = codes->shape, out = s;
	int rank = s.rank;
	if (lut->shape.rank != rank + 2 || !check_blocks(v, &s, &lut->shape, rank)) {
		node_fail(v, ERR_TYPE, "its table has %d dimensions for codes of %d", lut->shape.rank, rank);
		return;
	}
	int64_t entries = lut->shape.dim[rank], vector = lut->shape.dim[rank + 1], n = shape_elements(s);
	int axis = vector == 1 && !mil_has(v, "vector_axis") ? 0 : node_axis(v, mil_int(v, "vector_axis", 0), rank);
	if (node_ok(v) && (vector < 1 || vector > 1 << 16))
		node_fail(v, ERR_TYPE, "its table has entries of %lld numbers", (long long)vector);
	if (!node_ok(v))
		return;
	out.dim[axis] *= vector;
	int64_t inner = shape_product(&s, axis + 1, rank);
	void *to = room(v, lut->type, out);
	for (int64_t i = 0; to != NULL && i < n; i++) {
		int64_t code = element_get_int(codes->type, codes->data, i), outer = i / inner;
		if (code < 0 || code >= entries) {
			node_fail(v, ERR_INPUT, "its code %lld is none of its table of %lld entries", (long long)code,
				(long long)entries);
			return;
		}
		int64_t from = (block_of(&s, &lut->shape, i) * entries + code) * vector;
		for (int64_t k = 0; k < vector; k++)
			element_set(
				lut->type, to, (outer * vector + k) * inner + i % inner, element_get(lut->type, lut->data, from + k));
	}
	if (to != NULL)
		node_set_known(v, 0, lut->type, out, to);
}

/* A bit, or an element, of the mask for each element; what is set takes the next number. */
static void import_sparse(Visit *v)
{
	const Item *x = need(v, "nonzero_data"), *mask = need(v, "mask");
	if (!node_ok(v))
		return;
	bool packed = mil_has(v, "shape");
	Shape s = packed ? shape_param(v) : mask->shape;
	int64_t n = shape_elements(s), taken = 0, have = shape_elements(x->shape);
	if (node_ok(v) && packed && (n < 0 || shape_elements(mask->shape) != (n + 7) / 8 || mask->type.bits != 8))
		node_fail(v, ERR_TYPE, "its mask does not fit its shape");
	void *to = room(v, x->type, s);
	const unsigned char *b = mask->data;
	for (int64_t i = 0; to != NULL && i < n; i++) {
		bool set = packed ? (b[i / 8] >> (i % 8) & 1) != 0 : element_get_int(mask->type, mask->data, i) != 0;
		if (set && taken == have) {
			node_fail(
				v, ERR_INPUT, "its mask has more elements set than the %lld numbers that it has", (long long)have);
			return;
		}
		if (set)
			element_set(x->type, to, i, element_get(x->type, x->data, taken++));
	}
	if (node_ok(v) && taken != have)
		node_fail(
			v, ERR_INPUT, "its mask has %lld elements set, but it has %lld numbers", (long long)taken, (long long)have);
	if (to != NULL && node_ok(v))
		node_set_known(v, 0, x->type, s, to);
}

/* A table for the elements that a mask sets: the mask, and their numbers. */
static void import_sparse_table(Visit *v)
{
	const Item *mask = need(v, "indices_mask"), *codes = need(v, "indices_nonzero_data"), *lut = need(v, "lut");
	mil_skip(v, "vector_axis");
	if (!node_ok(v))
		return;
	Shape s = mask->shape;
	int rank = s.rank;
	if (lut->shape.rank != rank + 2 || lut->shape.dim[rank + 1] != 1 || !check_blocks(v, &s, &lut->shape, rank)) {
		node_fail(v, ERR_UNSUPPORTED, "its table has entries of more numbers than one");
		return;
	}
	int64_t n = shape_elements(s), have = shape_elements(codes->shape), taken = 0, entries = lut->shape.dim[rank];
	void *to = room(v, lut->type, shape_of(1, &have));
	for (int64_t i = 0; to != NULL && i < n; i++) {
		if (element_get_int(mask->type, mask->data, i) == 0)
			continue;
		int64_t code = taken < have ? element_get_int(codes->type, codes->data, taken) : -1;
		if (code < 0 || code >= entries) {
			node_fail(v, ERR_INPUT, "its codes do not fit its mask and its table");
			return;
		}
		element_set(
			lut->type, to, taken++, element_get(lut->type, lut->data, block_of(&s, &lut->shape, i) * entries + code));
	}
	if (node_ok(v) && taken != have)
		node_fail(
			v, ERR_INPUT, "its mask has %lld elements set, but it has %lld codes", (long long)taken, (long long)have);
	if (to == NULL || !node_ok(v))
		return;
	node_set_known(v, 0, mask->type, s, mask->data);
	node_set_known(v, 1, lut->type, shape_of(1, &have), to);
}

/* The same of quantised numbers. */
static void import_sparse_blockwise(Visit *v)
{
	const Item *mask = need(v, "data_mask"), *x = need(v, "nonzero_data"), *scale = need(v, "scale");
	const Item *offset = mil_known(v, "offset");
	if (!node_ok(v) || !check_blocks(v, &mask->shape, &scale->shape, mask->shape.rank) ||
		(offset != NULL && !check_blocks(v, &mask->shape, &offset->shape, mask->shape.rank)))
		return;
	Shape s = mask->shape;
	int64_t n = shape_elements(s), have = shape_elements(x->shape), taken = 0;
	void *to = room(v, scale->type, shape_of(1, &have));
	for (int64_t i = 0; to != NULL && i < n; i++) {
		if (element_get_int(mask->type, mask->data, i) == 0)
			continue;
		if (taken == have)
			break;
		double code = element_get(x->type, x->data, taken);
		if (offset != NULL)
			code -= element_get(offset->type, offset->data, block_of(&s, &offset->shape, i));
		element_set(
			scale->type, to, taken++, code * element_get(scale->type, scale->data, block_of(&s, &scale->shape, i)));
	}
	if (node_ok(v) && taken != have)
		node_fail(v, ERR_INPUT, "its mask does not have %lld elements set", (long long)have);
	if (to == NULL || !node_ok(v))
		return;
	node_set_known(v, 0, mask->type, s, mask->data);
	node_set_known(v, 1, scale->type, shape_of(1, &have), to);
}

static void import_cast(Visit *v)
{
	const Item *x = need(v, "source_val");
	const char *name = node_attr_text(v, "output_dtype", "");
	DType t = strcmp(name, "fp16") == 0 ? F16 : F32;
	if (node_ok(v) && t.bits == 32 && strcmp(name, "fp32") != 0)
		node_fail(v, ERR_UNSUPPORTED, "its parameter output_dtype is '%.60s', which is not supported", name);
	void *to = node_ok(v) ? room(v, t, x->shape) : NULL;
	for (int64_t i = 0; to != NULL && i < shape_elements(x->shape); i++)
		element_set(t, to, i, element_get(x->type, x->data, i));
	if (to != NULL)
		node_set_known(v, 0, t, x->shape, to);
}

const NodeRow mil_constexpr_rows[] = {
	{ "constexpr_affine_dequantize", 6, "", import_affine },
	{ "constexpr_lut_to_dense", 6, "", import_table },
	{ "constexpr_sparse_to_dense", 6, "", import_sparse },
	{ "constexpr_cast", 6, "", import_cast },
	{ "constexpr_blockwise_shift_scale", 8, "", import_blockwise },
	{ "constexpr_lut_to_sparse", 8, "", import_sparse_table },
	{ "constexpr_sparse_blockwise_shift_scale", 8, "", import_sparse_blockwise },
	{ NULL, 0, NULL, NULL },
};
