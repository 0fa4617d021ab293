/*
 * dlc info: this machine, the targets, the zoo, what was built in, where files are looked for. As text, or with --json
 * as one object on a line.
 */
#include "cli/operands.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

typedef struct Info {
	Arena *arena;
	const DlcSessionInfo *session;
	const DlcTargetInfo *host;
	bool probed;
} Info;

/* ---- JSON */

/* The figures that are known; the same keys as in a target file. */
static Json *core_json(Arena *a, const DlcTargetInfo *t, bool measured)
{
	Json *v = json_new(a, JV_OBJECT);
	for (int i = 0; i < t->ncore; i++) {
		double figure = measured ? t->core[i].measured : t->core[i].value;
		if (figure > 0)
			json_set(a, v, t->core[i].key, json_new_real(a, figure));
	}
	return v;
}

static Json *names_json(Arena *a, const char *const *name, int n)
{
	Json *v = json_new(a, JV_ARRAY);
	for (int i = 0; i < n; i++)
		json_push(a, v, json_new_text(a, name[i]));
	return v;
}

static Json *host_json(Arena *a, const Info *f)
{
	const DlcTargetInfo *t = f->host;
	Json *v = json_new(a, JV_OBJECT);
	json_set(a, v, "target", json_new_text(a, t->text));
	json_set(a, v, "id", json_new_text(a, t->id));
	json_set(a, v, "kind", json_new_text(a, t->kind));
	json_set(a, v, "arch", json_new_text(a, t->arch));
	json_set(a, v, "model", json_new_text(a, t->model));
	json_set(a, v, "brand", json_new_text(a, t->brand));
	json_set(a, v, "features", names_json(a, t->feature, t->nfeature));
	json_set(a, v, "cores", json_new_int(a, t->cores));
	json_set(a, v, "cpus", json_new_int(a, t->cpus));
	json_set(a, v, "memory_bytes", json_new_int(a, t->memory_bytes));
	json_set(a, v, "vector_bits", json_new_int(a, t->vector_bits));
	json_set(a, v, "vector_registers", json_new_int(a, t->vector_registers));
	json_set(a, v, "core", core_json(a, t, false));
	if (f->probed)
		json_set(a, v, "measured", core_json(a, t, true));
	Json *caches = json_set(a, v, "cache", json_new(a, JV_ARRAY));
	for (int i = 0; i < t->ncache; i++) {
		Json *row = json_push(a, caches, json_new(a, JV_OBJECT));
		json_set(a, row, "bytes", json_new_int(a, t->cache[i].bytes));
		json_set(a, row, "shared_by", json_new_int(a, t->cache[i].shared_by));
	}
	return v;
}

static void print_json(const Info *f)
{
	Arena *a = f->arena;
	const DlcSessionInfo *s = f->session;
	Json *v = json_new(a, JV_OBJECT);
	json_set(a, v, "version", json_new_text(a, dlc_version()));
	json_push(a, json_set(a, v, "devices", json_new(a, JV_ARRAY)), host_json(a, f));
	json_set(a, v, "targets", names_json(a, s->target, s->ntarget));
	json_set(a, v, "zoo", names_json(a, s->zoo, s->nzoo));
	Json *features = json_set(a, v, "features", json_new(a, JV_OBJECT));
	for (int i = 0; i < s->ncomponent; i++)
		json_set(a, features, s->component[i].name, json_new_bool(a, s->component[i].there));
	Json *places = json_set(a, v, "places", json_new(a, JV_ARRAY));
	for (int i = 0; i < s->nplace; i++) {
		Json *row = json_push(a, places, json_new(a, JV_OBJECT));
		json_set(a, row, "what", json_new_text(a, s->place[i].what));
		json_set(a, row, "path", json_new_text(a, s->place[i].path));
		json_set(a, row, "exists", json_new_bool(a, s->place[i].exists));
	}
	Text out = { .arena = a };
	json_write(&out, v);
	puts(text_str(&out));
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

/* The names, indented, in lines of at most 90 characters. */
static void print_names(const char *const *name, int n)
{
	enum { INDENT = 10, COLUMNS = 90 };
	size_t at = 0;
	for (int i = 0; i < n; i++) {
		size_t more = strlen(name[i]) + (at > 0);
		if (at > 0 && at + more > COLUMNS - INDENT) {
			printf("\n");
			at = 0;
			more--;
		}
		printf("%*s%s", at == 0 ? INDENT : 1, "", name[i]);
		at += more;
	}
	if (n > 0)
		printf("\n");
}

static double figure_of(const DlcTargetInfo *t, const char *key)
{
	for (int i = 0; i < t->ncore; i++)
		if (strcmp(t->core[i].key, key) == 0)
			return t->core[i].value;
	return 0;
}

static void print_host(const Info *f)
{
	const DlcTargetInfo *t = f->host;
	double fma_rate = figure_of(t, "fma_rate");
	printf("device    %s", t->text);
	if (t->brand[0] != 0)
		printf("  %s", t->brand);
	printf("\n          %d core%s, %d CPU%s, %s of memory\n", t->cores, t->cores > 1 ? "s" : "", t->cpus,
		t->cpus > 1 ? "s" : "", t->memory_bytes > 0 ? size_text(f->arena, t->memory_bytes) : "an unknown size");
	printf("          %d vector registers of %d bits", t->vector_registers, t->vector_bits);
	printf(", %g FMA%s per cycle, latency %g", fma_rate, fma_rate > 1 ? "s" : "", figure_of(t, "fma_latency"));
	printf("\n          caches:");
	for (int i = 0; i < t->ncache; i++)
		printf("%s L%d %s", i > 0 ? "," : "", i + 1, size_text(f->arena, t->cache[i].bytes));
	printf("%s\n", t->ncache == 0 ? " unknown" : "");
	print_names(t->feature, t->nfeature);
}

/* What was measured beside what the target says, and where it has that from. */
static void print_probe(const DlcTargetInfo *t)
{
	printf("\ncore      measured   taken  from\n");
	for (int i = 0; i < t->ncore; i++) {
		const DlcCoreFigure *c = &t->core[i];
		char text[32] = "-";
		if (c->measured > 0)
			snprintf(text, sizeof text, "%.2f", c->measured);
		printf("          %8s  %6g  %-8s %s\n", text, c->value, c->source, c->meaning);
	}
}

static void print_components(const DlcSessionInfo *s, bool there, const char *title)
{
	for (int i = 0; i < s->ncomponent; i++) {
		const DlcComponent *c = &s->component[i];
		if ((c->there != 0) != there)
			continue;
		printf("%-10s%-8s  %s", title, c->name, c->use);
		if (!there && c->package != NULL)
			printf("  (install %s and build again)", c->package);
		printf("\n");
		title = "";
	}
}

static void print_text(const Info *f)
{
	const DlcSessionInfo *s = f->session;
	printf("dlc %s\n\n", dlc_version());
	print_host(f);
	if (f->probed)
		print_probe(f->host);
	printf("\ntargets   host");
	for (int i = 0; i < s->ntarget; i++)
		if (strcmp(s->target[i], "host") != 0)
			printf(" %s", s->target[i]);
	printf("\nzoo       ");
	for (int i = 0; i < s->nzoo; i++)
		printf("%s%s", i > 0 ? " " : "", s->zoo[i]);
	printf("\n\n");
	print_components(s, true, "built in");
	print_components(s, false, "missing");
	printf("\n");
	for (int i = 0; i < s->nplace; i++)
		printf("%-10s%s%s\n", s->place[i].what, s->place[i].path, s->place[i].exists ? "" : "  (not there)");
}

static bool run_info(const Args *args, Err *err)
{
	Info f = { .arena = args_arena(args), .probed = args_given(args, "probe") };
	DlcSession *s = session_open(err);
	bool ok = s != NULL && dlc_session_info(s, &f.session, failure_of(err)) == DLC_FAULT_NONE &&
		dlc_target_info(s, NULL, f.probed, &f.host, failure_of(err)) == DLC_FAULT_NONE;
	if (ok && args_given(args, "json"))
		print_json(&f);
	else if (ok)
		print_text(&f);
	dlc_session_close(s);
	return ok;
}

static const Option options[] = {
	{ .name = "probe", .kind = OPT_FLAG, .help = "measure what a core does in a cycle; takes about half a second" },
	OPTION_JSON,
	OPTION_END,
};

const Verb cmd_info = {
	.name = "info",
	.summary = "Show this machine, the targets, the zoo, what is built in and where files are looked for",
	.options = options,
	.run = run_info,
};
