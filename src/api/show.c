/* A network at a stage of its way, as text or as an ONNX file. See dlc_network_show. */
#include "api/session.h"

#include "api/headroom.h"
#include "api/learned_model.h"
#include "api/show_space.h"
#include "codegen/backend.h"
#include "compile/compile.h"
#include "frontend/frontend.h"
#include "ir/text/ir_text.h"

#include <string.h>

typedef enum {
	STAGE_GRAPH,
	STAGE_ONNX,
	STAGE_TASKS,
	STAGE_SPACE,
	STAGE_IR,
	STAGE_TRACE,
	STAGE_PLAN,
	STAGE_RESOURCES,
	STAGE_CODE
} Stage;

/* Every other stage is a text of the target's back end, STAGE_CODE. */
static const char *const stage_names[] = {
	[STAGE_GRAPH] = "graph",
	[STAGE_ONNX] = "onnx",
	[STAGE_TASKS] = "tasks",
	[STAGE_SPACE] = "space",
	[STAGE_IR] = "ir",
	[STAGE_TRACE] = "trace",
	[STAGE_PLAN] = "plan",
	[STAGE_RESOURCES] = "resources",
};

typedef struct Show {
	const DlcShowOptions *r;
	Arena *arena;
	Stage stage;
	int text; /* STAGE_CODE: which of the back end's */
	const Target *target;
	const char *prefix; /* of the ids of the tasks that are asked for */
	const Trace *trace; /* that was given; NULL: the one that dlc_compile takes */
	const char *trace_text;
	CompileOptions o;
	Text out;
} Show;

/* A trace that names its task chooses that one; else the request does. */
static bool wanted(const Show *s, const Task *t)
{
	char hex[HASH_HEX];
	hash_hex(t->id, hex);
	return strncmp(hex, s->prefix, strlen(s->prefix)) == 0;
}

/*
 * How many of the partition's Tasks are looked at: those of alternatives are what there is to tune, too, and
 * may be asked for by their ids.
 */
static int count_looked(const Show *s, const Partition *p)
{
	return p->ntask + (s->stage == STAGE_TASKS || s->stage == STAGE_SPACE || s->prefix[0] != 0 ? p->nmore : 0);
}

/* A network of views (a reshape) has no task at all; then there is nothing to show. */
static bool no_task(const Show *s, Err *err)
{
	return (s->prefix[0] == 0 && s->trace == NULL) ||
		fail(err, ERR_MISSING, s->r->task != NULL ? "task" : "schedule",
			"no task of the model has an id that begins with \"%s\"", s->prefix);
}

/* The stages that are about the tasks' spaces, one after the other. */
static bool show_rows(Show *s, const Partition *p, Err *err)
{
	bool json = s->r->json != 0;
	Roof machine = s->stage == STAGE_TASKS ? machine_roof(s->target) : (Roof){ 0 };
	for (int k = 0; k < count_looked(s, p); k++) {
		const Task *t = p->task[k];
		if (!wanted(s, t))
			continue;
		if (s->stage == STAGE_SPACE ? !show_space(&s->out, t, s->target, json, err)
					    : !show_task_row(&s->out, t, k >= p->ntask, &s->o, &machine, err))
			return false;
	}
	return s->out.n > 0 || no_task(s, err);
}

static bool show_tasks(Show *s, const Partition *p, Err *err)
{
	if (s->r->json)
		return show_rows(s, p, err);
	for (int k = 0; k < count_looked(s, p); k++) {
		const Task *t = p->task[k];
		char hex[HASH_HEX];
		hash_hex(t->id, hex);
		if (wanted(s, t))
			text_add(&s->out, "task %s x%d %s: %.1f MFLOP, %.2f MB%s\n%s\n", hex, t->weight, t->label,
				t->flops / 1e6, t->bytes / 1e6, k < p->ntask ? "" : ", of an alternative", t->text);
	}
	if (s->out.n > 0 && s->prefix[0] == 0)
		compile_print_regions(&s->out, p);
	return s->out.n > 0 || no_task(s, err);
}

/* The schedule that was given, which is for one task. */
static bool read_trace(Show *s, Err *err)
{
	Text text = { .arena = s->arena };
	const char *name = s->r->schedule_name != NULL ? s->r->schedule_name : "schedule";
	s->prefix = s->r->task != NULL ? s->r->task : "";
	if (s->r->schedule == NULL)
		return true;
	Trace *t = trace_parse(s->arena, name, s->r->schedule, strlen(s->r->schedule), err);
	if (t == NULL)
		return false;
	/* Both may be beginnings of the id. */
	size_t said = t->task != NULL ? strlen(t->task) : 0, asked = strlen(s->prefix);
	if (t->task != NULL && strncmp(t->task, s->prefix, said < asked ? said : asked) != 0)
		return fail(err, ERR_USAGE, name, "is a trace for task %.12s, but task %.12s is asked for", t->task, s->prefix);
	if (s->prefix[0] == 0)
		s->prefix = t->task != NULL ? t->task : "";
	t->task = NULL; /* show_task prints the whole one */
	trace_print(&text, t);
	s->trace = t;
	s->trace_text = text_str(&text);
	return true;
}

/* The same on a device. */
static void show_device_resources(Show *s, const Module *m)
{
	bool known = m->image.nentry > 0 && m->report[0].registers > 0;
	text_add(&s->out, "%-24s %10s %10s %10s%s\n", "kernel", "threads", "shared B", "work B",
		known ? "  registers   spills    frame B" : "");
	for (uint32_t k = 0; k < m->image.nentry; k++) {
		const KernelReport *r = &m->report[k];
		text_add(&s->out, "%-24s %10lld %10lld %10llu", r->name, (long long)r->threads, (long long)r->shared_bytes,
			(unsigned long long)m->image.entry[k].work_bytes);
		if (known)
			text_add(&s->out, " %10d %8lld %10lld%s", r->registers, (long long)r->spills, (long long)r->frame_bytes,
				codegen_spills_hurt(m, r, s->target) ? "  hurts" : "");
		text_add(&s->out, "\n");
	}
}

/* A row for each kernel: what its code takes, and what a candidate would be judged by. */
static bool show_resources(Show *s, const KernelSet *ks, Err *err)
{
	Module m;
	if (!codegen_compile(s->arena, ks, s->target, &(CodegenOptions){ .resources = true }, &m, err))
		return false;
	if (target_has_blocks(s->target)) {
		show_device_resources(s, &m);
		return true;
	}
	text_add(
		&s->out, "%-16s %10s %10s %10s %8s %14s\n", "kernel", "code B", "frame B", "work B", "spills", "in inner loop");
	for (uint32_t k = 0; k < m.image.nentry; k++) {
		const KernelReport *r = &m.report[k];
		text_add(&s->out, "%-16s %10lld %10lld %10llu %8lld %14.2f%s\n", r->name, (long long)r->code_bytes,
			(long long)r->frame_bytes, (unsigned long long)m.image.entry[k].work_bytes, (long long)r->spills,
			r->inner_spills, codegen_spills_hurt(&m, r, s->target) ? "  hurts" : "");
	}
	return true;
}

static bool show_task(Show *s, const Task *t, Err *err)
{
	char hex[HASH_HEX];
	Ir *ir = ir_new(s->arena);
	TaskPlan plan = { 0 };
	/* With the schedule that was given, else as dlc_compile chooses. */
	KernelSet *ks = s->trace != NULL ? schedule_replay(ir, t, s->target, s->trace, err)
		: compile_task(ir, t, &s->o, &plan, err);
	if (ks == NULL)
		return false;
	if (s->trace != NULL)
		plan.trace = s->trace_text;
	hash_hex(t->id, hex);
	const BackendText *form = s->stage == STAGE_CODE ? &backend_for(s->target)->text[s->text] : NULL;
	const char *name = arena_printf(s->arena, "%s task %.7s %s\n", form != NULL ? form->comment : "#", hex, t->label);
	if (form == NULL || form->begins == NULL)
		text_add(&s->out, "%s", name);
	if (s->stage == STAGE_TRACE) {
		text_add(&s->out, "task %.12s\n%s", hex, plan.trace);
		return true;
	}
	/* Prepare Fns of a device are the host's code. */
	const KernelSet *code = target_has_blocks(s->target) ? compile_run_set(s->arena, ks, t, s->target) : ks;
	if (s->stage == STAGE_RESOURCES)
		return show_resources(s, code, err);
	if (s->stage == STAGE_IR) {
		ir_print_set(&s->out, ks);
		return true;
	}
	Module m;
	CodegenOptions o = { .texts = 1u << s->text, .no_image = true };
	if (!codegen_compile(s->arena, code, s->target, &o, &m, err))
		return false;
	const char *text = m.text[s->text];
	if (form->begins != NULL && strstr(text, form->begins) != NULL) {
		text = strstr(text, form->begins);
		size_t first = strcspn(text, "\n") + 1;
		text_put(&s->out, text, first);
		text_add(&s->out, "%s", name);
		text += first;
	}
	text_put(&s->out, text, strlen(text));
	return true;
}

static bool show_each_task(Show *s, const Partition *p, Err *err)
{
	int n = 0;
	for (int k = 0; k < count_looked(s, p); k++)
		n += wanted(s, p->task[k]);
	if (n == 0)
		return no_task(s, err);
	if (s->trace != NULL && n > 1)
		return fail(err, ERR_USAGE, "task",
			"a trace is for one task, and the ids of %d begin with \"%s\": name one, or begin the trace with "
			"\"task ID\"", n, s->prefix);
	for (int k = 0; k < count_looked(s, p); k++)
		if (wanted(s, p->task[k]) && !show_task(s, p->task[k], err))
			return false;
	return true;
}

static bool show(Show *s, Dag *dag, Err *err)
{
	if (s->stage == STAGE_ONNX)
		return frontend_write("onnx", &s->out, dag, err);
	if (s->stage == STAGE_PLAN) {
		Compiled *c = compile_model(s->arena, dag, &s->o, err);
		if (c != NULL)
			text_put(&s->out, c->plan_text, strlen(c->plan_text));
		return c != NULL;
	}
	if (s->stage == STAGE_GRAPH && s->r->imported) {
		dag_print(&s->out, dag);
		return true;
	}
	Partition *p = compile_partition(s->arena, dag, &s->o, err);
	if (p == NULL)
		return false;
	if (s->stage == STAGE_GRAPH) {
		dag_print(&s->out, dag);
		return true;
	}
	if (s->stage == STAGE_SPACE)
		return show_rows(s, p, err);
	return s->stage == STAGE_TASKS ? show_tasks(s, p, err) : show_each_task(s, p, err);
}

/* What a stage would not look at is a mistake. */
static bool options_fit(const DlcShowOptions *r, Stage stage, Err *err)
{
	bool given = r->schedule != NULL;
	bool whole = stage == STAGE_GRAPH || stage == STAGE_ONNX || stage == STAGE_PLAN;
	if (r->json && stage != STAGE_TASKS && stage != STAGE_SPACE)
		return fail(err, ERR_USAGE, "json", "only the stages tasks and space have such a form");
	if (r->imported && stage != STAGE_GRAPH)
		return fail(err, ERR_USAGE, "imported", "belongs to the stage graph");
	if (r->unscheduled && (stage == STAGE_ONNX || stage == STAGE_SPACE))
		return fail(err, ERR_USAGE, "unscheduled", "the stages onnx and space have no schedule");
	if (given && r->unscheduled)
		return fail(err, ERR_USAGE, "schedule", "excludes unscheduled: the naive loops have no schedule");
	if (whole && (r->task != NULL || given))
		return fail(err, ERR_USAGE, r->task != NULL ? "task" : "schedule",
			"the stages graph, onnx and plan are of the whole network");
	return true;
}

/* The stage that is named; a text of the target's back end is STAGE_CODE and *text. */
static bool find_stage(const DlcShowOptions *r, Arena *a, const Target *t, Stage *stage, int *text, Err *err)
{
	const char *name = r->stage != NULL ? r->stage : stage_names[STAGE_GRAPH];
	const Backend *b = backend_for(t);
	Text have = { .arena = a };
	for (int k = 0; k < STAGE_CODE; k++) {
		*stage = (Stage)k;
		if (strcmp(stage_names[k], name) == 0)
			return true;
		text_add(&have, "%s%s", k > 0 ? ", " : "", stage_names[k]);
	}
	*stage = STAGE_CODE;
	*text = b != NULL ? backend_text(b, name) : -1;
	for (int k = 0; b != NULL && b->text[k].name != NULL; k++)
		text_add(&have, ", %s", b->text[k].name);
	return *text >= 0 ||
		fail(err, ERR_USAGE, "stage", "there is no stage \"%.40s\" for a target of kind %s; there are: %s", name,
			target_kind_name(t->kind), text_str(&have));
}

static bool show_in(Arena *a, DlcNetwork *n, const DlcShowOptions *r, DlcPut put, void *arg, Err *err)
{
	Target t;
	Show s = { .r = r, .arena = a, .target = &t, .out = { .arena = a } };
	DbSet set = { session_databases(r->database, r->ndatabase, a), r->ndatabase };
	if (!session_target(n->session, &r->target, false, &t, err) || !session_takes_precision(n, &t, err) ||
		!compile_core(&t, set, false, err) ||
		!find_stage(r, a, &t, &s.stage, &s.text, err) ||
		!options_fit(r, s.stage, err))
		return false;
	s.o = (CompileOptions){ .target = &t,
		.db = set.db,
		.ndb = set.n,
		.stop = &n->session->stop,
		.unscheduled = r->unscheduled != 0 };
	if (!s.o.unscheduled)
		s.o.untuned = session_untuned(n->session, NULL, r->database, r->ndatabase, &t, a);
	bool ok = read_trace(&s, err) && show(&s, dag_copy(a, r->imported ? n->imported : n->dag), err);
	session_untuned_end(n->session, s.o.untuned);
	if (!ok)
		return false;
	put(text_str(&s.out), s.out.n, arg);
	return true;
}

static bool show_network(DlcNetwork *n, const DlcShowOptions *r, DlcPut put, void *arg, Err *err)
{
	Arena *a = arena_new();
	bool ok = show_in(a, n, r, put, arg, err);
	arena_free(a);
	return ok;
}

static bool check(const DlcSession *s, const DlcShowOptions *r, Err *err)
{
	Target t;
	Stage stage;
	int text;
	Arena *a = arena_new();
	bool ok = session_target(s, &r->target, false, &t, err) && find_stage(r, a, &t, &stage, &text, err) &&
		options_fit(r, stage, err);
	arena_free(a);
	return ok;
}

DlcFault dlc_show_check(DlcSession *s, const DlcShowOptions *options, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(s), API_REQUEST(options, api_show_options));
	API_CALL(s, why, check(s, options, err));
}

DlcFault dlc_network_show(DlcNetwork *n, const DlcShowOptions *options, DlcPut put, void *arg, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(n), API_REQUEST(options, api_show_options), API_GIVEN(put));
	API_CALL(n->session, why, show_network(n, options, put, arg, err));
}
