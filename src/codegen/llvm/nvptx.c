/*
 * CUDA devices: LLVM's NVPTX back end writes PTX, which the driver compiles when it loads the code. The emitter is the
 * CPU's, the passes are those of devices.
 */
#include "codegen/launches.h"
#include "codegen/llvm/compile.h"
#include "codegen/llvm/weigh.h"
#include "codegen/lower/pass.h"

#include <llvm/Config/llvm-config.h>

#include <string.h>

static const Pass *const passes[] = {
	&row_inline_calls,
	&row_copies,
	&row_kernels,
	&row_launch_nest,
	&row_hoist_init,
	&row_blocks,
	&row_simplify,
	&row_conditions,
	&row_reduce,
	&row_widths,
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
	&row_divide,
	&row_weigh,
	NULL,
};

static bool emit(const BackendJob *job)
{
	Compile c;
	LLVMMemoryBufferRef b;
	Module *m = job->out;
	if (!launch_check_names(job) || !compile_begin(&c, job, NULL))
		return false;
	bool ok = compile_emit(&c) && launch_end(job) && compile_texts(&c);
	if (ok && !job->options->no_image) {
		ok = compile_code(&c, LLVMAssemblyFile, false, &b);
		if (ok) {
			size_t n = LLVMGetBufferSize(b);
			unsigned char *text = arena_alloc(job->keep, n + 1);
			memcpy(text, LLVMGetBufferStart(b), n);
			text[n] = 0;
			m->image.bytes = text;
			m->image.size = n + 1;
			LLVMDisposeMemoryBuffer(b);
		}
	}
	compile_end(&c);
	return ok;
}

static void key(const Target *t, Text *out)
{
	MachineName name;
	machine_name(t, &name);
	text_add(out, "%s %d bits %d registers shared %lld threads %d\n", name.cpu, t->vector_bits, t->vector_regs,
		(long long)launch_scope_bytes(t, "shared"), t->blocks.block_threads);
}

static bool spills_hurt(const KernelReport *r, const Target *t)
{
	(void)t;
	return r->spills > 0;
}

static const BackendText texts[] = {
	BACKEND_TEXT_LOWERED,
	[TEXT_LLVM] = { "llvm", ";" },
	[TEXT_ASM] = { "ptx", "//" },
	{ NULL, NULL },
};

const Backend backend_nvptx = {
	.name = "nvptx",
	.use = "PTX for NVIDIA GPUs",
	.kinds = 1u << TARGET_CUDA,
	.device = DLC_DEVICE_CUDA,
	.pass = passes,
	.text = texts,
	.emit_bytes = COMPILE_BYTES,
	.compiler = "llvm " LLVM_VERSION_STRING,
	.key = key,
	.emit = emit,
	.spills_hurt = spills_hurt,
};
