/* See without.h: a bit of Dag.without for each row. */
#include "graph/without.h"

#include <string.h>

static const char *const names[FEATURES_OF_GRAPH] = {
#define FEATURE(name, doc) #name,
#include "graph/without.def"
#undef FEATURE
};

static int find(const char *name, size_t n)
{
	for (int k = 0; k < FEATURES_OF_GRAPH; k++)
		if (strlen(names[k]) == n && memcmp(names[k], name, n) == 0)
			return k;
	return -1;
}

bool graph_leave_out(Dag *d, const char *list, Err *err)
{
	for (const char *at = list; *at != 0;) {
		size_t n = strcspn(at, ",");
		int k = find(at, n);
		if (k < 0) {
			Text all = { .arena = d->arena };
			for (int i = 0; i < FEATURES_OF_GRAPH; i++)
				text_add(&all, "%s%s", i > 0 ? ", " : "", names[i]);
			return fail(err, ERR_USAGE, "without", "%.*s is none of %s", n < 64 ? (int)n : 64, at, text_str(&all));
		}
		d->without |= 1u << k;
		at += n + (at[n] == ',');
	}
	return true;
}

bool graph_does(const Dag *d, GraphFeature f)
{
	return (d->without >> f & 1) == 0;
}

bool graph_does_named(const Dag *d, const char *name)
{
	int k = find(name, strlen(name));
	return k < 0 || graph_does(d, (GraphFeature)k);
}
