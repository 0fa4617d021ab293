/*
 * Vector loads of elements some places apart, backwards too: of any type, number of lanes and distance, under a mask
 * whose off lanes lie outside of the tensor, compiled code reads what the interpreter reads. So do stores of
 * neighbouring columns, and stores of columns into rows that lie apart, which are turned in registers, and lanes whose
 * places are looked up.
 */
#include "codegen/codegen.h"
#include "ir/text/ir_text.h"
#include "runner.h"
#include "code_suite.h"

#include <stdlib.h>
#include <string.h>

static const char *const types[] = { "i8", "u8", "i16", "f16", "bf16", "i32", "f32", "i64", "f64" };

enum { FURTHEST = 11, LANES = 64 };

/* Lanes from on[0] to on[1] are on; the tensor ends with the last one that is. */
static char *load_text(Arena *a, const char *type, int lanes, int stride, int mask, int edge)
{
	int first = mask == 2 ? edge : 0, last = mask == 1 ? edge - 1 : lanes - 1;
	int lowest = stride > 0 ? stride * first : stride * last, highest = stride > 0 ? stride * last : stride * first;
	char *at = arena_printf(a, "x[ramp(%d, %d, %d)]", -lowest, stride, lanes);
	char *on = mask == 1 ? arena_printf(a, "ramp(0, 1, %d) < splat(%d, %d)", lanes, edge, lanes)
		: arena_printf(a, "splat(%d, %d) <= ramp(0, 1, %d)", edge, lanes, lanes);
	char *value = mask == 0 ? at : arena_printf(a, "select(%s, %s, splat(x[0], %d))", on, at, lanes);
	return arena_printf(a, "fn f(x: in %s[%d], y: out %s[%d]) {\n\ty[ramp(0, 1, %d)] = %s\n}\n", type,
		highest - lowest + 1, type, lanes, lanes, value);
}

/*
 * Two tiles of columns of a matrix as rows of another one, which lie `pitch` apart; in some, one is no neighbour of the
 * others. The second tile begins `lap` columns behind the first one.
 */
static char *turn_text(Arena *a, const char *type, int lanes, int columns, int gap, int other, int pitch, int lap)
{
	Text out = { .arena = a };
	int stride = lanes + columns + gap;
	text_add(&out, "fn f(x: in %s[%d], y: out %s[%d]) {\n", type, stride * (lanes + 1), type, (columns + lap) * pitch);
	text_add(&out, "\tfor z in 0..%d {\n\t\ty[z] = x[0]\n\t}\n\tfor b in 0..2 {\n", (columns + lap) * pitch);
	for (int k = 0; k < columns; k++)
		text_add(&out, "\t\ty[ramp(min(b * %d + %d, %d) * %d, 1, %d)] = x[ramp(min(b * %d, %d) + %d, %d, %d)]\n",
			columns, k, lap + k, pitch, lanes, columns, lap, k == other ? 0 : k, stride, lanes);
	text_add(&out, "\t}\n}\n");
	return out.at;
}

/*
 * Columns of one or two blocks, interleaved, whose lanes, or the first `on` of them in the last block, are stored into
 * rows that lie apart; in some, one column is missing, or begins somewhere else.
 */
static char *spread_text(
	Arena *a, const char *type, int lanes, int columns, int blocks, int stride, int other, int on)
{
	Text out = { .arena = a };
	int block = stride * lanes, all = blocks * block * 2;
	text_add(&out, "fn f(x: in %s[%d], y: out %s[%d]) {\n", type, all, type, all + stride);
	text_add(&out, "\tfor z in 0..%d {\n\t\ty[z] = x[0]\n\t}\n\tfor b in 0..2 {\n", all + stride);
	for (int k = 0; k < columns * blocks; k++) {
		text_add(&out, "\t\ty[ramp(b * %d + %d, %d, %d)] = max(x[ramp(b * %d + %d, 1, %d)], splat(x[b], %d))",
			blocks * block, k % blocks * block + (k == other ? stride - 1 : k / blocks), stride, lanes, columns * lanes,
			k * lanes, lanes, lanes);
		if (on < lanes && k % blocks == blocks - 1)
			text_add(&out, " where ramp(0, 1, %d) < splat(%d, %d)", lanes, on, lanes);
		text_add(&out, "\n");
	}
	text_add(&out, "\t}\n}\n");
	return out.at;
}

/* Lanes of a row whose places a tensor says, stored at once; of all, the first or the last ones, or as x says. */
static char *lookup_text(Arena *a, const char *type, int lanes, int n, int mask, int edge)
{
	char *on = mask == 0 ? ""
		: mask == 1 ? arena_printf(a, " where ramp(0, 1, %d) < splat(%d, %d)", lanes, edge, lanes)
		: mask == 2 ? arena_printf(a, " where splat(%d, %d) <= ramp(0, 1, %d)", edge, lanes, lanes)
		: arena_printf(a, " where i[ramp(0, 1, %d)] < splat(%d, %d)", lanes, n / 2, lanes);
	return arena_printf(a, "fn f(x: in %s[%d], i: in i64[%d], y: out %s[%d]) {\n"
		"\tfor z in 0..%d {\n\t\ty[z] = x[0]\n\t}\n\tfor b in 0..3 {\n"
		"\t\ty[ramp(b * %d, 1, %d)] = "
		"x[splat(b * %d, %d) + max(min(i[ramp(0, 1, %d)], splat(%d, %d)), splat(0, %d))]%s\n\t}\n}\n",
		type, 3 * n, lanes, type, 3 * lanes, 3 * lanes, lanes, lanes, n, lanes, lanes, n - 1, lanes, lanes, on);
}

static void run_case(Arena *a, const Target *target, const char *text, Rng *rng)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), "f", text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text);
	Tensors want, got;
	tensors_make(&want, a, ks, rng);
	tensors_copy(&got, a, &want);
	InterpRun how = { .seed = 1 };
	ck_assert_msg(interp_run_set(ks, want.arg, want.n, &how, &err), "%s: %s\n%s", err.place, err.text, text);
	Module m;
	ck_assert_msg(codegen_compile(a, ks, target, NULL, &m, &err), "%s: %s\n%s", err.place, err.text, text);
	runner_run(a, target, ks, &m, &got);
	char *wrong = tensors_differ(a, &want, &got, 0);
	ck_assert_msg(wrong == NULL, "%s: %s\n%s", target->model, wrong, text);
}

/* Draws the text of a case. */
typedef const char *Draw(Arena *a, Rng *rng);

static void run_cases(int level, uint64_t seed, int count, Draw *draw)
{
	Target t;
	Rng rng = rng_seed(seed);
	if (!runner_target(&t, runner_levels[level]))
		return;
	for (int k = 0; k < count; k++) {
		Arena *a = arena_new();
		run_case(a, &t, draw(a, &rng), &rng);
		arena_free(a);
	}
}

static const char *draw_stride(Arena *a, Rng *rng)
{
	const char *type = types[rng_below(rng, LEN(types))];
	int lanes = rng_below(rng, 3) == 0 ? (int)rng_range(rng, 2, LANES) : 2 << rng_below(rng, 6);
	int stride = (int)rng_range(rng, 1, FURTHEST), mask = (int)rng_below(rng, 3);
	stride = rng_below(rng, 2) == 0 ? stride : -stride;
	return load_text(a, type, lanes, stride, mask, (int)rng_range(rng, 1, lanes - 1));
}

static const char *draw_turn(Arena *a, Rng *rng)
{
	const char *type = types[rng_below(rng, LEN(types))];
	int lanes = rng_below(rng, 2) == 0 ? (int)rng_range(rng, 2, 9) : 4 << rng_below(rng, 4);
	int columns = (int)rng_range(rng, 3, 20), lap = rng_below(rng, 2) == 0 ? columns / 2 : columns;
	int pitch = lanes + (rng_below(rng, 3) == 0 ? (int)rng_range(rng, 1, 3) : 0);
	bool close = columns <= lanes && rng_below(rng, 2) == 0; /* rows as long as there are lanes */
	int gap = close ? -columns : (int)rng_range(rng, 0, 3);
	int other = rng_below(rng, 3) == 0 ? (int)rng_below(rng, 20) : -1;
	return turn_text(a, type, lanes, columns, gap, other, pitch, lap);
}

static const char *draw_spread(Arena *a, Rng *rng)
{
	const char *type = types[rng_below(rng, LEN(types))];
	int lanes = rng_below(rng, 4) == 0 ? (int)rng_range(rng, 3, 20) : 4 << rng_below(rng, 4);
	int columns = (int)rng_range(rng, 1, 20), blocks = (int)rng_range(rng, 1, 2);
	int stride = columns + (int)rng_range(rng, 1, 20);
	int other = rng_below(rng, 3) == 0 ? (int)rng_below(rng, 20) : -1;
	int on = rng_below(rng, 2) == 0 ? lanes : (int)rng_range(rng, 1, lanes);
	return spread_text(a, type, lanes, columns, blocks, stride, other, on);
}

static const char *draw_lookup(Arena *a, Rng *rng)
{
	const char *type = types[rng_below(rng, LEN(types))];
	int lanes = rng_below(rng, 3) == 0 ? (int)rng_range(rng, 2, LANES) : 2 << rng_below(rng, 6);
	int n = (int)rng_range(rng, 1, 40), edge = (int)rng_range(rng, 1, lanes - 1);
	return lookup_text(a, type, lanes, n, (int)rng_below(rng, 4), edge);
}

START_TEST(strides)
{
	run_cases(_i, 0x57a1d, suite_count(100, 30, 2000), draw_stride);
}
END_TEST

START_TEST(turns)
{
	run_cases(_i, 0x7047, suite_count(40, 10, 500), draw_turn);
}
END_TEST

START_TEST(spreads)
{
	run_cases(_i, 0x59ead, suite_count(40, 10, 500), draw_spread);
}
END_TEST

START_TEST(lookups)
{
	run_cases(_i, 0x100c, suite_count(40, 10, 500), draw_lookup);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("strides");
	for (int k = 0; runner_levels[k] != NULL; k++) {
		tcase_add_loop_test(tc, strides, k, k + 1);
		tcase_add_loop_test(tc, turns, k, k + 1);
		tcase_add_loop_test(tc, spreads, k, k + 1);
		tcase_add_loop_test(tc, lookups, k, k + 1);
	}
	return run_code_suite("codegen-strides", tc);
}
