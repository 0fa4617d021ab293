/* The room base: lifetimes, text, numbers, hashes, errors. */
#include "base/guard.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/text.h"
#include "suite.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(arena_gives_zeroed_aligned_memory)
{
	Arena *a = arena_new();
	for (size_t n = 1; n < 100000; n = n * 3 + 1) {
		unsigned char *p = arena_alloc_aligned(a, n, 64);
		ck_assert_uint_eq((uintptr_t)p % 64, 0);
		for (size_t i = 0; i < n; i++)
			ck_assert_uint_eq(p[i], 0);
		memset(p, 0xff, n);
	}
	arena_free(a);
}
END_TEST

static void count_end(void *arg)
{
	++*(int *)arg;
}

/* Memory that runs out comes back to the guard, and the arenas opened since then are gone, but no others. */
START_TEST(a_guard_catches_what_no_memory_is_for)
{
	Guard outer, inner;
	int ends = 0;
	volatile int caught = 0;
	Arena *before = arena_new();
	ck_assert(!GUARD_ENTER(&outer));
	Arena *kept = arena_new();
	if (GUARD_ENTER(&inner)) {
		caught = 1;
	} else {
		arena_at_end(arena_new(), count_end, &ends);
		arena_at_end(kept, count_end, &ends);
		arena_at_end(before, count_end, &ends);
		arena_free(arena_new());
		if (_i == 0)
			guard_fail_at(2);
		arena_alloc(arena_new(), _i == 0 ? 10 : (size_t)1 << 62);
		ck_abort_msg("memory came from nowhere");
	}
	ck_assert_int_eq(caught, 1);
	ck_assert_int_eq(ends, 1);
	guard_leave(&outer);
	arena_alloc(kept, 1 << 20); /* nobody's now */
	arena_free(kept);
	arena_free(before);
	ck_assert_int_eq(ends, 3);
}
END_TEST

START_TEST(vec_keeps_what_was_pushed)
{
	Arena *a = arena_new();
	VEC(int) v = { 0 };
	for (int i = 0; i < 1000; i++)
		vec_push(a, &v, i);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(v.at[i], i);
	arena_free(a);
}
END_TEST

START_TEST(interned_names_are_equal_pointers)
{
	Arena *a = arena_new();
	Interner *in = interner_new(a);
	const char *first = intern(in, "x0");
	for (int i = 0; i < 1000; i++)
		intern(in, arena_printf(a, "n%d", i));
	ck_assert_ptr_eq(intern(in, arena_printf(a, "x0")), first);
	ck_assert_ptr_ne(intern(in, "x0y"), first);
	arena_free(a);
}
END_TEST

START_TEST(numbers_read_back_the_same)
{
	char s[32];
	Rng r = rng_seed(7);
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = rng_next(&r);
		double d;
		float f;
		memcpy(&d, &bits, 8);
		memcpy(&f, &bits, 4);
		if (d == d) {
			text_double(s, sizeof s, d);
			ck_assert(strtod(s, NULL) == d);
		}
		if (f == f) {
			text_float(s, sizeof s, f);
			ck_assert(strtof(s, NULL) == f);
		}
	}
}
END_TEST

static const struct {
	const char *text;
	int ok;
	int64_t value;
} ints[] = {
	{ "0", 1, 0 },
	{ "-5", 1, -5 },
	{ "100", 1, 100 },
	{ "101", 0, 0 },
	{ "", 0, 0 },
	{ " 1", 0, 0 },
	{ "1x", 0, 0 },
	{ "+1", 0, 0 },
	{ "-", 0, 0 },
	{ "99999999999999999999", 0, 0 },
};

START_TEST(text_to_int_takes_whole_numbers_only)
{
	int64_t v = 0;
	ck_assert_int_eq(text_to_int(ints[_i].text, -10, 100, &v), ints[_i].ok);
	if (ints[_i].ok)
		ck_assert_int_eq(v, ints[_i].value);
}
END_TEST

START_TEST(hash_is_blake2b_128)
{
	/* BLAKE2b with a 16-byte digest of "abc\0def", from Python's hashlib. */
	char hex[HASH_HEX];
	hash_hex(hash_of("abc", "def", 3), hex);
	ck_assert_str_eq(hex, "dfa7bbff50f13298d95cbf7c4bfae258");
}
END_TEST

START_TEST(errors_keep_the_first_and_print_at_most_twelve_lines)
{
	Err e = { 0 };
	char out[4096];
	ck_assert(!fail(&e, ERR_SYNTAX, "a.ir:3", "expected %s", "\")\""));
	fail(&e, ERR_TYPE, "b", "second");
	for (int i = 0; i < 30; i++)
		err_add_item(&e, "item %d\n", i);
	err_format(&e, out, sizeof out);
	int lines = 0;
	for (char *p = out; *p != 0; p++)
		lines += *p == '\n';
	ck_assert_int_eq(lines, 12);
	ck_assert_int_eq(strncmp(out, "a.ir:3: expected \")\"\nitem 0?\n", 27), 0);
	ck_assert_ptr_nonnull(strstr(out, "and 20 more\n"));
	ck_assert_int_eq(err_exit_code(e.code), 1);
}
END_TEST

START_TEST(rng_below_is_uniform)
{
	Rng r = rng_seed(1);
	int count[6] = { 0 };
	for (int i = 0; i < 60000; i++)
		count[rng_below(&r, 6)]++;
	for (int i = 0; i < 6; i++)
		ck_assert_int_lt(abs(count[i] - 10000), 500);
}
END_TEST

static const struct {
	const char *typed, *nearest;
} near[] = {
	{ "reset18", "resnet18" },
	{ "resnet81", "resnet18" },
	{ "resnet50", "resnet50" },
	{ "toaster", NULL },
	{ "", NULL },
	{ "x", NULL },
	{ "sqeezenet1_1", "squeezenet1_1" },
};

START_TEST(text_nearest_suggests_what_was_meant)
{
	static const char *const names[] = { "resnet18", "resnet50", "squeezenet1_1", "a" };
	const char *got = text_nearest(near[_i].typed, names, 4);
	ck_assert_pstr_eq(got, near[_i].nearest);
}
END_TEST

START_TEST(what_strangers_write_moves_no_cursor)
{
	static const struct {
		const char *from, *keep, *to;
	} row[] = {
		{ "plain", "", "plain" },
		{ "\033[2J\a\177", "", "?[2J??" },
		{ "a\n\tb\r", "\n\t", "a\n\tb?" },
		{ "a\n", "", "a?" },
		{ "\xc2\x9b" "31m", "", "?31m" }, /* C1 */
		{ "\x9b\xff\xc3", "", "???" }, /* no UTF-8, and a character that is cut */
		{ "\xc0\x9b\xed\xa0\x80", "", "?????" }, /* longer than needed; a surrogate */
		{ "gr\xc3\xbc\xc3\x9f \xe2\x82\xac", "", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac" },
		{ "a\xe2\x80\xae" "b", "", "a?b" }, /* from right to left */
		{ "\xf0\x9f\x99\x82", "", "\xf0\x9f\x99\x82" },
	};
	char text[64];
	snprintf(text, sizeof text, "%s", row[_i].from);
	text_make_printable(text, row[_i].keep);
	ck_assert_str_eq(text, row[_i].to);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("base");
	tcase_add_test(tc, arena_gives_zeroed_aligned_memory);
	tcase_add_loop_test(tc, a_guard_catches_what_no_memory_is_for, 0, 2);
	tcase_add_test(tc, vec_keeps_what_was_pushed);
	tcase_add_test(tc, interned_names_are_equal_pointers);
	tcase_add_test(tc, numbers_read_back_the_same);
	tcase_add_loop_test(tc, text_to_int_takes_whole_numbers_only, 0, LEN(ints));
	tcase_add_test(tc, hash_is_blake2b_128);
	tcase_add_test(tc, errors_keep_the_first_and_print_at_most_twelve_lines);
	tcase_add_test(tc, rng_below_is_uniform);
	tcase_add_loop_test(tc, text_nearest_suggests_what_was_meant, 0, LEN(near));
	tcase_add_loop_test(tc, what_strangers_write_moves_no_cursor, 0, 10);
	return run_suite("base", tc);
}
