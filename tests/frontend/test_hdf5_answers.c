/*
 * Answers that no sound child gives, since a file may make libhdf5 write anywhere in it: all are refused. The child is
 * this file's: its hdf5_serve and hdf5_library_open replace those of src/frontend/hdf5_serve.c.
 */
#include "suite.h"

#include "base/subprocess.h"
#include "frontend/hdf5_file.h"
#include "frontend/hdf5_serve.h"

#include <errno.h>
#include <sys/wait.h>

enum { FILE_BYTES = 16 };

static const struct {
	Hdf5Ask ask;
	Hdf5Answer answer; /* number: added to the right one */
	const char *data;  /* answer.bytes of it, or fewer */
	size_t n;
	bool sound;
} rows[] = {
	{ HDF5_HAS, { .word = HDF5_FOUND }, "", 0, true },
	{ HDF5_HAS, { .number = 1 }, "", 0, false },
	{ HDF5_HAS, { .word = HDF5_WORDS }, "", 0, false },
	{ HDF5_HAS, { .word = UINT32_MAX }, "", 0, false },
	{ HDF5_HAS, { .word = HDF5_ABSENT, .bytes = 1 }, "a", 1, false },
	{ HDF5_NAMES, { .texts = 2, .bytes = 4 }, "a\0b", 4, true },
	{ HDF5_NAMES, { .texts = 3, .bytes = 4 }, "a\0b", 4, false },
	{ HDF5_NAMES, { .texts = 1, .bytes = 4 }, "a\0b", 4, false },
	{ HDF5_NAMES, { .texts = 1, .bytes = 4 }, "abcd", 4, false },
	{ HDF5_NAMES, { .texts = 1, .bytes = 0 }, "", 0, false },
	{ HDF5_NAMES, { .texts = 1, .bytes = 4 }, "a", 1, false },
	{ HDF5_NAMES, { .texts = 1, .bytes = FILE_BYTES + 2 }, "0123456789abcdefg", FILE_BYTES + 2, false },
	{ HDF5_TEXTS, { .texts = (uint64_t)1 << 60, .bytes = (uint64_t)1 << 60 }, "", 0, false },
	{ HDF5_TEXTS, { .texts = 0, .bytes = UINT64_MAX }, "", 0, false },
	{ HDF5_TEXTS, { .texts = HDF5_MOST_NAMES + 1, .bytes = 4 }, "a\0b", 4, false },
	{ HDF5_READ, { .type = { DT_FLOAT, 32, 1 }, .shape = { 1, { 1 } }, .bytes = 4 }, "abcd", 4, true },
	{ HDF5_READ, { .type = { DT_FLOAT, 32, 1 }, .shape = { 1, { 1 } }, .bytes = 4 }, "ab", 2, false },
	{ HDF5_READ, { .type = { DT_FLOAT, 32, 1 }, .shape = { 1, { 1 } }, .bytes = 8 }, "abcdefgh", 8, false },
	{ HDF5_READ, { .type = { DT_FLOAT, 32, 1 }, .shape = { -1, { 1 } }, .bytes = 4 }, "abcd", 4, false },
	{ HDF5_READ, { .type = { DT_FLOAT, 32, 1 }, .shape = { 1000, { 1 } }, .bytes = 4 }, "abcd", 4, false },
	{ HDF5_READ, { .type = { DT_FLOAT, 32, 1 }, .shape = { 2, { -1, -1 } }, .bytes = 4 }, "abcd", 4, false },
	{ HDF5_READ, { .type = { DT_FLOAT, 32, 1 }, .shape = { 2, { INT64_MAX, INT64_MAX } }, .bytes = 4 }, "a", 1, false },
	{ HDF5_READ, { .type = { DT_FLOAT, 32, 1 }, .shape = { 1, { 1 << 20 } }, .bytes = 4 << 20 }, "abcd", 4, false },
	{ HDF5_READ, { .type = { DT_FLOAT, 32, 9 }, .shape = { 1, { 1 } }, .bytes = 36 }, "abcd", 4, false },
	{ HDF5_READ, { .type = { DT_FLOAT, 0, 1 }, .shape = { 1, { 1 } }, .bytes = 4 }, "abcd", 4, false },
	{ HDF5_READ, { .type = { 255, 255, UINT16_MAX }, .shape = { 1, { 1 } }, .bytes = 4 }, "abcd", 4, false },
};

bool hdf5_library_open(const char *name, Err *err)
{
	(void)name, (void)err;
	return true;
}

/* The row's number is the first byte of the file. After the bytes of the row the child ends. */
void hdf5_serve(void *file)
{
	Hdf5Request r;
	int row = ((Bytes *)file)->at[0];
	Hdf5Answer answer = { 0 };
	subprocess_give(&answer, sizeof answer);
	subprocess_take(&r, sizeof r);
	answer = rows[row].answer;
	answer.number += r.number;
	subprocess_give(&answer, sizeof answer);
	subprocess_give(rows[row].data, rows[row].n);
}

static bool ask_row(Hdf5 *h, Hdf5Ask what)
{
	int n;
	Hdf5Data d;
	switch (what) {
	case HDF5_HAS:
		return hdf5_has(h, "a");
	case HDF5_NAMES:
		return hdf5_names(h, "a", &n) != NULL;
	case HDF5_TEXTS:
		return hdf5_texts(h, "a", "b", &n) != NULL;
	case HDF5_READ:
		return hdf5_read(h, "a", &d, &(Err){ 0 });
	}
	return false;
}

START_TEST(answers_are_checked)
{
	unsigned char file[FILE_BYTES] = { (unsigned char)_i };
	Arena *a = arena_new();
	Err err = { 0 };
	Hdf5 *h = hdf5_open(a, "m.h5", (Bytes){ file, sizeof file }, &err);
	ck_assert_msg(h != NULL, "%s", err.text);
	ck_assert_int_eq(ask_row(h, rows[_i].ask), rows[_i].sound);
	ck_assert_int_eq(hdf5_close(h, &err), rows[_i].sound);
	ck_assert(rows[_i].sound || (err.code == ERR_INPUT && strncmp(err.text, "libhdf5 ", 8) == 0));
	ck_assert(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	ck_assert_uint_lt(arena_used(a), 1 << 20);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("hdf5_answers");
	tcase_add_loop_test(tc, answers_are_checked, 0, LEN(rows));
	return run_suite("hdf5_answers", tc);
}
