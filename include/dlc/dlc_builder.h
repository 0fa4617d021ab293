/*
 * Part of dlc.h: networks that a program builds, value by value.
 *
 *     dlc_builder_open -> dlc_builder_input -> layers (dlc/dlc_layers.h), operators -> dlc_builder_output
 *     -> dlc_builder_finish, a network as dlc_network_load gives -> dlc_builder_close
 *
 * The first failure stays: after it the functions do nothing and give no value, and dlc_builder_finish returns it. So a
 * program checks once. A failure's sentence begins with the layer that is wrong: "layer 'conv1' (conv): ...".
 *
 * Names are those of values. A name that is taken gets a number ("conv1_1"); those of inputs and outputs must be free.
 * NULL: a name is made of the operator's. Texts and lists are copied.
 */
#ifndef DLC_BUILDER_H
#define DLC_BUILDER_H

#ifndef DLC_DLC_H
#error "include dlc/dlc.h"
#endif

typedef struct DlcBuilder DlcBuilder; /* belongs to a session, as a network does */

/* A value of the network that is built; {0}: none, where an optional input or weight is left out. */
typedef struct DlcValue {
	uint64_t id;
} DlcValue;

/*
 * seed: of the weights that are drawn; each draws from a stream of its own name. options: what dlc_network_load takes,
 * for the inputs that follow; NULL: nothing. `weights`, `frontend`, `signature` and `tags` must be NULL.
 */
DLC_API DlcFault dlc_builder_open(DlcSession *s, const char *name, uint64_t seed, const DlcLoadOptions *options,
	DlcBuilder **out, DlcFailure *why);
/* The network of all outputs. Afterwards b can only be closed; the network stays. */
DLC_API DlcFault dlc_builder_finish(DlcBuilder *b, DlcNetwork **out, DlcFailure *why);
DLC_API void dlc_builder_close(DlcBuilder *b); /* NULL is allowed */
/* The failure so far. */
DLC_API DlcFault dlc_builder_fault(const DlcBuilder *b, DlcFailure *why);
/* A failure of the program's own, such as a line of its file that is wrong; code 0: DLC_FAULT_INPUT. */
DLC_API void dlc_builder_refuse(DlcBuilder *b, DlcFault code, const char *sentence);
/* What follows is made of this line of a file: sentences begin with "line 3: "; 0: of none. 1, or 0 after a failure. */
DLC_API int dlc_builder_at_line(DlcBuilder *b, int line);
/* The value of the input, constant, layer or output of that name, as its function gave it; a failure: there is none. */
DLC_API DlcValue dlc_builder_find(DlcBuilder *b, const char *name);

/* A dimension of -1 is open: the options give it, and a batch (the first one) is 1 without them. */
DLC_API DlcValue dlc_builder_input(DlcBuilder *b, const char *name, DlcDataType dtype, int rank, const int64_t *dim);
/* Compact row-major elements, little-endian. DLC_BORROW: they must outlive the network, and stay as they are. */
typedef enum DlcKeep { DLC_COPY, DLC_BORROW } DlcKeep;
DLC_API DlcValue dlc_builder_constant(DlcBuilder *b, const char *name, const DlcTensor *tensor, DlcKeep keep);
/* A constant of f32 that is drawn: mean + spread * normal. */
DLC_API DlcValue dlc_builder_weight(
	DlcBuilder *b, const char *name, int rank, const int64_t *dim, double mean, double spread);
DLC_API void dlc_builder_output(DlcBuilder *b, const char *name, DlcValue x);

typedef struct DlcValueInfo {
	const char *name; /* the builder's */
	DlcDataType dtype;
	int rank;
	int64_t dim[DLC_RANK];
} DlcValueInfo;
/* 1, or 0 where there is no such value or a failure. */
DLC_API int dlc_builder_describe(const DlcBuilder *b, DlcValue x, DlcValueInfo *out);

typedef enum DlcAttrKind { DLC_INT, DLC_INTS, DLC_FLOAT, DLC_TEXT } DlcAttrKind;
typedef struct DlcAttr {
	const char *name;
	DlcAttrKind kind;
	int n; /* of INTS */
	int64_t i;
	double f;
	const int64_t *ints;
	const char *text;
} DlcAttr;

/*
 * An operator of docs/dag.md by its name, with its attributes; those left out have their defaults. Returns the first
 * result; `out` gets nout of them (NULL where nout is 0).
 */
DLC_API DlcValue dlc_builder_op(DlcBuilder *b, const char *name, const char *op, const DlcValue *in, int nin,
	const DlcAttr *attr, int nattr, DlcValue *out, int nout);
/* Operators of one and two inputs without attributes. */
DLC_API DlcValue dlc_builder_op1(DlcBuilder *b, const char *name, const char *op, DlcValue x);
DLC_API DlcValue dlc_builder_op2(DlcBuilder *b, const char *name, const char *op, DlcValue x, DlcValue y);
/* One of the dimensions may be -1. */
DLC_API DlcValue dlc_builder_reshape(DlcBuilder *b, const char *name, DlcValue x, int rank, const int64_t *dim);
DLC_API DlcValue dlc_builder_transpose(DlcBuilder *b, const char *name, DlcValue x, const int64_t *perm);
DLC_API DlcValue dlc_builder_concat(DlcBuilder *b, const char *name, const DlcValue *x, int n, int axis);

#endif
