/*
 * CUDA devices: LLVM's NVPTX back end writes PTX, which the driver compiles when it loads the code, or nvJitLink here.
 * The emitter is the CPU's, the passes are those of devices.
 */
#include "codegen/launches.h"
#include "codegen/llvm/assemble.h"
#include "codegen/llvm/compile.h"
#include "codegen/llvm/weigh.h"
#include "codegen/lower/pass.h"
#include "target/occupancy.h"

#include <llvm/Config/llvm-config.h>

#include <string.h>

static const Pass *const passes[] = {
	&row_fragments,
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

/* What the assembler says, and its code if that is asked for. */
static bool assemble(const BackendJob *job)
{
	Module *m = job->out;
	Assembled x;
	AssembledKernel kernel;
	char symbol[DLC_SYMBOL];
	int own = machine_sm(job->target), sm = assemble_nearest(own);
	bool image = job->options->machine_code && sm == own;
	if (sm == 0)
		return true;
	if (!assemble_ptx(image ? job->keep : job->arena, (const char *)m->image.bytes, sm, &x, job->err))
		return false;
	for (uint32_t k = 0; k < m->image.nentry; k++) {
		kernel_symbol(m->image.entry[k].name, symbol);
		if (!assemble_kernel(&x, symbol, &kernel))
			continue;
		m->report[k].registers = kernel.registers;
		m->report[k].frame_bytes = kernel.stack_bytes;
		m->report[k].spills = kernel.spill_bytes / 4;
	}
	if (image) {
		m->image.bytes = x.cubin;
		m->image.size = x.size;
	}
	return true;
}

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
		if (ok && (job->options->resources || job->options->machine_code))
			ok = assemble(job);
	}
	compile_end(&c);
	return ok;
}

static void key(const Target *t, Text *out)
{
	MachineName name;
	machine_name(t, &name);
	text_add(out, "%s %d bits %d registers shared %lld threads %d\n", name.cpu, t->vector_bits, t->vector_regs,
		(long long)target_block_shared(t), t->blocks.block_threads);
}

static bool spills_hurt(const KernelReport *r, const Target *t)
{
	(void)t;
	return r->spills > 0; /* registers that go to memory and back: the tile does not fit the block's threads */
}

static const BackendText texts[] = {
	BACKEND_TEXT_LOWERED,
	[TEXT_LLVM] = { "llvm", ";", NULL },
	[TEXT_ASM] = { "ptx", "//", ".version" },
	{ NULL, NULL, NULL },
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
