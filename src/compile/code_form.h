/*
 * The forms of code that a bundle for a device has. Every driver takes a text and translates it when the bundle is
 * opened. Some targets have machine code, too, which a tool makes of that text.
 */
#ifndef COMPILE_CODE_FORM_H
#define COMPILE_CODE_FORM_H

#include "target/target.h"

/* Machine code of each target beside the text. IF_POSSIBLE: where a tool is found that knows the target. */
typedef enum { MACHINE_CODE_NONE, MACHINE_CODE_IF_POSSIBLE, MACHINE_CODE_REQUIRED } MachineCode;

typedef struct CodeForms {
	MachineCode machine_code;
	bool no_text; /* machine code alone, which is required then */
} CodeForms;

/* A part of a bundle's code, in the order in which a device looks for its own. */
typedef struct CompiledCode {
	const Target *target;
	const char *form; /* "ptx", "cubin" */
	int64_t bytes;
} CompiledCode;

#endif
