/*
 * Inside the room: the numbers that decide how samples are taken, rows of worker/sampling.def, each with its reason.
 * COUNT rows become integer constants (SAMPLING_LOCK_MS), RATIO rows doubles (SAMPLING_LACK).
 */
#ifndef WORKER_SAMPLING_H
#define WORKER_SAMPLING_H

#define COUNT(name, value, unit, reason) enum { SAMPLING_##name = value };
#define RATIO(name, value, unit, reason) static const double SAMPLING_##name = value;
#include "worker/sampling.def"
#undef COUNT
#undef RATIO

#endif
