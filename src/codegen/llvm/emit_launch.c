/*
 * Kernels of a CUDA device: `void name(buffers, symbols, work)` in LLVM IR for NVPTX. Loops bound to axes are the
 * registers that number blocks and threads. Buffers lie in global memory, address space 1. What a block shares is one
 * global of address space 3, in which each alloc has its place. Other allocs are the thread's own: registers or its
 * local memory. A kernel of one thread keeps large ones in the workspace.
 */
#include "codegen/llvm/emit_device.h"
#include "codegen/llvm/emit_num.h"
#include "ir/build.h"
#include "ir/query.h"
#include "ir/threads/form.h"

#include <assert.h>
#include <string.h>

enum { GLOBAL = 1, SHARED = 3 }; /* address spaces */
enum {
	WORK_ALIGN = 64,
	SHARED_ALIGN = 128,      /* of all of it; an alloc begins at a multiple of SLOT_ALIGN */
	SLOT_ALIGN = 16,         /* the widest access */
	STATIC_SHARED = 48 << 10, /* a kernel that declares more is refused by the assembler */
	STACK_BYTES = 4096,      /* of an alloc of a kernel of one thread: larger ones lie in its workspace */
	PRIVATE_BYTES = 64 << 10, /* of an alloc of each thread */
};

LLVMTypeRef emit_global_pointer(Emit *e)
{
	return LLVMPointerTypeInContext(e->cx, GLOBAL);
}

static LLVMValueRef byte_at(Emit *e, LLVMValueRef base, int64_t offset)
{
	LLVMValueRef at = emit_int(e->i64, offset);
	return offset == 0 ? base : LLVMBuildGEP2(e->b, e->i8, base, &at, 1, "");
}

LLVMValueRef emit_kernel_function(Emit *e, const Fn *fn)
{
	LLVMTypeRef *t = arena_array(e->arena, LLVMTypeRef, fn->nsym + fn->nparam + 1);
	int n = 0;
	for (uint32_t k = 0; k < e->kernel->nbuf; k++)
		t[n++] = emit_global_pointer(e);
	for (int k = 0; k < fn->nsym; k++)
		t[n++] = e->i64;
	t[n++] = emit_global_pointer(e);
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->cx), t, (unsigned)n, 0);
	LLVMValueRef f = LLVMAddFunction(e->mod, emit_symbol(e, fn), type);
	LLVMSetFunctionCallConv(f, LLVMPTXKernelCallConv);
	return f;
}

static int64_t bytes_of(Emit *e, const Buf *b)
{
	Interval n = ir_interval(b->shape[0], ir_range_fn(e->ir, e->fn));
	return n.hi < 0 ? 0 : dtype_bytes(b->type, n.hi);
}

/* The next free bytes of the workspace. */
static LLVMValueRef take_work(Emit *e, int64_t bytes)
{
	LLVMValueRef p = byte_at(e, e->work, e->work_at);
	e->work_at += (bytes + WORK_ALIGN - 1) / WORK_ALIGN * WORK_ALIGN;
	e->work_bytes = e->work_at > e->work_bytes ? e->work_at : e->work_bytes;
	return p;
}

/* A buffer that the kernel writes, or hands to a sub Fn that may, is not read through the cache for constants. */
static bool note_written(Stmt *s, void *arg)
{
	Emit *e = arg;
	if (s->kind == ST_STORE)
		emit_place(e, s->store.dst.buf)->constant = false;
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		emit_place(e, s->reduce.dst[k].buf)->constant = false;
	for (int k = 0; s->kind == ST_CALL && k < s->call.n; k++)
		if (s->call.arg[k].buf != NULL)
			emit_place(e, s->call.arg[k].buf)->constant = false;
	return true;
}

void emit_kernel_parameters(Emit *e)
{
	const Fn *fn = e->fn;
	unsigned n = e->kernel->nbuf;
	e->alone = true;
	for (int k = DLC_GRID; k < DLC_SHARED; k++)
		e->alone = e->alone && e->kernel->launch.dim[k].mul == 0 && e->kernel->launch.dim[k].add == 1;
	e->work = LLVMGetParam(e->func, n + (unsigned)fn->nsym);
	emit_level_push(e);
	LLVMPositionBuilderBefore(e->b, e->level.at[0].marker);
	for (int k = 0; k < fn->nparam; k++) {
		Place *p = emit_place(e, fn->param[k].name);
		p->constant = p->global = true;
		p->ptr = k < (int)n ? LLVMGetParam(e->func, (unsigned)k) : take_work(e, bytes_of(e, fn->param[k].buf));
	}
	LLVMPositionBuilderAtEnd(e->b, e->at);
	ir_each_stmt(fn->body, note_written, e);
	for (int k = 0; k < fn->nsym; k++)
		emit_bind(e, fn->sym[k].name, I64, LLVMGetParam(e->func, n + (unsigned)k));
}

static void set_range(Emit *e, LLVMValueRef v, int64_t end)
{
	LLVMMetadataRef two[2] = { LLVMValueAsMetadata(emit_int(e->i32, 0)), LLVMValueAsMetadata(emit_int(e->i32, end)) };
	LLVMMetadataRef node = LLVMMDNodeInContext2(e->cx, two, 2);
	LLVMSetMetadata(v, LLVMGetMDKindIDInContext(e->cx, "range", 5), LLVMMetadataAsValue(e->cx, node));
}

LLVMValueRef emit_axis(Emit *e, const Stmt *s)
{
	static const char *const reg[2][THREAD_AXES] = {
		{ "llvm.nvvm.read.ptx.sreg.ctaid.x", "llvm.nvvm.read.ptx.sreg.ctaid.y", "llvm.nvvm.read.ptx.sreg.ctaid.z" },
		{ "llvm.nvvm.read.ptx.sreg.tid.x", "llvm.nvvm.read.ptx.sreg.tid.y", "llvm.nvvm.read.ptx.sreg.tid.z" },
	};
	int k;
	AxisKind kind = ir_axis_of(s, &k);
	assert((kind == AXIS_GRID || kind == AXIS_BLOCK) && ir_is_const(s->loop.lo, 0)); /* launch_nest */
	LLVMValueRef v = emit_intrinsic(e, reg[kind == AXIS_BLOCK][k], NULL, 0, NULL, 0);
	int64_t hi = ir_interval(s->loop.hi, e->bound).hi;
	if (hi > 0 && hi <= INT32_MAX)
		set_range(e, v, hi);
	return LLVMBuildSExt(e->b, v, e->i64, s->loop.var);
}

void emit_block_barrier(Emit *e)
{
	emit_intrinsic(e, "llvm.nvvm.barrier0", NULL, 0, NULL, 0);
}

static LLVMValueRef shared_memory(Emit *e)
{
	if (e->shared == NULL) {
		const char *name = arena_printf(e->arena, "%s$shared", emit_symbol(e, e->fn));
		e->shared = LLVMAddGlobalInAddressSpace(e->mod, LLVMArrayType2(e->i8, 0), name, SHARED);
	}
	return e->shared;
}

static LLVMValueRef own_array(Emit *e, int64_t bytes)
{
	LLVMValueRef v = LLVMBuildAlloca(e->b, LLVMArrayType2(e->i8, (uint64_t)(bytes < 1 ? 1 : bytes)), "own");
	LLVMSetAlignment(v, SLOT_ALIGN);
	return v;
}

/* Stands where the Fn begins, so that no loop takes another place each time. */
const char *emit_device_alloc(Emit *e, Place *p)
{
	int64_t bytes = bytes_of(e, p->buf);
	if (strcmp(p->buf->scope, "shared") == 0) {
		if (bytes < 0 || bytes > INT32_MAX)
			return "of more shared memory than a block can have";
		p->ptr = byte_at(e, shared_memory(e), e->shared_bytes);
		e->shared_bytes += (bytes + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
	} else if (e->alone && bytes > STACK_BYTES) {
		if (bytes > (int64_t)1 << 36)
			return "of more than 64 GiB";
		p->ptr = take_work(e, bytes);
	} else if (bytes >= 0 && bytes <= PRIVATE_BYTES) {
		p->ptr = own_array(e, bytes);
		p->own = true;
	} else {
		return "of more than 64 KiB for each thread";
	}
	return NULL;
}

/* The memory that a block shares gets its size: the kernel's own, or what the launch gives it. */
static void end_shared(Emit *e, DlcLaunch *launch)
{
	if (e->shared == NULL)
		return;
	bool own = e->shared_bytes <= STATIC_SHARED;
	LLVMTypeRef t = LLVMArrayType2(e->i8, own ? (uint64_t)e->shared_bytes : 0);
	const char *name = arena_printf(e->arena, "%s$shared", emit_symbol(e, e->fn));
	LLVMValueRef old = e->shared, all;
	LLVMSetValueName2(old, "", 0);
	all = LLVMAddGlobalInAddressSpace(e->mod, t, name, SHARED);
	LLVMSetAlignment(all, SHARED_ALIGN);
	if (own) {
		LLVMSetInitializer(all, LLVMGetUndef(t));
		LLVMSetLinkage(all, LLVMInternalLinkage);
	} else {
		launch->dim[DLC_SHARED].add = e->shared_bytes;
	}
	LLVMReplaceAllUsesWith(old, all);
	LLVMDeleteGlobal(old);
}

static void annotate(Emit *e, const char *what, int64_t n)
{
	LLVMMetadataRef three[3] = { LLVMValueAsMetadata(e->func), LLVMMDStringInContext2(e->cx, what, strlen(what)),
		LLVMValueAsMetadata(emit_int(e->i32, n)) };
	LLVMMetadataRef node = LLVMMDNodeInContext2(e->cx, three, 3);
	LLVMAddNamedMetadataOperand(e->mod, "nvvm.annotations", LLVMMetadataAsValue(e->cx, node));
}

/* A dimension of the launch: its constant, or the most that it can be, as far as 32 bits tell. */
static int64_t most_of(const Emit *e, const DlcDim *d)
{
	int64_t v = d->mul, add;
	for (int k = 0; k < 2 && v > 0; k++)
		if (d->sym[k] >= 0 && __builtin_mul_overflow(v, e->fn->sym[d->sym[k]].hi, &v))
			return INT64_MAX;
	return __builtin_add_overflow(v, d->add, &add) ? INT64_MAX : add / d->div;
}

void emit_kernel_end(Emit *e, DlcLaunch *launch)
{
	static const char *const exact[] = { "reqntidx", "reqntidy", "reqntidz" };
	const DlcDim *dim = &launch->dim[DLC_BLOCK];
	int64_t threads = 1, most = e->target->blocks.block_threads;
	bool constant = true;
	annotate(e, "kernel", 1);
	for (int k = 0; k < THREAD_AXES; k++)
		constant = constant && dim[k].mul == 0;
	for (int k = 0; constant && k < THREAD_AXES; k++)
		annotate(e, exact[k], most_of(e, &dim[k]));
	for (int k = 0; !constant && k < THREAD_AXES; k++)
		if (__builtin_mul_overflow(threads, most_of(e, &dim[k]), &threads))
			threads = INT64_MAX;
	if (!constant && most > 0)
		annotate(e, "maxntidx", threads < most ? threads : most);
	annotate(e, "minctasm", 1); /* else ptxas spills registers to fit more blocks into a unit */
	end_shared(e, launch);
}
