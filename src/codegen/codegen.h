/*
 * Scheduled Fns to code of a target. The back end of the target's kind (backend.h) lowers a copy of the set by its
 * passes over the loop language (lower.h). It emits code of the rest. docs/codegen.md has the passes, the ABI, and
 * the errors of the vector math. Calls may run in several threads, and a process may compile for ever.
 */
#ifndef CODEGEN_CODEGEN_H
#define CODEGEN_CODEGEN_H

#include "ir/arg.h"
#include "ir/ir.h"
#include "runtime/kernel.h"
#include "target/target.h"

/*
 * Counts changes of generated code. A change of what any input compiles to (a pass, an emitter, the math, options
 * of a compiler) adds one. Records of another epoch are stale. A golden test in tests/codegen fails when code
 * changes and the epoch does not.
 */
enum { CODEGEN_EPOCH = 19 };

/* "llvm 19.1.7": what code for the target depends on beside the epoch; for environment records. */
const char *codegen_compiler(const Target *t);

/* DLPack's code of the device that runs code for the target; DLC_DEVICE_CPU if no back end serves its kind. */
int32_t codegen_device(const Target *t);
/*
 * What to compile a set's prepare Fns for where its run Fns are for `t`: `t` itself, or this machine's CPU if t's
 * code runs on another device. Their results are data, which is copied to that device. So a set of a device is two
 * Modules, and the image of each names the device that runs it.
 */
Target codegen_prepare_target(const Target *t);

enum { CODEGEN_TEXTS = 8 }; /* texts of a back end at most */

typedef struct CodegenOptions {
	const struct Backend *backend; /* NULL: the one of the target's kind */
	unsigned texts;                /* bit backend_text(): a text that the Module shall have; each costs time */
	bool no_image;                 /* texts only; an image is not made */
	bool exact;                    /* never turn a product and a sum into one fma (the interpreter's rounding) */
	bool resources; /* reports have the assembler's figures, for CUDA if one is installed */
	bool unchecked; /* the same code sooner, without checks of our own work: for a process that may crash */
} CodegenOptions;

/* What the code of one kernel takes. */
typedef struct KernelReport {
	const char *name;
	int64_t spills;      /* registers saved to the frame, and operands read from there */
	int64_t frame_bytes; /* of the stack */
	int64_t code_bytes;
	int depth; /* of the deepest loop */
	/* Spills and reloads for each iteration of that loop, as the back end estimates frequencies. */
	double inner_spills;
	/* On a device: of each block, 0 where the launch decides. */
	int64_t shared_bytes, threads;
	int registers; /* of each thread of a device; 0: not known */
} KernelReport;

/* Everything in the arena given to codegen_compile. */
typedef struct Module {
	const struct Backend *backend;   /* which made it */
	DlcImage image;                  /* entries: prepare Fns and run Fns in the set's order */
	KernelReport *report;            /* one for each entry */
	const char *text[CODEGEN_TEXTS]; /* by backend_text(); NULL unless asked for */
	int64_t weight;                  /* of the set, where the back end weighs sets; else 0 */
} Module;

/*
 * Compiles the prepare and run Fns of a set, which must verify. `o` may be NULL. ERR_UNSUPPORTED
 * names what the target's code cannot express; ERR_MEMORY a workspace that is too large.
 */
bool codegen_compile(Arena *a, const KernelSet *ks, const Target *t, const CodegenOptions *o, Module *m, Err *err);

/* Whether LLVM compiles a set of this weight in seconds (docs/codegen.md); if not, the sentence is at the place. */
bool codegen_weighs_little(int64_t weight, const char *place, Err *err);

/* Whether a back end serves targets of the kind; if not, the sentence says which kinds have one. */
bool codegen_serves(TargetKind k, const char *place, Err *err);

/*
 * Whether the kernel saves and reloads vectors in its innermost loop, as a tile of more accumulators than there
 * are registers does. Such a candidate is two to six times slower than its neighbours and need not run. Scalars
 * spilled in outer loops are harmless. The rule uses counts, sizes and estimates of the deepest loop alone.
 */
bool codegen_spills_hurt(const Module *m, const KernelReport *r, const Target *t);

/*
 * A Module of this machine mapped executable in this process, for constant folding and tests.
 * Release with codegen_unmap.
 */
typedef struct Mapped Mapped;
bool codegen_map(const Module *m, Mapped **out, Err *err);
void codegen_unmap(Mapped *p);
/* Calls kernel k on this thread, as one of call->threads; its status, 0 if all is well. */
int codegen_launch(const Mapped *p, uint32_t k, const DlcCall *call);

/*
 * Runs prepare and then run Fns of the set on one thread, as interp_run_set does: the same arguments,
 * the same rule for buffers that no argument gives. Does not check the tensors.
 */
bool codegen_call(const KernelSet *ks, const Module *m, const Mapped *p, const IrArg *arg, int n, Err *err);

#endif
