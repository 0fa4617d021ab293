/* See launches.h. */
#include "codegen/launches.h"

#include "target/occupancy.h"

#include <string.h>

static int64_t constant(const DlcDim *d)
{
	return d->mul == 0 ? d->add / d->div : 0;
}

/* Two names that differ in their dots alone would be one. */
bool launch_check_names(const BackendJob *job)
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

bool launch_end(const BackendJob *job)
{
	Module *m = job->out;
	int64_t most = target_block_shared(job->target);
	for (uint32_t k = 0; k < m->image.nentry; k++) {
		const DlcDim *block = &m->image.entry[k].launch.dim[DLC_BLOCK];
		KernelReport *r = &m->report[k];
		r->threads = constant(&block[0]) * constant(&block[1]) * constant(&block[2]);
		if (most > 0 && r->shared_bytes > most)
			return fail(job->err, ERR_UNSUPPORTED, m->image.entry[k].name,
				"the kernel has %lld bytes of shared memory and the device has %lld: use a smaller tile",
				(long long)r->shared_bytes, (long long)most);
	}
	share_work(job->entry, m->image.nentry);
	return true;
}
