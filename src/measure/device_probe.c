/*
 * The FMA rate of a device that has processors of its own: a kernel that does nothing but multiply and add, built by a
 * builder like any candidate. So it is code of the same compiler, and the worker needs none. A device that runs on the
 * host's processors has the host's probe, with all its cores.
 */
#include "measure/runner.h"

#include "ir/text/ir_text.h"

#include <string.h>

#define BLOCKS 4096
#define THREADS 256
#define ROUNDS 512
#define WRITTEN(x) #x
#define STR(x) WRITTEN(x)
enum { CHAINS = 8 };

/* Chains begin with values of their own: a compiler would compute equal ones once. */
static const char text[] =
	"fn probe[n in 1.." STR(BLOCKS) "](y: out f32[" STR(BLOCKS) ", " STR(THREADS) "]) {\n"
	"\tfor g in 0..n bound(grid.x) {\n\t\tfor t in 0.." STR(THREADS) " bound(block.x) {\n"
	"\t\t\talloc a: f32[8] @local\n"
	"\t\t\tfor i in 0..8 unrolled {\n\t\t\t\ta[i] = f32(t + i)\n\t\t\t}\n"
	"\t\t\tfor r in 0.." STR(ROUNDS) " {\n\t\t\t\tfor k in 0..8 unrolled {\n"
	"\t\t\t\t\ta[k] = a[k] * 0.999 + 0.001\n\t\t\t\t}\n\t\t\t}\n"
	"\t\t\ty[g, t] = a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7]\n\t\t}\n\t}\n}\n";

void probe_build(Local *m)
{
	Arena *scratch = arena_new();
	Job *j = job_new(JOB_PROBE, NULL, NULL);
	KernelSet *ks = ir_parse_set(ir_new(scratch), "probe", text, strlen(text), NULL);
	m->probe_asked = true;
	if (ks != NULL && job_read_set(j, ks, NULL))
		local_queue(m, j);
	else
		job_free(j);
	arena_free(scratch);
}

/* Loads it where this runner lacks it. */
void ask_device_probe(Runner *x, Job *j, Msg *msg)
{
	const Job *set = x->m->probe;
	enum { FIRST = FIRST_OWN + LANE_PROBE * LANE_NUMBERS, PROGRAM = 2 * LANE_PROBE };
	if (set == NULL)
		return;
	x->probe_from = x->m->serial;
	if (x->probe_loaded != x->generation) {
		MsgBuffer b = { .buffer = FIRST, .fill = MSG_FILL_NONE, .device = 1, .holes = MSG_TABLE };
		b.bytes = (uint64_t)set->buf.at[0].bytes;
		MsgCall call = { .module = LANE_PROBE * MSG_IMAGES, .narg = 1, .nsym = 1 };
		MsgArg arg = { .buffer = FIRST, .use = MSG_USE_OUTPUT, .bytes = b.bytes };
		MsgProgram p = { .program = PROGRAM, .threads = 1, .ncall = 1, .narg = 1, .nsym = 1 };
		int64_t sym = 1;
		ask_images(x, j, msg, set, LANE_PROBE);
		ask(x, j, msg, MSG_BUFFER, &b, NULL, 0);
		msg_begin(msg, MSG_PROGRAM, ++x->m->serial, &p);
		msg_add(msg, &call, sizeof call);
		msg_add(msg, &arg, sizeof arg);
		msg_add(msg, &sym, sizeof sym);
		msg->full |= !msg_end(msg);
		j->answers++;
		x->probe_loaded = x->generation;
	}
	MsgProbe f = { .program = PROGRAM, .most = BLOCKS, .flops = 2.0 * THREADS * CHAINS * ROUNDS };
	ask(x, j, msg, MSG_PROBE, &f, NULL, 0);
	x->probe_to = x->m->serial;
}

bool probe_refused(Runner *x, uint64_t serial)
{
	if (serial <= x->probe_from || serial > x->probe_to)
		return false;
	job_free(x->m->probe);
	x->m->probe = NULL;
	return true;
}
