/*
 * Inside the room: what a network's default schedules take by the estimates, for choices that are made before any
 * Task exists (layouts). Equal Tasks of several calls are estimated once.
 */
#ifndef COMPILE_NET_ESTIMATE_H
#define COMPILE_NET_ESTIMATE_H

#include "compile/choose.h"

typedef struct NetEstimate {
	Arena *arena;
	const Target *target;
	Cost cost;
	Map ms; /* of Tasks, by their texts */
} NetEstimate;

NetEstimate net_estimate_open(Arena *a, const Target *t);
/* The network as its layouts are now: the defaults of its Tasks, and the copies of its concats. Costs a partition. */
bool net_estimate_ms(NetEstimate *e, const Dag *d, double *ms, Err *err);

#endif
