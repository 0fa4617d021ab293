/* See kept_builds.h. The oldest gives its place to the newest. */
#include "measure/kept_builds.h"

#include <stdlib.h>
#include <string.h>

static bool is_kept(const Job *j)
{
	return j->kind == JOB_CANDIDATE || j->kind == JOB_ENTRANT;
}

static Hash text_of(const Job *j)
{
	return hash_of("dlc/build/v1", j->text, strlen(j->text));
}

const KeptBuild *kept_builds_find(const KeptBuilds *k, const Job *j)
{
	if (!is_kept(j))
		return NULL;
	Hash text = text_of(j);
	for (int i = 0; i < METHOD_BUILDS_KEPT; i++)
		if (k->at[i].bytes != NULL && memcmp(&k->at[i].text, &text, sizeof text) == 0)
			return &k->at[i];
	return NULL;
}

void kept_builds_add(KeptBuilds *k, const Job *j, const void *bytes, size_t n, int64_t ns)
{
	unsigned char *copy = is_kept(j) && n <= METHOD_BUILD_BYTES ? malloc(n) : NULL;
	if (copy == NULL)
		return;
	memcpy(copy, bytes, n);
	KeptBuild *at = &k->at[k->next];
	k->next = (k->next + 1) % METHOD_BUILDS_KEPT;
	free(at->bytes);
	*at = (KeptBuild){ text_of(j), copy, n, ns };
}

void kept_builds_free(KeptBuilds *k)
{
	for (int i = 0; i < METHOD_BUILDS_KEPT; i++)
		free(k->at[i].bytes);
}
