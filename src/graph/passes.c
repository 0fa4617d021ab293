/* The list of passes, in the order they run, each once. */
#include "graph/edit.h"
#include "graph/without.h"

const GraphPass graph_passes[] = {
	{ "transposed", "nothing",
		"transposed convolutions with constant weights are convolutions; results change by rounding", pass_transposed },
	{ "codes", "nothing; before fold, which would widen weights",
		"products of quantised tensors are products of bytes; codes next to a tie may change by one", pass_codes },
	{ "fold", "nothing", "nothing; calls of constants become constants", pass_fold },
	{ "identity", "nothing", "nothing; calls that give their input go", pass_identity },
	{ "idioms", "fold: exponents and indices are constants",
		"powers of 2 and 3 are products; results change by rounding", pass_idioms },
	{ "group_norm", "fold: scales and shifts are constants; idioms: squares are products",
		"group norm reads the image that it is cut from; results change by rounding", pass_group_norm },
	{ "sink", "fold: the constants that it turns have data", "nothing; elementwise calls stand before moves",
		pass_sink },
	{ "attention", "fold, identity: masks are constants, nothing stands between the calls",
		"products with a softmax between them are one call; transposes before it may follow each other",
		pass_attention },
	{ "moves", "identity, which removes what two moves in a row may leave", "nothing", pass_moves },
	{ "padded", "moves: no transpose stands between the calls",
		"nothing; convolutions and poolings have the padding before them", pass_padded },
	{ "swapped", "moves: a chain of transposes is one", "nothing; products read transposes of matrices in place",
		pass_swapped },
	{ "dense", "fold: weights are constants; moves: their transposes too",
		"products with constant matrices are dense, no matmul", pass_dense },
	{ "reciprocal", "fold: divisors are constants; attention, whose scale may be one",
		"what divides many elements is inverted once and multiplies them; results change by rounding",
		pass_reciprocal },
	{ "affine", "fold, dense: weights, scales and shifts are constants, products dense",
		"batch_norm is gone where its parameters are constants; results change by rounding", pass_affine },
	{ "pooled", "affine, which leaves poolings right behind convolutions",
		"average pooling of a pointwise convolution comes first; results change by rounding", pass_pooled },
	{ "grouped", "affine, pooled: what can be in the weights is there", "nothing; sums are ordered as in products",
		pass_grouped },
	{ "lengths", "idioms, dense, grouped: squares are products, and what becomes a dense layer is one",
		"nothing; dense layers whose rows are divided by their lengths are marked", pass_lengths },
	{ "common", "the passes above, which write equal calls equally", "nothing", pass_common },
	{ "dead", "nothing; last, since all others leave what they replaced", "numbers of values", pass_dead },
	{ NULL, NULL, NULL, NULL },
};

bool graph_optimize(Dag *d, EvalFn eval, Err *err)
{
	if (!dag_check(d, err))
		return false;
	for (const GraphPass *p = graph_passes; p->name != NULL; p++)
		if (graph_does_named(d, p->name) && !p->run(d, eval, err))
			return false;
	return dag_check(d, err);
}
