/*
 * Products read a transpose of their operand's last two dimensions in place: matmul(a, transpose(b)) is matmul(a, b)
 * with tb=1. Where the transpose does more (the heads of keys: [0,2,3,1]), the rest stays ([0,2,1,3]) and leaves rows
 * of the operand as they lie, like those of queries and values.
 */
#include "graph/edit.h"

#include <string.h>

/*
 * The operand of a matmul without the swap of its last two dimensions; v itself if its transpose leaves the innermost
 * dimension in its place or brings another one there.
 */
static int without_swap(Edit *e, int v, bool *swapped)
{
	const OpCall *move = edit_writer(e, v);
	int64_t perm[DAG_MAX_RANK];
	int n;
	bool rest = false;
	if (move == NULL || move->op != OP_transpose)
		return v;
	const int64_t *of = op_ints(move, "perm", &n);
	if (n < 2 || of[n - 2] != n - 1)
		return v;
	memcpy(perm, of, sizeof *perm * (size_t)n);
	perm[n - 1] = of[n - 2];
	perm[n - 2] = of[n - 1];
	for (int k = 0; k < n; k++)
		rest |= perm[k] != k;
	*swapped = !*swapped;
	int x = move->in[0];
	if (!rest)
		return x;
	Attr attr = attr_ints("perm", perm, n);
	return edit_call(e, OP_transpose, arena_printf(e->to->arena, "%s.rows", edit_at(e, v)->name), &x, 1, &attr, 1);
}

static bool read_in_place(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	if (c->op != OP_matmul || e->from->value.at[c->in[0]].shape.rank < 2 || e->from->value.at[c->in[1]].shape.rank < 2)
		return false;
	bool ta = op_int(c, "ta") != 0, tb = op_int(c, "tb") != 0, a = ta, b = tb;
	int in[2] = { without_swap(e, edit_value(e, c->in[0]), &ta), 0 };
	in[1] = without_swap(e, edit_value(e, c->in[1]), &tb);
	if ((ta == a && tb == b) || in[0] == DAG_NONE || in[1] == DAG_NONE)
		return false;
	Attr attr[3] = { attr_int("ta", ta), attr_int("tb", tb), attr_int("tf32", op_int(c, "tf32")) };
	return edit_call_as(e, c, OP_matmul, in, 2, attr, 3);
}

bool pass_swapped(Dag *d, EvalFn eval, Err *err)
{
	return edit_dag(d, eval, read_in_place, NULL, err);
}
