/* A model's Tasks on a target: passes, layouts, partition. */
#include "compile/compile.h"

/*
 * Channels of a block: a vector of f32, at least 8 (shorter vectors take two or more of them) and at
 * most 16, which is a cache line.
 */
static int block_of(const Target *t)
{
	return t->vector_bits / 32 >= 16 ? 16 : 8;
}

Partition *compile_tasks(Arena *a, Dag *dag, const Target *t, Err *err)
{
	if (!graph_optimize(dag, compile_eval, err))
		return NULL;
	graph_layouts(dag, block_of(t));
	return graph_partition(a, dag, err);
}
