/*
 * What a session has to work with, and what a target is: values of the rooms below as programs see them. See
 * dlc/dlc_info.h.
 */
#include "api/session.h"

#include "codegen/backend.h"
#include "frontend/frontend.h"
#include "runtime/probe.h"
#include "target/machine_device.h"
#include "target/occupancy.h"

#include <string.h>
#include <unistd.h>

/* ---- the session ---- */

static void list_components(Arena *a, DlcSessionInfo *out)
{
	static const DlcComponent built[] = {
#define BUILT(name, there, use, package) { name, use, there, there ? NULL : "install " package " and build again" },
#include "api/built.def"
#undef BUILT
	};
	VEC(DlcComponent) list = { 0 };
	for (const Backend *const *b = backends; *b != NULL; b++) {
		Err err = { 0 };
		bool there = (*b)->ready == NULL || (*b)->ready(&err);
		vec_push(a, &list,
			((DlcComponent){ (*b)->name, (*b)->use, there, there ? NULL : arena_printf(a, "%s", err.text) }));
	}
	for (size_t i = 0; i < sizeof built / sizeof *built; i++)
		vec_push(a, &list, built[i]);
	out->component = list.at;
	out->ncomponent = (int)list.n;
}

static void list_places(Arena *a, const Folders *f, DlcSessionInfo *out)
{
	DlcPlace *list = arena_array(a, DlcPlace, f->ntargets + 4);
	int n = 0;
	list[n++] = (DlcPlace){ "programs", f->programs, 0 };
	for (size_t i = 0; i < f->ntargets; i++)
		list[n++] = (DlcPlace){ "targets", f->targets[i], 0 };
	if (f->database != NULL)
		list[n++] = (DlcPlace){ "tuning_db", f->database, 0 };
	if (f->shipped != NULL)
		list[n++] = (DlcPlace){ "shipped", f->shipped, 0 };
	if (f->cache != NULL)
		list[n++] = (DlcPlace){ "cache", f->cache, 0 };
	for (int i = 0; i < n; i++)
		list[i].exists = access(list[i].path, F_OK) == 0;
	out->place = list;
	out->nplace = n;
}

static bool describe_session(DlcSession *s, const DlcSessionInfo **out, Err *err)
{
	Arena *a = session_view(s, &s->info, "s", err);
	if (a == NULL)
		return false;
	DlcSessionInfo *v = arena_new_of(a, DlcSessionInfo);
	size_t ntarget;
	v->target = target_list(a, s->folders.targets, s->folders.ntargets, &ntarget);
	v->ntarget = (int)ntarget;
	const NamedModel *zoo = frontend_models(a, &v->nzoo);
	const char **names = arena_array(a, const char *, v->nzoo + 1);
	for (int i = 0; i < v->nzoo; i++)
		names[i] = zoo[i].name;
	v->zoo = names;
	const char **kinds = arena_array(a, const char *, TARGET_KINDS);
	for (int k = 0; k < TARGET_KINDS; k++)
		if (k != TARGET_CPU && codegen_serves((TargetKind)k, "", NULL))
			kinds[v->nkind++] = target_kind_name((TargetKind)k);
	v->kind = kinds;
	list_components(a, v);
	list_places(a, &s->folders, v);
	*out = v;
	return true;
}

DlcFault dlc_session_info(DlcSession *s, const DlcSessionInfo **out, DlcFailure *why)
{
	API_CHECK(why, API_OUT(out), API_GIVEN(s));
	API_CALL(s, why, describe_session(s, out, err));
}

static bool count_devices(const char *kind, int *count, Err *err)
{
	TargetKind k;
	if (strchr(kind, ':') != NULL || !target_kind_of(kind, &k))
		return fail(err, ERR_USAGE, kind, "must be a kind of devices, such as opencl");
	*count = target_devices(k, err);
	return *count > 0;
}

DlcFault dlc_session_devices(DlcSession *s, const char *kind, int *count, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(s), API_GIVEN(kind), API_GIVEN(count));
	*count = 0;
	API_CALL(s, why, count_devices(kind, count, err));
}

/* ---- a target ---- */

static bool measure_core(const Target *t, Core *out, Err *err)
{
	ProbeCore p;
	uint64_t cache[TARGET_CACHES];
	for (int k = 0; k < TARGET_CACHES; k++)
		cache[k] = (uint64_t)t->cache[k].bytes;
	if (!probe_core(&p, t->vector_bits, cache))
		return fail(err, ERR_MEMORY, "probe", "there is no memory to measure with");
	*out = core_from_probe(&p);
	return true;
}

static void list_features(Arena *a, const Target *t, DlcTargetInfo *out)
{
	const char **list = arena_array(a, const char *, FEATURE_COUNT);
	for (int f = 0; f < FEATURE_COUNT; f++)
		if (target_has(t, (Feature)f))
			list[out->nfeature++] = feature_name((Feature)f);
	out->feature = list;
}

static void list_caches(Arena *a, const Target *t, DlcTargetInfo *out)
{
	DlcCacheInfo *list = arena_array(a, DlcCacheInfo, TARGET_CACHES);
	for (int k = 0; k < TARGET_CACHES && t->cache[k].bytes > 0; k++)
		list[out->ncache++] = (DlcCacheInfo){ t->cache[k].bytes, t->cache[k].shared_by };
	out->cache = list;
}

static void list_figures(Arena *a, const Target *t, const Core *measured, DlcTargetInfo *out)
{
	DlcCoreFigure *list = arena_array(a, DlcCoreFigure, CORE_FIGURES);
	for (int i = 0; i < CORE_FIGURES; i++) {
		CoreFigure f = (CoreFigure)i;
		if (f >= CORE_L1 && f <= CORE_L4 && t->cache[f - CORE_L1].bytes == 0)
			continue;
		list[out->ncore++] = (DlcCoreFigure){ .key = core_key(f),
			.meaning = core_meaning(f),
			.value = core_get(&t->core, f),
			.source = core_source_name((CoreSource)t->core.source[f]),
			.measured = core_get(measured, f) };
	}
	out->core = list;
}

static void list_blocks(Arena *a, const Target *t, DlcTargetInfo *out)
{
	VEC(DlcCoreFigure) list = { 0 };
	for (int i = 0; blocks_key(i) != NULL && target_has_blocks(t); i++)
		vec_push(a, &list,
			((DlcCoreFigure){ blocks_key(i), blocks_meaning(i), blocks_get(&t->blocks, i), "", 0 }));
	if (target_has_blocks(t))
		vec_push(a, &list,
			((DlcCoreFigure){ "shared_bytes", "bytes of shared memory of one block, at most",
				(double)target_block_shared(t), "", 0 }));
	out->blocks = list.at;
	out->nblocks = (int)list.n;
}

/* The current rates and the state of a GPU. */
static bool measure_device(
	DlcSession *s, const DlcTarget *name, const Target *t, Arena *a, DlcTargetInfo *out, Err *err)
{
	enum { STATES = 2 };
	DeviceProbe p;
	ChildOptions o = { .name = name, .target = t, .jobs = 1, .run_ms = METHOD_RUN_MS };
	if (!target_has_warps(t))
		return fail(err, ERR_USAGE, t->model, "its processors are the host's, so its figures are those of the host");
	if (!session_open_children(s, &o, err))
		return false;
	bool ok = measure_probe(s->call->measure, &p, err);
	session_close_children(s);
	DlcCoreFigure *list = arena_array(a, DlcCoreFigure, PROBE_KINDS + STATES);
	for (int k = 0; k < PROBE_KINDS; k++)
		if (ok && p.rate[k] > 0)
			list[out->nprobe++] =
				(DlcCoreFigure){ probe_key((ProbeKind)k), probe_meaning((ProbeKind)k), 0, "", p.rate[k] };
	if (ok && p.mhz > 0)
		list[out->nprobe++] = (DlcCoreFigure){ "device_mhz", "clock just after it, MHz", 0, "", (double)p.mhz };
	if (ok && p.celsius > 0)
		list[out->nprobe++] = (DlcCoreFigure){ "celsius", "temperature just after it", 0, "", (double)p.celsius };
	out->probe = list;
	out->slowed = ok ? arena_printf(a, "%s", p.slowed) : "";
	return ok;
}

static bool describe_target(DlcSession *s, const DlcTarget *target, bool probe, const DlcTargetInfo **out, Err *err)
{
	Arena *a = session_view(s, &s->target_info, "s", err);
	if (a == NULL)
		return false;
	Target *t = arena_new_of(a, Target);
	Core measured = { 0 };
	if (!session_target(s, target, probe, t, err))
		return false;
	bool device = target_has_blocks(t);
	if (probe && !device && !measure_core(t, &measured, err))
		return false;
	DlcTargetInfo *v = arena_new_of(a, DlcTargetInfo);
	*v = (DlcTargetInfo){ .kind = target_kind_name(t->kind),
		.arch = arch_name(t->arch),
		.model = t->model,
		.brand = t->brand,
		.cores = t->cores,
		.cpus = t->cpus,
		.memory_bytes = t->scope[0].bytes,
		.vector_bits = t->vector_bits,
		.vector_registers = t->vector_regs };
	target_text(t, v->text);
	hash_hex(target_id(t), v->id);
	list_features(a, t, v);
	list_caches(a, t, v);
	list_figures(a, t, &measured, v);
	list_blocks(a, t, v);
	v->slowed = "";
	if (probe && device && !measure_device(s, target, t, a, v, err))
		return false;
	*out = v;
	return true;
}

DlcFault dlc_target_info(
	DlcSession *s, const DlcTarget *target, int probe, const DlcTargetInfo **out, DlcFailure *why)
{
	API_CHECK(why, API_OUT(out), API_GIVEN(s), API_OPTIONS(target, api_target));
	API_CALL(s, why, describe_target(s, target, probe != 0, out, err));
}
