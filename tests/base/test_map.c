/* The hash table: against a plain list, through growth, collisions and truncation. */
#include "base/map.h"
#include "base/rng.h"
#include "base/text.h"
#include "suite.h"

#include <string.h>

enum { MANY = 3000 };

START_TEST(an_empty_map_finds_nothing)
{
	Arena *a = arena_new();
	Map m = MAP_OF(a);
	MapIndex x = { .arena = a };
	uint32_t at = 7;
	ck_assert_ptr_null(map_find(&m, 0));
	ck_assert_ptr_null(map_find_text(&m, ""));
	ck_assert_uint_eq(map_next(&x, 7, &at), MAP_NONE);
	map_truncate(&m, 0);
	ck_assert_uint_eq(arena_used(a), 0);
	arena_free(a);
}
END_TEST

START_TEST(entries_stand_in_order_of_addition)
{
	Arena *a = arena_new();
	Map m = MAP_OF(a);
	Rng r = rng_seed(11);
	uint64_t key[MANY];
	for (int i = 0; i < MANY; i++) {
		key[i] = rng_next(&r) >> rng_below(&r, 40) << 12 | (uint64_t)i; /* the last bits make it the only one */
		MapEntry *e = map_add(&m, key[i]);
		ck_assert_int_eq(e->num, 0);
		e->num = i + 1;
		ck_assert_int_eq(map_add(&m, key[i / 2])->num, i / 2 + 1);
	}
	ck_assert_uint_eq(m.index.n, MANY);
	for (int i = 0; i < MANY; i++) {
		ck_assert_uint_eq(m.at[i].key, key[i]);
		ck_assert_int_eq(map_find(&m, key[i])->num, i + 1);
		ck_assert_ptr_null(map_find(&m, key[i] ^ 1ull << 63));
	}
	arena_free(a);
}
END_TEST

START_TEST(bytes_are_compared_whole)
{
	Arena *a = arena_new();
	Map m = MAP_OF(a);
	map_add_bytes(&m, "a\0b", 3)->num = 1;
	map_add_bytes(&m, "a\0c", 3)->num = 2;
	map_add_text(&m, "a")->num = 3;
	map_add_text(&m, "")->num = 4;
	for (int i = 0; i < MANY; i++)
		map_add_text(&m, arena_printf(a, "name %d", i))->num = i;
	ck_assert_int_eq(map_find_bytes(&m, "a\0b", 3)->num, 1);
	ck_assert_int_eq(map_find_bytes(&m, "a\0c", 3)->num, 2);
	ck_assert_int_eq(map_find_bytes(&m, "a\0", 1)->num, 3);
	ck_assert_int_eq(map_find_text(&m, "")->num, 4);
	ck_assert_ptr_null(map_find_bytes(&m, "a\0", 2));
	ck_assert_str_eq(m.at[4 + 77].text, "name 77");
	ck_assert_int_eq(map_find_text(&m, "name 2999")->num, 2999);
	arena_free(a);
}
END_TEST

START_TEST(pointers_to_equal_text_are_different_keys)
{
	Arena *a = arena_new();
	Map m = MAP_OF(a);
	char one[] = "x", two[] = "x";
	map_add_ptr(&m, one)->ptr = two;
	ck_assert_ptr_null(map_find_ptr(&m, two));
	ck_assert_ptr_eq(map_find_ptr(&m, one)->ptr, two);
	arena_free(a);
}
END_TEST

/* Keys of a small range, so that runs of slots collide, and a model that knows which are in. */
START_TEST(truncation_forgets_the_last_entries_only)
{
	Arena *a = arena_new();
	Map m = MAP_OF(a);
	Rng r = rng_seed(5);
	uint64_t key[MANY];
	uint32_t n = 0;
	for (int round = 0; round < 400; round++) {
		uint32_t to = (uint32_t)rng_below(&r, MANY);
		for (; n < to; n++) {
			do
				key[n] = rng_next(&r) % (4 * MANY);
			while (map_find(&m, key[n]) != NULL);
			map_add(&m, key[n])->num = n;
		}
		map_truncate(&m, to);
		for (uint32_t i = to; i < n; i++)
			ck_assert_ptr_null(map_find(&m, key[i]));
		n = to;
		ck_assert_uint_eq(m.index.n, n);
		for (uint32_t i = 0; i < n; i++)
			ck_assert_int_eq(map_find(&m, key[i])->num, i);
	}
	arena_free(a);
}
END_TEST

START_TEST(an_index_gives_every_number_of_a_hash)
{
	Arena *a = arena_new();
	MapIndex x = { .arena = a };
	for (uint32_t i = 0; i < MANY; i++)
		ck_assert_uint_eq(map_index_add(&x, i % 7 << 29), i);
	for (uint32_t h = 0; h < 7; h++) {
		bool seen[MANY] = { false };
		int n = 0;
		for (uint32_t at = h << 29, k; (k = map_next(&x, h << 29, &at)) != MAP_NONE; n++) {
			ck_assert(k % 7 == h && !seen[k]);
			seen[k] = true;
		}
		ck_assert_int_eq(n, (MANY - (int)h + 6) / 7);
	}
	arena_free(a);
}
END_TEST

/* What the cost rests on: multiples of a power of two, as addresses are, spread over the slots. */
START_TEST(addresses_spread)
{
	for (int shift = 0; shift <= 24; shift++) {
		unsigned char hits[4096] = { 0 };
		int most = 0;
		for (uint64_t i = 0; i < 2048; i++) {
			unsigned char *h = &hits[map_hash(i << shift) % 4096];
			most = ++*h > most ? *h : most;
		}
		ck_assert_msg(most <= 10, "shift %d: %d keys in one slot", shift, most);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("map");
	tcase_add_test(tc, an_empty_map_finds_nothing);
	tcase_add_test(tc, entries_stand_in_order_of_addition);
	tcase_add_test(tc, bytes_are_compared_whole);
	tcase_add_test(tc, pointers_to_equal_text_are_different_keys);
	tcase_add_test(tc, truncation_forgets_the_last_entries_only);
	tcase_add_test(tc, an_index_gives_every_number_of_a_hash);
	tcase_add_test(tc, addresses_spread);
	return run_suite("map", tc);
}
