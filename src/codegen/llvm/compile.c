/* See compile.h. */
#include "codegen/llvm/compile.h"

#include "codegen/llvm/emit_device.h"
#include "target/capability.h"

#include <stdio.h>
#include <string.h>

static void on_diagnostic(LLVMDiagnosticInfoRef d, void *arg)
{
	Compile *c = arg;
	char *text = LLVMGetDiagInfoDescription(d);
	if (LLVMGetDiagInfoSeverity(d) == LLVMDSError)
		snprintf(c->message, sizeof c->message, "%s", text);
	else if (c->note != NULL)
		c->note(c, text);
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
		.device = c->job->target->kind == TARGET_CUDA,
		.x86 = c->job->target->kind == TARGET_CPU && c->job->target->arch == ARCH_X86_64,
		.extremes = target_capability(c->job->target)->extremes,
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

bool compile_emit(Compile *c)
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
		const Fn *fn = ir_find_fn(c->job->ks, entry[k].name);
		for (size_t j = 0; j < c->job->nkernel; j++)
			if (c->job->kernel[j].fn == fn)
				c->emit.kernel = &c->job->kernel[j];
		if (!emit_fn(&c->emit, fn))
			return false;
		if (c->emit.device) {
			emit_kernel_end(&c->emit, &entry[k].launch);
			c->job->out->report[k].shared_bytes = c->emit.shared_bytes;
		}
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

bool compile_code(Compile *c, LLVMCodeGenFileType kind, bool copy, LLVMMemoryBufferRef *out)
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

bool compile_texts(Compile *c)
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
		if (!compile_code(c, LLVMAssemblyFile, true, &b))
			return false;
		c->job->out->text[TEXT_ASM] = keep_text(c, LLVMGetBufferStart(b), LLVMGetBufferSize(b));
		LLVMDisposeMemoryBuffer(b);
	}
	return true;
}

bool compile_begin(Compile *c, const BackendJob *job, void (*note)(Compile *c, const char *text))
{
	*c = (Compile){ .job = job, .note = note, .machine = machine_take(job->target, job->err) };
	if (c->machine == NULL)
		return false;
	c->tm = machine_of(c->machine);
	make_emit(c);
	return true;
}

void compile_end(Compile *c)
{
	LLVMDisposeBuilder(c->emit.b);
	LLVMDisposeModule(c->emit.mod);
	LLVMContextDispose(c->emit.cx);
	machine_give(c->machine);
}
