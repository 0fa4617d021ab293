/* Parameters of the current operator; mil.h says what each function is. */
#include "frontend/coreml/mil.h"

#include "frontend/node/compose.h"
#include "op/element.h"

#include <math.h>
#include <string.h>

int mil_at(Visit *v, const char *key, int *count)
{
	const MilNode *n = v->node->source;
	int first = -1, many = 0;
	for (size_t k = 0; k < v->node->nin; k++)
		if (strcmp(n->key[k], key) == 0) {
			first = first < 0 ? (int)k : first;
			many++;
		}
	if (count != NULL)
		*count = many;
	return first;
}

bool mil_has(Visit *v, const char *key)
{
	return mil_at(v, key, NULL) >= 0;
}

int mil_value(Visit *v, const char *key)
{
	int k = mil_at(v, key, NULL);
	return k < 0 ? DAG_NONE : node_value(v, k);
}

int mil_need(Visit *v, const char *key)
{
	int k = mil_at(v, key, NULL);
	if (k < 0)
		node_fail(v, ERR_INPUT, "its parameter %s is missing", key);
	return k < 0 ? DAG_NONE : node_value(v, k);
}

const int *mil_each(Visit *v, const char *key, int *count)
{
	const MilNode *n = v->node->source;
	int *out = arena_array(v->im->arena, int, v->node->nin + 1);
	*count = 0;
	for (size_t k = 0; k < v->node->nin; k++)
		if (strcmp(n->key[k], key) == 0)
			out[(*count)++] = node_value(v, (int)k);
	if (*count == 0)
		node_fail(v, ERR_INPUT, "its parameter %s is missing", key);
	return node_ok(v) ? out : NULL;
}

const Item *mil_known(Visit *v, const char *key)
{
	int k = mil_at(v, key, NULL);
	const Item *it = k < 0 ? NULL : node_known(v, k);
	return node_ok(v) ? it : NULL;
}

/* The one number of a parameter. */
static const Item *one(Visit *v, const char *key)
{
	const Item *it = mil_known(v, key);
	if (it != NULL && shape_elements(it->shape) != 1) {
		node_fail(v, ERR_TYPE, "its parameter %s is not one number", key);
		return NULL;
	}
	return it;
}

int64_t mil_int(Visit *v, const char *key, int64_t otherwise)
{
	const Item *it = one(v, key);
	if (it == NULL)
		return otherwise;
	if (!dtype_is_float(it->type))
		return element_get_int(it->type, it->data, 0);
	double x = element_get(it->type, it->data, 0);
	if (x != floor(x) || fabs(x) > 0x1p62) {
		node_fail(v, ERR_TYPE, "its parameter %s is %g, not an integer", key, x);
		return otherwise;
	}
	return (int64_t)x;
}

bool mil_flag(Visit *v, const char *key, bool otherwise)
{
	return mil_int(v, key, otherwise) != 0;
}

double mil_float(Visit *v, const char *key, double otherwise)
{
	const Item *it = one(v, key);
	return it == NULL ? otherwise : import_number(it->type, it->data);
}

const int64_t *mil_ints(Visit *v, const char *key, int *count)
{
	enum { MOST = 1 << 20 };
	const Item *it = mil_known(v, key);
	*count = -1;
	if (it == NULL)
		return NULL;
	int64_t n = shape_elements(it->shape);
	if (dtype_is_float(it->type) || n > MOST) {
		node_fail(v, ERR_TYPE, "its parameter %s is not a list of integers", key);
		return NULL;
	}
	int64_t *out = arena_array(v->im->arena, int64_t, n + 1);
	for (int64_t i = 0; i < n; i++)
		out[i] = element_get_int(it->type, it->data, i);
	*count = (int)n;
	return out;
}

void mil_list(Visit *v, const char *key, int n, int64_t least, int64_t otherwise, int64_t *out)
{
	int count;
	const int64_t *at = mil_ints(v, key, &count);
	if (node_ok(v) && count >= 0 && count != n)
		node_fail(v, ERR_TYPE, "its parameter %s has %d numbers, but %d are needed", key, count, n);
	for (int k = 0; k < n; k++)
		out[k] = count < 0 || !node_ok(v) ? otherwise : coreml_size(v, key, at[k], least);
}

void mil_skip(Visit *v, const char *key)
{
	int n, k = mil_at(v, key, &n);
	if (k >= 0)
		node_item(v, k);
	node_attr(v, key);
}

int mil_word(Visit *v, const char *key, const char *const *list, int otherwise)
{
	const char *word = node_attr_text(v, key, NULL);
	if (word == NULL)
		return otherwise;
	for (int k = 0; list[k] != NULL; k++)
		if (strcmp(list[k], word) == 0)
			return k;
	node_fail(v, ERR_UNSUPPORTED, "its parameter %s is '%.60s', which is not supported", key, word);
	return otherwise;
}

int mil_channels(Visit *v, const char *key, int rank)
{
	int x = mil_value(v, key);
	Shape s = node_val(v, x)->shape, to = { .rank = rank - 1 };
	if (x == DAG_NONE || !node_ok(v) || s.rank != 1)
		return x;
	for (int k = 0; k < to.rank; k++)
		to.dim[k] = k == 0 ? s.dim[0] : 1;
	return node_reshape(v, x, to);
}
