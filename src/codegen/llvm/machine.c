/*
 * See machine.h. LLVM's options are the process's: they are set once, for every caller.
 *
 * Loop strength reduction is off because it makes a pointer of every displacement and spills them. The
 * other passes that are off cost a twentieth of the time and change nothing in our code: the
 * bytes of 192 kernel sets, for AVX-512, AVX2 and NEON, are the same without them. (Constant hoisting,
 * the conversion of cmov, and the two passes behind register allocation do change some.)
 */
#include "codegen/llvm/machine.h"

#include "target/capability.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDLE = 4 };

struct Machine {
	Machine *next; /* idle, used last first */
	MachineName name;
	LLVMTargetMachineRef tm;
};

/* Triples have four parts: with three, LLVM picks another ABI on some of them. */
static const struct {
	const char *triple, *cpu; /* cpu == NULL: the name of the feature level */
} archs[ARCH_COUNT] = {
	[ARCH_X86_64] = { "x86_64-unknown-linux-gnu", NULL },
	[ARCH_AARCH64] = { "aarch64-unknown-linux-gnu", "generic" },
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
	LLVMInitializeNVPTXTargetInfo();
	LLVMInitializeNVPTXTarget();
	LLVMInitializeNVPTXTargetMC();
	LLVMInitializeNVPTXAsmPrinter();
}

/*
 * The CPU is a level where LLVM knows levels, and what is there beyond it follows as features, whose names are ours:
 * "x86-64-v4" plus single features gives code without the spills that LLVM's own znver4 and znver5 rows produce.
 */
void machine_name(const Target *t, MachineName *out)
{
	uint64_t own, beyond = t->features;
	if (t->kind == TARGET_CUDA) {
		/* LLVM uses the lowest version of PTX that has the architecture, so that old drivers read the text. */
		const Capability *c = target_capability(t);
		*out = (MachineName){ .triple = "nvptx64-nvidia-cuda", .cpu = c->code };
		if (c->ptx > 0)
			snprintf(out->features, sizeof out->features, "+ptx%d", c->ptx);
		return;
	}
	const char *level = level_of(t->arch, t->features, &own);
	*out = (MachineName){ .triple = archs[t->arch].triple, .cpu = archs[t->arch].cpu };
	if (out->triple != NULL && out->cpu == NULL) {
		out->cpu = level;
		beyond &= ~own;
	}
	size_t n = 0;
	for (int f = 0; f < FEATURE_COUNT; f++)
		if ((beyond & FEATURE_BIT(f)) != 0) {
			n += (size_t)snprintf(out->features + n, sizeof out->features - n, "%s+%s", n != 0 ? "," : "",
				feature_name((Feature)f));
			assert(n < sizeof out->features);
		}
	/* LLVM's x86-64-v4 row prefers 256 bits where nothing says otherwise. */
	if (target_register_bits(t) == 512)
		snprintf(out->features + n, sizeof out->features - n, "%s-prefer-256-bit", n != 0 ? "," : "");
}

static Machine *make(const MachineName *name, Err *err)
{
	LLVMTargetRef row;
	char *message = NULL;
	if (LLVMGetTargetFromTriple(name->triple, &row, &message)) {
		fail(err, ERR_BUG, "llvm", "no such triple: %s", message);
		LLVMDisposeMessage(message);
		return NULL;
	}
	Machine *m = calloc(1, sizeof *m);
	if (m == NULL) {
		fail(err, ERR_MEMORY, "llvm", "there is no memory for a target machine");
		return NULL;
	}
	m->name = *name;
	m->tm = LLVMCreateTargetMachine(
		row, name->triple, name->cpu, name->features, LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall);
	if (m->tm != NULL)
		return m;
	fail(err, ERR_BUG, "llvm", "no target machine for: %s", name->cpu);
	free(m);
	return NULL;
}

Machine *machine_take(const Target *t, Err *err)
{
	MachineName name;
	machine_name(t, &name);
	if (name.triple == NULL) {
		fail(err, ERR_UNSUPPORTED, "llvm", "this back end makes no code for %s", arch_name(t->arch));
		return NULL;
	}
	if (!llvm_open(err))
		return NULL;
	pthread_once(&started, start_llvm);
	pthread_mutex_lock(&lock);
	Machine **at = &idle, *m;
	for (; (m = *at) != NULL; at = &m->next)
		if (strcmp(m->name.triple, name.triple) == 0 && strcmp(m->name.cpu, name.cpu) == 0 &&
			strcmp(m->name.features, name.features) == 0) {
			*at = m->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	return m != NULL ? m : make(&name, err);
}

LLVMTargetMachineRef machine_of(const Machine *m)
{
	return m->tm;
}

const char *machine_triple(const Machine *m)
{
	return m->name.triple;
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
	if (old != NULL) { /* at most one: each gift adds one */
		LLVMDisposeTargetMachine(old->tm);
		free(old);
	}
}
