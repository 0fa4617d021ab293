/* See llvm_api.h. The library is found by its soname, which the build reads from the library of the headers. */
#include "codegen/llvm/llvm_api.h"

#include "base/guard.h"
#include "runtime/driver.h"

#include <dlfcn.h>
#include <pthread.h>

/* Of the library, of those that it needs, and of what its constructors allocate. They end the process without it. */
enum { OPEN_BYTES = 320 << 20 };

#define TEXT_OF(number) #number
#define PACKAGE(major) "libllvm" TEXT_OF(major)

LlvmApi llvm;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool opened;

static bool open_locked(Err *err)
{
	static const char *const names[] = {
#define LLVM(name) #name,
#include "codegen/llvm/llvm_api.def"
#undef LLVM
	};
	unsigned major, minor, patch;
	if (!guard_memory_left(OPEN_BYTES))
		return fail(err, ERR_MEMORY, "llvm", "less than %d MB of address space are left for LLVM", OPEN_BYTES >> 20);
	const char *lacks = driver_open(LLVM_SONAME, names, sizeof names / sizeof *names, &llvm);
	if (lacks != NULL)
		return fail(err, ERR_MISSING, "llvm", "code is made by LLVM %d.%d, and %s%s: install Debian's package %s",
			LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR, lacks[0] != 0 ? LLVM_SONAME " lacks " : "",
			lacks[0] != 0 ? lacks : dlerror(), PACKAGE(LLVM_VERSION_MAJOR));
	LLVMGetVersion(&major, &minor, &patch);
	if (major != LLVM_VERSION_MAJOR || minor != LLVM_VERSION_MINOR)
		return fail(err, ERR_MISSING, "llvm", "code is made by LLVM %d.%d, and " LLVM_SONAME " is %u.%u: "
			"install Debian's package %s, or build dlc with the headers of LLVM %u.%u", LLVM_VERSION_MAJOR,
			LLVM_VERSION_MINOR, major, minor, PACKAGE(LLVM_VERSION_MAJOR), major, minor);
	return true;
}

bool llvm_open(Err *err)
{
	pthread_mutex_lock(&lock);
	bool ok = opened = opened || open_locked(err);
	pthread_mutex_unlock(&lock);
	return ok;
}
