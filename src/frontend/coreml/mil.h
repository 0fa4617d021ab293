/*
 * ML programs: functions of MIL operators, whose inputs are named parameters. Constants are weights of the graph, texts
 * are attributes, blocks of an operator are graphs. The opset of iOS 15 is 5, that of iOS 18 is 8.
 */
#ifndef FRONTEND_COREML_MIL_H
#define FRONTEND_COREML_MIL_H

#include "frontend/coreml/coreml.h"

/* ---- programs as nodes (mil.c) */

/* NodeDef.source */
typedef struct MilNode {
	const MilOperation *op;
	const char *const *key; /* of each input: the parameter that it belongs to */
} MilNode;

bool mil_program(Arena *a, CoremlFile *f, const ModelArgs *args, NodeGraph *out, int *version, Err *err);
extern const NodeFormat mil_format;

/* ---- values (mil_value.c) */

bool mil_is_text(const MilValue *v);
const char *mil_text_of(const MilValue *v); /* "": it has none */
/* The element type of that code of DataType; `bits` are those that an element has in a file. */
bool mil_type_from(int64_t code, DType *out, int *bits);
/* NodeFormat.read: the tensor's source is a MilValue. */
bool mil_read(Import *im, const NodeTensor *t, const char *what, NodeTensor *out);

/* ---- parameters of the current operator (mil_param.c) */

/* The first input of a parameter, and how many there are; -1: it is absent. */
int mil_at(Visit *v, const char *key, int *count);
bool mil_has(Visit *v, const char *key);
int mil_value(Visit *v, const char *key); /* DAG_NONE if absent */
int mil_need(Visit *v, const char *key);  /* refused if absent */
/* All values of a parameter, NULL after a refusal. */
const int *mil_each(Visit *v, const char *key, int *count);
const Item *mil_known(Visit *v, const char *key); /* NULL if absent */
int64_t mil_int(Visit *v, const char *key, int64_t otherwise);
bool mil_flag(Visit *v, const char *key, bool otherwise);
double mil_float(Visit *v, const char *key, double otherwise);
const int64_t *mil_ints(Visit *v, const char *key, int *count); /* *count = -1 if absent */
/* A list of n sizes, `otherwise` each where it is absent. */
void mil_list(Visit *v, const char *key, int n, int64_t least, int64_t otherwise, int64_t *out);
/* A parameter that changes nothing here. */
void mil_skip(Visit *v, const char *key);
/* One of the texts of a list that ends with NULL, by its number; `otherwise` where it is absent. */
int mil_word(Visit *v, const char *key, const char *const *list, int otherwise);
/* A vector of a number for each element of dimension 1, ready to broadcast to `rank` dimensions. */
int mil_channels(Visit *v, const char *key, int rank);

/* ---- rows */

extern const NodeRow mil_math_rows[];
extern const NodeRow mil_window_rows[];
extern const NodeRow mil_norm_rows[];
extern const NodeRow mil_reduce_rows[];
extern const NodeRow mil_move_rows[];
extern const NodeRow mil_place_rows[];
extern const NodeRow mil_image_rows[];
extern const NodeRow mil_recurrent_rows[];
extern const NodeRow mil_constexpr_rows[];
extern const NodeRow mil_control_rows[];

#endif
