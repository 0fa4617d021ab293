/*
 * A front end: one row for each format, in a folder of its own, named in format.def. frontend.c finds the row
 * by the name that the user typed or by the content of the file, and knows no format itself.
 */
#ifndef FRONTEND_FORMAT_H
#define FRONTEND_FORMAT_H

#include "frontend/frontend.h"

/* How sure a format is that a file is its own. A format without magic bytes is never sure. */
typedef enum { FORMAT_NO, FORMAT_LIKELY, FORMAT_SURE } FormatMatch;

typedef struct Format {
	const char *name; /* "onnx" */
	const char *doc;  /* in messages, a plural: "ONNX models" */
	/* Model k of those that a user names without a file, NULL behind the last one. NULL: there are none. */
	const NamedModel *(*named)(int k);
	/* Looks at the content, never at the path. NULL: the format has no files. */
	FormatMatch (*recognise)(Bytes file);
	/* `file` is empty for a named model. Bytes are borrowed for as long as the Dag lives. */
	Dag *(*load)(Arena *a, const char *model, Bytes file, const ModelArgs *args, Err *err);
	/* NULL: the format is read only. */
	bool (*write)(Text *out, const Dag *d, Err *err);
	/* The file of a single tensor, as test data comes; data may be borrowed from `file`. NULL: there is none. */
	bool (*read_tensor)(Arena *a, Bytes file, BindArg *out, Err *err);
} Format;

#define FORMAT(name) extern const Format format_##name;
#include "frontend/format.def"
#undef FORMAT

#endif
