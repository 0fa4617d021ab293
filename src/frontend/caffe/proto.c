/*
 * The field tables of caffe/proto.def for the readers of protobuf's bytes and of its text, and the words of enums.
 */
#include "frontend/caffe/proto.h"

#include <stddef.h>

#define WORD(word, value) \
	{ \
#word, value, WIRE_INT, false, 0, NULL \
	}
#define WORDS(name, ...) \
	static const WireField name##_word[] = { __VA_ARGS__ }; \
	static const WireMessage caffe_##name = { #name, 0, name##_word, sizeof name##_word / sizeof *name##_word };

/* Enums, as fields with a name and a number each. */
WORDS(phase, WORD(TRAIN, 0), WORD(TEST, 1))
WORDS(eltwise, WORD(PROD, 0), WORD(SUM, 1), WORD(MAX, 2))
WORDS(pool, WORD(MAX, 0), WORD(AVE, 1), WORD(STOCHASTIC, 2))
WORDS(round, WORD(CEIL, 0), WORD(FLOOR, 1))
WORDS(region, WORD(ACROSS_CHANNELS, 0), WORD(WITHIN_CHANNEL, 1))
WORDS(reduction, WORD(SUM, 1), WORD(ASUM, 2), WORD(SUMSQ, 3), WORD(MEAN, 4))
/* V1LayerParameter.LayerType, and the types of today in the same order. */
WORDS(old_type, WORD(ABSVAL, 35), WORD(ACCURACY, 1), WORD(ARGMAX, 30), WORD(BNLL, 2), WORD(CONCAT, 3),
	WORD(CONTRASTIVE_LOSS, 37), WORD(CONVOLUTION, 4), WORD(DATA, 5), WORD(DECONVOLUTION, 39), WORD(DROPOUT, 6),
	WORD(DUMMY_DATA, 32), WORD(EUCLIDEAN_LOSS, 7), WORD(ELTWISE, 25), WORD(EXP, 38), WORD(FLATTEN, 8),
	WORD(HDF5_DATA, 9), WORD(HDF5_OUTPUT, 10), WORD(HINGE_LOSS, 28), WORD(IM2COL, 11), WORD(IMAGE_DATA, 12),
	WORD(INFOGAIN_LOSS, 13), WORD(INNER_PRODUCT, 14), WORD(LRN, 15), WORD(MEMORY_DATA, 29),
	WORD(MULTINOMIAL_LOGISTIC_LOSS, 16), WORD(MVN, 34), WORD(POOLING, 17), WORD(POWER, 26), WORD(RELU, 18),
	WORD(SIGMOID, 19), WORD(SIGMOID_CROSS_ENTROPY_LOSS, 27), WORD(SILENCE, 36), WORD(SOFTMAX, 20),
	WORD(SOFTMAX_LOSS, 21), WORD(SPLIT, 22), WORD(SLICE, 33), WORD(TANH, 23), WORD(WINDOW_DATA, 24),
	WORD(THRESHOLD, 31))
static const char *const types[] = { "AbsVal", "Accuracy", "ArgMax", "BNLL", "Concat", "ContrastiveLoss", "Convolution",
	"Data", "Deconvolution", "Dropout", "DummyData", "EuclideanLoss", "Eltwise", "Exp", "Flatten", "HDF5Data",
	"HDF5Output", "HingeLoss", "Im2col", "ImageData", "InfogainLoss", "InnerProduct", "LRN", "MemoryData",
	"MultinomialLogisticLoss", "MVN", "Pooling", "Power", "ReLU", "Sigmoid", "SigmoidCrossEntropyLoss", "Silence",
	"Softmax", "SoftmaxWithLoss", "Split", "Slice", "TanH", "WindowData", "Threshold" };
_Static_assert(sizeof types / sizeof *types == sizeof old_type_word / sizeof *old_type_word, "two lists");

#define ROW(S, m, k, kind, many, message) { #m, k, kind, many, offsetof(S, m), message },
#define INT(S, m, k) ROW(S, m, k, WIRE_INT, false, NULL)
#define FLOAT(S, m, k) ROW(S, m, k, WIRE_FLOAT, false, NULL)
#define TEXT(S, m, k) ROW(S, m, k, WIRE_TEXT, false, NULL)
#define BYTES(S, m, k) ROW(S, m, k, WIRE_BYTES, false, NULL)
#define INTS(S, m, k) ROW(S, m, k, WIRE_INT, true, NULL)
#define FLOATS(S, m, k) ROW(S, m, k, WIRE_FLOAT, true, NULL)
#define TEXTS(S, m, k) ROW(S, m, k, WIRE_TEXT, true, NULL)
#define BLOBS(S, m, k) ROW(S, m, k, WIRE_BYTES, true, NULL)
#define ENUM(S, m, k, names) ROW(S, m, k, WIRE_INT, false, &caffe_##names)
#define ONE(S, m, k, T) ROW(S, m, k, WIRE_MSG, false, &T##_message)
#define MANY(S, m, k, T) ROW(S, m, k, WIRE_MSG, true, &T##_message)
#define MESSAGE(S, schema, rows) \
	static const WireField S##_field[] = { rows }; \
	const WireMessage S##_message = { schema, sizeof(S), S##_field, S##_rows };
#include "frontend/caffe/proto.def"
#include "frontend/caffe/proto_end.def"

const char *caffe_type_of(int64_t old)
{
	for (int k = 0; k < caffe_old_type.nfield; k++)
		if (caffe_old_type.field[k].number == old)
			return types[k];
	return NULL;
}
