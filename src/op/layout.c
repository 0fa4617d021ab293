/* See layout.h: one walk over the text, capitals first, then blocks from the outside inwards. */
#include "op/layout.h"

#include <string.h>

enum { LARGEST_BLOCK = 1024, LETTERED = 5 /* dimensions that have letters of their own */ };

/* Which dimension a letter is in a tensor of `rank` dimensions; -1: none. */
static int dimension_of(char letter, int rank)
{
	static const char spatial[] = "DHW";
	if (rank > LETTERED)
		return letter >= 'A' && letter - 'A' < rank ? letter - 'A' : -1;
	if (letter == 'N' || letter == 'O')
		return rank > 0 ? 0 : -1;
	if (letter == 'C' || letter == 'I')
		return rank > 1 ? 1 : -1;
	const char *at = letter != 0 ? strchr(spatial, letter) : NULL;
	int from_end = at != NULL ? 3 - (int)(at - spatial) : 0;
	return at != NULL && rank - from_end >= 2 ? rank - from_end : -1;
}

char layout_letter(int rank, int k)
{
	static const char *const by_rank[LETTERED + 1] = { "", "N", "NC", "NCW", "NCHW", "NCDHW" };
	return rank > LETTERED ? (char)('A' + k) : by_rank[rank][k];
}

static void add(Layout *l, int of, int64_t step, int64_t mod, int64_t extent)
{
	l->of[l->n] = of;
	l->step[l->n] = step;
	l->mod[l->n] = mod;
	l->extent[l->n++] = extent;
}

/*
 * Reads the blocks first: the step of a capital is the product of all blocks of its dimension. Within one
 * dimension the block that is written first is the outer one: NC4c2c cuts 8 into 4 times 2.
 */
bool layout_read(const char *text, Shape s, Layout *out)
{
	int64_t block[DAG_MAX_RANK];
	bool seen[DAG_MAX_RANK] = { 0 };
	int ncapital = 0;
	*out = (Layout){ 0 };
	for (int k = 0; k < s.rank; k++)
		block[k] = 1;
	if (text == NULL) {
		for (int k = 0; k < s.rank; k++)
			add(out, k, 1, 0, s.dim[k]);
		return true;
	}
	const char *at = text;
	while (*at >= 'A' && *at <= 'Z')
		at++;
	for (; *at != 0; at++) {
		int64_t n = 0;
		while (*at >= '0' && *at <= '9' && n <= LARGEST_BLOCK)
			n = n * 10 + *at++ - '0';
		if (n < 2 || n > LARGEST_BLOCK || *at < 'a' || *at > 'z' || out->n >= DAG_MAX_RANK)
			return false;
		int k = dimension_of((char)(*at - 'a' + 'A'), s.rank);
		if (k < 0 || block[k] * n > LARGEST_BLOCK)
			return false;
		for (int i = 0; i < out->n; i++) /* letters written before are outer */
			if (out->of[i] == k) {
				out->step[i] *= n;
				out->mod[i] *= n;
			}
		block[k] *= n;
		add(out, k, 1, n, n);
	}
	Layout blocks = *out;
	out->n = 0;
	for (at = text; *at >= 'A' && *at <= 'Z'; at++, ncapital++) {
		int k = dimension_of(*at, s.rank);
		if (k < 0 || seen[k])
			return false;
		seen[k] = true;
		add(out, k, block[k], 0, (s.dim[k] + block[k] - 1) / block[k]);
	}
	for (int i = 0; i < blocks.n; i++)
		add(out, blocks.of[i], blocks.step[i], blocks.mod[i], blocks.extent[i]);
	return ncapital == s.rank;
}

int64_t layout_elements(const Layout *l)
{
	int64_t n = 1;
	for (int k = 0; k < l->n; k++)
		if (l->extent[k] == 0)
			return 0;
	for (int k = 0; k < l->n; k++) {
		if (l->extent[k] < 0 || n > ((int64_t)1 << 62) / l->extent[k])
			return -1;
		n *= l->extent[k];
	}
	return n;
}
