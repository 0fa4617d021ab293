/* What the files of the second meaning (ref.h) share: a call with its tensors, and walks over indices. */
#ifndef TESTS_REF_ENV_H
#define TESTS_REF_ENV_H

#include "ref.h"

typedef struct Env {
	const OpCall *c;
	const Tensor *in[8];
	const int64_t *idx; /* of the result */
	int rank;
} Env;

/* idx of the i-th element in row-major order. */
static inline void unravel(Shape s, int64_t i, int64_t *idx)
{
	for (int k = s.rank - 1; k >= 0; k--) {
		idx[k] = i % s.dim[k];
		i /= s.dim[k];
	}
}

static inline int64_t ravel(Shape s, const int64_t *idx)
{
	int64_t i = 0;
	for (int k = 0; k < s.rank; k++)
		i = i * s.dim[k] + idx[k];
	return i;
}

static inline double at(const Tensor *t, const int64_t *idx)
{
	return t->v[ravel(t->shape, idx)];
}

double ref_gather(const Env *e);
double ref_scatter(const Env *e);
double ref_arg(const Env *e);
double ref_scan(const Env *e);
double ref_suppress(const Env *e);
double ref_top_k(const Env *e, int result);
double ref_det(const Env *e);
double ref_resample(const Env *e);

#endif
