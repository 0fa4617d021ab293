/*
 * Dimensions of an exported program that are expressions: "s0", "2*s0 + 1", or as SymPy's srepr writes them,
 * "Add(Symbol('s77', positive=True, integer=True), Integer(1))". torch.export derives dimensions as linear functions of
 * one symbol (torch.export.Dim).
 */
#include "frontend/pytorch/pytorch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* times * symbol + plus; without a symbol times is 0. */
typedef struct Linear {
	const char *symbol;
	int64_t times, plus;
} Linear;

enum { DEPTH = 16 };

typedef struct Reader {
	Arena *arena;
	const char *at;
	int depth;
} Reader;

static bool sum(Reader *r, Linear *out);

static bool take(Reader *r, const char *word)
{
	while (*r->at == ' ')
		r->at++;
	size_t n = strlen(word);
	if (strncmp(r->at, word, n) != 0)
		return false;
	r->at += n;
	return true;
}

static bool add(Linear *a, Linear b)
{
	if (a->symbol != NULL && b.symbol != NULL && strcmp(a->symbol, b.symbol) != 0)
		return false;
	a->symbol = a->symbol != NULL ? a->symbol : b.symbol;
	return !__builtin_add_overflow(a->times, b.times, &a->times) && !__builtin_add_overflow(a->plus, b.plus, &a->plus);
}

static bool multiply(Linear *a, Linear b)
{
	Linear x = b.symbol == NULL ? *a : b;
	int64_t factor = b.symbol == NULL ? b.plus : a->plus;
	if (a->symbol != NULL && b.symbol != NULL)
		return false;
	*a = x;
	return !__builtin_mul_overflow(x.times, factor, &a->times) && !__builtin_mul_overflow(x.plus, factor, &a->plus);
}

/* The arguments of Add(...) or Mul(...), behind the bracket. */
static bool arguments(Reader *r, bool (*join)(Linear *, Linear), Linear *out)
{
	if (!sum(r, out))
		return false;
	while (take(r, ",")) {
		Linear x;
		if (!sum(r, &x) || !join(out, x))
			return false;
	}
	return take(r, ")");
}

static bool integer(Reader *r, Linear *out)
{
	char *end;
	*out = (Linear){ .plus = strtoll(r->at, &end, 10) };
	bool some = end != r->at;
	r->at = end;
	return some;
}

static bool primary(Reader *r, Linear *out)
{
	if (take(r, "Add("))
		return arguments(r, add, out);
	if (take(r, "Mul("))
		return arguments(r, multiply, out);
	if (take(r, "Integer("))
		return integer(r, out) && take(r, ")");
	if (take(r, "("))
		return sum(r, out) && take(r, ")");
	bool quoted = take(r, "Symbol('");
	take(r, "");
	size_t n = 0;
	while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')
		n++;
	if (n == 0 || isdigit((unsigned char)r->at[0]) || (!quoted && r->at[n] == '('))
		return !quoted && integer(r, out);
	*out = (Linear){ .symbol = arena_printf(r->arena, "%.*s", (int)(n < 60 ? n : 60), r->at), .times = 1 };
	r->at += n;
	if (!quoted)
		return true;
	const char *end = strchr(r->at, ')'); /* behind assumptions: positive=True */
	bool closed = *r->at == '\'' && end != NULL;
	r->at = closed ? end + 1 : r->at;
	return closed;
}

static bool product(Reader *r, Linear *out)
{
	if (!primary(r, out))
		return false;
	while (take(r, "*")) {
		Linear x;
		if (!primary(r, &x) || !multiply(out, x))
			return false;
	}
	return true;
}

static bool sum(Reader *r, Linear *out)
{
	bool ok = r->depth < DEPTH;
	r->depth++;
	ok = ok && product(r, out);
	for (bool minus; ok && ((minus = take(r, "-")) || take(r, "+"));) {
		Linear x;
		ok = product(r, &x) && (!minus || multiply(&x, (Linear){ .plus = -1 })) && add(out, x);
	}
	r->depth--;
	return ok;
}

NodeDim export_dim(Arena *a, const char *expression)
{
	Reader r = { .arena = a, .at = expression };
	Linear x = { .symbol = NULL };
	take(&r, "");
	bool ok = sum(&r, &x) && take(&r, "") && *r.at == 0 && x.symbol != NULL && x.times > 0;
	if (!ok) /* a function that dlc does not have: a dimension of its own */
		return (NodeDim){ .open = true, .symbol = arena_printf(a, "%.60s", expression) };
	return (NodeDim){ .open = true, .symbol = x.symbol, .times = x.times, .plus = x.plus };
}
