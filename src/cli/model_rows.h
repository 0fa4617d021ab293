/* Rows of options that say what MODEL is and what is made of it, for all verbs that load one (cli/rows.h). */
#ifndef CLI_MODEL_ROWS_H
#define CLI_MODEL_ROWS_H

#include "cli/rows.h"

#define OPTION_BATCH \
	{ .name = "batch", \
		.kind = OPT_INT, \
		.arg = "N", \
		.lo = 1, \
		.hi = 1 << 20, \
		.help = "size of the batch dimension" }
#define OPTION_SEQ \
	{ .name = "seq", \
		.kind = OPT_INT, \
		.arg = "N", \
		.lo = 1, \
		.hi = 1 << 20, \
		.help = "tokens or steps of a sequence" }
#define OPTION_SHAPE \
	{ .name = "shape", \
		.kind = OPT_TEXT, \
		.arg = "NAME=1,3,224,224", \
		.many = true, \
		.help = "shape of an input; repeats" }
#define OPTION_BIND \
	{ .name = "bind", \
		.kind = OPT_TEXT, \
		.arg = "NAME=FILE.npy", \
		.many = true, \
		.help = "an input that is really a constant; repeats" }
#define OPTION_WEIGHTS \
	{ .name = "weights", \
		.kind = OPT_TEXT, \
		.arg = "FILE", \
		.help = "the file of the weights, where the model has one of its own (default: found beside it)" }
#define OPTION_INPUT_LAYOUT \
	{ .name = "input-layout", \
		.field = "layout", \
		.kind = OPT_TEXT, \
		.arg = "NAME=nhwc", \
		.many = true, \
		.help = "the layout in which input NAME is given: nchw, nhwc (default: the model's); repeats" }
#define OPTION_FRONTEND \
	{ .name = "frontend", \
		.kind = OPT_TEXT, \
		.arg = "FILE.so", \
		.help = "a front end of another program, which is asked first whether it reads the model" }
#define OPTION_SIGNATURE \
	{ .name = "signature", \
		.kind = OPT_TEXT, \
		.arg = "NAME", \
		.help = "which entry point of the model: signature, function or method (default: its usual one)" }
#define OPTION_TAGS \
	{ .name = "tags", \
		.kind = OPT_TEXT, \
		.arg = "TAG[,TAG]", \
		.help = "which graph of a SavedModel with several (default: the one for serving)" }
#define OPTION_PRECISION \
	{ .name = "precision", \
		.kind = OPT_CHOICE, \
		.arg = "fp32|tf32|fp16|bf16", \
		.help = "what weights and values between tasks are computed in (default fp32)" }

#define OPTIONS_MODEL OPTION_BATCH, OPTION_SEQ, OPTION_SHAPE, OPTION_BIND, OPTION_INPUT_LAYOUT, OPTION_WEIGHTS, \
	OPTION_FRONTEND, OPTION_SIGNATURE, OPTION_TAGS, OPTION_PRECISION

#endif
