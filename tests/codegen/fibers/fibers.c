/* Kernels in this process: LLVM's LLJIT makes them executable; the Module's launches run on tensors. See fibers.h. */
#include "fibers.h"

#include "block.h"
#include "codegen/backend.h"
#include "host.h"

#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS = 256, POISON = 0xff };

struct Fibers {
	LLVMOrcLLJITRef jit;
};

#define INTRINSIC(name) extern void nvvm_##name(void);
#include "intrinsics.def"

static const struct {
	const char *name;
	void (*at)(void);
} functions[] = {
#define INTRINSIC(name) { "nvvm_" #name, nvvm_##name },
#include "intrinsics.def"
	{ "fiber_launch", (void (*)(void))fiber_launch },
	{ "fiber_mma", (void (*)(void))fiber_mma },
	{ "fiber_ldmatrix", (void (*)(void))fiber_ldmatrix },
};

static bool failed(LLVMErrorRef e, Err *err)
{
	if (e == NULL)
		return false;
	char *message = LLVMGetErrorMessage(e);
	fail(err, ERR_BUG, "fibers", "%s", message);
	LLVMDisposeErrorMessage(message);
	return true;
}

static bool define_functions(LLVMOrcLLJITRef jit, Err *err)
{
	enum { N = sizeof functions / sizeof *functions };
	LLVMOrcCSymbolMapPair pair[N];
	LLVMOrcDefinitionGeneratorRef process;
	LLVMOrcJITDylibRef lib = LLVMOrcLLJITGetMainJITDylib(jit);
	for (int k = 0; k < N; k++) {
		pair[k].Name = LLVMOrcLLJITMangleAndIntern(jit, functions[k].name);
		pair[k].Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)functions[k].at;
		pair[k].Sym.Flags =
			(LLVMJITSymbolFlags){ LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0 };
	}
	if (failed(LLVMOrcJITDylibDefine(lib, LLVMOrcAbsoluteSymbols(pair, N)), err))
		return false;
	if (failed(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
				   &process, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL),
			err))
		return false;
	LLVMOrcJITDylibAddGenerator(lib, process); /* what LLVM calls where this machine lacks an instruction */
	return true;
}

Fibers *fibers_load(const Module *m, Err *err)
{
	int text = backend_text(m->backend, "llvm");
	if (text < 0 || m->text[text] == NULL) {
		fail(err, ERR_BUG, "fibers", "the module was compiled without the text llvm");
		return NULL;
	}
	Fibers *f = calloc(1, sizeof *f);
	LLVMOrcThreadSafeContextRef safe = LLVMOrcCreateNewThreadSafeContext();
	HostCode h;
	bool ok = host_code(&h, LLVMOrcThreadSafeContextGetContext(safe), m->text[text], err);
	if (ok) {
		LLVMOrcLLJITBuilderRef b = LLVMOrcCreateLLJITBuilder();
		LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
			b, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(h.tm)); /* takes it */
		h.tm = NULL;
		ok = !failed(LLVMOrcCreateLLJIT(&f->jit, b), err) && define_functions(f->jit, err);
	}
	if (ok) {
		LLVMOrcThreadSafeModuleRef mod = LLVMOrcCreateNewThreadSafeModule(h.mod, safe);
		h.mod = NULL;
		ok = !failed(LLVMOrcLLJITAddLLVMIRModule(f->jit, LLVMOrcLLJITGetMainJITDylib(f->jit), mod), err);
	}
	host_free(&h);
	LLVMOrcDisposeThreadSafeContext(safe);
	if (ok)
		return f;
	fibers_free(f);
	return NULL;
}

void fibers_free(Fibers *f)
{
	LLVMErrorRef e = f != NULL && f->jit != NULL ? LLVMOrcDisposeLLJIT(f->jit) : NULL;
	LLVMConsumeError(e);
	free(f);
}

FibersKernel *fibers_kernel(const Fibers *f, const char *symbol)
{
	LLVMOrcExecutorAddress at = 0;
	LLVMErrorRef e = LLVMOrcLLJITLookup(f->jit, &at, symbol);
	if (e != NULL)
		LLVMConsumeError(e);
	FibersKernel *k;
	void *p = e == NULL ? (void *)(uintptr_t)at : NULL;
	memcpy(&k, &p, sizeof k);
	return k;
}

static const IrArg *find_arg(const IrArg *arg, int n, const char *name)
{
	for (int k = 0; k < n; k++)
		if (strcmp(arg[k].name, name) == 0)
			return &arg[k];
	return NULL;
}

/* What a call works on: its arguments, and the buffers of the set that no argument gives. */
typedef struct Call {
	Arena *arena;
	IrArg arg[ARGS];
	int n;
} Call;

static const IrArg *buffer(Call *c, const Buf *b)
{
	const IrArg *x = find_arg(c->arg, c->n, b->name);
	if (x != NULL || c->n == ARGS)
		return x;
	size_t bytes = (size_t)dtype_bytes(b->type, ir_buf_elements(b, c->arg, c->n));
	void *data = arena_alloc_aligned(c->arena, bytes + 64, 64);
	memset(data, b->role == BUF_ZERO ? 0 : POISON, bytes);
	c->arg[c->n] = (IrArg){ b->name, data, 0 };
	return &c->arg[c->n++];
}

/* The values that a kernel's parameters have: addresses of buffers, symbols, the workspace. */
static bool values_of(Call *c, const Fn *fn, const DlcEntry *e, void *work, int64_t *value, Err *err)
{
	int k = 0;
	for (int j = 0; j < fn->nparam && k < (int)e->nbuf; j++) {
		const IrArg *x = buffer(c, fn->param[j].buf);
		if (x == NULL)
			return fail(err, ERR_INPUT, fn->name, "there are too many buffers");
		value[k++] = (int64_t)(intptr_t)x->data;
	}
	for (int j = 0; j < fn->nsym; j++) {
		const IrArg *x = find_arg(c->arg, c->n, fn->sym[j].name);
		if (x == NULL)
			return fail(err, ERR_INPUT, fn->name, "the symbol %s has no value", fn->sym[j].name);
		value[k++] = x->value;
	}
	assert(k == (int)(e->nbuf + e->nsym));
	value[k] = (int64_t)(intptr_t)work;
	return true;
}

static bool run_entry(const Fibers *f, const DlcEntry *e, int64_t *value, Err *err)
{
	char symbol[DLC_SYMBOL];
	void *args[ARGS];
	uint32_t dim[DLC_LAUNCH_DIMS];
	kernel_symbol(e->name, symbol);
	FibersKernel *kernel = fibers_kernel(f, symbol);
	if (kernel == NULL)
		return fail(err, ERR_BUG, "fibers", "there is no kernel %s", symbol);
	for (uint32_t k = 0; k <= e->nbuf + e->nsym; k++)
		args[k] = &value[k];
	for (int d = 0; d < DLC_LAUNCH_DIMS; d++) {
		const DlcDim *x = &e->launch.dim[d];
		int64_t v = x->mul;
		for (int k = 0; k < 2; k++)
			v *= x->sym[k] >= 0 ? value[e->nbuf + (uint32_t)x->sym[k]] : 1;
		dim[d] = (uint32_t)((v + x->add) / x->div);
	}
	const char *why = kernel(args, dim + DLC_GRID, dim + DLC_BLOCK, dim[DLC_SHARED]);
	return why == NULL || fail(err, ERR_RACE, e->name, "%s", why);
}

bool fibers_run(
	const Fibers *f, const KernelSet *ks, const Module *m, const IrArg *arg, int n, uint64_t seed, Err *err)
{
	uint64_t work_bytes = 0;
	int64_t value[ARGS];
	Call c = { .arena = arena_new(), .n = n };
	bool ok = true;
	memcpy(c.arg, arg, (size_t)n * sizeof *arg);
	for (uint32_t k = 0; k < m->image.nentry; k++)
		work_bytes = m->image.entry[k].work_bytes > work_bytes ? m->image.entry[k].work_bytes : work_bytes;
	void *work = arena_alloc_aligned(c.arena, work_bytes + 64, 64);
	memset(work, POISON, work_bytes);
	fiber_seed(seed);
	for (uint32_t k = 0; ok && k < m->image.nentry;) {
		const Fn *fn = ir_find_fn(ks, m->image.entry[k].name);
		for (uint32_t end = k + m->image.entry[k].rest; ok && k <= end; k++)
			ok = values_of(&c, fn, &m->image.entry[k], work, value, err) &&
			     run_entry(f, &m->image.entry[k], value, err);
	}
	arena_free(c.arena);
	return ok;
}

bool fibers_call(
	const KernelSet *ks, const Target *t, const CodegenOptions *o, const IrArg *arg, int n, uint64_t seed, Err *err)
{
	Arena *a = arena_new();
	Module m;
	CodegenOptions with = o != NULL ? *o : (CodegenOptions){ 0 };
	with.texts |= 1u << backend_text(&backend_nvptx, "llvm");
	bool ok = codegen_compile(a, ks, t, &with, &m, err);
	Fibers *f = ok ? fibers_load(&m, err) : NULL;
	ok = f != NULL && fibers_run(f, ks, &m, arg, n, seed, err);
	fibers_free(f);
	arena_free(a);
	return ok;
}
