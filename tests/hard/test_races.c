/*
 * Races against an exhaustive answer. A random program of two blocks of threads reads and writes a
 * few elements, with barriers of a block or of the grid at random places; it races exactly if two
 * threads touch an element, one of them writing, and no barrier that holds both lies in between.
 */
#include "base/rng.h"
#include "interp/interp.h"
#include "ir/text/ir_text.h"
#include "suite.h"

#include <string.h>

enum { BLOCKS = 2, THREADS = 3, STEPS = 6, ELEMENTS = 12 };
enum { NO_BARRIER, BLOCK_BARRIER, GRID_BARRIER };

typedef struct Plan {
	int64_t element[BLOCKS][THREADS][STEPS], write[BLOCKS][THREADS][STEPS];
	int barrier[STEPS]; /* after the step */
} Plan;

static Plan random_plan(Rng *r)
{
	Plan p;
	uint64_t often = 1 + rng_below(r, 3), rare = 1 + rng_below(r, 40);
	for (int b = 0; b < BLOCKS; b++)
		for (int t = 0; t < THREADS; t++)
			for (int k = 0; k < STEPS; k++) {
				p.element[b][t][k] = (int64_t)rng_below(r, ELEMENTS);
				p.write[b][t][k] = rng_below(r, rare) == 0;
			}
	for (int k = 0; k < STEPS; k++)
		p.barrier[k] = rng_below(r, often) != 0 ? NO_BARRIER : (int)rng_range(r, 1, 2);
	return p;
}

static bool separated(const Plan *p, int from, int to, bool one_block)
{
	for (int k = from; k < to; k++)
		if (p->barrier[k] == GRID_BARRIER || (one_block && p->barrier[k] == BLOCK_BARRIER))
			return true;
	return false;
}

static bool races(const Plan *p)
{
	enum { ALL = BLOCKS * THREADS * STEPS };
	for (int x = 0; x < ALL; x++)
		for (int y = 0; y < ALL; y++) {
			int bx = x / STEPS / THREADS, tx = x / STEPS % THREADS, kx = x % STEPS;
			int by = y / STEPS / THREADS, ty = y / STEPS % THREADS, ky = y % STEPS;
			if (x / STEPS == y / STEPS || kx > ky)
				continue;
			bool touch = p->element[bx][tx][kx] == p->element[by][ty][ky];
			bool write = p->write[bx][tx][kx] || p->write[by][ty][ky];
			if (touch && write && !separated(p, kx, ky, bx == by))
				return true;
		}
	return false;
}

static const char *text_of(Arena *a, const Plan *p)
{
	Text t = { .arena = a };
	text_add(&t, "fn f(e: in i64[%d, %d, %d], w: in i64[%d, %d, %d], x: inout f64[%d]) {\n",
		BLOCKS, THREADS, STEPS, BLOCKS, THREADS, STEPS, ELEMENTS);
	text_add(&t, "for b in 0..%d bound(grid.x) { for t in 0..%d bound(block.x) {\n", BLOCKS,
		THREADS);
	text_add(&t, "alloc own: f64[1]\n");
	for (int k = 0; k < STEPS; k++) {
		text_add(&t, "if w[b, t, %d] == 1 { x[e[b, t, %d]] = f64(1.0) } else {", k, k);
		text_add(&t, " own[0] = x[e[b, t, %d]] }\n", k);
		if (p->barrier[k] != NO_BARRIER)
			text_add(&t, "barrier %s\n",
				p->barrier[k] == GRID_BARRIER ? "grid" : "block");
	}
	text_add(&t, "} } }\n");
	return text_str(&t);
}

START_TEST(races_are_found_and_not_invented)
{
	int rounds = getenv("DLC_TEST_ALL") != NULL ? 100000 : 3000, yes = 0;
	Rng r = rng_seed(2024);
	for (int round = 0; round < rounds; round++) {
		Arena *a = arena_new();
		Plan p = random_plan(&r);
		const char *text = text_of(a, &p);
		KernelSet *ks = ir_parse_set(ir_new(a), "plan", text, strlen(text), NULL);
		ck_assert_ptr_nonnull(ks);
		double x[ELEMENTS] = { 0 };
		IrArg arg[] = { { "e", p.element, 0 }, { "w", p.write, 0 }, { "x", x, 0 } };
		InterpRun how = { .seed = rng_next(&r) };
		Err err = { 0 };
		bool ok = interp_run_set(ks, arg, 3, &how, &err), bad = races(&p);
		ck_assert_msg(ok != bad, "round %d: %s %s\n%s", round, err.place, err.text, text);
		ck_assert(ok || err.code == ERR_RACE);
		yes += bad;
		arena_free(a);
	}
	ck_assert_msg(yes > rounds / 10 && yes < rounds * 9 / 10, "%d of %d race", yes, rounds);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("races");
	tcase_add_test(tc, races_are_found_and_not_invented);
	return run_suite("races", tc);
}
