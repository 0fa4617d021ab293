/* The rows of feature.def and level.def: by name, by architecture, and what builds on what. */
#include "target/feature.h"

#include "base/text.h"

#include <assert.h>
#include <string.h>

_Static_assert(FEATURE_COUNT <= 64, "features are bits of a uint64_t");

static const struct {
	Arch arch;
	const char *text;
	uint64_t needs;
	bool sign; /* no code uses it */
} features[FEATURE_COUNT] = {
#define FEATURE(name, arch, text, needs) [FEATURE_##name] = { ARCH_##arch, text, needs, false },
#define SIGN(name, arch, text, needs) [FEATURE_##name] = { ARCH_##arch, text, needs, true },
#include "target/feature.def"
#undef SIGN
#undef FEATURE
};

static const struct {
	const char *name;
	Arch arch;
	uint64_t features;
} levels[] = {
#define LEVEL(name, arch, features) { name, ARCH_##arch, features },
#include "target/level.def"
#undef LEVEL
};

enum { LEVELS = sizeof levels / sizeof *levels };

const char *feature_name(Feature f)
{
	return features[f].text;
}

Arch feature_arch(Feature f)
{
	return features[f].arch;
}

bool feature_find(const char *name, Arch arch, Feature *out)
{
	for (int f = 0; f < FEATURE_COUNT; f++)
		if (features[f].arch == arch && strcmp(features[f].text, name) == 0) {
			*out = (Feature)f;
			return true;
		}
	return false;
}

bool level_find(const char *name, Arch *arch, uint64_t *mask)
{
	for (int i = 0; i < LEVELS; i++)
		if (strcmp(levels[i].name, name) == 0) {
			*arch = levels[i].arch;
			*mask = levels[i].features;
			return true;
		}
	return false;
}

const char *const *feature_names(Arena *a, Arch arch, size_t *n)
{
	VEC(const char *) list = { 0 };
	for (int i = LEVELS - 1; i >= 0; i--)
		if (levels[i].arch == arch)
			vec_push(a, &list, levels[i].name);
	for (int f = 0; f < FEATURE_COUNT; f++)
		if (features[f].arch == arch)
			vec_push(a, &list, features[f].text);
	*n = list.n;
	return list.at;
}

char *target_feature_list(Arena *a, uint64_t mask)
{
	Text t = { .arena = a };
	for (int f = 0; f < FEATURE_COUNT; f++)
		if ((mask & FEATURE_BIT(f)) != 0)
			text_add(&t, "%s%s", t.n != 0 ? " " : "", features[f].text);
	return arena_printf(a, "%s", text_str(&t));
}

uint64_t features_closed(uint64_t mask)
{
	for (uint64_t before = 0; before != mask;) {
		before = mask;
		for (int f = 0; f < FEATURE_COUNT; f++)
			if ((features[f].needs & ~mask) != 0)
				mask &= ~FEATURE_BIT(f);
	}
	return mask;
}

uint64_t features_of_code(uint64_t mask)
{
	for (int f = 0; f < FEATURE_COUNT; f++)
		if (features[f].sign)
			mask &= ~FEATURE_BIT(f);
	return mask;
}

uint64_t feature_needs(Feature f)
{
	return features[f].needs;
}

const char *level_of(Arch arch, uint64_t mask, uint64_t *own)
{
	int found = -1;
	for (int i = LEVELS - 1; i >= 0; i--)
		if (levels[i].arch == arch) {
			found = i;
			if ((levels[i].features & ~mask) == 0)
				break;
		}
	assert(found >= 0);
	*own = levels[found].features;
	return levels[found].name;
}
