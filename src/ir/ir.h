/*
 * The loop language: one text for naive operators, scheduled kernels and what codegen reads.
 *
 * Expressions are immutable and hash-consed within an Ir: equal expressions are equal pointers.
 * Statements are a tree, owned by one Fn and edited in place; siblings are linked by `next`.
 * Everything is named by interned strings (of the Ir's interner), never by position: an expression
 * refers to a variable or a buffer by name, and the Fn says what that buffer is. Renaming nothing,
 * a pass may therefore replace a buffer's declaration (its index map, say) and touch no load.
 * All memory is the Ir's arena. docs/ir.md has the grammar and the meaning of each statement.
 */
#ifndef IR_IR_H
#define IR_IR_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "ir/dtype.h"

typedef struct Ir Ir;
typedef struct Expr Expr;
typedef struct Stmt Stmt;

typedef enum {
#define NODE(name, text, form, type, meaning) IR_##name,
#include "ir/node.def"
#undef NODE
	IR_NODE_COUNT
} Node;

struct Expr {
	Node op;
	DType type;
	uint32_t id;      /* dense within the Ir, in order of creation: an index for side tables */
	uint16_t nargs;
	uint16_t depth; /* 1 for an atom, else 1 + the deepest argument's; saturates */
	union {
		int64_t i;        /* INT: wrapped to its type (bool: 0 or 1; u64: its bits) */
		double f;         /* FLOAT, already rounded to its type */
		const char *name; /* VAR; LOAD: the buffer */
	};
	const Expr *arg[]; /* LOAD: the indices */
};

typedef enum { BUF_IN, BUF_OUT, BUF_INOUT, BUF_CONST, BUF_WORK } BufRole;

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

enum { IR_MAX_RANK = 32, IR_MAX_DEPTH = 256 }; /* of buffers and maps; of nested code */

typedef struct Buf {
	const char *name;
	BufRole role;
	DType type;
	const char *scope; /* interned: "global", "shared", "local", "fragment", ... of the Target */
	int rank;
	const Expr **shape; /* logical; constants or expressions of the Fn's symbols */
	IndexMap map;
} Buf;

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

typedef enum {
	LOOP_SERIAL,
	LOOP_PARALLEL,
	LOOP_VECTOR,
	LOOP_UNROLLED,
	LOOP_BOUND,
	LOOP_PIPELINED,
} LoopKind;
typedef enum { ITER_SPATIAL, ITER_REDUCE, ITER_SCAN } IterKind;

/* An iterator of a block: name takes every value of [lo, hi) once per instance; here `value`. */
typedef struct Iter {
	const char *name;
	IterKind kind;
	const Expr *lo, *hi, *value;
} Iter;

typedef struct Access {
	const char *buf;
	int n;
	const Expr **idx;
} Access;

/*
 * An argument of a call: an expression (buf == NULL, len NULL), or a window of a buffer: dimension
 * k starts at idx[k] and has len[k] elements; len[k] == NULL fixes the dimension and drops it, so
 * that the sub-Fn's parameter has one dimension for each len that is not NULL.
 */
typedef struct CallArg {
	const char *buf;
	int n;
	const Expr **idx, **len;
	const Expr *value;
} CallArg;

typedef enum {
	ST_FOR,
	ST_BLOCK,
	ST_STORE,
	ST_REDUCE,
	ST_LET,
	ST_ALLOC,
	ST_IF,
	ST_CALL,
	ST_ASYNC,
	ST_COMMIT,
	ST_WAIT,
	ST_BARRIER,
	ST_PREFETCH,
} StmtKind;

struct Stmt {
	StmtKind kind;
	int line; /* in the text it was parsed from; 0 otherwise */
	Stmt *next;
	union {
		struct { /* for var in lo..hi KIND { body } */
			const char *var;
			const Expr *lo, *hi;
			LoopKind kind;
			const char *axis; /* LOOP_BOUND: "grid.x", "block.y", "warp.x" */
			int stages;       /* LOOP_PIPELINED: how many iterations are in flight */
			Stmt *body;
		} loop;
		struct { /* block name(iters) where pred { init {..} body } */
			const char *name;
			int n;
			Iter *iter;
			const Expr *where; /* NULL: always */
			Stmt *init;        /* runs where every reduce iterator has its lo */
			Stmt *body;
		} block;
		struct { /* buf[idx] = value where mask */
			Access dst;
			const Expr *value;
			const Expr *mask; /* NULL: all lanes */
		} store;
		struct { /* [let old =] [atomic] monoid (dst, ...) <- (value, ...) where mask */
			const char *monoid;
			bool atomic;
			const char *old; /* atomic only: names the value before; NULL: unused */
			int n;
			Access *dst;
			const Expr **value;
			const Expr *mask;
		} reduce;
		struct { /* let var = value; seen by the following siblings */
			const char *var;
			const Expr *value;
		} let;
		Buf *alloc; /* alloc b: f32[..] @scope; exists for the following siblings, starts undefined */
		struct {
			const Expr *cond;
			Stmt *then, *other;
		} branch;
		struct { /* call fn(args), intrin fn(args) */
			const char *fn;
			bool intrin; /* a row of ir/intrin.def instead of a sub-Fn of the set */
			int n;
			CallArg *arg;
		} call;
		Stmt *async;     /* async { stores }: their targets are undefined until waited for */
		int64_t pending; /* wait n: at most n committed groups may still be under way */
		const char *barrier; /* barrier SCOPE: "warp", "block", "grid"; all instances within meet */
		Access prefetch; /* prefetch buf[idx]: will soon be used; no access, idx may lie anywhere */
	};
};

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

Ir *ir_new(Arena *a);
Arena *ir_arena(const Ir *ir);
uint32_t ir_expr_count(const Ir *ir);                /* every Expr.id is below it */
const char *ir_name(Ir *ir, const char *s);          /* interned */
const char *ir_name_n(Ir *ir, const char *s, size_t n);
const char *ir_fresh_name(Ir *ir, const char *stem); /* a name never given before in this Ir */

KernelSet *ir_set_new(Ir *ir);
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
