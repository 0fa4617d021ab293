/*
 * The promise of random.h: its kernel sets run in the interpreter without an error, and what comes
 * out does not depend on the order of what is declared parallel.
 */
#include "ir/interp.h"
#include "ir/random.h"
#include "ir/text.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

enum { MAX_ARGS = 64 };

typedef struct Args {
	IrArg arg[MAX_ARGS];
	size_t bytes[MAX_ARGS];
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
		int64_t n = ir_buf_elements(b, fn, args->arg, args->n);
		size_t bytes = (size_t)dtype_bytes(b->type, n);
		bool known = false;
		for (int k = 0; k < args->n; k++)
			known = known || args->arg[k].name == b->name;
		if (known)
			continue;
		ck_assert_int_lt(args->n, MAX_ARGS);
		args->bytes[args->n] = bytes;
		args->arg[args->n++] = (IrArg){ b->name, arena_alloc(a, bytes + 8), 0 };
		fill(rng, b, args->arg[args->n - 1].data, n, bytes);
	}
}

START_TEST(random_runs)
{
	uint64_t seed = 0x5eed2000u + (uint64_t)_i;
	Rng rng = rng_seed(seed);
	for (int round = 0; round < (getenv("DLC_TEST_ALL") != NULL ? 2000 : 250); round++) {
		Arena *a = arena_new();
		Ir *ir = ir_new(a);
		Err err = { 0 };
		Text t = { .arena = a };
		KernelSet *ks = random_set(&rng, ir, RANDOM_ALL, 1 + (int)rng_below(&rng, 4));
		Args args = { .n = 0 };
		for (size_t i = 0; i < ks->n; i++)
			if (ks->fn[i]->kind != FN_SUB)
				add_fn(&rng, a, ks->fn[i], &args);
		Args again = args;
		for (int i = 0; i < args.n; i++)
			if (args.arg[i].data != NULL)
				again.arg[i].data =
					arena_copy(a, args.arg[i].data, args.bytes[i] + 8);
		ir_print_set(&t, ks);
		for (int order = 0; order < 2; order++) {
			IrRun how = { .seed = rng_next(&rng), .steps = 10000000 };
			bool ok = ir_run_set(
				ks, order == 0 ? args.arg : again.arg, args.n, &how, &err);
			ck_assert_msg(ok, "seed %llx: %s %s\n%s", (unsigned long long)seed,
				err.place, err.text, t.at);
		}
		for (int i = 0; i < args.n; i++)
			ck_assert_msg(args.arg[i].data == NULL ||
					      memcmp(args.arg[i].data, again.arg[i].data,
						      args.bytes[i]) == 0,
				"seed %llx: %s differs\n%s", (unsigned long long)seed,
				args.arg[i].name, t.at);
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
