/*
 * See machine.h. LLVM's options are the process's: they are set once, for every caller.
 *
 * Loop strength reduction is off because it makes a pointer of every displacement and spills them. The
 * other passes that are off cost a twentieth of the time and change nothing in our code: the
 * bytes of 192 kernel sets, for AVX-512, AVX2 and NEON, are the same without them. (Constant hoisting,
 * the conversion of cmov, and the two passes behind register allocation do change some.)
 */
#include "codegen/llvm/machine.h"

#include <llvm-c/Core.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { IDLE = 4 };

struct Machine {
	Machine *next; /* idle, used last first */
	char *triple, *cpu, *features;
	LLVMTargetMachineRef tm;
};

static pthread_once_t started = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of idle */
static Machine *idle;

static void start_llvm(void)
{
	static const char *const option[] = { "dlc", "-disable-lsr", "-pass-remarks-missed=regalloc",
		"-pass-remarks-analysis=prologepilog", "-disable-cfi-fixup", "-disable-early-ifcvt", "-disable-mergeicmps",
		"-disable-partial-libcall-inlining", "-disable-replace-with-vec-lib", "-disable-tail-duplicate",
		"-disable-x86-domain-reassignment", "-disable-x86-lea-opt", "-lower-interleaved-accesses=false",
		"-x86-disable-avoid-SFB" };
	LLVMParseCommandLineOptions(sizeof option / sizeof *option, option, "");
	LLVMInitializeX86TargetInfo();
	LLVMInitializeX86Target();
	LLVMInitializeX86TargetMC();
	LLVMInitializeX86AsmPrinter();
	LLVMInitializeAArch64TargetInfo();
	LLVMInitializeAArch64Target();
	LLVMInitializeAArch64TargetMC();
	LLVMInitializeAArch64AsmPrinter();
}

static void dispose(Machine *m)
{
	if (m->tm != NULL)
		LLVMDisposeTargetMachine(m->tm);
	free(m->triple);
	free(m->cpu);
	free(m->features);
	free(m);
}

static Machine *make(const Target *t, Err *err)
{
	LLVMTargetRef row;
	char *message = NULL;
	if (LLVMGetTargetFromTriple(t->triple, &row, &message)) {
		fail(err, ERR_BUG, "llvm", "no such triple: %s", message);
		LLVMDisposeMessage(message);
		return NULL;
	}
	Machine *m = calloc(1, sizeof *m);
	if (m != NULL) {
		m->triple = strdup(t->triple);
		m->cpu = strdup(t->llvm_cpu);
		m->features = strdup(t->llvm_features);
	}
	if (m == NULL || m->triple == NULL || m->cpu == NULL || m->features == NULL) {
		fail(err, ERR_MEMORY, "llvm", "no memory for a target machine");
	} else {
		m->tm = LLVMCreateTargetMachine(
			row, m->triple, m->cpu, m->features, LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall);
		if (m->tm != NULL)
			return m;
		fail(err, ERR_BUG, "llvm", "no target machine for: %s", m->cpu);
	}
	if (m != NULL)
		dispose(m);
	return NULL;
}

Machine *machine_take(const Target *t, Err *err)
{
	pthread_once(&started, start_llvm);
	pthread_mutex_lock(&lock);
	Machine **at = &idle, *m;
	for (; (m = *at) != NULL; at = &m->next)
		if (strcmp(m->triple, t->triple) == 0 && strcmp(m->cpu, t->llvm_cpu) == 0 &&
			strcmp(m->features, t->llvm_features) == 0) {
			*at = m->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	return m != NULL ? m : make(t, err);
}

LLVMTargetMachineRef machine_of(Machine *m)
{
	return m->tm;
}

/* Of more than IDLE the one that was used least recently goes. */
void machine_give(Machine *m)
{
	if (m == NULL)
		return;
	pthread_mutex_lock(&lock);
	m->next = idle;
	idle = m;
	Machine **at = &idle, *old;
	for (int n = 0; n < IDLE && *at != NULL; n++)
		at = &(*at)->next;
	old = *at;
	*at = NULL;
	pthread_mutex_unlock(&lock);
	if (old != NULL) /* at most one: each gift adds one */
		dispose(old);
}
