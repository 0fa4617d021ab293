/*
 * LLVM as a back end for CPUs: their passes, emission through LLVM's C API, LLVM's choice of instructions and
 * registers, our own linker.
 */
#include "codegen/llvm/compile.h"
#include "codegen/llvm/link.h"
#include "codegen/llvm/llvm_api.h"
#include "codegen/llvm/weigh.h"
#include "codegen/lower/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sum of the numbers that stand right before `words`. */
static double numbers_before(const char *text, const char *words)
{
	double sum = 0;
	for (const char *p = text; (p = strstr(p, words)) != NULL; p++) {
		const char *q = p;
		while (q > text && q[-1] != ' ')
			q--;
		sum += strtod(q, NULL); /* of a word: 0 */
	}
	return sum;
}

/*
 * "24 spills 1.2e+04 total spills cost 3 folded spills .. generated in function", then "648 stack bytes
 * in function 'f'". Costs are executions by LLVM's estimate, in which a loop runs 32 times.
 */
static void note_remark(Compile *c, const char *text)
{
	const char *p = strstr(text, "stack bytes in function 'kernel."), *end;
	if (p == NULL && strstr(text, "generated in function") != NULL) {
		c->spills = (int64_t)(numbers_before(text, " spills ") + numbers_before(text, " folded spills "));
		c->moved = numbers_before(text, " total spills cost") + numbers_before(text, " total folded spills cost") +
		           numbers_before(text, " total reloads cost") + numbers_before(text, " total folded reloads cost");
	}
	if (p == NULL)
		return;
	const char *name = strstr(p, "kernel.") + 7;
	end = strchr(name, '\'');
	size_t n = end != NULL ? (size_t)(end - name) : 0;
	KernelReport *r = NULL; /* reports of sub Fns follow those of the entries */
	for (size_t k = 0; end != NULL && k < c->job->ks->n && r == NULL; k++)
		if (strlen(c->job->out->report[k].name) == n && memcmp(c->job->out->report[k].name, name, n) == 0)
			r = &c->job->out->report[k];
	if (r != NULL) {
		r->frame_bytes = (int64_t)numbers_before(text, " stack bytes in function");
		r->spills = c->spills;
		r->inner_spills = c->moved / ldexp(1, 5 * r->depth);
	}
	c->spills = 0;
	c->moved = 0;
}

/* A kernel's figures are its own and those of what it calls. */
static void add_subs(Compile *c)
{
	for (uint32_t k = 0; k < c->job->out->image.nentry; k++) {
		KernelReport *r = &c->job->out->report[k];
		int64_t frame = 0;
		for (size_t j = 0; j < c->emit.sub.n; j++) {
			const KernelReport *sub = &c->job->out->report[c->job->out->image.nentry + j];
			const EmitSub *s = &c->emit.sub.at[j];
			bool called = false;
			for (size_t i = 0; i < s->caller.n; i++)
				called = called || strcmp(s->caller.at[i]->name, r->name) == 0;
			if (!called)
				continue;
			frame = sub->frame_bytes > frame ? sub->frame_bytes : frame;
			r->spills += sub->spills;
			r->code_bytes += sub->code_bytes;
			r->inner_spills = fmax(r->inner_spills, sub->inner_spills);
		}
		r->frame_bytes += frame;
	}
}

static bool make_image(Compile *c)
{
	LLVMMemoryBufferRef b;
	Linked linked;
	if (!compile_code(c, LLVMObjectFile, false, &b))
		return false;
	bool ok = link_object(
		c->job->keep, c->job->target->arch, LLVMGetBufferStart(b), LLVMGetBufferSize(b), &linked, c->job->err);
	LLVMDisposeMemoryBuffer(b);
	if (!ok)
		return false;
	DlcImage *image = &c->job->out->image;
	DlcEntry *entry = c->job->entry;
	image->bytes = linked.bytes;
	image->size = linked.size;
	for (size_t k = 0; k < c->job->ks->n; k++) {
		const char *fn = c->job->out->report[k].name, *name = emit_symbol(&c->emit, ir_find_fn(c->job->ks, fn));
		const LinkSymbol *s = NULL;
		for (size_t j = 0; j < linked.nsymbol && s == NULL; j++)
			s = strcmp(linked.symbol[j].name, name) == 0 ? &linked.symbol[j] : NULL;
		if (s == NULL)
			return fail(c->job->err, ERR_BUG, "linker", "there is no code for %s", fn);
		if (k < image->nentry)
			entry[k].offset = s->offset;
		c->job->out->report[k].code_bytes = (int64_t)s->size;
	}
	add_subs(c);
	return true;
}

static bool emit(const BackendJob *job)
{
	Compile c;
	if (!compile_begin(&c, job, note_remark))
		return false;
	bool ok = compile_emit(&c) && compile_texts(&c) && (job->options->no_image || make_image(&c));
	compile_end(&c);
	return ok;
}

static void key(const Target *t, Text *out)
{
	MachineName name;
	machine_name(t, &name);
	text_add(out, "%s %s %s\n%d bits %d registers arch %d\n", name.triple, name.cpu, name.features, t->vector_bits,
		t->vector_regs, (int)t->arch);
}

static bool spills_hurt(const KernelReport *r, const Target *t)
{
	bool x86 = t->arch == ARCH_X86_64;
	/* The frame has the saved registers, too, and does not count x86's red zone. */
	int64_t bytes = r->frame_bytes + (x86 ? 128 - 56 : -176);
	return r->inner_spills >= 1 && bytes >= 2 * t->vector_bits / 8 + 64;
}

static const Pass *const passes[] = {
#define ALL(pass) &row_##pass,
#define TEAMS(pass) &row_##pass,
#define LAUNCHES(pass)
#define WARPS(pass)
#include "codegen/lower/order.def"
	&row_weigh,
	NULL,
};

static const BackendText texts[] = {
	BACKEND_TEXT_LOWERED,
	[TEXT_LLVM] = { "llvm", ";", NULL },
	[TEXT_ASM] = { "asm", "#", NULL },
	{ NULL, NULL, NULL },
};

const Backend backend_llvm = {
	.name = "llvm",
	.use = "machine code for x86-64 and AArch64",
	.kinds = 1u << TARGET_CPU,
	.device = DLC_DEVICE_CPU,
	/* The longest vector constant of x86-64; AArch64 code names a constant by its page of 4 KiB (adrp). */
	.code_align = { [ARCH_X86_64] = 64, [ARCH_AARCH64] = 4096 },
	.pass = passes,
	.text = texts,
	.emit_bytes = COMPILE_BYTES,
	.compiler = "llvm " LLVM_VERSION_STRING,
	.ready = llvm_open,
	.key = key,
	.emit = emit,
	.form = "machine code",
	.spills_hurt = spills_hurt,
};
