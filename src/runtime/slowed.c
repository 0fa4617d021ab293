/* The words of slowed.def. */
#include "runtime/device_state.h"

#include <stdio.h>
#include <string.h>

const char *device_slowed_text(uint64_t slowed, char out[SLOWED_TEXT])
{
	out[0] = 0;
#define SLOWED(name, bit, words) \
	if ((slowed & bit) != 0) \
		snprintf(out + strlen(out), SLOWED_TEXT - strlen(out), "%s%s", out[0] != 0 ? ", " : "", words);
#include "runtime/slowed.def"
#undef SLOWED
	return out;
}
