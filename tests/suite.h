/*
 * What every test program shares: Check without its old macro `fail`, which is our function, and
 * the main loop. A program lists its tests in one TCase and ends with run_suite().
 */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>
#undef fail

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Check writes each assertion that holds to a file, to say after which one a test crashed. A loop over elements has
 * millions: each line is written once.
 */
static inline void suite_mark(const char *file, int line)
{
	static bool seen[1024];
	bool *here = &seen[line % 1024];
	if (!*here)
		_mark_point(file, line);
	*here = true;
}
#define _mark_point(file, line) suite_mark(file, line)

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif
#define LEN(array) ((int)(sizeof(array) / sizeof *(array)))

/* How many random cases a test has: in a quick run, with sanitizers, which take several times as long, and at most. */
static inline int suite_count(int quick, int sanitized, int all)
{
	return getenv("DLC_TEST_ALL") != NULL ? all : SANITIZED ? sanitized : quick;
}

/* A part that is left out because this machine lacks something: ./check counts these lines as skipped. */
static inline void suite_skip(const char *what, const char *why)
{
	printf("skipped: %s: %s\n", what, why);
	fflush(stdout);
}

/* The same for something that ./check installs, which sets DLC_TEST_STRICT: there it must not be missing. */
static inline void suite_skip_installable(const char *what, const char *why)
{
	ck_assert_msg(getenv("DLC_TEST_STRICT") == NULL, "%s: %s, which ./check installs", what, why);
	suite_skip(what, why);
}

enum { SUITE_FOLDER = 64 };

/* A new folder in $TMPDIR, or in /tmp where that is not set or too long. ./check sets it to one in memory. */
static inline bool suite_folder(char out[SUITE_FOLDER], const char *name)
{
	const char *in = getenv("TMPDIR");
	snprintf(out, SUITE_FOLDER, "%s/dlc-%s.XXXXXX", in != NULL && strlen(in) <= 32 ? in : "/tmp", name);
	return mkdtemp(out) != NULL;
}

/* Runs the case and returns main's exit code. A test that DLC_TEST_ALL makes long may share its cores with others. */
static inline int run_suite(const char *name, TCase *tc)
{
	Suite *s = suite_create(name);
	tcase_set_timeout(tc, getenv("DLC_TEST_ALL") != NULL || getenv("DLC_REPLAY_LOG") != NULL ? 3600 : 120);
	suite_add_tcase(s, tc);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}

#endif
