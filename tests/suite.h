/*
 * What every test program shares: Check without its old macro `fail`, which is our function, and
 * the main loop. A program lists its tests in one TCase and ends with run_suite().
 */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>
#undef fail

#include <stdlib.h>

#define LEN(array) ((int)(sizeof(array) / sizeof *(array)))

/* Runs the case and returns main's exit code. */
static inline int run_suite(const char *name, TCase *tc)
{
	Suite *s = suite_create(name);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(s, tc);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}

#endif
