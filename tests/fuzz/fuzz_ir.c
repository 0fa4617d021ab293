/*
 * libFuzzer: a kernel set from a stranger. Whatever parses prints to a text that reads back to the
 * same text, legal or not; verifying it ends, both are legal or neither, and simplifying keeps what
 * is legal so.
 */
#include "fuzz.h"
#include "ir/simplify/simplify.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	Err err = { 0 };
	Text once = { .arena = a }, twice = { .arena = a };
	KernelSet *ks = ir_parse_set(ir, "fuzz", (const char *)data, size, &err);
	if (ks != NULL) {
		ir_print_set(&once, ks);
		KernelSet *again = ir_parse_set(ir, "fuzz", text_str(&once), once.n, &err);
		if (again == NULL)
			abort();
		ir_print_set(&twice, again);
		if (strcmp(text_str(&once), text_str(&twice)) != 0)
			abort();
		Err first = { 0 }, second = { 0 };
		if (ir_verify_set(ks, &first) != ir_verify_set(again, &second) || strcmp(first.text, second.text) != 0)
			abort();
		if (first.code == ERR_NONE) {
			for (size_t i = 0; i < ks->n; i++)
				ir_simplify_fn(ks, ks->fn[i]);
			/* with less around it, an access may turn out to be always wrong */
			if (!ir_verify_set(ks, &first) && strncmp(first.text, "bounds:", 7) != 0)
				abort();
		}
	}
	arena_free(a);
	return 0;
}
