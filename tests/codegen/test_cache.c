/*
 * The code cache: what comes from it is what was compiled, another target or text is another file,
 * damage costs a compilation, and it stays within its size.
 */
#include "suite.h"

#include "base/file.h"
#include "codegen/code_cache.h"
#include "ir/text/ir_text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[SUITE_FOLDER];

static void make_folder(void)
{
	ck_assert(suite_folder(folder, "cache"));
}

static int files(char *one, size_t n)
{
	int count = 0;
	DIR *d = opendir(folder);
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		if (e->d_name[0] != '.') {
			snprintf(one, n, "%s/%s", folder, e->d_name);
			count++;
		}
	closedir(d);
	return count;
}

static void remove_folder(void)
{
	char path[512];
	while (files(path, sizeof path) > 0)
		unlink(path);
	rmdir(folder);
}

static KernelSet *set_of(Arena *a, int n)
{
	Err err = { 0 };
	const char *text =
		arena_printf(a, "fn f(x: in f32[%d], y: out f32[%d]) { for i in 0..%d { y[i] = x[i] * 2.0 } }", n, n, n);
	KernelSet *ks = ir_parse_set(ir_new(a), "t", text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s", err.text);
	return ks;
}

static Module compiled(Arena *a, const CodeCache *c, int n, const Target *t)
{
	Module m;
	Err err = { 0 };
	ck_assert_msg(codegen_compile_cached(c, a, set_of(a, n), t, &m, &err), "%s", err.text);
	return m;
}

static void same(const Module *x, const Module *y)
{
	ck_assert_uint_eq(x->image.size, y->image.size);
	ck_assert_mem_eq(x->image.bytes, y->image.bytes, x->image.size);
	ck_assert_uint_eq(x->image.nentry, y->image.nentry);
	ck_assert_mem_eq(x->image.entry, y->image.entry, sizeof(DlcEntry) * x->image.nentry);
	ck_assert_str_eq(x->report[0].name, y->report[0].name);
	ck_assert_int_eq(x->report[0].code_bytes, y->report[0].code_bytes);
}

START_TEST(what_is_kept_is_what_was_compiled)
{
	Arena *a = arena_new();
	Target t, other;
	char path[512];
	target_host(&t, 1);
	other = t;
	other.vector_bits = 128;
	make_folder();
	CodeCache c = { folder, 1 << 20 };
	Module plain = compiled(a, NULL, 8, &t);
	ck_assert_int_eq(files(path, sizeof path), 0);
	Module first = compiled(a, &c, 8, &t);
	ck_assert_int_eq(files(path, sizeof path), 1);
	Module again = compiled(a, &c, 8, &t);
	same(&plain, &first);
	same(&plain, &again);
	ck_assert_int_eq(files(path, sizeof path), 1);
	compiled(a, &c, 9, &t);
	compiled(a, &c, 8, &other);
	ck_assert_int_eq(files(path, sizeof path), 3);
	ck_assert_ptr_eq(again.backend, plain.backend);
	other = t;
	other.kind = TARGET_METAL; /* all else is the CPU's */
	Err err = { 0 };
	Module m;
	ck_assert(!codegen_compile_cached(&c, a, set_of(a, 8), &other, &m, &err));
	ck_assert_int_eq(err.code, ERR_UNSUPPORTED);
	remove_folder();
	arena_free(a);
}
END_TEST

/* A killed process may have had this one's number: what it left does not stand in the way. */
START_TEST(leftovers_do_not_stand_in_the_way)
{
	Arena *a = arena_new();
	Target t;
	char path[512], left[560];
	target_host(&t, 1);
	make_folder();
	CodeCache c = { folder, 1 << 20 };
	compiled(a, &c, 8, &t);
	ck_assert_int_eq(files(path, sizeof path), 1);
	snprintf(left, sizeof left, "%s.%ld.new", path, (long)getpid());
	ck_assert_int_eq(rename(path, left), 0);
	compiled(a, &c, 8, &t);
	ck_assert_int_eq(access(path, R_OK), 0);
	remove_folder();
	arena_free(a);
}
END_TEST

/* Every byte of a file is under its checksum, or part of the head that it must fit. */
START_TEST(damage_costs_a_compilation)
{
	Arena *a = arena_new();
	Target t;
	char path[512];
	target_host(&t, 1);
	make_folder();
	CodeCache c = { folder, 1 << 20 };
	Module plain = compiled(a, &c, 8, &t);
	ck_assert_int_eq(files(path, sizeof path), 1);
	struct stat st;
	ck_assert_int_eq(stat(path, &st), 0);
	for (off_t at = 0; at < st.st_size; at += at < 64 ? 1 : 37) {
		int fd = open(path, O_RDWR);
		unsigned char byte;
		ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
		byte ^= 0x41;
		ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
		close(fd);
		Module m = compiled(a, &c, 8, &t);
		same(&plain, &m);
	}
	ck_assert_int_eq(truncate(path, st.st_size / 2), 0);
	Module m = compiled(a, &c, 8, &t);
	same(&plain, &m);
	ck_assert_int_eq(truncate(path, 0), 0);
	m = compiled(a, &c, 8, &t);
	same(&plain, &m);
	remove_folder();
	arena_free(a);
}
END_TEST

/* A whole file of other code under this one's name: a sum over the bytes alone would take it. */
START_TEST(another_ones_file_is_damage)
{
	Arena *a = arena_new();
	Target t;
	char path[512], aside[600];
	target_host(&t, 1);
	make_folder();
	CodeCache c = { folder, 1 << 20 };
	Module plain = compiled(a, &c, 8, &t);
	ck_assert_int_eq(files(path, sizeof path), 1);
	snprintf(aside, sizeof aside, "%s.aside", folder);
	ck_assert_int_eq(rename(path, aside), 0);
	char *name = arena_printf(a, "%s", path);
	compiled(a, &c, 9, &t);
	ck_assert_int_eq(files(path, sizeof path), 1);
	ck_assert_int_eq(rename(path, name), 0);
	Module m = compiled(a, &c, 8, &t);
	same(&plain, &m);
	ck_assert_int_eq(unlink(aside), 0);
	remove_folder();
	arena_free(a);
}
END_TEST

START_TEST(it_stays_within_its_size)
{
	Arena *a = arena_new();
	Target t;
	char path[512];
	target_host(&t, 1);
	make_folder();
	CodeCache c = { folder, 40 * 4096 };
	for (int n = 8; n < 40; n++) /* a file each, of one block or two */
		compiled(a, &c, n, &t);
	CodeCache small = { folder, 8 * 4096 };
	code_cache_trim(&small);
	int left = files(path, sizeof path);
	ck_assert_int_ge(left, 1);
	ck_assert_int_le(left, 8);
	int before = left;
	compiled(a, &c, 39, &t); /* the last one used is still there */
	ck_assert_int_eq(files(path, sizeof path), before);
	remove_folder();
	arena_free(a);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_no_error)
{
	Arena *a = arena_new();
	Target t;
	target_host(&t, 1);
	CodeCache c = { "/nonexistent/folder", 1 << 20 };
	Module m = compiled(a, &c, 8, &t), plain = compiled(a, NULL, 8, &t);
	same(&plain, &m);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("code_cache");
	tcase_add_test(tc, what_is_kept_is_what_was_compiled);
	tcase_add_test(tc, leftovers_do_not_stand_in_the_way);
	tcase_add_test(tc, damage_costs_a_compilation);
	tcase_add_test(tc, another_ones_file_is_damage);
	tcase_add_test(tc, it_stays_within_its_size);
	tcase_add_test(tc, a_folder_that_is_not_there_is_no_error);
	return run_suite("code_cache", tc);
}
