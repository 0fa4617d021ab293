/*
 * The loop language: one text for naive operators, scheduled kernels and what codegen reads. Here are
 * the whole: buffers, Fns and kernel sets; expressions and statements have headers of their own.
 *
 * Everything is named by interned strings (of the Ir's interner), never by position. An expression refers to a
 * variable or a buffer by name, and the Fn says what that buffer is. Renaming nothing, a pass may therefore replace a
 * buffer's declaration (its index map, say) and touch no load. All memory is the Ir's arena. docs/ir.md has the
 * grammar and the meaning of each statement.
 */
#ifndef IR_IR_H
#define IR_IR_H

#include "base/err.h"
#include "base/text.h"
#include "ir/stmt.h"

enum { IR_MAX_RANK = 32, IR_MAX_DEPTH = 256 }; /* of buffers and maps; of nested code */

/* BUF_ZERO: a work buffer that is zero when a call begins and when it ends, for counters. */
typedef enum { BUF_IN, BUF_OUT, BUF_INOUT, BUF_CONST, BUF_WORK, BUF_ZERO } BufRole;

/*
 * Where a logical element lies: physical dimension k, of extent[k], holds index at[k], an
 * expression of the logical index variables var[]. Row-major over the physical dimensions.
 * n == 0: the identity (physical = logical). Physical elements no logical index reaches are padding
 * and are zero whenever the buffer enters or leaves a kernel set.
 */
typedef struct IndexMap {
	int nvar, n;
	const char **var;
	const Expr **at, **extent;
} IndexMap;

struct Buf {
	const char *name;
	BufRole role;
	DType type;
	const char *scope; /* interned: "global", "shared", "local", "fragment", ... of the Target */
	int rank;
	const Expr **shape; /* logical; constants or expressions of the Fn's symbols */
	IndexMap map;
	bool streamed; /* an output whose stores pass the caches by, where the target can; the values are the same */
};

/* A dimension known only when called: lo <= value <= hi and value % div == 0. */
typedef struct Sym {
	const char *name;
	int64_t lo, hi, div;
} Sym;

/* A parameter of a Fn: a buffer, or (buf == NULL) a scalar, which sub-Fns may have. */
typedef struct Param {
	Buf *buf;
	const char *name;
	DType type;
} Param;

typedef enum { FN_RUN, FN_PREPARE, FN_SUB } FnKind;

typedef struct Fn {
	const char *name;
	FnKind kind;
	int nsym, nparam;
	Sym *sym;
	Param *param;
	Stmt *body;
} Fn;

/*
 * A reduction over n-tuples: combine[k] is an expression of left[0..n) and right[0..n).
 * `associative` (and commutative) ones may be reordered and split. The built-in ones, of any
 * numeric type and n == 1, are rows of ir/monoid.def: sum prod max min and or.
 */
typedef struct Monoid {
	const char *name;
	bool associative;
	int n;
	DType *type;
	const char **left, **right;
	const Expr **identity, **combine;
} Monoid;

/*
 * A kernel set: what one Task compiles to. Prepare Fns read constants only and run at compile time;
 * run Fns are called in order; sub Fns are called by them. A buffer that two of its Fns name is the
 * same buffer: a prepare's out is a run's const, a work parameter lives as long as the call.
 */
typedef struct KernelSet {
	Ir *ir;
	size_t n, cap, nmonoid, monoid_cap;
	Fn **fn;
	Monoid **monoid;
} KernelSet;

KernelSet *ir_set_new(Ir *ir);
/* The Fns of one kind and the sub Fns that they may call; they and the rest stay ks's own. */
KernelSet *ir_set_of_kind(Arena *a, const KernelSet *ks, FnKind kind);
bool ir_set_has_kind(const KernelSet *ks, FnKind kind);
KernelSet **ir_intrin_set(Ir *ir); /* where intrin.c keeps what it has parsed */
void ir_set_add(KernelSet *ks, Fn *fn);
void ir_set_add_monoid(KernelSet *ks, Monoid *m);
Fn *ir_find_fn(const KernelSet *ks, const char *name); /* by content, need not be interned */
/* One of the set (whatever its types), else the built-in one for the type; NULL if neither. */
const Monoid *ir_find_monoid(const KernelSet *ks, const char *name, DType type);
/* The built-in monoid alone; NULL if there is none of that name for the type. */
const Monoid *ir_builtin_monoid(Ir *ir, const char *name, DType type);
bool ir_is_builtin_monoid(const char *name);
/* A parameter or an alloc anywhere in the Fn; NULL if there is none. */
Buf *ir_find_buf(const Fn *fn, const char *name);

#endif
