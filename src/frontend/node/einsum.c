/*
 * Einsum: a sum of products over labelled dimensions. A label that an operand repeats becomes its diagonal. A label
 * of one operand alone, which the result lacks, is summed at once. Then operands are multiplied from the left, two at
 * a time, as one product of matrices: [both.., left.., summed..] by [both.., summed.., right..]. Each dimension of
 * `...` has a label of its own, which counts from the last one.
 */
#include "frontend/node/compose.h"

#include <ctype.h>
#include <string.h>

enum { LABELS = 128 + DAG_MAX_RANK, ELLIPSIS = 128, MOST_OPERANDS = 64 };

/* A value and the label of each of its dimensions. */
typedef struct Labelled {
	int value, n;
	int label[DAG_MAX_RANK];
} Labelled;

static int find_label(const Labelled *x, int label)
{
	for (int k = 0; k < x->n; k++)
		if (x->label[k] == label)
			return k;
	return -1;
}

static int64_t dim_of(Visit *v, const Labelled *x, int label)
{
	int k = find_label(x, label);
	return k < 0 ? 1 : node_val(v, x->value)->shape.dim[k];
}

/* Reads the labels of one term from *s on; `...` stands for `rest` dimensions. */
static void read_term(Visit *v, const char **s, int rest, Labelled *out)
{
	bool dots = false;
	out->n = 0;
	for (; **s != 0 && **s != ',' && strncmp(*s, "->", 2) != 0; ++*s) {
		int many = 1, label = (unsigned char)**s;
		if (label == ' ')
			continue;
		if (strncmp(*s, "...", 3) == 0 && !dots) {
			dots = true;
			many = rest;
			*s += 2;
		} else if (!isalpha(label)) {
			node_fail(v, ERR_INPUT, "its equation holds '%c', which is no label", **s);
			return;
		}
		for (int k = 0; k < many; k++) {
			if (out->n == DAG_MAX_RANK) {
				node_fail(v, ERR_UNSUPPORTED, "its equation has a term of more than %d dimensions", DAG_MAX_RANK);
				return;
			}
			out->label[out->n++] = many == 1 && label != '.' ? label : ELLIPSIS + rest - 1 - k;
		}
	}
}

/* How many dimensions `...` stands for in a term over a value of some rank; 0 without one. */
static int rest_of(const char *term, int rank)
{
	int labels = 0;
	bool dots = false;
	for (; *term != 0 && *term != ',' && strncmp(term, "->", 2) != 0; term++) {
		labels += isalpha((unsigned char)*term) != 0;
		dots |= *term == '.';
	}
	return dots && rank > labels ? rank - labels : 0;
}

/* Puts the dimensions into the order of the labels, of which x has all. */
static void order_labels(Visit *v, Labelled *x, const int *label, int n)
{
	int64_t perm[DAG_MAX_RANK] = { 0 };
	bool same = true;
	for (int k = 0; k < n; k++) {
		perm[k] = find_label(x, label[k]);
		same &= perm[k] == k;
	}
	Attr attr = attr_ints("perm", perm, n);
	if (!same)
		x->value = node_call(v, OP_transpose, &x->value, 1, &attr, 1);
	memcpy(x->label, label, sizeof *label * (size_t)n);
	x->n = n;
}

/* Replaces dimensions i < j of one label by their diagonal: every (n + 1)th element of the two as one. */
static void take_diagonal(Visit *v, Labelled *x, int i, int j)
{
	int64_t perm[DAG_MAX_RANK], start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK], size[DAG_MAX_RANK];
	Shape from = node_val(v, x->value)->shape, flat = { .rank = x->n - 1 };
	int n = 0, label = x->label[i];
	if (node_ok(v) && from.dim[i] != from.dim[j])
		node_fail(v, ERR_TYPE, "label %c names dimensions of %lld and %lld elements", label < ELLIPSIS ? label : '.',
			(long long)from.dim[i], (long long)from.dim[j]);
	for (int k = 0; k < x->n; k++)
		if (k != i && k != j) {
			x->label[n] = x->label[k];
			size[n] = flat.dim[n] = from.dim[k];
			step[n] = 1;
			perm[n++] = k;
		}
	perm[n] = i;
	perm[n + 1] = j;
	flat.dim[n] = size_product(from.dim[i], from.dim[j]);
	size[n] = from.dim[i];
	step[n] = from.dim[i] + 1;
	x->label[n] = label;
	Attr order = attr_ints("perm", perm, x->n);
	Attr attr[] = { attr_ints("starts", start, n + 1), attr_ints("steps", step, n + 1),
		attr_ints("sizes", size, n + 1) };
	int y = node_reshape(v, node_call(v, OP_transpose, &x->value, 1, &order, 1), flat);
	x->value = node_call(v, OP_slice, &y, 1, attr, 3);
	x->n = n + 1;
}

/* Sums over the dimensions whose labels are marked. */
static void sum_labels(Visit *v, Labelled *x, const bool *over)
{
	int64_t axes[DAG_MAX_RANK] = { 0 };
	int n = 0, kept = 0;
	for (int k = 0; k < x->n; k++)
		if (over[x->label[k]])
			axes[n++] = k;
		else
			x->label[kept++] = x->label[k];
	Attr attr[] = { attr_ints("axes", axes, n), attr_int("keep", 0) };
	if (n > 0)
		x->value = node_call(v, OP_reduce_sum, &x->value, 1, attr, 2);
	x->n = kept;
}

/* Reshapes x to as many dimensions of its own as are listed, and 1 for those that it lacks. */
static int spread_labels(Visit *v, const Labelled *x, const int *label, int n)
{
	Shape s = { .rank = n };
	for (int k = 0; k < n; k++)
		s.dim[k] = dim_of(v, x, label[k]);
	return node_reshape(v, x->value, s);
}

/* The product of a and b: labels that `later` does not mark are summed where both have them. */
static Labelled multiply(Visit *v, Labelled a, Labelled b, const bool *later)
{
	int both[DAG_MAX_RANK], left[DAG_MAX_RANK], right[DAG_MAX_RANK], summed[DAG_MAX_RANK], order[2 * DAG_MAX_RANK];
	int nboth = 0, nleft = 0, nright = 0, nsummed = 0;
	bool single[LABELS] = { false };
	for (int k = 0; k < a.n; k++) /* a dimension of 1 is broadcast: the other operand's is summed alone */
		if (find_label(&b, a.label[k]) >= 0 && !later[a.label[k]] &&
			dim_of(v, &a, a.label[k]) != dim_of(v, &b, a.label[k]))
			single[a.label[k]] = true;
	sum_labels(v, &a, single);
	sum_labels(v, &b, single);
	for (int k = 0; k < a.n; k++)
		if (find_label(&b, a.label[k]) < 0)
			left[nleft++] = a.label[k];
		else if (later[a.label[k]])
			both[nboth++] = a.label[k];
		else
			summed[nsummed++] = a.label[k];
	for (int k = 0; k < b.n; k++)
		if (find_label(&a, b.label[k]) < 0)
			right[nright++] = b.label[k];
	Labelled y = { .n = nboth + nleft + nright };
	if (y.n > DAG_MAX_RANK || nboth + 2 > DAG_MAX_RANK) {
		node_fail(v, ERR_UNSUPPORTED, "a product of two of its operands has more than %d dimensions", DAG_MAX_RANK);
		return a;
	}
	memcpy(y.label, both, sizeof *both * (size_t)nboth);
	memcpy(&y.label[nboth], left, sizeof *left * (size_t)nleft);
	memcpy(&y.label[nboth + nleft], right, sizeof *right * (size_t)nright);
	memcpy(order, both, sizeof *both * (size_t)nboth);
	memcpy(&order[nboth], left, sizeof *left * (size_t)nleft);
	memcpy(&order[nboth + nleft], summed, sizeof *summed * (size_t)nsummed);
	order_labels(v, &a, order, a.n);
	memcpy(&order[nboth], summed, sizeof *summed * (size_t)nsummed);
	memcpy(&order[nboth + nsummed], right, sizeof *right * (size_t)nright);
	order_labels(v, &b, order, b.n);
	if (nsummed == 0) {
		y.value = node_call2(v, OP_mul, spread_labels(v, &a, y.label, y.n), spread_labels(v, &b, y.label, y.n));
		return y;
	}
	Shape sa = node_val(v, a.value)->shape, sb = node_val(v, b.value)->shape, ma = sa, mb = sb, sy = { .rank = y.n };
	ma.rank = mb.rank = nboth + 2;
	ma.dim[nboth] = shape_product(&sa, nboth, nboth + nleft);
	ma.dim[nboth + 1] = mb.dim[nboth] = shape_product(&sa, nboth + nleft, a.n);
	mb.dim[nboth + 1] = shape_product(&sb, nboth + nsummed, b.n);
	for (int k = 0; k < y.n; k++) {
		int64_t da = dim_of(v, &a, y.label[k]), db = dim_of(v, &b, y.label[k]);
		sy.dim[k] = da == 1 ? db : da;
	}
	y.value = node_call2(v, OP_matmul, node_reshape(v, a.value, ma), node_reshape(v, b.value, mb));
	y.value = node_reshape(v, y.value, sy);
	return y;
}

/* Without an arrow the result has the dimensions of `...`, then the labels that occur once, in the alphabet's order. */
static void implied_result(Visit *v, const Labelled *x, int n, int rest, Labelled *out)
{
	int count[LABELS] = { 0 };
	for (int i = 0; i < n; i++)
		for (int k = 0; k < x[i].n; k++)
			count[x[i].label[k]]++;
	for (int k = rest; k-- > 0;)
		out->label[out->n++] = ELLIPSIS + k;
	for (int label = 0; label < ELLIPSIS; label++)
		if (count[label] == 1 && out->n < DAG_MAX_RANK)
			out->label[out->n++] = label;
		else if (count[label] == 1)
			node_fail(v, ERR_UNSUPPORTED, "its result has more than %d dimensions", DAG_MAX_RANK);
}

static void check_labels(Visit *v, const Labelled *x, int n, const Labelled *out)
{
	int64_t size[LABELS];
	for (int k = 0; k < LABELS; k++)
		size[k] = -1;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < x[i].n; k++) {
			int64_t *have = &size[x[i].label[k]], dim = node_val(v, x[i].value)->shape.dim[k];
			if (*have >= 0 && *have != 1 && dim != 1 && *have != dim)
				node_fail(v, ERR_TYPE, "one label of its equation names dimensions of %lld and %lld elements",
					(long long)*have, (long long)dim);
			*have = *have < 0 || *have == 1 ? dim : *have;
		}
	for (int k = 0; k < out->n; k++) {
		if (size[out->label[k]] < 0)
			node_fail(v, ERR_INPUT, "its result has a label that no input has");
		for (int i = 0; i < k; i++)
			if (out->label[i] == out->label[k])
				node_fail(v, ERR_INPUT, "its result has a label twice");
	}
}

/* Reads all terms; returns how many operands there are, 0 after a refusal. */
static int read_equation(Visit *v, const char *s, const int *in, int n, Labelled *x, Labelled *out)
{
	int rest = 0;
	if (node_ok(v) && (n < 1 || n > MOST_OPERANDS))
		node_fail(v, ERR_UNSUPPORTED, "it has %d inputs; 1 to %d are supported", n, MOST_OPERANDS);
	for (int i = 0; i < n && node_ok(v); i++) {
		int rank = node_val(v, in[i])->shape.rank, own = rest_of(s, rank);
		rest = own > rest ? own : rest;
		x[i].value = in[i];
		read_term(v, &s, own, &x[i]);
		if (node_ok(v) && x[i].n != rank)
			node_fail(v, ERR_TYPE, "its equation gives input %d %d labels, but it has %d dimensions", i + 1, x[i].n,
				rank);
		bool comma = *s == ',';
		if (node_ok(v) && comma != (i + 1 < n))
			node_fail(v, ERR_INPUT, "its equation does not have a term for each of its %d inputs", n);
		s += comma;
	}
	if (!node_ok(v))
		return 0;
	if (strncmp(s, "->", 2) == 0) {
		s += 2;
		read_term(v, &s, rest, out);
		if (node_ok(v) && *s != 0)
			node_fail(v, ERR_INPUT, "its equation has more than one result");
	} else {
		implied_result(v, x, n, rest, out);
	}
	if (node_ok(v))
		check_labels(v, x, n, out);
	return node_ok(v) ? n : 0;
}

int node_einsum_of(Visit *v, const char *equation, const int *in, int n)
{
	Labelled x[MOST_OPERANDS], out = { 0 };
	n = read_equation(v, equation, in, n, x, &out);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < x[i].n; k++)
			if (find_label(&x[i], x[i].label[k]) != k) {
				take_diagonal(v, &x[i], find_label(&x[i], x[i].label[k]), k);
				k = -1;
			}
		bool alone[LABELS];
		for (int label = 0; label < LABELS; label++) {
			alone[label] = find_label(&out, label) < 0;
			for (int j = 0; j < n; j++)
				alone[label] &= j == i || find_label(&x[j], label) < 0;
		}
		sum_labels(v, &x[i], alone);
	}
	for (int i = 1; i < n && node_ok(v); i++) {
		bool later[LABELS];
		for (int label = 0; label < LABELS; label++) {
			later[label] = find_label(&out, label) >= 0;
			for (int j = i + 1; j < n; j++)
				later[label] |= find_label(&x[j], label) >= 0;
		}
		x[0] = multiply(v, x[0], x[i], later);
	}
	if (n == 0 || !node_ok(v))
		return DAG_NONE;
	order_labels(v, &x[0], out.label, out.n);
	return x[0].value;
}

void node_einsum(Visit *v)
{
	const char *equation = node_attr_text(v, "equation", "");
	int n = node_nin(v), *in = arena_array(v->im->arena, int, n + 1);
	if (!node_has(v, "equation"))
		node_fail(v, ERR_INPUT, "it has no attribute equation");
	for (int i = 0; i < n; i++) {
		node_need(v, i);
		in[i] = node_value(v, i);
	}
	int y = node_einsum_of(v, equation, in, n);
	if (!node_ok(v))
		return;
	bool copied = node_val(v, y)->kind == VALUE_CALL && y != in[0];
	node_set(v, 0, copied ? y : node_call1(v, OP_identity, y));
}
