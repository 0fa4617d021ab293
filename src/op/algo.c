/* See algo.h: the list of algorithms, and how a step's words choose one for a call. */
#include "op/algo.h"

#include <stdio.h>
#include <string.h>

extern const Algo algo_winograd, algo_strassen;
const Algo *const algos[] = { &algo_winograd, &algo_strassen, NULL };

const Algo *algo_find(const char *name)
{
	for (const Algo *const *a = algos; *a != NULL; a++)
		if (strcmp((*a)->name, name) == 0)
			return *a;
	return NULL;
}

static bool read_param(const Algo *a, const AlgoArg *arg, int64_t *param, Err *err)
{
	int at = 0;
	while (at < ALGO_PARAMS && a->param[at].key != NULL && strcmp(a->param[at].key, arg->key) != 0)
		at++;
	const AlgoParam *p = &a->param[at];
	if (at == ALGO_PARAMS || p->key == NULL)
		return fail(err, ERR_ILLEGAL, a->name, "it has no parameter \"%s\"", arg->key);
	if (param[at] != 0)
		return fail(err, ERR_ILLEGAL, a->name, "%s is given twice", arg->key);
	if (arg->value < p->least || arg->value > p->most)
		return fail(err, ERR_ILLEGAL, a->name, "%s=%lld; it is from %lld to %lld", arg->key,
			(long long)arg->value, (long long)p->least, (long long)p->most);
	param[at] = arg->value;
	return true;
}

bool algo_choose(const Dag *d, const char *name, const AlgoArg *arg, int n, AlgoChoice *out, Err *err)
{
	const char *why = "no call is of its kind";
	*out = (AlgoChoice){ .algo = algo_find(name), .call = -1 };
	if (out->algo == NULL) {
		char have[200] = "";
		for (int k = 0; algos[k] != NULL; k++)
			snprintf(have + strlen(have), sizeof have - strlen(have), "%s%s", k > 0 ? ", " : "", algos[k]->name);
		return fail(err, ERR_MISSING, name, "there is no algorithm of that name; there is: %s", have);
	}
	for (int k = 0; k < n; k++)
		if (!read_param(out->algo, &arg[k], out->param, err))
			return false;
	for (int k = 0; k < ALGO_PARAMS && out->algo->param[k].key != NULL; k++) {
		if (out->param[k] == 0 && out->algo->param[k].absent == 0)
			return fail(err, ERR_ILLEGAL, name, "%s= must be given", out->algo->param[k].key);
		if (out->param[k] == 0)
			out->param[k] = out->algo->param[k].absent;
	}
	for (size_t k = 0; k < d->call.n; k++) {
		const char *no = out->algo->refuses(d, &d->call.at[k], out->param);
		if (no == NULL && out->call >= 0)
			return fail(err, ERR_ILLEGAL, name, "several calls could be computed so");
		if (no == NULL)
			out->call = (int)k;
		else if (op_row(d->call.at[k].op)->class == OP_ANCHOR)
			why = no;
	}
	return out->call >= 0 || fail(err, ERR_ILLEGAL, name, "%s", why);
}
