/*
 * PTX as instructions of an interpreter. ptx_read.c makes them from the text of one .entry, ptx_run.c runs them. It has
 * what LLVM writes for dlc's kernels; another instruction is refused with its text.
 *
 * Every operand is a slot of 8 bytes that each thread has: a register, a constant, an address or a special register.
 * Constants and addresses are filled in when a thread begins.
 */
#ifndef TESTS_FAKE_CUDA_PTX_H
#define TESTS_FAKE_CUDA_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTX_OPERANDS = 20, PTX_WARP = 32 };

typedef enum { PTX_UNTYPED, PTX_B, PTX_U, PTX_S, PTX_F, PTX_BF, PTX_PRED } PtxKind;
typedef struct PtxType {
	PtxKind kind;
	int bits;
} PtxType;

#define PTX_OPS(OP) \
	OP(ld) \
	OP(st) \
	OP(mov) OP(cvt) OP(cvta) OP(add) OP(sub) OP(mul) OP(mad) OP(fma) OP(div) OP(rem) OP(neg) OP(abs) OP(min) OP(max) \
		OP(and) OP(or) OP(xor) OP(not ) OP(shl) OP(shr) OP(shf) OP(setp) OP(selp) OP(bra) OP(bar) OP(ret) OP(exit) \
			OP(sqrt) OP(rsqrt) OP(rcp) OP(ex2) OP(lg2) OP(sin) OP(cos) OP(tanh) OP(copysign) OP(popc) OP(clz) OP(prmt) \
				OP(bfe) OP(atom) OP(red) OP(membar) OP(fence) OP(cp) OP(shfl) OP(ldmatrix) OP(mma)
typedef enum {
#define OP(name) PTX_##name,
	PTX_OPS(OP)
#undef OP
		PTX_NOPS
} PtxOp;

typedef enum { PTX_GENERIC, PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_PARAM } PtxSpace;

typedef struct PtxIns {
	PtxOp op;
	PtxType type[3]; /* as they are written: of the result, of an operand */
	int ntype;
	PtxSpace space;
	const char *word[8]; /* all modifiers: "rn", "lo", "v4" */
	int nword;
	int guard; /* a slot, or -1 */
	bool unless;
	uint32_t slot[PTX_OPERANDS];
	int group[6], ngroup, n;      /* slots of each operand: {a, b} has two */
	int64_t offset[PTX_OPERANDS]; /* added to an address */
	int target;                   /* of a branch */
	int wide;                     /* elements of a vector */
	int what;                     /* which mul, setp, atom or alike: a number of ptx_run.c's */
	const char *text;             /* for messages */
} PtxIns;

typedef struct PtxSlot {
	const char *name;
	bool fixed;  /* a constant */
	int special; /* 1 + which special register */
	PtxSpace space;
	uint64_t value;
} PtxSlot;

typedef struct PtxKernel {
	char *text;
	char **owned; /* what names, words and texts point to */
	int nowned;
	PtxIns *ins;
	int nins, nslot, roomins, roomslot;
	PtxSlot *slot;
	size_t local_bytes, shared_bytes; /* shared: what the code declares */
	char error[256];
} PtxKernel;

/* The special registers: their names without %, in the order of PtxSlot.special. */
#define PTX_SPECIALS(S) \
	S("tid.x") \
	S("tid.y") \
	S("tid.z") S("ntid.x") S("ntid.y") S("ntid.z") S("ctaid.x") S("ctaid.y") S("ctaid.z") S("nctaid.x") S("nctaid.y") \
		S("nctaid.z") S("laneid") S("warpid")

/* The .entry of this name; never NULL, but `error` is not empty where the text has what is not known here. */
PtxKernel *ptx_read(const char *text, const char *name);
void ptx_free(PtxKernel *k);
/* Sets `what` of each instruction, once it is read. */
void ptx_prepare(PtxKernel *k);
bool ptx_word(const PtxIns *i, const char *word);
/* Runs the grid; NULL, or what was wrong. */
const char *ptx_run(
	const PtxKernel *k, void **argument, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes);

#endif
