/*
 * See ptx_value.h. f32 is computed in f32 and f64 in f64, with one rounding; approximations are those of libm.
 */
#include "ptx_value.h"

#include <math.h>
#include <string.h>

#include "runtime/half.h"

enum { HALF_FRACTION = 10, BFLOAT_FRACTION = 7 };

/* The words that `what` stands for. */
#define WORDS(W) \
	W(lo) \
	W(hi) \
	W(wide) W(l) W(r) W(eq) W(ne) W(lt) W(le) W(gt) W(ge) W(ls) W(hs) W(equ) W(neu) W(ltu) W(leu) W(gtu) W(geu) W(num) \
		W(nan) W(add) W(min) W(max) W(and) W(or) W(xor) W(exch) W(cas) W(rni) W(rzi) W(rmi) W(rpi)
enum {
	NOTHING,
#define W(name) IS_##name,
	WORDS(W)
#undef W
};

void ptx_prepare(PtxKernel *k)
{
	static const char *const WORD[] = { "",
#define W(name) #name,
		WORDS(W)
#undef W
	};
	for (int n = 0; n < k->nins; n++)
		for (int w = 0; w < k->ins[n].nword && k->ins[n].op != PTX_bra; w++)
			for (int known = 1; known < (int)(sizeof WORD / sizeof *WORD); known++)
				if (k->ins[n].what == NOTHING && strcmp(k->ins[n].word[w], WORD[known]) == 0)
					k->ins[n].what = known;
}

static float f32_of(uint64_t v)
{
	uint32_t raw = (uint32_t)v;
	float f;
	memcpy(&f, &raw, sizeof f);
	return f;
}

static uint64_t of_f32(float f)
{
	uint32_t raw;
	memcpy(&raw, &f, sizeof raw);
	return raw;
}

double ptx_real(PtxType t, uint64_t v)
{
	double d;
	if (t.bits == 16)
		return half_to_double(t.kind == PTX_BF ? BFLOAT_FRACTION : HALF_FRACTION, (uint16_t)v);
	if (t.bits == 32)
		return (double)f32_of(v);
	memcpy(&d, &v, sizeof d);
	return d;
}

uint64_t ptx_raw(PtxType t, double v)
{
	uint64_t raw;
	if (t.bits == 16)
		return half_from_double(t.kind == PTX_BF ? BFLOAT_FRACTION : HALF_FRACTION, v);
	if (t.bits == 32)
		return of_f32((float)v);
	memcpy(&raw, &v, sizeof raw);
	return raw;
}

static bool is_real(PtxType t)
{
	return t.kind == PTX_F || t.kind == PTX_BF;
}

static bool compare_real(int what, double a, double b, bool *out)
{
	bool none = isnan(a) || isnan(b);
	switch (what) {
	case IS_eq: *out = a == b; return true;
	case IS_ne: *out = a != b && !none; return true;
	case IS_lt: *out = a < b; return true;
	case IS_le: *out = a <= b; return true;
	case IS_gt: *out = a > b; return true;
	case IS_ge: *out = a >= b; return true;
	case IS_equ: *out = a == b || none; return true;
	case IS_neu: *out = a != b || none; return true;
	case IS_ltu: *out = a < b || none; return true;
	case IS_leu: *out = a <= b || none; return true;
	case IS_gtu: *out = a > b || none; return true;
	case IS_geu: *out = a >= b || none; return true;
	case IS_num: *out = !none; return true;
	case IS_nan: *out = none; return true;
	default: return false;
	}
}

/* lo, ls, hi and hs are lt, le, gt and ge of unsigned numbers. */
static bool compare_whole(int what, PtxType t, uint64_t a, uint64_t b, bool *out)
{
	bool is_signed = t.kind == PTX_S;
	int64_t sa = ptx_signed(a, t.bits), sb = ptx_signed(b, t.bits);
	a = ptx_unsigned(a, t.bits);
	b = ptx_unsigned(b, t.bits);
	switch (what) {
	case IS_eq: *out = a == b; return true;
	case IS_ne: *out = a != b; return true;
	case IS_lo:
	case IS_lt: *out = is_signed ? sa < sb : a < b; return true;
	case IS_ls:
	case IS_le: *out = is_signed ? sa <= sb : a <= b; return true;
	case IS_hi:
	case IS_gt: *out = is_signed ? sa > sb : a > b; return true;
	case IS_hs:
	case IS_ge: *out = is_signed ? sa >= sb : a >= b; return true;
	default: return false;
	}
}

__extension__ typedef __int128 Whole128;
__extension__ typedef unsigned __int128 Natural128;

static uint64_t product(const PtxIns *i, uint64_t a, uint64_t b)
{
	int bits = i->type[0].bits;
	bool is_signed = i->type[0].kind == PTX_S;
	if (i->what != IS_hi)
		return is_signed ? (uint64_t)ptx_signed(a, bits) * (uint64_t)ptx_signed(b, bits)
		                 : ptx_unsigned(a, bits) * ptx_unsigned(b, bits);
	if (is_signed)
		return (uint64_t)(((Whole128)ptx_signed(a, bits) * ptx_signed(b, bits)) >> bits);
	return (uint64_t)(((Natural128)ptx_unsigned(a, bits) * ptx_unsigned(b, bits)) >> bits);
}

static bool compute_real(const PtxIns *i, uint64_t ra, uint64_t rb, uint64_t rc, uint64_t *out)
{
	PtxType t = i->type[0];
	bool single = t.bits == 32;
	double a = ptx_real(t, ra), b = ptx_real(t, rb), c = ptx_real(t, rc), v;
	float fa = (float)a, fb = (float)b, fc = (float)c;
	switch (i->op) {
	case PTX_add: v = single ? (double)(fa + fb) : a + b; break;
	case PTX_sub: v = single ? (double)(fa - fb) : a - b; break;
	case PTX_mul: v = single ? (double)(fa * fb) : a * b; break;
	case PTX_mad:
	case PTX_fma: v = single ? (double)fmaf(fa, fb, fc) : fma(a, b, c); break;
	case PTX_div: v = single ? (double)(fa / fb) : a / b; break;
	case PTX_min: v = ptx_word(i, "NaN") && (isnan(a) || isnan(b)) ? NAN : fmin(a, b); break;
	case PTX_max: v = ptx_word(i, "NaN") && (isnan(a) || isnan(b)) ? NAN : fmax(a, b); break;
	case PTX_neg: v = -a; break;
	case PTX_abs: v = fabs(a); break;
	case PTX_sqrt: v = single ? (double)sqrtf(fa) : sqrt(a); break;
	case PTX_rsqrt: v = 1 / sqrt(a); break;
	case PTX_rcp: v = 1 / a; break;
	case PTX_ex2: v = exp2(a); break;
	case PTX_lg2: v = log2(a); break;
	case PTX_sin: v = sin(a); break;
	case PTX_cos: v = cos(a); break;
	case PTX_tanh: v = tanh(a); break;
	case PTX_copysign: v = copysign(b, a); break;
	default: return false;
	}
	*out = ptx_raw(t, v);
	return true;
}

/* cvt.RESULT.OPERAND, between whole numbers and reals of all widths. */
static uint64_t convert(const PtxIns *i, uint64_t a)
{
	PtxType to = i->type[0], from = i->type[1];
	if (!is_real(from) && !is_real(to)) {
		uint64_t v = from.kind == PTX_S ? (uint64_t)ptx_signed(a, from.bits) : ptx_unsigned(a, from.bits);
		return to.kind == PTX_S ? (uint64_t)ptx_signed(v, to.bits) : ptx_unsigned(v, to.bits);
	}
	if (!is_real(from)) {
		double v = from.kind == PTX_S ? (double)ptx_signed(a, from.bits) : (double)ptx_unsigned(a, from.bits);
		if (to.bits == 32) /* one rounding */
			return of_f32(from.kind == PTX_S ? (float)ptx_signed(a, from.bits) : (float)ptx_unsigned(a, from.bits));
		return ptx_raw(to, v);
	}
	double v = ptx_real(from, a);
	switch (i->what) {
	case IS_rni: v = nearbyint(v); break;
	case IS_rzi: v = trunc(v); break;
	case IS_rmi: v = floor(v); break;
	case IS_rpi: v = ceil(v); break;
	default: break;
	}
	if (ptx_word(i, "sat"))
		v = v > 1 ? 1 : v > 0 ? v : 0;
	if (is_real(to))
		return ptx_raw(to, v);
	/* Values beyond the type become its extremes, NaN becomes 0. */
	double most = ldexp(1, to.bits - (to.kind == PTX_S));
	if (isnan(v))
		return 0;
	if (to.kind == PTX_S)
		return (uint64_t)(v >= most    ? ptx_signed((UINT64_C(1) << (to.bits - 1)) - 1, 64)
						  : v <= -most ? -(int64_t)((UINT64_C(1) << (to.bits - 1)) - 1) - 1
									   : (int64_t)v);
	return v >= most ? ptx_unsigned(UINT64_MAX, to.bits) : v <= 0 ? 0 : (uint64_t)v;
}

static uint64_t shift(const PtxIns *i, uint64_t a, uint64_t b)
{
	int bits = i->type[0].bits;
	uint64_t n = (uint32_t)b;
	if (i->op == PTX_shl)
		return n >= (uint64_t)bits ? 0 : a << n;
	if (i->type[0].kind == PTX_S)
		return (uint64_t)(ptx_signed(a, bits) >> (n >= (uint64_t)bits ? bits - 1 : (int)n));
	return n >= (uint64_t)bits ? 0 : ptx_unsigned(a, bits) >> n;
}

static bool compute_whole(const PtxIns *i, uint64_t a, uint64_t b, uint64_t c, uint64_t *out)
{
	PtxType t = i->type[0];
	bool is_signed = t.kind == PTX_S;
	int64_t sa = ptx_signed(a, t.bits), sb = ptx_signed(b, t.bits);
	uint64_t ua = ptx_unsigned(a, t.bits), ub = ptx_unsigned(b, t.bits), v;
	switch (i->op) {
	case PTX_add: v = a + b; break;
	case PTX_sub: v = a - b; break;
	case PTX_mul: v = product(i, a, b); break;
	case PTX_mad: v = product(i, a, b) + c; break;
	case PTX_div: v = ub == 0 ? UINT64_MAX : is_signed ? (uint64_t)(sb == -1 ? -sa : sa / sb) : ua / ub; break;
	case PTX_rem: v = ub == 0 ? ua : is_signed ? (uint64_t)(sb == -1 ? 0 : sa % sb) : ua % ub; break;
	case PTX_min: v = is_signed ? (uint64_t)(sa < sb ? sa : sb) : ua < ub ? ua : ub; break;
	case PTX_max: v = is_signed ? (uint64_t)(sa > sb ? sa : sb) : ua > ub ? ua : ub; break;
	case PTX_neg: v = (uint64_t)-sa; break;
	case PTX_abs: v = (uint64_t)(sa < 0 ? -sa : sa); break;
	case PTX_and: v = a & b; break;
	case PTX_or: v = a | b; break;
	case PTX_xor: v = a ^ b; break;
	case PTX_not: v = ~a; break;
	case PTX_shl:
	case PTX_shr: v = shift(i, a, b); break;
	case PTX_shf: { /* both words one behind the other */
		int n = (int)(c & 31);
		uint64_t both = (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
		v = i->what == IS_l ? both << n >> 32 : both >> n;
		break;
	}
	case PTX_popc: v = (uint64_t)__builtin_popcountll(ua); break;
	case PTX_clz: v = ua == 0 ? (uint64_t)t.bits : (uint64_t)(__builtin_clzll(ua) - 64 + t.bits); break;
	case PTX_bfe: {
		int at = (int)(b & 255), n = (int)(c & 255);
		v = at >= t.bits ? 0 : ptx_unsigned(ua >> at, n < t.bits ? n : t.bits);
		v = is_signed && n > 0 && n < t.bits ? (uint64_t)ptx_signed(v, n) : v;
		break;
	}
	case PTX_prmt:
		v = 0;
		for (int k = 0; k < 4; k++) {
			int pick = (int)(c >> (4 * k)) & 15;
			uint64_t both = (uint64_t)(uint32_t)b << 32 | (uint32_t)a, byte = both >> (8 * (pick & 7)) & 255;
			v |= (pick & 8 ? (byte & 128 ? UINT64_C(255) : 0) : byte) << (8 * k);
		}
		break;
	default: return false;
	}
	*out = ptx_unsigned(v, i->what == IS_wide ? 2 * t.bits : t.bits);
	return true;
}

bool ptx_compute(const PtxIns *i, uint64_t a, uint64_t b, uint64_t c, uint64_t *out)
{
	PtxType t = i->type[0];
	bool yes = false;
	switch (i->op) {
	case PTX_setp: {
		bool known = is_real(t) ? compare_real(i->what, ptx_real(t, a), ptx_real(t, b), &yes)
		                        : compare_whole(i->what, t, a, b, &yes);
		*out = yes;
		return known && i->n == 3;
	}
	case PTX_selp: *out = c & 1 ? a : b; return true;
	case PTX_cvt:
		if (ptx_word(i, "tf32")) { /* the nearest with 10 bits of fraction, of two the one farther from 0 */
			*out = isfinite(f32_of(a)) ? (uint32_t)((a + (1u << 12)) & ~(uint64_t)0x1fff) : (uint32_t)a;
			return i->ntype == 1;
		}
		*out = convert(i, a);
		return i->ntype == 2;
	default: break;
	}
	if (i->ntype == 0)
		return false;
	return is_real(t) ? compute_real(i, a, b, c, out) : compute_whole(i, a, b, c, out);
}

bool ptx_atomic(int what, PtxType t, uint64_t old, uint64_t b, uint64_t c, uint64_t *out)
{
	bool less;
	switch (what) {
	case IS_add:
		*out = !is_real(t)    ? old + b
		       : t.bits == 32 ? of_f32(f32_of(old) + f32_of(b))
		                      : ptx_raw(t, ptx_real(t, old) + ptx_real(t, b));
		return true;
	case IS_min:
	case IS_max:
		less = is_real(t)        ? ptx_real(t, b) < ptx_real(t, old)
		       : t.kind == PTX_S ? ptx_signed(b, t.bits) < ptx_signed(old, t.bits)
		                         : ptx_unsigned(b, t.bits) < ptx_unsigned(old, t.bits);
		*out = less == (what == IS_min) ? b : old;
		return true;
	case IS_and: *out = old & b; return true;
	case IS_or: *out = old | b; return true;
	case IS_xor: *out = old ^ b; return true;
	case IS_exch: *out = b; return true;
	case IS_cas: *out = ptx_unsigned(old, t.bits) == ptx_unsigned(b, t.bits) ? c : old; return true;
	default: return false;
	}
}
