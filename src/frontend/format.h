/*
 * A front end: one row for each format, in a folder of its own, named in format.def. frontend.c finds the row
 * by the name that the user typed or by the content of the file, and knows no format itself.
 */
#ifndef FRONTEND_FORMAT_H
#define FRONTEND_FORMAT_H

#include "frontend/frontend.h"

/* How sure a format is that a file is its own. A format without magic bytes is never sure. */
typedef enum { FORMAT_NO, FORMAT_LIKELY, FORMAT_SURE } FormatMatch;

struct NodeFormat;
enum { FORMAT_NODES = 2 };

typedef struct Format {
	const char *name; /* "onnx" */
	const char *doc;  /* in messages, a plural: "ONNX models" */
	/* Model k of those that a user names without a file, NULL behind the last one. NULL: there are none. */
	const NamedModel *(*named)(int k);
	/* Looks at the content, never at the path. NULL: the format has no files. */
	FormatMatch (*recognise)(Bytes file);
	/* A folder that is a model, by the names in it. NULL: there are none. */
	bool (*recognise_folder)(const char *path);
	/* Endings of its files whose content says nothing: ".weights .caffemodel". NULL: there are none. */
	const char *endings;
	/* Weights may be in a file of their own, so --weights is allowed. */
	bool weights;
	/* A model may have several entry points, graphs with tags: args->signature and args->tags are for the format. */
	bool signatures, tags;
	/*
	 * `model` is a name, or the path of the file or the folder. `file` is empty for a named model and a folder. Bytes
	 * are borrowed for as long as the Dag lives. Other files are found beside the path (frontend/neighbour.h). `args`
	 * and `err` are there, `err` is empty, and a failure without a place is one of `model`.
	 */
	Dag *(*load)(Arena *a, const char *model, Bytes file, const ModelArgs *args, Err *err);
	/* The operators that it reads (frontend/node/operators.h), for docs/operators.md; the rest is NULL. */
	const struct NodeFormat *node[FORMAT_NODES];
	/* All names of its operators, with repetitions. NULL: the rows of `node` have them. */
	const char **(*names)(Arena *a, int *n);
	/* NULL: the format is read only. */
	bool (*write)(Text *out, const Dag *d, Err *err);
	/* The file of a single tensor, as test data comes; data may be borrowed from `file`. NULL: there is none. */
	bool (*read_tensor)(Arena *a, Bytes file, BindArg *out, Err *err);
} Format;

#define FORMAT(name) extern const Format format_##name;
#include "frontend/format.def"
#undef FORMAT

#endif
