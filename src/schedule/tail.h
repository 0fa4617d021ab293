/*
 * The end of a loop as a loop of its own: what cut makes, and split where its tail is peeled off.
 */
#ifndef SCHEDULE_TAIL_H
#define SCHEDULE_TAIL_H

#include "schedule/sched.h"

/* The loop, of constant extent, ends after its first `at` iterations; a copy with new names goes on behind it. */
bool tail_cut(Sched *s, const char *what, const Place *p, int64_t at);

#endif
