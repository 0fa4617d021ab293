/*
 * See device.h; the CPU's row.  Its memory comes in whole pages, large ones on request, so that a kernel's
 * walk over an arena misses the TLB less.  Code becomes executable in place where the file system
 * allows it; on one mounted noexec it is copied, to anonymous memory or, where that may not change
 * its protection, to a file in memory.
 */
#include "runtime/device_failure.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/cpu.h"
#include "runtime/host.h"
#include "runtime/model.h"
#include "runtime/timing.h"

enum { HUGE_PAGE = 2 << 20 };

struct DeviceContext {
	Cpu cpu;
};

struct DeviceStream {
	uint64_t mark[DEVICE_MARKS];
};

static DlcStatus cpu_open(int32_t id, DeviceContext **out, DlcError *err)
{
	*out = NULL;
	if (id != 0)
		return runtime_fail(err, DLC_SYSTEM, "there is no CPU %d: this machine is one device, 0", (int)id);
	*out = malloc(sizeof **out);
	if (*out == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for device %d", (int)id);
	(*out)->cpu = cpu_read();
	return DLC_OK;
}

static void cpu_close(DeviceContext *c)
{
	free(c);
}

static uint64_t cpu_room(const DeviceContext *c)
{
	(void)c;
	return host_memory(NULL, NULL);
}

static uint64_t cpu_cache(const DeviceContext *c)
{
	(void)c;
	return host_cache(3, NULL, NULL);
}

static bool cpu_feature(const DeviceContext *c, const char *feature)
{
	return cpu_lists(&c->cpu, feature);
}

static size_t page_up(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return bytes == 0 ? page : (bytes + page - 1) & ~(page - 1);
}

static void *map_pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void *cpu_alloc(DeviceContext *c, size_t bytes)
{
	(void)c;
	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = page_up(bytes);
	if (bytes < HUGE_PAGE)
		return map_pages(bytes);
	unsigned char *p = map_pages(bytes + HUGE_PAGE);
	if (p == NULL)
		return NULL;
	size_t before = -(uintptr_t)p & (HUGE_PAGE - 1);
	if (before > 0)
		munmap(p, before);
	munmap(p + before + bytes, HUGE_PAGE - before);
	p += before;
#if defined(MADV_HUGEPAGE)
	madvise(p, bytes, MADV_HUGEPAGE);
#endif
	return p;
}

static void cpu_release(DeviceContext *c, void *memory, size_t bytes)
{
	(void)c;
	munmap(memory, page_up(bytes));
}

static void *copy_anonymous(const void *image, size_t bytes)
{
	void *p = map_pages(page_up(bytes));
	if (p == NULL)
		return NULL;
	memcpy(p, image, bytes);
	if (mprotect(p, page_up(bytes), PROT_READ | PROT_EXEC) == 0)
		return p;
	munmap(p, page_up(bytes));
	return NULL;
}

static void *copy_to_file(const void *image, size_t bytes)
{
#if defined(__linux__)
	int fd = memfd_create("dlc code", MFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	size_t done = 0;
	while (done < bytes) {
		ssize_t n = write(fd, (const char *)image + done, bytes - done);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	void *p = MAP_FAILED;
	if (done == bytes)
		p = mmap(NULL, page_up(bytes), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
#else
	(void)image, (void)bytes;
	return NULL;
#endif
}

static void *cpu_code_load(DeviceContext *c, const void *image, size_t bytes, bool in_place, DlcError *err)
{
	(void)c, (void)err;
	void *p = (void *)(uintptr_t)image;
	if (!in_place || mprotect(p, page_up(bytes), PROT_READ | PROT_EXEC) != 0)
		p = copy_anonymous(image, bytes);
	if (p == NULL)
		p = copy_to_file(image, bytes);
	if (p != NULL)
		__builtin___clear_cache((char *)p, (char *)p + bytes);
	return p;
}

static void cpu_code_release(DeviceContext *c, const void *image, void *code, size_t bytes)
{
	(void)c;
	if (code != image)
		munmap(code, page_up(bytes));
}

static void *cpu_kernel(DeviceContext *c, void *code, const char *name, uint64_t offset, DlcError *err)
{
	(void)c, (void)name, (void)err;
	return (unsigned char *)code + offset;
}

static DeviceStream *cpu_stream_open(DeviceContext *c)
{
	(void)c;
	return calloc(1, sizeof(DeviceStream));
}

static void cpu_stream_close(DeviceStream *s)
{
	free(s);
}

static int cpu_copy(DeviceStream *s, void *to, const void *from, size_t bytes, DeviceWay way)
{
	(void)s, (void)way;
	memmove(to, from, bytes);
	return 0;
}

static int cpu_fill(DeviceStream *s, void *to, unsigned char byte, size_t bytes)
{
	(void)s;
	memset(to, byte, bytes);
	return 0;
}

static int cpu_launch(DeviceStream *s, void *kernel, const DlcCall *call, const DeviceLaunch *how)
{
	union {
		void *code;
		DlcKernel kernel;
	} at = { .code = kernel };
	(void)s, (void)how;
	return at.kernel(call);
}

static int cpu_synchronize(DeviceStream *s)
{
	(void)s;
	return 0;
}

static void cpu_mark(DeviceStream *s, uint32_t k)
{
	s->mark[k] = timing_wall_ns();
}

static uint64_t cpu_time(DeviceStream *s, uint32_t from, uint32_t to)
{
	return s->mark[to] - s->mark[from];
}

static int cpu_devices(DlcError *err)
{
	(void)err;
	return 1;
}

const Device device_cpu = {
	.name = "cpu",
	.type = DLC_DEVICE_CPU,
	.on_host = true,
	.open = cpu_open,
	.close = cpu_close,
	.memory = cpu_room,
	.has = cpu_feature,
	.cache = cpu_cache,
	.alloc = cpu_alloc,
	.release = cpu_release,
	.code_load = cpu_code_load,
	.code_release = cpu_code_release,
	.kernel = cpu_kernel,
	.stream_open = cpu_stream_open,
	.stream_close = cpu_stream_close,
	.copy = cpu_copy,
	.fill = cpu_fill,
	.launch = cpu_launch,
	.synchronize = cpu_synchronize,
	.mark = cpu_mark,
	.time = cpu_time,
	.count = cpu_devices,
};

static const Device *const DEVICE[] = { &device_cpu, &device_cuda, &device_opencl };

const Device *device_find(int32_t type)
{
	for (size_t i = 0; i < sizeof DEVICE / sizeof *DEVICE; i++)
		if (DEVICE[i]->type == type)
			return DEVICE[i];
	return NULL;
}

void device_number(DeviceFacts *f, const char *key, double value)
{
	if (value <= 0 || f->n == DEVICE_NUMBERS)
		return;
	f->number[f->n].key = key;
	f->number[f->n++].value = value;
}

const char *device_type_name(uint32_t type)
{
	switch (type) {
	case DLC_DEVICE_CPU: return "CPU";
	case DLC_DEVICE_CUDA: return "CUDA";
	case DLC_DEVICE_OPENCL: return "OpenCL";
	case DLC_DEVICE_METAL: return "Metal";
	default: return NULL;
	}
}

DlcStatus device_failed(
	const Device *d, DeviceContext *c, DeviceStream *s, int status, const char *where, DlcError *err)
{
	char words[sizeof err->text];
	bool lost = d->lost != NULL && d->lost(c) != 0;
	if (d->explain == NULL)
		return runtime_fail(
			err, lost ? DLC_LOST : DLC_KERNEL, "the %s failed%s with status %d", d->name, where, status);
	DlcStatus kind = d->explain(c, s, status, words, sizeof words);
	kind = lost ? DLC_LOST : kind;
	return runtime_fail(err, kind, "the %s failed%s: %s", d->name, where, words);
}

bool device_lost(const Device *d, DeviceContext *c, const char *where, DlcError *err)
{
	int status = d->lost != NULL ? d->lost(c) : 0;
	return status != 0 && device_failed(d, c, NULL, status, where, err) == DLC_LOST;
}

DlcStatus device_full(const Device *d)
{
	return d->on_host ? DLC_NO_MEMORY : DLC_DEVICE_MEMORY;
}

DlcStatus device_takes(const Device *d, const DeviceContext *c, const char *kernel, const uint32_t dim[DLC_LAUNCH_DIMS],
	const char *way_out, DlcError *err)
{
	const DeviceLimits *most = d->limits != NULL ? d->limits(c) : NULL;
	uint64_t threads = (uint64_t)dim[DLC_BLOCK] * dim[DLC_BLOCK + 1];
	for (int k = 0; most != NULL && k < DLC_SHARED; k++)
		if (dim[k] > most->dim[k])
			return runtime_fail(err, DLC_BAD_TARGET,
				"kernel %s has %u %s.%c, and the %s takes %u: %s", kernel, dim[k],
				k < DLC_BLOCK ? "blocks along grid" : "threads along block", 'x' + k % 3, d->name, most->dim[k],
				way_out);
	if (most == NULL || threads <= most->threads / dim[DLC_BLOCK + 2])
		return DLC_OK;
	return runtime_fail(err, DLC_BAD_TARGET,
		"kernel %s has blocks of %u x %u x %u threads, and the %s takes %u: %s", kernel, dim[DLC_BLOCK],
		dim[DLC_BLOCK + 1], dim[DLC_BLOCK + 2], d->name, most->threads, way_out);
}
