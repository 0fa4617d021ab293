/* Compiling: a network and what databases know of it become a bundle. See dlc/dlc_compile.h. */
#include "api/session.h"

#include "base/file.h"
#include "compile/compile.h"
#include "compile/lock_file.h"
#include "api/headroom.h"
#include "api/learned_model.h"

#include <string.h>

struct DlcBundle {
	DlcSession *session;
	Arena *arena;
	Target target;
	char target_text[TARGET_TEXT];
	const Compiled *compiled;
	DlcBundleInfo *info; /* NULL: not asked for yet */
};

#define HIT(name) _Static_assert((int)DLC_##name == (int)HIT_##name, #name)
HIT(EXACT);
HIT(NEAR);
HIT(STALE);
HIT(DEFAULT);
HIT(MODEL);
_Static_assert((int)DLC_HITS == (int)HIT_COUNT, "all hit classes");

const char *dlc_hit_name(DlcHit h)
{
	return (int)h >= 0 && h < DLC_HITS ? hit_name((HitClass)h) : NULL;
}

/* The targets beside the bundle's own: code for them is of the same schedules. */
static bool read_also(const DlcSession *s, const DlcCompileOptions *o, const Target *own, Target *also, Err *err)
{
	for (int k = 0; k < o->nalso; k++) {
		DlcTarget named = { .name = o->also[k] };
		char text[TARGET_TEXT];
		if (!session_target(s, &named, false, &also[k], err))
			return false;
		if (!target_has_blocks(own) || also[k].kind != own->kind)
			return fail(err, ERR_USAGE, o->also[k],
				"is no target beside %s: a bundle has code for several devices of one kind, and for one CPU",
				target_text(own, text));
	}
	return true;
}

static bool read_code(DlcCode code, CompileOptions *o, Err *err)
{
	char text[TARGET_TEXT];
	if (code != DLC_CODE_AUTO && o->target->kind != TARGET_CUDA)
		return fail(err, ERR_USAGE, "code", "is chosen for CUDA targets, and %s has one form of code: leave it out",
			target_text(o->target, text));
	o->code.machine_code = code == DLC_CODE_AUTO ? MACHINE_CODE_IF_POSSIBLE
		: code == DLC_CODE_PTX ? MACHINE_CODE_NONE
		: MACHINE_CODE_REQUIRED;
	o->code.no_text = code == DLC_CODE_CUBIN;
	return true;
}

static bool compile_in(Arena *a, DlcNetwork *n, const DlcCompileOptions *o, DlcBundle **out, Err *err)
{
	DlcSession *s = n->session;
	DlcBundle *b = arena_new_of(a, DlcBundle);
	Cost cost;
	*b = (DlcBundle){ .session = s, .arena = a };
	DbSet set = { session_databases(o->database, o->ndatabase, a), o->ndatabase };
	if (!session_target(s, &o->target, false, &b->target, err) || !session_takes_precision(n, &b->target, err) ||
		!compile_core(&b->target, set, false, err))
		return false;
	target_text(&b->target, b->target_text);
	Target *also = arena_array(a, Target, o->nalso + 1);
	if (!read_also(s, o, &b->target, also, err))
		return false;
	CompileOptions c = { .target = &b->target,
		.also = also,
		.nalso = o->nalso,
		.db = set.db,
		.ndb = set.n,
		.cost = &cost,
		.cache = session_cache(s, a),
		.lock_name = o->lock_name,
		.required = o->required != 0,
		.require = (HitClass)o->require,
		.unscheduled = o->unscheduled != 0,
		.stop = &s->stop,
		.progress = o->progress,
		.progress_arg = o->arg };
	if (!read_code(o->code, &c, err))
		return false;
	if (o->lock != NULL) {
		const char *name = o->lock_name != NULL ? o->lock_name : "lock";
		Hash target = target_id(&b->target);
		Lock *lock = lock_parse(a, name, o->lock, strlen(o->lock), err);
		if (lock == NULL)
			return false;
		if (memcmp(&lock->target, &target, sizeof target) != 0)
			return fail(err, ERR_INPUT, name, "is a lock for another target than this one");
		c.lock = lock;
	}
	if (!session_cost(s, o->cost_model, o->database, o->ndatabase, &b->target, &cost, a, err))
		return false;
	if (!c.unscheduled)
		c.untuned = session_untuned(s, o->cost_model, o->database, o->ndatabase, &b->target, a);
	b->compiled = compile_model(a, dag_copy(a, n->dag), &c, err);
	session_untuned_end(s, c.untuned);
	cost_close(&cost);
	*out = b;
	return b->compiled != NULL;
}

static bool compile(DlcNetwork *n, const DlcCompileOptions *o, DlcBundle **out, Err *err)
{
	static const DlcCompileOptions none;
	Arena *a = arena_new();
	bool ok = compile_in(a, n, o != NULL ? o : &none, out, err);
	if (!ok) {
		*out = NULL;
		arena_free(a);
	}
	return ok;
}

DlcFault dlc_compile(DlcNetwork *n, const DlcCompileOptions *options, DlcBundle **out, DlcFailure *why)
{
	API_CHECK(why, API_OUT(out), API_GIVEN(n), API_OPTIONS(options, api_compile_options));
	API_CALL(n->session, why, compile(n, options, out, err));
}

void dlc_bundle_close(DlcBundle *b)
{
	if (b != NULL)
		arena_free(b->arena);
}

const void *dlc_bundle_bytes(const DlcBundle *b, size_t *size)
{
	if (size != NULL)
		*size = b != NULL ? b->compiled->bundle_bytes : 0;
	return b != NULL ? b->compiled->bundle : NULL;
}

DlcFault dlc_bundle_write(const DlcBundle *b, const char *path, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(b), API_GIVEN(path));
	API_CALL(b->session, why, file_write(path, b->compiled->bundle, b->compiled->bundle_bytes, err));
}

const char *dlc_bundle_lock(const DlcBundle *b)
{
	return b != NULL ? b->compiled->lock_text : NULL;
}

static bool describe(DlcBundle *b)
{
	const Compiled *c = b->compiled;
	Roof machine = machine_roof(&b->target);
	DlcBundleInfo *i = arena_new_of(b->arena, DlcBundleInfo);
	DlcChoice *task = arena_array(b->arena, DlcChoice, c->partition->ntask + 1);
	*i = (DlcBundleInfo){ .target = b->target_text, .ntask = c->partition->ntask, .task = task,
		.estimated_ms = c->estimated_ms, .workspace_bytes = c->workspace_bytes, .live_bytes = c->live_bytes };
	for (int h = 0; h <= HIT_DEFAULT; h++)
		i->hits[h] = c->hits[h];
	i->hits_model = c->hits[HIT_MODEL];
	for (int k = 0; k < i->ntask; k++) {
		const TaskPlan *p = &c->task[k];
		double over = p->estimated_ms - roof_ns(p->task, &machine) / 1e6;
		task[k] = (DlcChoice){ .task = session_task(p->task, p->task->weight, false), .hit = (DlcHit)p->hit,
			.trace = p->trace, .why = p->why, .estimated_ms = p->estimated_ms,
			.could_save_ms = over > 0 ? over * p->task->weight : 0 };
		if (p->implausible > 0 && i->implausible_task == NULL)
			i->implausible_task = p->task->label;
		i->implausible += p->implausible;
		i->naive += p->naive;
	}
	DlcBundleCode *code = arena_array(b->arena, DlcBundleCode, c->code.n + 1);
	for (size_t k = 0; k < c->code.n; k++) {
		const CompiledCode *x = &c->code.at[k];
		code[k] = (DlcBundleCode){ target_text(x->target, arena_alloc(b->arena, TARGET_TEXT)), x->form, x->bytes };
	}
	i->code = code;
	i->ncode = (int)c->code.n;
	b->info = i;
	return true;
}

static DlcFault describe_guarded(DlcBundle *b)
{
	API_CALL(NULL, NULL, describe(b));
}

const DlcBundleInfo *dlc_bundle_info(DlcBundle *b)
{
	if (b != NULL && b->info == NULL)
		describe_guarded(b);
	return b != NULL ? b->info : NULL;
}
