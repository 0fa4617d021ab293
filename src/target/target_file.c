/*
 * Turns the JSON form of a target into a Target.  docs/targets.md has the form; every key is
 * checked against what can be true of a machine, because later rooms size their work by these numbers.
 */
#include "target/target.h"

#include "target/detect.h"
#include "target/occupancy.h"

#include <stdio.h>
#include <string.h>

static const char *const keys[] = {
	"about",
	"kind",
	"arch",
	"model",
	"features",
	"vector_bits",
	"cores",
	"cpus",
	"memory_bytes",
	"cache",
	"shared_bytes",
	"line_bytes",
#define LIMIT(field, key, low, high, meaning) key,
#include "target/blocks.def"
#undef LIMIT
#define FIGURE(id, field, key, low, high, unit_high, meaning) key,
#include "target/core.def"
#undef FIGURE
};
static const char *const cache_keys[] = { "bytes", "shared_by" };

/* Names end up in texts, file names and records. */
static const char name_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.";

enum { NKEYS = sizeof keys / sizeof *keys };

/* A kind of devices has one architecture; a kind that arch.def lacks is described by that of a CPU. */
static bool arch_fits(Arch a, TargetKind k)
{
	Arch own;
	return target_kind_arch(k, &own) ? a == own : arch_kind(a) == TARGET_CPU;
}

/* known: t->arch is that of t->model. */
static bool parse_arch(const Json *top, Target *t, bool known, Err *err)
{
	const char *text;
	const Json *v = json_find(top, "arch");
	if (known && !arch_fits(t->arch, t->kind))
		return json_fail(json_find(top, "model"), err, "is %s, whose architecture %s is of kind %s, not %s", t->model,
			arch_name(t->arch), target_kind_name(arch_kind(t->arch)), target_kind_name(t->kind));
	known = known || target_kind_arch(t->kind, &t->arch);
	if (v == NULL && known)
		return true;
	if (!json_str(top, "arch", &text, err))
		return false;
	for (int i = 0; i < ARCH_COUNT; i++)
		if (strcmp(arch_name((Arch)i), text) == 0 && (known || arch_fits((Arch)i, t->kind))) {
			if (known && (Arch)i != t->arch)
				return json_fail(v, err, "is %s, but %s is %s", text, t->model, arch_name(t->arch));
			t->arch = (Arch)i;
			return true;
		}
	return json_fail(v, err, "is \"%.40s\"; dlc knows x86-64 and aarch64", text);
}

static bool unknown_feature(const Json *v, const char *name, Arch arch, Err *err)
{
	Arena *a = arena_new();
	size_t n;
	const char *const *names = feature_names(a, arch, &n);
	const char *near = text_nearest(name, names, n);
	json_fail(v, err, "is \"%.40s\", which is no feature of %s that dlc knows%s%s%s", name, arch_name(arch),
		near != NULL ? "; did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"?" : "");
	arena_free(a);
	return false;
}

static bool parse_features(const Json *top, Target *t, Err *err)
{
	const Json *list = json_want(top, "features", JV_ARRAY, err);
	if (list == NULL)
		return false;
	t->features = 0;
	for (size_t i = 0; i < list->list.n; i++) {
		const Json *v = list->list.at[i];
		const char *name;
		Feature f;
		Arch arch;
		uint64_t mask;
		if (!json_as_str(v, &name, err))
			return false;
		if (level_find(name, &arch, &mask) && arch == t->arch)
			t->features |= mask;
		else if (feature_find(name, t->arch, &f))
			t->features |= FEATURE_BIT(f);
		else
			return unknown_feature(v, name, t->arch, err);
	}
	for (int f = 0; f < FEATURE_COUNT; f++)
		if (target_has(t, (Feature)f) && (feature_needs((Feature)f) & ~t->features) != 0) {
			Arena *a = arena_new();
			json_fail(list, err, "has %s without %s, which it builds on", feature_name((Feature)f),
				target_feature_list(a, feature_needs((Feature)f) & ~t->features));
			arena_free(a);
			return false;
		}
	t->features = features_of_code(t->features);
	return true;
}

static bool parse_caches(const Json *top, Target *t, Err *err)
{
	if (json_find(top, "cache") == NULL)
		return true;
	const Json *list = json_want(top, "cache", JV_ARRAY, err);
	if (list == NULL)
		return false;
	if (list->list.n > TARGET_CACHES)
		return json_fail(list, err, "has %zu levels; at most %d can be described", list->list.n, TARGET_CACHES);
	memset(t->cache, 0, sizeof t->cache);
	for (size_t i = 0; i < list->list.n; i++) {
		const Json *row = list->list.at[i];
		int64_t shared = 1;
		if (!json_only(row, cache_keys, 2, err) ||
			!json_int(row, "bytes", 1, (int64_t)1 << 40, &t->cache[i].bytes, err))
			return false;
		if (json_find(row, "shared_by") != NULL && !json_int(row, "shared_by", 1, 4096, &shared, err))
			return false;
		t->cache[i].shared_by = (int)shared;
	}
	return true;
}

static bool optional_int(const Json *top, const char *key, int64_t lo, int64_t hi, int *out, Err *err)
{
	int64_t v;
	if (json_find(top, key) == NULL)
		return true;
	if (!json_int(top, key, lo, hi, &v, err))
		return false;
	*out = (int)v;
	return true;
}

/* What overrides what target_derive concluded. */
static bool parse_numbers(const Json *top, Target *t, Err *err)
{
	int bits = t->vector_bits;
	if (!optional_int(top, "vector_bits", 64, 2048, &bits, err))
		return false;
	if (bits > t->vector_bits || (bits & (bits - 1)) != 0)
		return json_fail(json_find(top, "vector_bits"), err,
			"must be a power of two and at most %d, the width that its features have", t->vector_bits);
	if (target_has_blocks(t)) {
		t->vector_bits = bits;
		unit_derive(t);
	}
	t->vector_bits = bits;
	if (!optional_int(top, "line_bytes", 16, 4096, &t->line_bytes, err))
		return false;
	if (json_find(top, "memory_bytes") != NULL &&
		!json_int(top, "memory_bytes", 1 << 20, (int64_t)1 << 50, &t->scope[0].bytes, err))
		return false;
	/* Defaults follow from what the file says: they are derived once more. */
	for (int f = 0; f < CORE_FIGURES; f++)
		if (t->core.source[f] == CORE_DEFAULT)
			core_set(&t->core, (CoreFigure)f, 0, CORE_DEFAULT);
	if (!core_parse(t, top, err))
		return false;
	core_derive(t);
	return optional_int(top, "cores", 1, 4096, &t->cores, err) &&
	       optional_int(top, "cpus", 1, 4096, &t->cpus, err) && parse_caches(top, t, err);
}

/* Limits of blocks, which only a device has. */
static bool parse_blocks(const Json *top, Target *t, Err *err)
{
	const Json *shared = json_find(top, "shared_bytes");
	for (int i = 0; blocks_key(i) != NULL && !target_has_blocks(t); i++)
		if (json_find(top, blocks_key(i)) != NULL)
			shared = json_find(top, blocks_key(i));
	if (!target_has_blocks(t))
		return shared == NULL || json_fail(shared, err, "is a key of devices, not of a %s", target_kind_name(t->kind));
	int64_t bytes;
	if (shared != NULL && !json_int(top, "shared_bytes", 0, (int64_t)1 << 30, &bytes, err))
		return false;
	if (shared != NULL)
		target_set_scope(t, "shared", bytes);
	if (!blocks_parse(&t->blocks, top, err))
		return false;
	t->vector_regs = (int)((int64_t)t->blocks.thread_regs * 32 / t->vector_bits);
	return true;
}

/* Model, architecture and features, as far as the file gives them beyond `t`. */
static bool parse_model(const Json *top, Target *t, Err *err)
{
	const char *model;
	if (!json_str(top, "model", &model, err))
		return false;
	bool host = strcmp(model, "host") == 0;
	if (host && t->kind != TARGET_CPU)
		return json_fail(json_find(top, "model"), err,
			"must not be \"host\" in a target of kind %s: only CPUs are detected", target_kind_name(t->kind));
	if (host)
		target_host(t, t->threads);
	else if (model[0] == 0 || strlen(model) >= sizeof t->model || model[strspn(model, name_letters)] != 0)
		return json_fail(json_find(top, "model"), err, "must be 1 to %zu of the characters a-z 0-9 - _ .",
			sizeof t->model - 1);
	else
		snprintf(t->model, sizeof t->model, "%s", model);
	bool level = level_find(model, &t->arch, &t->features);
	if (!parse_arch(top, t, host || level || model_find(model, &t->arch) || unit_find(model, &t->arch), err))
		return false;
	if (json_find(top, "features") != NULL || !(host || level))
		return parse_features(top, t, err);
	return true;
}

static bool parse_tree(const Json *top, Target *t, Err *err)
{
	const char *kind;
	if (!json_only(top, keys, NKEYS, err) || !json_str(top, "kind", &kind, err))
		return false;
	if (strchr(kind, ':') != NULL || !target_kind_of(kind, &t->kind))
		return json_fail(json_find(top, "kind"), err, "must be a kind of target such as \"cpu\", not \"%.40s\"", kind);
	if (!parse_model(top, t, err))
		return false;
	int64_t memory = t->nscope > 0 ? t->scope[0].bytes : 0;
	target_derive(t);
	t->scope[0].bytes = memory;
	if (!parse_numbers(top, t, err) || !parse_blocks(top, t, err))
		return false;
	if (t->cores == 0)
		t->cores = 1;
	if (t->cpus < t->cores || (target_has_blocks(t) && json_find(top, "cpus") == NULL))
		t->cpus = t->cores;
	return true;
}

bool target_parse(Target *t, const char *name, const char *text, size_t n, int threads, Err *err)
{
	Arena *a = arena_new();
	*t = (Target){ .threads = threads };
	const Json *top = json_parse(a, name, text, n, err);
	bool ok = top != NULL && parse_tree(top, t, err);
	arena_free(a);
	return ok;
}

const char *target_json(Arena *a, const Target *t)
{
	Json *top = json_new(a, JV_OBJECT);
	json_set(a, top, "kind", json_new_text(a, target_kind_name(t->kind)));
	json_set(a, top, "arch", json_new_text(a, arch_name(t->arch)));
	json_set(a, top, "model", json_new_text(a, t->model));
	Json *list = json_set(a, top, "features", json_new(a, JV_ARRAY));
	for (int f = 0; f < FEATURE_COUNT; f++)
		if (target_has(t, (Feature)f))
			json_push(a, list, json_new_text(a, feature_name((Feature)f)));
	json_set(a, top, "vector_bits", json_new_int(a, t->vector_bits));
	json_set(a, top, "line_bytes", json_new_int(a, t->line_bytes));
	json_set(a, top, "cores", json_new_int(a, t->cores));
	json_set(a, top, "cpus", json_new_int(a, t->cpus));
	if (t->scope[0].bytes > 0)
		json_set(a, top, "memory_bytes", json_new_int(a, t->scope[0].bytes));
	for (int f = 0; f < CORE_FIGURES; f++)
		json_set(a, top, core_key((CoreFigure)f), json_new_real(a, core_get(&t->core, (CoreFigure)f)));
	Json *caches = json_set(a, top, "cache", json_new(a, JV_ARRAY));
	for (int k = 0; k < TARGET_CACHES && t->cache[k].bytes > 0; k++) {
		Json *row = json_push(a, caches, json_new(a, JV_OBJECT));
		json_set(a, row, "bytes", json_new_int(a, t->cache[k].bytes));
		json_set(a, row, "shared_by", json_new_int(a, t->cache[k].shared_by));
	}
	if (target_has_blocks(t))
		json_set(a, top, "shared_bytes", json_new_int(a, target_block_shared(t)));
	for (int i = 0; blocks_key(i) != NULL && target_has_blocks(t); i++)
		json_set(a, top, blocks_key(i), json_new_int(a, (int64_t)blocks_get(&t->blocks, i)));
	Text out = { .arena = a };
	json_write(&out, top);
	return text_str(&out);
}
