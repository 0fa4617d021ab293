/*
 * The row of ONNX. A ModelProto has no magic bytes: it is recognised by its first fields. A file that begins
 * like an ONNX model is taken for one, so that a damaged model is called damaged.
 */
#include "frontend/onnx/onnx.h"

#include "base/wire.h"
#include "frontend/format.h"

/*
 * Top-level fields of ModelProto: 1 ir_version (varint), 7 graph, 8 opset. Other protobuf formats begin with
 * a small number as well: CoreML, which has a field from 200 on, and SavedModel, whose version is 1 and whose
 * field 2 holds messages. The last field of a cut file counts.
 */
static FormatMatch recognise(Bytes file)
{
	bool text = false, graph = false, opset = false, coreml = false;
	uint64_t version = 0;
	WireItem it;
	for (int k = 0; k < 4096 && wire_next(&file, &it); k++) {
		if (it.number == 1 && it.type == 0)
			version = it.value;
		text |= it.number == 2 && it.type == 2;
		graph |= it.number == 7 && it.type == 2;
		opset |= it.number == 8 && it.type == 2;
		coreml |= it.number >= 200 && it.number < 3000 && it.type == 2;
	}
	bool saved = version == 1 && text && !opset;
	return graph || (version > 0 && version < 1000 && !coreml && !saved) ? FORMAT_LIKELY : FORMAT_NO;
}

const Format format_onnx = {
	.name = "onnx",
	.doc = "ONNX models",
	.recognise = recognise,
	.node = { &onnx_node_format },
	.load = onnx_import,
	.write = onnx_export,
	.read_tensor = onnx_read_tensor,
};
