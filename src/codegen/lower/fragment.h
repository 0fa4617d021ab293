/*
 * Inside of the room: fragments of a Fn, which pass_fragments divides among the lanes of a warp (fragments.c), and the
 * loads of whole matrices into them (matrices.c).
 */
#ifndef CODEGEN_LOWER_FRAGMENT_H
#define CODEGEN_LOWER_FRAGMENT_H

#include "codegen/lower/pass.h"

enum { FRAGMENT_WARP = 32, FRAGMENT_DIMS = 2, FRAGMENT_BITS = 3, FRAGMENT_LOOPS = 32 };

/* The lanes' elements of an instruction's operand. The row and the column of element e are sums over the bits of e. */
typedef struct Share {
	const char *intrin;
	int operand, size[FRAGMENT_DIMS];
	int quads;       /* the dimension of lane / 4; lane % 4 counts in the other one, in steps of `step` */
	int step, bits;  /* bits: how many e has */
	struct {
		int dim, step;
	} bit[FRAGMENT_BITS]; /* the dimension of bit k of e, the lowest first */
} Share;

typedef struct Part { /* a fragment, and one lane's part of it */
	const Buf *whole;
	Buf *own;
	const Share *share;
	int dim[FRAGMENT_DIMS]; /* dimensions of the fragment that are divided among lanes */
} Part;

typedef struct Frags {
	Lower *l;
	VEC(Part) part;
	Stmt **loop[FRAGMENT_LOOPS]; /* links to the loops around the current statement, outermost first */
	int n;
	bool ok;
} Frags;

/* The ranges of the loops around the current statement. */
const Range *fragment_facts(Frags *f);
/* Index k of a buffer in memory: an index map's expression, or the index itself. */
const Expr *fragment_index(Frags *f, const Buf *b, const Expr *const *idx, int k, const Range *env);
/*
 * The index of a lane's elements in the window of an operand. NULL: the window begins at no tile, or lies outside of
 * the warp's own part.
 */
const Expr **fragment_window(Frags *f, const Part *p, const CallArg *a, const Expr *element);
/* for lane in 0..32 bound(block.x) { body } */
Stmt *fragment_lanes(Frags *f, const char *lane, Stmt *body);

/* Whether an intrinsic fills a fragment from shared memory. */
bool fragment_is_load(const Stmt *s);
/*
 * ldmatrix(d, s) as d.l[..] = ldmatrix(s[a lane's row], n) for the lanes. False, and *link is unchanged: the rows of
 * the window are not proved contiguous and aligned.
 */
bool fragment_load(Frags *f, const Part *p, Stmt **link);

#endif
