/*
 * Imports a TensorFlow graph: its messages become nodes (graph.c, frames.c), which go through the rows of the operators
 * (op_*.c) as those of every format do (frontend/node).
 */
#include "frontend/tensorflow/import.h"

#include "frontend/node/operators.h"
#include "frontend/tensorflow/rows.h"

static const NodeRow *const lists[] = {
	tf_nn_rows,
	tf_math_rows,
	tf_activation_rows,
	tf_logic_rows,
	tf_reduce_rows,
	tf_move_rows,
	tf_fill_rows,
	tf_gather_rows,
	tf_rearrange_rows,
	tf_resize_rows,
	tf_state_rows,
	tf_control_rows,
	tf_detect_rows,
	NULL,
};

static bool read_tensor(Import *im, const NodeTensor *t, const char *what, NodeTensor *out)
{
	return tf_tensor_read(im->arena, t->source, what, out, &im->err);
}

const NodeFormat tf_node_format = {
	.name = "TensorFlow",
	.weight = "constant",
	.branch = "If StatelessIf Case StatelessCase",
	.lists = lists,
	.function = tf_find_function,
	.read = read_tensor,
};

const NodeFormat *tf_format(void)
{
	return &tf_node_format;
}

Dag *tf_import(TfGraphs *all, const char *path, const TfInterface *signature, const ModelArgs *args, Err *err)
{
	NodeGraph *g = arena_new_of(all->arena, NodeGraph);
	Err why = { 0 };
	if (!tf_graph_nodes(all, signature, g, &why)) {
		err_at(&why, path);
		if (err != NULL && err->code == ERR_NONE)
			*err = why;
		return NULL;
	}
	NodeModel model = { .format = &tf_node_format, .graph = g, .version = 1, .source = all };
	return import_model(all->arena, path, &model, args, err);
}
