/* The field tables of coreml/proto.def and coreml/layers.def for the reader of protobuf, and the kinds of layers. */
#include "frontend/coreml/proto.h"

#include "base/wire_field.def"
#include "frontend/coreml/proto.def"
#include "frontend/coreml/layers.def"
#include "frontend/coreml/mil.def"
#include "base/wire_end.def"

const CoremlKind *coreml_kind_of(uint32_t field)
{
#define LAYER(name, field, T) { #name, field, &T##_message },
	static const CoremlKind kinds[] = {
#include "frontend/coreml/kinds.def"
	};
#undef LAYER
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (kinds[k].field == field)
			return &kinds[k];
	return NULL;
}
