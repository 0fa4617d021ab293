/*
 * Boxes of tensors: read, written as keys, intersected and copied. A slice's key is written in TensorFlow's OrderedCode
 * (facts of tensorflow/core/lib/strings/ordered_code.cc and core/util/saved_tensor_slice_util.cc): the number 0, the
 * tensor's name, the rank, then start and length of each dimension, where -1 is the length of a whole one.
 */
#include "frontend/tensorflow/slices.h"

#include <stdlib.h>
#include <string.h>

TfBox tf_box_whole(Shape shape)
{
	return (TfBox){ .length = shape };
}

/* Start and length of a dimension; a length of -1 is all of it. */
static bool set_extent(TfBox *b, Shape shape, int d, int64_t start, int64_t length)
{
	int64_t all = shape.dim[d];
	if (length < 0)
		length = start == 0 ? all : -1;
	b->start[d] = start;
	b->length.dim[d] = length;
	return start >= 0 && length >= 0 && start <= all && length <= all - start;
}

/* A slice without a length is all of the dimension. */
static int64_t extent_length(const TfExtent *e)
{
	return e->has >> TfExtent_length & 1 ? e->length : -1;
}

bool tf_box_listed(const TfSlice *s, Shape shape, TfBox *out)
{
	*out = tf_box_whole(shape);
	bool ok = s->extent.n == (size_t)shape.rank;
	for (int d = 0; d < shape.rank && ok; d++)
		ok = set_extent(out, shape, d, s->extent.at[d].start, extent_length(&s->extent.at[d]));
	return ok;
}

bool tf_box_read(const char *spec, Shape shape, TfBox *out)
{
	char *end;
	*out = tf_box_whole(shape);
	if (*spec == 0)
		return true;
	for (int d = 0; d < shape.rank; d++, spec = end + 1)
		if (strtoll(spec, &end, 10) != shape.dim[d] || *end != ' ')
			return false;
	for (int d = 0; d < shape.rank; d++) {
		int64_t start = 0, length = -1;
		if (spec[0] == '-') {
			end = (char *)(uintptr_t)(spec + 1);
		} else {
			start = strtoll(spec, &end, 10);
			if (*end != ',')
				return false;
			spec = end + 1;
			length = strtoll(spec, &end, 10);
			if (end == spec || length < 0)
				return false;
		}
		if (*end != (d + 1 < shape.rank ? ':' : 0) || !set_extent(out, shape, d, start, length))
			return false;
		spec = end + 1;
	}
	return shape.rank > 0;
}

/* ---- keys */

/* A number from 0 on: how many bytes it has, then the bytes, the highest first. */
static void put_number(Text *out, uint64_t x)
{
	char bytes[9];
	int n = 0;
	while (n < 8 && x >> 8 * n != 0)
		n++;
	bytes[0] = (char)n;
	for (int k = 0; k < n; k++)
		bytes[1 + k] = (char)(x >> 8 * (n - 1 - k));
	text_put(out, bytes, (size_t)n + 1);
}

/* Bytes 0 and 255 are two bytes each, and the end is 0 1. */
static void put_string(Text *out, const char *s)
{
	for (; *s != 0; s++)
		text_put(out, (unsigned char)*s == 255 ? "\xff\0" : s, (unsigned char)*s == 255 ? 2 : 1);
	text_put(out, "\0\1", 2);
}

/*
 * A signed number: its bytes, whose first bits say how many they are. n bytes hold 7 n - 1 bits and a sign; the first n
 * bits are turned.
 */
static void put_signed(Text *out, int64_t x)
{
	unsigned char bytes[10], sign = x < 0 ? 255 : 0;
	uint64_t size = x < 0 ? ~(uint64_t)x : (uint64_t)x;
	int n = 1;
	while (n < 10 && 7 * n - 1 < 64 && size >> (7 * n - 1) != 0)
		n++;
	for (int k = 0; k < 10; k++)
		bytes[k] = k < 2 ? sign : (unsigned char)((uint64_t)x >> 8 * (9 - k));
	unsigned char *at = bytes + 10 - n;
	for (int k = 0; k < n; k++)
		at[k / 8] ^= (unsigned char)(128 >> k % 8);
	text_put(out, (const char *)at, (size_t)n);
}

const char *tf_key_letters(Arena *a, const char *key, size_t n)
{
	Text out = { .arena = a };
	if (n == 0 || key[0] != 0)
		return arena_printf(a, "%.*s", (int)n, key);
	text_add(&out, "slice ");
	for (size_t k = 0; k < n; k++)
		text_add(&out, "%02x", (unsigned char)key[k]);
	return text_str(&out);
}

const char *tf_slice_key(Arena *a, const char *tensor, const TfSlice *s)
{
	Text key = { .arena = a };
	put_number(&key, 0);
	put_string(&key, tensor);
	put_number(&key, s->extent.n);
	for (size_t d = 0; d < s->extent.n; d++) {
		put_signed(&key, s->extent.at[d].start);
		put_signed(&key, extent_length(&s->extent.at[d]));
	}
	return tf_key_letters(a, text_str(&key), key.n);
}

/* ---- elements */

/* What both have, from the start of the tensor. */
static TfBox common(const TfBox *a, const TfBox *b)
{
	TfBox out = { .length = { .rank = a->length.rank } };
	for (int d = 0; d < a->length.rank; d++) {
		int64_t start = a->start[d] > b->start[d] ? a->start[d] : b->start[d];
		int64_t end = a->start[d] + a->length.dim[d], other = b->start[d] + b->length.dim[d];
		end = end < other ? end : other;
		out.start[d] = start;
		out.length.dim[d] = end > start ? end - start : 0;
	}
	return out;
}

int64_t tf_box_common(const TfBox *a, const TfBox *b)
{
	return shape_elements(common(a, b).length);
}

/* Where an element of the tensor lies in a box. */
static int64_t place(const TfBox *b, const int64_t *at)
{
	int64_t out = 0;
	for (int d = 0; d < b->length.rank; d++)
		out = out * b->length.dim[d] + at[d] - b->start[d];
	return out;
}

void tf_box_copy(const TfBox *to, void *data, const TfBox *from, const void *source, size_t size)
{
	TfBox box = common(to, from);
	int last = box.length.rank - 1;
	if (shape_elements(box.length) == 0)
		return;
	size_t row = (last < 0 ? 1 : (size_t)box.length.dim[last]) * size;
	int64_t at[DAG_MAX_RANK];
	memcpy(at, box.start, sizeof at);
	for (int d = 0; d >= 0;) {
		memcpy((char *)data + (size_t)place(to, at) * size, (const char *)source + (size_t)place(from, at) * size, row);
		for (d = last - 1; d >= 0; d--) { /* the next row */
			if (++at[d] < box.start[d] + box.length.dim[d])
				break;
			at[d] = box.start[d];
		}
	}
}
