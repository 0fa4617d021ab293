/*
 * exp, expm1, log, log1p, tanh, erf, sigmoid, sin, cos, atan and pow of f32 and f64, of any number of lanes,
 * without calls and without branches. The polynomials are minimax (Remez, weighted to the relative error of
 * the function, 60 digits); emit_math.h has them with their errors. docs/codegen.md states the
 * errors of the functions, tests/codegen measures them against libm.
 */
#include "codegen/llvm/emit_math.h"

/*
 * n = nearest integer to a * scale, and bits whose low ones are n + bias, down to the digits of the type: the addition
 * of 1.5 * 2^52 (2^23) leaves them there. No poison comes of NaN, as it would of a conversion.
 */
static LLVMValueRef nearest(const Math *m, LLVMValueRef a, double scale, int bias, LLVMValueRef *n)
{
	double magic = (m->wide ? 0x1.8p52 : 0x1.8p23) + bias;
	LLVMValueRef s = math_fma(m, a, math_real(m, scale), math_real(m, magic));
	*n = math_sub(m, s, math_real(m, magic));
	return LLVMBuildBitCast(m->e->b, s, m->it, "");
}

static int bias_of(const Math *m)
{
	return m->wide ? 1023 : 127;
}

/* 2^n for n within the exponents of normal numbers; of n + bias, only the bits of an exponent matter. */
static LLVMValueRef power_of_2(const Math *m, LLVMValueRef biased)
{
	LLVMValueRef k = LLVMBuildShl(m->e->b, biased, emit_int(m->it, m->wide ? 52 : 23), "");
	return LLVMBuildBitCast(m->e->b, k, m->t, "");
}

/* a and a number, the lesser or the greater one; NaN stays. */
static LLVMValueRef at_most(const Math *m, LLVMValueRef a, double most)
{
	return math_select(m, math_less(m, math_real(m, most), a), math_real(m, most), a);
}

static LLVMValueRef at_least(const Math *m, LLVMValueRef a, double least)
{
	return math_select(m, math_less(m, a, math_real(m, least)), math_real(m, least), a);
}

/*
 * The remainder r of a + low, |low| tiny or NULL: r = a + low - n ln2; *p = (e^r - 1 - r) / r^2. AVX-512's chain is
 * short enough to take the least operations.
 */
static LLVMValueRef exp_rest(const Math *m, LLVMValueRef a, LLVMValueRef low, LLVMValueRef n, LLVMValueRef *p)
{
	static const double p32[] = { MATH_EXP32 }, p64[] = { MATH_EXP64 };
	LLVMValueRef r = math_fma(m, n, math_real(m, -(m->wide ? LN2_HI64 : LN2_HI32)), a);
	r = math_fma(m, n, math_real(m, -(m->wide ? LN2_LO64 : LN2_LO32)), r);
	if (low != NULL)
		r = math_add(m, r, low);
	if (m->wide)
		*p = math_poly(m, r, p64, MATH_LEN(p64));
	else if (math_scales(m))
		*p = math_poly(m, r, p32, MATH_LEN(p32));
	else
		*p = math_poly_split(m, r, p32, MATH_LEN(p32));
	return r;
}

/* e^(a + low) where an instruction multiplies by 2^n: a third less to do. */
static LLVMValueRef exp_scaled(const Math *m, LLVMValueRef a, LLVMValueRef low)
{
	LLVMValueRef one = math_real(m, 1), n, p;
	nearest(m, a, 0x1.71547652b82fep0, 0, &n);
	LLVMValueRef r = exp_rest(m, a, low, n, &p);
	return math_scale(m, math_fma(m, math_fma(m, p, r, one), r, one), n);
}

/*
 * The same where none does: e^r times 2^k in two steps, so that results below the least normal are rounded once. The
 * halves of k, rounded down and up, are k plus twice the bias, with its last bit cut off.
 */
static LLVMValueRef exp_in_steps(const Math *m, LLVMValueRef a, LLVMValueRef low)
{
	LLVMBuilderRef b = m->e->b;
	LLVMValueRef one = math_real(m, 1), n, p, last = emit_int(m->it, m->wide ? 1ll << 51 : 1 << 22);
	LLVMValueRef exponent = emit_int(m->it, m->wide ? 0x7ffll << 52 : 0xffll << 23);
	LLVMValueRef k = nearest(m, a, 0x1.71547652b82fep0, 2 * bias_of(m), &n), r = exp_rest(m, a, low, n, &p);
	if (m->wide)
		p = math_fma(m, math_fma(m, p, r, one), r, one);
	else
		p = math_fma(m, math_mul(m, r, r), p, math_add(m, r, one));
	k = LLVMBuildShl(b, k, emit_int(m->it, m->wide ? 51 : 22), "");
	LLVMValueRef down = LLVMBuildAnd(b, k, exponent, "");
	LLVMValueRef up = LLVMBuildAnd(b, LLVMBuildAdd(b, k, last, ""), exponent, "");
	p = math_mul(m, p, LLVMBuildBitCast(b, down, m->t, ""));
	return math_mul(m, p, LLVMBuildBitCast(b, up, m->t, ""));
}

/*
 * e^(a + low), a at most a little above infinity's logarithm. What rounds to 0 is set to 0 and computed as e^0: an
 * x86 core takes 100 to 170 cycles for a result that underflows, and a masked score is -inf.
 */
static LLVMValueRef exp_below(const Math *m, LLVMValueRef a, LLVMValueRef low)
{
	LLVMValueRef zero = math_real(m, 0), under = math_less(m, a, math_real(m, m->wide ? -746 : -104));
	LLVMValueRef b = math_select(m, under, zero, a);
	return math_select(m, under, zero, math_scales(m) ? exp_scaled(m, b, low) : exp_in_steps(m, b, low));
}

static LLVMValueRef exp_sum(const Math *m, LLVMValueRef a, LLVMValueRef low)
{
	return exp_below(m, at_most(m, a, m->wide ? 710 : 89), low);
}

/* 2^k (e^r - 1) + (2^k - 1), all halved since 2^k may overflow. Below the limit the result rounds to -1. */
static LLVMValueRef expm1_of(const Math *m, LLVMValueRef a)
{
	LLVMValueRef k, n, p, b = at_least(m, at_most(m, a, m->wide ? 710 : 89), m->wide ? -40 : -20);
	k = nearest(m, b, 0x1.71547652b82fep0, bias_of(m) - 1, &n);
	LLVMValueRef r = exp_rest(m, b, NULL, n, &p), t = power_of_2(m, k);
	LLVMValueRef q = math_fma(m, math_mul(m, r, r), p, r);
	q = math_fma(m, t, q, math_sub(m, t, math_real(m, 0.5)));
	return math_sign(m, math_add(m, q, q), a);
}

/* a = 2^*e * (1 + f), 1 + f in [sqrt(1/2), sqrt(2)); a positive and finite. */
static LLVMValueRef fraction(const Math *m, LLVMValueRef a, LLVMValueRef *e)
{
	LLVMBuilderRef b = m->e->b;
	int digits = m->wide ? 52 : 23;
	double least = m->wide ? 0x1p-1022 : 0x1p-126, up = m->wide ? 0x1p54 : 0x1p25;
	LLVMValueRef small = math_less(m, a, math_real(m, least));
	a = math_select(m, small, math_mul(m, a, math_real(m, up)), a);
	LLVMValueRef adjust = math_select(m, small, math_real(m, m->wide ? -54 : -25), math_real(m, 0));
	LLVMValueRef bits = LLVMBuildBitCast(b, a, m->it, "");
	LLVMValueRef root = emit_int(m->it, m->wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3);
	LLVMValueRef k = LLVMBuildAShr(b, LLVMBuildSub(b, bits, root, ""), emit_int(m->it, digits), "");
	bits = LLVMBuildSub(b, bits, LLVMBuildShl(b, k, emit_int(m->it, digits), ""), "");
	/* k to a float without a conversion of i64, which few targets have: |k| < 2^12. */
	LLVMValueRef magic = math_real(m, m->wide ? 0x1.8p52 : 0x1.8p23);
	k = LLVMBuildAdd(b, k, LLVMConstBitCast(magic, m->it), "");
	k = math_sub(m, LLVMBuildBitCast(b, k, m->t, ""), magic);
	*e = math_add(m, k, adjust);
	return math_sub(m, LLVMBuildBitCast(b, bits, m->t, ""), math_real(m, 1));
}

/* r where a is positive and finite; log of 0, infinity, what is negative, NaN. */
static LLVMValueRef log_specials(const Math *m, LLVMValueRef a, LLVMValueRef r)
{
	LLVMValueRef zero = math_real(m, 0), inf = math_real(m, 1.0 / 0.0);
	r = math_select(m, math_less(m, a, inf), r, a); /* inf and NaN: themselves */
	r = math_select(m, math_less(m, a, zero), math_real(m, 0.0 / 0.0), r);
	return math_select(m, math_equal(m, a, zero), math_real(m, -1.0 / 0.0), r);
}

static LLVMValueRef log32(const Math *m, LLVMValueRef a)
{
	static const double p[] = { MATH_LOG32 };
	LLVMValueRef e, f = fraction(m, a, &e), z = math_mul(m, f, f);
	LLVMValueRef r = math_mul(m, math_mul(m, z, f), math_poly(m, f, p, MATH_LEN(p)));
	r = math_fma(m, e, math_real(m, LN2_LO32), r);
	r = math_fma(m, z, math_real(m, -0.5), r);
	r = math_add(m, f, r);
	return math_fma(m, e, math_real(m, LN2_HI32), r);
}

/* s R(s^2): log(1 + f) = 2 s + s R(s^2) = f - (f^2/2 - s (f^2/2 + R)), s = f / (2 + f). */
static LLVMValueRef log_rest(const Math *m, LLVMValueRef s, LLVMValueRef *z)
{
	static const double p[] = { MATH_LOG64 };
	*z = math_mul(m, s, s);
	return math_mul(m, *z, math_poly(m, *z, p, MATH_LEN(p)));
}

static LLVMValueRef log64(const Math *m, LLVMValueRef a)
{
	LLVMValueRef z, e, f = fraction(m, a, &e);
	LLVMValueRef s = math_div(m, f, math_add(m, math_real(m, 2), f)), r = log_rest(m, s, &z);
	LLVMValueRef half = math_mul(m, math_mul(m, f, f), math_real(m, 0.5));
	LLVMValueRef low = math_fma(m, s, math_add(m, half, r), math_mul(m, e, math_real(m, LN2_LO64)));
	LLVMValueRef rest = math_sub(m, math_sub(m, half, low), f);
	return math_sub(m, math_mul(m, e, math_real(m, LN2_HI64)), rest);
}

/* log(u) + (a - (u - 1)) / u, u = 1 + a rounded. */
static LLVMValueRef log1p_of(const Math *m, LLVMValueRef a)
{
	LLVMValueRef one = math_real(m, 1), u = math_add(m, a, one);
	LLVMValueRef lost = math_div(m, math_sub(m, a, math_sub(m, u, one)), u);
	LLVMValueRef r = log_specials(m, u, math_add(m, m->wide ? log64(m, u) : log32(m, u), lost));
	LLVMValueRef tiny = math_real(m, m->wide ? 0x1p-54 : 0x1p-25);
	return math_select(m, math_less(m, math_abs(m, a), tiny), a, r);
}

/*
 * tanh where an instruction picks 16 numbers of a table: t = |x| lies within 1/4 of a multiple of 1/2, and each has a
 * polynomial in the distance d from it, minimax in units of the result's last place. The last one goes on to 9.02,
 * where it is 1.
 */
static LLVMValueRef tanh_picked(const Math *m, LLVMValueRef a)
{
	static const double c[][PICKS] = {
		{ 0, 0x1.d9353ep-2, 0x1.85efacp-1, 0x1.cf6f98p-1, 0x1.ed9506p-1, 0x1.f92582p-1, 0x1.fd77d2p-1, 0x1.ff112cp-1,
			0x1.ffa818p-1, 0x1.ffdfa8p-1, 0x1.fff41ap-1, 0x1.fffbap-1, 0x1.fffe64p-1, 0x1.ffff68p-1, 0x1.ffffc8p-1,
			0x1.ffffecp-1 },
		{ 1, 0x1.92a95ap-1, 0x1.ae0dcp-2, 0x1.721652p-3, 0x1.2162c2p-4, 0x1.b3afe2p-6, 0x1.434a52p-7, 0x1.dd37d2p-9,
			0x1.5f85aep-10, 0x1.02bec8p-11, 0x1.7ccec2p-13, 0x1.1832dcp-14, 0x1.9c5378p-16, 0x1.2f5ffap-17,
			0x1.be6c4p-19, 0x1.4858ccp-20 },
		{ -0x1.24d2a8p-20, -0x1.742818p-2, -0x1.478836p-2, -0x1.4efd7ap-3, -0x1.16fab8p-4, -0x1.adcd5cp-6,
			-0x1.41f3f4p-7, -0x1.dbe96p-9, -0x1.6175a6p-10, -0x1.06982ap-11, -0x1.878f52p-13, -0x1.3577fp-14,
			-0x1.cba0dep-16, -0x1.aaf1fcp-18, -0x1.b6cc18p-20, -0x1.b0cffep-20 },
		{ -0x1.5544dap-2, -0x1.823268p-4, 0x1.a85bccp-4, 0x1.67b73p-4, 0x1.58f6a4p-5, 0x1.16defep-6, 0x1.a8ab44p-8,
			0x1.3c6744p-9, 0x1.d3becep-11, 0x1.58bc4ap-12, 0x1.fb989cp-14, 0x1.758ecap-15, 0x1.12de9ap-16,
			0x1.947d04p-18, 0x1.299bcap-19, 0x1.6ef9cap-20 },
		{ -0x1.356d94p-10, 0x1.51804ap-3, 0x1.c9d2bep-6, -0x1.974bbap-6, -0x1.24a034p-6, -0x1.0c34c4p-7, -0x1.73b278p-9,
			-0x1.5f49d4p-10, -0x1.7ef0a6p-14, 0x1.434e68p-13, 0x1.4d5706p-13, 0x1.20f448p-12, 0x1.d63c8ap-14,
			-0x1.ec1952p-14, -0x1.335758p-14, -0x1.e9f038p-23 },
		{ 0x1.2500c4p-3, -0x1.8e270ep-6, -0x1.79f8fep-5, -0x1.856c64p-9, 0x1.360dcep-8, 0x1.772c4cp-9, 0x1.41198p-10,
			0x1.f1f264p-12, 0x1.75752cp-13, 0x1.147792p-14, 0x1.982f08p-16, 0x1.2c5ebp-17, 0x1.ba6d2ap-19,
			0x1.4588d4p-20, 0x1.df2606p-22, -0x1.9d1e9ap-22 },
		{ -0x1.2eb0c2p-5, -0x1.a260c8p-5, 0x1.083fd2p-6, 0x1.9701d8p-8, -0x1.b7468ap-12, 0x1.84da9p-11, -0x1.05883ap-8,
			0x1.639d74p-10, -0x1.f5decp-9, -0x1.bfee4cp-9, -0x1.33d55cp-9, -0x1.a0c76ep-9, -0x1.50ad58p-10,
			0x1.3f87dep-10, 0x1.938222p-11, 0x1.5753aep-23 },
	};
	LLVMValueRef t = at_most(m, math_abs(m, a), 9.02), half = math_real(m, 0x1.8p22);
	LLVMValueRef s = at_most(m, math_add(m, t, half), 0x1.8p22 + 7.5), d = math_sub(m, t, math_sub(m, s, half));
	LLVMValueRef i = LLVMBuildBitCast(m->e->b, s, m->it, ""), p = math_pick(m, c[6], i);
	for (int k = 5; k >= 0; k--)
		p = math_fma(m, p, d, math_pick(m, c[k], i));
	return math_sign(m, p, a);
}

/* x + x^3 P(x^2) below 0.625, else 1 - 2 / (e^2x + 1), which is 1 long before the limit. */
static LLVMValueRef tanh_of(const Math *m, LLVMValueRef a)
{
	static const double p32[] = { MATH_TANH32 }, p64[] = { MATH_TANH64 };
	if (math_scales(m))
		return tanh_picked(m, a);
	LLVMValueRef t = math_abs(m, a), z = math_mul(m, a, a), one = math_real(m, 1);
	LLVMValueRef p = m->wide ? math_poly(m, z, p64, MATH_LEN(p64)) : math_poly(m, z, p32, MATH_LEN(p32));
	LLVMValueRef small = math_fma(m, math_mul(m, t, z), p, t);
	LLVMValueRef limit = math_real(m, 30), u = math_select(m, math_less(m, limit, t), limit, t);
	LLVMValueRef r = math_reciprocal(m, math_add(m, exp_sum(m, math_add(m, u, u), NULL), one));
	LLVMValueRef big = math_fma(m, math_real(m, -2), r, one);
	return math_sign(m, math_select(m, math_less(m, t, math_real(m, 0.625)), small, big), a);
}

/* 1 / (1 + e^-x), through e^-|x| which never overflows. */
static LLVMValueRef sigmoid_of(const Math *m, LLVMValueRef a)
{
	LLVMValueRef x = exp_below(m, math_neg(m, math_abs(m, a)), NULL), one = math_real(m, 1);
	LLVMValueRef r = math_reciprocal(m, math_add(m, one, x)), bits = LLVMBuildBitCast(m->e->b, a, m->it, "");
	LLVMValueRef minus = LLVMBuildICmp(m->e->b, LLVMIntSLT, bits, LLVMConstNull(m->it), ""); /* -0 has the same r */
	return math_select(m, minus, math_mul(m, x, r), r);
}

/*
 * erf where an instruction picks 16 numbers of a table: t = |x| lies within 1/8 of a multiple of 1/4, and each has a
 * polynomial in the distance d from it, minimax to 2^-28. The slope is less by 1, and d joins erf of the multiple, so
 * that the result near 0 is d and something small. The last polynomial ends with 1.
 */
static LLVMValueRef erf_picked(const Math *m, LLVMValueRef a)
{
	static const double c[][PICKS] = {
		{ 0, 0x1.1af54ep-2, 0x1.0a7ef6p-1, 0x1.6c1c98p-1, 0x1.af767cp-1, 0x1.d8865cp-1, 0x1.eea554p-1, 0x1.f92d08p-1,
			0x1.fd9aep-1, 0x1.ff4048p-1, 0x1.ffcaa8p-1, 0x1.fff2dp-1, 0x1.fffd1cp-1, 0x1.ffff7p-1, 0x1.ffffe8p-1,
			0x1.fffffcp-1 },
		{ 0x1.06eba8p-3, 0x1.eba2bcp-5, -0x1.f081aep-4, -0x1.6da37ap-2, -0x1.2b7708p-1, -0x1.86e6b4p-1, -0x1.c31b92p-1,
			-0x1.e4faacp-1, -0x1.f56b24p-1, -0x1.fc57d8p-1, -0x1.fee27cp-1, -0x1.ffb328p-1, -0x1.ffedcp-1,
			-0x1.fffc2cp-1, -0x1.ffff4ap-1, -0x1.ffffdcp-1 },
		{ 0, -0x1.0f5bd4p-2, -0x1.c1ef06p-2, -0x1.edc70ep-2, -0x1.a9184p-2, -0x1.2eb992p-2, -0x1.6d505ap-3,
			-0x1.7a53aap-4, -0x1.52738cp-5, -0x1.0771bcp-6, -0x1.63ea04p-8, -0x1.a7d55cp-10, -0x1.c9a48cp-12,
			-0x1.a5dc1ap-14, -0x1.15b77ap-15, -0x1.0b5a5cp-21 },
		{ -0x1.81267cp-2, -0x1.3c9632p-2, -0x1.2bf594p-3, 0x1.b6da08p-6, 0x1.1b613ap-3, 0x1.571c88p-3, 0x1.1c2b34p-3,
			0x1.714342p-4, 0x1.8b1732p-5, 0x1.63fa98p-6, 0x1.117114p-7, 0x1.69f26ep-9, 0x1.9f5bd6p-11, 0x1.93aaacp-13,
			0x1.3b25aap-15, 0x1.73c892p-18 },
		{ 0, 0x1.0232cp-3, 0x1.74fd22p-3, 0x1.34944p-3, 0x1.21fa0ep-4, -0x1.d89e5ap-8, -0x1.751c6ap-5, -0x1.8457dp-5,
			-0x1.241fcp-5, -0x1.2fd16ap-6, -0x1.3b2f3ap-7, -0x1.886f3cp-9, 0x1.238dfep-13, 0x1.3a4d32p-14,
			0x1.b85e14p-11, -0x1.96772p-13 },
		{ 0x1.cbc242p-4, 0x1.45ee86p-4, 0x1.e8ce56p-8, -0x1.b02e5ap-5, -0x1.1a3b32p-4, -0x1.81a56p-5, -0x1.ed1ccep-7,
			0x1.ba11fep-8, 0x1.a2af8ep-7, 0x1.591c54p-7, 0x1.a0741cp-8, 0x1.64f11ep-9, 0x1.d2ae5ep-11, 0x1.e0f99cp-12,
			0x1.2aa6a2p-12, 0x1.009aeep-13 },
	};
	LLVMValueRef t = at_most(m, math_abs(m, a), 0x1.effff8p+1), quarter = math_real(m, 0x1.8p21);
	LLVMValueRef s = math_add(m, t, quarter), d = math_sub(m, t, math_sub(m, s, quarter));
	LLVMValueRef i = LLVMBuildBitCast(m->e->b, s, m->it, ""), p = math_pick(m, c[5], i);
	for (int k = 4; k > 0; k--)
		p = math_fma(m, p, d, math_pick(m, c[k], i));
	return math_sign(m, math_fma(m, p, d, math_add(m, math_pick(m, c[0], i), d)), a);
}

/*
 * f32: 1 - e^y, y = log(erfc(t)) = -t + t P(t), as -(2^k (e^r - 1) + (2^k - 1)): both y and the result are what is
 * near 0 and something small. One path serves all of t, where a second one near 0 would take as long again.
 */
static LLVMValueRef erf32(const Math *m, LLVMValueRef a)
{
	static const double p[] = { MATH_ERFC32 }, q[] = { MATH_EXPM32 };
	LLVMValueRef n, t = at_most(m, math_abs(m, a), 3.9375);
	LLVMValueRef y = math_fma(m, t, math_poly(m, t, p, MATH_LEN(p)), math_neg(m, t));
	LLVMValueRef k = power_of_2(m, nearest(m, y, 0x1.71547652b82fep0, bias_of(m), &n));
	LLVMValueRef r = math_fma(m, n, math_real(m, -0x1.62e43p-1), y);
	LLVMValueRef e = math_fma(m, math_mul(m, r, r), math_poly(m, r, q, MATH_LEN(q)), r);
	e = math_fma(m, math_neg(m, k), e, math_sub(m, math_real(m, 1), k));
	return math_sign(m, e, a);
}

/* f64: x + x P(x^2) below 1, else 1 - e^Q(|x| - 3): Q fits log(erfc), and is 0's 1 beyond 6. */
static LLVMValueRef erf_of(const Math *m, LLVMValueRef a)
{
	static const double s64[] = { MATH_ERF_SMALL64 }, b64[] = { MATH_ERF_BIG64 };
	if (math_scales(m))
		return erf_picked(m, a);
	if (!m->wide)
		return erf32(m, a);
	LLVMValueRef t = math_abs(m, a), z = math_mul(m, a, a), one = math_real(m, 1);
	LLVMValueRef small = math_fma(m, t, math_poly(m, z, s64, MATH_LEN(s64)), t);
	LLVMValueRef u = math_sub(m, at_most(m, t, 6), math_real(m, 3));
	LLVMValueRef big = math_sub(m, one, exp_below(m, math_poly(m, u, b64, MATH_LEN(b64)), NULL));
	return math_sign(m, math_select(m, math_less(m, t, one), small, big), a);
}

/* pi/2 - atan(1/t) for t = |a| > tan(3 pi/8), pi/4 + atan((t - 1) / (t + 1)) for t > tan(pi/8), else x + x^3 P(x^2). */
static LLVMValueRef atan_of(const Math *m, LLVMValueRef a)
{
	static const double p32[] = { MATH_ATAN32 }, p64[] = { MATH_ATAN64 };
	LLVMValueRef t = math_abs(m, a), one = math_real(m, 1), zero = math_real(m, 0);
	LLVMValueRef steep = math_less(m, math_real(m, 0x1.3504f4p+1), t);
	LLVMValueRef middle = math_less(m, math_real(m, 0x1.a8279ap-2), t);
	LLVMValueRef over = math_select(m, middle, math_sub(m, t, one), t);
	LLVMValueRef under = math_select(m, middle, math_add(m, t, one), one);
	over = math_select(m, steep, math_real(m, -1), over);
	under = math_select(m, steep, t, under);
	LLVMValueRef x = math_div(m, over, under), z = math_mul(m, x, x);
	LLVMValueRef p = m->wide ? math_poly(m, z, p64, MATH_LEN(p64)) : math_poly(m, z, p32, MATH_LEN(p32));
	double high = m->wide ? PIO2_HI64 : PIO2_HI32, low = m->wide ? PIO2_LO64 : PIO2_LO32;
	LLVMValueRef hi = math_select(m, middle, math_real(m, high / 2), zero);
	LLVMValueRef lo = math_select(m, middle, math_real(m, low / 2), zero);
	hi = math_select(m, steep, math_real(m, high), hi);
	lo = math_select(m, steep, math_real(m, low), lo);
	LLVMValueRef r = math_add(m, x, math_fma(m, math_mul(m, x, z), p, lo));
	return math_sign(m, math_add(m, hi, r), a);
}

/*
 * sin or cos of a double: a = n pi/2 + r, pi/2 in three parts of which the first two have 33 bits,
 * so that their products are exact while |n| < 2^20; beyond, the result is only known to lie
 * within -1..1.
 */
static LLVMValueRef sine64(const Math *m, Node op, LLVMValueRef a)
{
	static const double ps[] = { MATH_SIN64 }, pc[] = { MATH_COS64 };
	LLVMBuilderRef b = m->e->b;
	LLVMValueRef n, k = nearest(m, a, 0x1.45f306dc9c883p-1, 0, &n);
	LLVMValueRef t = math_sub(m, a, math_mul(m, n, math_real(m, PIO2_1)));
	LLVMValueRef w = math_mul(m, n, math_real(m, PIO2_2)), r = math_sub(m, t, w);
	LLVMValueRef low = math_sub(m, math_sub(m, t, r), w);
	r = math_add(m, r, math_sub(m, low, math_mul(m, n, math_real(m, PIO2_3))));
	LLVMValueRef end = math_real(m, 0.7855);
	r = math_select(m, math_less(m, end, r), end, r);
	r = math_select(m, math_less(m, r, math_neg(m, end)), math_neg(m, end), r);
	LLVMValueRef z = math_mul(m, r, r);
	LLVMValueRef s = math_fma(m, math_mul(m, r, z), math_poly(m, z, ps, MATH_LEN(ps)), r);
	LLVMValueRef c = math_mul(m, math_mul(m, z, z), math_poly(m, z, pc, MATH_LEN(pc)));
	c = math_add(m, math_real(m, 1), math_fma(m, z, math_real(m, -0.5), c));
	if (op == IR_COS)
		k = LLVMBuildAdd(b, k, emit_int(m->it, 1), "");
	LLVMValueRef one = emit_int(m->it, 1), zero = LLVMConstNull(m->it);
	LLVMValueRef odd = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, k, one, ""), zero, "");
	LLVMValueRef minus = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, k, emit_int(m->it, 2), ""), zero, "");
	LLVMValueRef v = math_select(m, odd, c, s);
	v = math_select(m, minus, math_neg(m, v), v);
	if (op == IR_COS)
		return v;
	return math_select(m, math_less(m, math_abs(m, a), math_real(m, 0x1p-27)), a, v);
}

LLVMValueRef emit_math(Emit *e, Node op, LLVMValueRef a)
{
	Math m = math_of(e, a);
	switch (op) {
	case IR_EXP: return exp_sum(&m, a, NULL);
	case IR_LOG: return log_specials(&m, a, m.wide ? log64(&m, a) : log32(&m, a));
	case IR_EXPM1: return expm1_of(&m, a);
	case IR_LOG1P: return log1p_of(&m, a);
	case IR_ATAN: return atan_of(&m, a);
	case IR_TANH: return tanh_of(&m, a);
	case IR_ERF: return erf_of(&m, a);
	case IR_SIGMOID: return sigmoid_of(&m, a);
	default: break;
	}
	if (m.wide)
		return sine64(&m, op, a);
	Math d = math_of(e, math_widen(&m, a));
	return math_narrow(&m, sine64(&d, op, math_widen(&m, a)));
}

/* log |a| = hi + *low, a relative error of about 2^-60. */
static LLVMValueRef log_pair(const Math *m, LLVMValueRef a, LLVMValueRef *low)
{
	LLVMValueRef e, z, f = fraction(m, a, &e), two = math_real(m, 2), lost;
	LLVMValueRef u = math_add(m, two, f), ulow = math_sub(m, f, math_sub(m, u, two));
	LLVMValueRef s = math_div(m, f, u), p = math_product(m, s, u, &lost);
	LLVMValueRef rest = math_sub(m, math_sub(m, f, p), lost);
	LLVMValueRef slow = math_div(m, math_sub(m, rest, math_mul(m, s, ulow)), u);
	LLVMValueRef tail = math_mul(m, s, log_rest(m, s, &z));
	tail = math_add(m, tail, math_mul(m, two, slow));
	LLVMValueRef big = math_mul(m, e, math_real(m, LN2_HI64)); /* exact */
	LLVMValueRef s2 = math_mul(m, two, s), hi = math_sum(m, big, s2, &lost);
	lost = math_add(m, lost, math_fma(m, e, math_real(m, LN2_LO64), tail));
	return math_sum(m, hi, lost, low);
}

/* |a|^b of doubles; the sign, and what is no number, comes after. */
static LLVMValueRef pow_positive(const Math *m, LLVMValueRef a, LLVMValueRef b)
{
	LLVMValueRef low, lost, zero = math_real(m, 0), inf = math_real(m, 1.0 / 0.0);
	LLVMValueRef hi = log_pair(m, a, &low);
	LLVMValueRef plain = log_specials(m, a, hi);
	LLVMValueRef p = math_product(m, b, hi, &lost), tail = math_fma(m, b, low, lost);
	LLVMValueRef all = math_mul(m, b, plain);
	/* Where anything is infinite or 0 the parts say nothing. */
	LLVMValueRef usual = math_less(m, math_abs(m, all), math_real(m, 1e4));
	usual = LLVMBuildAnd(m->e->b, usual, math_less(m, math_abs(m, plain), inf), "");
	p = math_select(m, usual, p, all);
	tail = math_select(m, usual, tail, zero);
	return exp_sum(m, p, tail);
}

static LLVMValueRef pow64(const Math *m, LLVMValueRef a, LLVMValueRef b)
{
	LLVMBuilderRef bld = m->e->b;
	LLVMValueRef one = math_real(m, 1), zero = math_real(m, 0), t = math_abs(m, a);
	LLVMValueRef r = pow_positive(m, t, b), inf = math_real(m, 1.0 / 0.0), nan = math_real(m, 0.0 / 0.0);
	LLVMValueRef half = math_mul(m, b, math_real(m, 0.5));
	LLVMValueRef whole = math_equal(m, emit_round_to_int(m->e, IR_TRUNC, b), b);
	LLVMValueRef even = math_equal(m, emit_round_to_int(m->e, IR_TRUNC, half), half);
	LLVMValueRef odd = LLVMBuildAnd(bld, whole, LLVMBuildNot(bld, even, ""), "");
	/*
	 * Negative numbers, -0 and -inf: odd powers are negative; finite ones have whole powers
	 * only.
	 */
	r = math_select(m, odd, math_sign(m, r, a), r);
	LLVMValueRef none = LLVMBuildAnd(bld, math_less(m, a, zero), LLVMBuildNot(bld, whole, ""), "");
	none = LLVMBuildAnd(bld, none, math_less(m, t, inf), "");
	r = math_select(m, none, nan, r);
	LLVMValueRef still = LLVMBuildAnd(bld, math_equal(m, t, one), math_equal(m, math_abs(m, b), inf), "");
	still = LLVMBuildOr(bld, still, math_equal(m, a, one), "");
	still = LLVMBuildOr(bld, still, math_equal(m, b, zero), "");
	return math_select(m, still, one, r);
}

static bool is_constant(LLVMValueRef b, double v)
{
	LLVMBool loses;
	if (LLVMIsAConstantDataVector(b)) {
		for (int k = 0; k < emit_lanes(b); k++)
			if (LLVMConstRealGetDouble(LLVMGetAggregateElement(b, (unsigned)k), &loses) != v)
				return false;
		return true;
	}
	return LLVMIsAConstantFP(b) && LLVMConstRealGetDouble(b, &loses) == v;
}

LLVMValueRef emit_pow(Emit *e, LLVMValueRef a, LLVMValueRef b)
{
	Math m = math_of(e, a);
	if (is_constant(b, 1))
		return a;
	if (is_constant(b, 2))
		return math_mul(&m, a, a);
	if (is_constant(b, -1))
		return math_div(&m, math_real(&m, 1), a);
	if (m.wide)
		return pow64(&m, a, b);
	/* f32 in f64: the logarithm's 53 bits leave 2^-46 after a factor of up to 128. */
	Math d = math_of(e, math_widen(&m, a));
	return math_narrow(&m, pow64(&d, math_widen(&m, a), math_widen(&m, b)));
}
