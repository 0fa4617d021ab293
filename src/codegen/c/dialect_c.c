/*
 * Plain C: a module of kernels that a team enters, for the system's compiler. The functions that C has not or defines
 * otherwise stand in the prelude, once a file.
 */
#include "codegen/c/c.h"

static const char head[] =
	"#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
	"typedef struct DlcCall { void *const *buf; const int64_t *sym; void *work; uint32_t thread, threads;\n"
	"    void (*barrier)(void *team); void *team; } DlcCall;\n"
	"#define is_nan(x) ((uint8_t)((x) != (x)))\n"
	/* bits */
	"static inline uint32_t bits_f32(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }\n"
	"static inline uint64_t bits_f64(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }\n"
	"static inline float from_bits_f32(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }\n"
	"static inline double from_bits_f64(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }\n"
	/* halves: rounded to so many digits, multiples of 2^least, up to most */
	"static inline double half_of(double v, int digits, int least, double most) {\n"
	"    if (v == 0 || v != v || fabs(v) == INFINITY) return v;\n"
	"    int e; frexp(v, &e); double unit = ldexp(1, e - digits > least ? e - digits : least);\n"
	"    double r = rint(v / unit) * unit;\n"
	"    return fabs(r) > most ? copysign(INFINITY, v) : r; }\n"
	"static inline float round_f16(double v) { return (float)half_of(v, 11, -24, 65504); }\n"
	"static inline float round_bf16(double v) { return (float)half_of(v, 8, -133, 0x1.fep127); }\n"
	"static inline uint16_t bits_f16(float x) {\n"
	"    uint32_t u = bits_f32(x); uint16_t s = u >> 16 & 0x8000; float a = fabsf(x);\n"
	"    if (x != x) return 0x7e00; if (a > 65504) return s | 0x7c00;\n"
	"    if (a < 0x1p-14f) return s | (uint16_t)(a * 0x1p24f);\n"
	"    return s | (uint16_t)(((u >> 23 & 255) - 112) << 10 | (u >> 13 & 1023)); }\n"
	"static inline float from_bits_f16(uint16_t h) { int e = h >> 10 & 31, m = h & 1023;\n"
	"    float a = e == 0 ? m * 0x1p-24f : e < 31 ? ldexpf(1024 + m, e - 25) : m == 0 ? INFINITY : NAN;\n"
	"    return h & 0x8000 ? -a : a; }\n"
	"static inline uint16_t bits_bf16(float x) { return x != x ? 0x7fc0 : (uint16_t)(bits_f32(x) >> 16); }\n"
	"static inline float from_bits_bf16(uint16_t h) { return from_bits_f32((uint32_t)h << 16); }\n";

static const char integers[] =
	"static inline int64_t tdiv_s(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? -a : a / b; }\n"
	"static inline int64_t tmod_s(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }\n"
	"static inline int64_t div_s(int64_t a, int64_t b) {\n"
	"    return tdiv_s(a, b) - (tmod_s(a, b) != 0 && (a < 0) != (b < 0)); }\n"
	"static inline int64_t mod_s(int64_t a, int64_t b) {\n"
	"    int64_t r = tmod_s(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }\n"
	"static inline uint64_t div_u(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }\n"
	"static inline uint64_t mod_u(uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }\n"
	"#define tdiv_u div_u\n#define tmod_u mod_u\n"
	"static inline int64_t min_s(int64_t a, int64_t b) { return a < b ? a : b; }\n"
	"static inline int64_t max_s(int64_t a, int64_t b) { return a > b ? a : b; }\n"
	"static inline uint64_t min_u(uint64_t a, uint64_t b) { return a < b ? a : b; }\n"
	"static inline uint64_t max_u(uint64_t a, uint64_t b) { return a > b ? a : b; }\n"
	"static inline int64_t abs_s(int64_t a) { return a < 0 ? -a : a; }\n"
	"static inline uint64_t abs_u(uint64_t a) { return a; }\n"
	/* casts */
	"static inline int64_t saturate_s(int bits, double v) {\n"
	"    double end = ldexp(1, bits - 1); int64_t most = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);\n"
	"    return v != v ? 0 : v >= end ? most : v <= -end ? -1 - most : (int64_t)v; }\n"
	"static inline uint64_t saturate_u(int bits, double v) {\n"
	"    return !(v > 0) ? 0 : v >= ldexp(1, bits) ? UINT64_MAX >> (64 - bits) : (uint64_t)v; }\n";

/* Each function for float and double. */
static const char floats[] =
	"#define FLOATS(T, t, f) \\\n"
	"static inline T div_##t(T a, T b) { return a / b; } \\\n"
	"static inline T tmod_##t(T a, T b) { return fmod##f(a, b); } \\\n"
	"static inline T min_##t(T a, T b) { return a != a ? a : b != b ? b : a < b ? a : b; } \\\n"
	"static inline T max_##t(T a, T b) { return a != a ? a : b != b ? b : a > b ? a : b; } \\\n"
	"static inline T fma_##t(T a, T b, T c) { return fma##f(a, b, c); } \\\n"
	"static inline T pow_##t(T a, T b) { return pow##f(a, b); } \\\n"
	"static inline T abs_##t(T a) { return fabs##f(a); } \\\n"
	"static inline T exp_##t(T a) { return exp##f(a); } \\\n"
	"static inline T log_##t(T a) { return log##f(a); } \\\n"
	"static inline T sqrt_##t(T a) { return sqrt##f(a); } \\\n"
	"static inline T tanh_##t(T a) { return tanh##f(a); } \\\n"
	"static inline T erf_##t(T a) { return erf##f(a); } \\\n"
	"static inline T sigmoid_##t(T a) { return 1 / (1 + exp##f(-a)); } \\\n"
	"static inline T sin_##t(T a) { return sin##f(a); } \\\n"
	"static inline T cos_##t(T a) { return cos##f(a); } \\\n"
	"static inline T atan_##t(T a) { return atan##f(a); } \\\n"
	"static inline T expm1_##t(T a) { return expm1##f(a); } \\\n"
	"static inline T log1p_##t(T a) { return log1p##f(a); } \\\n"
	"static inline T floor_##t(T a) { return floor##f(a); } \\\n"
	"static inline T ceil_##t(T a) { return ceil##f(a); } \\\n"
	"static inline T round_##t(T a) { return rint##f(a); } \\\n"
	"static inline T trunc_##t(T a) { return trunc##f(a); }\n"
	"FLOATS(float, f32, f)\nFLOATS(double, f64, )\n\n";

static const char *const prelude[] = { head, integers, floats, NULL };

static const char *const ints[] = { "int8_t", "int16_t", "int32_t", "int64_t" };
static const char *const uints[] = { "uint8_t", "uint16_t", "uint32_t", "uint64_t" };

const CDialect c_dialect = {
	.name = "C",
	.prelude = prelude,
	.head = "",
	.ints = ints,
	.uints = uints,
	.boolean = "uint8_t",
	.float_end = "",
	.inf = "INFINITY",
	.nan = "NAN",
	.global = "",
	.shared = "",
	.barrier = "if (call->threads > 1) call->barrier(call->team);",
	.halves = true,
	.doubles = "",
};
