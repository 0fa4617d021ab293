/* TorchScript: code that is run while it is imported. script.c opens the file, run.c runs its statements. */
#ifndef FRONTEND_PYTORCH_SCRIPT_H
#define FRONTEND_PYTORCH_SCRIPT_H

#include "frontend/pytorch/code.h"
#include "frontend/pytorch/pytorch.h"

typedef struct Script {
	Program *program;
	TorchValue model;    /* the object whose forward is run */
	TorchList constants; /* CONSTANTS.c0 .. */
	const ScriptItem *forward;
	VEC(ScriptFile *) file; /* those parsed so far */
	Names *files;           /* module -> file */
	int64_t steps;          /* statements, calls and expressions so far */
	int depth;              /* of evaluations inside each other */
} Script;

/* The function or class of that name, "__torch__.torch.nn.functional.relu"; NULL: there is none, or (err). */
const ScriptItem *script_find(Script *s, const char *qualified, Err *err);
const ScriptItem *script_method(const ScriptItem *class, const char *name);

/* Calls a function; `self` first, if it is a method. */
bool script_call(Script *s, Visit *v, const ScriptItem *f, const char *path, const AtenIn *in, TorchValue *out);

#endif
