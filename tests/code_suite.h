/*
 * For test programs that make code. Each test is a process of its own, so each would open LLVM anew, which takes 16 ms,
 * and twice that with sanitizers. Opened before the first test, it is there in all of them.
 */
#ifndef TESTS_CODE_SUITE_H
#define TESTS_CODE_SUITE_H

#include "codegen/backend.h"
#include "suite.h"

/* What cannot be opened is for the tests to say. */
static inline int run_code_suite(const char *name, TCase *tc)
{
	for (const Backend *const *b = backends; *b != NULL; b++)
		if ((*b)->ready != NULL)
			(*b)->ready(NULL);
	return run_suite(name, tc);
}

#endif
