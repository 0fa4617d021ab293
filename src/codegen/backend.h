/*
 * Back ends: each makes code of lowered sets for some kinds of targets. A back end is one row in a folder of its
 * own; backend.def names them all. Nothing outside that folder names anything else of it.
 */
#ifndef CODEGEN_BACKEND_H
#define CODEGEN_BACKEND_H

#include "codegen/lower.h"

/* A written form of what is compiled, which `dlc show --stage=NAME` prints. */
typedef struct BackendText {
	const char *name;
	const char *comment; /* begins a line of comment in it */
	const char *begins;  /* its first line, as an assembler takes it, begins so; NULL: comments may stand before it */
} BackendText;

/* Every back end's first text: the set after its passes, which codegen_compile writes. */
enum { BACKEND_LOWERED };
#define BACKEND_TEXT_LOWERED \
	{ \
		"lowered", "#", NULL \
	}

/* Machine code of a device, made from a text that the driver would otherwise translate. */
typedef struct Assembly {
	DlcImage image;    /* with the entries of the text */
	const char *needs; /* the feature that a device needs: "sm_90..sm_99" */
	const char *tool;  /* "nvJitLink 13.0": the bytes depend on it */
} Assembly;

/* One call of emit. */
typedef struct BackendJob {
	Arena *arena; /* for the call */
	Arena *keep;  /* of what `out` points to */
	const Target *target;
	const CodegenOptions *options;
	KernelSet *ks;   /* lowered */
	const LowerKernel *kernel; /* nkernel of them: none where a team enters each prepare and run Fn */
	size_t nkernel;
	DlcEntry *entry; /* of out: all but what the code decides is filled in */
	Module *out;     /* reports for all Fns of ks have their names: entries, then sub Fns in the set's order */
	Err *err;
} BackendJob;

typedef struct Backend {
	const char *name;
	const char *use;         /* "machine code for x86-64 and AArch64" */
	unsigned kinds;          /* bit TARGET_x: targets of this kind are its */
	int device;              /* DLPack's code of the device that runs its code */
	unsigned code_align[ARCH_COUNT]; /* bytes: a multiple of it is where an image may stand in a file; 0: anywhere */
	const Pass *const *pass; /* ends with NULL; steps of codegen/lower/order.def and its own */
	const BackendText *text; /* lowered first, then its own; ends with name == NULL */
	/* Memory that must be left before it begins, where emit ends the process if it gets none; 0: emit reports it. */
	size_t emit_bytes;
	/* "llvm 19.1.7": what code depends on beside CODEGEN_EPOCH. */
	const char *compiler;
	/* Opens what emit needs of others. ERR_MISSING says what to install. NULL: it needs nothing. */
	bool (*ready)(Err *err);
	/* What code depends on of the target beside its kind, as text for the key of the code cache. */
	void (*key)(const Target *t, Text *out);
	/* Fills in out's image, reports and the texts asked for. */
	bool (*emit)(const BackendJob *job);
	/*
	 * One image of n that it made, whose Fns of all kinds have different names: *out has the entries of the first,
	 * then of the second, and so on. NULL: machine code of a CPU, which is joined as bytes.
	 */
	void (*join)(Arena *a, const DlcImage *image, size_t n, DlcImage *out);
	/*
	 * Makes machine code of an image of this back end, for the target's own architecture. Loads the tool for that at
	 * the first call. ERR_MISSING: there is no tool, or it does not know the architecture. NULL: the back end has no
	 * tool.
	 */
	bool (*assemble)(Arena *a, const Target *t, const DlcImage *image, Assembly *out, Err *err);
	/* Names of the forms of an image and of an assembled one: "ptx", "cubin". */
	const char *form, *assembled;
	/* Whether such a kernel need not be run: see codegen_spills_hurt. */
	bool (*spills_hurt)(const KernelReport *r, const Target *t);
} Backend;

#define BACKEND(name) extern const Backend backend_##name;
#include "codegen/backend.def"

extern const Backend *const backends[]; /* the rows of backend.def; ends with NULL */
/* The back end of a target's kind; NULL if this build has none. */
const Backend *backend_for(const Target *t);
/* The number of a text of the row, for CodegenOptions.texts and Module.text; -1 if there is none of that name. */
int backend_text(const Backend *b, const char *name);

#endif
