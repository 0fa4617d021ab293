/*
 * The promise of random.h: its kernel sets run in the interpreter without an error, and what comes
 * out depends neither on the order of what is declared parallel nor on simplification.
 */
#include "interp/interp.h"
#include "ir/random.h"
#include "ir/simplify/simplify.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "ir/walk.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ARGS = 64 };

typedef struct Args {
	IrArg arg[MAX_ARGS];
	size_t bytes[MAX_ARGS];
	DType type[MAX_ARGS];
	int64_t elements[MAX_ARGS];
	int n;
} Args;

/* Small values; those of mapped buffers are zero, since padding has to be. */
static void fill(Rng *rng, const Buf *b, void *data, int64_t elements, size_t bytes)
{
	unsigned char *byte = data;
	if (b->map.n > 0 || b->role == BUF_OUT)
		return;
	if (!dtype_is_float(b->type)) {
		for (size_t i = 0; i < bytes; i++)
			byte[i] = (unsigned char)(b->type.kind == DT_BOOL ? rng_below(rng, 2)
									  : rng_next(rng));
		if (b->type.bits < 8 && elements * b->type.bits % 8 != 0)
			byte[bytes - 1] &=
				(unsigned char)((1u << (elements * b->type.bits % 8)) - 1);
		return;
	}
	for (int64_t i = 0; i < elements; i++) {
		double v = (double)rng_range(rng, -16, 16) / 4;
		float f = (float)v;
		uint16_t half =
			(uint16_t)(rng_below(rng, 2) << 15 | rng_range(rng, 0x3c00, 0x4400));
		if (b->type.bits == 64)
			memcpy(byte + 8 * i, &v, 8);
		else if (b->type.bits == 32)
			memcpy(byte + 4 * i, &f, 4);
		else
			memcpy(byte + 2 * i, &half, 2);
	}
}

static void add_fn(Rng *rng, Arena *a, const Fn *fn, Args *args)
{
	for (int i = 0; i < fn->nsym; i++) {
		const Sym *s = &fn->sym[i];
		int64_t least = (s->lo + s->div - 1) / s->div;
		int64_t v = s->div * rng_range(rng, least, s->hi / s->div);
		args->arg[args->n++] = (IrArg){ s->name, NULL, v };
	}
	for (int i = 0; i < fn->nparam; i++) {
		const Buf *b = fn->param[i].buf;
		int64_t n = ir_buf_elements(b, args->arg, args->n);
		size_t bytes = (size_t)dtype_bytes(b->type, n);
		bool known = false;
		for (int k = 0; k < args->n; k++)
			known = known || args->arg[k].name == b->name;
		if (known)
			continue;
		ck_assert_int_lt(args->n, MAX_ARGS);
		args->bytes[args->n] = bytes;
		args->type[args->n] = b->type;
		args->elements[args->n] = n;
		args->arg[args->n++] = (IrArg){ b->name, arena_alloc(a, bytes + 8), 0 };
		fill(rng, b, args->arg[args->n - 1].data, n, bytes);
	}
}

/* A copy of the arguments with data of its own. */
static Args copy_args(Arena *a, const Args *args)
{
	Args copy = *args;
	for (int i = 0; i < args->n; i++)
		if (args->arg[i].data != NULL)
			copy.arg[i].data = arena_copy(a, args->arg[i].data, args->bytes[i] + 8);
	return copy;
}

/* Bits of an element; all NaNs are one. */
static uint64_t element(DType t, const unsigned char *data, int64_t i)
{
	uint64_t bits = 0;
	double d;
	float f;
	if (t.bits < 8)
		return data[i * t.bits / 8];
	memcpy(&bits, data + i * t.bits / 8, t.bits / 8);
	memcpy(&d, &bits, sizeof d);
	memcpy(&f, &bits, sizeof f);
	bool nan = t.bits == 64 ? isnan(d) : isnan(f);
	if (t.bits == 16)
		nan = (bits & 0x7fff) > (t.kind == DT_BFLOAT ? 0x7f80 : 0x7c00);
	return dtype_is_float(t) && nan ? UINT64_MAX : bits;
}

static void assert_same(const Args *x, const Args *y, const char *what, const char *text)
{
	for (int i = 0; i < x->n; i++) {
		const DType t = x->type[i];
		for (int64_t k = 0; x->arg[i].data != NULL && k < x->elements[i]; k++)
			ck_assert_msg(
				element(t, x->arg[i].data, k) == element(t, y->arg[i].data, k),
				"%s: %s differs at %lld: %llx, not %llx\n%.3000s", what, x->arg[i].name,
				(long long)k, (unsigned long long)element(t, y->arg[i].data, k),
				(unsigned long long)element(t, x->arg[i].data, k), text);
	}
}

static void run(Rng *rng, const KernelSet *ks, Args *args, const char *text)
{
	Err err = { 0 };
	InterpRun how = { .seed = rng_next(rng), .steps = 10000000 };
	ck_assert_msg(interp_run_set(ks, args->arg, args->n, &how, &err), "%s %s\n%.3000s", err.place,
		err.text, text);
}

START_TEST(random_runs)
{
	Rng rng = rng_seed(0x5eed2000u + (uint64_t)_i);
	for (int round = 0; round < (getenv("DLC_TEST_ALL") != NULL ? 2000 : 250); round++) {
		Arena *a = arena_new();
		Ir *ir = ir_new(a);
		Err err = { 0 };
		KernelSet *ks = random_set(&rng, ir, RANDOM_ALL, 1 + (int)rng_below(&rng, 4));
		KernelSet *simple = ir_clone_set_into(ir_new(a), ks);
		Args args = { .n = 0 };
		for (size_t i = 0; i < ks->n; i++) {
			if (ks->fn[i]->kind != FN_SUB)
				add_fn(&rng, a, ks->fn[i], &args);
			ir_simplify_fn(simple, simple->fn[i]);
		}
		const char *text = ir_set_str(a, ks), *simple_text = ir_set_str(a, simple);
		Args second = copy_args(a, &args), third = copy_args(a, &args);
		ck_assert_msg(
			ir_verify_set(simple, &err), "%s %s\n%.3000s", err.place, err.text, simple_text);
		run(&rng, ks, &args, text);
		run(&rng, ks, &second, text);
		run(&rng, simple, &third, simple_text);
		assert_same(&args, &second, "another order", text);
		assert_same(
			&args, &third, "simplified", arena_printf(a, "%s\n%.3000s", text, simple_text));
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("random");
	tcase_add_loop_test(tc, random_runs, 0, 8);
	return run_suite("ir-random", tc);
}
