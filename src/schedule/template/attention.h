/*
 * What the two ways to schedule attention on CPUs share: the nests of its naive form as attention.c reads them, and
 * loops that are cut where they are long enough.
 */
#ifndef SCHEDULE_TEMPLATE_ATTENTION_H
#define SCHEDULE_TEMPLATE_ATTENTION_H

#include "schedule/template/device.h"

/* The nests of the naive form, in their order. */
enum { SCORES, MASKED, MAX, EXP, SUM, VALUES, NESTS };

/* Axes of the nests; the fourth is a key or an element of a value. */
enum { BATCH, HEAD, QUERY, FOURTH, AXES };

typedef struct Rows {
	const char *block, *query, *key; /* a nest of the softmax: its block and two of its loops */
} Rows;

typedef struct Attention {
	Tiled scores, values; /* products with what follows: the mask; the division and more */
	Rows row[NESTS];      /* MAX, EXP, SUM */
	const char *q;        /* the buffer of queries */
	const char *masked, *exp; /* buffers of scores */
	int64_t lanes;        /* of a vector of queries */
	int64_t group;        /* heads of queries that share keys */
	bool causal;  /* query i sees keys up to i + past */
	int64_t past;
} Attention;

/* A loop that is split where it is longer than the part; `in` are the parts, `out` counts them, NULL: there is one. */
typedef struct Cut {
	const char *out, *in;
} Cut;
Cut attention_cut(Sketch *s, const char *loop, int64_t extent, int64_t part);
/* Steps that reorder these loops, those that are not NULL; and one with a loop that is not NULL. */
void attention_reorder(Sketch *s, const char *const *loop, int n);
void attention_step(Sketch *s, const char *what, const char *loop);

/* Whether the way for few queries fits the Task; its steps (attention_few.c). */
bool attention_is_few(const Sketch *s, const Attention *a);
void attention_few(Sketch *s, const Attention *a);

#endif
