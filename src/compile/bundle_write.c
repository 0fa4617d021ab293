/*
 * Tables into one file: head, code, constants, each section at its alignment, gaps zero.
 * src/runtime/bundle.h has the format.
 */
#include "compile/bundle_write.h"

#include <string.h>

static uint64_t align_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

BundleOut *bundle_out_new(Arena *a)
{
	BundleOut *b = arena_new_of(a, BundleOut);
	b->arena = a;
	b->texts = b->dims = b->slots = MAP_OF(a);
	vec_push(a, &b->text, 0); /* offset 0 is the empty text */
	return b;
}

uint32_t bundle_text(BundleOut *b, const char *s)
{
	if (*s == 0)
		return 0;
	uint32_t before = b->texts.index.n;
	MapEntry *e = map_add_text(&b->texts, s);
	if (b->texts.index.n != before) {
		e->num = (int64_t)b->text.n;
		for (size_t i = 0; i < strlen(s) + 1; i++)
			vec_push(b->arena, &b->text, s[i]);
	}
	return (uint32_t)e->num;
}

uint32_t bundle_dims(BundleOut *b, const int64_t *value, int n)
{
	uint32_t at = (uint32_t)b->dim.n;
	for (int i = 0; i < n; i++) {
		BundleDim d = { .sym = { -1, -1 }, .mul = 0, .add = value[i], .div = 1 };
		vec_push(b->arena, &b->dim, d);
	}
	return at;
}

uint32_t bundle_dim(BundleOut *b, int64_t value)
{
	uint32_t before = b->dims.index.n;
	MapEntry *e = map_add(&b->dims, (uint64_t)value);
	if (b->dims.index.n != before)
		e->num = bundle_dims(b, &value, 1);
	return (uint32_t)e->num;
}

void bundle_info(BundleOut *b, const char *key, const char *value)
{
	BundleInfo row = { bundle_text(b, key), bundle_text(b, value) };
	vec_push(b->arena, &b->info, row);
}

uint32_t bundle_slot(BundleOut *b, uint32_t kind, uint32_t index, uint64_t offset, uint64_t bytes)
{
	BundleSlot slot = { .kind = kind, .index = index, .offset = bundle_dim(b, (int64_t)offset), .bytes = bytes };
	uint32_t before = b->slots.index.n;
	MapEntry *e = map_add_bytes(&b->slots, &slot, sizeof slot);
	if (b->slots.index.n != before) {
		e->num = (int64_t)b->slot.n;
		vec_push(b->arena, &b->slot, slot);
	}
	return (uint32_t)e->num;
}

uint32_t bundle_const(BundleOut *b, const void *data, uint64_t bytes)
{
	uint64_t at = align_up(b->const_bytes, BUNDLE_BUFFER);
	if (b->constants != NULL) {
		int64_t there = constants_offset(b->constants, data, bytes);
		b->full |= there < 0;
		b->const_bytes += bytes;
		return bundle_slot(b, BUNDLE_CONST, 0, (uint64_t)there, bytes);
	}
	BundleConst row = { data, at, bytes };
	vec_push(b->arena, &b->constant, row);
	b->const_bytes = at + bytes;
	return bundle_slot(b, BUNDLE_CONST, 0, at, bytes);
}

void bundle_code(BundleOut *b, const DlcImage *image, uint64_t align)
{
	if (image->device != DLC_DEVICE_CPU && align < BUNDLE_BUFFER) /* each is an image of its own */
		align = BUNDLE_BUFFER;
	while (align > 1 && b->code.n % align != 0)
		vec_push(b->arena, &b->code, 0);
	uint64_t at = b->code.n, from = at;
	for (uint64_t i = 0; i < image->size; i++)
		vec_push(b->arena, &b->code, image->bytes[i]);
	if (image->device == DLC_DEVICE_CPU && b->image.n == 1) {
		b->image.at[0].bytes = b->code.n;
		from = 0;
	} else {
		BundleImage row = { .offset = at, .bytes = image->size };
		vec_push(b->arena, &b->image, row);
	}
	for (uint32_t i = 0; i < image->nentry; i++) {
		const DlcEntry *e = &image->entry[i];
		bool team = e->launch.dim[DLC_BLOCK].div == 0; /* all 0: a team enters the kernel */
		if (!team)
			vec_push(b->arena, &b->launch, e->launch);
		BundleEntry row = { .name = bundle_text(b, e->name),
			.nbuf = e->nbuf,
			.nsym = e->nsym,
			.image = (uint32_t)b->image.n - 1,
			.offset = at - from + e->offset,
			.work_bytes = e->work_bytes,
			.launch = team ? 0 : (uint32_t)b->launch.n };
		vec_push(b->arena, &b->entry, row);
	}
}

void bundle_code_again(BundleOut *b, const DlcImage *image)
{
	while (b->code.n % BUNDLE_BUFFER != 0)
		vec_push(b->arena, &b->code, 0);
	BundleImage row = { .offset = b->code.n, .bytes = image->size };
	vec_push(b->arena, &b->image, row);
	for (uint64_t i = 0; i < image->size; i++)
		vec_push(b->arena, &b->code, image->bytes[i]);
}

static void put_table(unsigned char *head, BundleTable *row, uint64_t *at, const void *rows, size_t item, size_t n)
{
	*at = align_up(*at, 8);
	row->offset = (uint32_t)*at;
	row->count = (uint32_t)n;
	if (head != NULL && n != 0)
		memcpy(head + *at, rows, item * n);
	*at += item * n;
}

/* Lays out the tables behind the header; copies them where head is given. */
static uint64_t put_tables(const BundleOut *b, BundleHeader *h, unsigned char *head)
{
	uint64_t at = h->header_bytes;
#define PUT(table) put_table(head, &h->table, &at, b->table.at, sizeof *b->table.at, b->table.n)
	PUT(info);
	PUT(feature);
	put_table(head, &h->sym, &at, NULL, 0, 0);
	PUT(dim);
	PUT(tensor);
	PUT(image);
	PUT(entry);
	PUT(launch);
	PUT(slot);
	PUT(arg);
	PUT(op);
	PUT(text);
	if (b->variant.n > 0)
		PUT(variant);
#undef PUT
	return align_up(at, 8);
}

unsigned char *bundle_finish(BundleOut *b, const BundleFacts *facts, size_t *size)
{
	bool variants = b->variant.n > 0; /* else any reader of the first version takes it */
	BundleHeader h = { .version = variants ? BUNDLE_VERSION : BUNDLE_FIRST_VERSION,
		.header_bytes = variants ? sizeof h : offsetof(BundleHeader, variant),
		.arena_bytes = facts->arena_bytes,
		.state_bytes = facts->state_bytes,
		.arch = facts->arch,
		.device = facts->device,
		.threads = facts->threads };
	memcpy(h.magic, BUNDLE_MAGIC, sizeof h.magic);
	h.head_bytes = put_tables(b, &h, NULL);
	h.code_offset = align_up(h.head_bytes, BUNDLE_ALIGN);
	h.code_bytes = b->code.n;
	h.const_offset = align_up(h.code_offset + h.code_bytes, BUNDLE_ALIGN);
	h.const_bytes = b->constants != NULL ? constants_bytes(b->constants) : b->const_bytes;
	h.file_bytes = h.const_offset + h.const_bytes;
	*size = b->constants != NULL ? h.const_offset : h.file_bytes;
	unsigned char *file = arena_alloc_aligned(b->arena, *size, BUNDLE_BUFFER);
	put_tables(b, &h, file);
	if (b->code.n != 0)
		memcpy(file + h.code_offset, b->code.at, b->code.n);
	for (size_t i = 0; i < b->constant.n; i++)
		memcpy(file + h.const_offset + b->constant.at[i].offset, b->constant.at[i].data, b->constant.at[i].bytes);
	h.code_sum = bundle_sum(file + h.code_offset, h.code_bytes);
	if (b->constants == NULL)
		h.const_sum = bundle_sum(file + h.const_offset, h.const_bytes);
	memcpy(file, &h, h.header_bytes);
	h.head_sum = bundle_sum(file + BUNDLE_SUM_FROM, h.head_bytes - BUNDLE_SUM_FROM);
	memcpy(file, &h, h.header_bytes);
	return file;
}
