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

void images_sort(Variant *v, int nv)
{
	for (int i = 1; i < nv; i++)
		for (int k = i; k > 0; k--) {
			Variant x = v[k];
			if (__builtin_popcountll(x.target->features) <= __builtin_popcountll(v[k - 1].target->features))
				break;
			v[k] = v[k - 1];
			v[k - 1] = x;
		}
}

void images_put_features(BundleOut *out, const Variant *v, int nv)
{
	for (int i = 0; i < nv; i++) {
		char text[TARGET_TEXT];
		BundleVariant row = { .name = nv > 1 ? bundle_text(out, target_text(v[i].target, text)) : 0,
			.feature = (uint32_t)out->feature.n };
		for (int f = 0; f < FEATURE_COUNT; f++)
			if (target_has(v[i].target, (Feature)f))
				vec_push(out->arena, &out->feature, bundle_text(out, feature_name((Feature)f)));
		row.nfeature = (uint32_t)out->feature.n - row.feature;
		if (nv > 1)
			vec_push(out->arena, &out->variant, row);
	}
}

/* The entries of Task k, which all variants have: with the largest workspace of any. */
static bool share_entries(Arena *a, const Variant *v, int nv, int k, DlcImage *out, Err *err)
{
	*out = v[0].module[k].image;
	if (nv == 1)
		return true;
	DlcEntry *entry = arena_copy(a, out->entry, sizeof *entry * out->nentry);
	for (int i = 1; i < nv; i++) {
		const DlcImage *other = &v[i].module[k].image;
		bool same = other->nentry == out->nentry;
		for (uint32_t e = 0; same && e < out->nentry; e++) {
			same = strcmp(other->entry[e].name, entry[e].name) == 0 &&
				memcmp(&other->entry[e].launch, &entry[e].launch, sizeof entry[e].launch) == 0;
			if (other->entry[e].work_bytes > entry[e].work_bytes)
				entry[e].work_bytes = other->entry[e].work_bytes;
		}
		char text[TARGET_TEXT];
		if (!same)
			return fail(err, ERR_UNSUPPORTED, target_text(v[i].target, text),
				"its kernels are started in another way: compile a bundle of its own for it");
	}
	out->entry = entry;
	return true;
}

bool images_put(BundleOut *out, const Variant *v, int nv, int n, uint32_t *first, Err *err)
{
	Arena *a = out->arena;
	for (int i = 0; i < nv; i++) {
		const Target *t = v[i].target;
		const Backend *b = backend_for(t);
		DlcImage *image = arena_array(a, DlcImage, n + 1);
		int images = b->join != NULL && n > 0 ? 1 : n;
		for (int k = 0; k < n; k++) {
			image[k] = v[i].module[k].image;
			if (i == 0 && !share_entries(a, v, nv, k, &image[k], err))
				return false;
			first[k] = k > 0 ? first[k - 1] + image[k - 1].nentry : 0;
		}
		if (images < n)
			b->join(a, image, (size_t)n, &image[0]);
		for (int k = 0; k < images; k++)
			if (i == 0)
				bundle_code(out, &image[k], b->code_align[t->arch]);
			else
				bundle_code_again(out, &image[k]);
	}
	return true;
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
