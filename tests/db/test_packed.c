/*
 * Logs that gzip has packed: as segments of a folder and as imports, of several members, cut off and damaged. zlib
 * packs them.
 */
#include "logs_folder.h"

#include "base/gzip.h"

#include <zlib.h>

/* Appends a member with these bytes. */
static void pack(const char *path, const char *mode, const char *text, size_t n)
{
	gzFile f = gzopen(path, mode);
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(gzwrite(f, text, (unsigned)n), n);
	ck_assert_int_eq(gzclose(f), Z_OK);
}

/* Behind the seal of the third run. */
static size_t third_of(const char *text)
{
	const char *at = text;
	for (int i = 0; i < 3; i++)
		at = strstr(at + 1, "\"kind\":\"run\"");
	at = strchr(strchr(at, '\n') + 1, '\n');
	return (size_t)(at + 1 - text);
}

static int lines_in(const char *text, size_t n)
{
	int lines = 0;
	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}

/* A folder's packed segment has all its runs, own ones too, whatever members it has, and also when it has grown. */
START_TEST(a_packed_segment_is_read)
{
	World w = fill_logs("one", 8, 6);
	const char *text = read_text(only_log("one")), *packed = path_of("team/cpu/a.jsonl.gz");
	size_t part = third_of(text);
	ck_assert_int_eq(mkdir(path_of("team"), 0777), 0);
	ck_assert_int_eq(mkdir(path_of("team/cpu"), 0777), 0);
	pack(packed, "wb9", text, part);
	check_logs("team", &w, 3, -1);
	pack(packed, "ab1", text + part, strlen(text) - part);
	for (int turn = 0; turn < 2; turn++)
		check_logs("team", &w, 6, 10);
}
END_TEST

/* A segment may be packed in its folder, and unpacked again. */
START_TEST(a_segment_is_packed)
{
	Db *db = open_logs("team", DB_WRITE);
	World w = fill_world(db, 8);
	put_run(db, &w, "split i 2\n", RUN_OK, 1000, 5);
	const char *log = only_log("team"), *text = read_text(log), *packed = arena_printf(arena, "%s.gz", log);
	pack(packed, "wb", text, strlen(text));
	ck_assert_int_eq(unlink(log), 0);
	for (int turn = 0; turn < 2; turn++) {
		check_logs("team", &w, 1, -1);
		write_text(log, text);
		if (turn == 0)
			ck_assert_int_eq(unlink(packed), 0);
	}
	db_close(db);
}
END_TEST

/* One that is cut off gives its whole lines and says where it ends; when it is whole, nothing is said. */
START_TEST(a_cut_segment_gives_what_it_has)
{
	int64_t own, last = -1;
	World w = fill_logs("one", 8, 12);
	const char *text = read_text(only_log("one")), *packed = path_of("team/a.jsonl.gz");
	ck_assert_int_eq(mkdir(path_of("team"), 0777), 0);
	pack(packed, "wb0", text, strlen(text)); /* stored as it is: so that any length has some lines */
	Bytes whole = read_bytes(packed);
	for (size_t n = 2, tail = whole.n - 12; n < whole.n; n = n >= 30 && n + 199 < tail ? n + 199 : n + 1) {
		write_bytes(packed, whole.at, n);
		Bytes left = { whole.at, n };
		Err why = { 0 };
		ck_assert(!gzip_unpack(arena, &left, 1 << 26, &why));
		ck_assert_int_eq(why.code, ERR_INPUT);
		ck_assert(left.n <= strlen(text) && memcmp(left.at, text, left.n) == 0 && left.at[left.n] == 0);
		Db *db = open_logs("team", DB_READ);
		ck_assert_int_eq(db_lost(db), 1);
		const char *want = arena_printf(arena, "%s:%d: the packed file is damaged: it is cut off", packed,
			lines_in(text, left.n) + 1);
		ck_assert_msg(strstr(db_note(db), want) != NULL, "%s: %s", db_note(db), want);
		int64_t runs = count_runs(db, &w, &own);
		ck_assert_int_ge(runs, last);
		last = runs;
		db_close(db);
	}
	ck_assert_int_eq(last, 12);
	write_bytes(packed, whole.at, whole.n);
	check_logs("team", &w, 12, 16);
}
END_TEST

/* Damage behind the header is told, also when only its place changes. Lines behind it are lost, and none is wrong. */
START_TEST(a_damaged_segment_is_told)
{
	int64_t own;
	World w = fill_logs("one", 8, 12);
	const char *text = read_text(only_log("one")), *packed = path_of("team/a.jsonl.gz");
	enum { HEAD = 10, CRC = 8 };
	int64_t least = 12, most = 0;
	ck_assert_int_eq(mkdir(path_of("team"), 0777), 0);
	pack(packed, "wb", text, strlen(text));
	Bytes whole = read_bytes(packed);
	for (size_t i = HEAD; i < whole.n; i += 1 + whole.n / 97) {
		if (i == whole.n - CRC - 1)
			continue; /* its last bits mean nothing */
		unsigned char *bad = arena_copy(arena, whole.at, whole.n);
		bad[i] ^= 0x10;
		Bytes left = { bad, whole.n };
		Err why = { 0 };
		ck_assert_msg(!gzip_unpack(arena, &left, 1 << 26, &why), "byte %zu", i);
		write_bytes(packed, bad, whole.n);
		Db *db = open_logs("team", DB_READ);
		ck_assert_msg(db_lost(db) >= 1 && db_note(db) != NULL, "byte %zu", i);
		const char *kept = export_of(db);
		for (size_t at = 0, n = strlen(kept); at < n;) {
			const char *line = kept + at;
			size_t len = text_line(kept, n, &at);
			ck_assert(strstr(text, arena_printf(arena, "%.*s\n", (int)len, line)) != NULL);
		}
		int64_t runs = count_runs(db, &w, &own);
		least = runs < least ? runs : least;
		most = runs > most ? runs : most;
		db_close(db);
	}
	ck_assert(least == 0 && most == 12);
	write_bytes(packed, whole.at, whole.n);
	static const char zeros[512];
	FILE *f = fopen(packed, "a");
	ck_assert(f != NULL && fwrite(zeros, 1, sizeof zeros, f) == sizeof zeros && fflush(f) == 0);
	check_logs("team", &w, 12, 16);
	ck_assert(fputs("more", f) >= 0 && fclose(f) == 0);
	Db *db = open_logs("team", DB_READ);
	ck_assert_int_eq(count_runs(db, &w, &own), 12);
	ck_assert_ptr_nonnull(strstr(db_note(db), "other bytes follow the packed ones"));
	db_close(db);
}
END_TEST

/* A packed segment that is damaged may give way to a plain one of the same name, which is not. */
START_TEST(damage_goes_with_the_file)
{
	World w = fill_logs("one", 8, 12);
	const char *text = read_text(only_log("one")), *log = path_of("team/a.jsonl");
	ck_assert_int_eq(mkdir(path_of("team"), 0777), 0);
	pack(log, "wb0", text, strlen(text));
	Bytes whole = read_bytes(log);
	write_bytes(log, whole.at, whole.n / 2);
	Db *db = open_logs("team", DB_READ);
	ck_assert_int_eq(db_lost(db), 1);
	db_close(db);
	write_text(log, text);
	check_logs("team", &w, 12, 16);
}
END_TEST

/* An import takes packed lines as it takes others; what is missing at the end counts as one line. */
START_TEST(packed_lines_are_imported)
{
	fill_logs("one", 8, 6);
	const char *text = read_text(only_log("one")), *packed = path_of("a.gz");
	pack(packed, "wb", text, strlen(text));
	Bytes b = read_bytes(packed);
	ck_assert(db_is_log((const char *)b.at, b.n));
	for (int cut = 0; cut < 2; cut++) {
		Err err = { 0 };
		ImportCount c = { 0 };
		Db *db = open_or_die(path_of(cut ? "cut" : "whole"), DB_WRITE);
		ck_assert(db_import(db, "a.gz", (const char *)b.at, b.n - (cut ? 1 : 0), &c, &err));
		ck_assert_int_eq(c.taken, 10);
		ck_assert_int_eq(c.refused, cut);
		const char *want = arena_printf(arena, "a.gz:%d: the packed file is damaged: it is cut off",
			lines_in(text, strlen(text)) + 1);
		ck_assert_msg(!cut || strcmp(c.first, want) == 0, "%s", c.first);
		db_close(db);
	}
}
END_TEST

/* A small file that becomes a very long one is refused before it takes memory; other files stay as they are. */
START_TEST(what_would_be_too_long_is_refused)
{
	enum { MIB = 1 << 20, LIMIT = 3 * MIB };
	const char *packed = path_of("zeros.gz"), *zeros = arena_alloc(arena, MIB);
	for (int i = 0; i < 4; i++) {
		Err err = { 0 };
		pack(packed, i == 0 ? "wb9" : "ab9", zeros, MIB);
		Bytes b = read_bytes(packed);
		bool fits = gzip_unpack(arena, &b, LIMIT, &err);
		ck_assert_int_eq(fits, i < 3);
		ck_assert_int_eq(b.n, fits ? (i + 1) * MIB : 0);
		ck_assert(fits || strstr(err.text, "more than 3145728 bytes") != NULL);
	}
	static const unsigned char plain[] = "{\"kind\":1}\n", mark[] = { 0x1f, 0x8c, 8, 0 };
	const Bytes others[] = { { plain, sizeof plain - 1 }, { mark, sizeof mark }, { plain, 1 }, { NULL, 0 } };
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		Bytes b = others[i];
		ck_assert(gzip_unpack(arena, &b, LIMIT, NULL));
		ck_assert(b.at == others[i].at && b.n == others[i].n);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("packed");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_packed_segment_is_read);
	tcase_add_test(tc, a_segment_is_packed);
	tcase_add_test(tc, a_cut_segment_gives_what_it_has);
	tcase_add_test(tc, a_damaged_segment_is_told);
	tcase_add_test(tc, damage_goes_with_the_file);
	tcase_add_test(tc, packed_lines_are_imported);
	tcase_add_test(tc, what_would_be_too_long_is_refused);
	tcase_set_timeout(tc, 60);
	return run_suite("packed", tc);
}
