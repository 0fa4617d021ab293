/* Inside of the room: the pass that refuses a set which LLVM would compile for too long. */
#ifndef CODEGEN_LLVM_WEIGH_H
#define CODEGEN_LLVM_WEIGH_H

#include "codegen/lower.h"

extern const Pass row_weigh;

#endif
