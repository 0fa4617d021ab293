/*
 * Task: a workload in a model, with its weight (how often the model runs it).
 * A workload is a Dag in canonical text: values renamed in order of first use, no model names, no
 * data, commutative operands ordered. Equal texts are equal workloads; the id is the text's hash.
 */
#ifndef OP_TASK_H
#define OP_TASK_H

#include "base/hash.h"
#include "op/op.h"

typedef struct Task {
	const Dag *dag;    /* canonical, without data */
	const char *text;  /* its written form, one line per value and call */
	Hash id;           /* hash_of("dlc/workload/v1", record line), see docs/records.md */
	const char *label; /* "conv3x3 64>64 56 +relu", for people */
	double flops, bytes;
	int weight;
} Task;

/*
 * The canonical form of a Dag: calls that no output needs are dropped; outputs, calls and the operands of
 * commutative operators are ordered by structure; values are numbered by first use. map (d->value.n entries,
 * may be NULL) gives the new number of each old value, or DAG_NONE.
 */
Dag *dag_canonical(Arena *a, const Dag *d, int *map, Err *err);

/* The record of a Task: one canonical JSON line with kind and id, without the newline. */
const char *task_record(Arena *a, const Task *t);

/* Canonicalises `d` (a workload: constants as roles). Lives in arena `a`. */
Task *task_new(Arena *a, const Dag *d, Err *err);
/* The same; map receives the new number of each value of d, see dag_canonical. */
Task *task_new_map(Arena *a, const Dag *d, int *map, Err *err);
/* From the canonical text of a record; refuses a text that is not canonical. */
Task *task_parse(Arena *a, const char *text, size_t n, Err *err);

#endif
