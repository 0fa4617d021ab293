/*
 * f16 and bf16 are rounded once, and alike, by the interpreter and by compiled code of every level: all their
 * numbers, all middles between two and what lies beside these, from f64 and from f32.
 */
#include "codegen/codegen.h"
#include "half.h"
#include "ir/text/ir_text.h"
#include "runner.h"
#include "code_suite.h"

static const struct {
	const char *name;
	int fraction;
} types[] = { { "f16", 10 }, { "bf16", 7 } };

enum { LANES = 4, INPUTS = 2, OUTPUTS = 4 }; /* outputs: of x and w one by one, of x and w in vectors */

typedef struct Lab {
	Arena *arena;
	KernelSet *ks;
	Tensors tensors;
	int n;
} Lab;

static Lab open_lab(int type)
{
	Lab lab = { .arena = arena_new(), .n = half_cases(types[type].fraction) };
	Err err = { 0 };
	Rng rng = rng_seed(1);
	const char *to = types[type].name;
	Text t = { .arena = lab.arena };
	text_add(&t, "fn f(x: in f64[%d], w: in f32[%d]", lab.n, lab.n);
	for (int k = 0; k < OUTPUTS; k++)
		text_add(&t, ", y%d: out %s[%d]", k, to, lab.n);
	text_add(&t, ") {\n");
	for (int k = 0; k < OUTPUTS; k += INPUTS)
		text_add(&t,
			"for i%d in 0..%d {\nfor l%d in 0..%d%s {\ny%d[i%d * %d + l%d] = %s(x[i%d * %d + l%d])\n"
			"y%d[i%d * %d + l%d] = %s(w[i%d * %d + l%d])\n}\n}\n",
			k, lab.n / LANES, k, LANES, k > 0 ? " vector" : "", k, k, LANES, k, to, k, LANES, k, k + 1, k, LANES, k, to,
			k, LANES, k);
	text_add(&t, "}\n");
	lab.ks = ir_parse_set(ir_new(lab.arena), "f", text_str(&t), t.n, &err);
	ck_assert_msg(lab.ks != NULL, "%s: %s\n%s", err.place, err.text, text_str(&t));
	tensors_make(&lab.tensors, lab.arena, lab.ks, &rng);
	for (int k = 0; k < lab.n; k++) {
		double v;
		half_case(types[type].fraction, k, false, &v);
		memcpy((double *)lab.tensors.arg[0].data + k, &v, sizeof v);
		half_case(types[type].fraction, k, true, &v);
		float f = (float)v;
		memcpy((float *)lab.tensors.arg[1].data + k, &f, sizeof f);
	}
	return lab;
}

static void check_all(const Lab *lab, int type, const char *who)
{
	int fraction = types[type].fraction;
	for (int k = 0; k < lab->n; k++)
		for (int out = 0; out < OUTPUTS; out++) {
			double v;
			uint16_t want = half_case(fraction, k, out % INPUTS != 0, &v);
			uint16_t got = ((const uint16_t *)lab->tensors.arg[INPUTS + out].data)[k];
			bool good = isnan(v) ? half_is_quiet_nan(fraction, got) : got == want;
			if (!good) /* Check notes each assertion in a file: there are two million */
				ck_abort_msg("%s, %s, output %d: %a becomes %#x, not %#x", who, types[type].name, out, v, got, want);
		}
}

START_TEST(the_interpreter)
{
	Err err = { 0 };
	Lab lab = open_lab(_i);
	InterpRun how = { .seed = 1 };
	ck_assert_msg(interp_run_set(lab.ks, lab.tensors.arg, lab.tensors.n, &how, &err), "%s: %s", err.place, err.text);
	check_all(&lab, _i, "interpreter");
	arena_free(lab.arena);
}
END_TEST

START_TEST(compiled_code)
{
	Err err = { 0 };
	Target t;
	char name[TARGET_TEXT];
	if (!runner_target(&t, runner_levels[_i]))
		return;
	for (int type = 0; type < LEN(types); type++) {
		Lab lab = open_lab(type);
		Module m;
		CodegenOptions o = { .exact = true };
		ck_assert_msg(codegen_compile(lab.arena, lab.ks, &t, &o, &m, &err), "%s: %s", err.place, err.text);
		runner_run(lab.arena, &t, lab.ks, &m, &lab.tensors);
		check_all(&lab, type, target_text(&t, name));
		arena_free(lab.arena);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("halves");
	tcase_add_loop_test(tc, the_interpreter, 0, LEN(types));
	for (int k = 0; runner_levels[k] != NULL; k++)
		tcase_add_loop_test(tc, compiled_code, k, k + 1);
	return run_code_suite("codegen-halves", tc);
}
