/*
 * OpenCL C 1.2: kernels of a launch, vectors. The functions that it has not or defines otherwise are rows; a module has
 * those that it calls. Sums and products keep the roundings of the set: nothing is contracted. Halves are bits in
 * memory and floats elsewhere, which any device can do; doubles are for devices that have them.
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
#define SAME(ours, theirs) \
	{ ours "_f32", "#define " ours "_f32 " theirs "\n" }, \
	{ ours "_f64", "#define " ours "_f64 " theirs "\n" }

/* A NaN argument of min and max gives NaN. */
#define FLOATS(f, T) \
	{ "div_" f, "static " T " div_" f "(" T " a, " T " b) { return a / b; }\n" }, \
	{ "min_" f, "static " T " min_" f "(" T " a, " T " b) { return a < b || a != a ? a : b; }\n" }, \
	{ "max_" f, "static " T " max_" f "(" T " a, " T " b) { return a > b || a != a ? a : b; }\n" }, \
	{ "min_" f "x%d", "static " T "%d min_" f "x%d(" T "%d a, " T "%d b) { " \
		"return select(b, a, a < b | a != a); }\n" }, \
	{ "max_" f "x%d", "static " T "%d max_" f "x%d(" T "%d a, " T "%d b) { " \
		"return select(b, a, a > b | a != a); }\n" }, \
	{ "sigmoid_" f, "static " T " sigmoid_" f "(" T " a) { return 1 / (1 + exp(-a)); }\n" }, \
	{ "sigmoid_" f "x%d", "static " T "%d sigmoid_" f "x%d(" T "%d a) { return 1 / (1 + exp(-a)); }\n" }

/* The lanes of m of a row in global memory, other ones of b. In a loop, which stays small in the machine code. */
#define PART(f, T) \
	{ "part_" f "x%d", "static " T "%d part_" f "x%d(const __global " T " *a, int%d m, " T "%d b) {\n" \
		"    if (all(m)) return vload%d(0, a);\n" \
		"    int lane[%d]; " T " r[%d];\n" \
		"    vstore%d(m, 0, lane); vstore%d(b, 0, r);\n" \
		"    for (int l = 0; l < %d; l++) if (lane[l]) r[l] = a[l];\n" \
		"    return vload%d(0, r); }\n" }

static const CFunction functions[] = {
	INTEGERS("i", "w", "int", "uint"),
	INTEGERS("s", "u", "long", "ulong"),
	{ "is_nan", "#define is_nan(x) ((uchar)((x) != (x)))\n" },
	FLOATS("f32", "float"),
	FLOATS("f64", "double"),
	PART("f32", "float"),
	PART("f64", "double"),
	PART("bits", "ushort"),
	/*
	 * Halves of a float, rounded to even; then as bits, and back. In integers, since a driver may have a function of
	 * hundreds of instructions for vload_half. m: without the sign. Below 2^-14 an f16 is a multiple of 2^-24, to which
	 * a sum with 0.5 rounds; from 65536 on it is infinite.
	 */
	{ "round_f16", "static float round_f16(float a) {\n"
		"    const uint m = as_uint(a) & 0x7fffffff, n = m + 0xfff + (m >> 13 & 1) & 0xffffe000;\n"
		"    const uint r = m > 0x7f800000 ? m : n >= 0x47800000 ? 0x7f800000 :\n"
		"        m < 0x38800000 ? as_uint((as_float(m) + 0.5f) - 0.5f) : n;\n"
		"    return as_float(r | as_uint(a) & 0x80000000); }\n" },
	{ "round_bf16", "static float round_bf16(float a) { const uint u = as_uint(a);\n"
		"    return a != a ? a : as_float(u + 0x7fff + (u >> 16 & 1) & 0xffff0000); }\n" },
	{ "bits_f16", "static ushort bits_f16(float a) {\n"
		"    const uint u = as_uint(a), m = u & 0x7fffffff;\n"
		"    const uint r = m < 0x38800000 ? (uint)(as_float(m) * 0x1p24f) : (m >> 13) - 0x1c000;\n"
		"    return m > 0x7f800000 ? 0x7e00 : (m >= 0x47800000 ? 0x7c00 : r) | u >> 16 & 0x8000; }\n" },
	{ "bits_bf16", "static ushort bits_bf16(float a) { return a != a ? 0x7fc0 : as_uint(a) >> 16; }\n" },
	{ "from_bits_f16", "static float from_bits_f16(ushort a) {\n"
		"    const uint m = a & 0x7fff;\n"
		"    const uint r = m < 0x400 ? as_uint((float)m * 0x1p-24f) :\n"
		"        (m << 13) + (m < 0x7c00 ? 0x38000000 : 0x70000000);\n"
		"    return as_float(r | (uint)(a & 0x8000) << 16); }\n" },
	{ "from_bits_bf16", "static float from_bits_bf16(ushort a) { return as_float((uint)a << 16); }\n" },
	/* The same of vectors. */
	{ "round_f16x%d", "static float%d round_f16x%d(float%d a) {\n"
		"    const uint%d m = as_uint%d(a) & 0x7fffffff, n = m + 0xfff + (m >> 13 & 1) & 0xffffe000;\n"
		"    uint%d r = select(n, as_uint%d((as_float%d(m) + 0.5f) - 0.5f), m < 0x38800000);\n"
		"    r = select(r, (uint%d)(0x7f800000), n >= 0x47800000);\n"
		"    return as_float%d(select(r, m, m > 0x7f800000) | as_uint%d(a) & 0x80000000); }\n" },
	{ "bits_f16x%d", "static ushort%d bits_f16x%d(float%d a) {\n"
		"    const uint%d u = as_uint%d(a), m = u & 0x7fffffff;\n"
		"    uint%d r = select((m >> 13) - 0x1c000, convert_uint%d(as_float%d(m) * 0x1p24f), m < 0x38800000);\n"
		"    r = select(r, (uint%d)(0x7c00), m >= 0x47800000) | u >> 16 & 0x8000;\n"
		"    return convert_ushort%d(select(r, (uint%d)(0x7e00), m > 0x7f800000)); }\n" },
	{ "from_bits_f16x%d", "static float%d from_bits_f16x%d(ushort%d a) {\n"
		"    const uint%d u = convert_uint%d(a), m = u & 0x7fff;\n"
		"    uint%d r = (m << 13) + select((uint%d)(0x38000000), (uint%d)(0x70000000), m >= 0x7c00);\n"
		"    r = select(r, as_uint%d(convert_float%d(m) * 0x1p-24f), m < 0x400);\n"
		"    return as_float%d(r | (u & 0x8000) << 16); }\n" },
	{ "round_bf16x%d", "static float%d round_bf16x%d(float%d a) { const uint%d u = as_uint%d(a);\n"
		"    return as_float%d(select(u + 0x7fff + (u >> 16 & 1) & 0xffff0000, u, a != a)); }\n" },
	{ "bits_bf16x%d", "static ushort%d bits_bf16x%d(float%d a) {\n"
		"    return convert_ushort%d(select(as_uint%d(a) >> 16, (uint%d)(0x7fc0), a != a)); }\n" },
	{ "from_bits_bf16x%d", "static float%d from_bits_bf16x%d(ushort%d a) {\n"
		"    return as_float%d(convert_uint%d(a) << 16); }\n" },
	/* A float whose last bit says that something was lost, so that rounding it to a half is the only rounding. */
	{ "odd_s", "static float odd_s(long a) { const float f = convert_float_rtz(a);\n"
		"    return as_float(as_uint(f) | (convert_long_sat_rtz(f) != a)); }\n" },
	{ "odd_u", "static float odd_u(ulong a) { const float f = convert_float_rtz(a);\n"
		"    return as_float(as_uint(f) | (convert_ulong_sat_rtz(f) != a)); }\n" },
	{ "odd_f64", "static float odd_f64(double a) { const float f = convert_float_rtz(a);\n"
		"    return a != a || f == a ? f : as_float(as_uint(f) | 1); }\n" },
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
	SAME("atan", "atan"),
	SAME("expm1", "expm1"),
	SAME("log1p", "log1p"),
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
	.halves = true,
	.doubles = "fp64",
};
