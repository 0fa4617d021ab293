/*
 * Statements: a tree, edited in place, siblings linked by `next`. docs/ir.md has their meaning.
 */
#ifndef IR_STMT_H
#define IR_STMT_H

#include "ir/expr.h"

typedef struct Stmt Stmt;
typedef struct Buf Buf;

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
			bool intrin; /* a row of ir/text/intrin.def instead of a sub-Fn of the set */
			int n;
			CallArg *arg;
		} call;
		Stmt *async;     /* async { stores }: their targets are undefined until waited for */
		int64_t pending; /* wait n: at most n committed groups may still be under way */
		const char *barrier; /* barrier SCOPE: "warp", "block", "grid"; all instances within meet */
		Access prefetch; /* prefetch buf[idx]: will soon be used; no access, idx may lie anywhere */
	};
};

#endif
