/* The tables of searches and of efforts. */
#include "tuner/search.h"

#include <string.h>

const Search *const searches[] = { &search_portfolio, &search_rank, &search_anneal, &search_evolve, &search_grid,
	&search_random, NULL };

const Search *search_find(const char *name)
{
	for (const Search *const *s = searches; *s != NULL; s++)
		if (strcmp((*s)->name, name) == 0)
			return *s;
	return NULL;
}

const Effort efforts[] = {
#define EFFORT(name, sample, picks, restarts, pairs, doc) { #name, doc, sample, picks, restarts, pairs },
#include "tuner/effort.def"
#undef EFFORT
	{ 0 },
};

const Effort *effort_find(const char *name)
{
	for (const Effort *e = efforts; e->name != NULL; e++)
		if (strcmp(e->name, name) == 0)
			return e;
	return NULL;
}
