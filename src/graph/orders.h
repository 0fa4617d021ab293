/*
 * Layouts under which transposes move nothing. A region is the values that such layouts tie together; an offer gives
 * its values layouts. compile/transposes.c chooses among the offers by estimates.
 */
#ifndef GRAPH_ORDERS_H
#define GRAPH_ORDERS_H

#include "graph/graph.h"

typedef struct Offer {
	int n;
	int *value;
	const char **layout;
} Offer;

/* The first offer leaves the layouts as they are. */
typedef struct OrderRegion {
	int n;
	Offer *offer;
	const char *alike; /* regions of equal text have equal offers, of equal values */
} OrderRegion;

/* The regions around transposes that run code under the Dag's present layouts; returns how many. */
int graph_order_regions(Arena *a, const Dag *d, const Target *t, OrderRegion **out);
void graph_take_offer(Dag *d, const Offer *o);

#endif
