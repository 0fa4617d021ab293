/*
 * The row of TensorFlow Lite: a .tflite file, which has the identifier TFL3 behind its first offset. Operators that
 * TensorFlow has as well go through TensorFlow's rows.
 */
#include "frontend/tflite/rows.h"

#include "frontend/format.h"
#include "frontend/node/operators.h"

#include <string.h>

static const NodeRow *const lists[] = { tflite_window_rows, tflite_math_rows, tflite_move_rows, tflite_quant_rows,
	tflite_recurrent_rows, tflite_detect_rows, tflite_control_rows, tflite_tensorflow_rows, NULL };

static const NodeFormat format = { .name = "TensorFlow Lite", .weight = "constant", .branch = "IF", .lists = lists };

static FormatMatch recognise(Bytes file)
{
	return file.n >= 8 && memcmp(file.at + 4, "TFL3", 4) == 0 ? FORMAT_SURE : FORMAT_NO;
}

static Dag *load(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err)
{
	TfliteFile m = { 0 };
	if (!tflite_read(a, file, args->signature, &m, err) || !tflite_graphs(a, &m, err))
		return NULL;
	NodeModel model = { .format = &format, .graph = &m.graph[m.network], .version = 3, .source = &m };
	return import_model(a, path, &model, args, err);
}

const Format format_tflite = {
	.name = "tflite",
	.doc = "TensorFlow Lite models (.tflite)",
	.recognise = recognise,
	.node = { &format },
	.signatures = true,
	.load = load,
};
