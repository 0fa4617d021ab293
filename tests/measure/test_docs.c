/* The tables of docs/measure.md are the rows of src/measure/method.def and src/worker/sampling.def. */
#include "doc_table.h"

START_TEST(method)
{
	Arena *a = arena_new();
	Text t = { .arena = a };
	text_add(&t, "| name | value | reason |\n|---|---|---|\n");
#define COUNT DOC_CONSTANT
#define RATIO COUNT
#include "measure/method.def"
	doc_table("docs/measure.md", &t);
	arena_free(a);
}
END_TEST

START_TEST(sampling)
{
	Arena *a = arena_new();
	Text t = { .arena = a };
	text_add(&t, "| name in the worker | value | reason |\n|---|---|---|\n");
#include "worker/sampling.def"
	doc_table("docs/measure.md", &t);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("docs");
	tcase_add_test(tc, method);
	tcase_add_test(tc, sampling);
	return run_suite("docs", tc);
}
