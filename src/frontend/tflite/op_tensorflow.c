/*
 * Operators that are TensorFlow's: the same inputs, and options that operators.def calls as TensorFlow's attributes are
 * called. Their rows are TensorFlow's.
 */
#include "frontend/tensorflow/import.h"
#include "frontend/tflite/rows.h"

#include <string.h>

/* X(TensorFlow Lite's name, TensorFlow's) */
#define LIST(X) \
	X("ABS", "Abs") \
	X("ADD_N", "AddN") \
	X("ARG_MAX", "ArgMax") \
	X("ARG_MIN", "ArgMin") \
	X("ATAN2", "Atan2") \
	X("BATCH_MATMUL", "BatchMatMulV2") \
	X("BATCH_TO_SPACE_ND", "BatchToSpaceND") \
	X("BITCAST", "Bitcast") \
	X("BITWISE_XOR", "BitwiseXor") \
	X("BROADCAST_ARGS", "BroadcastArgs") \
	X("BROADCAST_TO", "BroadcastTo") \
	X("BUCKETIZE", "Bucketize") \
	X("CAST", "Cast") \
	X("CEIL", "Ceil") \
	X("COS", "Cos") \
	X("CUMSUM", "Cumsum") \
	X("DEPTH_TO_SPACE", "DepthToSpace") \
	X("ELU", "Elu") \
	X("EQUAL", "Equal") \
	X("EXP", "Exp") \
	X("EXPAND_DIMS", "ExpandDims") \
	X("FILL", "Fill") \
	X("FLOOR", "Floor") \
	X("FLOOR_DIV", "FloorDiv") \
	X("FLOOR_MOD", "FloorMod") \
	X("GATHER_ND", "GatherNd") \
	X("GREATER", "Greater") \
	X("GREATER_EQUAL", "GreaterEqual") \
	X("IF", "StatelessIf") \
	X("LESS", "Less") \
	X("LESS_EQUAL", "LessEqual") \
	X("LOG", "Log") \
	X("LOGICAL_AND", "LogicalAnd") \
	X("LOGICAL_NOT", "LogicalNot") \
	X("LOGICAL_OR", "LogicalOr") \
	X("LOGISTIC", "Sigmoid") \
	X("LOG_SOFTMAX", "LogSoftmax") \
	X("MATRIX_DIAG", "MatrixDiag") \
	X("MATRIX_SET_DIAG", "MatrixSetDiag") \
	X("MAXIMUM", "Maximum") \
	X("MEAN", "Mean") \
	X("MINIMUM", "Minimum") \
	X("MIRROR_PAD", "MirrorPad") \
	X("NEG", "Neg") \
	X("NOT_EQUAL", "NotEqual") \
	X("ONE_HOT", "OneHot") \
	X("PACK", "Pack") \
	X("PAD", "Pad") \
	X("PADV2", "PadV2") \
	X("POW", "Pow") \
	X("RANGE", "Range") \
	X("RANK", "Rank") \
	X("REDUCE_ALL", "All") \
	X("REDUCE_ANY", "Any") \
	X("REDUCE_MAX", "Max") \
	X("REDUCE_MIN", "Min") \
	X("REDUCE_PROD", "Prod") \
	X("RELU", "Relu") \
	X("RELU6", "Relu6") \
	X("RESIZE_BILINEAR", "ResizeBilinear") \
	X("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor") \
	X("REVERSE_SEQUENCE", "ReverseSequence") \
	X("REVERSE_V2", "ReverseV2") \
	X("RIGHT_SHIFT", "RightShift") \
	X("ROUND", "Round") \
	X("RSQRT", "Rsqrt") \
	X("SCATTER_ND", "ScatterNd") \
	X("SEGMENT_SUM", "SegmentSum") \
	X("SELECT", "Select") \
	X("SELECT_V2", "SelectV2") \
	X("SHAPE", "Shape") \
	X("SIGN", "Sign") \
	X("SIN", "Sin") \
	X("SLICE", "Slice") \
	X("SPACE_TO_BATCH_ND", "SpaceToBatchND") \
	X("SPACE_TO_DEPTH", "SpaceToDepth") \
	X("SPARSE_TO_DENSE", "SparseToDense") \
	X("SPLIT", "Split") \
	X("SPLIT_V", "SplitV") \
	X("SQRT", "Sqrt") \
	X("SQUARE", "Square") \
	X("SQUARED_DIFFERENCE", "SquaredDifference") \
	X("SQUEEZE", "Squeeze") \
	X("STRIDED_SLICE", "StridedSlice") \
	X("SUM", "Sum") \
	X("TANH", "Tanh") \
	X("TILE", "Tile") \
	X("TOPK_V2", "TopKV2") \
	X("TRANSPOSE", "Transpose") \
	X("UNPACK", "Unpack") \
	X("UNSORTED_SEGMENT_MAX", "UnsortedSegmentMax") \
	X("UNSORTED_SEGMENT_MIN", "UnsortedSegmentMin") \
	X("UNSORTED_SEGMENT_PROD", "UnsortedSegmentProd") \
	X("UNSORTED_SEGMENT_SUM", "UnsortedSegmentSum") \
	X("WHILE", "StatelessWhile") \
	X("ZEROS_LIKE", "ZerosLike")

#define X(lite, tf) { lite, tf },
static const struct {
	const char *name, *tf;
} rows[] = { LIST(X) };
#undef X

static void import_as_tensorflow(Visit *v)
{
	NodeDef node = { .domain = "" };
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(rows[k].name, v->node->op) == 0)
			node.op = rows[k].tf;
	const NodeRow *row = node_find_row(tf_format(), &node, 1);
	if (node_attr_flag(v, "offset", false)) /* of STRIDED_SLICE */
		node_fail(v, ERR_UNSUPPORTED, "its ends are offsets from its begins, which is not supported");
	row->import(v);
}

#define X(lite, tf) { lite, 0, "", import_as_tensorflow },
const NodeRow tflite_tensorflow_rows[] = { LIST(X){ NULL, 0, NULL, NULL } };
