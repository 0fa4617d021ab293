/*
 * LLVM IR for NVPTX to code of this machine. The text changes: no address spaces, no target, llvm.nvvm.x.y becomes
 * nvvm_x_y. Then each kernel gets a function with the arguments of a launch, which starts its threads (block.c).
 */
#include "host.h"

#include "base/text.h"
#include "block.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '$' || c == '-';
}

/* A name of LLVM's: an nvvm intrinsic becomes a function, any other has pointers of one address space. */
static const char *put_intrinsic(Text *out, const char *s)
{
	const char *own = "@llvm.nvvm.", *p = s;
	if (starts(s, own)) {
		text_add(out, "@nvvm_");
		for (p += strlen(own); in_name(*p); p++)
			text_put(out, *p == '.' ? "_" : p, 1);
		while (*p != 0 && *p != '\n') /* what only parameters of intrinsics may have */
			if (starts(p, " immarg"))
				p += strlen(" immarg");
			else if (starts(p, " addrspace(") || starts(p, "@llvm."))
				break;
			else
				text_put(out, p++, 1);
		return p;
	}
	for (; p == s || in_name(*p); p++) {
		bool begins = *p == 'p' && (p[-1] == '.' || isdigit((unsigned char)p[-1]));
		text_put(out, p, 1);
		if (begins && isdigit((unsigned char)p[1]) && (p[2] == '.' || !in_name(p[2])))
			text_put(out, "0", 1), p++;
	}
	return p;
}

/* Whether a declaration is there already: two that differ in their address spaces are one. */
static bool is_again(Arena *a, const char *line, HostNames *declared)
{
	Text name = { .arena = a };
	const char *at = strchr(line, '@');
	if (at == NULL || !starts(at, "@llvm.") || starts(at, "@llvm.nvvm."))
		return false;
	put_intrinsic(&name, at);
	for (size_t k = 0; k < declared->n; k++)
		if (strcmp(declared->at[k], text_str(&name)) == 0)
			return true;
	vec_push(a, declared, text_str(&name));
	return false;
}

/* The text for this machine; names of the kernels are added to the list. */
static const char *rewrite(Arena *a, const char *ir, HostNames *kernels)
{
	Text out = { .arena = a };
	HostNames declared = { 0 };
	static const char kernel[] = "ptx_kernel ";
	for (const char *p = ir; *p != 0;) {
		bool begins = p == ir || p[-1] == '\n';
		if (begins && (starts(p, "target ") || (starts(p, "declare ") && is_again(a, p, &declared)))) {
			p += strcspn(p, "\n");
		} else if (starts(p, " addrspace(")) {
			p += strcspn(p, ")") + 1;
		} else if (starts(p, "addrspace(")) {
			p += strcspn(p, ")") + 2; /* of a global: a blank follows */
		} else if (starts(p, kernel)) {
			p += strlen(kernel);
			const char *name = strchr(p, '@') + 1;
			vec_push(a, kernels, arena_printf(a, "%.*s", (int)strcspn(name, "("), name));
		} else if (starts(p, "@llvm.")) {
			p = put_intrinsic(&out, p);
		} else {
			text_put(&out, p++, 1);
		}
	}
	return text_str(&out);
}

static LLVMTypeRef array_of(LLVMContextRef cx, uint64_t bytes)
{
	return LLVMArrayType2(LLVMInt8TypeInContext(cx), bytes);
}

/* void NAME$args(ptr args): the kernel with what they point to. */
static LLVMValueRef with_args(HostCode *h, LLVMBuilderRef b, LLVMValueRef kernel, const char *name)
{
	LLVMTypeRef ptr = LLVMPointerTypeInContext(h->cx, 0), type = LLVMGlobalGetValueType(kernel), value[64];
	LLVMTypeRef own = LLVMFunctionType(LLVMVoidTypeInContext(h->cx), &ptr, 1, 0);
	LLVMValueRef f = LLVMAddFunction(h->mod, arena_printf(h->arena, "%s$args", name), own), arg[64];
	unsigned n = LLVMCountParamTypes(type);
	LLVMGetParamTypes(type, value);
	LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(h->cx, f, ""));
	for (unsigned k = 0; k < n; k++) {
		LLVMValueRef at = LLVMConstInt(LLVMInt64TypeInContext(h->cx), k, 0);
		LLVMValueRef p = LLVMBuildLoad2(b, ptr, LLVMBuildGEP2(b, ptr, LLVMGetParam(f, 0), &at, 1, ""), "");
		arg[k] = LLVMBuildLoad2(b, value[k], p, "");
	}
	LLVMBuildCall2(b, type, kernel, arg, n, "");
	LLVMBuildRetVoid(b);
	LLVMSetLinkage(f, LLVMInternalLinkage);
	return f;
}

/* What the block shares: its address and the bytes that the kernel declares; 0: the launch says how many. */
static LLVMValueRef shared_of(HostCode *h, const char *name, uint64_t *own)
{
	LLVMValueRef g = LLVMGetNamedGlobal(h->mod, arena_printf(h->arena, "%s$shared", name));
	*own = 0;
	if (g == NULL)
		return LLVMConstNull(LLVMPointerTypeInContext(h->cx, 0));
	*own = LLVMGetArrayLength2(LLVMGlobalGetValueType(g));
	if (*own > 0)
		return g;
	LLVMTypeRef t = array_of(h->cx, FIBER_SHARED);
	LLVMValueRef room = LLVMAddGlobal(h->mod, t, "");
	LLVMSetInitializer(room, LLVMConstNull(t));
	LLVMSetAlignment(room, 128);
	LLVMSetLinkage(room, LLVMInternalLinkage);
	LLVMReplaceAllUsesWith(g, room);
	LLVMDeleteGlobal(g);
	return room;
}

/* FibersKernel NAME: the threads of a launch, each of which calls the kernel. */
static void add_launch(HostCode *h, LLVMBuilderRef b, const char *name)
{
	LLVMTypeRef ptr = LLVMPointerTypeInContext(h->cx, 0), i64 = LLVMInt64TypeInContext(h->cx);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(h->cx), start[7] = { ptr, ptr, ptr, ptr, ptr, i64, i32 };
	LLVMTypeRef start_type = LLVMFunctionType(ptr, start, 7, 0), own[4] = { ptr, ptr, ptr, i32 };
	LLVMValueRef kernel = LLVMGetNamedFunction(h->mod, name), call = with_args(h, b, kernel, name);
	char *inner = arena_printf(h->arena, "%s$kernel", name);
	uint64_t bytes;
	LLVMSetValueName2(kernel, inner, strlen(inner));
	LLVMSetLinkage(kernel, LLVMInternalLinkage);
	LLVMValueRef f = LLVMAddFunction(h->mod, name, LLVMFunctionType(ptr, own, 4, 0));
	LLVMValueRef launch = LLVMGetNamedFunction(h->mod, "fiber_launch"), shared = shared_of(h, name, &bytes);
	if (launch == NULL)
		launch = LLVMAddFunction(h->mod, "fiber_launch", start_type);
	LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(h->cx, f, ""));
	LLVMValueRef arg[7] = { call, LLVMGetParam(f, 0), LLVMGetParam(f, 1), LLVMGetParam(f, 2), shared,
		LLVMConstInt(i64, bytes, 0), LLVMGetParam(f, 3) };
	LLVMBuildRet(b, LLVMBuildCall2(b, start_type, launch, arg, 7, ""));
}

/* Without optimisation: it would make one barrier of two, and what is compiled runs once. */
/* nvvm_mma_..: its arguments as words in memory, and the sums behind them, for fiber_mma. */
static void add_product(HostCode *h, LLVMBuilderRef b, LLVMValueRef f, LLVMValueRef mma, LLVMTypeRef mma_type)
{
	const char *name = LLVMGetValueName(f);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(h->cx), f32 = LLVMFloatTypeInContext(h->cx);
	unsigned n = LLVMCountParams(f);
	bool tf32 = strstr(name, "_tf32") != NULL, brain = strstr(name, "_bf16") != NULL;
	LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(h->cx, f, ""));
	LLVMValueRef words = LLVMBuildArrayAlloca(b, i32, LLVMConstInt(i32, n, 0), ""), at[17];
	for (unsigned k = 0; k < n; k++) {
		LLVMValueRef index = LLVMConstInt(i32, k, 0);
		at[k] = LLVMBuildGEP2(b, i32, words, &index, 1, "");
		LLVMBuildStore(b, LLVMGetParam(f, k), at[k]);
	}
	LLVMValueRef arg[4] = { LLVMConstInt(i32, tf32 ? FIBER_TF32 : brain ? FIBER_BF16 : FIBER_F16, 0),
		LLVMConstInt(i32, strstr(name, "m16n8k16") != NULL ? 16 : 8, 0), words, at[n - 4] };
	LLVMBuildCall2(b, mma_type, mma, arg, 4, "");
	LLVMValueRef out = LLVMGetPoison(LLVMGetReturnType(LLVMGlobalGetValueType(f)));
	for (unsigned k = 0; k < 4; k++)
		out = LLVMBuildInsertValue(b, out, LLVMBuildLoad2(b, f32, at[n - 4 + k], ""), k, "");
	LLVMBuildRet(b, out);
	LLVMSetLinkage(f, LLVMInternalLinkage);
}

/* nvvm_ldmatrix_..: fiber_ldmatrix with room for the words, which it returns. */
static void add_load(HostCode *h, LLVMBuilderRef b, LLVMValueRef f)
{
	const char *name = LLVMGetValueName(f), *count = strstr(name, "_m8n8_x");
	LLVMTypeRef i32 = LLVMInt32TypeInContext(h->cx), ptr = LLVMPointerTypeInContext(h->cx, 0);
	LLVMTypeRef in[4] = { i32, i32, ptr, ptr }, type = LLVMFunctionType(LLVMVoidTypeInContext(h->cx), in, 4, 0);
	LLVMValueRef load = LLVMGetNamedFunction(h->mod, "fiber_ldmatrix");
	unsigned n = (unsigned)atoi(count + strlen("_m8n8_x"));
	if (load == NULL)
		load = LLVMAddFunction(h->mod, "fiber_ldmatrix", type);
	LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(h->cx, f, ""));
	LLVMValueRef words = LLVMBuildArrayAlloca(b, i32, LLVMConstInt(i32, n, 0), ""), out = NULL;
	LLVMValueRef arg[4] = { LLVMConstInt(i32, n, 0), LLVMConstInt(i32, strstr(name, "_trans") != NULL, 0),
		LLVMGetParam(f, 0), words };
	LLVMBuildCall2(b, type, load, arg, 4, "");
	for (unsigned k = 0; k < n; k++) {
		LLVMValueRef index = LLVMConstInt(i32, k, 0);
		LLVMValueRef word = LLVMBuildLoad2(b, i32, LLVMBuildGEP2(b, i32, words, &index, 1, ""), "");
		if (out == NULL && n > 1)
			out = LLVMGetPoison(LLVMGetReturnType(LLVMGlobalGetValueType(f)));
		out = n == 1 ? word : LLVMBuildInsertValue(b, out, word, k, "");
	}
	LLVMBuildRet(b, out);
	LLVMSetLinkage(f, LLVMInternalLinkage);
}

static void add_products(HostCode *h, LLVMBuilderRef b)
{
	LLVMTypeRef i32 = LLVMInt32TypeInContext(h->cx), ptr = LLVMPointerTypeInContext(h->cx, 0);
	LLVMTypeRef in[4] = { i32, i32, ptr, ptr };
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(h->cx), in, 4, 0);
	LLVMValueRef mma = NULL;
	for (LLVMValueRef f = LLVMGetFirstFunction(h->mod); f != NULL; f = LLVMGetNextFunction(f)) {
		if (starts(LLVMGetValueName(f), "nvvm_ldmatrix_"))
			add_load(h, b, f);
		if (!starts(LLVMGetValueName(f), "nvvm_mma_"))
			continue;
		if (mma == NULL)
			mma = LLVMAddFunction(h->mod, "fiber_mma", type);
		add_product(h, b, f, mma, type);
	}
}

static LLVMTargetMachineRef machine(Err *err)
{
	LLVMTargetRef row;
	char *message = NULL, *triple = LLVMGetDefaultTargetTriple();
	char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
	LLVMTargetMachineRef tm = NULL;
	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	if (!LLVMGetTargetFromTriple(triple, &row, &message))
		tm = LLVMCreateTargetMachine(
			row, triple, cpu, features, LLVMCodeGenLevelNone, LLVMRelocPIC, LLVMCodeModelDefault);
	if (tm == NULL)
		fail(err, ERR_BUG, "fibers", "no target machine: %s", message != NULL ? message : triple);
	LLVMDisposeMessage(message);
	LLVMDisposeMessage(triple);
	LLVMDisposeMessage(cpu);
	LLVMDisposeMessage(features);
	return tm;
}

/* Remarks that the back end's options ask for. */
static void ignore(LLVMDiagnosticInfoRef d, void *arg)
{
	(void)d, (void)arg;
}

bool host_code(HostCode *h, LLVMContextRef cx, const char *ir, Err *err)
{
	char *message = NULL;
	*h = (HostCode){ .arena = arena_new(), .cx = cx, .tm = machine(err) };
	if (h->tm == NULL)
		return false;
	const char *text = rewrite(h->arena, ir, &h->kernel);
	LLVMMemoryBufferRef b = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "fibers");
	if (LLVMParseIRInContext(cx, b, &h->mod, &message)) {
		fail(err, ERR_BUG, "fibers", "the changed text is no LLVM IR: %s", message);
		LLVMDisposeMessage(message);
		h->mod = NULL;
		return false;
	}
	LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(h->tm);
	char *triple = LLVMGetTargetMachineTriple(h->tm);
	LLVMSetModuleDataLayout(h->mod, layout);
	LLVMSetTarget(h->mod, triple);
	LLVMDisposeTargetData(layout);
	LLVMDisposeMessage(triple);
	LLVMContextSetDiagnosticHandler(cx, ignore, NULL);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(cx);
	add_products(h, builder);
	for (size_t k = 0; k < h->kernel.n; k++)
		add_launch(h, builder, h->kernel.at[k]);
	LLVMDisposeBuilder(builder);
	if (!LLVMVerifyModule(h->mod, LLVMReturnStatusAction, &message)) {
		LLVMDisposeMessage(message);
		return true;
	}
	fail(err, ERR_BUG, "fibers", "the host's module is broken: %s", message);
	LLVMDisposeMessage(message);
	return false;
}

/* Not the module, if it went to somebody else. */
void host_free(HostCode *h)
{
	if (h->mod != NULL)
		LLVMDisposeModule(h->mod);
	if (h->tm != NULL)
		LLVMDisposeTargetMachine(h->tm);
	arena_free(h->arena);
}

static bool write_object(const char *ir, const char *path, Err *err)
{
	LLVMContextRef cx = LLVMContextCreate();
	HostCode h;
	char *message = NULL;
	bool ok = host_code(&h, cx, ir, err);
	if (ok && LLVMTargetMachineEmitToFile(h.tm, h.mod, (char *)(uintptr_t)path, LLVMObjectFile, &message)) {
		ok = fail(err, ERR_BUG, "fibers", "%s: %s", path, message);
		LLVMDisposeMessage(message);
	}
	host_free(&h);
	LLVMContextDispose(cx);
	return ok;
}

bool fibers_write_library(const char *const *llvm, int n, const char *cc, const char *path, Err *err)
{
	Arena *a = arena_new();
	Text command = { .arena = a };
	bool ok = true;
	text_add(&command, "%s -shared -o '%s'", cc, path);
	for (int k = 0; k < n && ok; k++) {
		const char *object = arena_printf(a, "%s.%d.o", path, k);
		ok = write_object(llvm[k], object, err);
		text_add(&command, " '%s'", object);
	}
	text_add(&command, " -Wl,--whole-archive '%s' -Wl,--no-whole-archive -lm -lpthread", FIBERS_BLOCK);
	if (ok && system(text_str(&command)) != 0)
		ok = fail(err, ERR_MISSING, path, "the library cannot be linked: %s", text_str(&command));
	for (int k = 0; k < n; k++)
		unlink(arena_printf(a, "%s.%d.o", path, k));
	arena_free(a);
	return ok;
}
