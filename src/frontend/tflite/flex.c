/* The numbers of a FlexBuffers map (flex.h). A value is a byte of its type and width, and bytes in its vector. */
#include "frontend/tflite/flex.h"

#include <string.h>

enum { MOST = 64 };

/* The kinds of values that are read. */
enum { FLEX_INT = 1, FLEX_UINT, FLEX_FLOAT, FLEX_FAR_INT = 6, FLEX_FAR_UINT, FLEX_FAR_FLOAT, FLEX_MAP, FLEX_BOOL = 26 };

static bool inside(Bytes b, size_t at, size_t n)
{
	return at <= b.n && n <= b.n - at;
}

static uint64_t number(Bytes b, size_t at, size_t width)
{
	uint64_t v = 0;
	for (size_t k = 0; k < width && inside(b, at, width); k++)
		v |= (uint64_t)b.at[at + k] << (8 * k);
	return v;
}

/* The place that an offset of `width` bytes points back to; false: it is outside. */
static bool follow(Bytes b, size_t at, size_t width, size_t *to)
{
	uint64_t back = number(b, at, width);
	if (!inside(b, at, width) || back > at)
		return false;
	*to = at - (size_t)back;
	return true;
}

static bool read_number(Bytes b, int kind, size_t at, size_t width, NodeAttr *out)
{
	uint64_t v = number(b, at, width);
	bool real = kind == FLEX_FLOAT || kind == FLEX_FAR_FLOAT;
	if (!inside(b, at, width) || (real && width < 4))
		return false;
	out->kind = real ? NODE_FLOAT : NODE_INT;
	if (real && width == 4) {
		float f;
		memcpy(&f, b.at + at, sizeof f);
		out->f = f;
	} else if (real) {
		memcpy(&out->f, b.at + at, sizeof out->f);
	} else {
		int unused = 64 - 8 * (int)width;
		bool is_signed = kind == FLEX_INT || kind == FLEX_FAR_INT;
		out->i = is_signed ? (int64_t)(v << unused) >> unused : (int64_t)v;
	}
	return true;
}

/* Value k of a map of n values, each of `width` bytes, at `at`. */
static bool read_value(Bytes b, size_t at, size_t width, size_t n, size_t k, NodeAttr *out)
{
	size_t types = at + n * width, to = at + k * width;
	if (!inside(b, types, n))
		return false;
	int type = b.at[types + k], kind = type >> 2;
	if (kind == FLEX_INT || kind == FLEX_UINT || kind == FLEX_FLOAT || kind == FLEX_BOOL)
		return read_number(b, kind, to, width, out);
	if (kind < FLEX_FAR_INT || kind > FLEX_FAR_FLOAT || !follow(b, to, width, &to))
		return false;
	return read_number(b, kind, to, (size_t)1 << (type & 3), out);
}

NodeAttr *flex_attrs(Arena *a, Bytes b, size_t *n)
{
	NodeAttr *out = arena_array(a, NodeAttr, MOST);
	size_t at, keys;
	*n = 0;
	if (b.n < 3 || b.at[b.n - 2] >> 2 != FLEX_MAP || b.at[b.n - 1] > 8 || b.n - 2 < b.at[b.n - 1] ||
		!follow(b, b.n - 2 - b.at[b.n - 1], b.at[b.n - 1], &at))
		return out;
	size_t width = (size_t)1 << (b.at[b.n - 2] & 3);
	if (at < 3 * width || !follow(b, at - 3 * width, width, &keys))
		return out;
	uint64_t count = number(b, at - width, width), key_width = number(b, at - 2 * width, width);
	if (count > MOST) {
		out[(*n)++] = (NodeAttr){ .name = "options, of which there are more than 64", .kind = NODE_OTHER };
		return out;
	}
	if (key_width != 1 && key_width != 2 && key_width != 4 && key_width != 8)
		return out;
	for (size_t k = 0; k < count; k++) {
		NodeAttr *next = &out[*n];
		size_t name;
		if (!follow(b, keys + k * key_width, key_width, &name) || name >= b.n ||
			memchr(b.at + name, 0, b.n - name) == NULL || b.at[name] == '_')
			continue;
		if (!read_value(b, at, width, (size_t)count, k, next))
			next->kind = NODE_OTHER;
		next->name = arena_printf(a, "%.100s", (const char *)b.at + name);
		(*n)++;
	}
	return out;
}
