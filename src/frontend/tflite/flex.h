/*
 * FlexBuffers, in which custom operators keep their options: the numbers of a map as attributes. Offsets point
 * backwards and are checked; what is no number of a name is left out, as are names that begin with '_'.
 */
#ifndef FRONTEND_TFLITE_FLEX_H
#define FRONTEND_TFLITE_FLEX_H

#include "frontend/node/definition.h"

/* No attributes where the bytes are no map: operators have other forms of options, too. */
NodeAttr *flex_attrs(Arena *a, Bytes b, size_t *n);

#endif
