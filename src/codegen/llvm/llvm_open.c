/* See llvm_api.h. The library is found by its soname, which the build reads from the library of the headers. */
#include "codegen/llvm/llvm_api.h"

#include "base/library.h"

/* Of the library, of those that it needs, and of what its constructors allocate. They end the process without it. */
enum { OPEN_BYTES = 320 << 20 };

#define TEXT_OF(number) #number
#define PACKAGE(major) "libllvm" TEXT_OF(major)
#define WORK(major, minor) "code is made by LLVM " TEXT_OF(major) "." TEXT_OF(minor)

LlvmApi llvm;

bool llvm_open(Err *err)
{
	static const char *const names[] = {
#define LLVM(name) #name,
#include "codegen/llvm/llvm_api.def"
#undef LLVM
	};
	static Library library = { LLVM_SONAME, PACKAGE(LLVM_VERSION_MAJOR), names, sizeof names / sizeof *names, &llvm,
		OPEN_BYTES, false };
	unsigned major, minor, patch;
	if (!library_open(&library, WORK(LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR), "llvm", err))
		return false;
	LLVMGetVersion(&major, &minor, &patch);
	if (major != LLVM_VERSION_MAJOR || minor != LLVM_VERSION_MINOR)
		return fail(err, ERR_MISSING, "llvm", "%s, and " LLVM_SONAME " is %u.%u: "
			"install Debian's package %s, or build dlc with the headers of LLVM %u.%u",
			WORK(LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR), major, minor, library.package, major, minor);
	return true;
}
