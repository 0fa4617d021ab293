/*
 * The field tables of caffe/proto.def for the readers of protobuf's bytes and of its text, and the words of enums.
 */
#include "frontend/caffe/proto.h"

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
WORDS(box_code, WORD(CORNER, 1), WORD(CENTER_SIZE, 2), WORD(CORNER_SIZE, 3))
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

#include "base/wire_field.def"
#include "frontend/caffe/proto.def"
#include "base/wire_end.def"

const char *caffe_type_of(int64_t old)
{
	for (int k = 0; k < caffe_old_type.nfield; k++)
		if (caffe_old_type.field[k].number == old)
			return types[k];
	return NULL;
}
