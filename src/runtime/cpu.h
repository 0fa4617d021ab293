/*
 * What this CPU and its system can run: the architecture and its features by name.
 * Rows are in feature.def; a feature counts only where the system saves its registers.
 */
#ifndef RUNTIME_CPU_H
#define RUNTIME_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* BUNDLE_X86_64, ...; 0 where dlc has no code for it. */
uint32_t cpu_arch(void);
/* "x86-64", "aarch64", "arm"; NULL for a number that is none. */
const char *cpu_arch_name(uint32_t arch);

/* What the CPU answered: cpuid's registers leaf by leaf, or the hwcap words. */
typedef struct Cpu {
	uint32_t word[32];
	uint32_t saved; /* XCR0: the registers that the system saves */
} Cpu;
Cpu cpu_read(void);
/* Whether it has the feature; false for a name that feature.def does not know. */
bool cpu_lists(const Cpu *c, const char *feature);
bool cpu_has(const char *feature); /* of this CPU, asked now */
/* Features this build can ask for: the i-th name, NULL behind the last. */
const char *cpu_feature_name(int i);
/* CPUs this process may use at once. */
int cpu_count(void);

#endif
