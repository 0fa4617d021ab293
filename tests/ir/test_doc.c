/*
 * docs/ir.md keeps step: it has a row for every node, rule and built-in monoid, and its examples
 * parse, verify and are printed as they stand there.
 */
#include "ir/node.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static char *doc(Arena *a)
{
	FILE *f = fopen(TEST_SOURCE "/docs/ir.md", "rb");
	ck_assert_ptr_nonnull(f);
	char *text = arena_alloc(a, 1 << 20);
	size_t n = fread(text, 1, (1 << 20) - 1, f);
	fclose(f);
	ck_assert_uint_gt(n, 0);
	return text;
}

/* The line of the text that starts with `head`, copied; fails if there is none. */
static const char *line_of(Arena *a, const char *text, const char *head)
{
	const char *at = strstr(text, arena_printf(a, "\n%s", head));
	ck_assert_msg(at != NULL, "docs/ir.md has no line '%s'", head);
	return arena_printf(a, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
}

START_TEST(nodes)
{
	Arena *a = arena_new();
	const char *text = doc(a);
	for (int i = 0; i < IR_NODE_COUNT; i++) {
		const NodeRow *row = &ir_node_row[i];
		const char *line = line_of(a, text, arena_printf(a, "| %s | ", row->name));
		ck_assert_msg(strstr(line, row->meaning) != NULL, "%s: %s", line, row->meaning);
		ck_assert_msg(strstr(line, row->text) != NULL, "%s: %s", line, row->text);
	}
	arena_free(a);
}
END_TEST

START_TEST(rules)
{
	Arena *a = arena_new();
	const char *text = doc(a);
	for (const IrRule *r = ir_verify_rules(); r->name != NULL; r++)
		line_of(a, text, arena_printf(a, "| `%s` | %s |", r->name, r->demands));
	arena_free(a);
}
END_TEST

START_TEST(monoids)
{
	static const char *const names[] = {
#define MONOID(name, node, types, identity) #name,
#include "ir/monoid.def"
#undef MONOID
	};
	Arena *a = arena_new();
	const char *text = doc(a);
	for (int i = 0; i < LEN(names); i++)
		ck_assert_msg(
			strstr(text, arena_printf(a, "`%s`", names[i])) != NULL, "%s", names[i]);
	arena_free(a);
}
END_TEST

START_TEST(examples)
{
	Arena *a = arena_new();
	const char *at = doc(a);
	int count = 0;
	for (; (at = strstr(at, "```ir\n")) != NULL; count++) {
		at += 6;
		while (*at == '#')
			at += strcspn(at, "\n") + 1;
		size_t n = (size_t)(strstr(at, "```") - at);
		Err err = { 0 };
		KernelSet *ks = ir_parse_set(ir_new(a), "ir.md", at, n, &err);
		ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
		ck_assert_str_eq(ir_set_str(a, ks), arena_printf(a, "%.*s", (int)n, at));
		at += n + 3;
	}
	ck_assert_int_ge(count, 5);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("doc");
	tcase_add_test(tc, nodes);
	tcase_add_test(tc, rules);
	tcase_add_test(tc, monoids);
	tcase_add_test(tc, examples);
	return run_suite("ir-doc", tc);
}
