/* See tensor.h. Sizes come from files, so products are checked for overflow. */
#include "runtime/tensor.h"

#include <stdio.h>

static const char *kind_name(uint8_t code)
{
	switch (code) {
	case TYPE_INT: return "i";
	case TYPE_UINT: return "u";
	case TYPE_FLOAT: return "f";
	case TYPE_BFLOAT: return "bf";
	default: return "type";
	}
}

const char *tensor_print(const DlcTensor *t, char out[TENSOR_TEXT])
{
	int at = 0;
	if (t->dtype.code == TYPE_BOOL && t->dtype.bits == 8)
		at = snprintf(out, TENSOR_TEXT, "bool[");
	else
		at = snprintf(out, TENSOR_TEXT, "%s%d[", kind_name(t->dtype.code), t->dtype.bits);
	for (int i = 0; i < t->ndim && at < TENSOR_TEXT - 26; i++) {
		const char *comma = i > 0 ? "," : "";
		if (t->shape[i] < 0)
			at += snprintf(out + at, TENSOR_TEXT - (size_t)at, "%s?", comma);
		else
			at += snprintf(out + at, TENSOR_TEXT - (size_t)at, "%s%lld", comma,
				(long long)t->shape[i]);
	}
	snprintf(out + at, TENSOR_TEXT - (size_t)at, "]");
	return out;
}

int64_t tensor_count(const DlcTensor *t)
{
	int64_t n = 1;
	bool empty = false;
	for (int i = 0; i < t->ndim; i++) {
		if (t->shape[i] < 0)
			return -1;
		if (t->shape[i] == 0)
			empty = true;
		else if (__builtin_mul_overflow(n, t->shape[i], &n) || n > (int64_t)1 << 62)
			return -1;
	}
	return empty ? 0 : n;
}

int64_t tensor_bytes(const DlcTensor *t)
{
	int64_t n = tensor_count(t), bits;
	if (n < 0 || __builtin_mul_overflow(n, (int64_t)t->dtype.bits, &bits))
		return -1;
	return bits / 8 + (bits % 8 != 0);
}

bool tensor_is_compact(const DlcTensor *t)
{
	int64_t want = 1;
	if (t->strides == NULL || tensor_count(t) == 0)
		return true; /* NumPy's strides and PyTorch's count a dimension of 0 as 1 */
	for (int i = t->ndim - 1; i >= 0; i--) {
		if (t->shape[i] != 1 && t->strides[i] != want)
			return false;
		want *= t->shape[i];
	}
	return true;
}
