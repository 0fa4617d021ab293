/*
 * What can be said of workloads and targets without running anything: which workloads are of one family (the same text
 * but for its integers: shapes, strides, paddings), and how far apart two of them are, or two targets.
 */
#include "db/rank.h"

#include <math.h>
#include <string.h>

static bool in_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

/*
 * The next piece of the text: an integer that stands alone (true, its value), or any other word or
 * character. "v0" and "f32" are words, "1e-05" is one too: only whole numbers are shapes.
 */
static bool next_piece(const char **at, const char **from, double *value)
{
	const char *p = *at;
	*from = p;
	if (!in_word(*p)) {
		*at = p + 1;
		return false;
	}
	*value = 0;
	bool number = true;
	for (; in_word(*p); p++) {
		number &= *p >= '0' && *p <= '9';
		*value = *value * 10 + (*p - '0');
	}
	*at = p;
	return number;
}

Hash db_family(const char *workload)
{
	HashState s;
	const char *from;
	double v;
	hash_begin(&s, "dlc/family/v1");
	while (*workload != 0) {
		if (next_piece(&workload, &from, &v))
			hash_add(&s, "#", 1);
		else
			hash_add(&s, from, (size_t)(workload - from));
	}
	return hash_end(&s);
}

double db_distance(const char *a, const char *b)
{
	double sum = 0;
	while (*a != 0 && *b != 0) {
		const char *from;
		double x, y;
		bool n = next_piece(&a, &from, &x), m = next_piece(&b, &from, &y);
		if (n != m)
			return INFINITY;
		if (n)
			sum += fabs(log2((x + 1) / (y + 1)));
	}
	return *a == *b ? sum : INFINITY;
}

/* Features that code uses and only one of the target and the list of a record has. */
static int features_apart(const Target *t, const Json *list)
{
	uint64_t mask = 0;
	int apart = 0;
	for (size_t i = 0; i < list->list.n; i++) {
		const char *name;
		Feature f;
		if (json_as_str(list->list.at[i], &name, NULL) && feature_find(name, t->arch, &f))
			mask |= FEATURE_BIT(f);
		else
			apart++;
	}
	for (uint64_t only = features_of_code(mask ^ t->features); only != 0; only &= only - 1)
		apart++;
	return apart;
}

double db_target_distance(const Target *t, const Json *record)
{
	const char *type, *model;
	int64_t threads;
	const Json *list = json_want(record, "features", JV_ARRAY, NULL);
	if (list == NULL || !json_str(record, "type", &type, NULL) || !json_str(record, "model", &model, NULL) ||
		!json_int(record, "threads", 1, TEAM_MAX, &threads, NULL) || strcmp(type, target_kind_name(t->kind)) != 0)
		return INFINITY;
	double teams = fabs(log2((double)threads / t->threads));
	return features_apart(t, list) + (strcmp(model, t->model) != 0 ? 8 : 0) +
		(threads != t->threads ? DB_SAME_CORE * fmax(teams, 1) : 0);
}
