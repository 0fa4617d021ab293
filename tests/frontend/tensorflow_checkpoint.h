/*
 * Checkpoints for tests: an index of one block, and one data file of f32 numbers 0, 1, 2 .. in the order of the
 * entries. Entries have no checksums, blocks do.
 */
#ifndef TESTS_TENSORFLOW_CHECKPOINT_H
#define TESTS_TENSORFLOW_CHECKPOINT_H

#include "folder.h"
#include "frontend/tensorflow/proto.h"
#include "suite.h"

#include <string.h>

/* A box of rows and columns that is stored: its start and length in both. */
typedef struct Stored {
	int64_t row, rows, column, columns;
} Stored;

typedef struct Entries {
	Text index, data;
	int64_t numbers;
} Entries;

static inline void tc_varint(Text *out, uint64_t x)
{
	for (; x > 127; x >>= 7)
		text_put(out, (char[]){ (char)(x | 128) }, 1);
	text_put(out, (char[]){ (char)x }, 1);
}

static inline void tc_four(Text *out, uint32_t x)
{
	for (int k = 0; k < 4; k++)
		text_put(out, (char[]){ (char)(x >> 8 * k) }, 1);
}

static inline void tc_put(Text *block, const char *key, size_t n, const char *value, size_t size)
{
	tc_varint(block, 0);
	tc_varint(block, n);
	tc_varint(block, size);
	text_put(block, key, n);
	text_put(block, value, size);
}

static inline TfShape *tc_shape(Arena *a, int64_t rows, int64_t columns)
{
	TfShape *s = arena_new_of(a, TfShape);
	vec_push(a, &s->dim, ((TfDim){ .size = rows }));
	vec_push(a, &s->dim, ((TfDim){ .size = columns }));
	return s;
}

/* An entry with numbers of its own unless it lists slices. */
static inline void tc_entry(Arena *a, Entries *to, const char *key, size_t n, TfEntry e, int64_t numbers)
{
	Text value = { .arena = a };
	e.dtype = 1;
	e.offset = 4 * to->numbers;
	e.size = 4 * numbers;
	for (int64_t k = 0; k < numbers; k++) {
		float x = (float)to->numbers++;
		text_put(&to->data, (const char *)&x, sizeof x);
	}
	wire_write(&value, &TfEntry_message, &e);
	tc_put(&to->index, key, n, text_str(&value), value.n);
}

/* Tensor "w" of rows x columns, in slices or, without any, whole; the slices are shorter than 64 each way. */
static inline void tc_tensor(Arena *a, Entries *to, int64_t rows, int64_t columns, const Stored *slice, int n)
{
	TfEntry whole = { .shape = tc_shape(a, rows, columns) };
	for (int k = 0; k < n; k++) {
		const Stored *s = &slice[k];
		TfSlice listed = { 0 };
		vec_push(a, &listed.extent, ((TfExtent){ .has = 1 << TfExtent_length, .start = s->row, .length = s->rows }));
		vec_push(
			a, &listed.extent, ((TfExtent){ .has = 1 << TfExtent_length, .start = s->column, .length = s->columns }));
		vec_push(a, &whole.slices, listed);
		char key[] = { 0, 'w', 0, 1, 1, 2, (char)(128 | s->row), (char)(128 | s->rows), (char)(128 | s->column),
			(char)(128 | s->columns) };
		tc_entry(a, to, key, sizeof key, (TfEntry){ .shape = tc_shape(a, s->rows, s->columns) }, s->rows * s->columns);
	}
	tc_entry(a, to, "w", 1, whole, n == 0 ? rows * columns : 0);
}

/* Puts a block and its trailer; its handle goes to *handle. */
static inline void tc_block(Text *file, const Text *entries, Text *handle)
{
	size_t start = file->n;
	uint32_t crc = ~0u;
	text_put(file, text_str((Text *)(uintptr_t)entries), entries->n);
	tc_four(file, 0);
	tc_four(file, 1);
	tc_varint(handle, start);
	tc_varint(handle, file->n - start);
	text_put(file, "", 1);
	for (size_t k = start; k < file->n; k++) {
		crc ^= (unsigned char)text_str(file)[k];
		for (int i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
	}
	crc = ~crc;
	tc_four(file, (crc >> 15 | crc << 17) + 0xa282ead8u);
}

/* PREFIX.index and PREFIX.data-00000-of-00001 in the folder. */
static inline void tc_save(Arena *a, const char *prefix, Entries *e)
{
	Text header = { .arena = a }, first = { .arena = a }, file = { .arena = a }, blocks = { .arena = a };
	Text handle = { .arena = a }, end = { .arena = a };
	wire_write(&header, &TfHeader_message, &(TfHeader){ .num_shards = 1 });
	tc_put(&first, "", 0, text_str(&header), header.n);
	text_put(&first, text_str(&e->index), e->index.n);
	tc_block(&file, &first, &handle);
	tc_put(&blocks, "x", 1, text_str(&handle), handle.n);
	tc_varint(&end, 0);
	tc_varint(&end, 0);
	tc_block(&file, &blocks, &end);
	while (end.n < 40)
		text_put(&end, "", 1);
	text_put(&end, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
	text_put(&file, text_str(&end), end.n);
	save_bytes(in_folder(a, arena_printf(a, "%s.index", prefix)), text_str(&file), file.n);
	save_bytes(in_folder(a, arena_printf(a, "%s.data-00000-of-00001", prefix)), text_str(&e->data), e->data.n);
}

#endif
