/*
 * Imports an ONNX model: the messages become nodes (graph.c), which go through the rows of the operators (op_*.c) as
 * those of every format do (frontend/node).
 */
#include "frontend/onnx/graph.h"
#include "frontend/onnx/onnx.h"
#include "frontend/onnx/rows.h"

#include <stdio.h>
#include <string.h>

enum { ONNX_NEWEST = 27 }; /* the newest opset whose operators were looked at */

static const NodeRow *const lists[] = {
	onnx_nn_rows,
	onnx_math_rows,
	onnx_activation_rows,
	onnx_logic_rows,
	onnx_move_rows,
	onnx_gather_rows,
	onnx_resize_rows,
	onnx_fill_rows,
	onnx_sample_rows,
	onnx_select_rows,
	onnx_rearrange_rows,
	onnx_reduce_rows,
	onnx_norm_rows,
	onnx_loss_rows, onnx_training_rows,
	onnx_deform_rows,
	onnx_recurrent_rows,
	onnx_state_rows,
	onnx_attention_rows,
	onnx_quant_rows,
	onnx_signal_rows,
	onnx_ml_rows,
	onnx_control_rows,
	onnx_sequence_rows,
	NULL,
};

int onnx_second(Visit *v)
{
	node_need(v, 0);
	node_need(v, 1);
	return v->frame->version < 7 ? node_second(v) : node_value(v, 1);
}

/* Codes of 8-bit floats are read as bytes. */
static bool read_tensor(Import *im, const NodeTensor *t, const char *what, NodeTensor *out)
{
	const OnnxSource *s = im->model->source;
	OnnxTensor from = *(const OnnxTensor *)t->source;
	BindArg b;
	if (t->code != 0)
		from.data_type = onnx_type_to(DT(UINT, 8));
	if (!onnx_tensor_read(im->arena, &from, s->files, what, &b, &im->err))
		return false;
	*out = (NodeTensor){ .name = b.name, .type = b.type, .shape = b.shape, .data = b.data, .code = t->code };
	return true;
}

const NodeFormat onnx_node_format = {
	.name = "ONNX",
	.version = "opset",
	.weight = "initializer",
	.lists = lists,
	.branch = "If",
	.function = onnx_find_function,
	.read = read_tensor,
};

static bool check_model(const OnnxModel *m, const ModelArgs *args, int64_t *opset, Err *err)
{
	if (m->graph == NULL)
		return fail(err, ERR_INPUT, NULL, "it is not an ONNX model, or a damaged one: it has no graph");
	*opset = onnx_opset_of(m->opset_import.at, m->opset_import.n, m->opset_import.n == 0 ? 1 : ONNX_NEWEST);
	if (*opset < 1 || *opset > 1000)
		return fail(err, ERR_INPUT, NULL, "it uses opset %lld, which does not exist", (long long)*opset);
	char text[160];
	snprintf(text, sizeof text, "the model uses opset %lld, newer than %d, the newest known here", (long long)*opset,
		ONNX_NEWEST);
	if (*opset > ONNX_NEWEST && args->note != NULL)
		args->note(text, args->note_arg);
	for (size_t k = 0; k < m->functions.n; k++) {
		const OnnxFunction *fn = &m->functions.at[k];
		int64_t version = onnx_opset_of(fn->opset_import.at, fn->opset_import.n, *opset);
		if (version < 1 || version > 1000)
			return fail(err, ERR_INPUT, NULL, "function '%s' uses opset %lld, which does not exist",
				onnx_text(fn->name), (long long)version);
	}
	return true;
}

Dag *onnx_import(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	OnnxModel *m = arena_new_of(a, OnnxModel);
	OnnxFiles *files = arena_new_of(a, OnnxFiles);
	OnnxSource source = { .model = m, .files = files };
	const char *slash = strrchr(path, '/');
	int64_t opset = 1;
	files->folder = slash == NULL ? "." : slash == path ? "/" : arena_printf(a, "%.*s", (int)(slash - path), path);
	if (!wire_read(a, &OnnxModel_message, file, m, err) || !check_model(m, args, &opset, err))
		return NULL;
	onnx_functions(a, &source, (int)opset);
	NodeModel model = {
		.format = &onnx_node_format, .graph = onnx_graph(a, m->graph), .version = (int)opset, .source = &source
	};
	return import_model(a, path, &model, args, err);
}
