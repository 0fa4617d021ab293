/*
 * HDF5 files and the child that reads them: a small file is read; damages that crash libhdf5 1.10.8, or make it take
 * all memory, are refused; nothing is left of children, however they end. A search changed each byte to find them.
 */
#include "descriptors.h"
#include "suite.h"

#include "base/guard.h"
#include "base/text.h"
#include "frontend/frontend.h"
#include "frontend/hdf5_file.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define PART(at, bytes) { at, sizeof bytes - 1, bytes },
enum { SMALL_H5 = 4936 };
static const struct {
	size_t at, n;
	const char *bytes;
} parts[] = {
#include "small_h5.inc"
};

static Bytes small_file(Arena *a, size_t at, int to)
{
	unsigned char *out = arena_alloc(a, SMALL_H5);
	for (int k = 0; k < LEN(parts); k++)
		memcpy(out + parts[k].at, parts[k].bytes, parts[k].n);
	if (to >= 0)
		out[at] = (unsigned char)to;
	return (Bytes){ out, SMALL_H5 };
}

/* NULL: this build has no libhdf5, which is said. */
static Hdf5 *open_small(Arena *a, size_t at, int to)
{
	Err err = { 0 };
	Hdf5 *h = hdf5_open(a, "small.h5", small_file(a, at, to), &err);
	if (h == NULL && strstr(err.text, "this build of dlc has no lib") != NULL)
		suite_skip("HDF5", "built without libhdf5");
	else
		ck_assert_msg(h != NULL, "%s", err.text);
	return h;
}

static bool has_children(void)
{
	return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

/* All that there is below a group. */
static void read_all(Hdf5 *h, Arena *a, const char *path, int depth)
{
	int n, m;
	const char *const *name = hdf5_names(h, path, &n);
	hdf5_texts(h, path, "layer_names", &m);
	hdf5_texts(h, path, "about", &m);
	for (int k = 0; k < n && depth < 4; k++) {
		Hdf5Data d;
		const char *inner = arena_printf(a, "%s/%s", path, name[k]);
		hdf5_read(h, inner, &d, &(Err){ 0 });
		read_all(h, a, inner, depth + 1);
	}
}

START_TEST(small_file_is_read)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Hdf5Data d;
	int n;
	Hdf5 *h = open_small(a, 0, -1);
	if (h != NULL) {
		const char *const *name = hdf5_names(h, "", &n);
		ck_assert(n == 2 && strcmp(name[0], "g") == 0 && strcmp(name[1], "z") == 0);
		ck_assert_str_eq(hdf5_text(h, "", "about"), "a network");
		ck_assert_ptr_null(hdf5_text(h, "", "none"));
		name = hdf5_texts(h, "g", "layer_names", &n);
		ck_assert(n == 2 && strcmp(name[0], "one") == 0 && strcmp(name[1], "three") == 0);
		ck_assert(hdf5_names(h, "none", &n) == NULL && n == -1);
		ck_assert(hdf5_names(h, "z", &n) == NULL && n == -1);
		ck_assert(hdf5_has(h, "/g/w") && !hdf5_has(h, "g/none") && !hdf5_has(h, "g/w/none"));
		ck_assert(hdf5_read(h, "g/w", &d, &err) && dtype_eq(d.type, F32));
		ck_assert(d.shape.rank == 2 && d.shape.dim[0] == 2 && d.shape.dim[1] == 3);
		for (int k = 0; k < 6; k++)
			ck_assert_float_eq(((const float *)d.data)[k], (float)k);
		ck_assert(hdf5_read(h, "z", &d, &err) && d.shape.dim[0] == 64 && ((const float *)d.data)[63] == 1);
		ck_assert(!hdf5_read(h, "g", &d, &err));
		ck_assert_str_eq(err.text, "'g' is a group, not a data set");
		ck_assert(!hdf5_has(h, arena_printf(a, "%05000d", 1)));
		err = (Err){ 0 };
		ck_assert(hdf5_close(h, &err) && err.code == ERR_NONE);
		ck_assert(!has_children());
	}
	arena_free(a);
}
END_TEST

static const struct {
	size_t at;
	int to;
	const char *want;
} damages[] = {
	{ 4832, 1, "libhdf5 ended with signal 8 (Floating point exception) while it read '/z': the file is probably" },
	{ 4834, 0, "libhdf5 ended with signal 8 (Floating point exception) while it read '/z': the file is probably" },
	/* Its heap ends here, and libhdf5 asks for more and more. A sanitizer's allocator ends the child itself. */
	{ 1512, 16, SANITIZED ? "libhdf5 " : "libhdf5 cannot read '/g': the file is probably" },
};

START_TEST(crashes_are_contained)
{
	enum { MOST_KIB = 400 << 10 };
	Arena *a = arena_new();
	Err err = { 0 };
	Hdf5 *h = open_small(a, damages[_i].at, damages[_i].to);
	if (h != NULL) {
		read_all(h, a, "", 0);
		ck_assert(!hdf5_close(h, &err));
		ck_assert_int_eq(err.code, ERR_INPUT);
		ck_assert_str_eq(err.place, "small.h5");
		ck_assert_msg(strncmp(err.text, damages[_i].want, strlen(damages[_i].want)) == 0, "%s", err.text);
		struct rusage used;
		getrusage(RUSAGE_CHILDREN, &used);
		ck_assert(SANITIZED || used.ru_maxrss < MOST_KIB);
		ck_assert(!has_children());
	}
	arena_free(a);
}
END_TEST

/* Asked for at once, taken in another order, with others between. */
START_TEST(many_are_read)
{
	static const char *const data[] = { "g/w", "none", "g", "z", "g/w" }, *const groups[] = { "", "z", "g" };
	Arena *a = arena_new();
	Err err = { 0 };
	Hdf5Data d, again;
	int n;
	Hdf5 *h = open_small(a, 0, -1);
	if (h != NULL) {
		const char *longest = arena_printf(a, "%05000d", 1);
		hdf5_expect_data(h, data, LEN(data));
		ck_assert(hdf5_read(h, "z", &d, &err) && d.shape.dim[0] == 64 && ((const float *)d.data)[63] == 1);
		ck_assert(!hdf5_read(h, "g", &d, &err) && strstr(err.text, "is a group") != NULL);
		hdf5_expect_names(h, groups, LEN(groups));
		ck_assert(hdf5_has(h, "g/w"));
		ck_assert(hdf5_read(h, "g/w", &d, &err) && ((const float *)d.data)[5] == 5);
		ck_assert(hdf5_read(h, "g/w", &again, &err) && again.data == d.data);
		ck_assert(hdf5_names(h, "", &n) != NULL && n == 2);
		ck_assert(hdf5_names(h, "z", &n) == NULL && n == -1);
		ck_assert_str_eq(hdf5_names(h, "g", &n)[0], "w");
		hdf5_expect_texts(h, groups, LEN(groups), "layer_names");
		hdf5_expect_data(h, &longest, 1);
		ck_assert_str_eq(hdf5_texts(h, "g", "layer_names", &n)[1], "three");
		ck_assert_str_eq(hdf5_text(h, "", "about"), "a network");
		ck_assert(!hdf5_read(h, longest, &d, &err) && !hdf5_read(h, "none", &d, &err));
		err = (Err){ 0 };
		ck_assert(hdf5_close(h, &err));
	}
	arena_free(a);
}
END_TEST

/* The data set that crashes libhdf5 is one of many: those before it are there, those behind it not. */
START_TEST(crashes_of_many_are_contained)
{
	static const char *const data[] = { "g/w", "z", "g/w2" };
	Arena *a = arena_new();
	Err err = { 0 };
	Hdf5Data d;
	Hdf5 *h = open_small(a, damages[0].at, damages[0].to);
	if (h != NULL) {
		hdf5_expect_data(h, data, LEN(data));
		ck_assert(hdf5_read(h, "g/w", &d, &err));
		ck_assert(!hdf5_read(h, "g/w2", &d, &err));
		ck_assert_msg(strstr(err.text, "while it read 'z'") != NULL, "%s", err.text);
		ck_assert(!hdf5_read(h, "g/w", &d, &err) && !hdf5_close(h, &err));
		ck_assert(!has_children());
	}
	arena_free(a);
}
END_TEST

/* By somebody else; what is asked after that is not there, and the end says why. */
START_TEST(killed_in_the_middle)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Hdf5Data d;
	int n;
	Hdf5 *h = open_small(a, 0, -1);
	if (h != NULL) {
		ck_assert(hdf5_has(h, "g"));
		kill(hdf5_child(h), SIGKILL);
		ck_assert(!hdf5_read(h, "g/w", &d, &err));
		ck_assert_msg(strstr(err.text, "ended with signal 9 (Killed) while it read 'g/w'") != NULL, "%s", err.text);
		ck_assert(!hdf5_has(h, "g") && hdf5_text(h, "", "about") == NULL && hdf5_names(h, "", &n) == NULL && n == -1);
		err = (Err){ 0 };
		fail(&err, ERR_MISSING, "x", "what was concluded from that");
		ck_assert(!hdf5_close(h, &err));
		ck_assert(err.code == ERR_INPUT && strstr(err.text, "signal 9") != NULL);
		ck_assert(!has_children());
	}
	arena_free(a);
}
END_TEST

/* Files that are read, cut off and crash, whether they are closed or only their arena ends. */
START_TEST(nothing_is_left)
{
	int before = count_descriptors();
	for (int k = 0; k < 100; k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Hdf5 *h = open_small(a, damages[0].at, k % 3 == 0 ? damages[0].to : -1);
		if (h != NULL)
			read_all(h, a, "", 0);
		if (k % 2 == 0)
			hdf5_close(h, &err);
		Bytes cut = small_file(a, 0, -1);
		cut.n = 100 + (size_t)k;
		ck_assert_ptr_null(hdf5_open(a, "cut.h5", cut, &err));
		err = (Err){ 0 };
		ck_assert_ptr_null(frontend_load_bytes(a, "m.h5", small_file(a, 0, -1), NULL, &err));
		ck_assert_int_eq(has_children(), h != NULL && k % 2 == 1 && k % 3 != 0);
		arena_free(a);
		ck_assert(!has_children());
	}
	ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

/* Memory runs out at each place where the parent takes some. */
START_TEST(out_of_memory_leaves_nothing)
{
	Guard g;
	int before = count_descriptors();
	volatile int64_t at = 1;
	for (volatile bool more = true; more; at++) {
		if (!GUARD_ENTER(&g)) {
			guard_fail_at(at);
			Arena *a = arena_new();
			Hdf5 *h = hdf5_open(a, "small.h5", small_file(a, 0, -1), &(Err){ 0 });
			if (h != NULL)
				read_all(h, a, "", 0);
			arena_free(a);
			more = guard_fail_at(0) == 0;
			guard_leave(&g);
		}
		guard_fail_at(0);
		ck_assert(!has_children());
	}
	ck_assert_int_gt(at, 2);
	ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("hdf5");
	tcase_add_test(tc, small_file_is_read);
	tcase_add_loop_test(tc, crashes_are_contained, 0, LEN(damages));
	tcase_add_test(tc, many_are_read);
	tcase_add_test(tc, crashes_of_many_are_contained);
	tcase_add_test(tc, killed_in_the_middle);
	tcase_add_test(tc, nothing_is_left);
	tcase_add_test(tc, out_of_memory_leaves_nothing);
	return run_suite("hdf5", tc);
}
