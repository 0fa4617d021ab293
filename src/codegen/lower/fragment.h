/*
 * Inside of the room: fragments of a Fn while pass_fragments says which lane does what (fragments.c), and the loads of
 * whole matrices among it (matrices.c).
 */
#ifndef CODEGEN_LOWER_FRAGMENT_H
#define CODEGEN_LOWER_FRAGMENT_H

#include "codegen/lower/pass.h"

enum { FRAGMENT_WARP = 32, FRAGMENT_DIMS = 2, FRAGMENT_BITS = 3, FRAGMENT_LOOPS = 32 };

/* How an instruction's operand is shared out. Element e of a lane is at row and column, each the sum of its digits. */
typedef struct Share {
	const char *intrin;
	int operand, size[FRAGMENT_DIMS];
	int quads;       /* the dimension of lane / 4; lane % 4 counts in the other one, in steps of `step` */
	int step, bits;  /* bits: of e */
	struct {
		int dim, step;
	} bit[FRAGMENT_BITS]; /* where bit k of e counts, the lowest first */
} Share;

typedef struct Part { /* a fragment and what a lane has of it */
	const Buf *whole;
	Buf *own;
	const Share *share;
	int dim[FRAGMENT_DIMS]; /* of the fragment: those that are shared out */
} Part;

typedef struct Frags {
	Lower *l;
	VEC(Part) part;
	Stmt **loop[FRAGMENT_LOOPS]; /* links to the loops around the statement at work, outermost first */
	int n;
	bool ok;
} Frags;

/* A refusal of the set, once. */
void fragment_refuse(Frags *f, const Stmt *s, const char *what, const char *name);
/* What holds in the loops around the statement at work. */
const Range *fragment_facts(Frags *f);
/* Index k of a buffer in memory: an index map's expression, or the index itself. */
const Expr *fragment_index(Frags *f, const Buf *b, const Expr *const *idx, int k, const Range *env);
/*
 * The index of a lane's elements in the window of an operand; NULL: no tile begins there, or the window is none of the
 * warp's own part.
 */
const Expr **fragment_window(Frags *f, const Part *p, const CallArg *a, const Expr *element);
/* for lane in 0..32 bound(block.x) { body } */
Stmt *fragment_lanes(Frags *f, const char *lane, Stmt *body);

/* Whether an intrinsic fills a fragment from shared memory. */
bool fragment_is_load(const Stmt *s);
/*
 * ldmatrix(d, s): the lanes' part d.l[..] = ldmatrix(s[a lane's row], n). False: rows of the window do not lie as the
 * instruction wants them, or are not proved to; *link is then as before.
 */
bool fragment_load(Frags *f, const Part *p, Stmt **link);

#endif
