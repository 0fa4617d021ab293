/*
 * Sessions: where files lie, what the user is told, cancelling, the children of one call; and how failures and memory
 * that runs out become a DlcFault.
 */
#include "api/session.h"

#include "db/look.h"
#include "runtime/cpu.h"
#include "target/capability.h"
#include "target/machine_device.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAME(member) (offsetof(DlcFailure, member) == offsetof(Err, member))
_Static_assert(
	sizeof(DlcFailure) == sizeof(Err) && SAME(code) && SAME(place) && SAME(text) && SAME(items) && SAME(nitems),
	"a DlcFailure is an Err");
#define ERR(name, exit_code, meaning) _Static_assert((int)DLC_FAULT_##name == (int)ERR_##name, #name);
#include "base/err.def"
#undef ERR

enum { CODE_CACHE_BYTES = 64 << 20 };

/* ---- failures ---- */

static void end_call(DlcSession *s)
{
	if (s == NULL)
		return;
	if (s->call->stopped)
		atomic_fetch_and(&s->stop, ~STOP_CALLBACK);
	s->call = s->call->outer;
}

DlcFault session_end(DlcSession *s, bool ok, Err *err)
{
	end_call(s);
	if (ok)
		return DLC_FAULT_NONE;
	if (err->code == ERR_NONE)
		fail(err, ERR_BUG, "libdlc", "a call failed without saying why");
	return (DlcFault)err->code;
}

bool session_begin(DlcSession *s, Call *c, Err *err)
{
	if (s == NULL)
		return true;
	if ((s->stop & STOP_CANCEL) != 0)
		return fail(err, ERR_INTERRUPTED, "", "the session is cancelled");
	c->outer = s->call;
	c->view = NULL;
	c->measure = NULL;
	c->stopped = false;
	s->call = c;
	return true;
}

DlcFault session_out_of_memory(DlcSession *s, Err *err)
{
	if (s != NULL && s->call->measure != NULL)
		measure_abandon(s->call->measure);
	end_call(s);
	*err = (Err){ 0 };
	fail(err, ERR_MEMORY, "", "out of memory");
	return DLC_FAULT_MEMORY;
}

size_t dlc_failure_text(const DlcFailure *why, char *out, size_t size)
{
	if (why == NULL || (out == NULL && size > 0)) {
		if (out != NULL && size > 0)
			out[0] = 0;
		return 0;
	}
	int n = err_format((const Err *)why, out, size);
	if (n > 0 && (size_t)n < size && out[n - 1] == '\n')
		out[--n] = 0;
	return n > 0 ? (size_t)n : 0;
}

const char *dlc_version(void)
{
	return DLC_VERSION;
}

void session_note(const char *sentence, void *session)
{
	const DlcSession *s = session;
	if (s->note == NULL)
		return;
	Arena *a = arena_new();
	s->note(text_printable(a, sentence, ""), s->note_arg);
	arena_free(a);
}

/* ---- opening ---- */

static const char *copy_of(Arena *a, const char *text, const char *otherwise)
{
	return text != NULL ? arena_printf(a, "%s", text) : otherwise;
}

static bool open_session(const DlcSessionOptions *o, bool user, DlcSession **out)
{
	static const DlcSessionOptions none;
	Arena *a = arena_new();
	DlcSession *s = arena_new_of(a, DlcSession);
	Folders *f = &s->folders;
	o = o != NULL ? o : &none;
	folders_around(f, a);
	if (user)
		folders_environment(f, a);
	f->programs = copy_of(a, o->programs, f->programs);
	f->code = copy_of(a, o->code, f->code);
	f->key = copy_of(a, o->key, f->key);
	f->database = copy_of(a, o->database, f->database);
	if (o->ntargets > 0)
		folders_add_targets(f, a, o->targets, (size_t)o->ntargets);
	s->arena = a;
	s->command = copy_of(a, o->command, NULL);
	s->note = o->note;
	s->note_arg = o->note_arg;
	*out = s;
	return true;
}

DlcFault dlc_session_open(const DlcSessionOptions *options, DlcSession **out, DlcFailure *why)
{
	API_CHECK(why, API_OUT(out), API_OPTIONS(options, api_session_options));
	API_CALL(NULL, why, open_session(options, false, out));
}

DlcFault dlc_session_open_user(const DlcSessionOptions *options, DlcSession **out, DlcFailure *why)
{
	API_CHECK(why, API_OUT(out), API_OPTIONS(options, api_session_options));
	API_CALL(NULL, why, open_session(options, true, out));
}

void dlc_session_close(DlcSession *s)
{
	if (s == NULL)
		return;
	arena_free(s->info);
	arena_free(s->target_info);
	arena_free(s->arena);
}

void dlc_session_cancel(DlcSession *s, int on)
{
	if (s != NULL && on != 0)
		atomic_fetch_or(&s->stop, STOP_CANCEL);
	else if (s != NULL)
		atomic_fetch_and(&s->stop, ~STOP_CANCEL);
}

void session_stop_call(DlcSession *s)
{
	s->call->stopped = true;
	atomic_fetch_or(&s->stop, STOP_CALLBACK);
}

Arena *session_view(DlcSession *s, Arena **view, const char *argument, Err *err)
{
	Arena *old = *view;
	for (const Call *c = s->call->outer; c != NULL; c = c->outer)
		if (c->view == view) {
			fail(err, ERR_USAGE, argument, "is in use: the call whose callback runs must return first");
			return NULL;
		}
	s->call->view = view;
	*view = NULL;
	arena_free(old);
	*view = arena_new();
	guard_keep(*view);
	return *view;
}

/* ---- targets ---- */

static const char *name_of(const DlcTarget *t)
{
	return t != NULL && t->name != NULL ? t->name : "host";
}

/* The named target. With `machine`, also this machine's own target; refuses a target whose code cannot run here. */
static bool find_target(const DlcSession *s, const DlcTarget *t, Target *out, Target *machine, Err *err)
{
	TargetKind kind;
	const char *name = name_of(t), *const *dirs = s->folders.targets;
	size_t ndirs = s->folders.ntargets;
	int threads = t != NULL && t->threads != 0 ? t->threads : 1, device = t != NULL ? t->device : 0;
	bool of_kind = target_kind_of(name, &kind), any = of_kind && strchr(name, ':') == NULL;
	if (of_kind && !codegen_serves(kind, name, err))
		return false;
	bool ok = any && device > 0 ? target_device(out, kind, device, dirs, ndirs, err)
	                            : target_resolve(out, name, threads, dirs, ndirs, err);
	if (!ok || !codegen_serves(out->kind, name, err))
		return false;
	if (target_has_blocks(out) && threads > 1)
		return fail(err, ERR_USAGE, name, "only a CPU's target has threads: leave --threads=%d out", threads);
	if (!target_has_blocks(out) && device > 0)
		return fail(err, ERR_DEVICE, name, "there is no CPU %d: this machine is one device, 0", device);
	if (machine == NULL)
		return true;
	if (!target_has_blocks(out))
		target_host(machine, 1);
	else if (!target_device(machine, out->kind, device, dirs, ndirs, err))
		return false;
	return target_runs_on(out, machine, err);
}

bool session_target(const DlcSession *s, const DlcTarget *t, bool runs_here, Target *out, Err *err)
{
	Target machine;
	return find_target(s, t, out, runs_here ? &machine : NULL, err);
}

bool session_measured_target(const DlcSession *s, const DlcTarget *t, Target *out, Err *err)
{
	Target machine;
	return find_target(s, t, out, &machine, err) &&
		(!target_has_blocks(out) || target_times_hold(out, &machine, err));
}

bool session_takes_precision(const DlcNetwork *n, const Target *t, Err *err)
{
	char text[TARGET_TEXT];
	return n->precision != PRECISION_tf32 || target_matrix_rate(t, F32, true) > 0 ||
	       fail(err, ERR_USAGE, precision_name(n->precision),
			   "%s has no matrix units that round to tf32, so it would compute in fp32: ask for fp32",
			   target_text(t, text));
}

static bool tell_target(const DlcSession *s, const DlcTarget *t, bool here, char *out, Err *err)
{
	Target target;
	_Static_assert((int)DLC_THREADS == (int)TEAM_MAX, "threads at most");
	_Static_assert((int)DLC_TARGET_TEXT == (int)TARGET_TEXT, "room for a target's text");
	if (!session_target(s, t, here, &target, err))
		return false;
	target_text(&target, out);
	return true;
}

DlcFault dlc_target_text(DlcSession *s, const DlcTarget *target, int here, char out[DLC_TARGET_TEXT], DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(s), API_GIVEN(out), API_OPTIONS(target, api_target));
	API_CALL(s, why, tell_target(s, target, here != 0, out, err));
}

/* The target as a child is told, which may look into other folders: the file where the name is that of one. */
static const char *target_word(const DlcSession *s, const DlcTarget *t, Arena *a)
{
	TargetKind kind;
	const char *name = name_of(t), *colon = target_kind_of(name, &kind) ? strchr(name, ':') : NULL;
	const char *base = colon != NULL ? colon + 1 : name;
	for (size_t i = 0; strchr(name, '/') == NULL && i < s->folders.ntargets; i++) {
		const char *file = arena_printf(a, "%s/%s.json", s->folders.targets[i], base);
		if (strcmp(name, "host") != 0 && strcmp(name, "cpu") != 0 && access(file, R_OK) == 0)
			return file;
	}
	return name;
}

/* ---- the code cache ---- */

const CodeCache *session_cache(const DlcSession *s, Arena *a)
{
	const char *path = s->folders.code;
	struct stat st;
	if (path == NULL || !folders_make(a, arena_printf(a, "%s/", path), NULL))
		return NULL;
	/* Code that others may write is not run. */
	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) != 0)
		return NULL;
	CodeCache *c = arena_new_of(a, CodeCache);
	*c = (CodeCache){ path, CODE_CACHE_BYTES };
	return c;
}

/* ---- children ---- */

/* The program that runs candidates: a static one opens no driver. */
static const char *runner_of(const Target *t)
{
	return target_has_blocks(t) ? "dlc-device-worker" : "dlc-worker";
}

bool session_has_programs(const DlcSession *s, const Target *t, Err *err)
{
	const char *const child[] = { "dlc", runner_of(t) };
	char path[4096];
	for (size_t i = 0; i < sizeof child / sizeof *child; i++) {
		snprintf(path, sizeof path, "%s/%s", s->folders.programs, child[i]);
		if (access(path, X_OK) != 0)
			return fail(err, ERR_DEVICE, child[i], "the folder %s has no such program to run, which measuring needs",
				s->folders.programs);
	}
	return true;
}

/*
 * Where a device has processors of its own, all of the host's compile; else two. They stop during samples, or one of
 * them does where a core is to spare, so samples that use all cores need not have a builder less.
 */
static int builders_for(const Target *t, int devices)
{
	int n = cpu_count(), most = target_has_warps(t) ? METHOD_DEVICE_BUILDERS * devices : METHOD_BUILDERS_USED;
	most = most < METHOD_BUILDERS ? most : METHOD_BUILDERS;
	return n < most ? n : most;
}

/*
 * A device that executes no warps is often the host's CPU, where the driver takes longer to build a candidate than the
 * candidate to run. So it gets a second runner where a core is to spare.
 */
static int runners_for(const Target *t)
{
	return target_has_blocks(t) && !target_has_warps(t) && cpu_count() > t->threads ? 2 : 1;
}

/* The program that runs candidates on a device of the target, or on the CPU, which counts as one device. */
static MeasureRunner runner_on(DlcSession *s, const Target *t, int device)
{
	Arena *a = s->arena;
	char **argv = arena_array(a, char *, 4), *name = arena_printf(a, "%s:%d", target_kind_name(t->kind), device);
	argv[0] = arena_printf(a, "%s/%s", s->folders.programs, runner_of(t));
	argv[1] = arena_printf(a, "--stdio");
	if (target_has_blocks(t))
		argv[2] = arena_printf(a, "--device=%s", name);
	return (MeasureRunner){ .argv = argv, .name = name };
}

bool session_open_children(DlcSession *s, const ChildOptions *o, Err *err)
{
	Arena *a = s->arena;
	int threads = o->target->threads;
	bool device = target_has_blocks(o->target);
	char **builder = arena_array(a, char *, 5);
	builder[0] = arena_printf(a, "%s/dlc", s->folders.programs);
	builder[1] = arena_printf(a, "builder");
	builder[2] = arena_printf(
		a, "--target=%s", device ? target_json(a, o->target) : target_word(s, o->name, a));
	builder[3] = arena_printf(a, "--threads=%d", threads);
	const int first = o->name != NULL ? o->name->device : 0, n = o->ndevice > 0 ? o->ndevice : 1;
	const int builders = o->jobs > 0 ? o->jobs : builders_for(o->target, n);
	int each = runners_for(o->target);
	each = each * n <= MEASURE_RUNNERS ? each : 1;
	MeasureRunner *runner = arena_array(a, MeasureRunner, n * each);
	for (int i = 0; i < n * each; i++) {
		runner[i] = runner_on(s, o->target, o->ndevice > 0 ? o->device[i / each] : first);
		runner[i].second = i % each > 0;
	}
	MeasureOptions m = { .builder = builder,
		.runner = runner,
		.runners = n * each,
		.builders = builders,
		.threads = threads,
		.device = device,
		.target = target_has_warps(o->target) ? o->target : NULL,
		.build_ms = METHOD_BUILD_MS,
		.run_ms = o->run_ms + (device ? METHOD_DEVICE_BUILD_MS : 0),
		.tolerance = METHOD_TOLERANCE,
		.stop = &s->stop,
		.tick = o->tick,
		.tick_arg = o->tick_arg,
		.note = session_note,
		.note_arg = s };
	_Static_assert((int)DLC_JOBS == (int)MEASURE_BUILDERS, "jobs at most");
	if (!session_has_programs(s, o->target, err))
		return false;
	for (const Call *c = s->call->outer; c != NULL; c = c->outer)
		if (c->measure != NULL)
			return fail(err, ERR_USAGE, "session", "measures already: the call whose callback runs must return first");
	session_close_children(s);
	s->call->measure = measure_open(&m, err);
	return s->call->measure != NULL;
}

void session_close_children(DlcSession *s)
{
	Measure *m = s->call->measure;
	s->call->measure = NULL;
	measure_close(m);
}

/* ---- records and tasks ---- */

Db *const *session_databases(DlcDatabase *const *database, int n, Arena *a)
{
	Db **db = arena_array(a, Db *, n + 1);
	for (int i = 0; i < n; i++)
		db[i] = database[i]->db;
	return db;
}

bool session_find_record(Db *db, const char *prefix, RecordKind kind, RecordName *out, Err *err)
{
	enum { NAMED = 20 };
	RecordName found[NAMED];
	int n;
	const char *what = kind == RECORD_KINDS ? "record" : record_kind_name(kind);
	if (!db_find(db, prefix, kind, found, NAMED, &n, err))
		return false;
	if (n == 1) {
		*out = found[0];
		return true;
	}
	if (n == 0)
		return fail(err, ERR_MISSING, prefix, "no %s has an id that begins so", what);
	fail(err, ERR_MISSING, prefix, "the ids of %s%d %ss begin so:", n == NAMED ? "at least " : "", n, what);
	for (int i = 0; i < n; i++) {
		char hex[HASH_HEX];
		hash_hex(found[i].id, hex);
		err_add_item(err, "  %.12s  %s", hex, record_kind_name(found[i].kind));
	}
	return false;
}

DlcTask session_task(const Task *t, int weight, bool alternative)
{
	_Static_assert((int)DLC_ID == (int)HASH_HEX, "an id is a hash");
	DlcTask out = { .label = t->label, .text = t->text, .weight = weight, .alternative = alternative,
		.flops = t->flops, .bytes = t->bytes };
	hash_hex(t->id, out.id);
	return out;
}
