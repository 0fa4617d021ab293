/*
 * Inside the room: the images of a bundle's code. Code of a CPU is joined as bytes. A device's code is joined by its
 * back end, since a driver builds one program sooner than many; the tuner asks for images apart.
 */
#ifndef COMPILE_IMAGES_H
#define COMPILE_IMAGES_H

#include "codegen/codegen.h"
#include "compile/bundle_write.h"
#include "compile/compile.h"

/* What the back end made of all Tasks for one target. */
typedef struct Variant {
	const Target *target;
	Module *module; /* of each Task */
} Variant;

/* Code of all Tasks for one target in one form: a variant of the bundle. */
typedef struct Form {
	const Target *target;
	const char *name;  /* "cubin" */
	const char *needs; /* a feature in place of the target's; NULL: the target's */
	const char *tool;  /* the tool that made it from the text; NULL: dlc made it */
	DlcImage *image;   /* of each Task, or one of all */
	int nimage;
} Form;
typedef VEC(Form) Forms;

/* True if the target's code is one image of all Tasks: its Fns need names of their own (compile_run_set). */
bool images_joined(const CompileOptions *o, const Target *t);

/*
 * Makes the bundle's code of n Tasks. Machine code precedes text, and within a form the code with the most features
 * comes first: a device takes the first code that it can run. All targets must have the same kernels. first[k]: the
 * number in the bundle of Task k's first entry. Sorts v.
 */
bool images_make(
	Arena *a, const CompileOptions *o, Variant *v, int nv, int n, Forms *out, uint32_t *first, Err *err);
/* Adds the features of all forms; if there are several, adds a row of variants for each. */
void images_put_features(BundleOut *out, const Forms *f);
void images_put(BundleOut *out, const Forms *f);

/* The entry of an image that run Fn `fn` of the set begins with. */
uint32_t images_entry(const DlcImage *image, const KernelSet *ks, const char *fn);

#endif
