/*
 * Numbers of 8 bits (float8.h). A code becomes a number by a table of 256. A number becomes a code by its bits: those
 * of the fraction that the format lacks are rounded to even, and the exponent moves; below the least normal number it
 * counts steps. What is too large saturates, or becomes NaN or infinity.
 */
#include "frontend/onnx/float8.h"
#include "frontend/node/compose.h"

#include "op/element.h"

#include <math.h>

enum { FRACTION = 23, BIAS = 127 }; /* of f32 */

typedef struct Float8 {
	int fraction, bias;
	int most;       /* the code of the largest finite number */
	int nan, above; /* codes of NaN, and of what is too large and does not saturate */
	bool one_zero;  /* -0 is NaN, as all numbers that are none */
} Float8;

/* FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ */
static const Float8 formats[] = {
	{ 3, 7, 0x7e, 0x7f, 0x7f, false },
	{ 3, 8, 0x7f, 0x80, 0x80, true },
	{ 2, 15, 0x7b, 0x7e, 0x7c, false },
	{ 2, 16, 0x7f, 0x80, 0x80, true },
};

static const Float8 *format_of(int64_t code)
{
	return &formats[code - ONNX_FLOAT8];
}

static double number_of(const Float8 *f, int code)
{
	int exponent = (code & 0x7f) >> f->fraction, rest = code & ((1 << f->fraction) - 1);
	int steps = rest + (exponent > 0 ? 1 << f->fraction : 0), least = exponent > 0 ? exponent : 1;
	double v = ldexp(steps, least - f->bias - f->fraction);
	if (f->one_zero ? code == 0x80 : (code & 0x7f) > f->most)
		v = !f->one_zero && (code & 0x7f) == f->above && f->above != f->nan ? INFINITY : NAN;
	return code < 0x80 ? v : -v;
}

int float8_decode(Visit *v, Item *it)
{
	float *table = arena_array(v->im->arena, float, 256);
	for (int k = 0; k < 256; k++)
		table[k] = (float)number_of(format_of(it->code), k);
	int numbers = node_const(v, F32, shape_of(1, (int64_t[]){ 256 }), table);
	int in[] = { numbers, node_cast(v, node_item_value(v, it), I32) };
	return node_call(v, OP_gather, in, 2, NULL, 0);
}

void float8_set(Visit *v, int k, int x, int64_t code, bool saturate)
{
	const Float8 *f = format_of(code);
	int lost = FRACTION - f->fraction;
	Attr to = attr_text("to", "u32");
	x = node_cast(v, x, F32);
	int bits = node_call(v, OP_bitcast, &x, 1, &to, 1), size = node_call1(v, OP_abs, x);
	int sign = node_with_number(v, OP_mul, node_with_number(v, OP_shift_right, bits, 31), 0x80);
	int a = node_with_number(v, OP_bit_and, bits, 0x7fffffff);
	int odd = node_with_number(v, OP_bit_and, node_with_number(v, OP_shift_right, a, lost), 1);
	int rounded = node_call2(v, OP_add, node_with_number(v, OP_add, a, (1 << (lost - 1)) - 1), odd);
	int normal = node_with_number(v, OP_shift_right, rounded, lost), shift = (BIAS - f->bias) << f->fraction;
	normal = node_with_number(v, OP_sub, node_with_number(v, OP_maximum, normal, shift), shift);
	double least = ldexp(1, 1 - f->bias);
	int steps = node_with_number(v, OP_minimum, size, least);
	steps = node_with_number(v, OP_mul, steps, ldexp(1, f->bias - 1 + f->fraction));
	steps = node_cast(v, node_call1(v, OP_round, steps), DT(UINT, 32));
	int c = node_where(v, node_with_number(v, OP_less, size, least), steps, normal);
	int most = node_number(v, DT(UINT, 32), f->most);
	int above = node_number(v, DT(UINT, 32), saturate ? f->most : f->above);
	c = node_where(v, node_call2(v, OP_less, most, c), above, c);
	int y = node_call2(v, OP_add, c, sign);
	if (f->one_zero) /* neither -0 nor a second NaN */
		y = node_where(v, node_call2(v, OP_less, most, c), c, node_where(v, node_with_number(v, OP_equal, c, 0), c, y));
	int none = node_number(v, DT(UINT, 32), f->nan);
	y = node_where(v, node_call1(v, OP_is_nan, x), f->one_zero ? none : node_call2(v, OP_add, none, sign), y);
	Item *it = node_new_item(v, node_cast(v, y, DT(UINT, 8)));
	it->kind = ITEM_FLOAT8;
	it->code = code;
	node_set_alias(v, k, it);
}
