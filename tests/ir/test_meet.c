/* Which threads of a block meet at an element: all accesses of a Fn, each asked about itself, by one memo. */
#include "ir/text/ir_text.h"
#include "ir/threads/meet.h"
#include "ir/verify/verify.h"
#include "suite.h"

#include <string.h>

/* meets: for each access of the text, in its order, whether different threads of any iteration meet there. */
static const struct {
	const char *text, *meets;
} cases[] = {
	{ "fn f(y: out f32[8]) { for t in 0..8 bound(block.x) { y[t] = 0.0 } }", "n" },
	{ "fn f(y: out f32[8]) { for t in 0..8 bound(block.x) { y[t / 2] = 0.0 } }", "y" },
	/* Loops of one axis in blocks of other shapes, of as many threads. */
	{ "fn f(y: out f32[4, 32], z: out f32[4, 2, 16]) { for u in 0..4 bound(block.y) {"
	  " for t in 0..32 bound(block.x) { y[u, t] = 0.0 }"
	  " for w in 0..16 bound(block.x) { for v in 0..2 bound(block.z) { z[u, u % 2, w] = 0.0 } } } }", "ny" },
};

START_TEST(accesses_meet)
{
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir, "f", cases[_i].text, strlen(cases[_i].text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", cases[_i].text, err.text);
	ThreadFacts facts;
	ThreadMemo memo = { .ir = ir, .arena = a, .facts = &facts, .value = MAP_OF(a) };
	ThreadAccesses all = { .arena = a };
	ir_thread_facts(&facts, a);
	ir_thread_accesses(ir, &facts, ks, ks->fn[0], ks->fn[0]->body, false, &all);
	ck_assert_uint_eq(all.at.n, strlen(cases[_i].meets));
	for (size_t k = 0; k < all.at.n; k++)
		ck_assert_msg(ir_threads_may_meet(&memo, &all.at.at[k], &all.at.at[k], 0) == (cases[_i].meets[k] == 'y'),
			"access %zu of %s", k, cases[_i].text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("meet");
	tcase_add_loop_test(tc, accesses_meet, 0, LEN(cases));
	return run_suite("ir-meet", tc);
}
