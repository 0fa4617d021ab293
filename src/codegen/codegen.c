/* codegen_compile, whatever the back end: lower, make the entries, let the back end emit. */
#include "codegen/backend.h"

#include "base/guard.h"
#include "ir/text/ir_text.h"

#include <stdio.h>
#include <string.h>

const Backend *const backends[] = {
#define BACKEND(name) &backend_##name,
#include "codegen/backend.def"
	NULL,
};

const Backend *backend_for(const Target *t)
{
	const Backend *const *b = backends;
	while (*b != NULL && ((*b)->kinds >> t->kind & 1) == 0)
		b++;
	return *b;
}

bool codegen_serves(TargetKind k, const char *place, Err *err)
{
	char have[64] = "";
	unsigned kinds = 0;
	for (const Backend *const *b = backends; *b != NULL; b++)
		kinds |= (*b)->kinds;
	if ((kinds >> k & 1) != 0)
		return true;
	for (int i = 0; i < TARGET_KINDS; i++)
		if ((kinds >> i & 1) != 0)
			snprintf(have + strlen(have), sizeof have - strlen(have), "%s%s", have[0] != 0 ? ", " : "",
				target_kind_name((TargetKind)i));
	return fail(err, ERR_USAGE, place, "this build has no code generator for %s (%s); it has: %s",
		target_kind_name(k), target_kind_meaning(k), have);
}

int backend_text(const Backend *b, const char *name)
{
	for (int k = 0; b->text[k].name != NULL; k++)
		if (strcmp(b->text[k].name, name) == 0)
			return k;
	return -1;
}

const char *codegen_compiler(const Target *t)
{
	const Backend *b = backend_for(t);
	return b != NULL ? b->compiler : "none";
}

int32_t codegen_device(const Target *t)
{
	const Backend *b = backend_for(t);
	return b != NULL ? b->device : DLC_DEVICE_CPU;
}

Target codegen_prepare_target(const Target *t)
{
	Target host = *t;
	if (target_has_blocks(t))
		target_host(&host, 1);
	return host;
}

bool codegen_spills_hurt(const Module *m, const KernelReport *r, const Target *t)
{
	return m->backend->spills_hurt(r, t);
}

static bool make_entry(BackendJob *job, const Fn *f, const LowerKernel *kernel)
{
	Module *m = job->out;
	DlcEntry *e = &job->entry[m->image.nentry];
	if (strlen(f->name) >= sizeof e->name)
		return fail(job->err, ERR_UNSUPPORTED, f->name, "the name of a kernel may have at most 63 characters");
	memcpy(e->name, f->name, strlen(f->name) + 1);
	for (int j = 0; j < f->nparam; j++) {
		e->nbuf += f->param[j].buf != NULL;
		e->nsym += f->param[j].buf == NULL;
	}
	for (int j = 0; j < f->nsym; j++)
		e->nsym += strcmp(f->sym[j].name, LOWER_THREADS) != 0;
	if (kernel != NULL) {
		e->nbuf = kernel->nbuf;
		e->rest = kernel->rest;
		e->launch = kernel->launch;
	}
	m->report[m->image.nentry++].name = e->name;
	return true;
}

/* Entries: prepare Fns, then run Fns, each one or the kernels it is cut into. Reports: theirs, then sub Fns'. */
static bool make_entries(BackendJob *job)
{
	Module *m = job->out;
	const KernelSet *ks = job->ks;
	job->entry = arena_array(job->keep, DlcEntry, ks->n + 1);
	m->report = arena_array(job->keep, KernelReport, ks->n + 1);
	m->image.entry = job->entry;
	for (int kind = 0; kind < 2; kind++)
		for (size_t k = 0; k < ks->n; k++) {
			const Fn *f = ks->fn[k];
			const LowerKernel *kernel = NULL;
			for (size_t j = 0; j < job->nkernel && kernel == NULL; j++)
				kernel = job->kernel[j].fn == f ? &job->kernel[j] : NULL;
			if (f->kind == (kind == 0 ? FN_PREPARE : FN_RUN) && !make_entry(job, f, kernel))
				return false;
		}
	for (size_t k = 0, n = m->image.nentry; k < ks->n; k++)
		if (ks->fn[k]->kind == FN_SUB)
			m->report[n++].name = ks->fn[k]->name;
	return true;
}

bool codegen_weighs_little(int64_t weight, const char *place, Err *err)
{
	enum { MOST = 300000 };
	return weight <= MOST || fail(err, ERR_UNSUPPORTED, place,
		"the code weighs %lld, more than %d: use a schedule that copies less", (long long)weight, MOST);
}

bool codegen_compile(Arena *a, const KernelSet *ks, const Target *t, const CodegenOptions *o, Module *m, Err *err)
{
	static const CodegenOptions plain = { 0 };
	const Backend *b = o != NULL && o->backend != NULL ? o->backend : backend_for(t);
	if (b != NULL && b->emit_bytes > 0 && !guard_memory_left(b->emit_bytes))
		return fail(
			err, ERR_MEMORY, "codegen", "less than %zu MB of memory are left for compiling", b->emit_bytes >> 20);
	BackendJob job = { .arena = arena_new(), .keep = a, .target = t, .out = m, .err = err };
	job.options = o != NULL ? o : &plain;
	memset(m, 0, sizeof *m);
	Lower l;
	bool ok = codegen_lower_all(job.arena, ks, t, job.options, NULL, NULL, &l, err);
	if (ok) {
		job.ks = l.ks;
		job.kernel = l.kernel.at;
		job.nkernel = l.kernel.n;
		ok = make_entries(&job);
	}
	if (ok) {
		m->backend = b;
		m->weight = l.weight;
		m->image.device = b->device;
		if (job.options->texts >> BACKEND_LOWERED & 1)
			m->text[BACKEND_LOWERED] = ir_set_str(a, job.ks);
		ok = b->emit(&job);
	}
	arena_free(job.arena);
	return ok;
}
