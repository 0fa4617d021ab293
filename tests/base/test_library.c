/* Libraries that open late: the functions and data that a table gets, and what is refused and how. */
#include "base/library.h"
#include "suite.h"

#include <gnu/lib-names.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#define NAMES(X) X(strnlen) X(stdout)

typedef struct Table { NAMES(LIBRARY_MEMBER) } Table;

static const char *const names[] = { NAMES(LIBRARY_TEXT) };

START_TEST(functions_and_data_are_found)
{
	Table lib;
	Library libc = { LIBC_SO, "libc6", names, LEN(names), &lib, 1, false };
	Err err = { 0 };
	ck_assert_msg(library_open(&libc, "letters are counted by libc", "t", &err), "%s", err.text);
	ck_assert_uint_eq(lib.strnlen("abc", 9), 3);
	ck_assert_ptr_eq(*lib.stdout, stdout);
	memset(&lib, 0, sizeof lib);
	ck_assert(library_open(&libc, "letters are counted by libc", "t", &err));
	ck_assert_msg(lib.strnlen == NULL, "the second call has nothing to do");
}
END_TEST

/* A name stands for another one where headers define it so, as those of HDF5 do for their versions. */
#define libtest_root sqrt

START_TEST(names_are_those_that_headers_define)
{
#define VERSIONED(X) X(libtest_root)
	static struct { VERSIONED(LIBRARY_MEMBER) } lib;
	static const char *const versioned[] = { VERSIONED(LIBRARY_TEXT) };
	Library libm = { LIBM_SO, "libc6", versioned, LEN(versioned), &lib, 0, false };
	ck_assert(library_open(&libm, "roots are drawn by libm", "t", NULL));
	ck_assert(lib.libtest_root(9) > 2.999 && lib.libtest_root(9) < 3.001);
}
END_TEST

START_TEST(what_is_not_there_is_refused)
{
	static const char *const unknown[] = { "strnlen", "dlc_no_such_function" };
	Table lib;
	Library absent = { "libdlc_none.so.1", "libdlc-none-dev", names, LEN(names), &lib, 0, false };
	Library lacks = { LIBC_SO, "libc6", unknown, LEN(unknown), &lib, 0, false };
	Library large = { LIBC_SO, "libc6", names, LEN(names), &lib, (size_t)1 << 62, false };
	Err err = { 0 };
	ck_assert(!library_open(&absent, "nothing is done by libdlc_none", "net.x", &err) && err.code == ERR_MISSING);
	ck_assert_str_eq(err.place, "net.x");
	ck_assert_msg(strstr(err.text, "nothing is done by libdlc_none, and libdlc_none.so.1: ") == err.text &&
		strstr(err.text, ": install Debian's package libdlc-none-dev") != NULL, "%s", err.text);
	err = (Err){ 0 };
	ck_assert(!library_open(&lacks, "letters are counted by libc", "t", &err) && err.code == ERR_MISSING);
	ck_assert_str_eq(err.text, "letters are counted by libc, and " LIBC_SO " lacks dlc_no_such_function: install "
		"Debian's package libc6");
	err = (Err){ 0 };
	ck_assert(!library_open(&large, "letters are counted by libc", "t", &err) && err.code == ERR_MEMORY);
	ck_assert_msg(strstr(err.text, "MB of address space are left for " LIBC_SO) != NULL, "%s", err.text);
	ck_assert(!absent.opened && !lacks.opened && !large.opened);
}
END_TEST

static Table shared;
static Library shared_libc = { LIBC_SO, "libc6", names, LEN(names), &shared, 0, false };

static void *open_shared(void *unused)
{
	(void)unused;
	bool good = library_open(&shared_libc, "letters are counted by libc", "t", NULL) && shared.strnlen("ab", 9) == 2;
	return good ? &shared : NULL;
}

START_TEST(threads_open_it_once)
{
	pthread_t t[8];
	for (int k = 0; k < LEN(t); k++)
		ck_assert_int_eq(pthread_create(&t[k], NULL, open_shared, NULL), 0);
	for (int k = 0; k < LEN(t); k++) {
		void *good;
		pthread_join(t[k], &good);
		ck_assert_ptr_nonnull(good);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("library");
	tcase_add_test(tc, functions_and_data_are_found);
	tcase_add_test(tc, names_are_those_that_headers_define);
	tcase_add_test(tc, what_is_not_there_is_refused);
	tcase_add_test(tc, threads_open_it_once);
	return run_suite("library", tc);
}
