/*
 * Expressions, immutable and hash-consed within an Ir: equal expressions are equal pointers. A variable
 * or a buffer is an interned name; what it stands for is known around the expression, not in it.
 */
#ifndef IR_EXPR_H
#define IR_EXPR_H

#include "base/arena.h"
#include "ir/dtype.h"

typedef struct Ir Ir; /* owns all memory, an arena, and the names */
typedef struct Expr Expr;

typedef enum {
#define NODE(name, text, form, type, meaning) IR_##name,
#include "ir/node.def"
#undef NODE
	IR_NODE_COUNT
} Node;

struct Expr {
	Node op;
	DType type;
	uint32_t id; /* dense within the Ir, in order of creation: an index for side tables */
	uint16_t nargs;
	uint16_t depth; /* 1 for an atom, else 1 + the deepest argument's; saturates */
	uint32_t size;  /* nodes of its text, where shared parts stand each time; saturates */
	uint32_t names; /* the names in it, each by ir_name_bit, so that most walks need not look; IR_LOADS: a load */
	union {
		int64_t i;        /* INT: wrapped to its type (bool: 0 or 1; u64: its bits) */
		double f;         /* FLOAT, already rounded to its type */
		const char *name; /* VAR; LOAD: the buffer */
	};
	const Expr *arg[]; /* LOAD: the indices */
};

enum { IR_NAME_BITS = 31 };
#define IR_LOADS (UINT32_C(1) << IR_NAME_BITS)
/* One of Expr.names: several names share it. */
static inline uint32_t ir_name_bit(const char *name)
{
	uint32_t h = 2166136261u;
	for (; *name != 0; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return UINT32_C(1) << (h ^ h >> 15) % IR_NAME_BITS;
}

Ir *ir_new(Arena *a);
/*
 * An Ir that goes on where another one stands, in an arena of its own: it knows the names and expressions of the other
 * under the same ids and shares them, so the other must live longer. What is added to one is not known to the other.
 */
Ir *ir_fork(Arena *a, const Ir *from);
Arena *ir_arena(const Ir *ir);
const char *ir_name(Ir *ir, const char *s);          /* interned */
const char *ir_name_n(Ir *ir, const char *s, size_t n);
bool ir_has_name(const Ir *ir, const char *s);       /* whether it was ever given */
const char *ir_fresh_name(Ir *ir, const char *stem); /* a name never given before in this Ir */

#endif
