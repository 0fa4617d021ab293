/* Names the formats that dlc does not read, so that a refusal can say what the file is. */
#ifndef FRONTEND_FOREIGN_H
#define FRONTEND_FOREIGN_H

#include "base/file.h"

#include <stdbool.h>

typedef struct Foreign {
	const char *name; /* "a Keras model", with its article; NULL: not recognised */
	bool model;       /* false: a file of another kind, "a NumPy array" */
} Foreign;

/* By magic bytes, the names in a zip archive, or the words of a text. */
Foreign foreign_by_signature(Bytes file);
/* By the fields of a protobuf message, which has no signature. */
Foreign foreign_by_fields(Bytes file);

#endif
