/*
 * Inside of the folder: one Fn being printed, and the kinds of text it is made of.
 * print_expr.c: a scalar, or one lane of a vector; print_vector.c: a whole vector of a dialect that has them;
 * print_store.c: stores and lets; print_atomic.c: atomics; print.c: other statements and Fns.
 */
#ifndef CODEGEN_C_PRINT_H
#define CODEGEN_C_PRINT_H

#include "codegen/c/c.h"
#include "ir/analysis/bounds.h"

/* Nodes of an expression at most, where shared parts count each time: more is no C for compilers. */
enum { C_LINE = 2000000 };

typedef struct Print {
	Text *out;
	const BackendJob *job;
	const CDialect *d;
	const Fn *fn;
	const LowerKernel *kernel; /* NULL: a sub Fn, or a team enters */
	const Range *env;          /* what is known here */
	Map narrow;                /* i64 variables that have 32 bits */
	Map lanes;                 /* allocs that are variables: how many lanes */
	Map scopes;                /* allocs that are shared or private; others are global */
	Map elements;              /* of buffers: at least so many */
	Map parts;                 /* rows loaded in part: the variables that hold them in this list of statements */
	int depth, temps;
	int64_t work_at, work_bytes, shared_bytes;
	int64_t *sub_bytes; /* of each Fn of the set */
	bool ok;
} Print;

void c_refuse(Print *p, const char *what);
/* One C name for each name: letters and digits as they are. */
const char *c_name(Print *p, const char *s);

/* What values of a type are computed in, without lanes. */
const char *c_type(Print *p, DType t);
const char *c_memory_type(Print *p, DType t);
/* Types of dialects with vectors: "float16", "int" for a narrow index. */
const char *c_vector_type(Print *p, DType t, bool narrow);
bool c_has_vector(const Print *p, int lanes); /* of this many lanes */
bool c_is_half(DType t);
/* f32, f64, f16, bf16, or letters for integers: how functions are named. */
const char *c_suffix(const Print *p, DType t, bool narrow);
/* An i64 expression that is printed with 32 bits. */
bool c_is_narrow(const Print *p, const Expr *e);
/* How an alloc that is a variable is written; false: it is no such, or the index is no place of it. */
bool c_is_variable(const Print *p, const char *buf, const Expr *idx);

/* A scalar, or lane `lane` of a vector; NULL for a scalar. */
void c_expr(Print *p, const Expr *e, const char *lane);
void c_vector(Print *p, const Expr *e);
/* Lines that load the parts of rows that e computes with, each once. The C compiler does not merge such loops. */
void c_load_parts(Print *p, const Expr *e);
void c_access(Print *p, const char *buf, const Expr *idx, const char *lane); /* an element, as C writes it */
/* The same, refused where the text would be millions of nodes. */
void c_whole(Print *p, const Expr *e, const char *lane);
void c_whole_vector(Print *p, const Expr *e);
void c_line(Print *p); /* begins one */
/* Names an i64 variable of these values; returns its type. One that is narrow may still be declared with 64 bits. */
const char *c_index_type(Print *p, const char *name, int64_t lo, int64_t hi);
void c_store(Print *p, const Stmt *s);
void c_let(Print *p, const Stmt *s);
enum { C_SHARED = 1, C_PRIVATE }; /* Print.scopes */
void c_atomic(Print *p, const Stmt *s);
/* Operators and functions that both kinds of expressions write; NULL: the node is none. */
const char *c_infix(Node op);
const char *c_function(Node op);

#endif
