/*
 * What can be said of a workload without running anything: which workloads are of one family (the same text but for
 * its integers: shapes, strides, paddings), and how far apart two of them are.
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
