/*
 * Builds the bundle of a model: optimizes and partitions the graph, chooses a schedule (choose.c) and
 * makes machine code for each Task, plans the network, fills the bundle. Read compile_model first, at
 * the end of the file: it calls these stages in this order.
 */
#include "compile/compile.h"

#include "compile/bundle_write.h"
#include "compile/choose.h"
#include "compile/images.h"
#include "compile/lock_file.h"
#include "compile/prepare.h"
#include "db/rank.h"
#include "ir/verify/verify.h"

#include <string.h>

/* ---- prepare Fns: they run on this machine and make constants in the target's layout ---- */

typedef struct Build {
	Arena *arena;
	const CompileOptions *o;
	const Partition *part;
	KernelSet **set;
	Variant *variant; /* the bundle's own target first, until the file is written; CompileOptions.also behind it */
	int nvariant;
	Constants *constants; /* of prepare Fns, until the file is written, or of the caller */
	int unprepared; /* the task whose prepare Fns failed by themselves; -1: none */
	Err *err;
} Build;

/* The compiled prepare Fns of a Task, whose groups share them. */
typedef struct PrepareCode {
	const KernelSet *set; /* NULL: not yet looked at */
	Hash fns;             /* constants_fns of it */
	bool made;
	Module module;
} PrepareCode;

static bool run_prepare(const PrepareJob *job, int n, void *arg, Err *err)
{
	Build *b = arg;
	Arena *a = arena_new();
	PrepareCode *code = arena_array(a, PrepareCode, b->part->ntask);
	PrepareCall *call = arena_array(a, PrepareCall, n);
	const PrepareJob **of = arena_array(a, const PrepareJob *, n); /* of each call */
	PrepareWait wait = { .deadline_ms = b->o->prepare_ms, .stop = b->o->stop };
	Target host;
	target_host(&host, 1);
	bool made = true;
	int at = 0, ncall = 0;
	for (int k = 0; made && k < n; k++) {
		PrepareCode *c = &code[job[k].task];
		if (c->set == NULL) {
			c->set = ir_set_of_kind(a, b->set[job[k].task], FN_PREPARE);
			c->fns = constants_fns(c->set);
		}
		if (constants_find(b->constants, c->fns, &job[k]))
			continue;
		if (!c->made) {
			at = ncall;
			made = c->made = codegen_compile_cached(b->o->cache, a, c->set, &host, &c->module, err);
		}
		of[ncall] = &job[k];
		call[ncall++] = (PrepareCall){ c->set, &c->module, job[k].given, job[k].n, job[k].out, job[k].nout };
	}
	bool ok = made && (ncall == 0 || prepare_run(call, ncall, wait, b->constants, &at, err));
	for (int k = 0; ok && k < ncall; k++)
		constants_add(b->constants, code[of[k]->task].fns, of[k]);
	int task = ok ? -1 : of[at]->task;
	b->unprepared = made && !ok && err->code != ERR_INPUT ? -1 : task;
	arena_free(a);
	return ok || err_at(err, b->part->task[task]->label);
}

/* ---- the file ---- */

static void put_tensors(BundleOut *out, const Dag *d)
{
	for (int output = 0; output < 2; output++) {
		size_t n = output ? d->output.n : d->input.n;
		for (size_t k = 0; k < n; k++) {
			const Value *v = &d->value.at[output ? d->output.at[k] : d->input.at[k]];
			BundleTensor t = { .name = bundle_text(out, v->name),
				.code = v->type.kind,
				.bits = v->type.bits,
				.output = (uint8_t)output,
				.ndim = (uint32_t)v->shape.rank,
				.dim = bundle_dims(out, v->shape.dim, v->shape.rank) };
			vec_push(out->arena, &out->tensor, t);
		}
	}
}

/* Constants that no kernel reads (those that prepare Fns made others of) are left out. */
static uint32_t slot_of(BundleOut *out, const NetPlan *plan, uint32_t *constant, const Place *at)
{
	enum { UNPLACED = 0 }; /* slot numbers of constants are kept one higher */
	switch (at->kind) {
	case PLACE_INPUT:
		return bundle_slot(out, BUNDLE_INPUT, (uint32_t)at->index, (uint64_t)at->offset, (uint64_t)at->bytes);
	case PLACE_OUTPUT:
		return bundle_slot(out, BUNDLE_OUTPUT, (uint32_t)at->index, (uint64_t)at->offset, (uint64_t)at->bytes);
	case PLACE_CONST:
		if (constant[at->index] == UNPLACED) {
			const PlanConst *c = &plan->constant.at[at->index];
			constant[at->index] = bundle_const(out, c->data, (uint64_t)c->bytes) + 1;
		}
		return constant[at->index] - 1;
	case PLACE_STATE:
		return bundle_slot(out, BUNDLE_STATE, 0, (uint64_t)at->offset, (uint64_t)at->bytes);
	default:
		return bundle_slot(
			out, BUNDLE_WORK, 0, (uint64_t)(plan->item.at[at->index].offset + at->offset), (uint64_t)at->bytes);
	}
}

static void put_steps(BundleOut *out, const Build *b, const NetPlan *plan, const uint32_t *first, Compiled *c)
{
	VEC(int) task = { 0 };
	uint32_t *constant = arena_array(out->arena, uint32_t, plan->constant.n + 1);
	for (size_t i = 0; i < plan->step.n; i++) {
		const PlanStep *s = &plan->step.at[i];
		uint32_t kernels = 1;
		BundleOp op = { .kind = s->task >= 0 ? BUNDLE_CALL : BUNDLE_COPY,
			.name = bundle_text(out, s->label),
			.arg = (uint32_t)out->arg.n,
			.narg = (uint32_t)s->n };
		for (int k = 0; k < s->n; k++)
			vec_push(out->arena, &out->arg, slot_of(out, plan, constant, &s->place[k]));
		if (s->task >= 0) {
			const DlcImage *image = &b->variant[0].module[s->task].image;
			uint32_t kernel = images_entry(image, b->set[s->task], s->fn);
			op.entry = first[s->task] + kernel;
			kernels += image->entry[kernel].rest;
		} else {
			op.dim = bundle_dim(out, s->place[0].bytes);
			op.ndim = 1;
		}
		for (uint32_t k = 0; k < kernels; k++, op.entry++) { /* all that the Fn is cut into */
			vec_push(out->arena, &out->op, op);
			vec_push(out->arena, &task, s->task);
		}
	}
	c->nstep = (int)task.n;
	c->step_task = task.at;
}

static bool write_bundle(Compiled *c, const Build *b, const NetPlan *plan)
{
	const Target *t = b->o->target;
	char text[TARGET_TEXT], lock[HASH_HEX];
	BundleOut *out = bundle_out_new(b->arena);
	/* A device's runner would copy the constants of all networks to the device. */
	bool mapped = b->o->constants != NULL && constants_path(b->o->constants) != NULL;
	out->constants = mapped && codegen_device(t) == DLC_DEVICE_CPU ? b->o->constants : NULL;
	uint32_t *first = arena_array(b->arena, uint32_t, b->part->ntask + 1); /* entry of each task: one for each kernel */
	bundle_info(out, "model", c->dag->name);
	bundle_info(out, "target", target_text(t, text));
	bundle_info(out, "compiler", "dlc " DLC_VERSION);
	hash_hex(hash_of("dlc/lock/v1", c->lock_text, strlen(c->lock_text)), lock);
	bundle_info(out, "lock", lock);
	Forms forms = { 0 };
	if (!images_make(b->arena, b->o, b->variant, b->nvariant, b->part->ntask, &forms, first, b->err))
		return false;
	if (forms.at[0].tool != NULL) /* machine code stands first, and one tool makes it all */
		bundle_info(out, "assembler", forms.at[0].tool);
	images_put_features(out, &forms);
	put_tensors(out, c->dag);
	images_put(out, &forms);
	for (size_t i = 0; i < forms.n; i++) {
		CompiledCode row = { forms.at[i].target, forms.at[i].name, 0 };
		for (int k = 0; k < forms.at[i].nimage; k++)
			row.bytes += (int64_t)forms.at[i].image[k].size;
		vec_push(b->arena, &c->code, row);
	}
	put_steps(out, b, plan, first, c);
	uint32_t arch = t->arch == ARCH_X86_64 ? BUNDLE_X86_64 : t->arch == ARCH_AARCH64 ? BUNDLE_AARCH64 : BUNDLE_ARM;
	int32_t device = codegen_device(t); /* another device's code runs beside any CPU */
	BundleFacts facts = { .arch = device == DLC_DEVICE_CPU ? arch : BUNDLE_ANY,
		.device = (uint32_t)device,
		.threads = (uint32_t)t->threads,
		.arena_bytes = (uint64_t)plan->work_bytes,
		.state_bytes = (uint64_t)plan->state_bytes };
	if (out->full)
		return fail(b->err, ERR_MEMORY, c->dag->name, "there is no memory for its constants");
	c->bundle = bundle_finish(out, &facts, &c->bundle_bytes);
	c->whole_bytes = (int64_t)c->bundle_bytes + (out->constants != NULL ? (int64_t)out->const_bytes : 0);
	c->shared_bytes = out->constants != NULL ? constants_bytes(out->constants) : 0;
	return true;
}

/* ---- memory ---- */

static bool check_memory(const Build *b, const Dag *d, const NetPlan *plan, Err *err)
{
	const Target *t = b->o->target;
	Target host;
	char text[TARGET_TEXT];
	target_host(&host, 1);
	/* The target's memory, or this machine's if it runs the target's code and has more; 0: not known. */
	int64_t own = t->scope[0].bytes, here = target_runs_on(t, &host, NULL) ? host.scope[0].bytes : 0;
	double there = (double)(own > here ? own : here), tensors = 0;
	for (size_t k = 0; k < d->input.n; k++)
		tensors += (double)value_bytes(&d->value.at[d->input.at[k]]);
	for (size_t k = 0; k < d->output.n; k++)
		tensors += (double)value_bytes(&d->value.at[d->output.at[k]]);
	double need = (double)plan->work_bytes + tensors;
	for (size_t i = 0; i < plan->constant.n; i++)
		need += (double)plan->constant.at[i].bytes;
	return there == 0 || need <= there ||
	       fail(err, ERR_MEMORY, d->name,
			   "the network needs %.0f MiB of memory, but %s has %.0f MiB: take a smaller batch or shape",
			   need / (1 << 20), target_text(t, text), there / (1 << 20));
}

/* ---- the walk ---- */

/*
 * Replaces the schedule of task k, which cannot be used because of `why`: a recorded schedule by the default,
 * the default by its replacement. Refuses if a lock named the schedule, or if the failure is a bug of dlc.
 */
static bool fall_back(Build *b, int k, TaskPlan *plan, const char *what, Err *why)
{
	const Task *task = b->part->task[k];
	Ir *ir = ir_new(b->arena);
	if (b->o->lock != NULL || (plan->hit == HIT_DEFAULT && (plan->trace[0] == 0 || why->code == ERR_BUG)))
		return false;
	const char *refused = arena_printf(b->arena, "%s", why->text);
	int64_t implausible = plan->implausible; /* counted for the Task: any schedule of it has the same */
	*why = (Err){ 0 };
	b->set[k] = plan->hit == HIT_DEFAULT
	                ? compile_without_default(ir, task, b->o, plan, refused, why)
	                : compile_default(ir, task, b->o, plan, arena_printf(b->arena, "%s: %s", what, refused), why);
	plan->implausible = implausible;
	return b->set[k] != NULL;
}

static bool build_module(Build *b, int k, const Variant *v, Err *err)
{
	const KernelSet *run = images_joined(b->o, v->target)
	                               ? compile_run_set(b->arena, b->set[k], b->part->task[k], v->target)
	                               : ir_set_of_kind(b->arena, b->set[k], FN_RUN);
	return codegen_compile_cached(b->o->cache, b->arena, run, v->target, &v->module[k], err);
}

static bool build_task(Build *b, int k, TaskPlan *plan)
{
	Err why = { 0 };
	while (!build_module(b, k, &b->variant[0], &why))
		if (!fall_back(b, k, plan, "makes no code", &why)) {
			*b->err = why;
			return err_at(b->err, b->part->task[k]->label);
		}
	for (int v = 1; v < b->nvariant; v++)
		if (!build_module(b, k, &b->variant[v], &why)) {
			char text[TARGET_TEXT];
			return fail(b->err, why.code, b->part->task[k]->label,
				"its schedule makes no code for %s: %.300s; compile a bundle of its own for that target",
				target_text(b->variant[v].target, text), why.text);
		}
	return true;
}

static bool check_required(const Build *b, const Compiled *c)
{
	int missing = 0;
	for (int k = 0; b->o->required && k < b->part->ntask; k++)
		missing += !hit_fulfils(c->task[k].hit, b->o->require);
	if (missing == 0)
		return true;
	fail(b->err, ERR_MISSING, c->dag->name, "%d of %d tasks have no %s schedule:", missing, b->part->ntask,
		hit_name(b->o->require));
	for (int k = 0; k < b->part->ntask; k++) {
		char hex[HASH_HEX];
		hash_hex(c->task[k].task->id, hex);
		if (!hit_fulfils(c->task[k].hit, b->o->require))
			err_add_item(
				b->err, "  %.7s  %s: %s, %s", hex, c->task[k].task->label, hit_name(c->task[k].hit), c->task[k].why);
	}
	return false;
}

/* Chooses the schedules of all Tasks from one state of the databases: none changes in between. */
static bool choose_tasks(Build *b, Compiled *c)
{
	DbSet set = { b->o->db, b->o->ndb };
	if (!db_hold(set, b->err))
		return false;
	bool ok = true;
	for (int k = 0; ok && k < b->part->ntask; k++) {
		b->set[k] = compile_task(ir_new(b->arena), b->part->task[k], b->o, &c->task[k], b->err);
		ok = b->set[k] != NULL || err_at(b->err, b->part->task[k]->label);
	}
	db_release(set);
	return ok && check_required(b, c);
}

static bool build_tasks(Build *b, Compiled *c)
{
	int n = b->part->ntask;
	b->set = arena_array(b->arena, KernelSet *, n);
	b->nvariant = 1 + b->o->nalso;
	b->variant = arena_array(b->arena, Variant, b->nvariant);
	for (int v = 0; v < b->nvariant; v++)
		b->variant[v] =
			(Variant){ v == 0 ? b->o->target : &b->o->also[v - 1], arena_array(b->arena, Module, n + 1) };
	if (!choose_tasks(b, c))
		return false;
	for (int k = 0; k < n; k++) {
		if (b->o->progress != NULL)
			b->o->progress(k, n, b->part->task[k]->label, b->o->progress_arg);
		if (b->o->stop != NULL && *b->o->stop != 0)
			return fail(b->err, ERR_INTERRUPTED, "compile", "interrupted after %d of %d tasks", k, n);
		if (!build_task(b, k, &c->task[k]))
			return false;
	}
	return true;
}

/*
 * Replaces the schedule whose prepare Fns failed. After a second failure it replaces all recorded schedules
 * with prepare Fns: each may take a minute to fail, and each failure prepares all constants once more.
 */
static bool drop_prepared(Build *b, Compiled *c, int failures, Err *why)
{
	int failed = b->unprepared;
	const TaskPlan *bad = &c->task[failed];
	if (bad->hit == HIT_DEFAULT || !fall_back(b, failed, &c->task[failed], "its prepare Fns fail", why)) {
		char hex[HASH_HEX];
		hash_hex(bad->record, hex);
		const char *of = bad->hit == HIT_DEFAULT ? "default schedule"
			: bad->hit == HIT_MODEL ? "schedule that a model chose"
			: arena_printf(b->arena, "record %.12s", hex);
		return fail(b->err, why->code, bad->task->label, "the prepare Fns of its %s failed: %s", of, why->text);
	}
	if (!build_task(b, failed, &c->task[failed]))
		return false;
	for (int k = 0; failures > 1 && k < b->part->ntask; k++) {
		TaskPlan *plan = &c->task[k];
		Err others = { 0 };
		if (k == failed || plan->hit == HIT_DEFAULT || !ir_set_has_kind(b->set[k], FN_PREPARE))
			continue;
		fail(&others, ERR_INPUT, "", "the prepare Fns of two other records failed");
		if (!fall_back(b, k, plan, "its prepare Fns may fail", &others)) {
			*b->err = others;
			return false;
		}
		if (!build_task(b, k, plan))
			return false;
	}
	return true;
}

/* The plan in an arena of its own, with the prepared constants. */
static NetPlan *plan_all(Build *b, Compiled *c, const Dag *dag)
{
	for (int failures = 1;; failures++) {
		Err why = { 0 };
		Arena *own = arena_new();
		b->unprepared = -1;
		NetPlan *plan = plan_network(own, dag, b->part, b->set, (PrepareFn){ run_prepare, b }, &why);
		if (plan != NULL)
			return plan;
		arena_free(own);
		if (b->unprepared < 0) {
			*b->err = why;
			return NULL;
		}
		if (!drop_prepared(b, c, failures, &why))
			return NULL;
	}
}

Compiled *compile_model(Arena *a, Dag *dag, const CompileOptions *o, Err *err)
{
	Compiled *c = arena_new_of(a, Compiled);
	c->dag = dag;
	c->partition = compile_partition(a, dag, o, err);
	if (c->partition == NULL)
		return NULL;
	c->task = arena_array(a, TaskPlan, c->partition->ntask);
	Build b = { .arena = a, .o = o, .part = c->partition, .err = err };
	if (!build_tasks(&b, c))
		return NULL;
	Arena *own = arena_new();
	b.constants = o->constants != NULL ? o->constants : constants_new(own, false);
	NetPlan *plan = plan_all(&b, c, dag);
	if (plan == NULL) {
		arena_free(own);
		return NULL;
	}
	for (int k = 0; k < c->partition->ntask; k++) {
		c->hits[c->task[k].hit]++;
		c->estimated_ms += c->task[k].estimated_ms * c->partition->task[k]->weight;
	}
	Text lock = { .arena = a }, text = { .arena = a };
	lock_print(&lock, c, o->target);
	c->lock_text = text_str(&lock);
	bool ok =
		check_required(&b, c) && check_memory(&b, dag, plan, err); /* again: some schedules may have been replaced */
	if (ok) { /* callers see copies: the plan's memory ends here */
		c->workspace_bytes = plan->work_bytes;
		c->live_bytes = plan->live_bytes;
		compile_print_regions(&text, c->partition);
		plan_print(&text, plan);
		c->plan_text = text_str(&text);
		ok = write_bundle(c, &b, plan);
	}
	arena_free(plan->arena);
	arena_free(own);
	return ok ? c : NULL;
}
