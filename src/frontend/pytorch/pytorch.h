/*
 * PyTorch's models: a program, which is run once while it is imported. Its arithmetic on numbers is done then, and its
 * operators on tensors become calls of the Dag (aten.h). export.c runs the flat lists of nodes of .pt2 files, script.c
 * the code of TorchScript files.
 */
#ifndef FRONTEND_PYTORCH_PYTORCH_H
#define FRONTEND_PYTORCH_PYTORCH_H

#include "base/json.h"
#include "frontend/archive.h"
#include "frontend/pytorch/rows.h"

/* An input of the program, which becomes one of the graph. */
typedef struct ProgramInput {
	const char *name;
	NodeValue value;
	TorchTensor *tensor; /* what the program holds for it */
	int retype;          /* its type was a guess, and an index is needed */
} ProgramInput;

typedef struct Program Program;
struct Program {
	Arena *arena;
	const char *path;
	Archive *archive;
	const char *root; /* the folder of all entries: "model/" or "" */
	const AtenIndex *rows;
	NodeGraph graph;
	NodeDef node; /* the whole program is one */
	VEC(ProgramInput) input;
	/* Runs it; what it gives goes through program_result. */
	void (*run)(Program *p, Visit *v);
	/* Runs a TORCH_GRAPH; its results are pushed to out. NULL: the layout has none. */
	bool (*run_graph)(Program *p, Visit *v, const void *graph, const TorchList *in, TorchList *out);
	const ModelArgs *args;
	const void *source;
	VEC(NodeValue) result;
	VEC(TorchTensor *) given;
	/* Numbers of rows that results have, scalars of the Dag, each with the name of the first such result. */
	VEC(int) count;
	VEC(const char *) counted;
	int64_t rounds; /* of loops that run graphs, so far */
	/* Of choice.h: the sides that are being run, and how many values were made. */
	struct Sides *sides;
	unsigned born;
};

/* ---- layouts: each fills `input`, `run` and `source` */

bool export_open(Program *p, Err *err);
bool script_open(Program *p, Err *err);
/* A dimension of an exported program that is an expression of a symbol: "s0", "2*s0 + 1", or in SymPy's words. */
NodeDim export_dim(Arena *a, const char *expression);
/* The signature of an exported program as PyTorch 2.2 and later write it. */
const Json *export_upgrade(Arena *a, const Json *signature);
/* An entry below the root; false: there is none, or (err) it cannot be read. */
bool program_read(Program *p, const char *entry, Bytes *out, Err *err);
const char *program_entry(Program *p, const char *entry); /* its whole name; NULL: there is none */

/* The program of an import. */
Program *program_of(const Visit *v);

/* ---- running */

/* A node of the program, for calls and messages: its place in messages, the name of its value, its operator. */
Visit *program_visit(Program *p, const Visit *outer, const char *where, const char *out, const char *op);

/* A call of an operator: its place in messages, the name of its value, and what its values are called after. */
bool program_call(
	Program *p, Visit *outer, const char *where, const char *out, const char *op, const AtenIn *in, TorchValue *result);
/* A result of the program: a tensor, or lists and dictionaries of them, whose elements are named after it. */
void program_result(Program *p, Visit *v, const char *name, TorchValue x);
/* After all results: how many rows those have whose number depends on data. */
void program_counts(Program *p, Visit *v);
/* Refuses all operators of a list that have no row, at once. */
bool program_check(Visit *v, const NodeDef *node, size_t n);

#endif
