#include "device.h"

#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

const char *const device_sets[] = { "elementwise", "matmul", "joins", "reduce", "conv", "blocked", "rows",
	"guarded", "places", "stages", "halves", "roundings", "atomics", "masks", "scatters", NULL };

KernelSet *device_set(Arena *a, const char *name)
{
	Err err = { 0 };
	Text text = { .arena = a };
	char piece[4096];
	size_t n;
	FILE *f = fopen(arena_printf(a, DEVICE_SETS "/%s.ir", name), "r");
	ck_assert_msg(f != NULL, "no %s.ir", name);
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		text_put(&text, piece, n);
	fclose(f);
	KernelSet *ks = ir_parse_set(ir_new(a), name, text_str(&text), text.n, &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s: %s", name, err.place, err.text);
	return ks;
}

void device_target(Target *t)
{
	*t = (Target){ .kind = TARGET_OPENCL, .arch = ARCH_OPENCL, .model = "test", .threads = 1 };
	t->vector_bits = 512;
	t->vector_regs = 32;
	t->scope[t->nscope++] = (Scope){ "global", 0 };
	t->scope[t->nscope++] = (Scope){ "shared", 32768 };
	t->scope[t->nscope++] = (Scope){ "local", 0 };
}
