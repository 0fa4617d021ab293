/*
 * Inside of the room: one compilation, the steps that all back ends through LLVM share: a context and a module of
 * its own, Fns to LLVM IR, the verifier and mem2reg, assembly or an object.
 *
 * mem2reg is the only pass on LLVM's IR: the others cost 7 to 190 ms and undo the order of loads that the schedule
 * chose.
 */
#ifndef CODEGEN_LLVM_COMPILE_H
#define CODEGEN_LLVM_COMPILE_H

#include "codegen/backend.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/machine.h"

/* Of our largest sets LLVM takes some tens of megabytes. */
enum { COMPILE_BYTES = 64 << 20 };

/* In the order of the rows' texts; the last is what LLVM writes for an assembler. */
enum { TEXT_LLVM = BACKEND_LOWERED + 1, TEXT_ASM };

typedef struct Compile Compile;
struct Compile {
	const BackendJob *job;
	Emit emit;
	Machine *machine;
	LLVMTargetMachineRef tm;
	int64_t spills; /* of the function at work */
	double moved;   /* how often it spills and reloads when it runs */
	void (*note)(Compile *c, const char *text);
	char message[512];
};

/* Takes a machine and a context; compile_end gives them back. Remarks of LLVM go to `note`, NULL: nowhere. */
bool compile_begin(Compile *c, const BackendJob *job, void (*note)(Compile *c, const char *text));
void compile_end(Compile *c);
/* All Fns, verified, values in registers. Fills in work_bytes of entries and depths of reports. */
bool compile_emit(Compile *c);
/* What LLVM makes of the module. Selecting instructions changes it, so a copy is used if it is needed again. */
bool compile_code(Compile *c, LLVMCodeGenFileType kind, bool copy, LLVMMemoryBufferRef *out);
/* The texts `llvm` and, as the row's third one, assembly, where they are asked for. */
bool compile_texts(Compile *c);

#endif
