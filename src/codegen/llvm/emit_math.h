/*
 * What emit_math.c is written in: arithmetic of one floating type, and its numbers. For a new
 * polynomial: minimax in the relative error, c0 first, the error behind it.
 */
#ifndef CODEGEN_LLVM_EMIT_MATH_H
#define CODEGEN_LLVM_EMIT_MATH_H

#include "codegen/llvm/emit_num.h"

typedef struct Math {
	Emit *e;
	LLVMTypeRef t, it; /* f32 or f64 of some lanes; integers of the same bits */
	bool wide;         /* f64 */
} Math;

#define MATH_LEN(array) ((int)(sizeof(array) / sizeof *(array)))

Math math_of(Emit *e, LLVMValueRef like);
LLVMValueRef math_real(const Math *m, double v);
LLVMValueRef math_add(const Math *m, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef math_sub(const Math *m, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef math_mul(const Math *m, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef math_div(const Math *m, LLVMValueRef a, LLVMValueRef b);
/* 1 / a of 2^-100 < a < 2^100; what AVX-512 divides for 16 cycles, it multiplies for 3: within 0.6 units of f32. */
LLVMValueRef math_reciprocal(const Math *m, LLVMValueRef a);
/* Whether math_scale applies: v times 2^n, rounded once, for any whole n; an instruction of AVX-512. */
bool math_scales(const Math *m);
LLVMValueRef math_scale(const Math *m, LLVMValueRef v, LLVMValueRef n);
/* Of 16 numbers those that the low bits of each lane of i name; where math_scales. */
enum { PICKS = 16 };
LLVMValueRef math_pick(const Math *m, const double *table, LLVMValueRef i);
LLVMValueRef math_neg(const Math *m, LLVMValueRef a);
LLVMValueRef math_abs(const Math *m, LLVMValueRef a);
LLVMValueRef math_fma(const Math *m, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c); /* a*b + c */
LLVMValueRef math_sign(const Math *m, LLVMValueRef v, LLVMValueRef sign);
LLVMValueRef math_less(const Math *m, LLVMValueRef a, LLVMValueRef b);  /* false for NaN */
LLVMValueRef math_equal(const Math *m, LLVMValueRef a, LLVMValueRef b); /* false for NaN */
LLVMValueRef math_select(const Math *m, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef math_poly(const Math *m, LLVMValueRef x, const double *c, int n);
/* The same by its even and odd powers, a chain half as long. */
LLVMValueRef math_poly_split(const Math *m, LLVMValueRef x, const double *c, int n);
LLVMValueRef math_widen(const Math *m, LLVMValueRef a);  /* f32 to f64 */
LLVMValueRef math_narrow(const Math *m, LLVMValueRef a); /* f64 to m's f32 */
/* Exact: what is returned + *lost. */
LLVMValueRef math_sum(const Math *m, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *lost);
LLVMValueRef math_product(const Math *m, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *lost);

/* ln 2, the high part with so many zeros that its products with exponents are exact. */
#define LN2_HI32 0x1.63p-1
#define LN2_LO32 -0x1.bd0106p-13
#define LN2_HI64 0x1.62e42feep-1
#define LN2_LO64 0x1.a39ef35793c76p-33
/* pi/2 in 33, 33 and 53 bits. */
#define PIO2_1 0x1.921fb544p+0
#define PIO2_2 0x1.0b4611a6p-34
#define PIO2_3 0x1.3198a2e037073p-69
/* pi/2 in two numbers of the type. */
#define PIO2_HI32 0x1.921fb6p+0
#define PIO2_LO32 -0x1.777a5cp-25
#define PIO2_HI64 0x1.921fb54442d18p+0
#define PIO2_LO64 0x1.1a62633145c07p-54

/* (e^r - 1 - r) / r^2, |r| <= ln2 / 2: 2^-34 and 2^-64 of e^r */
#define MATH_EXP32 0x1p-1, 0x1.555554p-3, 0x1.55548ep-5, 0x1.111272p-7, 0x1.6d8db2p-10, 0x1.9f080ap-13
#define MATH_EXP64 \
	0x1p-1, 0x1.555555555555bp-3, 0x1.5555555555502p-5, 0x1.111111110ec1ap-7, 0x1.6c16c16c3077ep-10, \
		0x1.a01a01b398ff2p-13, 0x1.a01a0135fe4c8p-16, 0x1.71ddefdc797c6p-19, 0x1.27e5b4edbf331p-22, \
		0x1.af6c61417384cp-26, 0x1.1e3ce159a26e3p-29
/* (log(1+f) - f + f^2/2) / f^3, 1+f in [sqrt(1/2), sqrt(2)]: 2^-30 */
#define MATH_LOG32 \
	0x1.555548p-2, -0x1.000006p-2, 0x1.99a4b6p-3, -0x1.555c4ep-3, 0x1.233768p-3, -0x1.fc220ap-4, 0x1.e6f06cp-4, \
		-0x1.de3c12p-4, 0x1.1457ap-4
/* (2 atanh(s)/s - 2) / s^2 in s^2, the same range: 2^-66 */
#define MATH_LOG64 \
	0x1.5555555555555p-1, 0x1.9999999999e06p-2, 0x1.249249242aaf9p-2, 0x1.c71c7259aa2b7p-3, 0x1.745cddff654bbp-3, \
		0x1.3b20b4df84a65p-3, 0x1.0f5bf5ec8476cp-3, 0x1.0f6a9b6762442p-3
/* (tanh(x)/x - 1) / x^2 in x^2, |x| <= 0.625: 2^-32 and 2^-66 */
#define MATH_TANH32 -0x1.555554p-2, 0x1.111066p-3, -0x1.b9ee9p-5, 0x1.638b5cp-6, -0x1.0bf50cp-7, 0x1.18e20ep-9
#define MATH_TANH64 \
	-0x1.5555555555555p-2, 0x1.11111111110d1p-3, -0x1.ba1ba1ba1735cp-5, 0x1.664f488183d29p-6, -0x1.226e3529dedafp-7, \
		0x1.d6d3c5a98bfbbp-9, -0x1.7da294893b63fp-10, 0x1.354da5157c567p-11, -0x1.f4bd1cbfd1a64p-13, \
		0x1.919bf13a1af1ep-14, -0x1.333cb4b72c14p-15, 0x1.8bc2a08ba53ffp-17, -0x1.30e926ff67bp-19
/* log(erfc(x))/x + 1, 0..3.9375: 2^-26.9 of erf; and (e^r - 1 - r) / r^2, |r| <= ln2 / 2: 2^-25.9 of e^r - 1 */
#define MATH_ERFC32 \
	-0x1.06eba8p-3, -0x1.45f2fap-1, -0x1.a4fa6p-4, 0x1.39cde8p-6, 0x1.503ed6p-13, -0x1.b4fc2ap-10, 0x1.4bc566p-11, \
		-0x1.ed624ap-14, 0x1.368dcep-17
#define MATH_EXPM32 0x1p-1, 0x1.5554bp-3, 0x1.555486p-5, 0x1.122838p-7, 0x1.6d992ep-10
/* erf(x)/x - 1 in x^2, |x| <= 1: 2^-62 */
#define MATH_ERF_SMALL64 \
	0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b2p-4, -0x1.b82ce3128499dp-6, 0x1.565bcd0db02f2p-8, \
		-0x1.c02db3d8ed3a7p-11, 0x1.f9a321a11f048p-14, -0x1.f4d1df39513fcp-17, 0x1.b9def19da475p-20, \
		-0x1.5f1d36bbf42cbp-23, 0x1.f7a411cc961fdp-27, -0x1.386abf50591abp-30, 0x1.0579a62fae6b2p-34
/* log(erfc(x)) in x - 3, 1..6: 2^-68 of erf */
#define MATH_ERF_BIG64 \
	-0x1.570d36cb51ca6p+3, -0x1.9370b35013ba3p+2, -0x1.ea2f933642f32p-1, -0x1.e5bee8dd11a09p-8, 0x1.62c3204985bb9p-10, \
		-0x1.01a07ae39e15dp-12, 0x1.6965719228fbcp-15, -0x1.dd82ba5169c6fp-18, 0x1.1f0fe1a1a9e85p-20, \
		-0x1.247204f1672bcp-23, 0x1.899ec7c5a4ccdp-27, 0x1.5ccb916d97452p-31, -0x1.4d07d1a8f9dffp-31, \
		0x1.a58780aa3f56ep-33, -0x1.8ce157b984db4p-35, 0x1.d966160dbe2c8p-38, -0x1.02108b5f59e05p-39, \
		0x1.0d5d187ad61acp-41, 0x1.d7ac9ba9771ddp-43, 0x1.483c253b30feap-46, -0x1.35fb140931c6p-46, \
		-0x1.01b456c1cb4c7p-47, -0x1.1d6a2c2a67e3fp-51
/* (sin(r)/r - 1) / r^2 and (cos(r) - 1 + r^2/2) / r^4 in r^2, |r| <= pi/4: 2^-68 and 2^-75 */
#define MATH_SIN64 \
	-0x1.5555555555555p-3, 0x1.111111111110bp-7, -0x1.a01a01a018ab3p-13, 0x1.71de3a533564ap-19, -0x1.ae645292e275p-26, \
		0x1.61208f348d858p-33, -0x1.aaa38189354e1p-41
#define MATH_COS64 \
	0x1.5555555555555p-5, -0x1.6c16c16c16c1p-10, 0x1.a01a01a018dbfp-16, -0x1.27e4fb75fa94fp-22, 0x1.1eed8ca061bbp-29, \
		-0x1.9393347d4dec3p-37, 0x1.aac3f53265beap-45
/* (atan(t)/t - 1) / t^2 in t^2, |t| <= tan(pi/8): 2^-30 and 2^-64 of atan */
#define MATH_ATAN32 -0x1.55554ap-2, 0x1.999196p-3, -0x1.23b52p-3, 0x1.b1ec02p-4, -0x1.f1ec94p-5
#define MATH_ATAN64 \
	-0x1.5555555555554p-2, 0x1.999999999964bp-3, -0x1.2492492475676p-3, 0x1.c71c71b746a4p-4, -0x1.745d14b92bcc4p-4, \
		0x1.3b136e216760ap-4, -0x1.110c72229327bp-4, 0x1.e171f40b31e28p-5, -0x1.ab7d3bda82752p-5, \
		0x1.70ec578ae0a06p-5, -0x1.1235ec53dfe86p-5, 0x1.f1e2d0ae42579p-7

#endif
