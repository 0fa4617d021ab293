/* One call of a function of TorchScript code: eval.c evaluates its expressions, run.c runs its statements. */
#ifndef FRONTEND_PYTORCH_RUN_H
#define FRONTEND_PYTORCH_RUN_H

#include "frontend/pytorch/script.h"

enum { RUN_MOST_DEPTH = 1000 };

typedef struct Locals {
	Script *s;
	Visit *v;
	const ScriptItem *f;
	const char *path; /* of the module, in names of values */
	Names *names;     /* of variables: their places in `values` and `name` */
	TorchList values;
	VEC(const char *) name;
	bool returned;
	TorchValue result;
} Locals;

/* "code __torch__.net:12: ..."; false. */
bool run_refuse(Locals *c, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Each statement, call and expression counts: a long list in a loop must not ask for all memory there is. */
bool run_count(Locals *c, int line);
void run_set(Locals *c, const char *name, TorchValue x); /* a variable */
bool run_eval(Locals *c, const ScriptExpr *e, const char *as, TorchValue *out);
/*
 * What a condition is: known, or a tensor of one element. `when`, if given, takes one whose element is not known: a
 * bool scalar of the Dag.
 */
bool run_truth(Locals *c, const ScriptExpr *e, bool *out, int *when);
/* The name of the operator that a call names; NULL: it is none. */
const char *run_operator(Locals *c, const ScriptExpr *fn);
/* For calls and messages of a line; values are called after `as`. */
Visit *run_visit(Locals *c, int line, const char *as);

#endif
