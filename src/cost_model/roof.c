/* See roof.h. */
#include "cost_model/roof.h"

#include "cost_model/cost.h"
#include "op/shape.h"

#include <math.h>

/* Which part of a convolution's taps lies in its input, all dimensions together. */
static double taps_inside(const Dag *d, const OpCall *c)
{
	Window w;
	double part = 1;
	if (!op_window(d, c, &w, NULL))
		return 1;
	for (int k = 0; k < w.n; k++) {
		int64_t inside = 0;
		for (int64_t tap = 0; tap < w.kernel[k]; tap++) {
			/* Those y of [0, out) for which lo <= y * stride + tap * dilation < lo + in. */
			int64_t at = tap * w.dilation[k] - w.lo[k];
			int64_t first = at >= 0 ? 0 : (-at + w.stride[k] - 1) / w.stride[k];
			int64_t end = w.in[k] > at ? (w.in[k] - at + w.stride[k] - 1) / w.stride[k] : 0;
			end = end < w.out[k] ? end : w.out[k];
			inside += end > first ? end - first : 0;
		}
		if (w.out[k] > 0 && w.kernel[k] > 0)
			part *= (double)inside / (double)(w.out[k] * w.kernel[k]);
	}
	return part;
}

double roof_flops(const Task *task)
{
	double sum = 0;
	for (size_t i = 0; i < task->dag->call.n; i++) {
		const OpCall *c = &task->dag->call.at[i];
		if (op_row(c->op)->class == OP_ANCHOR)
			sum += op_flops(task->dag, c) * (c->op == OP_conv ? taps_inside(task->dag, c) : 1);
	}
	return sum;
}

/* Bits of the narrowest number that the Task handles. */
static int narrowest_bits(const Task *task)
{
	int bits = 64;
	for (size_t i = 0; i < task->dag->value.n; i++) {
		DType t = task->dag->value.at[i].type;
		bits = t.kind != DT_BOOL && t.bits < bits ? t.bits : bits;
	}
	return bits;
}

/* Whether a call of the Task may round f32 factors to tf32. */
static bool allows_tf32(const Task *task)
{
	for (size_t i = 0; i < task->dag->call.n; i++) {
		AttrKind kind;
		const char *dflt;
		const OpCall *c = &task->dag->call.at[i];
		if (op_find_attr(c->op, "tf32", &kind, &dflt) && op_int(c, "tf32") != 0)
			return true;
	}
	return false;
}

RoofTime roof_of(const Task *task, const Roof *machine)
{
	/* A register holds twice as many elements of half the width. */
	int bits = narrowest_bits(task);
	double gflops = machine->gflops * (machine->bits > 0 ? (double)machine->bits / bits : 1);
	double units = bits == F16.bits ? machine->f16 : bits == F32.bits && allows_tf32(task) ? machine->tf32 : 0;
	gflops = fmax(gflops, units);
	return (RoofTime){ .flops_ns = gflops > 0 ? roof_flops(task) / gflops : 0,
		.bytes_ns = machine->gbps > 0 ? task->bytes / machine->gbps : 0 };
}

double roof_ns(const Task *task, const Roof *machine)
{
	RoofTime t = roof_of(task, machine);
	return t.flops_ns > t.bytes_ns ? t.flops_ns : t.bytes_ns;
}

/* The same of a device, whose cores are all at work. A driver may say little of its device, or too little. */
static double device_floor_ns(const Task *task, const Target *t)
{
	const Core *c = &t->core;
	double units = fmax(t->cores, COST_FLOOR_UNITS), cycles = c->ghz * COST_FLOOR_CLOCK * units;
	double rate = c->source[CORE_FMA_RATE] == CORE_DEFAULT ? 0 : c->fma_rate * t->vector_bits / 32;
	double near = c->source[CORE_L1] == CORE_DEFAULT ? 0 : c->level[0];
	double lanes = fmax(rate, COST_FLOOR_LANES) * 32 / narrowest_bits(task) * COST_FLOOR_MATRIX;
	return fmax(task->flops / (2 * lanes * cycles * COST_FLOOR_SAVED),
		task->bytes / (fmax(near, COST_FLOOR_L1) * cycles));
}

int64_t roof_floor_ns(const Task *task, const Target *target)
{
	const Core *c = &target->core;
	double cycles = c->ghz * COST_FLOOR_CLOCK * (target->threads > 0 ? target->threads : 1); /* a nanosecond */
	double rate = c->source[CORE_FMA_RATE] == CORE_DEFAULT ? COST_FLOOR_RATE : c->fma_rate;
	double lanes = target_lanes(target, DT(FLOAT, (uint8_t)narrowest_bits(task)));
	double compute = task->flops / (2 * lanes * rate * cycles * COST_FLOOR_SAVED);
	double traffic = task->bytes / (c->level[0] * cycles);
	double most = target_has_blocks(target) ? device_floor_ns(task, target) : fmax(compute, traffic);
	return (int64_t)fmin(fmax(most, ROOF_LEAST_NS), 1e18);
}
