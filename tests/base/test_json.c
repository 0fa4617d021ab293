/* base/json: what is refused and how it is said; text -> tree -> text; the canonical form. */
#include "base/json.h"
#include "base/rng.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static Arena *a;

static void setup(void)
{
	a = arena_new();
}

static void teardown(void)
{
	arena_free(a);
}

static const struct {
	const char *text, *place, *sentence; /* NULL: parses; else the start of the sentence */
} texts[] = {
	{ "{}", NULL, NULL },
	{ "[1,-2,[3.5],\"x\",null,true,{\"a\":[]}]", NULL, NULL },
	{ "", "t", "is empty, and no JSON" },
	{ " ", "t:1", "not JSON: '[' or '{' expected near end of file" },
	{ "{", "t:1", "not JSON: string or '}' expected near end of file" },
	{ "[1,\n2", "t:2", "not JSON: ']' expected near end of file" },
	{ "[1]x", "t:1", "not JSON: end of file expected near 'x'" },
	{ "1", "t:1", "not JSON: '[' or '{' expected near '1'" },
	{ "{\"a\":1,\n\"a\":2}", "t:2", "not JSON: duplicate object key" },
	{ "[1e999]", "t:1", "not JSON: real number overflow" },
	{ "[99999999999999999999]", "t:1", "not JSON: too big integer" },
	{ "[\"\xff\"]", "t:1", "not JSON: unable to decode byte 0xff" },
	{ "[\"\\u0000\"]", "t:1", "not JSON: \\u0000 is not allowed" },
	{ "[\"\\ud800\"]", "t:1", "not JSON: invalid Unicode" },
	{ "[\"a\nb\"]", "t:1", "not JSON: unexpected newline" },
};

START_TEST(json_parse_takes_json_and_nothing_else)
{
	Err e = { 0 };
	const Json *v = json_parse(a, "t", texts[_i].text, strlen(texts[_i].text), &e);
	ck_assert_int_eq(v != NULL, texts[_i].place == NULL);
	if (v == NULL) {
		ck_assert_str_eq(e.place, texts[_i].place);
		ck_assert_int_eq(
			strncmp(e.text, texts[_i].sentence, strlen(texts[_i].sentence)), 0);
		ck_assert_int_eq(err_exit_code(e.code), 1);
	}
}
END_TEST

START_TEST(nesting_is_bounded_and_brackets_in_texts_do_not_count)
{
	for (int depth = JSON_DEPTH - 1; depth <= 100000;
		depth = depth < JSON_DEPTH + 1 ? depth + 1 : depth * 10) {
		Text t = { .arena = a };
		text_add(&t, "\n");
		for (int i = 0; i < depth; i++)
			text_add(&t, "[");
		text_add(&t, "\"[[[[\\\"[[[[\"");
		for (int i = 0; i < depth; i++)
			text_add(&t, "]");
		Err e = { 0 };
		ck_assert_int_eq(json_parse(a, "deep", t.at, t.n, &e) != NULL, depth <= JSON_DEPTH);
		if (depth > JSON_DEPTH)
			ck_assert_str_eq(e.place, "deep:2");
	}
}
END_TEST

static const char sample[] =
	"{\"n\":5,\"s\":\"x\",\"cache\":[{\"bytes\":\"many\"},{\"bytes\":-1}],\"r\":1.5,\"o\":{}}";

START_TEST(messages_name_the_path)
{
	Err e = { 0 };
	int64_t i;
	const char *s;
	const Json *v = json_parse(a, "x.json", sample, strlen(sample), &e);
	ck_assert(json_int(v, "n", 0, 5, &i, &e) && i == 5);
	ck_assert(json_str(v, "s", &s, &e) && strcmp(s, "x") == 0);
	const Json *rows = json_want(v, "cache", JV_ARRAY, &e);
	ck_assert_ptr_nonnull(rows);

#define SAYS(call, sentence) \
	do { \
		e = (Err){ 0 }; \
		ck_assert(!(call)); \
		ck_assert_str_eq(e.text, sentence); \
		ck_assert_str_eq(e.place, "x.json"); \
	} while (0)
	SAYS(json_int(rows->list.at[0], "bytes", 1, 100, &i, &e),
		"/cache/0/bytes must be an integer in 1..100");
	SAYS(json_int(rows->list.at[1], "bytes", 1, 100, &i, &e),
		"/cache/1/bytes must be an integer in 1..100");
	SAYS(json_int(rows->list.at[1], "byte", 1, 100, &i, &e), "/cache/1 lacks the key \"byte\"");
	SAYS(json_int(v, "r", 1, 2, &i, &e), "/r must be an integer in 1..2");
	SAYS(json_int(v, "n", 6, 9, &i, &e), "/n must be an integer in 6..9");
	SAYS(json_str(v, "n", &s, &e), "/n must be a text");
	SAYS(json_want(v, "o", JV_ARRAY, &e), "/o must be an array");
	SAYS(json_str(rows, "n", &s, &e), "/cache must be an object");
	const char *const names[] = { "n", "s", "cache", "ratio", "o" };
	SAYS(json_only(v, names, 5, &e), "/r is not a key that may stand here");
	const char *const near[] = { "n", "s", "caches", "r", "o" };
	SAYS(json_only(v, near, 5, &e),
		"/cache is not a key that may stand here; did you mean \"caches\"?");
}
END_TEST

static const struct {
	const char *in, *written, *canonical; /* canonical NULL: refused */
} forms[] = {
	{ "{ \"b\" : 1, \"a\" : [ 2 , \"x\" ] }", "{\"b\":1,\"a\":[2,\"x\"]}",
		"{\"a\":[2,\"x\"],\"b\":1}" },
	{ "{\"b\":{\"d\":1,\"c\":2},\"B\":0,\"\":3}", "{\"b\":{\"d\":1,\"c\":2},\"B\":0,\"\":3}",
		"{\"\":3,\"B\":0,\"b\":{\"c\":2,\"d\":1}}" },
	{ "[\"\\u00e9\\/\\t\\u0001\\\"\\\\\\u007f\\ud83d\\ude00\"]",
		"[\"\xc3\xa9/\\t\\u0001\\\"\\\\\\u007f\xf0\x9f\x98\x80\"]",
		"[\"\xc3\xa9/\\t\\u0001\\\"\\\\\\u007f\xf0\x9f\x98\x80\"]" },
	{ "[-9223372036854775808,9223372036854775807]",
		"[-9223372036854775808,9223372036854775807]",
		"[-9223372036854775808,9223372036854775807]" },
	{ "[1.0,1e300,0.1]", "[1.0,1e+300,0.1]", NULL },
	{ "[true]", "[true]", NULL },
	{ "[null]", "[null]", NULL },
	{ "[]", "[]", "[]" },
};

START_TEST(text_is_written_back)
{
	Err e = { 0 };
	Text out = { .arena = a }, canon = { .arena = a };
	const Json *v = json_parse(a, "f", forms[_i].in, strlen(forms[_i].in), &e);
	ck_assert_ptr_nonnull(v);
	json_write(&out, v);
	ck_assert_str_eq(text_str(&out), forms[_i].written);
	ck_assert_int_eq(json_write_canonical(&canon, v, &e), forms[_i].canonical != NULL);
	if (forms[_i].canonical != NULL)
		ck_assert_str_eq(text_str(&canon), forms[_i].canonical);
}
END_TEST

START_TEST(what_is_built_replaces_and_reads_back)
{
	Json *v = json_new(a, JV_OBJECT);
	json_set(a, v, "x", json_new_int(a, 1));
	json_set(a, v, "y", json_new_real(a, INFINITY));
	json_set(a, v, "x", json_new_text(a, "bad \xff\xc3 utf \xed\xa0\x80"));
	json_push(a, json_set(a, v, "z", json_new(a, JV_ARRAY)), json_new_bool(a, false));
	Text out = { .arena = a };
	json_write(&out, v);
	ck_assert_str_eq(
		text_str(&out), "{\"x\":\"bad \xef\xbf\xbd\xef\xbf\xbd utf "
	                        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",\"y\":null,\"z\":[false]}");
	Err e = { 0 };
	ck_assert_ptr_nonnull(json_parse(a, "b", out.at, out.n, &e));
	ck_assert(!json_write_canonical(&out, v, NULL));
}
END_TEST

static Json *random_value(Rng *r, int depth)
{
	char text[12];
	Json *v;
	switch (rng_below(r, depth > 0 ? 4 : 2)) {
	case 0: return json_new_int(a, (int64_t)rng_next(r) >> rng_below(r, 64));
	case 1:
		for (int i = 0; i < 11; i++)
			text[i] = (char)(1 + rng_below(r, 127));
		text[rng_below(r, 12)] = 0;
		text[11] = 0;
		return json_new_text(a, text);
	case 2:
		v = json_new(a, JV_ARRAY);
		for (uint64_t n = rng_below(r, 5); n > 0; n--)
			json_push(a, v, random_value(r, depth - 1));
		return v;
	default:
		v = json_new(a, JV_OBJECT);
		for (uint64_t n = rng_below(r, 6); n > 0; n--)
			json_set(a, v, arena_printf(a, "k%d", (int)rng_below(r, 20)),
				random_value(r, depth - 1));
		return v;
	}
}

START_TEST(canonical_text_is_a_fixed_point)
{
	Rng r = rng_seed(20);
	for (int round = 0; round < 2000; round++) {
		Err e = { 0 };
		Text once = { .arena = a }, twice = { .arena = a };
		Json *top = json_push(a, json_new(a, JV_ARRAY), random_value(&r, 5));
		ck_assert(json_write_canonical(&once, top->parent, &e));
		const Json *back = json_parse(a, "r", once.at, once.n, &e);
		ck_assert_ptr_nonnull(back);
		ck_assert(json_write_canonical(&twice, back, &e));
		ck_assert_str_eq(once.at, twice.at);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("json");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, json_parse_takes_json_and_nothing_else, 0, LEN(texts));
	tcase_add_test(tc, nesting_is_bounded_and_brackets_in_texts_do_not_count);
	tcase_add_test(tc, messages_name_the_path);
	tcase_add_loop_test(tc, text_is_written_back, 0, LEN(forms));
	tcase_add_test(tc, what_is_built_replaces_and_reads_back);
	tcase_add_test(tc, canonical_text_is_a_fixed_point);
	return run_suite("json", tc);
}
