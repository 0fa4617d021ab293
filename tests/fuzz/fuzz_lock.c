/*
 * libFuzzer: a lock file from a stranger. It is refused with a sentence, or each of its rows is found by
 * the id of its task.
 */
#include "fuzz.h"
#include "compile/lock_file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Lock *l = lock_parse(a, "fuzz", (const char *)data, size, &err);
	must((l != NULL) == (err.code == ERR_NONE));
	must(l != NULL || err_exit_code(err.code) == 1);
	for (size_t i = 0; l != NULL && i < l->row.n; i++)
		must(lock_find(l, l->row.at[i].task) == &l->row.at[i]);
	arena_free(a);
	return 0;
}
