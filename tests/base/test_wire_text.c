/* Protobuf's text format by field tables: what it writes in how many ways, and what is refused. */
#include "base/rng.h"
#include "base/wire_text.h"
#include "suite.h"

#include <math.h>

typedef struct Leaf {
	uint64_t has;
	int64_t kind;
	const char *name;
} Leaf;

typedef struct Tree {
	uint64_t has;
	int64_t i;
	float f;
	double d;
	const char *text;
	Bytes bytes;
	Leaf *leaf;
	WireInts ints;
	WireFloats floats;
	WireTexts texts;
	VEC(Leaf) leaves;
	struct Tree *child;
} Tree;

static const WireField kind_field[] = {
	{ "MAX", 0, WIRE_INT, false, 0, NULL },
	{ "AVE", 1, WIRE_INT, false, 0, NULL },
};
static const WireMessage kinds = { "Kind", 0, kind_field, LEN(kind_field) };
static const WireField leaf_field[] = {
	{ "kind", 1, WIRE_INT, false, offsetof(Leaf, kind), &kinds },
	{ "name", 2, WIRE_TEXT, false, offsetof(Leaf, name), NULL },
};
static const WireMessage leaf_message = { "Leaf", sizeof(Leaf), leaf_field, LEN(leaf_field) };
static const WireMessage tree_message;
static const WireField tree_field[] = {
	{ "i", 1, WIRE_INT, false, offsetof(Tree, i), NULL },
	{ "f", 2, WIRE_FLOAT, false, offsetof(Tree, f), NULL },
	{ "d", 3, WIRE_DOUBLE, false, offsetof(Tree, d), NULL },
	{ "text", 4, WIRE_TEXT, false, offsetof(Tree, text), NULL },
	{ "bytes", 5, WIRE_BYTES, false, offsetof(Tree, bytes), NULL },
	{ "leaf", 6, WIRE_MSG, false, offsetof(Tree, leaf), &leaf_message },
	{ "ints", 7, WIRE_INT, true, offsetof(Tree, ints), NULL },
	{ "floats", 8, WIRE_FLOAT, true, offsetof(Tree, floats), NULL },
	{ "texts", 9, WIRE_TEXT, true, offsetof(Tree, texts), NULL },
	{ "leaves", 10, WIRE_MSG, true, offsetof(Tree, leaves), &leaf_message },
	{ "child", 11, WIRE_MSG, false, offsetof(Tree, child), &tree_message },
};
static const WireMessage tree_message = { "Tree", sizeof(Tree), tree_field, LEN(tree_field) };

static bool read_text(Arena *a, const char *text, Tree *t, WireTexts *skipped, Err *err)
{
	*t = (Tree){ 0 };
	return wire_read_text(a, &tree_message, "t.prototxt", (Bytes){ (const unsigned char *)text, strlen(text) }, t,
		skipped, err);
}

static const char all[] =
	"# a comment\n"
	"i: -0x10  f: 1.5e-1f; d: -inf, text: 'it''s' \" one\\n\\x41\\102\\u00e9\"\n"
	"bytes: \"\\000\\xff\"\n"
	"leaf { kind: AVE name: \"a\" } ints: [1, 2,\n 3] ints: 4 floats: 017 floats: nan\n"
	"texts: 'x' texts: ['y', 'z']\n"
	"leaves: < kind: 1 > leaves { } leaves: [ { name: 'q' }, { kind: MAX } ]\n"
	"other { deep: [1, { x: 'y' 'z' }] more < a: -1 > } last: -WORD another: 'a' 'b'\n"
	"child { child { i: true } nope: 1 }";

START_TEST(all_ways_to_write)
{
	Arena *a = arena_new();
	Tree t;
	Err err = { 0 };
	WireTexts skipped = { 0 };
	ck_assert_msg(read_text(a, all, &t, &skipped, &err), "%s: %s", err.place, err.text);
	ck_assert_int_eq(t.i, -16);
	ck_assert_float_eq(t.f, 0.15f);
	ck_assert(isinf(t.d) && t.d < 0);
	ck_assert_str_eq(t.text, "its one\nAB\xc3\xa9");
	ck_assert(t.bytes.n == 2 && t.bytes.at[0] == 0 && t.bytes.at[1] == 0xff);
	ck_assert(t.leaf != NULL && t.leaf->kind == 1 && strcmp(t.leaf->name, "a") == 0 && t.leaf->has == 3);
	ck_assert(t.ints.n == 4 && t.ints.at[0] == 1 && t.ints.at[3] == 4);
	ck_assert(t.floats.n == 2 && t.floats.at[0] == 17 && isnan(t.floats.at[1]));
	ck_assert(t.texts.n == 3 && strcmp(t.texts.at[2], "z") == 0);
	ck_assert(t.leaves.n == 4 && t.leaves.at[0].kind == 1 && strcmp(t.leaves.at[2].name, "q") == 0);
	ck_assert(t.child != NULL && t.child->child != NULL && t.child->child->i == 1);
	ck_assert_uint_eq(t.has, (1u << LEN(tree_field)) - 1);
	ck_assert_uint_eq(skipped.n, 4);
	ck_assert_str_eq(skipped.at[0], "other");
	ck_assert_str_eq(skipped.at[3], "child.nope");
	arena_free(a);
}
END_TEST

static const struct {
	const char *text, *want, *place;
} wrong[] = {
	{ "i 3", "'3' stands where : is needed", "t.prototxt:1" },
	{ "\n\ni: x", "'x' is no value of the field i", "t.prototxt:3" },
	{ "i: 1.5", "'1.5' is no integer of the field i", "t.prototxt:1" },
	{ "i: 99999999999999999999", "is no integer of the field i", "t.prototxt:1" },
	{ "f: 1.2.3", "'1.2.3' is no number of the field f", "t.prototxt:1" },
	{ "f: fast", "'fast' is no number of the field f", "t.prototxt:1" },
	{ "leaf: 3", "'3' stands where { is needed", "t.prototxt:1" },
	{ "leaf { kind: SUM }", "'SUM' is no value of the field kind", "t.prototxt:1" },
	{ "leaf { kind: 1", "the text ends where the name of a field is needed", "t.prototxt:1" },
	{ "leaf { kind: 1 >", "'>' stands where the name of a field is needed", "t.prototxt:1" },
	{ "text: \"a\nb\"", "a string has no closing \"", "t.prototxt:1" },
	{ "text: 3", "'3' stands where a string is needed", "t.prototxt:1" },
	{ "text: \"a\\000b\"", "a name holds a zero byte", "t.prototxt:1" },
	{ "i: [1, 2]", "the field i takes one value, not a list", "t.prototxt:1" },
	{ "ints: [1, 2", "the text ends where ", "t.prototxt:1" },
	{ "what: ", "the text ends where a value is needed", "t.prototxt:1" },
	{ "what: }", "'}' stands where a value is needed", "t.prototxt:1" },
	{ "}", "'}' stands where the name of a field is needed", "t.prototxt:1" },
	{ "\x01", "stands where the name of a field is needed", "t.prototxt:1" },
};

START_TEST(wrong_texts)
{
	Arena *a = arena_new();
	Tree t;
	Err err = { 0 };
	ck_assert(!read_text(a, wrong[_i].text, &t, NULL, &err));
	ck_assert_msg(strstr(err.text, wrong[_i].want) != NULL, "%s", err.text);
	ck_assert_str_eq(err.place, wrong[_i].place);
	arena_free(a);
}
END_TEST

/* Depth and memory have limits. */
START_TEST(hostile_texts)
{
	Arena *a = arena_new();
	Tree t;
	Err err = { 0 };
	Text deep = { .arena = a }, many = { .arena = a };
	for (int k = 0; k < 100; k++)
		text_put(&deep, "child{", 6);
	ck_assert(!read_text(a, text_str(&deep), &t, NULL, &err));
	ck_assert_msg(strstr(err.text, "nested too deeply") != NULL, "%s", err.text);
	for (int k = 0; k < 40000; k++)
		text_put(&many, "leaves{}child{}", 15);
	ck_assert(read_text(a, text_str(&many), &t, NULL, &err));
	ck_assert_uint_eq(t.leaves.n, 40000);
	arena_free(a);
}
END_TEST

/* Bytes changed and cut: read, or a sentence. */
START_TEST(damaged_texts)
{
	Rng r = rng_seed(3);
	for (int k = 0; k < 20000; k++) {
		Arena *a = arena_new();
		char text[sizeof all];
		memcpy(text, all, sizeof all);
		for (uint64_t i = 1 + rng_below(&r, 4); i > 0; i--)
			text[rng_below(&r, sizeof all - 1)] = "{}<>[]:,;'\"\\#-.09ax\n"[rng_below(&r, 20)];
		if (rng_below(&r, 3) == 0)
			text[rng_below(&r, sizeof all)] = 0;
		Tree t;
		Err err = { 0 };
		ck_assert(read_text(a, text, &t, NULL, &err) == (err.code == ERR_NONE));
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("wire_text");
	tcase_add_test(tc, all_ways_to_write);
	tcase_add_loop_test(tc, wrong_texts, 0, LEN(wrong));
	tcase_add_test(tc, hostile_texts);
	tcase_add_test(tc, damaged_texts);
	return run_suite("wire_text", tc);
}
