/*
 * Reads a network of Caffe, and brings layers from before 2015 (`layers` with types by number) to the form of today;
 * upgrade_oldest.c does it for those from before 2014, which hold a layer inside.
 */
#include "frontend/caffe/caffe.h"

#include "base/wire_text.h"

#include <string.h>

/* Fields of a layer by the last part of their path, and whole messages, which only train or only choose a program. */
bool caffe_is_training_field(const char *path)
{
	static const char *const parts[] = { "param", "transform_param", "data_param", "image_data_param",
		"hdf5_data_param", "hdf5_output_param", "window_data_param", "annotated_data_param", "video_data_param",
		"loss_param", "accuracy_param", "contrastive_loss_param", "hinge_loss_param", "infogain_loss_param",
		"multibox_loss_param", "detection_evaluate_param", "dropout_param", "loss_weight", "propagate_down", "blobs_lr",
		"weight_decay", "blob_share_mode", "phase", "engine", "force_backward", "debug_info", "diff", "data_filler",
		"weight_filler", "bias_filler", "filler", "scale_filler", "sigmoid_param", "tanh_param", "relu6_param",
		"cudnn_convolution_algo_seeker", "batch_size", "new_height", "source", "mean_file", "crop_size",
		"save_output_param", "visualize", "visualize_threshold", "save_file" };
	for (const char *at = path; at != NULL; at = strchr(at, '.') != NULL ? strchr(at, '.') + 1 : NULL)
		for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
			if (strlen(parts[k]) == strcspn(at, ".") && strncmp(at, parts[k], strlen(parts[k])) == 0)
				return true;
	return false;
}

/* The messages with a layer's parameters, from the old struct to the field of the same name. */
static void copy_parameters(const CaffeOldLayer *old, CaffeLayer *to)
{
	for (int k = 0; k < CaffeOldLayer_rows; k++) {
		const WireField *f = &CaffeOldLayer_message.field[k];
		for (int i = 0; i < CaffeLayer_rows && f->kind == WIRE_MSG && !f->many; i++) {
			const WireField *g = &CaffeLayer_message.field[i];
			if (g->kind == WIRE_MSG && !g->many && strcmp(f->name, g->name) == 0) {
				memcpy((char *)to + g->offset, (const char *)old + f->offset, sizeof(void *));
				to->has |= (old->has >> k & 1) << i;
			}
		}
	}
}

static bool upgrade_layer(Arena *a, const CaffeOldLayer *old, CaffeLayer *to, Err *err)
{
	const char *type = caffe_type_of(old->type);
	if (type == NULL)
		return fail(err, ERR_INPUT, NULL, "layer '%.100s' has the type %lld, which Caffe does not have",
			caffe_text(old->name), (long long)old->type);
	to->name = old->name;
	to->type = type;
	memcpy(&to->bottom, &old->bottom, sizeof to->bottom);
	memcpy(&to->top, &old->top, sizeof to->top);
	memcpy(&to->blobs, &old->blobs, sizeof to->blobs);
	memcpy(&to->include, &old->include, sizeof to->include);
	memcpy(&to->exclude, &old->exclude, sizeof to->exclude);
	for (size_t k = 0; k < old->param.n; k++)
		vec_push(a, &to->param, ((CaffeShare){ .name = old->param.at[k] }));
	copy_parameters(old, to);
	return true;
}

bool caffe_read(Arena *a, const char *name, Bytes file, bool text, CaffeNet *out, WireTexts *skipped, Err *err)
{
	bool ok = text ? wire_read_text(a, &CaffeNet_message, name, file, out, skipped, err)
	               : wire_read(a, &CaffeNet_message, file, out, err);
	if (!ok)
		return false;
	if (out->layers.n > 0 && out->layer.n > 0)
		return fail(err, ERR_INPUT, NULL, "it has both `layer` and `layers`, which is its form before 2015");
	for (size_t k = 0; k < out->layers.n; k++) {
		CaffeLayer to = { 0 };
		bool drop = false, oldest = out->layers.at[k].layer != NULL;
		if (!(oldest ? caffe_upgrade_oldest(a, out, k, &to, &drop, err)
					 : upgrade_layer(a, &out->layers.at[k], &to, err)))
			return false;
		if (!drop)
			vec_push(a, &out->layer, to);
	}
	return true;
}
