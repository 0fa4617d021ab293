/*
 * OpenCL C 1.2: kernels of a launch, vectors, no doubles or halves. The functions that it has not or defines otherwise
 * are rows; a module has those that it calls. Sums and products keep the roundings of the set: nothing is contracted.
 */
#include "codegen/c/c.h"

/* Arguments of the names div_i: int; w: uint; s: long; u: ulong. A zero divisor gives 0. */
#define INTEGERS(s, u, S, U) \
	{ "mod_" s, "static " S " mod_" s "(" S " a, " S " b) {\n    " S " r = tmod_" s \
				"(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }\n" }, \
	{ "div_" s, "static " S " div_" s "(" S " a, " S " b) {\n    return tdiv_" s "(a, b) - (tmod_" s \
				"(a, b) != 0 && (a < 0) != (b < 0)); }\n" }, \
	{ "tmod_" s, "static " S " tmod_" s "(" S " a, " S " b) { return b == 0 || b == -1 ? 0 : a % b; }\n" }, \
	{ "tdiv_" s, "static " S " tdiv_" s "(" S " a, " S " b) {\n    return b == 0 ? 0 : b == -1 ? (" S ")-(" U \
				 ")a : a / b; }\n" }, \
	{ "min_" s, "static " S " min_" s "(" S " a, " S " b) { return a < b ? a : b; }\n" }, \
	{ "max_" s, "static " S " max_" s "(" S " a, " S " b) { return a > b ? a : b; }\n" }, \
	{ "abs_" s, "static " S " abs_" s "(" S " a) { return a < 0 ? (" S ")-(" U ")a : a; }\n" }, \
	{ "mod_" u, "static " U " mod_" u "(" U " a, " U " b) { return b == 0 ? 0 : a % b; }\n" }, \
	{ "div_" u, "static " U " div_" u "(" U " a, " U " b) { return b == 0 ? 0 : a / b; }\n" }, \
	{ "tmod_" u, "static " U " tmod_" u "(" U " a, " U " b) { return b == 0 ? 0 : a % b; }\n" }, \
	{ "tdiv_" u, "static " U " tdiv_" u "(" U " a, " U " b) { return b == 0 ? 0 : a / b; }\n" }, \
	{ "min_" u, "static " U " min_" u "(" U " a, " U " b) { return a < b ? a : b; }\n" }, \
	{ "max_" u, "static " U " max_" u "(" U " a, " U " b) { return a > b ? a : b; }\n" }, \
	{ "abs_" u, "static " U " abs_" u "(" U " a) { return a; }\n" }

/* A function of OpenCL by our name; it takes vectors as well. */
#define SAME(ours, theirs) { ours "_f32", "#define " ours "_f32 " theirs "\n" }

static const CFunction functions[] = {
	INTEGERS("i", "w", "int", "uint"),
	INTEGERS("s", "u", "long", "ulong"),
	{ "is_nan", "#define is_nan(x) ((uchar)((x) != (x)))\n" },
	{ "div_f32", "static float div_f32(float a, float b) { return a / b; }\n" },
	/* A NaN argument gives NaN. */
	{ "min_f32", "static float min_f32(float a, float b) { return a < b || a != a ? a : b; }\n" },
	{ "max_f32", "static float max_f32(float a, float b) { return a > b || a != a ? a : b; }\n" },
	{ "min_f32x%d", "static float%d min_f32x%d(float%d a, float%d b) { return select(b, a, a < b | a != a); }\n" },
	{ "max_f32x%d", "static float%d max_f32x%d(float%d a, float%d b) { return select(b, a, a > b | a != a); }\n" },
	{ "sigmoid_f32", "static float sigmoid_f32(float a) { return 1 / (1 + exp(-a)); }\n" },
	{ "sigmoid_f32x%d", "static float%d sigmoid_f32x%d(float%d a) { return 1 / (1 + exp(-a)); }\n" },
	SAME("tmod", "fmod"),
	SAME("fma", "fma"),
	SAME("pow", "pow"),
	SAME("abs", "fabs"),
	SAME("exp", "exp"),
	SAME("log", "log"),
	SAME("sqrt", "sqrt"),
	SAME("tanh", "tanh"),
	SAME("erf", "erf"),
	SAME("sin", "sin"),
	SAME("cos", "cos"),
	SAME("floor", "floor"),
	SAME("ceil", "ceil"),
	SAME("round", "rint"),
	SAME("trunc", "trunc"),
	{ NULL, NULL },
};

static const char *const ints[] = { "char", "short", "int", "long" };
static const char *const uints[] = { "uchar", "ushort", "uint", "ulong" };

const CDialect opencl_dialect = {
	.name = "OpenCL C",
	.head = "#pragma OPENCL FP_CONTRACT OFF\n",
	.function = functions,
	.ints = ints,
	.uints = uints,
	.boolean = "uchar",
	.float_end = "f",
	.inf = "INFINITY",
	.nan = "NAN",
	.global = "__global ",
	.shared = "__local ",
	.barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
	.vectors = true,
	.devices = true,
};
