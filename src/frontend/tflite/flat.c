/* FlatBuffers with all offsets checked (flat.h). */
#include "frontend/tflite/flat.h"

#include "base/text.h"

#include <string.h>

static bool refuse(Flat *f, const char *what, size_t at)
{
	return fail(f->err, ERR_INPUT, NULL, "damaged at byte %zu: %s", at, what);
}

static bool is_ok(const Flat *f)
{
	return f->err->code == ERR_NONE;
}

/* [at, at + n) is in the file. */
static bool inside(Flat *f, size_t at, size_t n, const char *what)
{
	if (!is_ok(f))
		return false;
	if (at > f->file.n || n > f->file.n - at)
		return refuse(f, what, at);
	return true;
}

/* Counts n bytes as read. */
static bool spend(Flat *f, size_t n, size_t at)
{
	if (!is_ok(f))
		return false;
	if (n > f->left)
		return refuse(f, "its tables overlap, so that they hold more than the file", at);
	f->left -= n;
	return true;
}

/* A little-endian number of n bytes. */
static uint64_t number(const unsigned char *at, size_t n)
{
	uint64_t v = 0;
	for (size_t k = 0; k < n; k++)
		v |= (uint64_t)at[k] << (8 * k);
	return v;
}

/* The place that the offset at `at` points to; 0 after a refusal. */
static size_t follow(Flat *f, size_t at)
{
	if (!inside(f, at, 4, "an offset is outside of the file"))
		return 0;
	size_t to = at + number(f->file.at + at, 4);
	if (to == at || to > f->file.n - 4) {
		refuse(f, "an offset points outside of the file", at);
		return 0;
	}
	return to;
}

/* A table begins with the distance back to its offsets: their bytes, its own bytes, then one for each field. */
static FlatTable table_at(Flat *f, size_t at)
{
	FlatTable none = { 0 };
	if (at == 0 || !inside(f, at, 4, "a table is outside of the file"))
		return none;
	int64_t back = (int32_t)(uint32_t)number(f->file.at + at, 4), fields = (int64_t)at - back;
	if (fields < 0 || !inside(f, (size_t)fields, 4, "the offsets of a table are outside of the file")) {
		refuse(f, "the offsets of a table are outside of the file", at);
		return none;
	}
	size_t bytes = number(f->file.at + fields, 2);
	if (bytes < 4 || bytes % 2 != 0 || !inside(f, (size_t)fields, bytes, "the offsets of a table are cut off")) {
		refuse(f, "the offsets of a table have no proper size", (size_t)fields);
		return none;
	}
	if (!spend(f, 4, at))
		return none;
	return (FlatTable){ at, (size_t)fields + 4, bytes / 2 - 2 };
}

FlatTable flat_root(Flat *f)
{
	return table_at(f, follow(f, 0));
}

/* Where a field of n bytes is; 0: it is absent. */
static size_t field_at(Flat *f, const FlatTable *t, int field, size_t n)
{
	if (t->at == 0 || !is_ok(f) || (size_t)field >= t->nfields)
		return 0;
	size_t offset = number(f->file.at + t->fields + 2 * (size_t)field, 2);
	if (offset == 0 || !inside(f, t->at + offset, n, "a field is outside of the file"))
		return 0;
	return t->at + offset;
}

bool flat_has(Flat *f, const FlatTable *t, int field)
{
	return field_at(f, t, field, 1) != 0;
}

int64_t flat_int(Flat *f, const FlatTable *t, int field, FlatKind kind, int64_t otherwise)
{
	static const size_t bytes[] = {
		[FLAT_BOOL] = 1, [FLAT_I8] = 1, [FLAT_I32] = 4, [FLAT_U32] = 4, [FLAT_I64] = 8, [FLAT_F32] = 4
	};
	size_t at = field_at(f, t, field, bytes[kind]);
	if (at == 0)
		return otherwise;
	uint64_t v = number(f->file.at + at, bytes[kind]);
	switch (kind) {
	case FLAT_BOOL: return v != 0;
	case FLAT_I8: return (int8_t)v;
	case FLAT_I32: return (int32_t)v;
	default: return (int64_t)v;
	}
}

double flat_float(Flat *f, const FlatTable *t, int field, double otherwise)
{
	size_t at = field_at(f, t, field, 4);
	float v;
	if (at == 0)
		return otherwise;
	memcpy(&v, f->file.at + at, sizeof v);
	return v;
}

FlatTable flat_table(Flat *f, const FlatTable *t, int field)
{
	size_t at = field_at(f, t, field, 4);
	return at == 0 ? (FlatTable){ 0 } : table_at(f, follow(f, at));
}

FlatVector flat_vector(Flat *f, const FlatTable *t, int field, size_t width)
{
	FlatVector none = { 0 };
	size_t at = field_at(f, t, field, 4), to = at == 0 ? 0 : follow(f, at);
	if (to == 0 || !inside(f, to, 4, "a vector is outside of the file"))
		return none;
	size_t n = number(f->file.at + to, 4);
	if (n > (f->file.n - to - 4) / width) {
		refuse(f, "a vector is longer than the file", to);
		return none;
	}
	if (!spend(f, n * width, to))
		return none;
	return (FlatVector){ f->file.at + to + 4, n, width };
}

const char *flat_text(Arena *a, Flat *f, const FlatTable *t, int field)
{
	FlatVector v = flat_vector(f, t, field, 1);
	return v.n == 0 ? "" : arena_printf(a, "%.*s", v.n > 4096 ? 4096 : (int)v.n, (const char *)v.at);
}

FlatTable flat_element(Flat *f, const FlatVector *v, size_t k)
{
	if (k >= v->n || !is_ok(f))
		return (FlatTable){ 0 };
	return table_at(f, follow(f, (size_t)(v->at - f->file.at) + 4 * k));
}

int64_t flat_get_int(const FlatVector *v, size_t k)
{
	uint64_t x = number(v->at + k * v->width, v->width);
	return v->width == 4 ? (int32_t)x : v->width == 1 ? (int8_t)x : (int64_t)x;
}

float flat_get_float(const FlatVector *v, size_t k)
{
	float x;
	memcpy(&x, v->at + k * v->width, sizeof x);
	return x;
}
