/*
 * Values of ML programs: texts, tensors that stand in the program, and tensors in the file of weights. That file has a
 * header of 64 bytes. A value's offset leads to 64 bytes about it, a magic number, its type, its size and where its
 * bytes begin. Elements of less than 8 bits lie side by side, the first one in the lowest bits; dlc spreads them.
 */
#include "frontend/coreml/mil.h"

#include "frontend/neighbour.h"
#include "op/element.h"

#include <string.h>

enum { TYPE_TEXT = 2, TYPE_BOOL = 1 };
enum { BLOB_HEADER = 64, BLOB_MAGIC = (int)0xdeadbeef };

static const MilTensor *immediate(const MilValue *v)
{
	return v->immediateValue != NULL ? v->immediateValue->tensor : NULL;
}

bool mil_is_text(const MilValue *v)
{
	return v->type != NULL && v->type->tensorType != NULL && v->type->tensorType->dataType == TYPE_TEXT;
}

const char *mil_text_of(const MilValue *v)
{
	const MilTensor *t = immediate(v);
	return t != NULL && t->strings != NULL && t->strings->values.n > 0 ? t->strings->values.at[0] : "";
}

bool mil_type_from(int64_t code, DType *out, int *bits)
{
	static const struct {
		int code, kind, bits, stored;
	} rows[] = { { TYPE_BOOL, DT_BOOL, 8, 8 }, { 10, DT_FLOAT, 16, 16 }, { 11, DT_FLOAT, 32, 32 },
		{ 12, DT_FLOAT, 64, 64 }, { 13, DT_BFLOAT, 16, 16 }, { 21, DT_INT, 8, 8 }, { 22, DT_INT, 16, 16 },
		{ 23, DT_INT, 32, 32 }, { 24, DT_INT, 64, 64 }, { 25, DT_INT, 8, 4 }, { 31, DT_UINT, 8, 8 },
		{ 32, DT_UINT, 16, 16 }, { 33, DT_UINT, 32, 32 }, { 34, DT_UINT, 64, 64 }, { 35, DT_UINT, 8, 4 },
		{ 36, DT_UINT, 8, 2 }, { 37, DT_UINT, 8, 1 }, { 38, DT_UINT, 8, 6 }, { 39, DT_UINT, 8, 3 } };
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (rows[k].code == code) {
			*out = (DType){ (uint8_t)rows[k].kind, (uint8_t)rows[k].bits, 1 };
			*bits = rows[k].stored;
			return true;
		}
	return false;
}

/* ---- the file of weights */

static uint64_t number_at(Bytes b, size_t at, int bytes)
{
	uint64_t x = 0;
	for (int k = 0; k < bytes; k++)
		x |= (uint64_t)b.at[at + (size_t)k] << (8 * k);
	return x;
}

/* The file, which lies in the folder of the model; opened once. */
static bool open_weights(Import *im, const char *name, const char *what, Bytes *out)
{
	CoremlFile *f = (CoremlFile *)(uintptr_t)im->model->source;
	const char *own = "@model_path/";
	Err why = { 0 };
	if (strncmp(name, own, strlen(own)) == 0)
		name += strlen(own);
	if (f->weights_name != NULL && strcmp(f->weights_name, name) == 0) {
		*out = f->weights;
		return true;
	}
	if (f->folder == NULL)
		return import_refuse(im, ERR_INPUT, "%s: its data are in '%.200s', which cannot be read from here", what, name);
	if (!neighbour_is_plain(name))
		return import_refuse(
			im, ERR_INPUT, "%s: its data are in '%.200s', which leads out of the model's folder", what, name);
	if (!neighbour_read_below(im->arena, f->folder, arena_printf(im->arena, "%s%s", f->below, name), out, &why))
		return import_refuse(im, why.code, "%s: its data file '%.200s' %s", what, name, why.text);
	f->weights_name = name;
	f->weights = *out;
	return true;
}

static bool read_blob(Import *im, const MilBlob *b, const char *what, uint64_t need, Bytes *out)
{
	Bytes file;
	uint64_t at = (uint64_t)b->offset;
	if (!open_weights(im, coreml_text(b->fileName), what, &file))
		return false;
	if (file.n < BLOB_HEADER || at > file.n - BLOB_HEADER)
		return import_refuse(im, ERR_INPUT, "%s: its data begin at byte %llu of a file of %zu bytes", what,
			(unsigned long long)at, file.n);
	uint64_t size = number_at(file, (size_t)at + 8, 8), from = number_at(file, (size_t)at + 16, 8);
	if (number_at(file, (size_t)at, 4) != (uint32_t)BLOB_MAGIC)
		return import_refuse(im, ERR_INPUT, "%s: no data begin at byte %llu of its file", what, (unsigned long long)at);
	if (size != need)
		return import_refuse(im, ERR_INPUT, "%s: its data are %llu bytes, but its shape needs %llu", what,
			(unsigned long long)size, (unsigned long long)need);
	if (from > file.n || size > file.n - from)
		return import_refuse(im, ERR_INPUT, "%s: its data lie behind the end of their file of %zu bytes", what, file.n);
	*out = (Bytes){ file.at + from, (size_t)size };
	return true;
}

/* ---- tensors */

static bool shape_from(Import *im, const MilTensorType *t, const char *what, Shape *out)
{
	*out = shape_of(0, NULL);
	if (t->dimensions.n > DAG_MAX_RANK)
		return import_refuse(
			im, ERR_UNSUPPORTED, "%s has %zu dimensions; dlc takes at most %d", what, t->dimensions.n, DAG_MAX_RANK);
	for (size_t k = 0; k < t->dimensions.n; k++) {
		const MilSize *s = t->dimensions.at[k].constant;
		if (s == NULL || s->size < 0)
			return import_refuse(im, ERR_INPUT, "%s has a dimension without a size", what);
		out->dim[out->rank++] = s->size;
	}
	return true;
}

/* Codes of `bits` bits as elements of a byte each. */
static const void *spread(Arena *a, Bytes b, int64_t n, int bits, bool sign)
{
	unsigned char *to = arena_alloc(a, (size_t)n + 1);
	for (int64_t i = 0; i < n; i++) {
		uint64_t at = (uint64_t)i * (uint64_t)bits;
		unsigned two = b.at[at / 8];
		if (at % 8 + (uint64_t)bits > 8)
			two |= (unsigned)b.at[at / 8 + 1] << 8;
		unsigned code = two >> (at % 8) & ((1U << bits) - 1);
		to[i] = (unsigned char)(sign && code >> (bits - 1) ? code | (0xffu << bits) : code);
	}
	return to;
}

/* Numbers of the program as elements; NULL: there are too few or too many. */
static const void *numbers(Arena *a, const MilTensor *t, DType type, int64_t n)
{
	const MilInts *ints = t->ints != NULL ? t->ints : t->bools != NULL ? t->bools : t->longInts;
	size_t have = t->floats != NULL    ? t->floats->values.n
	              : ints != NULL       ? ints->values.n
	              : t->doubles != NULL ? t->doubles->values.n
	                                   : 0;
	if (have != (size_t)n)
		return NULL;
	void *to = arena_alloc(a, (size_t)dtype_bytes(type, n) + 16);
	for (int64_t i = 0; i < n; i++)
		if (ints != NULL && t->floats == NULL && !dtype_is_float(type))
			element_set_int(type, to, i, type.kind == DT_BOOL ? ints->values.at[i] != 0 : ints->values.at[i]);
		else
			element_set(type, to, i,
				t->floats != NULL ? (double)t->floats->values.at[i]
				: ints != NULL    ? (double)ints->values.at[i]
								  : t->doubles->values.at[i]);
	return to;
}

bool mil_read(Import *im, const NodeTensor *t, const char *what, NodeTensor *out)
{
	const MilValue *v = t->source;
	const MilTensorType *type = v->type->tensorType;
	int bits;
	*out = (NodeTensor){ .name = t->name };
	if (!mil_type_from(type->dataType, &out->type, &bits))
		return import_refuse(im, ERR_UNSUPPORTED, "%s has elements of type %lld, which is not supported", what,
			(long long)type->dataType);
	if (!shape_from(im, type, what, &out->shape) || !import_check_size(im, "tensor", t->name, out->type, out->shape))
		return false;
	int64_t n = shape_elements(out->shape);
	uint64_t need = bits < 8 ? ((uint64_t)n * (uint64_t)bits + 7) / 8 : (uint64_t)dtype_bytes(out->type, n);
	const MilTensor *here = immediate(v);
	Bytes b = { NULL, 0 };
	if (v->blobFileValue != NULL && !read_blob(im, v->blobFileValue, what, need, &b))
		return false;
	if (v->blobFileValue == NULL && here != NULL && here->bytes != NULL)
		b = here->bytes->values;
	if (v->blobFileValue == NULL && here != NULL && here->bytes == NULL) {
		out->data = numbers(im->arena, here, out->type, n);
		return out->data != NULL ||
		       import_refuse(im, ERR_INPUT, "%s has not the %lld numbers of its shape", what, (long long)n);
	}
	if (b.n != need)
		return import_refuse(
			im, ERR_INPUT, "%s has %zu bytes, but its shape needs %llu", what, b.n, (unsigned long long)need);
	if (bits < 8)
		out->data = spread(im->arena, b, n, bits, out->type.kind == DT_INT);
	else if (n == 0 || (uintptr_t)b.at % 8 != 0)
		out->data = arena_copy(im->arena, n == 0 ? (const void *)"" : b.at, n == 0 ? 1 : b.n);
	else
		out->data = b.at;
	return true;
}
