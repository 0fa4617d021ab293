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

bool images_joined(const CompileOptions *o, const Target *t)
{
	const Backend *b = backend_for(t);
	return b->join != NULL && (!o->apart || b->assemble != NULL);
}

/* The most features first. */
static void sort(Variant *v, int nv)
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

/* The images of the Tasks, or one of all. */
static bool form_of(Arena *a, const CompileOptions *o, const Variant *v, int nv, int n, const Variant *of, Form *out,
	Err *err)
{
	const Backend *b = backend_for(of->target);
	*out = (Form){ .target = of->target, .name = b->form, .image = arena_array(a, DlcImage, n + 1), .nimage = n };
	for (int k = 0; k < n; k++) {
		out->image[k] = of->module[k].image;
		if (of == v && !share_entries(a, v, nv, k, &out->image[k], err))
			return false;
	}
	if (!images_joined(o, of->target) || n == 0)
		return true;
	b->join(a, out->image, (size_t)n, &out->image[0]);
	out->nimage = 1;
	return true;
}

/* Adds machine code of the text. Where none can be made, that is a failure only if machine code is required. */
static bool add_assembled(Arena *a, const CodeForms *wanted, const Form *text, Forms *made, Err *err)
{
	const Backend *b = backend_for(text->target);
	Assembly x;
	Err why = { 0 };
	char name[TARGET_TEXT];
	bool required = wanted->machine_code == MACHINE_CODE_REQUIRED || wanted->no_text;
	if ((!required && wanted->machine_code == MACHINE_CODE_NONE) || text->nimage == 0)
		return true;
	if (b->assemble == NULL)
		return !required || fail(err, ERR_UNSUPPORTED, target_text(text->target, name),
			"has one form of code, %s: leave the form out", b->form);
	if (!b->assemble(a, text->target, text->image, &x, &why)) {
		if (!required)
			return true;
		why.code = why.code == ERR_MISSING ? ERR_UNSUPPORTED : why.code;
		return fail(err, why.code, target_text(text->target, name), "%s", why.text);
	}
	Form f = { text->target, b->assembled, x.needs, x.tool, arena_copy(a, &x.image, sizeof x.image), 1 };
	vec_push(a, made, f);
	return true;
}

bool images_make(Arena *a, const CompileOptions *o, Variant *v, int nv, int n, Forms *out, uint32_t *first, Err *err)
{
	Forms text = { 0 };
	sort(v, nv);
	for (int k = 0; k < n; k++)
		first[k] = k > 0 ? first[k - 1] + v[0].module[k - 1].image.nentry : 0;
	for (int i = 0; i < nv; i++) {
		Form f;
		if (!form_of(a, o, v, nv, n, &v[i], &f, err) || !add_assembled(a, &o->code, &f, out, err))
			return false;
		vec_push(a, &text, f);
	}
	for (size_t i = 0; i < text.n; i++)
		if (!o->code.no_text || text.at[i].nimage == 0)
			vec_push(a, out, text.at[i]);
	out->at[0].image[0].entry = text.at[0].image[0].entry; /* those that all targets share */
	return true;
}

void images_put_features(BundleOut *out, const Forms *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const Form *form = &f->at[i];
		char text[TARGET_TEXT];
		BundleVariant row = { .name = f->n > 1 ? bundle_text(out, target_text(form->target, text)) : 0,
			.feature = (uint32_t)out->feature.n };
		if (form->needs != NULL)
			vec_push(out->arena, &out->feature, bundle_text(out, form->needs));
		for (int k = 0; k < FEATURE_COUNT && form->needs == NULL; k++)
			if (target_has(form->target, (Feature)k))
				vec_push(out->arena, &out->feature, bundle_text(out, feature_name((Feature)k)));
		row.nfeature = (uint32_t)out->feature.n - row.feature;
		if (f->n > 1)
			vec_push(out->arena, &out->variant, row);
	}
}

void images_put(BundleOut *out, const Forms *f)
{
	const Target *t = f->at[0].target;
	for (size_t i = 0; i < f->n; i++)
		for (int k = 0; k < f->at[i].nimage; k++)
			if (i == 0)
				bundle_code(out, &f->at[i].image[k], backend_for(t)->code_align[t->arch]);
			else
				bundle_code_again(out, &f->at[i].image[k]);
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
