/*
 * What a CPU says about itself, kept apart from what is concluded, so that a test can be any CPU.
 * facts_* read this machine; target_from_facts is pure.
 */
#ifndef TARGET_DETECT_H
#define TARGET_DETECT_H

#include "target/target.h"

typedef enum {
	VENDOR_OTHER,
	VENDOR_AMD,
	VENDOR_INTEL,
	VENDOR_HYGON,
	VENDOR_ARM,
	VENDOR_APPLE,
} Vendor;

typedef struct CpuFacts {
	Arch arch;
	Vendor vendor;
	uint32_t family, model; /* displayed ones; AArch64: 0 and the MIDR part number */
	uint64_t features;      /* as the CPU tells them */
	char maker[16];         /* "GenuineIntel"; AArch64: "0x41" */
	char brand[64];
} CpuFacts;

/* Vendor and part of the most frequent core in the text of an AArch64 /proc/cpuinfo. */
void facts_from_cpuinfo(CpuFacts *f, const char *text);

/* Architecture, model class, features and all that follows from them. */
void target_from_facts(Target *t, const CpuFacts *c);
/* Fills the vector, core and scope fields from arch, model and features. */
void target_derive(Target *t);
/* Gives every figure of t->core that is not known (0) its default, from those that are. */
void core_derive(Target *t);
/* The row of model.def of this name. */
bool model_find(const char *name, Arch *arch);

/* Rows of kind.def: by name, whether there is a code generator, the refusal where there is none. */
bool target_kind_find(const char *s, size_t n, TargetKind *out);
bool target_kind_supported(TargetKind k);
bool target_refuse_kind(TargetKind k, const char *place, ErrCode code, Err *err);

/* Caches, cores and memory of this machine; roots as in runtime/host.h. */
void target_read_host(Target *t, const char *sys, const char *proc);

#endif
