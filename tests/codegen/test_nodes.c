/*
 * Every node of the language on every type, over the edges of the type, in scalar and in vector
 * form and for several levels of x86-64: compiled code agrees with the interpreter.
 */
#include "codegen/codegen.h"
#include "ir/text/ir_text.h"
#include "runner.h"
#include "code_suite.h"

#include <math.h>
#include <string.h>

/* A column of results: an expression of a, b, c (type T) and i; what it needs T to be. */
enum { INTS = 1, FLOATS = 2, LOGIC = 4, NUMBERS = INTS | FLOATS, ANY = NUMBERS | LOGIC };

typedef struct Column {
	const char *text; /* T: the type, N: its bits - 1, Z: b without zero */
	int kinds;
	const char *type; /* of the result; NULL: T */
	double ulps;      /* 0: the same bits, but for NaN and the sign of 0 */
} Column;

static const Column columns[] = {
	{ "a[i] + b[i]", NUMBERS, NULL, 0 },
	{ "a[i] - b[i]", NUMBERS, NULL, 0 },
	{ "a[i] * b[i]", NUMBERS, NULL, 0 },
	{ "a[i] / Z", NUMBERS, NULL, 0 },
	{ "a[i] % Z", INTS, NULL, 0 },
	{ "tdiv(a[i], Z)", INTS, NULL, 0 },
	{ "tmod(a[i], Z)", NUMBERS, NULL, 0 },
	{ "a[i] / T(3)", NUMBERS, NULL, 0 },
	{ "a[i] % T(2)", INTS & ~LOGIC, NULL, 0 },
	{ "a[i] << (b[i] & T(N))", INTS, NULL, 0 },
	{ "a[i] >> (b[i] & T(N))", INTS, NULL, 0 },
	{ "a[i] & b[i]", INTS | LOGIC, NULL, 0 },
	{ "a[i] | b[i]", INTS | LOGIC, NULL, 0 },
	{ "a[i] ^ b[i]", INTS | LOGIC, NULL, 0 },
	{ "!a[i]", INTS | LOGIC, NULL, 0 },
	{ "-a[i]", NUMBERS, NULL, 0 },
	{ "abs(a[i])", NUMBERS, NULL, 0 },
	{ "min(a[i], b[i])", NUMBERS, NULL, 0 },
	{ "max(a[i], b[i])", NUMBERS, NULL, 0 },
	{ "max(a[i], T(1))", NUMBERS, NULL, 0 },
	{ "fma(a[i], b[i], c[i])", FLOATS, NULL, 0 },
	{ "sqrt(a[i])", FLOATS, NULL, 0 },
	{ "floor(a[i])", FLOATS, NULL, 0 },
	{ "ceil(a[i])", FLOATS, NULL, 0 },
	{ "round(a[i])", FLOATS, NULL, 0 },
	{ "trunc(a[i])", FLOATS, NULL, 0 },
	{ "isnan(a[i])", FLOATS, "bool", 0 },
	{ "a[i] == b[i]", ANY, "bool", 0 },
	{ "a[i] != b[i]", ANY, "bool", 0 },
	{ "a[i] < b[i]", NUMBERS, "bool", 0 },
	{ "a[i] <= b[i]", NUMBERS, "bool", 0 },
	{ "select(a[i] == b[i], c[i], a[(i + 3) % 97])", ANY, NULL, 0 },
	{ "select(i < 90, a[i + 7], c[i])", ANY, NULL, 0 }, /* beyond the end where i >= 90 */
	{ "a[96 - i]", ANY, NULL, 0 },
	{ "a[i / 2]", ANY, NULL, 0 },
	{ "a[7]", ANY, NULL, 0 },
	{ "exp(a[i])", FLOATS, NULL, 3 },
	{ "log(a[i])", FLOATS, NULL, 3 },
	{ "tanh(a[i])", FLOATS, NULL, 4 },
	{ "erf(a[i])", FLOATS, NULL, 4 },
	{ "sigmoid(a[i])", FLOATS, NULL, 5 },
	{ "sin(select(abs(a[i]) < T(30000), a[i], T(1)))", FLOATS, NULL, 4 },
	{ "cos(select(abs(a[i]) < T(30000), a[i], T(1)))", FLOATS, NULL, 4 },
	{ "atan(a[i])", FLOATS, NULL, 4 },
	{ "expm1(a[i])", FLOATS, NULL, 4 },
	{ "log1p(a[i])", FLOATS, NULL, 4 },
	{ "pow(a[i], b[i])", FLOATS, NULL, 16 },
	{ "pow(a[i], T(2))", FLOATS, NULL, 1 },
	{ "bool(a[i])", ANY, "bool", 0 },
	{ "i2(a[i])", ANY, "i2", 0 },
	{ "u4(a[i])", ANY, "u4", 0 },
	{ "i8(a[i])", ANY, "i8", 0 },
	{ "u8(a[i])", ANY, "u8", 0 },
	{ "i16(a[i])", ANY, "i16", 0 },
	{ "u16(a[i])", ANY, "u16", 0 },
	{ "i32(a[i])", ANY, "i32", 0 },
	{ "u32(a[i])", ANY, "u32", 0 },
	{ "i64(a[i])", ANY, "i64", 0 },
	{ "u64(a[i])", ANY, "u64", 0 },
	{ "f16(a[i])", ANY, "f16", 0 },
	{ "bf16(a[i])", ANY, "bf16", 0 },
	{ "f32(a[i])", ANY, "f32", 0 },
	{ "f64(a[i])", ANY, "f64", 0 },
	{ "bits.B(a[i])", FLOATS, "B", 0 },
	{ "bits.B(-a[i])", FLOATS, "B", 0 },
	{ "bits.B(a[i] * b[i] - c[i])", FLOATS, "B", 0 },
	{ "bits.T(bits.B(a[i]))", FLOATS, NULL, 0 },
};

static const char *const types[] = { "bool", "i2", "u2", "i4", "u4", "i8", "u8", "i16", "u16", "i32", "u32", "i64",
	"u64", "f16", "bf16", "f32", "f64" };

enum { N = 97 };

static int kind_of(DType t)
{
	return dtype_is_float(t) ? FLOATS : t.kind == DT_BOOL ? LOGIC : INTS;
}

static void put_column(Text *out, const char *text, const char *type, DType t)
{
	for (const char *p = text; *p != 0; p++) {
		bool alone = p == text || !((p[-1] >= 'a' && p[-1] <= 'z') || (p[-1] >= 'A' && p[-1] <= 'Z'));
		if (*p == 'T' && alone && p > text && p[-1] == '.')
			text_add(out, "%s", type); /* bits.T */
		else if (*p == 'T' && alone && dtype_is_float(t) && p[1] == '(')
			text_add(out, "%s(%.*s.0)", type, (int)strcspn(p + 2, ")"), p + 2), p = strchr(p, ')');
		else if (*p == 'T' && alone && t.bits == 2 && p[1] == '(' && p[2] != 'N')
			text_add(out, "%s(1)", type), p = strchr(p, ')'); /* the greatest i2 */
		else if (*p == 'T' && alone)
			text_add(out, "%s", type);
		else if (*p == 'B' && alone)
			text_add(out, "i%d", t.bits);
		else if (*p == 'N' && alone)
			text_add(out, "%d", t.bits - 1);
		else if (*p == 'Z' && alone && dtype_is_float(t))
			text_add(out, "b[i]");
		else if (*p == 'Z' && alone)
			text_add(out, "select(b[i] == %s(0), %s(1), b[i])", type, type);
		else
			text_put(out, p, 1);
	}
}

/* One Fn of all columns that the type has. */
static char *make_fn(Arena *a, const char *type, DType t, const char *loop)
{
	Text out = { .arena = a };
	text_add(&out, "fn f(a: in %s[%d], b: in %s[%d], c: in %s[%d]", type, N, type, N, type, N);
	for (int k = 0; k < LEN(columns); k++)
		if (columns[k].kinds & kind_of(t)) {
			text_add(&out, ", y%d: out ", k);
			put_column(&out, columns[k].type != NULL ? columns[k].type : type, type, t);
			text_add(&out, "[%d]", N);
		}
	text_add(&out, ") {\n\tfor i in 0..%d%s {\n", N, loop);
	for (int k = 0; k < LEN(columns); k++)
		if (columns[k].kinds & kind_of(t)) {
			text_add(&out, "\t\ty%d[i] = ", k);
			put_column(&out, columns[k].text, type, t);
			text_add(&out, "\n");
		}
	text_add(&out, "\t}\n}\n");
	return out.at;
}

static const double edges[] = { 0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 7, 100, -100, 0.1, 1e-3,
	HUGE_VAL, -HUGE_VAL, NAN, 0x1p-149, 0x1p-126, -0x1p-140, 0x1p-24, 65504, 65520, 1e5, 3e9, -3e9, 1e19, -1e19, 3.4e38,
	3.5e38, 1e300, 1e-300, 5e-324, 88.7, 89.5, -104.5, 709.5, 710, -746, 0.625, 0.921875, 1.0000001, 0.99999994, 127.5,
	128, 255.5, 256, 32767.5, 65535.5, 2147483647.5, 9.2233720368547758e18 };

static void put_edge(DType t, unsigned char *data, int64_t i, Rng *rng)
{
	uint64_t bits = rng_next(rng), top = (uint64_t)1 << (t.bits - 1);
	double d = edges[rng_below(rng, LEN(edges))];
	if (t.kind == DT_BOOL) {
		data[i] = (unsigned char)(bits & 1);
		return;
	}
	if (dtype_is_float(t)) {
		if (rng_below(rng, 3) == 0)
			d = ldexp(rng_normal(rng), (int)rng_range(rng, -20, 20));
		d = dtype_round(t, d);
		float f = (float)d;
		uint32_t w;
		memcpy(&w, &f, 4);
		if (t.bits == 64)
			memcpy(&bits, &d, 8);
		else if (t.bits == 32)
			bits = w;
		else if (t.kind == DT_BFLOAT)
			bits = w >> 16;
		else if (rng_below(rng, 4) != 0) /* any f16 but NaN with a payload */
			bits = (bits & 0x7c00) == 0x7c00 ? bits & 0xfc00 : bits & 0xffff;
	} else if (rng_below(rng, 2) == 0) {
		uint64_t near[] = { 0, 1, 2, 3, top - 1, top, top + 1, ~(uint64_t)0, ~(uint64_t)1, 7 };
		bits = near[rng_below(rng, LEN(near))];
	}
	if (t.bits >= 8)
		memcpy(data + t.bits / 8 * i, &bits, t.bits / 8u);
	else
		data[i * t.bits / 8] |= (unsigned char)((bits & ((1u << t.bits) - 1)) << i * t.bits % 8);
}

static double unit_of(DType t, double v)
{
	int digits = t.bits == 64 ? 53 : t.bits == 32 ? 24 : t.kind == DT_BFLOAT ? 8 : 11;
	int least = t.bits == 64 ? -1074 : t.bits == 32 ? -149 : t.kind == DT_BFLOAT ? -133 : -24;
	int e;
	frexp(v, &e);
	return ldexp(1, e - digits < least ? least : e - digits);
}

static bool close_enough(DType t, double want, double got, double ulps)
{
	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got);
	if (want == got)
		return true;
	if (ulps == 0 || isinf(want) || isinf(got)) /* infinity beside the greatest value is close, too */
		return ulps > 0 && fabs(isinf(want) ? got : want) > 0x1.ffp127 && t.bits == 64;
	return fabs(want - got) <= ulps * unit_of(t, want);
}

static void run_case(const Target *target, const char *type, const char *loop, uint64_t seed)
{
	Rng rng = rng_seed(seed);
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	Err err = { 0 };
	DType t;
	ck_assert(dtype_parse(type, strlen(type), &t));
	char *text = make_fn(a, type, t, loop), name[TARGET_TEXT];
	KernelSet *ks = ir_parse_set(ir, "f", text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text);
	Tensors in, want, got;
	tensors_make(&in, a, ks, &rng);
	for (int k = 0; k < 3; k++)
		for (int64_t i = 0; i < N; i++) {
			if (i == 0)
				memset(in.arg[k].data, 0, (size_t)dtype_bytes(t, N));
			put_edge(t, in.arg[k].data, i, &rng);
		}
	tensors_copy(&want, a, &in);
	tensors_copy(&got, a, &in);
	InterpRun how = { .seed = seed, .skip_races = true }; /* packed elements share bytes */
	ck_assert_msg(interp_run_set(ks, want.arg, want.n, &how, &err), "%s: %s\n%s", err.place, err.text, text);
	Module m;
	CodegenOptions o = { .exact = true };
	ck_assert_msg(
		codegen_compile(a, ks, target, &o, &m, &err), "%s, %s: %s: %s", type, target->model, err.place, err.text);
	runner_run(a, target, ks, &m, &got);
	for (int k = 3; k < in.n; k++) {
		const Column *c = &columns[atoi(in.arg[k].name + 1)];
		DType r = in.buf[k]->type;
		for (int64_t i = 0; i < N; i++) {
			double w = tensors_value(r, want.arg[k].data, i), g = tensors_value(r, got.arg[k].data, i);
			/*
			 * f16 and bf16 round twice: half a unit more; both NaN and zeros are alike.
			 */
			ck_assert_msg(close_enough(r, w, g, c->ulps),
				"%s %s%s, seed %llx: %s with a %.17g b %.17g c %.17g: %.17g, "
				"interpreted %.17g",
				target_text(target, name), type, loop, (unsigned long long)seed, c->text,
				tensors_value(t, in.arg[0].data, i), tensors_value(t, in.arg[1].data, i),
				tensors_value(t, in.arg[2].data, i), g, w);
		}
	}
	arena_free(a);
}

START_TEST(nodes)
{
	static const char *const loops[] = { "", " vector" };
	Target t;
	const char *level = runner_levels[_i];
	bool between = strcmp(level, "x86-64-v2") == 0;
	bool highest = strcmp(level, "x86-64-v4") == 0 || strcmp(level, "armv8-a") == 0;
	if (getenv("DLC_TEST_ALL") == NULL && (between || (SANITIZED && !highest)))
		return; /* sanitizers see the emitter and not the code, and test_random.c has all levels */
	if (!runner_target(&t, level))
		return;
	int rounds = getenv("DLC_TEST_ALL") != NULL ? 10 : 1;
	for (int k = 0; k < LEN(types); k++)
		for (int j = 0; j < LEN(loops); j++)
			for (int round = 0; round < rounds; round++)
				run_case(&t, types[k], loops[j], 0x0de5000u + (uint64_t)(k * 100 + round));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("nodes");
	for (int k = 0; runner_levels[k] != NULL; k++)
		tcase_add_loop_test(tc, nodes, k, k + 1);
	return run_code_suite("codegen-nodes", tc);
}
