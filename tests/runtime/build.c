/* See build.h. */
#include "build.h"

#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "runtime/cpu.h"

Build *build_new(void)
{
	Build *b = calloc(1, sizeof *b);
	const DlcImage *image = test_image();
	b->h.arch = cpu_arch();
	b->h.device = 1;
	b->h.threads = 1;
	b->h.const_bytes = sizeof b->constant;
	b->h.text.count = 1; /* "" */
	b->info[0] = (BundleInfo){ build_text(b, "model"), build_text(b, "test") };
	b->info[1] = (BundleInfo){ build_text(b, "target"), build_text(b, "cpu:test t1") };
	b->h.info.count = 2;
	b->image[b->h.image.count++] = (BundleImage){ 0, image->size };
	for (uint32_t i = 0; i < image->nentry; i++)
		b->entry[b->h.entry.count++] = (BundleEntry){
			.name = build_text(b, image->entry[i].name),
			.nbuf = image->entry[i].nbuf,
			.nsym = image->entry[i].nsym,
			.offset = image->entry[i].offset,
			.work_bytes = image->entry[i].work_bytes,
		};
	return b;
}

uint32_t build_text(Build *b, const char *text)
{
	uint32_t at = b->h.text.count;
	strcpy(b->text + at, text);
	b->h.text.count += (uint32_t)strlen(text) + 1;
	return at;
}

uint32_t build_dim(Build *b, int sym, int64_t mul, int64_t add, int64_t div)
{
	b->dim[b->h.dim.count] = (BundleDim){ { sym, -1 }, mul, add, div };
	return b->h.dim.count++;
}

uint32_t build_const(Build *b, int64_t value)
{
	return build_dim(b, -1, 0, value, 1);
}

uint32_t build_sym(Build *b, const char *name, int kind, int64_t min, int64_t max, uint32_t dim)
{
	b->sym[b->h.sym.count] = (BundleSym){ build_text(b, name), (uint32_t)kind, min, max, dim, 0 };
	return b->h.sym.count++;
}

uint32_t build_tensor(Build *b, const char *name, int output, uint32_t ndim, uint32_t dim)
{
	b->tensor[b->h.tensor.count] = (BundleTensor){ build_text(b, name), 2, 32, (uint8_t)output, 0, ndim, dim };
	return b->h.tensor.count++;
}

uint32_t build_slot(Build *b, uint32_t kind, uint32_t index, int64_t offset, uint64_t bytes)
{
	b->slot[b->h.slot.count] = (BundleSlot){ kind, index, build_const(b, offset), 0, bytes };
	return b->h.slot.count++;
}

BundleOp *build_op(Build *b, uint32_t kind, const char *name)
{
	BundleOp *o = &b->op[b->h.op.count++];
	*o = (BundleOp){ .kind = kind, .name = build_text(b, name), .arg = b->h.arg.count, .dim = b->h.dim.count };
	return o;
}

void build_arg(Build *b, BundleOp *o, uint32_t slot)
{
	b->arg[b->h.arg.count++] = slot;
	o->narg++;
}

BundleOp *build_call(Build *b, int kernel, const uint32_t *slot, const int64_t *sym)
{
	const BundleEntry *e = &b->entry[kernel];
	BundleOp *o = build_op(b, BUNDLE_CALL, b->text + e->name);
	o->entry = (uint32_t)kernel;
	for (uint32_t i = 0; i < e->nbuf; i++)
		build_arg(b, o, slot[i]);
	for (uint32_t i = 0; i < e->nsym; i++)
		build_const(b, sym[i]);
	o->ndim = e->nsym;
	return o;
}

/* One table behind what is there. */
static void lay(unsigned char *bytes, size_t *at, BundleTable *t, const void *rows, size_t row)
{
	*at = (*at + 7) / 8 * 8;
	t->offset = (uint32_t)*at;
	memcpy(bytes + *at, rows, t->count * row);
	*at += t->count * row;
}

static uint64_t section(size_t at)
{
	return (at + BUNDLE_ALIGN - 1) / BUNDLE_ALIGN * BUNDLE_ALIGN;
}

unsigned char *build_finish(Build *b, size_t *size)
{
	const void *image = b->source != NULL ? b->source : (const void *)test_image()->bytes;
	size_t bytes_of_code = b->source != NULL ? strlen(b->source) : test_image()->size;
	size_t code = bytes_of_code + (b->h.device != DLC_DEVICE_CPU); /* images of other devices end with a 0 */
	size_t room = section(sizeof *b) + section(code) + section(sizeof b->constant) + BUNDLE_ALIGN;
	unsigned char *bytes = aligned_alloc(BUNDLE_ALIGN, room);
	BundleHeader *h = &b->h;
	memset(bytes, 0, room);
	size_t at = sizeof *h;
	lay(bytes, &at, &h->info, b->info, sizeof *b->info);
	lay(bytes, &at, &h->feature, b->feature, sizeof *b->feature);
	lay(bytes, &at, &h->sym, b->sym, sizeof *b->sym);
	lay(bytes, &at, &h->dim, b->dim, sizeof *b->dim);
	lay(bytes, &at, &h->tensor, b->tensor, sizeof *b->tensor);
	lay(bytes, &at, &h->image, b->image, sizeof *b->image);
	lay(bytes, &at, &h->entry, b->entry, sizeof *b->entry);
	lay(bytes, &at, &h->launch, b->launch, sizeof *b->launch);
	lay(bytes, &at, &h->slot, b->slot, sizeof *b->slot);
	lay(bytes, &at, &h->arg, b->arg, sizeof *b->arg);
	lay(bytes, &at, &h->op, b->op, sizeof *b->op);
	lay(bytes, &at, &h->text, b->text, 1);
	lay(bytes, &at, &h->variant, b->variant, sizeof *b->variant);
	memcpy(h->magic, BUNDLE_MAGIC, sizeof h->magic);
	h->version = BUNDLE_VERSION;
	h->header_bytes = sizeof *h;
	h->head_bytes = at;
	h->code_offset = section(at);
	h->code_bytes = code;
	h->const_offset = section(h->code_offset + h->code_bytes);
	h->file_bytes = h->const_offset + h->const_bytes;
	memcpy(bytes, h, sizeof *h);
	memcpy(bytes + h->code_offset, image, bytes_of_code);
	memcpy(bytes + h->const_offset, b->constant, h->const_bytes);
	*size = h->file_bytes;
	build_resum(bytes, *size);
	return bytes;
}

void build_resum(unsigned char *bytes, size_t size)
{
	BundleHeader *h = (BundleHeader *)bytes;
	if (size < sizeof *h)
		return;
	if (h->code_offset <= size && h->code_bytes <= size - h->code_offset)
		h->code_sum = bundle_sum(bytes + h->code_offset, h->code_bytes);
	if (h->const_offset <= size && h->const_bytes <= size - h->const_offset)
		h->const_sum = bundle_sum(bytes + h->const_offset, h->const_bytes);
	if (h->head_bytes <= size && h->head_bytes >= BUNDLE_SUM_FROM)
		h->head_sum = bundle_sum(bytes + BUNDLE_SUM_FROM, h->head_bytes - BUNDLE_SUM_FROM);
}

Build *build_add(int64_t n)
{
	Build *b = build_new();
	uint64_t bytes = (uint64_t)n * sizeof(float);
	uint32_t shape = build_const(b, 1);
	build_const(b, n);
	build_tensor(b, "a", 0, 2, shape);
	build_tensor(b, "b", 0, 2, shape);
	build_tensor(b, "out", 1, 2, shape);
	b->h.arena_bytes = (bytes + 63) / 64 * 64;
	for (size_t i = 0; i < sizeof b->constant / sizeof(float); i++)
		((float *)b->constant)[i] = 1;
	uint32_t in0 = build_slot(b, BUNDLE_INPUT, 0, 0, bytes);
	uint32_t in1 = build_slot(b, BUNDLE_INPUT, 1, 0, bytes);
	uint32_t out = build_slot(b, BUNDLE_OUTPUT, 0, 0, bytes);
	uint32_t work = build_slot(b, BUNDLE_WORK, 0, 0, bytes);
	uint32_t one = build_slot(b, BUNDLE_CONST, 0, 0, bytes);
	build_call(b, KERNEL_add, (uint32_t[]){ in0, in1, work }, &n);
	build_call(b, KERNEL_add, (uint32_t[]){ work, one, out }, &n);
	return b;
}

Build *build_add_more(int64_t n)
{
	uint64_t bytes = (uint64_t)n * sizeof(float);
	Build *b = build_add(n);
	build_tensor(b, "more", 1, 2, b->tensor[0].dim);
	uint32_t in = build_slot(b, BUNDLE_INPUT, 0, 0, bytes), one = build_slot(b, BUNDLE_CONST, 0, 0, bytes);
	build_call(b, KERNEL_add, (uint32_t[]){ in, one, build_slot(b, BUNDLE_OUTPUT, 1, 0, bytes) }, &n);
	return b;
}
