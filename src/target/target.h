/*
 * A Target: what a schedule and a code generator may count on. A plain value without pointers to
 * own; copy it freely.
 *
 * Its identity is {kind, model class, the ISA features codegen may use, threads} and nothing else. Two machines with
 * the same identity share every tuning record. Cores, caches, memory and what a core does in a cycle describe the
 * machine; they steer estimates.
 */
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "ir/dtype.h"
#include "runtime/team.h" /* TEAM_MAX */
#include "target/blocks.h"
#include "target/core.h"
#include "target/feature.h"

#include <stdint.h>

typedef enum {
#define KIND(name, text, device, meaning) TARGET_##name,
#include "target/kind.def"
#undef KIND
	TARGET_KINDS
} TargetKind;

typedef struct Cache {
	int64_t bytes;
	int shared_by; /* logical CPUs that share one */
} Cache;

enum { TARGET_SCOPES = 8 };

/* A memory scope that a buffer may name; bytes == 0: no limit of its own. */
typedef struct Scope {
	char name[16];
	int64_t bytes;
} Scope;

/* Of a device, one "core" is one unit: core.* are its figures, cache[0] is its L1, cache[1] the L2 of all units. */
typedef struct Target {
	TargetKind kind;
	Arch arch;
	char model[32]; /* model class: "znver5", "cortex-a72", or a level such as "x86-64-v3" */
	uint64_t features;
	int threads;

	int vector_bits; /* of the widest vector register worth using */
	int vector_regs;
	int line_bytes; /* of a cache line; > 0 */
	Core core;
	int cores;                  /* physical ones this process may use */
	int cpus;                   /* logical ones */
	Cache cache[TARGET_CACHES]; /* [0] is L1 data; bytes == 0 where there is none */
	Scope scope[TARGET_SCOPES];
	int nscope;
	Blocks blocks;

	char cpu[48];   /* "x86-64 GenuineIntel 6 207": whose core it is; only this machine has one */
	char brand[64]; /* "AMD EPYC 9B45"; only this machine has one; not part of anything */
} Target;

/* This machine, used with `threads` threads. What cannot be found out is 0 or generic. */
void target_host(Target *t, int threads);

/*
 * The target that a user named: `host`, `cpu` (both: this machine), NAME or KIND:NAME (DIR/NAME.json of the first
 * folder that has it), another KIND (this machine's first device, or the only target of a kind without a driver), a
 * file (a path with a '/' or ending in .json), or the text of target_json. NAME is that of a file or, after a KIND, the
 * model that a file of the kind has. An unknown name is ERR_USAGE with what there is; a bad file is ERR_INPUT; a device
 * that is not there is ERR_DEVICE. threads: 1..TEAM_MAX; a device's target has 1.
 */
bool target_resolve(Target *t, const char *name, int threads, const char *const *dirs, size_t ndirs, Err *err);
/* The target a JSON text describes; `name` stands in messages. docs/targets.md has the form. */
bool target_parse(Target *t, const char *name, const char *text, size_t n, int threads, Err *err);
/* The text of a target, on one line, with all that its form has. */
const char *target_json(Arena *a, const Target *t);

/* Names of the targets in the folders, sorted, without repetition; *n of them. */
const char *const *target_list(Arena *a, const char *const *dirs, size_t ndirs, size_t *n);

/* "cpu:znver5 t1": for people; out needs TARGET_TEXT bytes. */
enum { TARGET_TEXT = 64 };
const char *target_text(const Target *t, char out[TARGET_TEXT]);
/* The identity as a record's canonical line without its id, and its id. */
char *target_record(Arena *a, const Target *t);
Hash target_id(const Target *t);
/* Whose figures a record holds: t->cpu and the width of the vectors; out needs TARGET_TEXT bytes. */
const char *core_owner(const Target *t, char out[TARGET_TEXT]);
/* Whether this is the machine's own CPU and model.def has no row for it: its figures are worth measuring. */
bool core_wants_probe(const Target *t);
/* Figures that were defaults become the measured ones, and what follows from them. */
void core_adopt(Target *t, const Core *measured);
/* Multiply-adds started per cycle with vectors of `bits` bits, the target's own width or less. */
double target_fma_rate(const Target *t, int bits);
/* Bytes per cycle that come from beyond the cache of a level, from 1: from the next one, or from memory. */
double target_rate_beyond(const Target *t, int level);
int target_register_bits(const Target *t); /* that model and features have; a target file may ask for less */
const Cache *target_last_cache(const Target *t); /* the one before memory; NULL: none is known */
int target_lanes(const Target *t, DType type); /* elements of one vector register, at least 1 */
bool target_has_masks(const Target *t, DType type); /* one load may leave lanes of a vector register out */
bool target_has(const Target *t, Feature f);
bool target_has_blocks(const Target *t); /* its code is kernels of blocks of threads, for a device */
bool target_has_warps(const Target *t);  /* and threads of a block run together, as on a GPU */
bool target_has_named(const Target *t, const char *feature); /* false for names that feature.def does not know */
/* Whether code for t may run on `machine`: same architecture, no feature it lacks, no larger blocks of threads. */
bool target_runs_on(const Target *t, const Target *machine, Err *err);
/* Bytes of the data cache of a level 1..TARGET_CACHES, 0 if there is none. */
int64_t target_cache(const Target *t, int level);
const char *arch_name(Arch a);
TargetKind arch_kind(Arch a);
const char *target_kind_name(TargetKind k);
const char *target_kind_meaning(TargetKind k);
/* The kind that a name such as "cuda:h200" begins with; false for the name of a file. */
bool target_kind_of(const char *name, TargetKind *out);

#endif
