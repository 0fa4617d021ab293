/* The row of the C back end: its own array of passes, most of them shared with LLVM's, and its emit. */
#include "c_backend.h"

#include "codegen/lower/pass.h"
#include "ir/walk.h"

#include <string.h>

/* Its own pass: vector loops that no shared pass has taken become serial, since the printer writes lanes as loops. */
static bool serial_stmt(Stmt *s, void *arg)
{
	(void)arg;
	if (s->kind == ST_FOR && s->loop.kind == LOOP_VECTOR)
		s->loop.kind = LOOP_SERIAL;
	return true;
}

static bool run_serial(Lower *l)
{
	ir_each_stmt(l->fn->body, serial_stmt, NULL);
	return true;
}

static const Pass row_serial = { "serial", "reduce", "vector loops that are left: serial", run_serial, PASS_EACH_FN };

static const Pass *const passes[] = {
	&row_inline_calls,
	&row_async,
	&row_blocks,
	&row_simplify,
	&row_reduce,
	&row_vectorize,
	&row_serial,
	&row_unroll,
	&row_simplify,
	&row_flatten,
	&row_simplify,
	&row_threads,
	NULL,
};

/* The source text is the image, with the 0 behind it, and the text `c`. */
static bool emit(const BackendJob *job)
{
	Text out = { .arena = job->keep };
	CSet set = { job, &c_dialect, NULL };
	if (!c_print_set(&out, &set))
		return false;
	job->out->image.bytes = (const unsigned char *)text_str(&out);
	job->out->image.size = out.n + 1;
	if (job->options->texts >> (BACKEND_LOWERED + 1) & 1)
		job->out->text[BACKEND_LOWERED + 1] = text_str(&out);
	return true;
}

static void key(const Target *t, Text *out)
{
	text_add(out, "%d bits fma %d\n", t->vector_bits, (int)target_has(t, FEATURE_FMA));
}

static bool spills_hurt(const KernelReport *r, const Target *t)
{
	(void)r, (void)t;
	return false; /* it does not know */
}

static const BackendText texts[] = { BACKEND_TEXT_LOWERED, { "c", "//", NULL }, { NULL, NULL, NULL } };

const Backend backend_c = {
	.name = "c",
	.use = "C for tests",
	.kinds = 1u << TARGET_CPU,
	.device = DLC_DEVICE_CPU,
	.pass = passes,
	.text = texts,
	.compiler = "cc",
	.key = key,
	.emit = emit,
	.spills_hurt = spills_hurt,
};
