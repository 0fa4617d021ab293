/* See images.h. */
#include "compile/images.h"

#include "codegen/backend.h"
#include "compile/compile.h"
#include "ir/walk.h"

#include <assert.h>
#include <string.h>

enum { ID_DIGITS = 12 /* of a Task's id, as traces and messages give them */ };

typedef struct Rename {
	Ir *ir;
	const char *end;
} Rename;

static const char *longer(const Rename *r, const char *name)
{
	return ir_name(r->ir, arena_printf(ir_arena(r->ir), "%s.%s", name, r->end));
}

static bool rename_call(Stmt *s, void *arg)
{
	if (s->kind == ST_CALL && !s->call.intrin)
		s->call.fn = longer(arg, s->call.fn);
	return true;
}

const KernelSet *compile_run_set(Arena *a, const KernelSet *ks, const Task *task, const Target *t)
{
	const KernelSet *run = ir_set_of_kind(a, ks, FN_RUN);
	if (!target_has_blocks(t))
		return run;
	char hex[HASH_HEX];
	hash_hex(task->id, hex);
	hex[ID_DIGITS] = 0;
	KernelSet *own = ir_clone_set(run);
	Rename r = { own->ir, hex };
	for (size_t k = 0; k < own->n; k++) {
		own->fn[k]->name = longer(&r, own->fn[k]->name);
		ir_each_stmt(own->fn[k]->body, rename_call, &r);
	}
	return own;
}

void images_put(BundleOut *out, const Module *m, int n, const Target *t, uint32_t *first)
{
	const Backend *b = backend_for(t);
	DlcImage *image = arena_array(out->arena, DlcImage, n + 1), all;
	uint64_t align = b->code_align[t->arch];
	for (int k = 0; k < n; k++)
		image[k] = m[k].image;
	if (b->join == NULL || n == 0) {
		for (int k = 0; k < n; k++)
			first[k] = bundle_code(out, &image[k], align);
		return;
	}
	b->join(out->arena, image, (size_t)n, &all);
	uint32_t at = bundle_code(out, &all, align);
	for (int k = 0; k < n; at += image[k++].nentry)
		first[k] = at;
}

uint32_t images_entry(const DlcImage *image, const KernelSet *ks, const char *fn)
{
	uint32_t at = 0;
	size_t k = 0;
	for (; k < ks->n && strcmp(ks->fn[k]->name, fn) != 0; k++)
		if (ks->fn[k]->kind == FN_RUN)
			at += image->entry[at].rest + 1;
	assert(k < ks->n && at < image->nentry && "every run Fn has an entry");
	return at;
}
