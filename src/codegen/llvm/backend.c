/*
 * LLVM as a back end: passes for CPUs, emission through LLVM's C API, LLVM's choice of instructions and registers,
 * our own linker.  Each call has its own LLVM context.
 *
 * mem2reg is the only pass on LLVM's IR: the others cost 7 to 190 ms and undo the order of loads that the schedule
 * chose.
 */
#include "codegen/backend.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/link.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/weigh.h"
#include "codegen/lower/pass.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of our largest sets LLVM takes some tens of megabytes. */
enum { EMIT_BYTES = 64 << 20 };

/* In the order of the row's texts. */
enum { TEXT_LLVM = BACKEND_LOWERED + 1, TEXT_ASM };

typedef struct Compile {
	const BackendJob *job;
	Emit emit;
	Machine *machine;
	LLVMTargetMachineRef tm;
	int64_t spills; /* of the function at work */
	double moved;   /* how often it spills and reloads when it runs */
	char message[512];
} Compile;

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

static void on_diagnostic(LLVMDiagnosticInfoRef d, void *arg)
{
	Compile *c = arg;
	char *text = LLVMGetDiagInfoDescription(d);
	if (LLVMGetDiagInfoSeverity(d) == LLVMDSError)
		snprintf(c->message, sizeof c->message, "%s", text);
	else
		note_remark(c, text);
	LLVMDisposeMessage(text);
}

static bool bug(Compile *c, const char *what, char *message)
{
	fail(c->job->err, ERR_BUG, "llvm", "%s: %s", what, message != NULL ? message : c->message);
	LLVMDisposeMessage(message);
	return false;
}

static void make_emit(Compile *c)
{
	Emit *e = &c->emit;
	LLVMContextRef cx = LLVMContextCreate();
	*e = (Emit){ .arena = c->job->arena,
		.ir = c->job->ks->ir,
		.ks = c->job->ks,
		.target = c->job->target,
		.err = c->job->err,
		.cx = cx,
		.mod = LLVMModuleCreateWithNameInContext("dlc", cx),
		.b = LLVMCreateBuilderInContext(cx),
		.x86 = c->job->target->arch == ARCH_X86_64,
		.fma = target_has(c->job->target, FEATURE_FMA),
		.sse41 = target_has(c->job->target, FEATURE_SSE41),
		.f16c = target_has(c->job->target, FEATURE_F16C),
		.i1 = LLVMInt1TypeInContext(cx),
		.i8 = LLVMInt8TypeInContext(cx),
		.i16 = LLVMInt16TypeInContext(cx),
		.i32 = LLVMInt32TypeInContext(cx),
		.i64 = LLVMInt64TypeInContext(cx),
		.f32 = LLVMFloatTypeInContext(cx),
		.f64 = LLVMDoubleTypeInContext(cx),
		.ptr = LLVMPointerTypeInContext(cx, 0) };
	LLVMContextSetDiagnosticHandler(cx, on_diagnostic, c);
	LLVMContextSetDiscardValueNames(cx, (c->job->options->texts >> TEXT_LLVM & 1) == 0);
	LLVMSetTarget(e->mod, machine_triple(c->machine));
	LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(c->tm);
	LLVMSetModuleDataLayout(e->mod, layout);
	LLVMDisposeTargetData(layout);
}

static bool emit_all(Compile *c)
{
	char *message = NULL;
	DlcEntry *entry = c->job->entry;
	/* Sub Fns before those that call them. */
	for (size_t k = 0, n = c->job->out->image.nentry; k < c->job->ks->n; k++) {
		if (c->job->ks->fn[k]->kind != FN_SUB)
			continue;
		if (!emit_fn(&c->emit, c->job->ks->fn[k]))
			return false;
		c->job->out->report[n++].depth = c->emit.deepest;
	}
	for (uint32_t k = 0; k < c->job->out->image.nentry; k++) {
		if (!emit_fn(&c->emit, ir_find_fn(c->job->ks, entry[k].name)))
			return false;
		entry[k].work_bytes = (uint64_t)c->emit.work_bytes;
		c->job->out->report[k].depth = c->emit.deepest;
	}
	if (!c->job->options->unchecked && LLVMVerifyModule(c->emit.mod, LLVMReturnStatusAction, &message))
		return bug(c, "the module is broken", message);
	LLVMDisposeMessage(message);
	if (!c->emit.regs)
		return true;
	LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
	LLVMErrorRef failed = LLVMRunPasses(c->emit.mod, "function(mem2reg)", c->tm, o);
	LLVMDisposePassBuilderOptions(o);
	if (failed == NULL)
		return true;
	message = LLVMGetErrorMessage(failed);
	fail(c->job->err, ERR_BUG, "llvm", "mem2reg: %s", message);
	LLVMDisposeErrorMessage(message);
	return false;
}

/* Selecting instructions changes the module, so a copy is used if the module is needed again. */
static bool machine_code(Compile *c, LLVMCodeGenFileType kind, bool copy, LLVMMemoryBufferRef *out)
{
	LLVMModuleRef m = copy ? LLVMCloneModule(c->emit.mod) : c->emit.mod;
	char *message = NULL;
	LLVMBool failed = LLVMTargetMachineEmitToMemoryBuffer(c->tm, m, kind, &message, out);
	if (copy)
		LLVMDisposeModule(m);
	if (!failed && c->message[0] != 0)
		LLVMDisposeMemoryBuffer(*out);
	return (!failed && c->message[0] == 0) || bug(c, "no code", message);
}

static const char *keep_text(Compile *c, const char *text, size_t n)
{
	char *s = arena_alloc(c->job->keep, n + 1);
	memcpy(s, text, n);
	return s;
}

static bool make_texts(Compile *c)
{
	unsigned texts = c->job->options->texts;
	if (texts >> TEXT_LLVM & 1) {
		char *s = LLVMPrintModuleToString(c->emit.mod);
		c->job->out->text[TEXT_LLVM] = keep_text(c, s, strlen(s));
		LLVMDisposeMessage(s);
	}
	if (texts >> TEXT_ASM & 1) {
		LLVMMemoryBufferRef b;
		LLVMSetTargetMachineAsmVerbosity(c->tm, 1);
		if (!machine_code(c, LLVMAssemblyFile, true, &b))
			return false;
		c->job->out->text[TEXT_ASM] = keep_text(c, LLVMGetBufferStart(b), LLVMGetBufferSize(b));
		LLVMDisposeMemoryBuffer(b);
	}
	return true;
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
	if (!machine_code(c, LLVMObjectFile, false, &b))
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
		const char *fn = c->job->out->report[k].name, *name = emit_symbol(c->job->arena, ir_find_fn(c->job->ks, fn));
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
	Compile c = { .job = job, .machine = machine_take(job->target, job->err) };
	if (c.machine == NULL)
		return false;
	c.tm = machine_of(c.machine);
	make_emit(&c);
	bool ok = emit_all(&c) && make_texts(&c) && (job->options->no_image || make_image(&c));
	LLVMDisposeBuilder(c.emit.b);
	LLVMDisposeModule(c.emit.mod);
	LLVMContextDispose(c.emit.cx);
	machine_give(c.machine);
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
	&row_inline_calls,
	&row_async,
	&row_hoist_init,
	&row_blocks,
	&row_simplify,
	&row_conditions,
	&row_reduce,
	&row_vectorize,
	&row_unroll,
	&row_simplify,
	&row_conditions, /* what unrolling has decided */
	&row_flatten,
	&row_simplify,
	&row_lanes,
	&row_accumulate,
	&row_registers,
	&row_masks,
	&row_threads,
	&row_divide,
	&row_weigh,
	NULL,
};

static const BackendText texts[] = {
	BACKEND_TEXT_LOWERED,
	[TEXT_LLVM] = { "llvm", ";" },
	[TEXT_ASM] = { "asm", "#" },
	{ NULL, NULL },
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
	.emit_bytes = EMIT_BYTES,
	.compiler = "llvm " LLVM_VERSION_STRING,
	.key = key,
	.emit = emit,
	.spills_hurt = spills_hurt,
};
