/* See capability.h. */
#include "target/capability.h"

static const struct {
	Feature feature;
	Capability row;
} capabilities[] = {
#define CAPABILITY(number, code, ptx, kept, copies, extremes, f16, tf32, ...) \
	{ FEATURE_SM_##number, { number, "sm_" #code, ptx, kept, copies, extremes, f16, tf32 } },
#include "target/capability.def"
#undef CAPABILITY
};

enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };

const Capability *capability_at(int k)
{
	return k < CAPABILITIES ? &capabilities[k].row : NULL;
}

const Capability *target_capability(const Target *t)
{
	static const Capability none = { .code = "" };
	for (int k = CAPABILITIES - 1; k >= 0; k--)
		if (target_has(t, capabilities[k].feature))
			return &capabilities[k].row;
	return &none;
}

double target_matrix_rate(const Target *t, DType factor, bool tf32)
{
	const Capability *c = target_capability(t);
	if (factor.kind == DT_BFLOAT && factor.bits == 16)
		return c->tf32 > 0 ? c->f16 : 0; /* bf16 and tf32 both exist since sm_80 */
	if (factor.kind != DT_FLOAT)
		return 0;
	return factor.bits == 16 ? c->f16 : factor.bits == 32 && tf32 ? c->tf32 : 0;
}
