/*
 * What a CPU says about itself, kept apart from what is concluded, so that a test can be any CPU.
 * facts_* read this machine; target_from_facts is pure.
 */
#ifndef TARGET_DETECT_H
#define TARGET_DETECT_H

#include "runtime/device.h"
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
/* Sets numbers that a driver says, where they are within bounds. */
void core_take(Target *t, CoreFigure f, double value);
void blocks_take(Blocks *b, const DeviceFacts *f);

/* The rest of target_derive for a device of t->vector_bits. */
void unit_derive(Target *t);
void target_set_scope(Target *t, const char *name, int64_t bytes);
/* Gives every figure of t->core that is not known (0) its default, from those that are. */
void core_derive(Target *t);
/* The keys of `object` that name figures; one that is no number within its bounds is refused. */
bool core_parse(Target *t, const Json *object, Err *err);
/* The row of model.def of this name. */
bool model_find(const char *name, Arch *arch);
bool unit_find(const char *name, Arch *arch); /* the same of unit.def */
/* The model of any CPU through a driver: the driver's name. "": there is none. */
const char *unit_of_cpu(Arch arch);
/* The driver's model that a CPU's model belongs to: "pocl" of "pocl-znver5-512". NULL: none. */
const char *unit_class(const char *model, Arch arch);
/* The keys of `object` that name limits; one out of its bounds is refused. */
bool blocks_parse(Blocks *b, const Json *object, Err *err);

/* The architecture of a kind of devices; false for CPUs, which have several, and for kinds that arch.def lacks. */
bool target_kind_arch(TargetKind k, Arch *out);

/* Caches, cores and memory of this machine; roots as in runtime/host.h. */
void target_read_host(Target *t, const char *sys, const char *proc);

#endif
