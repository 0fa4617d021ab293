/* Runs the passes of a back end. */
#include "codegen/backend.h"
#include "ir/walk.h"

bool codegen_lower_all(Arena *a, const KernelSet *ks, const Target *t, const CodegenOptions *o, LowerHook hook,
	void *arg, Lower *out, Err *err)
{
	const Backend *b = o != NULL && o->backend != NULL ? o->backend : backend_for(t);
	if (b == NULL)
		return fail(err, ERR_UNSUPPORTED, "", "this build has no code generator for %s", target_kind_name(t->kind));
	Lower *l = out;
	*l = (Lower){ .ir = ir_new(a), .arena = a, .target = t, .err = err };
	if (o != NULL)
		l->options = *o;
	l->ks = ir_clone_set_into(l->ir, ks);
	if (ir_has_name(l->ir, LOWER_THREAD) || ir_has_name(l->ir, LOWER_THREADS))
		return fail(err, ERR_UNSUPPORTED, "", "the names %s and %s belong to the code generator: choose others",
			LOWER_THREAD, LOWER_THREADS);
	if (hook != NULL && !hook("input", l->ks, arg, err))
		return false;
	for (const Pass *const *p = b->pass; *p != NULL; p++) {
		for (size_t k = 0; k < ((*p)->scope == PASS_WHOLE_SET ? 1 : l->ks->n); k++) {
			l->fn = k < l->ks->n ? l->ks->fn[k] : NULL; /* NULL: the set has no Fn */
			if (!(*p)->run(l))
				return false;
		}
		if (hook != NULL && !hook((*p)->name, l->ks, arg, err))
			return false;
	}
	return true;
}

bool codegen_lower(Arena *a, const KernelSet *ks, const Target *t, const CodegenOptions *o, LowerHook hook, void *arg,
	KernelSet **out, Err *err)
{
	Lower l;
	if (!codegen_lower_all(a, ks, t, o, hook, arg, &l, err))
		return false;
	*out = l.ks;
	return true;
}
