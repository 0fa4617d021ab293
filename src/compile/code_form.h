/*
 * The forms of code that a bundle for a device has. Every driver takes a text and translates it when the bundle is
 * opened. For some targets a tool makes machine code of that text.
 */
#ifndef COMPILE_CODE_FORM_H
#define COMPILE_CODE_FORM_H

#include "target/target.h"

/* Whether to add machine code of each target. IF_POSSIBLE: only if a tool is found that knows the target. */
typedef enum { MACHINE_CODE_NONE, MACHINE_CODE_IF_POSSIBLE, MACHINE_CODE_REQUIRED } MachineCode;

typedef struct CodeForms {
	MachineCode machine_code;
	bool no_text; /* leaves the text out; then machine code is required */
} CodeForms;

/* A part of a bundle's code. A device takes the first part that it can run. */
typedef struct CompiledCode {
	const Target *target;
	const char *form; /* "ptx", "cubin" */
	int64_t bytes;
} CompiledCode;

#endif
