/*
 * A lock file says which record each Task of a model took. So the same bundle can be made again, whatever the
 * databases have learnt since. One line for each task, by id; meant to lie in a repository.
 *
 * 	dlc lock 1
 * 	target 4c4e07c0689a89f1ceaea71c654ba218
 * 	task 07b2..8ce8 exact 0413..d89f 9c1a..77e0
 * 	task 543f..7d15 default - 11b0..42fd
 * 	region 77b0..01ce 1
 *
 * The last hash of a task is the trace's; the record is the run that it came from, "-" for a default, and for what a
 * learned model chose the config of the Task's space: "model 2.0.11". A region
 * whose calls are partitioned in another way than by default has a line with the number of its alternative.
 */
#ifndef COMPILE_LOCK_FILE_H
#define COMPILE_LOCK_FILE_H

#include "compile/compile.h"

enum { LOCK_BYTES = 16 << 20 };

typedef struct LockRow {
	Hash task, record, trace;
	const char *config; /* HIT_MODEL: of the Task's space (untuned.h) */
	HitClass hit;
} LockRow;

typedef struct LockRegion {
	Hash region; /* its alternatives' Tasks */
	int taken;
} LockRegion;

struct Lock {
	Hash target;
	VEC(LockRegion) region; /* by hash; of others the first alternative is taken */
	VEC(LockRow) row;       /* by task */
};

Lock *lock_parse(Arena *a, const char *name, const char *text, size_t n, Err *err);
const LockRow *lock_find(const Lock *l, Hash task);
/* The alternative of the region that the lock takes. */
int lock_taken(const Lock *l, const Region *r);
/* Prints the choices made for a model; equal choices give equal text. */
void lock_print(Text *out, const Compiled *c, const Target *target);

#endif
