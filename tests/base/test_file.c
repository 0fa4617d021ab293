/* base/file: limits, kinds of files, writing that is all or nothing, and the exit codes. */
#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[SUITE_FOLDER];
static Arena *a;

static void setup(void)
{
	ck_assert(suite_folder(dir, "file"));
	a = arena_new();
}

static void teardown(void)
{
	char cmd[160];
	snprintf(cmd, sizeof cmd, "chmod -R u+w %s; rm -rf %s", dir, dir);
	ck_assert_int_eq(system(cmd), 0);
	arena_free(a);
}

static const char *in_dir(const char *name)
{
	return arena_printf(a, "%s/%s", dir, name);
}

static int count_files(void)
{
	DIR *d = opendir(dir);
	int n = 0;
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

START_TEST(what_was_written_is_read_and_mapped)
{
	Rng r = rng_seed((uint64_t)getpid());
	for (int round = 0; round < 12; round++) {
		size_t n = round < 3 ? (size_t)round : rng_below(&r, 300000);
		unsigned char *bytes = arena_alloc(a, n + 1);
		for (size_t i = 0; i < n; i++)
			bytes[i] = (unsigned char)rng_next(&r);
		Err e = { 0 };
		Bytes b, m;
		ck_assert(file_write(in_dir("x"), bytes, n, &e));
		ck_assert(file_read(a, in_dir("x"), n, &b, &e));
		ck_assert_uint_eq(b.n, n);
		ck_assert_int_eq(memcmp(b.at, bytes, n), 0);
		ck_assert_int_eq(b.at[n], 0);
		ck_assert(file_map(in_dir("x"), n, &m, &e));
		ck_assert_uint_eq(m.n, n);
		ck_assert(n == 0 || memcmp(m.at, bytes, n) == 0);
		file_unmap(&m);
		file_unmap(&m);
		if (n > 0) {
			ck_assert(!file_read(a, in_dir("x"), n - 1, &b, &e));
			ck_assert_int_eq(e.code, ERR_INPUT);
			e = (Err){ 0 };
			ck_assert(!file_map(in_dir("x"), n - 1, &m, &e));
		}
		ck_assert_int_eq(count_files(), 1);
	}
}
END_TEST

static const struct {
	const char *path, *text;
	ErrCode code;
} unreadable[] = {
	{ "/nonexistent", "there is no such file", ERR_INPUT },
	{ "/etc/passwd/x", "there is no such file", ERR_INPUT },
	{ "/", "it is a folder, not a file", ERR_INPUT },
	{ "/dev/null", "it is a character device, not a file", ERR_INPUT },
	{ "/dev/zero", "it is a character device, not a file", ERR_INPUT },
};

START_TEST(what_is_no_file_is_refused_by_name)
{
	Err e = { 0 };
	Bytes b;
	ck_assert(!file_read(a, unreadable[_i].path, 1 << 20, &b, &e));
	ck_assert_str_eq(e.text, unreadable[_i].text);
	ck_assert_str_eq(e.place, unreadable[_i].path);
	ck_assert_int_eq(e.code, unreadable[_i].code);
	e = (Err){ 0 };
	ck_assert(!file_map(unreadable[_i].path, 1 << 20, &b, &e));
	ck_assert_int_eq(e.code, unreadable[_i].code);
}
END_TEST

START_TEST(a_pipe_is_read_to_its_end_but_not_beyond_the_limit)
{
	for (int round = 0; round < 2; round++) {
		int fd[2];
		ck_assert_int_eq(pipe(fd), 0);
		pid_t child = fork();
		if (child == 0) {
			char chunk[1000] = { 'x' };
			close(fd[0]);
			for (int i = 0; i < 200; i++)
				if (write(fd[1], chunk, sizeof chunk) < 0)
					_exit(1);
			_exit(0);
		}
		close(fd[1]);
		Err e = { 0 };
		Bytes b = { 0 };
		bool ok = file_read_fd(a, fd[0], "<stdin>", round == 0 ? 200000 : 199999, &b, &e);
		close(fd[0]);
		waitpid(child, NULL, 0);
		ck_assert_int_eq(ok, round == 0);
		ck_assert_uint_eq(b.n, round == 0 ? 200000 : 0);
	}
}
END_TEST

/* A pipe by name: refused where no program writes to it, read where one does, which may come first or last. */
START_TEST(a_named_pipe_waits_a_moment_for_a_writer)
{
	char path[SUITE_FOLDER + 8];
	snprintf(path, sizeof path, "%s/pipe", dir);
	Err e = { 0 };
	Bytes b = { 0 };
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert(!file_read(a, path, 1 << 20, &b, &e));
	ck_assert_str_eq(e.text, "it is a pipe to which no program writes");
	for (int late = 0; late < 2; late++) { /* the writer opens it before, or a moment later */
		int fd = late ? -1 : open(path, O_RDWR);
		pid_t child = fork();
		if (child == 0) {
			usleep(50000);
			fd = late ? open(path, O_WRONLY) : fd;
			_exit(write(fd, "late", 4) == 4 ? 0 : 1);
		}
		if (!late)
			close(fd);
		e = (Err){ 0 };
		ck_assert_msg(file_read(a, path, 1 << 20, &b, &e), "%s", e.text);
		waitpid(child, NULL, 0);
		ck_assert_uint_eq(b.n, 4);
		ck_assert_str_eq((const char *)b.at, "late");
	}
}
END_TEST

static const struct {
	const char *path;
	ErrCode code;
} unwritable[] = {
	{ "/nonexistent/x.dlcb", ERR_DEVICE },
	{ "/", ERR_DEVICE },
	{ "/etc/passwd/x", ERR_DEVICE },
	{ "/proc/dlc-cannot-be-here", ERR_DEVICE },
	{ "/dev/full", ERR_DEVICE },
	{ "/dev/null", ERR_NONE },
};

START_TEST(where_nothing_can_be_written_the_code_is_device)
{
	Err e = { 0 };
	bool ok = file_write(unwritable[_i].path, "abc", 3, &e);
	ck_assert_int_eq(ok, unwritable[_i].code == ERR_NONE);
	ck_assert_int_eq(e.code, unwritable[_i].code);
	if (!ok)
		ck_assert_int_eq(err_exit_code(e.code), 5);
}
END_TEST

START_TEST(an_abandoned_file_leaves_the_old_one)
{
	Err e = { 0 };
	FileOut f;
	Bytes b;
	ck_assert(file_write(in_dir("x"), "old", 3, &e));
	ck_assert(file_create(&f, in_dir("x"), &e));
	for (int i = 0; i < 100; i++)
		ck_assert(file_put(&f, dir, sizeof dir, &e));
	ck_assert(file_put(&f, arena_alloc(a, 1 << 20), 1 << 20, &e));
	file_abandon(&f);
	ck_assert_int_eq(count_files(), 1);
	ck_assert(file_read(a, in_dir("x"), 100, &b, &e));
	ck_assert_str_eq((const char *)b.at, "old");
}
END_TEST

START_TEST(a_killed_writer_leaves_nothing)
{
	int ready[2];
	char c;
	ck_assert_int_eq(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		FileOut f;
		if (!file_create(&f, in_dir("x"), NULL) || !file_put(&f, dir, sizeof dir, NULL))
			_exit(1);
		if (write(ready[1], "r", 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	kill(child, 9);
	waitpid(child, NULL, 0);
	/* A file system without O_TMPFILE cannot promise this; /tmp's usually can. */
	int probe = open(dir, O_TMPFILE | O_WRONLY, 0600);
	if (probe >= 0) {
		close(probe);
		ck_assert_int_eq(count_files(), 0);
	}
}
END_TEST

START_TEST(permissions_and_links_stay)
{
	Err e = { 0 };
	struct stat st;
	ck_assert(file_write(in_dir("x"), "old", 3, &e));
	ck_assert_int_eq(chmod(in_dir("x"), 0640), 0);
	ck_assert_int_eq(symlink("x", in_dir("link")), 0);
	ck_assert(file_write(in_dir("link"), "new!", 4, &e));
	ck_assert_int_eq(lstat(in_dir("link"), &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(stat(in_dir("x"), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0640);
	ck_assert_int_eq(st.st_size, 4);
	ck_assert_int_eq(count_files(), 2);
}
END_TEST

START_TEST(a_relative_name_works)
{
	Err e = { 0 };
	Bytes b;
	char here[4096];
	ck_assert_ptr_nonnull(getcwd(here, sizeof here));
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert(file_write("plain", "1", 1, &e));
	ck_assert(file_read(a, "plain", 1, &b, &e));
	ck_assert_int_eq(chdir(here), 0);
	ck_assert_int_eq(count_files(), 1);
}
END_TEST

enum { NOBODY = 65534 };

START_TEST(no_permission_is_a_device_failure)
{
	Err e = { 0 };
	Bytes b;
	/* Root may do everything; nobody may not. */
	if (geteuid() == 0 && (chown(dir, NOBODY, (gid_t)-1) != 0 || setresuid(NOBODY, NOBODY, 0) != 0)) {
		suite_skip("no permission", "root cannot become another user");
		return;
	}
	ck_assert(file_write(in_dir("x"), "1", 1, &e));
	ck_assert_int_eq(chmod(in_dir("x"), 0), 0);
	ck_assert(!file_read(a, in_dir("x"), 10, &b, &e));
	ck_assert_int_eq(e.code, ERR_DEVICE);
	e = (Err){ 0 };
	ck_assert(!file_write(in_dir("x"), "2", 1, &e));
	ck_assert_int_eq(e.code, ERR_DEVICE);
	ck_assert_int_eq(chmod(dir, 0500), 0);
	e = (Err){ 0 };
	ck_assert(!file_write(in_dir("y"), "2", 1, &e));
	ck_assert_int_eq(e.code, ERR_DEVICE);
	(void)!setresuid(0, 0, (uid_t)-1); /* as setup found it */
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("file");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_was_written_is_read_and_mapped);
	tcase_add_loop_test(tc, what_is_no_file_is_refused_by_name, 0, LEN(unreadable));
	tcase_add_test(tc, a_pipe_is_read_to_its_end_but_not_beyond_the_limit);
	tcase_add_test(tc, a_named_pipe_waits_a_moment_for_a_writer);
	tcase_add_loop_test(
		tc, where_nothing_can_be_written_the_code_is_device, 0, LEN(unwritable));
	tcase_add_test(tc, an_abandoned_file_leaves_the_old_one);
	tcase_add_test(tc, a_killed_writer_leaves_nothing);
	tcase_add_test(tc, permissions_and_links_stay);
	tcase_add_test(tc, a_relative_name_works);
	tcase_add_test(tc, no_permission_is_a_device_failure);
	return run_suite("file", tc);
}
