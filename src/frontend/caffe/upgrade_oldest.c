/*
 * Brings layers of before 2014 to the form of today, by the rules of Caffe's upgrade_proto.cpp. Such a layer holds its
 * parameters in one message for all kinds, under old names, and its type is a word ("conv"). Padding is a layer of its
 * own there: it goes into the convolution or pooling that reads it. A parameter that a kind does not take is left out,
 * as Caffe does.
 */
#include "frontend/caffe/caffe.h"

#include <string.h>

/* Words of types, the types of today, and the message that takes the parameters. */
static const struct {
	const char *word, *type, *param;
} kinds[] = {
	{ "accuracy", "Accuracy", NULL },
	{ "bnll", "BNLL", NULL },
	{ "concat", "Concat", "concat_param" },
	{ "conv", "Convolution", "convolution_param" },
	{ "data", "Data", NULL },
	{ "dropout", "Dropout", NULL },
	{ "euclidean_loss", "EuclideanLoss", NULL },
	{ "flatten", "Flatten", NULL },
	{ "hdf5_data", "HDF5Data", NULL },
	{ "hdf5_output", "HDF5Output", NULL },
	{ "im2col", "Im2col", "convolution_param" },
	{ "images", "ImageData", NULL },
	{ "infogain_loss", "InfogainLoss", NULL },
	{ "innerproduct", "InnerProduct", "inner_product_param" },
	{ "lrn", "LRN", "lrn_param" },
	{ "multinomial_logistic_loss", "MultinomialLogisticLoss", NULL },
	{ "padding", NULL, NULL },
	{ "pool", "Pooling", "pooling_param" },
	{ "relu", "ReLU", NULL },
	{ "sigmoid", "Sigmoid", NULL },
	{ "softmax", "Softmax", NULL },
	{ "softmax_loss", "SoftmaxWithLoss", NULL },
	{ "split", "Split", NULL },
	{ "tanh", "TanH", NULL },
	{ "window_data", "WindowData", NULL },
};

/* What parameters are called today. */
static const char *const renamed[][2] = { { "biasterm", "bias_term" }, { "kernelsize", "kernel_size" },
	{ "num_output", "num_output" }, { "pad", "pad" }, { "group", "group" }, { "stride", "stride" }, { "pool", "pool" },
	{ "local_size", "local_size" }, { "alpha", "alpha" }, { "beta", "beta" }, { "k", "k" },
	{ "concat_dim", "concat_dim" } };

static int kind_of(const char *word)
{
	for (int k = 0; k < (int)(sizeof kinds / sizeof *kinds); k++)
		if (strcmp(kinds[k].word, word) == 0)
			return k;
	return -1;
}

bool caffe_is_oldest_type(Bytes word)
{
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (strlen(kinds[k].word) == word.n && memcmp(kinds[k].word, word.at, word.n) == 0)
			return true;
	return false;
}

static int row_of(const WireMessage *m, const char *name)
{
	for (int k = 0; name != NULL && k < m->nfield; k++)
		if (strcmp(m->field[k].name, name) == 0)
			return k;
	return -1;
}

/* Sets a member of one number, or adds it to a list. */
static void copy_member(Arena *a, const WireField *from, const void *old, const WireField *to, void *message)
{
	char *at = (char *)message + to->offset;
	if (to->many)
		vec_push(a, (WireInts *)(void *)at, *(const int64_t *)(const void *)((const char *)old + from->offset));
	else
		memcpy(at, (const char *)old + from->offset, to->kind == WIRE_FLOAT ? sizeof(float) : sizeof(int64_t));
}

static void copy_parameters(Arena *a, const CaffeOldestLayer *old, const char *param, CaffeLayer *to)
{
	int at = row_of(&CaffeLayer_message, param);
	if (at < 0)
		return;
	const WireField *holder = &CaffeLayer_message.field[at];
	void *message = arena_alloc(a, holder->message->size);
	uint64_t has = 0;
	memset(message, 0, holder->message->size);
	for (size_t k = 0; k < sizeof renamed / sizeof *renamed; k++) {
		int from = row_of(&CaffeOldestLayer_message, renamed[k][0]), i = row_of(holder->message, renamed[k][1]);
		if (i < 0 || !(old->has >> from & 1))
			continue;
		copy_member(a, &CaffeOldestLayer_message.field[from], old, &holder->message->field[i], message);
		has |= (uint64_t)1 << i;
	}
	memcpy(message, &has, sizeof has);
	memcpy((char *)to + holder->offset, &message, sizeof message);
	to->has |= (uint64_t)1 << at;
}

/* The padding layer, among those before `at`, that has written a blob last; NULL: another layer has, or none. */
static const CaffeOldLayer *padding_of(const CaffeNet *net, size_t at, const char *blob)
{
	while (at-- > 0) {
		const CaffeOldLayer *l = &net->layers.at[at];
		for (size_t k = 0; k < l->top.n; k++)
			if (strcmp(l->top.at[k], blob) == 0)
				return l->layer != NULL && strcmp(caffe_text(l->layer->type), "padding") == 0 ? l : NULL;
	}
	return NULL;
}

/* Layers that read a padding read what it pads, and pad themselves. */
static bool fold_padding(Arena *a, const CaffeNet *net, size_t at, CaffeLayer *to, Err *err)
{
	for (size_t k = 0; k < to->bottom.n; k++) {
		const CaffeOldLayer *l = padding_of(net, at, to->bottom.at[k]);
		if (l == NULL)
			continue;
		if (l->bottom.n != 1 || l->top.n != 1 || to->bottom.n != 1)
			return fail(err, ERR_INPUT, NULL,
				"padding '%.100s' and the layer '%.100s' that reads it must have one input", caffe_text(l->layer->name),
				to->name);
		const char **bottom = arena_array(a, const char *, 1);
		bottom[0] = l->bottom.at[0];
		to->bottom.at = bottom;
		if (to->convolution_param != NULL && strcmp(to->type, "Convolution") == 0) {
			to->convolution_param->pad = (WireInts){ 0 };
			vec_push(a, &to->convolution_param->pad, l->layer->pad);
			to->convolution_param->has |= (uint64_t)1 << CaffeConvolution_pad;
		} else if (to->pooling_param != NULL) {
			to->pooling_param->pad = l->layer->pad;
			to->pooling_param->has |= (uint64_t)1 << CaffePooling_pad;
		} else {
			return fail(err, ERR_INPUT, NULL, "layer '%.100s' reads the padding '%.100s', but is no conv or pool",
				to->name, caffe_text(l->layer->name));
		}
	}
	return true;
}

bool caffe_upgrade_oldest(Arena *a, const CaffeNet *net, size_t at, CaffeLayer *to, bool *drop, Err *err)
{
	const CaffeOldLayer *l = &net->layers.at[at];
	const CaffeOldestLayer *old = l->layer;
	int kind = kind_of(caffe_text(old->type));
	if (kind < 0)
		return fail(err, ERR_INPUT, NULL, "layer '%.100s' has the type '%.60s', which Caffe did not have before 2014",
			caffe_text(old->name), caffe_text(old->type));
	*drop = kinds[kind].type == NULL;
	to->name = caffe_text(old->name);
	to->type = kinds[kind].type;
	memcpy(&to->bottom, &l->bottom, sizeof to->bottom);
	memcpy(&to->top, &l->top, sizeof to->top);
	memcpy(&to->blobs, l->blobs.n > 0 ? &l->blobs : &old->blobs, sizeof to->blobs);
	copy_parameters(a, old, kinds[kind].param, to);
	return *drop || fold_padding(a, net, at, to, err);
}
