/*
 * Inside of the room: a lowered Fn to LLVM IR, `int name(const DlcCall *)`, and a sub Fn to an internal function. For
 * a device it is a kernel of a launch instead (emit_launch.c).
 *
 * An expression without loads is pure. It is emitted once, where the innermost variable that it depends on becomes
 * known ("its level"), so what is invariant in a loop stands before the loop by construction. Loads are emitted
 * where they are needed, under the mask of the lanes that are on. No expression makes a basic block.
 */
#ifndef CODEGEN_LLVM_EMIT_H
#define CODEGEN_LLVM_EMIT_H

#include "codegen/llvm/llvm_api.h"
#include "codegen/lower.h"
#include "ir/analysis/bounds.h"

enum { EMIT_PART_LANES = 64 /* of a register that is read in parts: the longest vector loop */ };

typedef struct Val {
	LLVMValueRef v; /* NULL: not known */
	int level;
	bool pure;
	bool reg;       /* read from an alloc that is a register: its next store changes it */
	uint32_t fence; /* a load: Emit.fence when it was emitted last */
} Val;

/* The value of a load, for later statements of the basic block. */
typedef struct Loaded {
	const Expr *e;
	uint32_t used; /* when last */
	int regs;      /* vector registers it takes */
} Loaded;

/* A scope: entry, loop body, let. Pure code of this level goes before the marker. */
typedef struct Level {
	LLVMValueRef marker;
	VEC(uint32_t) known; /* memo entries that end with the level */
} Level;

/* A sub Fn's function; it is emitted before its callers. */
typedef struct EmitSub {
	const Fn *fn;
	LLVMValueRef func;
	LLVMTypeRef type;
	int64_t work_bytes;
	int deepest; /* loop */
	VEC(const Fn *) caller;
} EmitSub;

typedef struct Emit {
	Arena *arena;
	Ir *ir;
	const KernelSet *ks;
	const Fn *fn;
	const Target *target;
	Err *err;
	bool x86, fma, sse41, f16c;
	bool extremes; /* an instruction for max and min of f32 that keep a NaN */
	LLVMContextRef cx;
	LLVMModuleRef mod;
	LLVMBuilderRef b;
	LLVMTypeRef i1, i8, i16, i32, i64, f32, f64, ptr;
	VEC(EmitSub) sub;
	bool regs; /* there are allocas for mem2reg */
	bool device;  /* kernels are started by launches */

	/* of the Fn at work */
	LLVMValueRef func, call, work, threads;
	const LowerKernel *kernel; /* of a device; NULL: a sub Fn */
	bool streams;              /* it stores rows past the caches */
	bool alone;                /* the launch has one thread */
	bool async;                /* the statement belongs to an async copy */
	LLVMValueRef shared;       /* what the threads of a block share; NULL: nothing */
	int64_t shared_bytes;
	const Range *env;     /* what is known of the variables here */
	const Range *bound;   /* of a device: what loops and lets alone say */
	LLVMBasicBlockRef at; /* the builder stands at its end, except while pure code is placed */
	Val *memo;            /* by Expr.id */
	size_t nmemo;
	VEC(Level) level;
	VEC(uint32_t) temp; /* memo entries of the statement at work */
	VEC(Loaded) loaded; /* and those of the basic block, until memory is stored to */
	int loaded_regs, loaded_most;
	uint32_t lists;        /* of statements, counted */
	uint32_t pins;         /* conditions of a device, counted */
	uint32_t clock, fence; /* of uses; of fences and basic blocks, from 1 */
	LLVMValueRef mask;     /* lanes that are on: i1 or a vector of them; NULL: all */
	LLVMValueRef some;     /* whether any of them is; NULL: to be computed */
	Map place;             /* of each buffer, by the address of its name */
	int64_t work_at, work_bytes;
	int depth, deepest; /* of loops */
} Emit;

/* emit_fn.c: false where the code cannot do what a statement asks for. */
bool emit_fn(Emit *e, const Fn *fn);
char *emit_symbol(const Emit *e, const Fn *fn); /* the name in the object, which no name of LLVM's equals */
PRINTF_LIKE(4, 5) bool emit_refuse(Emit *e, const Stmt *s, ErrCode code, const char *fmt, ...);

/* emit_call.c: a sub Fn's function, its parameters; a call. */
LLVMValueRef emit_sub_function(Emit *e, const Fn *fn);
void emit_sub_parameters(Emit *e);
void emit_call(Emit *e, const Stmt *s);

/* emit_expr.c */
LLVMValueRef emit_expr(Emit *e, const Expr *x);
int emit_interleaved(Emit *e, const Stmt *s); /* stores of math from s on, and how many; 0: none */
void emit_bind(Emit *e, const char *name, DType t, LLVMValueRef v); /* at the innermost level */
void emit_level_push(Emit *e);
void emit_level_pop(Emit *e);
void emit_forget(Emit *e, size_t mark); /* what the statement read since temp.n was `mark`; 0: all */
void emit_forget_loads(Emit *e);        /* another basic block, or memory has changed */
void emit_move(Emit *e, LLVMBasicBlockRef block); /* to the end of a block */
LLVMBasicBlockRef emit_block(Emit *e, const char *name);
LLVMValueRef emit_some(Emit *e, const Expr *mask); /* any lane on; NULL: the mask must say */

#endif
