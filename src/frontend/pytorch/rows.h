/* The rows of all operators by name: a program that runs loops makes thousands of calls. */
#ifndef FRONTEND_PYTORCH_ROWS_H
#define FRONTEND_PYTORCH_ROWS_H

#include "frontend/pytorch/aten.h"

/* All names of operators that have a row, in-place forms included. */
const char **aten_names(Arena *a, int *n);

typedef struct AtenIndex AtenIndex;

/* The rows of one name, in the order of torch_rows. */
typedef struct AtenNamed {
	const AtenRow *row, *list; /* list: that in torch_rows which has it */
	bool inplace;              /* the name is that of the in-place form */
	struct AtenNamed *next, *last;
} AtenNamed;

AtenIndex *aten_index(Arena *a);
/* The rows of "add", for "add.Tensor" and every other form; NULL: there are none. */
const AtenNamed *aten_named(const AtenIndex *x, const char *name);

#endif
