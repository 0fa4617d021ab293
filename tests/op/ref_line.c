/* The second meaning of operators along one axis (places of extremes, scans, the largest k), and of determinants. */
#include "ref_env.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LONGEST_LINE = 64 };

/* Whether element i of a line comes before element j: by value, the largest of all being NaN, then by place. */
static bool precedes(const double *line, int64_t i, int64_t j, bool largest)
{
	double a = largest ? line[i] : line[j], b = largest ? line[j] : line[i];
	if (a > b || (isnan(a) && !isnan(b)))
		return true;
	return i < j && !(b > a || (isnan(b) && !isnan(a)));
}

/* The line of x along the call's axis through idx (of the result); its length. */
static int64_t line_of(const Env *e, double *line, bool dropped)
{
	const Tensor *x = e->in[0];
	int axis = (int)op_int(e->c, "axis");
	int64_t p[DAG_MAX_RANK] = { 0 }, n = x->shape.dim[axis];
	for (int k = 0, j = 0; k < x->shape.rank; k++)
		if (k != axis || !dropped)
			p[k] = e->idx[j++];
	assert(n <= LONGEST_LINE);
	for (p[axis] = 0; p[axis] < n; p[axis]++)
		line[p[axis]] = at(x, p);
	return n;
}

double ref_arg(const Env *e)
{
	double line[LONGEST_LINE];
	int64_t best = 0, n = line_of(e, line, op_int(e->c, "keep") == 0);
	bool max = e->c->op == OP_arg_max;
	for (int64_t i = 1; i < n; i++) {
		bool nan = isnan(line[i]), equal = nan ? isnan(line[best]) : line[i] == line[best];
		bool better = (nan && !equal) || (max ? line[i] > line[best] : line[i] < line[best]);
		if (better || (equal && op_int(e->c, "last") != 0))
			best = i;
	}
	return (double)best;
}

double ref_scan(const Env *e)
{
	double line[LONGEST_LINE];
	int64_t n = line_of(e, line, false), at = e->idx[op_int(e->c, "axis")];
	bool prod = strcmp(op_text(e->c, "kind"), "prod") == 0, reverse = op_int(e->c, "reverse") != 0;
	double r = prod ? 1 : 0;
	for (int64_t i = 0; i < n; i++)
		if ((reverse ? i > at : i < at) || (i == at && op_int(e->c, "exclusive") == 0))
			r = prod ? r * line[i] : r + line[i];
	return r;
}

/* The element that as many others precede as its place in the result says. */
double ref_top_k(const Env *e, int result)
{
	double line[LONGEST_LINE];
	int64_t n = line_of(e, line, false), rank = e->idx[op_int(e->c, "axis")];
	for (int64_t i = 0; i < n; i++) {
		int64_t before = 0;
		for (int64_t j = 0; j < n; j++)
			before += i != j && precedes(line, j, i, op_int(e->c, "largest") != 0);
		if (before == rank)
			return result == 0 ? line[i] : (double)i;
	}
	return NAN;
}

/* By the first row, recursively: slow, and nothing like elimination. */
static double det_of(const double *m, int n)
{
	double minor[16], sum = n == 0 ? 1 : 0;
	assert(n <= 5);
	for (int j = 0; j < n; j++) {
		for (int r = 1; r < n; r++)
			for (int c = 0; c < n - 1; c++)
				minor[(r - 1) * (n - 1) + c] = m[r * n + (c < j ? c : c + 1)];
		sum += (j % 2 == 0 ? 1 : -1) * m[j] * det_of(minor, n - 1);
	}
	return sum;
}

double ref_det(const Env *e)
{
	int64_t n = e->in[0]->shape.dim[e->rank], matrix = 0;
	for (int k = 0; k < e->rank; k++)
		matrix = matrix * e->in[0]->shape.dim[k] + e->idx[k];
	return det_of(&e->in[0]->v[matrix * n * n], (int)n);
}

/* By recursion: whether i stays. */
static bool stays(const double *x, int64_t n, int64_t i)
{
	for (int64_t j = 0; j < i; j++)
		if (x[j * n + i] != 0 && stays(x, n, j))
			return false;
	return true;
}

double ref_suppress(const Env *e)
{
	const Shape *s = &e->in[0]->shape;
	int64_t n = s->dim[s->rank - 1], matrix = 0;
	for (int k = 0; k < s->rank - 2; k++)
		matrix = matrix * s->dim[k] + e->idx[k];
	return stays(&e->in[0]->v[matrix * n * n], n, e->idx[s->rank - 2]);
}
