/* libFuzzer: a target file from a stranger, and what is made of a Target where it is taken. */
#include "fuzz.h"
#include "target/target.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Target t;
	Err err = { 0 };
	char text[TARGET_TEXT], message[4096];
	if (target_parse(&t, "fuzz.json", (const char *)data, size, 1, &err)) {
		target_text(&t, text);
		target_id(&t);
		target_runs_on(&t, &t, NULL);
	} else
		err_format(&err, message, sizeof message);
	return 0;
}
