/*
 * The builder's side of BUILD: a process that compiles kernel sets for one target, one after the
 * other, until its input ends.  It is a child because LLVM may crash, hang or run out of memory on
 * a candidate: whoever started it sets the deadline and starts another.
 */
#include "measure/measure.h"

#include "codegen/codegen.h"
#include "dlc/dlc_runtime.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "runtime/timing.h"
#include "worker/frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_STEP = 64 << 10 };

static bool write_all(int out, const unsigned char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t w = write(out, bytes, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return false;
		bytes += w;
		n -= (size_t)w;
	}
	return true;
}

static bool send(int out, Msg *msg)
{
	bool ok = msg_end(msg) && write_all(out, msg->bytes, msg->size);
	msg_free(msg);
	return ok;
}

static bool answer_text(int out, MsgKind kind, uint64_t serial, DlcStatus status, const char *text)
{
	Msg msg = { 0 };
	MsgRefused f = { .status = (uint32_t)status, .ntext = strlen(text) };
	msg_begin(&msg, kind, serial, &f);
	msg_add(&msg, text, f.ntext);
	return send(out, &msg);
}

static bool refuse(int out, uint64_t serial, const Err *err)
{
	char text[sizeof err->text + sizeof err->place + 8];
	snprintf(text, sizeof text, "%s%s%s", err->place, err->place[0] != 0 ? ": " : "", err->text);
	return answer_text(out, MSG_REFUSED, serial, err->code == ERR_MEMORY ? DLC_NO_MEMORY : DLC_BAD_FILE, text);
}

static bool answer_built(int out, uint64_t serial, const DlcImage *image, uint64_t ns)
{
	Msg msg = { 0 };
	MsgBuilt built = { .ns = ns, .nentry = image->nentry, .nimage = image->size };
	msg_begin(&msg, MSG_BUILT, serial, &built);
	msg_add(&msg, image->entry, sizeof *image->entry * image->nentry);
	msg_add(&msg, image->bytes, image->size);
	return send(out, &msg);
}

/* The first kernel that is run often and keeps its accumulators in memory; NULL: none does. */
static const KernelReport *find_spill(const KernelSet *ks, const Module *m, const Target *target)
{
	for (uint32_t i = 0; i < m->image.nentry; i++) {
		const Fn *fn = ir_find_fn(ks, m->report[i].name);
		if (fn != NULL && fn->kind == FN_RUN && codegen_spills_hurt(&m->report[i], target))
			return &m->report[i];
	}
	return NULL;
}

/* False: the other side is gone. */
static bool build(int out, const MsgView *in, const Target *target)
{
	const MsgBuild *f = in->fixed;
	Arena *a = arena_new();
	Err err = { 0 };
	Module m;
	uint64_t from = timing_wall_ns();
	KernelSet *ks = ir_parse_set(ir_new(a), "candidate", in->array[0], (size_t)f->ntext, &err);
	bool ok = ks != NULL && ir_verify_set(ks, &err) && codegen_compile(a, ks, target, NULL, &m, &err);
	const KernelReport *spill = ok && f->prune ? find_spill(ks, &m, target) : NULL;
	if (!ok) {
		ok = refuse(out, in->serial, &err);
	} else if (spill != NULL) {
		const char *why = arena_printf(a, "%s saves %.1f vectors in each turn of its innermost loop",
			spill->name, spill->inner_spills);
		ok = answer_text(out, MSG_PRUNED, in->serial, DLC_OK, why);
	} else {
		ok = answer_built(out, in->serial, &m.image, timing_wall_ns() - from);
	}
	arena_free(a);
	return ok;
}

int measure_builder(int in, int out, const Target *target)
{
	unsigned char *bytes = NULL;
	size_t have = 0, cap = 0;
	int code = 0;
	for (;;) {
		MsgView msg;
		size_t need = 0;
		char why[160];
		MsgParse p = have >= sizeof(MsgHead) ? msg_parse(bytes, have, &msg, &need, why, sizeof why) : MSG_SHORT;
		if (p == MSG_BAD || (p == MSG_OK && msg.kind != MSG_BUILD)) {
			code = 1;
			break;
		}
		if (p == MSG_OK) {
			if (!build(out, &msg, target))
				break;
			memmove(bytes, bytes + msg.size, have - msg.size);
			have -= msg.size;
			continue;
		}
		if (cap - have < READ_STEP) {
			cap = cap * 2 + READ_STEP;
			unsigned char *more = realloc(bytes, cap);
			if (more == NULL) {
				code = 1;
				break;
			}
			bytes = more;
		}
		ssize_t n = read(in, bytes + have, cap - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	free(bytes);
	return code;
}
