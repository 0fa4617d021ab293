/* Which format a model file has, by its content, and the sentence for those this version lacks. */
#ifndef FRONTEND_FORMAT_H
#define FRONTEND_FORMAT_H

#include "base/err.h"
#include "base/file.h"

/* True for ONNX; false and "is a Keras HDF5 model; ..." for everything else. */
bool format_is_onnx(const char *path, Bytes file, Err *err);
/* The same for a folder: always a refusal that names what it is. */
bool format_refuse_folder(const char *path, Err *err);

#endif
