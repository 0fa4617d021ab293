/*
 * What a driver says of a device becomes a Target: the file of its model where the folders have one, else the row of
 * unit.def, and above that the numbers of the driver. A CPU as an OpenCL device has this CPU's figures: its unit is a
 * core.
 */
#include "target/machine_device.h"

#include "target/capability.h"
#include "target/detect.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- its name ---- */

enum { NAME_BYTES = 256 };

static bool is_word(char c)
{
	return isalnum((unsigned char)c) != 0;
}

/*
 * Whether a further word of the name means another model: a Laptop GPU or a MIG slice has fewer units than the GPU.
 */
static bool names_variant(const char *text)
{
	static const char *const variants[] = { "laptop", "mobile", "max", "mig", "ti", "super", "d" };
	for (const char *s = text; *s != 0; s++)
		for (size_t i = 0; is_word(*s) && !is_word(s[-1]) && i < sizeof variants / sizeof *variants; i++) {
			size_t n = strlen(variants[i]);
			if (strncasecmp(s, variants[i], n) == 0 && !is_word(s[n]))
				return true;
		}
	return false;
}

/*
 * Whether consecutive words of the text, joined, are the model: "GeForce RTX 4090" has rtx4090, and
 * "GeForce RTX 4090 Laptop GPU" does not.
 */
static bool names_model(const char *text, const char *model)
{
	for (const char *s = text; *s != 0 && model[0] != 0; s++) {
		const char *m = model, *p = s;
		if (!is_word(*s) || (s > text && is_word(s[-1])))
			continue;
		for (; *m != 0 && *p != 0; p++)
			if (is_word(*p) && tolower((unsigned char)*p) == *m)
				m++;
			else if (is_word(*p))
				break;
		if (*m == 0 && !is_word(*p) && !names_variant(p))
			return true;
	}
	return false;
}

/*
 * The name in letters that a model may have: "AMD Radeon(TM) RX 6800" is "amd-radeon-rx-6800". At most `most` of them
 * and a 0.
 */
static void name_model(Target *t, const char *text, size_t most)
{
	size_t n = 0;
	for (const char *s = text; *s != 0 && n < most; s++) {
		if (*s == '(' && strchr(s, ')') != NULL && (strncmp(s, "(R)", 3) == 0 || strncmp(s, "(TM)", 4) == 0))
			s = strchr(s, ')');
		else if (is_word(*s))
			t->model[n++] = (char)tolower((unsigned char)*s);
		else if (n > 0 && t->model[n - 1] != '-')
			t->model[n++] = '-';
	}
	while (n > 0 && t->model[n - 1] == '-')
		n--;
	t->model[n] = 0;
	if (n == 0)
		snprintf(t->model, sizeof t->model, "unnamed");
}

/*
 * The speed of a CPU through OpenCL depends on its cores and on the driver's code, which has vectors of the width that
 * the driver prefers: "pocl-znver5-512".
 */
static void name_cpu(Target *t, const DeviceFacts *f)
{
	enum { BITS = 5 }; /* "-2048" */
	Target host;
	char text[NAME_BYTES];
	const char *driver = unit_of_cpu(t->arch);
	target_host(&host, 1);
	snprintf(text, sizeof text, "%s %s", driver, host.model);
	name_model(t, device_is_model(f, driver) ? text : f->name, sizeof t->model - 1 - BITS);
	size_t n = strlen(t->model);
	snprintf(t->model + n, sizeof t->model - n, "-%d", t->vector_bits);
}

/* The name of a kind tells the vendor. */
static const char *without_maker(const char *name, TargetKind kind)
{
	static const char maker[] = "NVIDIA ";
	return kind == TARGET_CUDA && strncmp(name, maker, sizeof maker - 1) == 0 ? name + sizeof maker - 1 : name;
}

bool device_is_model(const DeviceFacts *f, const char *model)
{
	char both[NAME_BYTES];
	snprintf(both, sizeof both, "%.120s %.120s", f->name, f->driver);
	return names_model(both, model);
}

/* ---- its features ---- */

/* "sm_121" where feature.def has sm_120: the highest compute capability that the device is not below. */
static bool nearest_capability(const char *word, Feature *out)
{
	bool found = false;
	char name[16];
	const Capability *c;
	int number = strncmp(word, "sm_", 3) == 0 ? atoi(word + 3) : 0;
	for (int k = 0; (c = capability_at(k)) != NULL && c->number <= number; k++) {
		snprintf(name, sizeof name, "sm_%d", c->number);
		found = feature_find(name, ARCH_PTX, out);
	}
	return found;
}

static uint64_t read_features(Arch arch, const char *words)
{
	char copy[sizeof((DeviceFacts *)0)->features], *save = NULL;
	uint64_t mask = 0, level;
	snprintf(copy, sizeof copy, "%s", words);
	for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
		Feature f;
		Arch of;
		bool found = feature_find(w, arch, &f) || (arch == ARCH_PTX && nearest_capability(w, &f));
		if (found && level_find(feature_name(f), &of, &level) && of == arch)
			mask |= level;
		else if (found)
			mask |= FEATURE_BIT(f);
	}
	return mask;
}

/* ---- its numbers ---- */

static double number_of(const DeviceFacts *f, const char *key)
{
	for (int i = 0; i < f->n; i++)
		if (strcmp(f->number[i].key, key) == 0)
			return f->number[i].value;
	return 0;
}

int device_units(const DeviceFacts *f)
{
	return (int)number_of(f, "cores");
}

/* The host's core, in vectors of the target's width. */
static void take_host(Target *t)
{
	Target host;
	target_host(&host, 1);
	double narrower = (double)host.vector_bits / t->vector_bits;
	t->core = host.core;
	t->core.fma_rate *= narrower;
	t->core.loads *= narrower;
	t->core.stores *= narrower;
	memcpy(t->cache, host.cache, sizeof t->cache);
	t->line_bytes = host.line_bytes;
	t->blocks.thread_regs = t->blocks.unit_regs = host.vector_regs * host.vector_bits / 32;
}

static void take_numbers(Target *t, const DeviceFacts *f)
{
	double cores = number_of(f, "cores"), l2 = number_of(f, "l2_bytes");
	double rate = number_of(f, "memory_bytes_per_second"), memory = number_of(f, "memory_bytes");
	if (cores >= 1 && cores <= 4096)
		t->cores = (int)cores;
	t->cpus = t->cores;
	if (memory > 0)
		t->scope[0].bytes = (int64_t)memory;
	if (number_of(f, "shared_bytes") > 0)
		target_set_scope(t, "shared", (int64_t)number_of(f, "shared_bytes"));
	if (l2 > 0 && !f->is_cpu)
		t->cache[1] = (Cache){ .bytes = (int64_t)l2, .shared_by = t->cores };
	blocks_take(&t->blocks, f);
	t->vector_regs = t->blocks.thread_regs * 32 / t->vector_bits;
	for (int i = 0; i < CORE_FIGURES && !f->is_cpu; i++)
		core_take(t, (CoreFigure)i, number_of(f, core_key((CoreFigure)i)));
	if (t->core.ghz > 0)
		core_take(t, CORE_MEMORY, rate / 1e9 / t->core.ghz / t->cores);
}

/* ---- both ---- */

bool target_from_device(Target *t, TargetKind kind, const DeviceFacts *f, const Target *model)
{
	Arch arch;
	if (!target_kind_arch(kind, &arch))
		return false;
	int bits = (int)number_of(f, "vector_bits");
	uint64_t features = read_features(arch, f->features);
	if (arch == ARCH_PTX && features == 0)
		return false;
	if (model != NULL)
		*t = *model;
	else {
		*t = (Target){ .kind = kind, .arch = arch, .features = features };
		name_model(t, without_maker(f->name, kind), sizeof t->model - 1);
		target_derive(t);
	}
	t->features = features;
	if (f->is_cpu)
		t->blocks.warp = 1;
	if (f->is_cpu || (bits > 0 && bits != t->vector_bits)) {
		t->vector_bits = bits >= 32 && bits <= target_register_bits(t) && (bits & (bits - 1)) == 0 ? bits : 128;
		unit_derive(t);
	}
	if (f->is_cpu) {
		take_host(t);
		name_cpu(t, f);
	}
	take_numbers(t, f);
	core_derive(t);
	snprintf(t->brand, sizeof t->brand, "%.63s", f->name);
	return true;
}
