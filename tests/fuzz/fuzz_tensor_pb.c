/* libFuzzer: an ONNX TensorProto from a stranger. */
#include "fuzz.h"

#include <stdint.h>
#include <stdlib.h>

#include "run/array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Array a;
	if (tensor_pb_parse(data, size, &a, NULL) != DLC_OK)
		return 0;
	void *copy = malloc((size_t)a.bytes + 1);
	array_copy(&a, copy);
	free(copy);
	array_free(&a);
	return 0;
}
