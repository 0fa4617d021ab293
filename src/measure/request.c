/*
 * A job -> the messages that ask dlc-worker for it.
 *
 * A candidate: its task's buffers (unless this runner has them), IMAGEs, its own buffers, PROGRAMs,
 * RUNs, then COMPARE with what is known of each output; then TIME.  A reference: the same with READ.
 * Where candidates run on a device, inputs are filled on the host and copied there; so are the outputs
 * of prepare Fns, which run on the host as references do.  What is expected stays on the host.
 * Networks are in network_turns.c.  A race: TIME of programs that are there.
 */
#include "measure/runner.h"

#include <math.h>
#include <string.h>

void ask(Runner *x, Job *j, Msg *msg, MsgKind kind, const void *fixed, const void *array, size_t bytes)
{
	msg_begin(msg, kind, ++x->m->serial, fixed);
	if (array != NULL)
		msg_add(msg, array, bytes);
	if (!msg_end(msg))
		msg->full = true;
	j->answers++;
}

/* The element type for the runner: types of less than a byte, which share bytes, go as bytes. */
static DType runner_type(DType t)
{
	return t.bits < 8 ? DT(UINT, 8) : t;
}

/*
 * Random data. A constant of one element is 0.5 at least: it is added to a divisor or is an exponent, and near a pole
 * f32 has too few digits to agree with the reference value. Recurrent weights are small: else a rounding error grows
 * from step to step.
 */
static void ask_buffer(
	Runner *x, Job *j, Msg *msg, const JobBuf *b, uint32_t number, MsgFill fill, uint64_t seed, const void *data)
{
	DType type = runner_type(b->type);
	bool whole = dtype_is_int(type) || type.kind == DT_BOOL;
	MsgBuffer f = { .buffer = number,
		.device = number != b->host_id,
		.fill = (uint32_t)fill,
		.code = type.kind,
		.bits = type.bits,
		.constant = b->prepared || b->role == BUF_CONST,
		.holes = b->npadding > 0 ? b->padding_id : MSG_TABLE,
		.bytes = (uint64_t)b->bytes,
		.seed = seed,
		.lo = whole ? 0 : b->role == BUF_CONST && b->elements == 1 ? 0.5 : -fmin(1, b->most),
		.hi = type.kind == DT_BOOL ? 1 : b->type.bits < 8 ? 255 : whole ? 7 : fmin(1, b->most),
		.ndata = data != NULL ? (uint64_t)b->bytes : 0 };
	ask(x, j, msg, MSG_BUFFER, &f, data, (size_t)f.ndata);
}

void ask_nothing_of(Runner *x, Job *j, Msg *msg, uint32_t number, bool device)
{
	JobBuf b = { .role = BUF_CONST, .type = DT(UINT, 8), .bytes = 1, .host_id = device ? MSG_TABLE : number };
	ask_buffer(x, j, msg, &b, number, MSG_FILL_NONE, 0, NULL);
}

static void ask_copy(Runner *x, Job *j, Msg *msg, const JobBuf *b)
{
	MsgCopy f = { .to = b->id, .from = b->host_id };
	ask(x, j, msg, MSG_COPY, &f, NULL, 0);
}

/* ---- the task's buffers ---- */

/* A Task's buffers have consecutive numbers; an input has one more for its copy on the device. */
static uint32_t count_numbers(const LocalRef *r, bool device)
{
	return (uint32_t)((device ? 3 : 2) * r->in.n + 3 * r->out.n);
}

bool ask_task_fits(const Runner *x, const LocalRef *r)
{
	return r == NULL || r->at[x->index].numbered == x->generation ||
		count_numbers(r, x->m->o.device) <= FIRST_OWN - x->numbered;
}

static void ask_numbers(Runner *x, LocalRef *r)
{
	RefAt *at = &r->at[x->index];
	bool device = x->m->o.device;
	if (at->numbered != x->generation) {
		at->first = x->numbered;
		at->numbered = x->generation;
		x->numbered += count_numbers(r, device);
	}
	uint32_t next = at->first;
	for (size_t k = 0; k < r->in.n; k++) {
		r->in.at[k].id = next++;
		r->in.at[k].host_id = device ? next++ : r->in.at[k].id;
		r->in.at[k].padding_id = next++;
	}
	for (size_t k = 0; k < r->out.n; k++) {
		r->out.at[k].buf.id = r->out.at[k].buf.host_id = next++;
		r->out.at[k].at_id = next++;
		r->out.at[k].value_id = next++;
	}
}

static void ask_inputs(Runner *x, Job *j, Msg *msg)
{
	LocalRef *r = j->ref;
	for (size_t k = 0; k < r->in.n; k++) {
		const JobBuf *in = &r->in.at[k];
		JobBuf list = { .type = DT(UINT, 64), .bytes = in->npadding * 8, .host_id = in->padding_id };
		if (in->npadding > 0)
			ask_buffer(x, j, msg, &list, list.host_id, MSG_FILL_DATA, 0, in->padding);
		uint64_t seed = r->seed * 0x9e3779b97f4a7c15u + (uint64_t)r->serial * 1000 + k;
		ask_buffer(x, j, msg, in, in->host_id, MSG_FILL_RANDOM, seed, NULL);
		x->loaded_bytes += in->bytes;
		if (in->id == in->host_id || j->kind == JOB_REFERENCE)
			continue;
		ask_buffer(x, j, msg, in, in->id, MSG_FILL_NONE, 0, NULL);
		ask_copy(x, j, msg, in);
	}
}

static void ask_listed(Runner *x, Job *j, Msg *msg, const RefOut *o)
{
	if (o->listed == 0)
		return;
	JobBuf at = { .type = DT(UINT, 64), .bytes = o->listed * 8, .host_id = o->at_id },
	       value = { .type = o->buf.type, .bytes = dtype_bytes(o->buf.type, o->listed), .host_id = o->value_id };
	ask_buffer(x, j, msg, &at, at.host_id, MSG_FILL_DATA, 0, o->at);
	ask_buffer(x, j, msg, &value, value.host_id, MSG_FILL_DATA, 0, o->value);
	x->loaded_bytes += at.bytes + value.bytes;
}

/* The Task's inputs and reference values, where the runner lacks them. */
static void ask_task(Runner *x, Job *j, Msg *msg)
{
	LocalRef *r = j->ref;
	RefAt *there = &r->at[x->index];
	ask_numbers(x, r);
	if (there->loaded != x->generation) {
		ask_inputs(x, j, msg);
		if (j->kind == JOB_REFERENCE)
			return; /* which computes what is expected */
		for (size_t k = 0; k < r->out.n; k++)
			ask_listed(x, j, msg, &r->out.at[k]);
		there->loaded = x->generation;
	}
	if (there->whole_loaded == x->generation)
		return;
	for (size_t k = 0; k < r->out.n; k++)
		if (r->out.at[k].whole != NULL) {
			ask_buffer(x, j, msg, &r->out.at[k].buf, r->out.at[k].buf.host_id, MSG_FILL_DATA, 0, r->out.at[k].whole);
			x->loaded_bytes += r->out.at[k].buf.bytes;
			there->whole_loaded = x->generation;
		}
}

/* ---- the job's own buffers and programs ---- */

/*
 * Numbers for the set's buffers.  A buffer that is written before it is read begins poisoned, or with old data: RUN
 * poisons outputs, and a reference touches little of its workspace.
 */
static void ask_own_buffers(Runner *x, Job *j, Msg *msg, int lane)
{
	uint32_t first = FIRST_OWN + (uint32_t)lane * LANE_NUMBERS;
	bool device = x->m->o.device && j->kind != JOB_REFERENCE;
	uint32_t constant = j->prepares && j->constants != NULL ? j->constants->first : 0;
	for (size_t i = 0; i < j->buf.n; i++) {
		JobBuf *b = &j->buf.at[i];
		const JobBuf *in = NULL; /* the task's input of this name */
		bool own = b->role == BUF_WORK || b->role == BUF_ZERO || b->role == BUF_OUT;
		for (size_t k = 0; k < j->ref->in.n && !own && in == NULL; k++)
			if (strcmp(j->ref->in.at[k].name, b->name) == 0)
				in = &j->ref->in.at[k];
		b->host_id = in != NULL ? in->host_id : first + 2 * (uint32_t)i;
		if (b->prepared && constant != 0) {
			b->host_id = constant;
			constant += 2;
		}
		b->id = !device ? b->host_id : in != NULL ? in->id : b->host_id + 1;
		MsgFill fill = b->role == BUF_ZERO                  ? MSG_FILL_ZERO
			: b->role == BUF_OUT || j->kind == JOB_REFERENCE ? MSG_FILL_NONE
			: b->role == BUF_WORK && !b->prepared           ? MSG_FILL_POISON
		                                                    : MSG_FILL_ZERO;
		if (b->prepared && j->kept)
			continue;
		if (in == NULL && (!device || b->in_prepare))
			ask_buffer(x, j, msg, b, b->host_id, fill, 0, NULL);
		if (in == NULL && device && b->in_run) /* what is prepared is copied */
			ask_buffer(x, j, msg, b, b->id, b->in_prepare ? MSG_FILL_NONE : fill, 0, NULL);
	}
}

bool find_entries(const Job *j, int lane, const char *fn, uint32_t *module, uint32_t *entry, uint32_t *end)
{
	for (int k = 0; k < j->nimage; k++)
		for (uint32_t i = 0; i < j->image[k].nentry; i++)
			if (strcmp(j->image[k].entry[i].name, fn) == 0) {
				*module = (uint32_t)(lane * MSG_IMAGES + k);
				*entry = i;
				*end = i + 1 + j->image[k].entry[i].rest;
				return *end <= j->image[k].nentry;
			}
	return false;
}

static uint32_t use_of(const JobBuf *b)
{
	if (b->prepared || b->role == BUF_CONST)
		return MSG_USE_CONST;
	if (b->role == BUF_WORK || b->role == BUF_ZERO)
		return MSG_USE_NONE;
	return b->role == BUF_OUT ? MSG_USE_OUTPUT : MSG_USE_INPUT;
}

static uint32_t program_of(int lane, bool prepare)
{
	return (uint32_t)(2 * lane + prepare);
}

/* PROGRAM and RUN of the prepare or the run Fns of `lane`; nothing where there are none. */
static void ask_program(Runner *x, Job *j, Msg *msg, const Job *set, int lane, bool prepare)
{
	VEC(MsgCall) call = { 0 };
	VEC(MsgArg) arg = { 0 };
	VEC(int64_t) sym = { 0 };
	for (size_t i = 0; i < set->call.n; i++) {
		const JobCall *c = &set->call.at[i];
		uint32_t module, entry, end;
		if (c->prepare != prepare || !find_entries(set, lane, c->fn, &module, &entry, &end))
			continue;
		for (int t = 0; t < c->times; t++) {
			MsgCall row = { .module = module,
				.arg = (uint32_t)arg.n,
				.narg = (uint32_t)c->n,
				.sym = (uint32_t)sym.n,
				.nsym = (uint32_t)c->nsym };
			for (row.entry = entry; row.entry < end; row.entry++)
				vec_push(j->arena, &call, row);
			for (int k = 0; k < c->nsym; k++)
				vec_push(j->arena, &sym, c->sym[t * c->nsym + k]);
		}
		for (int k = 0; k < c->n; k++) {
			const JobBuf *b = &set->buf.at[c->buf[k]];
			MsgArg a = { .buffer = prepare ? b->host_id : b->id, .bytes = (uint64_t)b->bytes };
			a.use = prepare ? MSG_USE_NONE : use_of(b);
			vec_push(j->arena, &arg, a);
		}
	}
	if (call.n == 0)
		return;
	MsgProgram f = { .program = program_of(lane, prepare),
		.threads = prepare || set->kind == JOB_REFERENCE ? 1 : (uint32_t)x->m->o.threads,
		.ncall = call.n,
		.narg = arg.n,
		.nsym = sym.n };
	msg_begin(msg, MSG_PROGRAM, ++x->m->serial, &f);
	msg_add(msg, call.at, sizeof *call.at * call.n);
	msg_add(msg, arg.at, sizeof *arg.at * arg.n);
	msg_add(msg, sym.at, sizeof *sym.at * sym.n);
	if (!msg_end(msg))
		msg->full = true;
	j->answers++;
	MsgRun run = { .program = f.program };
	ask(x, j, msg, MSG_RUN, &run, NULL, 0);
}

static void ask_images(Runner *x, Job *j, Msg *msg, const Job *set, int lane)
{
	for (int k = 0; k < set->nimage; k++, j->answers++)
		if (!msg_image(msg, ++x->m->serial, (uint32_t)(lane * MSG_IMAGES + k), &set->image[k]))
			msg->full = true;
}

static void ask_load(Runner *x, Job *j, Msg *msg)
{
	j->constants = prepared_find(x, j, msg, &j->kept);
	ask_task(x, j, msg);
	ask_images(x, j, msg, j, j->lane);
	ask_own_buffers(x, j, msg, j->lane);
	if (!j->kept)
		ask_program(x, j, msg, j, j->lane, true);
	for (size_t i = 0; i < j->buf.n && !j->kept; i++) {
		const JobBuf *b = &j->buf.at[i];
		if (b->prepared && b->in_run && b->id != b->host_id)
			ask_copy(x, j, msg, b);
	}
	ask_program(x, j, msg, j, j->lane, false);
}

/* ---- checks ---- */

static void ask_read(Runner *x, Job *j, Msg *msg, uint32_t buffer, int64_t offset, int64_t bytes)
{
	MsgRead f = { .buffer = buffer, .offset = (uint64_t)offset, .bytes = (uint64_t)bytes };
	ask(x, j, msg, MSG_READ, &f, NULL, 0);
}

static void ask_compare(
	Runner *x, Job *j, Msg *msg, const RefOut *o, uint32_t got, uint32_t want, uint32_t at, int64_t n)
{
	DType type = runner_type(o->buf.type);
	MsgCompare f = { .got = got,
		.want = want,
		.at = at,
		.code = type.kind,
		.bits = type.bits,
		.count = (uint64_t)dtype_bytes(o->buf.type, n) / (type.bits / 8u) };
	ask(x, j, msg, MSG_COMPARE, &f, NULL, 0);
}

/* Number of the job's buffer for an output; the task's own where it has none. */
static uint32_t got_of(const Job *j, const RefOut *o)
{
	int own = job_find_buf(j, o->buf.name);
	return own >= 0 ? j->buf.at[own].id : o->buf.id;
}

void ask_check(Runner *x, Job *j, Msg *msg)
{
	j->outputs_version = j->ref->outputs_version;
	j->compared.n = j->data.n = 0;
	ask_load(x, j, msg);
	for (size_t k = 0; k < j->ref->out.n; k++) {
		const RefOut *o = &j->ref->out.at[k];
		uint32_t got = got_of(j, o);
		if (o->points > 0)
			ask_compare(x, j, msg, o, got, o->value_id, o->at_id, o->whole == NULL ? o->listed : o->points);
		ask_compare(x, j, msg, o, got, o->whole == NULL ? got : o->buf.id, MSG_TABLE, o->buf.elements);
		if (o->whole == NULL)
			ask_read(x, j, msg, got, 0, o->buf.bytes);
	}
}

void ask_reference(Runner *x, Job *j, Msg *msg)
{
	ask_load(x, j, msg);
	for (size_t k = 0; k < j->ref->out.n; k++) {
		const RefOut *o = &j->ref->out.at[k];
		const JobCall *c = &j->call.at[k < j->call.n ? k : 0];
		if (o->points > 0) /* the last parameter of each Fn */
			ask_read(x, j, msg, j->buf.at[c->buf[c->n - 1]].id, 0, dtype_bytes(o->buf.type, o->points));
		else
			ask_read(x, j, msg, got_of(j, o), 0, o->buf.bytes);
	}
}

void ask_judge(Runner *x, Job *j, Msg *msg)
{
	const Job *oracle = j->ref->oracle;
	const RefOut *o = &j->ref->out.at[j->disputed];
	const JobCall *all = &oracle->call.at[j->disputed];
	int64_t *sym = arena_array(j->arena, int64_t, all->nsym), element = dtype_bytes(o->buf.type, 1);
	places_find(&o->place, j->element, sym + 1);
	for (int k = 0; k < all->nsym; k++)
		sym[k]++; /* symbols begin with 1 */
	Job one = *oracle; /* the one call, with its buffers in the oracle's lane */
	JobCall call = *all;
	call.times = 1;
	call.sym = sym;
	one.call.at = &call;
	one.call.n = 1;
	one.arena = j->arena;
	one.answers = 0;
	ask_numbers(x, j->ref);
	ask_images(x, &one, msg, &one, LANE_ORACLE);
	ask_own_buffers(x, &one, msg, LANE_ORACLE);
	ask_program(x, &one, msg, &one, LANE_ORACLE, false);
	j->answers += one.answers;
	ask_read(x, j, msg, one.buf.at[call.buf[call.n - 1]].id, 0, element);
	ask_read(x, j, msg, got_of(j, o), j->element * element, element);
}

/* ---- times ---- */

/* On a GPU the check and the samples share SCREEN_MS: the samples get the rest of the time. */
static uint64_t screen_ns(const Runner *x)
{
	uint64_t all = METHOD_SCREEN_MS * 1000000u, least = METHOD_SAMPLES_MS * 1000000u;
	uint64_t used = x->own_processors ? uv_hrtime() - x->started_ns : 0;
	return used + least < all ? all - used : least;
}

void ask_times(Runner *x, Job *j, Msg *msg)
{
	bool race = j->kind == JOB_RACE;
	uint32_t program[MEASURE_RACERS] = { program_of(j->lane, false) };
	for (int i = 0; i < j->nracer; i++)
		program[i] = program_of(j->racer[i]->lane, false);
	MsgTime f = { .nprogram = race ? (uint64_t)j->nracer : 1,
		.samples = race ? METHOD_RACE_SAMPLES : METHOD_SAMPLES,
		.warmup = 0, /* the checked run was a candidate's */
		.repeat = 1,
		.few = METHOD_FEW,
		.cold_bytes = (uint64_t)x->m->cold_bytes,
		.budget_ns = race ? METHOD_RACE_MS * 1000000u : screen_ns(x),
		.look_ns = METHOD_LOOK_US * 1000u,
		.slow_ns = (uint64_t)j->slow_ns,
		.good_ns = (uint64_t)j->good_ns };
	ask(x, j, msg, MSG_TIME, &f, program, f.nprogram * sizeof *program);
}

void ask_probe(Runner *x, Job *j, Msg *msg)
{
	if (x->m->o.target != NULL) { /* HELLO has perhaps not come yet */
		ask_device_probe(x, j, msg);
		return;
	}
	/* A device on the CPU uses all cores, and leaves none to spare. Its first runner has said how many there are. */
	uint32_t cores = x->m->runner[x->first].cores;
	uint32_t threads = x->m->o.device && cores > 0 ? cores : (uint32_t)x->m->o.threads;
	int last = cores > threads;
	x->probes_asked = last + 1;
	for (int more = 0; more <= last; more++) {
		MsgProbe f = { .threads = threads + (uint64_t)more, .program = MSG_TABLE };
		ask(x, j, msg, MSG_PROBE, &f, NULL, 0);
	}
}
