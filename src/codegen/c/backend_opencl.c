/* The row of OpenCL: its passes, most of them shared with LLVM's, and its emit. The image is source text. */
#include "codegen/c/c.h"

#include "codegen/lower/pass.h"

#include <string.h>

static const Pass *const passes[] = {
	&row_inline_calls,
	&row_copies,
	&row_kernels,
	&row_launch_nest,
	&row_hoist_init,
	&row_blocks,
	&row_simplify,
	&row_conditions,
	&row_reduce,
	&row_widths,
	&row_vectorize,
	&row_unroll,
	&row_simplify,
	&row_conditions, /* what unrolling has decided */
	&row_flatten,
	&row_simplify,
	&row_lanes,
	&row_accumulate,
	&row_registers,
	&row_masks,
	&row_divide,
	NULL,
};

enum { TEXT_OPENCL = BACKEND_LOWERED + 1 };

static int64_t constant(const DlcDim *d)
{
	return d->mul == 0 ? d->add / d->div : 0;
}

static int64_t scope_bytes(const Target *t, const char *scope)
{
	for (int k = 0; k < t->nscope; k++)
		if (strcmp(t->scope[k].name, scope) == 0)
			return t->scope[k].bytes;
	return 0;
}

/* Two names that differ in their dots alone would be one. */
static bool check_names(const BackendJob *job)
{
	const DlcImage *image = &job->out->image;
	for (uint32_t k = 0; k < image->nentry; k++)
		for (uint32_t j = 0; j < k; j++) {
			char a[DLC_SYMBOL], b[DLC_SYMBOL];
			kernel_symbol(image->entry[k].name, a);
			kernel_symbol(image->entry[j].name, b);
			if (strcmp(a, b) == 0)
				return fail(job->err, ERR_UNSUPPORTED, image->entry[k].name,
					"the kernels %s and %s have one name, %s, on a device: rename one", image->entry[j].name,
					image->entry[k].name, a);
		}
	return true;
}

/* All kernels of a Fn get one workspace, so each asks for the most. */
static void share_work(DlcEntry *entry, uint32_t n)
{
	for (uint32_t k = 0, end; k < n; k = end) {
		uint64_t most = 0;
		end = k + entry[k].rest + 1;
		for (uint32_t j = k; j < end; j++)
			most = entry[j].work_bytes > most ? entry[j].work_bytes : most;
		for (uint32_t j = k; j < end; j++)
			entry[j].work_bytes = most;
	}
}

static bool emit(const BackendJob *job)
{
	Module *m = job->out;
	Text out = { .arena = job->keep };
	CSet set = { job, &opencl_dialect, arena_array(job->arena, int64_t, m->image.nentry + 1) };
	if (!check_names(job) || !c_print_set(&out, &set))
		return false;
	int64_t most = scope_bytes(job->target, "shared");
	for (uint32_t k = 0; k < m->image.nentry; k++) {
		const DlcDim *block = &m->image.entry[k].launch.dim[DLC_BLOCK];
		m->report[k].shared_bytes = set.shared_bytes[k];
		m->report[k].threads = constant(&block[0]) * constant(&block[1]) * constant(&block[2]);
		if (most > 0 && set.shared_bytes[k] > most)
			return fail(job->err, ERR_UNSUPPORTED, m->image.entry[k].name,
				"the kernel has %lld bytes of shared memory and the device has %lld: use a smaller tile",
				(long long)set.shared_bytes[k], (long long)most);
	}
	share_work(job->entry, m->image.nentry);
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
		(long long)scope_bytes(t, "shared"));
}

static bool spills_hurt(const KernelReport *r, const Target *t)
{
	(void)r, (void)t;
	return false; /* the driver's compiler does not tell */
}

static const BackendText texts[] = { BACKEND_TEXT_LOWERED, [TEXT_OPENCL] = { "opencl", "//" }, { NULL, NULL } };

const Backend backend_opencl = {
	.name = "opencl",
	.use = "source text for OpenCL devices",
	.kinds = 1u << TARGET_OPENCL,
	.device = DLC_DEVICE_OPENCL,
	.pass = passes,
	.text = texts,
	.compiler = "opencl c 1.2",
	.key = key,
	.emit = emit,
	.join = join,
	.spills_hurt = spills_hurt,
};
