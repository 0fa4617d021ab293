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
	const DlcTargetInfo *host; /* until a device is described */
	bool probed;
	int device; /* the one of each kind to list; -1: all */
	bool json;
	Json *shipped; /* runs that came with dlc, by target */
	Json *models;  /* that came with dlc, by kind of targets */
	Json *devices, *missing; /* of devices beside the host; NULL where text is printed */
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

static Json *target_json(Arena *a, const DlcTargetInfo *t, bool probed)
{
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
	if (probed)
		json_set(a, v, "measured", core_json(a, t, true));
	Json *caches = json_set(a, v, "cache", json_new(a, JV_ARRAY));
	for (int i = 0; i < t->ncache; i++) {
		Json *row = json_push(a, caches, json_new(a, JV_OBJECT));
		json_set(a, row, "bytes", json_new_int(a, t->cache[i].bytes));
		json_set(a, row, "shared_by", json_new_int(a, t->cache[i].shared_by));
	}
	for (int i = 0; i < t->nblocks; i++)
		json_set(a, v, t->blocks[i].key, json_new_count(a, t->blocks[i].value));
	Json *probe = t->nprobe > 0 ? json_set(a, v, "measured", json_new(a, JV_OBJECT)) : NULL;
	for (int i = 0; i < t->nprobe; i++)
		json_set(a, probe, t->probe[i].key, json_new_real(a, t->probe[i].measured));
	if (t->slowed[0] != 0)
		json_set(a, probe, "slowed", json_new_text(a, t->slowed));
	return v;
}

static void print_json(const Info *f)
{
	Arena *a = f->arena;
	const DlcSessionInfo *s = f->session;
	Json *v = json_new(a, JV_OBJECT);
	json_set(a, v, "version", json_new_text(a, dlc_version()));
	json_set(a, v, "devices", f->devices);
	json_set(a, v, "missing", f->missing);
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
	json_set(a, v, "shipped", f->shipped);
	json_set(a, v, "models", f->models);
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

static void print_caches(Arena *a, const DlcTargetInfo *t)
{
	printf("\n          caches:");
	for (int i = 0; i < t->ncache; i++)
		printf("%s L%d %s", i > 0 ? "," : "", i + 1, size_text(a, t->cache[i].bytes));
	printf("%s\n", t->ncache == 0 ? " unknown" : "");
	print_names(t->feature, t->nfeature);
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
	print_caches(f->arena, t);
}

static double limit_of(const DlcTargetInfo *t, const char *key)
{
	for (int i = 0; i < t->nblocks; i++)
		if (strcmp(t->blocks[i].key, key) == 0)
			return t->blocks[i].value;
	return 0;
}

static void print_device(Arena *a, const DlcTargetInfo *t, int id)
{
	printf("\ndevice    %s  %s  (--target=%s --device=%d)\n", t->text, t->brand, t->kind, id);
	printf("          %d unit%s, %.3g GHz, %s of memory\n", t->cores, t->cores > 1 ? "s" : "", figure_of(t, "ghz"),
		t->memory_bytes > 0 ? size_text(a, t->memory_bytes) : "an unknown size");
	printf("          blocks of at most %.0f threads and %s of shared memory; %.0f thread%s in a warp",
		limit_of(t, "block_threads"), size_text(a, (int64_t)limit_of(t, "shared_bytes")), limit_of(t, "warp"),
		limit_of(t, "warp") > 1 ? "s" : "");
	print_caches(a, t);
}

/* The current rates of a device. */
static void print_device_probe(const DlcTargetInfo *t)
{
	for (int i = 0; i < t->nprobe; i++)
		printf("          %9.1f  %s\n", t->probe[i].measured, t->probe[i].meaning);
	if (t->slowed[0] != 0)
		printf("          slowed down by its %s\n", t->slowed);
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
		if (!there)
			printf("  (%s)", c->remedy);
		printf("\n");
		title = "";
	}
}

static void print_rest(const DlcSessionInfo *s)
{
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

/* Only a device with processors of its own is measured. */
static bool is_gpu(const DlcTargetInfo *t)
{
	return limit_of(t, "warp") > 1;
}

/* Where one cannot be described, that is said, and the others are listed. */
static void list_devices(Info *f, DlcSession *s)
{
	for (int k = 0; k < f->session->nkind; k++) {
		int n;
		Err none = { 0 };
		const char *kind = f->session->kind[k];
		bool there = dlc_session_devices(s, kind, &n, failure_of(&none)) == DLC_FAULT_NONE;
		int first = f->device < 0 ? 0 : f->device, end = f->device >= 0 ? f->device + 1 : there ? n : 1;
		for (int id = first; id < end; id++) {
			const DlcTargetInfo *t;
			DlcTarget device = { .name = kind, .device = id };
			bool ok = there && dlc_target_info(s, &device, 0, &t, failure_of(&none)) == DLC_FAULT_NONE;
			bool failed = false;
			if (ok && f->probed && is_gpu(t)) {
				failed = dlc_target_info(s, &device, 1, &t, failure_of(&none)) != DLC_FAULT_NONE;
				ok = !failed || dlc_target_info(s, &device, 0, &t, NULL) == DLC_FAULT_NONE;
			}
			if (failed)
				fprintf(stderr, "dlc: %s:%d: %s\n", kind, id, none.text);
			if (ok && f->devices == NULL) {
				print_device(f->arena, t, id);
				print_device_probe(t);
			} else if (ok)
				json_set(f->arena, json_push(f->arena, f->devices, target_json(f->arena, t, false)), "device",
					json_new_int(f->arena, id));
			else if (f->missing == NULL)
				printf("\n%s\n", none.text);
			else {
				Json *row = json_push(f->arena, f->missing, json_new(f->arena, JV_OBJECT));
				json_set(f->arena, row, "kind", json_new_text(f->arena, kind));
				json_set(f->arena, row, "why", json_new_text(f->arena, none.text));
			}
		}
	}
}

/* Whether some kind has the requested device. */
static bool has_device(const Info *f, DlcSession *s, Err *err)
{
	Text counts = { .arena = f->arena };
	for (int k = 0; k < f->session->nkind; k++) {
		int n = 0;
		const char *kind = f->session->kind[k];
		dlc_session_devices(s, kind, &n, NULL);
		if (f->device < n)
			return true;
		text_add(&counts, "%s%d of %s", k == 0 ? "" : k + 1 < f->session->nkind ? ", " : " and ", n, kind);
	}
	return fail(err, ERR_DEVICE, "", "there is no device %d: this machine has %s, counted from 0", f->device,
		text_str(&counts));
}

/* The learned model of a kind of targets that lies beside the logs; nothing where there is none. */
static void add_model(Info *f, DlcDatabase *logs, const char *kind)
{
	Err why = { 0 };
	const DlcModelInfo *m;
	DlcFault fault = dlc_database_model(logs, kind, &m, failure_of(&why));
	if (fault == DLC_FAULT_MISSING)
		return;
	const char *refused = fault != DLC_FAULT_NONE ? why.text : NULL;
	if (f->json) {
		Json *row = json_push(f->arena, f->models, json_new(f->arena, JV_OBJECT));
		json_set(f->arena, row, "kind", json_new_text(f->arena, kind));
		if (refused != NULL) {
			json_set(f->arena, row, "why", json_new_text(f->arena, refused));
			return;
		}
		json_set(f->arena, row, "epoch", json_new_int(f->arena, m->epoch));
		json_set(f->arena, row, "schedules", json_new_int(f->arena, m->schedules));
		json_set(f->arena, row, "tasks", json_new_int(f->arena, m->tasks));
		json_set(f->arena, row, "data", json_new_text(f->arena, m->data));
	} else if (refused != NULL) {
		printf("model     %s: %s: the estimate ranks instead\n", kind, refused);
	} else {
		printf("model     %s: of %lld schedules of %d Tasks, code of epoch %d\n", kind, (long long)m->schedules,
			m->tasks, m->epoch);
	}
}

/* The targets of the logs that came with dlc; none where there are no logs. The database is closed by the caller. */
static bool open_shipped(Info *f, DlcSession *s, DlcDatabase **db, Err *err)
{
	DlcStats stats = { 0 };
	const char *path = dlc_session_shipped(s);
	f->shipped = json_new(f->arena, JV_ARRAY);
	f->models = json_new(f->arena, JV_ARRAY);
	if (path == NULL)
		return true;
	if (!database_open(s, path, DLC_READ, db, err) ||
		dlc_database_stats(*db, &stats, failure_of(err)) != DLC_FAULT_NONE)
		return false;
	for (int i = 0; i < stats.ntarget; i++) {
		Json *row = json_push(f->arena, f->shipped, json_new(f->arena, JV_OBJECT));
		json_set(f->arena, row, "target", json_new_text(f->arena, stats.target[i].name));
		json_set(f->arena, row, "runs", json_new_int(f->arena, stats.target[i].n));
		if (!f->json)
			printf("%-10s%s: %lld runs of others, read where there are no better records\n", i == 0 ? "shipped" : "",
				stats.target[i].name, (long long)stats.target[i].n);
	}
	add_model(f, *db, "cpu");
	for (int k = 0; k < f->session->nkind; k++)
		add_model(f, *db, f->session->kind[k]);
	return true;
}

static bool run_info(const Args *args, Err *err)
{
	DlcDatabase *logs = NULL;
	Info f = { .arena = args_arena(args), .json = args_given(args, "json"), .probed = args_given(args, "probe"),
		.device = (int)args_int(args, "device", -1) };
	DlcSession *s = session_open(err);
	bool ok = s != NULL && dlc_session_info(s, &f.session, failure_of(err)) == DLC_FAULT_NONE &&
		has_device(&f, s, err) && dlc_target_info(s, NULL, f.probed, &f.host, failure_of(err)) == DLC_FAULT_NONE;
	if (ok && f.json && (ok = open_shipped(&f, s, &logs, err))) {
		f.devices = json_new(f.arena, JV_ARRAY);
		f.missing = json_new(f.arena, JV_ARRAY);
		json_push(f.arena, f.devices, target_json(f.arena, f.host, f.probed));
		list_devices(&f, s);
		print_json(&f);
	} else if (ok) {
		printf("dlc %s\n\n", dlc_version());
		print_host(&f);
		if (f.probed)
			print_probe(f.host);
		list_devices(&f, s);
		print_rest(f.session);
		ok = open_shipped(&f, s, &logs, err);
	}
	dlc_database_close(logs);
	dlc_session_close(s);
	return ok;
}

static const Option options[] = {
	{ .name = "probe",
		.kind = OPT_FLAG,
		.help = "measure the rates of a core and of each GPU; takes some seconds" },
	{ .name = "device", .kind = OPT_INT, .arg = "N", .lo = 0, .hi = 4095, .help = "list only device N of each kind" },
	OPTION_JSON,
	OPTION_END,
};

const Verb cmd_info = {
	.name = "info",
	.summary = "Show this machine, the targets, the zoo, what is built in and where files are looked for",
	.options = options,
	.run = run_info,
};
