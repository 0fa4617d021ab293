/*
 * CUDA devices: LLVM's NVPTX back end writes PTX, which the driver compiles when it loads the code, or nvJitLink here.
 * The emitter is the CPU's, the passes are those of devices.
 */
#include "codegen/launches.h"
#include "codegen/llvm/assemble.h"
#include "codegen/llvm/compile.h"
#include "codegen/llvm/llvm_api.h"
#include "codegen/llvm/weigh.h"
#include "codegen/lower/pass.h"
#include "target/capability.h"
#include "target/occupancy.h"

#include <string.h>

static const Pass *const passes[] = {
#define ALL(pass) &row_##pass,
#define TEAMS(pass)
#define LAUNCHES(pass) &row_##pass,
#define WARPS(pass) &row_##pass,
#include "codegen/lower/order.def"
	&row_weigh,
	NULL,
};

/* The assembler's figures for each kernel. */
static bool report_resources(const BackendJob *job)
{
	Module *m = job->out;
	Assembled x;
	AssembledKernel kernel;
	char symbol[DLC_SYMBOL];
	int sm = assemble_nearest(target_capability(job->target)->number);
	if (sm == 0)
		return true;
	if (!assemble_ptx(job->arena, (const char *)m->image.bytes, sm, &x, job->err))
		return false;
	for (uint32_t k = 0; k < m->image.nentry; k++) {
		kernel_symbol(m->image.entry[k].name, symbol);
		if (!assemble_kernel(&x, symbol, &kernel))
			continue;
		m->report[k].registers = kernel.registers;
		m->report[k].frame_bytes = kernel.stack_bytes;
		m->report[k].spills = kernel.spill_bytes / 4;
	}
	return true;
}

/* GPUs of the same major version run machine code of their own minor version and of lower ones. */
static bool assemble(Arena *a, const Target *t, const DlcImage *image, Assembly *out, Err *err)
{
	Assembled x;
	int sm = target_capability(t)->number;
	if (assemble_nearest(sm) != sm)
		return fail(err, ERR_MISSING, "assembler",
			"no machine code can be made for sm_%d: %s; PTX needs no assembler", sm,
			assemble_lacks() != NULL ? assemble_lacks() : "libnvJitLink.so here does not know it");
	if (!assemble_ptx(a, (const char *)image->bytes, sm, &x, err))
		return false;
	*out = (Assembly){ *image, arena_printf(a, "sm_%d..sm_%d", sm, sm / 10 * 10 + 9), assemble_tool(a) };
	out->image.bytes = x.cubin;
	out->image.size = x.size;
	return true;
}

/* Names of functions that are no kernels include the name of the set's first kernel: join makes one module of sets. */
static void name_functions(const Compile *c)
{
	size_t n;
	for (LLVMValueRef f = LLVMGetFirstFunction(c->emit.mod); f != NULL; f = LLVMGetNextFunction(f)) {
		if (LLVMGetLinkage(f) != LLVMInternalLinkage)
			continue;
		const char *old = LLVMGetValueName2(f, &n);
		const char *name = arena_printf(c->job->arena, "%.*s.%s", (int)n, old, c->job->entry[0].name);
		LLVMSetValueName2(f, name, strlen(name));
	}
}

static bool emit(const BackendJob *job)
{
	Compile c;
	LLVMMemoryBufferRef b;
	Module *m = job->out;
	if (!launch_check_names(job) || !compile_begin(&c, job, NULL))
		return false;
	bool ok = compile_emit(&c) && launch_end(job);
	if (ok)
		name_functions(&c);
	ok = ok && compile_texts(&c);
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
		if (ok && job->options->resources)
			ok = report_resources(job);
	}
	compile_end(&c);
	return ok;
}

/* The text behind .version, .target and .address_size, which all texts for a target share. */
static const char *body_of(const char *text)
{
	const char *last = strstr(text, "\n.address_size");
	return last + 1 + strcspn(last + 1, "\n");
}

static void join(Arena *a, const DlcImage *image, size_t n, DlcImage *out)
{
	Text joined = { .arena = a };
	VEC(DlcEntry) entry = { 0 };
	for (size_t k = 0; k < n; k++) {
		const char *text = (const char *)image[k].bytes;
		text_add(&joined, "%s", k == 0 ? text : body_of(text));
		for (uint32_t j = 0; j < image[k].nentry; j++)
			vec_push(a, &entry, image[k].entry[j]);
	}
	*out = (DlcImage){ (const unsigned char *)text_str(&joined), joined.n + 1, entry.at, (uint32_t)entry.n,
		DLC_DEVICE_CUDA };
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
	.ready = llvm_open,
	.key = key,
	.emit = emit,
	.join = join,
	.assemble = assemble,
	.form = "ptx",
	.assembled = "cubin",
	.spills_hurt = spills_hurt,
};
