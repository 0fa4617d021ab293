/* The rows of cost models, and how they are opened and called. */
#include "cost_model/cost_model.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const CostModel *const cost_models[] = { &cost_analytic, &cost_xgboost, NULL };

const CostModel *cost_model_find(const char *name, Err *err)
{
	char there[200] = "";
	size_t n = name != NULL ? strcspn(name, ":") : 0;
	if (name == NULL)
		return cost_models[0];
	for (const CostModel *const *row = cost_models; *row != NULL; row++) {
		if (strlen((*row)->name) == n && memcmp((*row)->name, name, n) == 0)
			return *row;
		size_t at = strlen(there);
		snprintf(there + at, sizeof there - at, "%s%s", at > 0 ? ", " : "", (*row)->name);
	}
	fail(err, ERR_USAGE, name, "there is no such cost model; there are: %s", there);
	return NULL;
}

bool cost_open(Cost *c, Arena *a, const char *name, const char *beside, const Target *target, Err *err)
{
	const char *file = name != NULL ? strchr(name, ':') : NULL;
	const CostModel *row = cost_model_find(name, err);
	if (row == NULL)
		return false;
	if (row->file && file != NULL && access(file + 1, F_OK) != 0)
		return fail(err, ERR_MISSING, file + 1, "there is no such file of a cost model");
	*c = (Cost){ row, row->open(a, target, file != NULL ? file + 1 : row->file ? beside : NULL, err) };
	return c->state != NULL;
}

const char *cost_note(const Cost *c)
{
	return c->row->note != NULL ? c->row->note(c->state) : NULL;
}

Cost cost_or_first(const Cost *given, Arena *a, const Target *target)
{
	Cost c = { 0 };
	if (given != NULL)
		return *given;
	bool opened = cost_open(&c, a, NULL, NULL, target, NULL);
	assert(opened && "the first row needs nothing");
	(void)opened;
	return c;
}

void cost_estimate(const Cost *c, const CostCandidate *x, int n, double *ns)
{
	if (n > 0)
		c->row->estimate(c->state, x, n, ns);
}

int cost_kept(const Cost *c)
{
	return c->row->kept;
}

void cost_keep(const Cost *c, const CostCandidate *x, int n, float *kept)
{
	c->row->keep(c->state, x, n, kept);
}

void cost_again(const Cost *c, const float *kept, int n, double *ns)
{
	c->row->again(c->state, kept, n, ns);
}

double cost_estimate_one(const Cost *c, const KernelSet *ks, const Task *task)
{
	double ns;
	cost_estimate(c, &(CostCandidate){ ks, task }, 1, &ns);
	return ns;
}

void cost_observe(const Cost *c, const CostCandidate *x, int n, const double *ns)
{
	if (c->row->observe != NULL && n > 0)
		c->row->observe(c->state, x, n, ns);
}

int cost_revision(const Cost *c)
{
	return c->row->revision != NULL ? c->row->revision(c->state) : 0;
}

void cost_close(const Cost *c)
{
	if (c->row != NULL && c->row->close != NULL && c->state != NULL)
		c->row->close(c->state);
}
