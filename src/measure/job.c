/* A kernel set as a job: its text for the builder, its buffers and calls for the runner. */
#include "measure/job.h"

#include "base/guard.h"
#include "ir/arg.h"
#include "ir/text/ir_text.h"

#include <stdlib.h>
#include <string.h>

Job *job_new(JobKind kind, LocalRef *ref, void *user)
{
	Job *j = calloc(1, sizeof *j);
	if (j == NULL)
		guard_out_of_memory();
	j->arena = arena_new();
	j->kind = kind;
	j->ref = ref;
	j->result.user = user;
	j->result.max_err_e9 = -1;
	j->result.clock = j->result.stage = j->trace = "";
	return j;
}

void job_free(Job *j)
{
	if (j == NULL)
		return;
	arena_free(j->arena);
	free(j);
}

int job_find_buf(const Job *j, const char *name)
{
	for (size_t i = 0; i < j->buf.n; i++)
		if (strcmp(j->buf.at[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void note_use(JobBuf *b, FnKind kind)
{
	b->in_prepare |= kind == FN_PREPARE;
	b->in_run |= kind == FN_RUN;
}

static bool add_buf(Job *j, const Fn *fn, const Buf *b, int *at, Err *err)
{
	*at = job_find_buf(j, b->name);
	if (*at >= 0) {
		note_use(&j->buf.at[*at], fn->kind);
		if (b->role == BUF_OUT && j->buf.at[*at].role != BUF_OUT && fn->kind == FN_RUN)
			j->buf.at[*at].role = BUF_OUT;
		return true;
	}
	int64_t n = ir_buf_elements(b, NULL, 0), bytes = n < 0 ? -1 : dtype_bytes(b->type, n);
	if (bytes < 0)
		return fail(err, ERR_MEMORY, b->name, "the buffer's size overflows");
	if (j->buf.n == LANE_BUFFERS)
		return fail(err, ERR_UNSUPPORTED, b->name, "more than %d tensors of one candidate", LANE_BUFFERS);
	bool prepared = fn->kind == FN_PREPARE && b->role == BUF_OUT;
	JobBuf row = { .name = arena_printf(j->arena, "%s", b->name),
		.role = prepared ? BUF_WORK : b->role,
		.prepared = prepared,
		.type = b->type,
		.elements = n,
		.bytes = bytes > 0 ? bytes : 1 };
	note_use(&row, fn->kind);
	*at = (int)j->buf.n;
	vec_push(j->arena, &j->buf, row);
	return true;
}

static void hash_prepare(Job *j, const KernelSet *ks)
{
	Text t = { .arena = j->arena };
	ir_print_set(&t, ir_set_of_kind(j->arena, ks, FN_PREPARE));
	for (size_t i = 0; i < j->buf.n; i++)
		if (j->buf.at[i].prepared)
			text_add(&t, "%d", j->buf.at[i].in_run);
	j->prepare = hash_of("dlc/prepared/v1", text_str(&t), t.n);
}

bool job_read_set(Job *j, const KernelSet *ks, Err *err)
{
	Text t = { .arena = j->arena };
	ir_print_set(&t, ks);
	j->text = text_str(&t);
	for (int prepare = 1; prepare >= 0; prepare--)
		for (size_t i = 0; i < ks->n; i++) {
			const Fn *fn = ks->fn[i];
			if (fn->kind != (prepare ? FN_PREPARE : FN_RUN))
				continue;
			if (fn->nsym != 0 && j->kind != JOB_REFERENCE && j->kind != JOB_PROBE)
				return fail(err, ERR_UNSUPPORTED, fn->name, "symbols must be bound to be measured");
			JobCall c = { .fn = arena_printf(j->arena, "%s", fn->name),
				.prepare = prepare != 0,
				.nsym = fn->nsym,
				.times = 1 };
			c.buf = arena_array(j->arena, int, fn->nparam);
			for (int k = 0; k < fn->nparam; k++)
				if (fn->param[k].buf != NULL && !add_buf(j, fn, fn->param[k].buf, &c.buf[c.n++], err))
					return false;
			vec_push(j->arena, &j->call, c);
		}
	j->prepares = ir_set_has_kind(ks, FN_PREPARE);
	if (j->prepares)
		hash_prepare(j, ks);
	return true;
}
