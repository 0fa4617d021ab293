/*
 * The builder's side of BUILD: a process that compiles kernel sets for one target, one after the other, until its input
 * ends.  It is a child because a compiler may crash, hang or run out of memory on a candidate: the parent sets a
 * deadline and starts another child.
 *
 * Run Fns and prepare Fns are compiled apart, as `dlc compile` does. For a device the prepare Fns become code of this
 * machine's CPU. Each IMAGE of the answer names its device. Candidates of a Task often have the same prepare Fns
 * (Winograd's make a quarter of the compile time) and nests of run Fns in common, so both are kept. A bundle gets run
 * Fns as a whole, whose nests have the same code (codegen/nests.h).
 */
#include "measure/builder_child.h"
#include "measure/kept_modules.h"
#include "measure/method.h"

#include "codegen/nests.h"
#include "dlc/dlc_runtime.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "runtime/timing.h"
#include "worker/pipe.h"

#include <stdio.h>
#include <string.h>

typedef struct Builder {
	int out;
	const Target *target;
	Target host;   /* what prepare Fns and references are compiled for */
	bool nonsense; /* a request was no BUILD */
	KeptModule prepare[METHOD_PREPARE_KEPT], nest[METHOD_NESTS_KEPT];
	KeptModules prepares, nests;
} Builder;

static const CodegenOptions options = { .unchecked = true, .resources = true };

static bool answer_text(int out, MsgKind kind, uint64_t serial, DlcStatus status, const char *text)
{
	Msg msg = { 0 };
	MsgRefused f = { .status = (uint32_t)status, .ntext = strlen(text) };
	msg_begin(&msg, kind, serial, &f);
	msg_add(&msg, text, f.ntext);
	return pipe_send(out, &msg);
}

static bool refuse(int out, uint64_t serial, const Err *err)
{
	char text[sizeof err->text + sizeof err->place + 8];
	snprintf(text, sizeof text, "%s%s%s", err->place, err->place[0] != 0 ? ": " : "", err->text);
	return answer_text(out, MSG_REFUSED, serial, err->code == ERR_MEMORY ? DLC_NO_MEMORY : DLC_BAD_FILE, text);
}

static bool answer_built(int out, uint64_t serial, const Module *prepare, const Module *run, uint64_t ns)
{
	Msg images = { 0 }, msg = { 0 };
	bool ok = prepare == NULL || prepare->image.nentry == 0 || msg_image(&images, serial, 0, &prepare->image);
	ok = ok && (run->image.nentry == 0 || msg_image(&images, serial, 0, &run->image));
	MsgBuilt built = { .ns = ns, .nbytes = images.size };
	msg_begin(&msg, MSG_BUILT, serial, &built);
	msg_add(&msg, images.bytes, images.size);
	msg.full |= !ok;
	msg_free(&images);
	return pipe_send(out, &msg);
}

/* The first kernel that is run often and keeps its accumulators in memory; NULL: none does. */
static const KernelReport *find_spill(const KernelSet *ks, const Module *m, const Target *target)
{
	for (uint32_t i = 0; i < m->image.nentry; i++) {
		const Fn *fn = ir_find_fn(ks, m->report[i].name);
		if (fn != NULL && fn->kind == FN_RUN && codegen_spills_hurt(m, &m->report[i], target))
			return &m->report[i];
	}
	return NULL;
}

/* The run Fns, from nests of earlier candidates where they can be cut into nests. */
static bool compile_run(Builder *b, Arena *a, const KernelSet *run, const Target *t, Module *out, Err *err)
{
	size_t n = 0;
	const KernelSet **set = t == b->target ? codegen_nests(a, run, t, &n) : NULL;
	const Module **nest = arena_array(a, const Module *, n);
	if (set == NULL || n > METHOD_NESTS_KEPT)
		return codegen_compile(a, run, t, &options, out, err);
	for (size_t k = 0; k < n; k++) {
		nest[k] = kept_module(&b->nests, set[k], err);
		if (nest[k] == NULL)
			return false;
	}
	return codegen_join_nests(a, t, nest, n, out, err);
}

/* False: the other side is gone, or asks for something else. */
static bool build(const MsgView *in, void *arg)
{
	Builder *b = arg;
	const MsgBuild *f = in->fixed;
	if (in->kind != MSG_BUILD) {
		b->nonsense = true;
		return false;
	}
	Arena *a = arena_new();
	Err err = { 0 };
	Module m;
	const Module *prepare = NULL;
	const Target *target = f->host ? &b->host : b->target;
	uint64_t from = timing_wall_ns();
	KernelSet *ks = ir_parse_set(ir_new(a), "candidate", in->array[0], (size_t)f->ntext, &err);
	bool ok = ks != NULL && ir_verify_set(ks, &err) && ir_verify_accesses(ks, &err) &&
		compile_run(b, a, ir_set_of_kind(a, ks, FN_RUN), target, &m, &err);
	const KernelReport *spill = ok && f->prune ? find_spill(ks, &m, target) : NULL;
	if (ok && spill == NULL && ir_set_has_kind(ks, FN_PREPARE)) {
		prepare = kept_module(&b->prepares, ir_set_of_kind(a, ks, FN_PREPARE), &err);
		ok = prepare != NULL;
	}
	if (!ok) {
		ok = refuse(b->out, in->serial, &err);
	} else if (spill != NULL) {
		const char *why = arena_printf(a, "%s saves %.1f vectors in each turn of its innermost loop",
			spill->name, spill->inner_spills);
		ok = answer_text(b->out, MSG_PRUNED, in->serial, DLC_OK, why);
	} else {
		ok = answer_built(b->out, in->serial, prepare, &m, timing_wall_ns() - from);
	}
	arena_free(a);
	return ok;
}

int measure_builder(int in, int out, const Target *target)
{
	Builder b = { .out = out, .target = target, .host = codegen_prepare_target(target) };
	b.prepares = (KeptModules){ &b.host, &options, METHOD_PREPARE_KEPT, b.prepare, 0, 0 };
	b.nests = (KeptModules){ target, &options, METHOD_NESTS_KEPT, b.nest, 0, 0 };
	Msg hello = { 0 };
	MsgHello here = { .version = MSG_VERSION };
	char why[MSG_WHY];
	msg_begin(&hello, MSG_HELLO, 0, &here);
	if (!pipe_send(out, &hello))
		return 0; /* nobody listens */
	PipeEnd end = pipe_serve(in, build, &b, why);
	kept_modules_free(&b.prepares);
	kept_modules_free(&b.nests);
	return end == PIPE_NONSENSE || end == PIPE_BROKEN || b.nonsense;
}
