/* MXNet: loops and conditions with subgraphs, quantised operators, proposed regions; what of them is refused. */
#include "evaluate.h"
#include "folder.h"
#include "mxnet_text.h"

#include <math.h>

static Dag *load_json(Arena *a, const char *json, Err *err)
{
	const char *path = in_folder(a, "m-symbol.json");
	save_bytes(path, json, strlen(json));
	return frontend_load(a, path, NULL, err);
}

static void **run(Arena *a, const char *json, const void *const *in, Dag **d)
{
	Err err = { 0 };
	*d = load_json(a, json, &err);
	ck_assert_msg(*d != NULL, "%s\n%s: %s\n%s", json, err.place, err.text, err.items);
	ck_assert_msg(dag_check(*d, &err), "%s", err.text);
	void **out = evaluate(a, *d, in, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	return out;
}

static int calls_of(const Dag *d, int op)
{
	int n = 0;
	for (size_t k = 0; k < d->call.n; k++)
		n += d->call.at[k].op == op;
	return n;
}

/* ---- symbols as MXNet writes them, short */

#define VARIABLE(name) "{\"op\": \"null\", \"name\": \"" name "\", \"inputs\": []}"
#define INPUT(name, shape) \
	"{\"op\": \"null\", \"name\": \"" name "\", \"attrs\": {\"__shape__\": \"" shape "\"}, \"inputs\": []}"
#define NODE(op, in, attrs) \
	"{\"op\": \"" op "\", \"name\": \"" op in "\", \"attrs\": {" attrs "}, \"inputs\": [" in "]}"
#define GRAPH(nodes, args, heads) \
	"{\"nodes\": [" nodes "], \"arg_nodes\": [" args "], \"heads\": [" heads "]}"
#define CONTROL(op, in, attrs, graphs) \
	"{\"op\": \"" op "\", \"name\": \"c\", \"attrs\": {" attrs "}, \"inputs\": [" in "], \"subgraphs\": [" graphs "]}"
#define SCALAR(number) "\"scalar\": \"" number "\""

/* h += x[t] * w; a row is x[t] + h of before. */
#define FOREACH(attrs) \
	GRAPH(INPUT("x", "(3,2)") "," INPUT("h", "(2,)") "," INPUT("w", "(2,)") "," \
		  CONTROL("_foreach", "[0,0],[1,0],[2,0]", \
			  "\"num_args\": \"4\", \"num_outputs\": \"2\", \"num_out_data\": \"1\"," attrs, \
			  GRAPH(VARIABLE("d") "," VARIABLE("s") "," VARIABLE("w") "," NODE("elemwise_add", "[0,0],[1,0]", "") "," \
					NODE("elemwise_mul", "[0,0],[2,0]", "") "," NODE("elemwise_add", "[1,0],[4,0]", ""), \
				  "0,1,2", "[3,0],[5,0]")), \
		"0,1,2", "[3,0],[3,1]")
#define FOREACH_PLACES "\"in_data_locs\": \"[0]\", \"in_state_locs\": \"[1]\", \"remain_locs\": \"[2]\""

START_TEST(rows_are_walked)
{
	static const float x[] = { 1, 2, 3, 4, 5, 6 }, h[] = { 10, 20 }, w[] = { 2, -1 };
	Arena *a = arena_new();
	Dag *d;
	void **out = run(a, FOREACH(FOREACH_PLACES), (const void *const[]){ x, h, w }, &d);
	const float *rows = out[0], *last = out[1];
	float state[] = { h[0], h[1] };
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "c_output0");
	for (int k = 0; k < 6; k++) {
		ck_assert_float_eq(rows[k], x[k] + state[k % 2]);
		state[k % 2] += x[k] * w[k % 2];
	}
	ck_assert_float_eq(last[0], state[0]);
	ck_assert_float_eq(last[1], state[1]);
	arena_free(a);
}
END_TEST

/* From i = 1, while i < limit: a row is a * i, a += 1, i += 1. The limit is a number, or compared with a. */
#define WHILE(of, limit, most) \
	GRAPH(NODE("_ones", "", "\"shape\": \"(1,)\"") "," INPUT("a", "(1,)") "," \
		CONTROL("_while_loop", "[0,0],[1,0]", \
			"\"num_args\": \"4\", \"num_outputs\": \"3\", \"num_out_data\": \"1\", \"max_iterations\": \"" most "\"," \
			"\"cond_input_locs\": \"[" of "]\", \"func_input_locs\": \"[1,0]\", \"func_var_locs\": \"[1,0]\"", \
			GRAPH(VARIABLE("i") "," NODE("_lesser_scalar", "[0,0]", SCALAR(limit)), "0", "[1,0]") "," \
			GRAPH(VARIABLE("a") "," VARIABLE("i") "," NODE("elemwise_mul", "[0,0],[1,0]", "") "," \
				NODE("_plus_scalar", "[1,0]", SCALAR("1")) "," NODE("_plus_scalar", "[0,0]", SCALAR("1")), \
				"0,1", "[2,0],[3,0],[4,0]")), \
		"1", "[2,0],[2,1],[2,2]")

static const struct {
	const char *json;
	int runs[2];  /* iterations for a = 1 and a = 3 */
	bool chooses; /* at run time */
} loops[] = {
	{ WHILE("0", "4", "5"), { 3, 3 }, false },
	{ WHILE("0", "99", "5"), { 5, 5 }, false },
	{ WHILE("1", "5", "5"), { 4, 2 }, true },
	{ WHILE("1", "0", "5"), { 0, 0 }, true },
};

START_TEST(loops_end)
{
	Arena *a = arena_new();
	for (int k = 0; k < 2; k++) {
		Dag *d;
		float x = k == 0 ? 1 : 3, at = x;
		void **out = run(a, loops[_i].json, (const void *const[]){ &x }, &d);
		const float *rows = out[0];
		for (int i = 0; i < 5; i++) {
			ck_assert_float_eq(rows[i], i < loops[_i].runs[k] ? at * (float)(i + 1) : 0);
			at += i < loops[_i].runs[k];
		}
		ck_assert_float_eq(*(const float *)out[1], (float)(1 + loops[_i].runs[k]));
		ck_assert_float_eq(*(const float *)out[2], at);
		ck_assert((calls_of(d, OP_where) > 0) == loops[_i].chooses);
	}
	arena_free(a);
}
END_TEST

/* x + 1 where the sum of x is below the limit, else x * 3; a number instead of the sum is known. */
#define COND(pred) \
	GRAPH(INPUT("x", "(2,)") "," NODE("sum", "[0,0]", "") "," NODE("_ones", "", "\"shape\": \"(1,)\"") "," \
		CONTROL("_cond", pred ",[0,0]", \
			"\"num_args\": \"5\", \"num_outputs\": \"1\", \"cond_input_locs\": \"[0]\", \"then_input_locs\": \"[1]\"," \
			" \"else_input_locs\": \"[1]\"", \
			GRAPH(VARIABLE("p") "," NODE("_lesser_scalar", "[0,0]", SCALAR("4")), "0", "[1,0]") "," \
			GRAPH(VARIABLE("x") "," NODE("_plus_scalar", "[0,0]", SCALAR("1")), "0", "[1,0]") "," \
			GRAPH(VARIABLE("x") "," NODE("_mul_scalar", "[0,0]", SCALAR("3")), "0", "[1,0]")), \
		"0", "[3,0]")

START_TEST(conditions_choose)
{
	static const float x[] = { 1, 2, 4, 5 };
	Arena *a = arena_new();
	for (int k = 0; k < 4; k++) {
		Dag *d;
		const float *at = &x[k % 2 * 2];
		void **out = run(a, k < 2 ? COND("[1,0]") : COND("[2,0]"), (const void *const[]){ at }, &d);
		bool then = k >= 2 || at[0] + at[1] < 4;
		for (int i = 0; i < 2; i++)
			ck_assert_float_eq(((const float *)out[0])[i], then ? at[i] + 1 : at[i] * 3);
		ck_assert_int_eq(calls_of(d, OP_where), k < 2);
		ck_assert_str_eq(d->value.at[d->output.at[0]].name, "c_output");
	}
	arena_free(a);
}
END_TEST

/* x for each row of x, with other numbers of results. */
#define RESULTS(all, rows) \
	GRAPH(INPUT("x", "(3,2)") "," \
		CONTROL("_foreach", "[0,0]", \
			"\"num_args\": \"2\", \"num_outputs\": \"" all "\", \"num_out_data\": \"" rows "\"," \
			"\"in_data_locs\": \"[0]\", \"in_state_locs\": \"[]\", \"remain_locs\": \"[]\"", \
			GRAPH(VARIABLE("d"), "0", "[0,0]")), \
		"0", "[1,0]")

/* A loop of one iteration out of 4000: rows of the others cost nothing, whether they are read or not. */
START_TEST(loops_end_early)
{
	enum { ROWS = 1000, MOST = 4000 };
	Arena *a = arena_new();
	Text heads = { .arena = a };
	for (int k = 0; k < ROWS; k++)
		text_add(&heads, "[1,0],");
	const char *json = arena_printf(a,
		GRAPH(NODE("_ones", "", "\"shape\": \"(1,)\"") "," INPUT("a", "(1,)") ","
			CONTROL("_while_loop", "[0,0],[1,0]",
				"\"num_args\": \"4\", \"num_outputs\": \"%d\", \"num_out_data\": \"%d\","
				"\"max_iterations\": \"%d\", \"cond_input_locs\": \"[0]\", \"func_input_locs\": \"[0,1]\","
				"\"func_var_locs\": \"[0]\"",
				GRAPH(VARIABLE("i") "," NODE("_lesser_scalar", "[0,0]", SCALAR("2")), "0", "[1,0]") ","
				GRAPH(VARIABLE("i") "," VARIABLE("a") "," NODE("_plus_scalar", "[0,0]", SCALAR("1")),
					"0,1", "%s[2,0]")),
			"1", "[2,7]"), ROWS + 1, ROWS, MOST, text_str(&heads));
	Dag *d;
	float x = 5;
	const float *rows = run(a, json, (const void *const[]){ &x }, &d)[0];
	for (int k = 0; k < MOST; k++)
		ck_assert_float_eq(rows[k], k == 0 ? x : 0);
	ck_assert_uint_lt(d->call.n, 10);
	arena_free(a);
}
END_TEST

/* ---- codes */

#define Q8 "_contrib_quantize_v2 q x min_calib_range=-2 max_calib_range=1.5 out_type=int8\n"
#define BACK(name) "_contrib_dequantize d " name "," name ":1," name ":2\nhead d\n"

static float code(float x, float range)
{
	return fminf(fmaxf(rintf(x * (127.5f / range)), -128), 127);
}

/* Codes and back, of a range that is given and of one that is found. */
START_TEST(codes_and_back)
{
	static const float x[] = { 0.1f, -1.9f, 3, 0.75f, -2.5f, 0 };
	static const char *const symbols[] = { "in x 6\n" Q8 BACK("q"), "in x 6\n_contrib_quantize_v2 q x\n" BACK("q"),
		"in x 6\n" Q8 "_contrib_quantized_act r q,q:1,q:2 act_type=relu\n" BACK("r") };
	Arena *a = arena_new();
	Dag *d;
	void **out = run(a, symbol_text(a, symbols[_i]), (const void *const[]){ x }, &d);
	float range = _i == 1 ? 3 : 2;
	for (int k = 0; k < 6; k++) {
		float want = code(x[k], range) * (range / 127.5f);
		ck_assert_float_eq_tol(((const float *)out[0])[k], _i == 2 ? fmaxf(want, 0) : want, 1e-6f);
	}
	arena_free(a);
}
END_TEST

/* A product with a bias, whose codes become those of the product; a convolution of single elements is the same. */
START_TEST(products_of_codes)
{
	static const char *const symbols[] = {
		"in x 2,3\nin w 2,3\nin b 2\n" Q8
		"_contrib_quantize_v2 v w min_calib_range=-1 max_calib_range=1\n"
		"_contrib_quantize_v2 c b min_calib_range=-1 max_calib_range=1\n"
		"_contrib_quantized_fully_connected f q,v,c,q:1,q:2,v:1,v:2,c:1,c:2 num_hidden=2\nhead f\nhead f:2\n",
		"in x 2,3,1,1\nin w 2,3,1,1\nin b 2\n" Q8
		"_contrib_quantize_v2 v w min_calib_range=-1 max_calib_range=1\n"
		"_contrib_quantize_v2 c b min_calib_range=-1 max_calib_range=1\n"
		"_contrib_quantized_conv f q,v,c,q:1,q:2,v:1,v:2,c:1,c:2 num_filter=2 kernel=(1,1)\nhead f\nhead f:2\n",
	};
	static const float x[] = { 1, -0.5f, 0.25f, 2, 1.5f, -1 }, w[] = { 0.5f, -0.25f, 1, -1, 0.75f, 0.1f },
					   b[] = { 0.5f, -0.3f };
	Arena *a = arena_new();
	Dag *d;
	void **out = run(a, symbol_text(a, symbols[_i]), (const void *const[]){ x, w, b }, &d);
	for (int k = 0; k < 4; k++) {
		float sum = truncf(code(b[k % 2], 1) * (127.5f / 2));
		for (int i = 0; i < 3; i++)
			sum += code(x[k / 2 * 3 + i], 2) * code(w[k % 2 * 3 + i], 1);
		ck_assert_int_eq(((const int32_t *)out[0])[k], (int32_t)sum);
	}
	ck_assert_float_eq_tol(*(const float *)out[1], 2147483647.0f * 2 / 127 / 127, 1);
	arena_free(a);
}
END_TEST

/* Parts come to the widest range; sums have 32 bits, and 8 again in the range of what is there. */
START_TEST(codes_meet)
{
	static const char two[] = "in x 2,3\nin y 2,3\n" Q8
							  "_contrib_quantize_v2 v y min_calib_range=-1 max_calib_range=1\n";
	static const float x[] = { 1, -0.5f, 0.25f, 2, 1.5f, -1 }, y[] = { 0.5f, -0.25f, 1, -1, 0.75f, 0.1f };
	Arena *a = arena_new();
	Dag *d;
	void **out = run(a,
		symbol_text(a,
			arena_printf(a, "%s_contrib_quantized_concat k q,v,q:1,q:2,v:1,v:2 num_args=2 dim=0\n" BACK("k"), two)),
		(const void *const[]){ x, y }, &d);
	for (int k = 0; k < 12; k++) {
		float want = k < 6 ? code(x[k], 2) : rintf(code(y[k - 6], 1) * 0.5f);
		ck_assert_float_eq_tol(((const float *)out[0])[k], want * (2 / 127.5f), 1e-6f);
	}
	out = run(a,
		symbol_text(a, arena_printf(a, "%s_contrib_quantized_elemwise_add s q,v,q:1,q:2,v:1,v:2\n"
									   "_contrib_requantize r s,s:1,s:2\n" BACK("r"), two)),
		(const void *const[]){ x, y }, &d);
	for (int k = 0; k < 6; k++)
		ck_assert_float_eq_tol(((const float *)out[0])[k], x[k] + y[k], 0.04f);
	arena_free(a);
}
END_TEST

/* A mean of codes is a code. */
START_TEST(codes_are_pooled)
{
	static const float x[] = { 1, -0.5f, 0.25f, 2 };
	Arena *a = arena_new();
	Dag *d;
	void **out = run(a,
		symbol_text(a,
			"in x 1,1,2,2\n" Q8 "_contrib_quantized_pooling p q,q:1,q:2 kernel=(2,2) pool_type=avg\n" BACK("p")),
		(const void *const[]){ x }, &d);
	float sum = 0;
	for (int k = 0; k < 4; k++)
		sum += code(x[k], 2);
	ck_assert_float_eq_tol(*(const float *)out[0], rintf(sum / 4) * (2 / 127.5f), 1e-6f);
	arena_free(a);
}
END_TEST

/* ---- regions */

/* Two boxes of one anchor: both stay, and rows repeat them. One that is too small grows and has the score -1. */
START_TEST(regions_repeat)
{
	static const char symbol[] =
		"in s 1,2,1,2\nin d 1,4,1,2\nin i 1,3\n_contrib_Proposal p s,d,i scales=(1,) ratios=(1,) feature_stride=16 "
		"rpn_post_nms_top_n=5 rpn_min_size=%d output_score=True\nhead p\nhead p:1\n";
	static const float score[] = { 0, 0, 0.25f, 0.5f }, by[8] = { 0 }, info[] = { 16, 32, 1 };
	static const float boxes[2][2][4] = { { { 16, 0, 31, 15 }, { 0, 0, 15, 15 } },
		{ { -10, -10, 25, 25 }, { 6, -10, 41, 25 } } };
	Arena *a = arena_new();
	Dag *d;
	const char *text = symbol_text(a, arena_printf(a, symbol, _i ? 20 : 16));
	void **out = run(a, text, (const void *const[]){ score, by, info }, &d);
	ck_assert_str_eq(d->value.at[d->output.at[1]].name, "p_score");
	for (int k = 0; k < 5; k++) {
		const float *row = (const float *)out[0] + 5 * k, *box = boxes[_i][k % 2];
		ck_assert_float_eq(row[0], 0);
		for (int i = 0; i < 4; i++)
			ck_assert_float_eq(row[1 + i], box[i]);
		ck_assert_float_eq(((const float *)out[1])[k], _i ? -1 : k % 2 ? 0.25f : 0.5f);
	}
	arena_free(a);
}
END_TEST

/* ---- refusals */

static const struct {
	const char *json, *want;
} control_refused[] = {
	{ FOREACH("\"in_data_locs\": \"[0]\", \"in_state_locs\": \"[1]\""), "its attribute remain_locs has 0 numbers" },
	{ FOREACH("\"in_data_locs\": \"[7]\", \"in_state_locs\": \"[1]\", \"remain_locs\": \"[2]\""),
		"its attribute in_data_locs holds 7, but there are 3" },
	{ RESULTS("1", "2000"), "its attribute num_out_data is 2000" },
	{ RESULTS("0", "0"), "its attribute num_outputs is 0" },
	{ RESULTS("2", "2"), "its subgraph has 1 results, but needs 2" },
	{ WHILE("0", "4", "0"), "its attribute max_iterations is 0" },
	{ WHILE("9", "4", "5"), "its attribute cond_input_locs holds 9, but there are 2" },
	{ WHILE("0", "0", "5"), "it has no iteration" },
	{ COND("[0,0]"), "its condition must be one number" },
	{ GRAPH(INPUT("x", "(2,)") "," NODE("_cond", "[0,0]", "\"num_outputs\": \"1\""), "0", "[1,0]"), "subgraph0" },
};

START_TEST(control_is_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert_msg(load_json(a, control_refused[_i].json, &err) == NULL, "%d", _i);
	ck_assert_msg(strstr(err.text, control_refused[_i].want) != NULL, "%d: %s", _i, err.text);
	ck_assert_int_eq(err_exit_code(err.code), 1);
	arena_free(a);
}
END_TEST

static const struct {
	const char *symbol, *want;
} codes_refused[] = {
	{ "in x 2,3\n_contrib_quantize_v2 q x out_type=int4\nhead q\n", "its attribute out_type is 'int4'" },
	{ "in x 2,3\n_contrib_quantize_v2 q x min_calib_range=0 max_calib_range=0\nhead q\n", "its range of 0 to 0" },
	{ "in x 2,3\nin a 1\nin b 1\n_contrib_dequantize q x,a,b\nhead q\n", "its input 1 must hold codes of 8 bits" },
	{ "in x 2,3\nin a 2\n" Q8 "_contrib_dequantize d q,a,q:2\nhead d\n", "is an end of a range, but not one number" },
	{ "in x 2,3\n" Q8 "_contrib_requantize r q,q:1,q:2\nhead r\n", "must hold codes of 32 bits" },
	{ "in x 2,3\n" Q8 "_contrib_quantized_act r q,q:1,q:2 act_type=tanh\nhead r\n", "not relu" },
	{ "in x 2,3\n" Q8 "_contrib_quantized_concat k q,q:1,q:2 num_args=2\nhead k\n", "its num_args is 2, but it has 3" },
	{ "in x 2,3\n" Q8
	  "_contrib_quantized_fully_connected f q,q,q:1,q:2,q:1,q:2 num_hidden=5 no_bias=True\nhead f\n",
		"its weights do not have the shape" },
	{ "in x 1,3,2,2\n" Q8
	  "_contrib_quantized_conv f q,q,q:1,q:2,q:1,q:2 num_filter=5 kernel=(1,1) no_bias=True\nhead f\n",
		"its weights do not have the shape" },
	{ "in s 1,2,1,2\nin d 1,4,1,2\nin i 1,3\n_contrib_Proposal p s,d,i\nhead p\n", "for the 12 anchors A" },
	{ "in s 1,2,1,2\nin d 1,4,1,2\nin i 1,3\n_contrib_Proposal p s,d,i scales=(1,) ratios=(0,)\nhead p\n",
		"its ratio 0 must be positive" },
};

START_TEST(codes_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert_msg(load_json(a, symbol_text(a, codes_refused[_i].symbol), &err) == NULL, "%d", _i);
	ck_assert_msg(strstr(err.text, codes_refused[_i].want) != NULL, "%d: %s", _i, err.text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("mxnet-control");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_test(tc, rows_are_walked);
	tcase_add_loop_test(tc, loops_end, 0, LEN(loops));
	tcase_add_test(tc, loops_end_early);
	tcase_add_test(tc, conditions_choose);
	tcase_add_loop_test(tc, codes_and_back, 0, 3);
	tcase_add_loop_test(tc, products_of_codes, 0, 2);
	tcase_add_test(tc, codes_meet);
	tcase_add_test(tc, codes_are_pooled);
	tcase_add_loop_test(tc, regions_repeat, 0, 2);
	tcase_add_loop_test(tc, control_is_refused, 0, LEN(control_refused));
	tcase_add_loop_test(tc, codes_are_refused, 0, LEN(codes_refused));
	return run_suite("mxnet-control", tc);
}
