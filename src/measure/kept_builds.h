/*
 * What builders made of the last candidates, by the text of their kernel sets. A search's best schedules race, are
 * looked at again, and are built no second time for it.
 */
#ifndef MEASURE_KEPT_BUILDS_H
#define MEASURE_KEPT_BUILDS_H

#include "measure/job.h"
#include "measure/method.h"

typedef struct KeptBuild {
	Hash text;
	unsigned char *bytes; /* of a BUILT's array, malloc'd; NULL: a free place */
	size_t n;
	int64_t ns; /* that the build took */
} KeptBuild;

typedef struct KeptBuilds {
	KeptBuild at[METHOD_BUILDS_KEPT];
	int next; /* the place that is taken next */
} KeptBuilds;

/* The build of a job's set, valid until the next add; NULL: there is none, or the job is of a kind that is not kept. */
const KeptBuild *kept_builds_find(const KeptBuilds *k, const Job *j);
/* Keeps a copy, if there is memory for it and the build is not large. */
void kept_builds_add(KeptBuilds *k, const Job *j, const void *bytes, size_t n, int64_t ns);
void kept_builds_free(KeptBuilds *k);

#endif
