/* The wire reader and writer by a small schema: each kind of member, each kind of damage. */
#include "base/wire.h"
#include "base/rng.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

typedef struct Leaf {
	uint64_t has;
	int64_t i;
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
	WireDoubles doubles;
	WireTexts texts;
	WireBlobs blobs;
	VEC(Leaf) leaves;
	struct Tree *child;
} Tree;

static const WireField leaf_fields[] = {
	{ "i", 1, WIRE_INT, false, offsetof(Leaf, i), NULL },
	{ "name", 2, WIRE_TEXT, false, offsetof(Leaf, name), NULL },
};
static const WireMessage leaf_message = { "Leaf", sizeof(Leaf), leaf_fields, LEN(leaf_fields) };
static const WireMessage tree_message;
static const WireField tree_fields[] = {
	{ "i", 1, WIRE_INT, false, offsetof(Tree, i), NULL },
	{ "f", 2, WIRE_FLOAT, false, offsetof(Tree, f), NULL },
	{ "d", 3, WIRE_DOUBLE, false, offsetof(Tree, d), NULL },
	{ "text", 4, WIRE_TEXT, false, offsetof(Tree, text), NULL },
	{ "bytes", 5, WIRE_BYTES, false, offsetof(Tree, bytes), NULL },
	{ "leaf", 6, WIRE_MSG, false, offsetof(Tree, leaf), &leaf_message },
	{ "ints", 7, WIRE_INT, true, offsetof(Tree, ints), NULL },
	{ "floats", 8, WIRE_FLOAT, true, offsetof(Tree, floats), NULL },
	{ "doubles", 9, WIRE_DOUBLE, true, offsetof(Tree, doubles), NULL },
	{ "texts", 10, WIRE_TEXT, true, offsetof(Tree, texts), NULL },
	{ "blobs", 11, WIRE_BYTES, true, offsetof(Tree, blobs), NULL },
	{ "leaves", 12, WIRE_MSG, true, offsetof(Tree, leaves), &leaf_message },
	{ "child", 1000, WIRE_MSG, false, offsetof(Tree, child), &tree_message },
};
static const WireMessage tree_message = { "Tree", sizeof(Tree), tree_fields, LEN(tree_fields) };

static Bytes from_hex(Arena *a, const char *hex)
{
	unsigned char *out = arena_alloc(a, strlen(hex) + 1);
	size_t n = 0;
	for (const char *s = hex; *s != 0; s += 2) {
		while (*s == ' ')
			s++;
		unsigned v;
		ck_assert_int_eq(sscanf(s, "%2x", &v), 1);
		out[n++] = (unsigned char)v;
	}
	return (Bytes){ out, n };
}

static char *to_hex(Arena *a, const Text *t)
{
	Text out = { .arena = a };
	for (size_t k = 0; k < t->n; k++)
		text_add(&out, "%02x", (unsigned char)t->at[k]);
	return arena_printf(a, "%s", text_str(&out));
}

/* What is read, written again: packed, in the table's order, without what is unknown. */
static const struct {
	const char *what, *in, *out;
} good[] = {
	{ "nothing", "", "" },
	{ "an integer", "0896 01", "089601" },
	{ "zero that is there", "0800", "0800" },
	{ "a negative number has ten bytes", "08ffffffffffffffffff01", "08ffffffffffffffffff01" },
	{ "the later value counts", "0801 0802", "0802" },
	{ "float and double", "15 0000803f 19 000000000000f03f", "150000803f19000000000000f03f" },
	{ "text and bytes", "2202 6869 2a01 00", "22026869 2a0100" },
	{ "empty text", "2200", "2200" },
	{ "a message", "3204 0807 1200", "320408071200" },
	{ "a message given twice is merged", "3202 0807 3203 120178", "32050807120178" },
	{ "repeated integers, one by one", "3801 3802 3803", "3a03010203" },
	{ "repeated integers, packed", "3a04 01 8002 03", "3a04018002 03" },
	{ "packed and not, mixed", "3801 3a02 0203 3804", "3a0401020304" },
	{ "packed floats", "4208 0000803f 00000040", "42080000803f00000040" },
	{ "floats one by one", "45 0000803f 45 00000040", "42080000803f00000040" },
	{ "packed doubles", "4a08 000000000000f03f", "4a08000000000000f03f" },
	{ "texts and blobs", "5201 61 5201 62 5a00 5a01 01", "5201615201625a005a0101" },
	{ "messages", "6202 0801 6200 6202 0803", "62020801620062020803" },
	{ "a large field number", "c23e02 0805", "c23e020805" },
	{ "unknown fields of each type",
		"f80601 f106 0102030405060708 fa0603 616263 f506 01020304 0801", "0801" },
	{ "an empty packed list", "3a00", "" },
};

START_TEST(reads_and_writes)
{
	Arena *a = arena_new();
	Tree t = { 0 };
	Err err = { 0 };
	Text out = { .arena = a }, want = { .arena = a };
	bool ok = wire_read(a, &tree_message, from_hex(a, good[_i].in), &t, &err);
	ck_assert_msg(ok, "%s: %s", good[_i].what, err.text);
	wire_write(&out, &tree_message, &t);
	Bytes w = from_hex(a, good[_i].out);
	text_put(&want, (const char *)w.at, w.n);
	ck_assert_str_eq(to_hex(a, &out), to_hex(a, &want));
	ck_assert_uint_eq(wire_size(&tree_message, &t), out.n);
	arena_free(a);
}
END_TEST

static const struct {
	const char *in, *want;
} bad[] = {
	{ "08", "damaged at byte 0, in Tree: a number is cut off" },
	{ "0880", "damaged at byte 0, in Tree: a number is cut off" },
	{ "08ffffffffffffffffffff01", "longer than ten bytes" },
	{ "150000", "in Tree: a number is cut off" },
	{ "1900000000", "in Tree: a number is cut off" },
	{ "0801 2205 6162", "damaged at byte 2, in Tree: it says to be longer than what is left" },
	{ "22ffffffffffffffffff01 61", "longer than what is left" },
	{ "2a", "a number is cut off" },
	{ "0001", "field number out of range" },
	{ "f8ffffff7f01", "field number out of range" },
	{ "0b 0c", "groups are not supported" },
	{ "0c", "groups are not supported" },
	{ "0e", "no such wire type" },
	{ "0f", "no such wire type" },
	{ "0d 01020304", "Tree.i: it has another wire type" },
	{ "10 01", "Tree.f: it has another wire type" },
	{ "20 01", "Tree.text: it has another wire type" },
	{ "32 03 120500", "damaged at byte 2, in Leaf: it says to be longer" },
	{ "2203 610062", "Tree.text: a name holds a zero byte" },
	{ "3a01 80", "Tree.ints: the last number of a packed list is cut off" },
	{ "4203 000000", "Tree.floats: the last number of a packed list is cut off" },
	{ "4a0a 00000000000000000000",
		"Tree.doubles: the last number of a packed list is cut off" },
};

START_TEST(refuses_with_a_sentence)
{
	Arena *a = arena_new();
	Tree t = { 0 };
	Err err = { 0 };
	ck_assert(!wire_read(a, &tree_message, from_hex(a, bad[_i].in), &t, &err));
	ck_assert_int_eq(err.code, ERR_INPUT);
	ck_assert_msg(strstr(err.text, bad[_i].want) != NULL, "%s: \"%s\" lacks \"%s\"", bad[_i].in,
		err.text, bad[_i].want);
	arena_free(a);
}
END_TEST

/* `depth` children inside each other. */
static Bytes nested(Arena *a, int depth)
{
	Bytes b = { NULL, 0 };
	for (int k = 0; k < depth; k++) {
		unsigned char *out = arena_alloc(a, b.n + 8);
		size_t n = 0;
		out[n++] = 0xc2;
		out[n++] = 0x3e;
		if (b.n >= 0x80)
			out[n++] = (unsigned char)(b.n | 0x80);
		out[n++] = (unsigned char)(b.n >= 0x80 ? b.n >> 7 : b.n);
		if (b.n > 0)
			memcpy(out + n, b.at, b.n);
		b = (Bytes){ out, n + b.n };
	}
	return b;
}

START_TEST(nesting_is_limited)
{
	Arena *a = arena_new();
	Tree t = { 0 };
	Err err = { 0 };
	ck_assert(wire_read(a, &tree_message, nested(a, WIRE_DEPTH), &t, NULL));
	memset(&t, 0, sizeof t);
	ck_assert(!wire_read(a, &tree_message, nested(a, WIRE_DEPTH + 1), &t, &err));
	ck_assert(strstr(err.text, "nested too deeply") != NULL);
	arena_free(a);
}
END_TEST

/* Two bytes of input ask for a struct each: the memory stays in proportion. */
START_TEST(memory_is_bounded_by_the_input)
{
	Arena *a = arena_new();
	size_t n = 4 << 20;
	unsigned char *in = arena_alloc(a, n);
	for (size_t k = 0; k < n; k += 2)
		in[k] = 0x62; /* an empty leaf */
	size_t before = arena_used(a);
	Tree t = { 0 };
	wire_read(a, &tree_message, (Bytes){ in, n }, &t, NULL);
	ck_assert_uint_le(arena_used(a) - before, 80 * n);
	arena_free(a);
}
END_TEST

static Leaf random_leaf(Arena *a, Rng *r)
{
	Leaf l = { .has = 3, .i = (int64_t)(rng_next(r) >> rng_below(r, 64)) };
	l.name = arena_printf(a, "n%d", (int)rng_below(r, 1000));
	return l;
}

static Tree *random_tree(Arena *a, Rng *r, int depth)
{
	Tree *t = arena_new_of(a, Tree);
	t->i = (int64_t)(rng_next(r) >> rng_below(r, 64));
	t->f = (float)rng_normal(r);
	t->d = rng_normal(r);
	t->text = arena_printf(a, "%d", (int)rng_below(r, 100000));
	t->bytes = (Bytes){ (const unsigned char *)t->text, strlen(t->text) };
	for (int k = (int)rng_below(r, 20); k > 0; k--) {
		vec_push(a, &t->ints, (int64_t)(rng_next(r) >> rng_below(r, 64)));
		vec_push(a, &t->floats, (float)rng_normal(r));
		vec_push(a, &t->doubles, rng_normal(r));
		vec_push(a, &t->texts, t->text);
		vec_push(a, &t->blobs, t->bytes);
		vec_push(a, &t->leaves, random_leaf(a, r));
	}
	if (rng_below(r, 2) != 0) {
		t->leaf = arena_new_of(a, Leaf);
		*t->leaf = random_leaf(a, r);
	}
	if (depth > 0 && rng_below(r, 4) != 0)
		t->child = random_tree(a, r, depth - 1);
	return t;
}

/* What was written is read back to the same bytes; cut anywhere or changed, it never crashes. */
START_TEST(random_messages_round_trip)
{
	Rng r = rng_seed(20240811);
	for (int n = 0; n < 200; n++) {
		Arena *a = arena_new();
		Text first = { .arena = a }, again = { .arena = a };
		wire_write(&first, &tree_message, random_tree(a, &r, 5));
		Tree back = { 0 };
		Bytes in = { (const unsigned char *)text_str(&first), first.n };
		ck_assert(wire_read(a, &tree_message, in, &back, NULL));
		wire_write(&again, &tree_message, &back);
		ck_assert_uint_eq(first.n, again.n);
		ck_assert_mem_eq(first.at, again.at, first.n);
		for (int k = 0; k < 20; k++) {
			Tree cut = { 0 };
			unsigned char *copy = arena_copy(a, in.at, in.n);
			size_t size = k % 2 == 0 ? (size_t)rng_below(&r, in.n + 1) : in.n;
			for (int i = 0; i < k / 2 && in.n > 0; i++)
				copy[rng_below(&r, in.n)] ^=
					(unsigned char)(1u << rng_below(&r, 8));
			wire_read(a, &tree_message, (Bytes){ copy, size }, &cut, NULL);
		}
		arena_free(a);
	}
}
END_TEST

START_TEST(items_of_a_cut_file)
{
	Arena *a = arena_new();
	Bytes b = from_hex(a, "0801 3a05 0102");
	WireItem it;
	ck_assert(wire_next(&b, &it) && it.number == 1 && it.type == 0 && it.value == 1);
	ck_assert(wire_next(&b, &it) && it.number == 7 && it.type == 2 && it.bytes.n == 2);
	ck_assert(!wire_next(&b, &it));
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("wire");
	tcase_add_loop_test(tc, reads_and_writes, 0, LEN(good));
	tcase_add_loop_test(tc, refuses_with_a_sentence, 0, LEN(bad));
	tcase_add_test(tc, nesting_is_limited);
	tcase_add_test(tc, memory_is_bounded_by_the_input);
	tcase_add_test(tc, random_messages_round_trip);
	tcase_add_test(tc, items_of_a_cut_file);
	return run_suite("wire", tc);
}
