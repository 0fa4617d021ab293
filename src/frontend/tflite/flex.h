/*
 * FlexBuffers, in which custom operators keep their options: the numbers of a map as attributes. Offsets point
 * backwards and are checked. Values that are no numbers are attributes of kind NODE_OTHER, so that they are refused.
 * Names that begin with '_' are left out.
 */
#ifndef FRONTEND_TFLITE_FLEX_H
#define FRONTEND_TFLITE_FLEX_H

#include "frontend/node/definition.h"

/* No attributes where the bytes are no map: operators have other forms of options, too. */
NodeAttr *flex_attrs(Arena *a, Bytes b, size_t *n);

#endif
