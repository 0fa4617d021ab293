/* Rows of torchvision's own operators. */
#include "frontend/pytorch/aten.h"

const AtenRow torch_vision_rows[] = {
	{ NULL, NULL, NULL, 0 },
};
