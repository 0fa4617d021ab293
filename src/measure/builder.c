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

static bool refuse(int out, uint64_t serial, const Err *err)
{
	char text[sizeof err->text + sizeof err->place + 8];
	int n = snprintf(text, sizeof text, "%s%s%s", err->place, err->place[0] != 0 ? ": " : "", err->text);
	Msg msg = { 0 };
	MsgRefused f = { .status = err->code == ERR_MEMORY ? DLC_NO_MEMORY : DLC_BAD_FILE, .ntext = (uint64_t)n };
	msg_begin(&msg, MSG_REFUSED, serial, &f);
	msg_add(&msg, text, (size_t)n);
	return send(out, &msg);
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
	if (ok) {
		Msg msg = { 0 };
		MsgBuilt built = { .ns = timing_wall_ns() - from, .nentry = m.image.nentry, .nimage = m.image.size };
		msg_begin(&msg, MSG_BUILT, in->serial, &built);
		msg_add(&msg, m.image.entry, sizeof *m.image.entry * m.image.nentry);
		msg_add(&msg, m.image.bytes, m.image.size);
		ok = send(out, &msg);
	} else {
		ok = refuse(out, in->serial, &err);
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
