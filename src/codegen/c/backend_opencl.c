/* The row of OpenCL: its passes, most of them shared with LLVM's, and its emit. The image is source text. */
#include "codegen/c/c.h"

#include "codegen/launches.h"
#include "codegen/lower/pass.h"
#include "target/occupancy.h"

static const Pass *const passes[] = {
#define ALL(pass) &row_##pass,
#define TEAMS(pass)
#define LAUNCHES(pass) &row_##pass,
#define WARPS(pass)
#include "codegen/lower/order.def"
	NULL,
};

enum { TEXT_OPENCL = BACKEND_LOWERED + 1 };

static bool emit(const BackendJob *job)
{
	Module *m = job->out;
	Text out = { .arena = job->keep };
	CSet set = { job, &opencl_dialect, arena_array(job->arena, int64_t, m->image.nentry + 1) };
	if (!launch_check_names(job) || !c_print_set(&out, &set))
		return false;
	for (uint32_t k = 0; k < m->image.nentry; k++)
		m->report[k].shared_bytes = set.shared_bytes[k];
	if (!launch_end(job))
		return false;
	m->image.bytes = (const unsigned char *)text_str(&out);
	m->image.size = out.n + 1;
	if (job->options->texts >> TEXT_OPENCL & 1)
		m->text[TEXT_OPENCL] = text_str(&out);
	return true;
}

static void join(Arena *a, const DlcImage *image, size_t n, DlcImage *out)
{
	Text joined = { .arena = a };
	Arena *scratch = arena_new();
	const char **text = arena_array(scratch, const char *, n + 1);
	VEC(DlcEntry) entry = { 0 };
	for (size_t k = 0; k < n; k++) {
		text[k] = (const char *)image[k].bytes;
		for (uint32_t j = 0; j < image[k].nentry; j++)
			vec_push(a, &entry, image[k].entry[j]);
	}
	c_join(&joined, scratch, &opencl_dialect, text, n);
	arena_free(scratch);
	*out = (DlcImage){ (const unsigned char *)text_str(&joined), joined.n + 1, entry.at, (uint32_t)entry.n,
		DLC_DEVICE_OPENCL };
}

static void key(const Target *t, Text *out)
{
	text_add(out, "%d bits %d registers shared %lld\n", t->vector_bits, t->vector_regs,
		(long long)target_block_shared(t));
}

static bool spills_hurt(const KernelReport *r, const Target *t)
{
	(void)r, (void)t;
	return false; /* the driver's compiler does not tell */
}

static const BackendText texts[] = {
	BACKEND_TEXT_LOWERED,
	[TEXT_OPENCL] = { "opencl", "//", NULL },
	{ NULL, NULL, NULL },
};

const Backend backend_opencl = {
	.name = "opencl",
	.use = "source text for OpenCL devices",
	.kinds = 1u << TARGET_OPENCL,
	.device = DLC_DEVICE_OPENCL,
	.pass = passes,
	.text = texts,
	.compiler = "opencl c 1.2, text 5",
	.key = key,
	.emit = emit,
	.join = join,
	.form = "source text",
	.spills_hurt = spills_hurt,
};
