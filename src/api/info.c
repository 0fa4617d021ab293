/* See info.h. */
#include "api/info.h"

#include "api/session.h"
#include "base/json.h"
#include "codegen/backend.h"
#include "frontend/frontend.h"
#include "runtime/probe.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct Built {
	const char *name;
	bool there;
	const char *use, *package;
} built[] = {
#define BUILT(name, there, use, package) { name, there, use, package },
#include "api/built.def"
#undef BUILT
};

enum { NBUILT = sizeof built / sizeof *built };

typedef struct Place {
	const char *what, *path;
} Place;

typedef struct Info {
	Arena *arena;
	Text *out;
	Target host;
	bool probed;
	Core measured;
	const char *const *target;
	size_t ntarget;
	const NamedModel *zoo;
	int nzoo;
	Place place[8];
	int nplace;
} Info;

static void add_place(Info *f, const char *what, const char *path)
{
	if (path != NULL)
		f->place[f->nplace++] = (Place){ what, arena_printf(f->arena, "%s", path) };
}

static bool collect(Info *f, Err *err)
{
	DlcSession *s;
	if (dlc_session_open_user(NULL, &s, failure_of(err)) != DLC_FAULT_NONE)
		return false;
	const Folders *at = &s->folders;
	target_host(&f->host, 1);
	f->target = target_list(f->arena, at->targets, at->ntargets, &f->ntarget);
	f->zoo = frontend_models(f->arena, &f->nzoo);
	add_place(f, "programs", at->programs);
	for (size_t i = 0; i < at->ntargets; i++)
		add_place(f, "targets", at->targets[i]);
	add_place(f, "tuning_db", at->database);
	add_place(f, "cache", at->cache);
	dlc_session_close(s);
	return true;
}

/* Whether the machine has what the figure is of: rates of caches that are not there say nothing. */
static bool has_level(const Target *t, CoreFigure f)
{
	return f < CORE_L1 || f > CORE_L4 || t->cache[f - CORE_L1].bytes > 0;
}

/* ---- JSON */

/* The figures that are known; the same keys as in a target file. */
static Json *core_json(Arena *a, const Target *t, const Core *c)
{
	Json *v = json_new(a, JV_OBJECT);
	for (int f = 0; f < CORE_FIGURES; f++)
		if (has_level(t, (CoreFigure)f) && core_get(c, (CoreFigure)f) > 0)
			json_set(a, v, core_key((CoreFigure)f), json_new_real(a, core_get(c, (CoreFigure)f)));
	return v;
}

static Json *host_json(Arena *a, const Info *f)
{
	const Target *t = &f->host;
	char text[TARGET_TEXT], hex[HASH_HEX];
	Json *v = json_new(a, JV_OBJECT);
	hash_hex(target_id(t), hex);
	json_set(a, v, "target", json_new_text(a, target_text(t, text)));
	json_set(a, v, "id", json_new_text(a, hex));
	json_set(a, v, "kind", json_new_text(a, target_kind_name(t->kind)));
	json_set(a, v, "arch", json_new_text(a, arch_name(t->arch)));
	json_set(a, v, "model", json_new_text(a, t->model));
	json_set(a, v, "brand", json_new_text(a, t->brand));
	Json *features = json_set(a, v, "features", json_new(a, JV_ARRAY));
	for (int i = 0; i < FEATURE_COUNT; i++)
		if (target_has(t, (Feature)i))
			json_push(a, features, json_new_text(a, feature_name((Feature)i)));
	json_set(a, v, "cores", json_new_int(a, t->cores));
	json_set(a, v, "cpus", json_new_int(a, t->cpus));
	json_set(a, v, "memory_bytes", json_new_int(a, t->scope[0].bytes));
	json_set(a, v, "vector_bits", json_new_int(a, t->vector_bits));
	json_set(a, v, "vector_registers", json_new_int(a, t->vector_regs));
	json_set(a, v, "core", core_json(a, t, &t->core));
	if (f->probed)
		json_set(a, v, "measured", core_json(a, t, &f->measured));
	Json *caches = json_set(a, v, "cache", json_new(a, JV_ARRAY));
	for (int level = 1; level <= TARGET_CACHES && target_cache(t, level) != 0; level++) {
		Json *row = json_push(a, caches, json_new(a, JV_OBJECT));
		json_set(a, row, "bytes", json_new_int(a, target_cache(t, level)));
		json_set(a, row, "shared_by", json_new_int(a, t->cache[level - 1].shared_by));
	}
	return v;
}

static void print_json(const Info *f)
{
	Arena *a = f->arena;
	Json *v = json_new(a, JV_OBJECT);
	json_set(a, v, "version", json_new_text(a, DLC_VERSION));
	json_push(a, json_set(a, v, "devices", json_new(a, JV_ARRAY)), host_json(a, f));
	Json *targets = json_set(a, v, "targets", json_new(a, JV_ARRAY));
	for (size_t i = 0; i < f->ntarget; i++)
		json_push(a, targets, json_new_text(a, f->target[i]));
	Json *zoo = json_set(a, v, "zoo", json_new(a, JV_ARRAY));
	for (int i = 0; i < f->nzoo; i++)
		json_push(a, zoo, json_new_text(a, f->zoo[i].name));
	Json *features = json_set(a, v, "features", json_new(a, JV_OBJECT));
	for (const Backend *const *b = backends; *b != NULL; b++)
		json_set(a, features, (*b)->name, json_new_bool(a, true));
	for (int i = 0; i < NBUILT; i++)
		json_set(a, features, built[i].name, json_new_bool(a, built[i].there));
	Json *places = json_set(a, v, "places", json_new(a, JV_ARRAY));
	for (int i = 0; i < f->nplace; i++) {
		Json *row = json_push(a, places, json_new(a, JV_OBJECT));
		json_set(a, row, "what", json_new_text(a, f->place[i].what));
		json_set(a, row, "path", json_new_text(a, f->place[i].path));
		json_set(a, row, "exists", json_new_bool(a, access(f->place[i].path, F_OK) == 0));
	}
	Text out = { .arena = a };
	json_write(&out, v);
	text_add(f->out, "%s\n", text_str(&out));
}

/* ---- text */

/* "32 KiB"; whole numbers where they are whole. */
static const char *size_text(Arena *a, int64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double v = (double)bytes;
	int unit = 0;
	while (v >= 1024 && unit < 4) {
		v /= 1024;
		unit++;
	}
	return arena_printf(a, v == (double)(int64_t)v ? "%.0f %s" : "%.1f %s", v, units[unit]);
}

/* The words of a list, indented, in lines of at most 90 characters. */
static void print_words(const Info *f, const char *words)
{
	while (*words != 0) {
		size_t n = strlen(words);
		if (n > 80)
			for (n = 80; n > 0 && words[n] != ' ';)
				n--;
		text_add(f->out, "          %.*s\n", (int)n, words);
		words += n + (words[n] == ' ');
	}
}

static void print_host(const Info *f)
{
	const Target *t = &f->host;
	char text[TARGET_TEXT];
	text_add(f->out, "device    %s", target_text(t, text));
	if (t->brand[0] != 0)
		text_add(f->out, "  %s", t->brand);
	text_add(f->out, "\n          %d core%s, %d CPU%s, %s of memory\n", t->cores, t->cores > 1 ? "s" : "",
		t->cpus, t->cpus > 1 ? "s" : "",
		t->scope[0].bytes > 0 ? size_text(f->arena, t->scope[0].bytes) : "an unknown size");
	text_add(f->out, "          %d vector registers of %d bits", t->vector_regs, t->vector_bits);
	text_add(f->out, ", %g FMA%s per cycle, latency %g", t->core.fma_rate, t->core.fma_rate > 1 ? "s" : "",
		t->core.fma_latency);
	text_add(f->out, "\n          caches:");
	for (int level = 1; level <= TARGET_CACHES && target_cache(t, level) != 0; level++)
		text_add(f->out, "%s L%d %s", level > 1 ? "," : "", level,
			size_text(f->arena, target_cache(t, level)));
	text_add(f->out, "%s\n", target_cache(t, 1) == 0 ? " unknown" : "");
	print_words(f, target_feature_list(f->arena, t->features));
}

/* What was measured beside what the target says, and where it has that from. */
static void print_probe(const Info *f)
{
	const Target *t = &f->host;
	text_add(f->out, "\ncore      measured   taken  from\n");
	for (int i = 0; i < CORE_FIGURES; i++) {
		CoreFigure k = (CoreFigure)i;
		if (!has_level(t, k))
			continue;
		double v = core_get(&f->measured, k);
		char text[32] = "-";
		if (v > 0)
			snprintf(text, sizeof text, "%.2f", v);
		text_add(f->out, "          %8s  %6g  %-8s %s\n", text, core_get(&t->core, k),
			core_source_name((CoreSource)t->core.source[k]), core_meaning(k));
	}
}

static void print_built(const Info *f, bool there, const char *title)
{
	bool any = false;
	for (const Backend *const *b = backends; there && *b != NULL; b++) {
		text_add(f->out, "%-10s%-8s  %s\n", any ? "" : title, (*b)->name, (*b)->use);
		any = true;
	}
	for (int i = 0; i < NBUILT; i++)
		if (built[i].there == there) {
			text_add(f->out, "%-10s%-8s  %s", any ? "" : title, built[i].name, built[i].use);
			text_add(f->out, there ? "\n" : "  (install %s and build again)\n", built[i].package);
			any = true;
		}
}

static void print_text(const Info *f)
{
	text_add(f->out, "dlc %s\n\n", DLC_VERSION);
	print_host(f);
	if (f->probed)
		print_probe(f);
	text_add(f->out, "\ntargets   host");
	for (size_t i = 0; i < f->ntarget; i++)
		if (strcmp(f->target[i], "host") != 0)
			text_add(f->out, " %s", f->target[i]);
	text_add(f->out, "\nzoo       ");
	for (int i = 0; i < f->nzoo; i++)
		text_add(f->out, "%s%s", i > 0 ? " " : "", f->zoo[i].name);
	text_add(f->out, "\n\n");
	print_built(f, true, "built in");
	print_built(f, false, "missing");
	text_add(f->out, "\n");
	for (int i = 0; i < f->nplace; i++)
		text_add(f->out, "%-10s%s%s\n", f->place[i].what, f->place[i].path,
			access(f->place[i].path, F_OK) == 0 ? "" : "  (not there)");
}

bool info_text(Text *out, bool json, bool probe, Err *err)
{
	Info f = { .arena = out->arena, .out = out };
	if (!collect(&f, err))
		return false;
	if (probe) {
		ProbeCore p;
		uint64_t cache[TARGET_CACHES];
		for (int k = 0; k < TARGET_CACHES; k++)
			cache[k] = (uint64_t)f.host.cache[k].bytes;
		f.probed = probe_core(&p, f.host.vector_bits, cache);
		if (!f.probed)
			return fail(err, ERR_DEVICE, "probe", "there is no memory to measure with");
		f.measured = core_from_probe(&p);
	}
	if (json)
		print_json(&f);
	else
		print_text(&f);
	return true;
}
