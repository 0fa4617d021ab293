/* Which LLVM this is; its headers say so at build time. */
#include "codegen/codegen.h"

#include <llvm/Config/llvm-config.h>

const char *codegen_compiler(void)
{
	return "llvm " LLVM_VERSION_STRING;
}
