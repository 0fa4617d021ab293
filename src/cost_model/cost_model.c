/* The rows of cost models, and how they are opened and called. */
#include "cost_model/cost_model.h"

#include <assert.h>
#include <string.h>

const CostModel *const cost_models[] = { &cost_analytic, NULL };

bool cost_open(Cost *c, Arena *a, const char *name, const Target *target, Err *err)
{
	const char *file = name != NULL ? strchr(name, ':') : NULL;
	size_t n = file != NULL ? (size_t)(file - name) : name != NULL ? strlen(name) : 0;
	const CostModel *const *row = cost_models;
	Text there = { .arena = a };
	for (; name != NULL && *row != NULL; row++) {
		if (strlen((*row)->name) == n && memcmp((*row)->name, name, n) == 0)
			break;
		text_add(&there, "%s%s", row > cost_models ? ", " : "", (*row)->name);
	}
	if (*row == NULL)
		return fail(err, ERR_USAGE, name, "there is no such cost model; there are: %s", text_str(&there));
	*c = (Cost){ *row, (*row)->open(a, target, file != NULL ? file + 1 : NULL, err) };
	return c->state != NULL;
}

Cost cost_or_first(const Cost *given, Arena *a, const Target *target)
{
	Cost c = { 0 };
	if (given != NULL)
		return *given;
	bool opened = cost_open(&c, a, NULL, target, NULL);
	assert(opened && "the first row needs nothing");
	(void)opened;
	return c;
}

void cost_estimate(const Cost *c, const CostCandidate *x, int n, double *ns)
{
	if (n > 0)
		c->row->estimate(c->state, x, n, ns);
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

void cost_close(const Cost *c)
{
	if (c->row != NULL && c->row->close != NULL && c->state != NULL)
		c->row->close(c->state);
}
