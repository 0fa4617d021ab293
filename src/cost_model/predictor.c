/* See predictor.h. */
#include "cost_model/predictor.h"

#include "cost_model/estimate.h"
#include "cost_model/tally.h"

#include <math.h>
#include <string.h>

/* The number is raised where a row keeps its name and gets another meaning. */
#define PREDICTOR_VERSION "dlc/predictors/v1"

static const struct {
	const char *name, *doc;
} rows[PREDICTORS] = {
#define PREDICTOR(name, value, doc) { #name, doc },
#include "cost_model/predictor.def"
#undef PREDICTOR
};

const char *predictor_name(int predictor)
{
	return rows[predictor].name;
}

const char *predictor_doc(int predictor)
{
	return rows[predictor].doc;
}

Hash predictor_id(void)
{
	static const char text[] =
#define PREDICTOR(name, value, doc) #name ","
#include "cost_model/predictor.def"
#undef PREDICTOR
		"";
	return hash_of(PREDICTOR_VERSION, text, sizeof text - 1);
}

static double log0(double x)
{
	return log2(1 + x);
}

static double part(double x, double of)
{
	return of > 0 ? x / of : 0;
}

double predictor_row(const KernelSet *ks, const Task *task, const Target *t, float row[PREDICTORS])
{
	Tally tally = { 0 }, *y = &tally;
	double ns = estimate_set_ns(ks, t, y);
	double flops = task != NULL ? task->flops : 0, bytes = task != NULL ? task->bytes : 0, asked = 0;
	double cores = target_has_blocks(t) ? fmax(t->cores, 1) : fmax(t->threads, 1), cycle = 1 / t->core.ghz;
	double roof = fmax(flops / (2 * target_lanes(t, F32) * t->core.fma_rate * cores),
				bytes / t->core.level[TARGET_CACHES]) * cycle;
	roof = fmax(roof, cycle);
	for (int k = 0; k < REUSE_BANDS; k++)
		asked += y->reuse[k];
	asked = fmax(asked, y->asked);
#define PREDICTOR(name, value, doc) row[PREDICTOR_##name] = (float)(value);
#include "cost_model/predictor.def"
#undef PREDICTOR
	for (int k = 0; k < PREDICTORS; k++)
		row[k] = isfinite(row[k]) ? row[k] : 0;
	return ns;
}
