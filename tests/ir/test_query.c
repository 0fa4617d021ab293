/* Questions about statements: each on one Fn that has every kind of statement with children. */
#include "ir/query.h"
#include "ir/text/ir_text.h"
#include "suite.h"

#include <string.h>

static const char text[] =
	"fn f(x: in f32[8], y: out f32[8], z: inout f32[8], n: i64) {\n" /* 1 */
	"  alloc s: f32[8] @shared\n"
	"  for i in 0..8 {\n"
	"    block b(vi: spatial 0..8 = i, vr: reduce 0..n = n) {\n" /* 4 */
	"      init { s[vi] = 0.0 }\n"
	"      let h: f32 = x[vi] + x[vi] * 2.0\n"
	"      sum s[vi] <- h\n" /* 7 */
	"    }\n"
	"    if i < 4 {\n"
	"      prefetch z[i]\n" /* 10 */
	"      async { s[i] = x[i] }\n"
	"      commit\n"
	"    } else {\n"
	"      let old = atomic sum z[i] <- s[i]\n" /* 14 */
	"    }\n"
	"  }\n"
	"  call g(y[0:8], x[0:8])\n" /* 17 */
	"}\n"
	"sub fn g(a: out f32[8], c: in f32[8]) {\n"
	"}\n";

static Fn *parse(Arena *a)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), "t", text, sizeof text - 1, &err);
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	return ks->fn[0];
}

static bool note_line(Stmt *s, void *arg)
{
	ck_assert_int_gt(s->line, 0);
	text_add(arg, " %d", s->line);
	return s->kind != ST_BLOCK;
}

START_TEST(walks_go_in_the_order_of_the_text)
{
	Arena *a = arena_new();
	Text t = { .arena = a };
	ir_each_stmt(parse(a)->body, note_line, &t);
	ck_assert_str_eq(text_str(&t), " 2 3 4 9 10 11 11 12 14 17");
	arena_free(a);
}
END_TEST

static void note_use(const IrUse *use, void *arg)
{
	static const char *const kind[] = { "load", "store", "reduce", "window", "prefetch" };
	text_add(arg, " %d:%s:%s", use->stmt->line, kind[use->kind], use->buf);
	ck_assert_int_eq(use->n, 1);
}

/* The load of x in line 6 stands twice in one expression and is met once. */
START_TEST(uses_name_kind_and_statement)
{
	Arena *a = arena_new();
	Text t = { .arena = a };
	ir_each_use(parse(a)->body, note_use, &t);
	ck_assert_str_eq(text_str(&t),
		" 5:store:s 6:load:x 7:reduce:s 10:prefetch:z 11:load:x 11:store:s 14:load:s 14:reduce:z 17:window:y "
		"17:window:x");
	t.n = 0;
	ir_each_use_of(parse(a)->body, "s", note_use, &t);
	ck_assert_str_eq(text_str(&t), " 5:store:s 7:reduce:s 11:store:s 14:load:s");
	arena_free(a);
}
END_TEST

START_TEST(names_are_declared)
{
	static const char *const declared[] = { "i", "vi", "vr", "h", "old", "s" };
	static const char *const free_names[] = { "b", "x", "n", "v", "" };
	Arena *a = arena_new();
	Stmt *body = parse(a)->body;
	for (int k = 0; k < LEN(declared); k++)
		ck_assert_msg(ir_declares(body, declared[k]), "%s", declared[k]);
	for (int k = 0; k < LEN(free_names); k++)
		ck_assert_msg(!ir_declares(body, free_names[k]), "%s", free_names[k]);
	ck_assert_int_eq((*ir_find_alloc(&body, "s"))->line, 2);
	ck_assert_ptr_null(ir_find_alloc(&body, "x"));
	arena_free(a);
}
END_TEST

static bool is_line(const Stmt *s, void *line)
{
	return s->line == *(int *)line;
}

/* Taking a statement out by its link changes the list it stood in. */
START_TEST(links_lead_to_statements)
{
	Arena *a = arena_new();
	Stmt *body = parse(a)->body;
	for (int line = 14; line > 1; line--) {
				for (Stmt *s; (s = ir_find_stmt(body, is_line, &line)) != NULL;) {
			Stmt **link = ir_link_to(&body, s);
			ck_assert_ptr_eq(*link, s);
			*link = s->next;
		}

		ck_assert_ptr_null(ir_find_stmt(body, is_line, &line));
	}
	ck_assert_int_eq(body->line, 17);
	ck_assert_ptr_null(body->next);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("query");
	tcase_add_test(tc, walks_go_in_the_order_of_the_text);
	tcase_add_test(tc, uses_name_kind_and_statement);
	tcase_add_test(tc, names_are_declared);
	tcase_add_test(tc, links_lead_to_statements);
	return run_suite("query", tc);
}
