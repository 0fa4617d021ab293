/*
 * Inside the room: values of expressions at several points of the loops at once, a column of numbers for each
 * expression. Strides need a point for each loop, shares of iterations some hundred. Where a column cannot be computed
 * (a load, a sum that overflows, a divisor that is not constant), the caller evaluates point by point (address.c).
 */
#ifndef COST_MODEL_COLUMNS_H
#define COST_MODEL_COLUMNS_H

#include "cost_model/address.h"

enum { COLUMN_POINTS = 200, COLUMNS = 96, COLUMN_MEMO = 128 };

/* The values at all points; at == NULL: they are all `value`. */
typedef struct Column {
	const int64_t *at;
	int64_t value;
} Column;

typedef struct Columns {
	const CostNest *n;
	int points;
	/* The loops that are not at their first iteration everywhere, and their variables' values. */
	uint64_t loops;
	const int64_t *loop[NEST_LOOPS];
	/* Names that stand for columns, before those of the nest. */
	int nname;
	const char *name[IR_MAX_RANK];
	Column of_name[IR_MAX_RANK];
	const Expr *known[COLUMN_MEMO]; /* expressions whose column is ... */
	Column column[COLUMN_MEMO];     /* ... this one */
	int used;                       /* of the room */
	int64_t *room;                  /* for COLUMNS columns of so many points */
} Columns;

/* Nothing is known yet; the loops are at their first iterations. */
void columns_begin(Columns *c, const CostNest *n, int points, int64_t *room);
/* Room for a column; NULL: there is none left. */
int64_t *columns_room(Columns *c);
/* False: evaluate it point by point. */
bool columns_of(Columns *c, const Expr *e, Column *out);

#endif
