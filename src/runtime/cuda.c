/*
 * See device.h; the row of CUDA, for NVIDIA's GPUs. It uses the device's primary context, as other libraries do, so
 * that tensors and streams of PyTorch or others in this process may be used here. Each call makes the context current
 * and restores the thread's own.
 *
 * After a failure such as an illegal address a context does nothing any more. The context notes that, and each later
 * call returns the first failure.
 */
#include "runtime/cuda.h"

#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/driver.h"
#include "runtime/model.h"

enum { LOG = 4096, KERNELS = 64, CUBIN_MACHINE = 190 /* e_machine, EM_CUDA */ };

typedef struct Code {
	CuModule module;
	struct Code *next;
	int n;
	Kernel kernel[KERNELS];
} Code;

CudaApi cu;
CudaGraphApi cu_graph;
bool cu_graphs;
static const char *cu_lacks; /* what could not be found; NULL: all is there */
static int cu_started, cu_version; /* what cuInit returned; 1000 * major + 10 * minor */
static pthread_once_t cu_once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
#define CUDA(name, parameters) #name,
	static const char *const NAMES[] = { CUDA_FUNCTIONS }, *const GRAPH_NAMES[] = { CUDA_GRAPH_FUNCTIONS };
#undef CUDA
	cu_lacks = driver_open("libcuda.so.1", NAMES, sizeof NAMES / sizeof *NAMES, &cu);
	cu_graphs = driver_open("libcuda.so.1", GRAPH_NAMES, sizeof GRAPH_NAMES / sizeof *GRAPH_NAMES, &cu_graph) == NULL;
	if (cu_lacks == NULL) {
		cu.cuDriverGetVersion(&cu_version);
		cu_started = cu.cuInit(0);
	}
}

/* "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)" */
static const char *error_words(int status, char *out, size_t size)
{
	const char *name = NULL, *text = NULL;
	cu.cuGetErrorName(status, &name);
	cu.cuGetErrorString(status, &text);
	if (name == NULL)
		snprintf(out, size, "CUDA error %d", status);
	else
		snprintf(
			out, size, "%s%s%s%s", name, text != NULL ? " (" : "", text != NULL ? text : "", text != NULL ? ")" : "");
	return out;
}

int cuda_enter(const DeviceContext *c)
{
	int lost = atomic_load_explicit(&c->lost, memory_order_relaxed);
	return lost != 0 ? lost : cu.cuCtxPushCurrent_v2(c->context);
}

int cuda_leave(DeviceContext *c, int status)
{
	CuContext mine;
	cu.cuCtxPopCurrent_v2(&mine);
	if (status != CU_OK && driver_status(DLC_DEVICE_CUDA, status)->status == DLC_LOST)
		atomic_store(&c->lost, status);
	return status;
}

static int attribute(int what, int device)
{
	int value = 0;
	return cu.cuDeviceGetAttribute(&value, what, device) == CU_OK ? value : 0;
}

static uint32_t limit(int what, int device)
{
	int value = attribute(what, device);
	return value > 0 ? (uint32_t)value : INT32_MAX;
}

static void cuda_close(DeviceContext *c)
{
	if (c->fill != NULL && cu.cuCtxPushCurrent_v2(c->context) == CU_OK) {
		cu.cuStreamDestroy_v2(c->fill);
		cuda_leave(c, CU_OK);
	}
	if (c->context != NULL)
		cu.cuDevicePrimaryCtxRelease(c->device);
	free(c);
}

static int cuda_count(DlcError *err)
{
	char words[CUDA_NAME * 2];
	int n = 0;
	pthread_once(&cu_once, open_library);
	if (cu_lacks != NULL) {
		runtime_fail(err, DLC_SYSTEM,
			"there is no CUDA device: libcuda.so.1 %s%s; install NVIDIA's driver, of CUDA 9.0 or newer",
			cu_lacks[0] == 0 ? "cannot be opened" : "lacks ", cu_lacks);
		return 0;
	}
	int status = cu_started != CU_OK ? cu_started : cu.cuDeviceGetCount(&n);
	if (status == CU_OK && n > 0)
		return n;
	status = status != CU_OK ? status : CUDA_ERROR_NO_DEVICE;
	runtime_fail(err, DLC_SYSTEM, "the CUDA driver finds no device: %s; nvidia-smi must list one",
		error_words(status, words, sizeof words));
	return 0;
}

/* Device id, which there is. */
static DlcStatus device_get(int32_t id, int *out, DlcError *err)
{
	int n = cuda_count(err);
	if (n == 0)
		return DLC_SYSTEM;
	if (id < 0 || id >= n || cu.cuDeviceGet(out, id) != CU_OK)
		return runtime_fail(
			err, DLC_SYSTEM, "there is no CUDA device %d: this machine has %d, counted from 0", (int)id, n);
	return DLC_OK;
}

static int device_sm(int device)
{
	return 10 * attribute(CU_MAJOR, device) + attribute(CU_MINOR, device);
}

static DlcStatus cuda_describe(int32_t id, DeviceFacts *out, DlcError *err)
{
	static const struct {
		const char *key;
		int attribute;
		double unit;
	} ROW[] = { { "cores", CU_UNITS, 1 }, { "ghz", CU_CLOCK_KHZ, 1e-6 }, { "warp", CU_WARP, 1 },
		{ "block_threads", CU_BLOCK_THREADS, 1 }, { "unit_threads", CU_UNIT_THREADS, 1 },
		{ "unit_blocks", CU_UNIT_BLOCKS, 1 }, { "unit_shared_bytes", CU_UNIT_SHARED, 1 },
		{ "shared_bytes", CU_SHARED_MOST, 1 }, { "unit_registers", CU_UNIT_REGISTERS, 1 },
		{ "l2_bytes", CU_L2_BYTES, 1 }, { "pci_domain", CU_PCI_DOMAIN, 1 }, { "pci_bus", CU_PCI_BUS, 1 },
		{ "pci_slot", CU_PCI_SLOT, 1 } };
	int device;
	size_t bytes = 0;
	*out = (DeviceFacts){ .n = 0 };
	DlcStatus s = device_get(id, &device, err);
	if (s != DLC_OK)
		return s;
	cu.cuDeviceGetName(out->name, sizeof out->name, device);
	snprintf(out->driver, sizeof out->driver, "CUDA %d.%d", cu_version / 1000, cu_version % 1000 / 10);
	snprintf(out->features, sizeof out->features, "sm_%d", device_sm(device));
	for (size_t k = 0; k < sizeof ROW / sizeof *ROW; k++)
		device_number(out, ROW[k].key, attribute(ROW[k].attribute, device) * ROW[k].unit);
	if (cu.cuDeviceTotalMem_v2(&bytes, device) == CU_OK)
		device_number(out, "memory_bytes", (double)bytes);
	/* Memory transfers two bits on each wire in a cycle. */
	device_number(out, "memory_bytes_per_second",
		2e3 * attribute(CU_MEMORY_KHZ, device) * attribute(CU_MEMORY_BITS, device) / 8);
	return DLC_OK;
}

static DlcStatus cuda_open(int32_t id, DeviceContext **out, DlcError *err)
{
	int device;
	*out = NULL;
	DlcStatus s = device_get(id, &device, err);
	if (s != DLC_OK)
		return s;
	DeviceContext *c = calloc(1, sizeof *c);
	if (c == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for device %d", id);
	size_t bytes = 0;
	c->device = device;
	c->sm = device_sm(device);
	cu.cuDeviceTotalMem_v2(&bytes, device);
	c->bytes = bytes;
	for (int k = 0; k < 3; k++) {
		c->limits.dim[DLC_GRID + k] = limit(CU_GRID_X + k, device);
		c->limits.dim[DLC_BLOCK + k] = limit(CU_BLOCK_X + k, device);
	}
	c->limits.threads = limit(CU_BLOCK_THREADS, device);
	cu.cuDeviceGetName(c->name, sizeof c->name, device);
	int status = cu.cuDevicePrimaryCtxRetain(&c->context, device);
	if (status == CU_OK && (status = cuda_enter(c)) == CU_OK)
		status = cuda_leave(c, cu.cuStreamCreate(&c->fill, CU_STREAM_ALONE));
	if (status != CU_OK) {
		char words[CUDA_NAME * 2];
		runtime_fail(err, DLC_SYSTEM, "CUDA device %d (%s) cannot be opened: %s", id, c->name,
			error_words(status, words, sizeof words));
		cuda_close(c);
		return DLC_SYSTEM;
	}
	*out = c;
	return DLC_OK;
}

static uint64_t cuda_memory(const DeviceContext *c)
{
	return c->bytes;
}

static const DeviceLimits *cuda_limits(const DeviceContext *c)
{
	return &c->limits;
}

static uint64_t cuda_cache(const DeviceContext *c)
{
	return (uint64_t)attribute(CU_L2_BYTES, c->device);
}

/*
 * "sm_75": that or newer, since PTX runs on all later devices. "sm_80..sm_89": one of these, for machine code.
 * "sm_90a": exactly that.
 */
static bool cuda_has(const DeviceContext *c, const char *feature)
{
	if (strncmp(feature, "sm_", 3) != 0)
		return false;
	char *end;
	long sm = strtol(feature + 3, &end, 10);
	if (strncmp(end, "..sm_", 5) == 0)
		return sm <= c->sm && c->sm <= strtol(end + 5, NULL, 10);
	return end > feature + 3 && ((*end == 0 && sm <= c->sm) || (strcmp(end, "a") == 0 && sm == c->sm));
}

/* ---- memory ---- */

static void *cuda_alloc(DeviceContext *c, size_t bytes)
{
	CuAddress address = 0;
	int status = cuda_enter(c);
	if (status != CU_OK)
		return NULL;
	status = cu.cuMemAlloc_v2(&address, bytes > 0 ? bytes : 1);
	if (status == CU_OK) {
		status = cu.cuMemsetD8Async(address, 0, bytes > 0 ? bytes : 1, c->fill);
		if (status == CU_OK)
			status = cu.cuStreamSynchronize(c->fill);
		if (status != CU_OK)
			cu.cuMemFree_v2(address);
	}
	return cuda_leave(c, status) == CU_OK ? (void *)(uintptr_t)address : NULL;
}

static void cuda_release(DeviceContext *c, void *memory, size_t bytes)
{
	(void)bytes;
	if (cuda_enter(c) == CU_OK)
		cuda_leave(c, cu.cuMemFree_v2((uintptr_t)memory));
}

/* ---- code ---- */

/*
 * The driver gets no size of a cubin, an ELF file. So tables, sections and segments must lie inside of it. A cubin has
 * sections; a head without their number (e_shnum 0) is refused.
 */
static bool elf_fits(const unsigned char *image, size_t bytes)
{
	Elf64_Ehdr h;
	Elf64_Shdr s;
	Elf64_Phdr p;
	if (bytes < sizeof h)
		return false;
	memcpy(&h, image, sizeof h);
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != CUBIN_MACHINE ||
		h.e_shnum == 0 || h.e_shentsize != sizeof s || h.e_shoff > bytes ||
		(uint64_t)h.e_shnum * sizeof s > bytes - h.e_shoff || (h.e_phnum > 0 && h.e_phentsize != sizeof p) ||
		h.e_phoff > bytes || (uint64_t)h.e_phnum * sizeof p > bytes - h.e_phoff)
		return false;
	for (unsigned k = 0; k < h.e_phnum; k++) {
		memcpy(&p, image + h.e_phoff + k * sizeof p, sizeof p);
		if (p.p_filesz > 0 && (p.p_offset > bytes || p.p_filesz > bytes - p.p_offset))
			return false;
	}
	for (unsigned k = 0; k < h.e_shnum; k++) {
		memcpy(&s, image + h.e_shoff + k * sizeof s, sizeof s);
		if (s.sh_type != SHT_NOBITS && (s.sh_offset > bytes || s.sh_size > bytes - s.sh_offset))
			return false;
	}
	return true;
}

/* 10 * major + minor of the text's .version; 0: it has none. */
static int ptx_version(const char *text)
{
	const char *v = strstr(text, ".version");
	char *end;
	long major = v != NULL ? strtol(v + strlen(".version"), &end, 10) : 0;
	return major > 0 && *end == '.' ? (int)(10 * major + strtol(end + 1, NULL, 10)) : 0;
}

/* The log's first line that says something, for a sentence. */
static const char *log_line(char *log)
{
	char *line = strstr(log, "error");
	while (line != NULL && line > log && line[-1] != '\n')
		line--;
	line = line != NULL ? line : log;
	line += strspn(line, "\r\n");
	line[strcspn(line, "\r\n")] = 0;
	return line;
}

static DlcStatus load_status(int status)
{
	DlcStatus s = driver_status(DLC_DEVICE_CUDA, status)->status;
	return s == DLC_KERNEL ? DLC_BAD_TARGET : s;
}

static void load_failed(const DeviceContext *c, int status, const char *image, char *log, DlcError *err)
{
	static const struct {
		int ptx, cuda;
	} ROW[] = {
#define PTX(ptx, cuda) { ptx, cuda },
#include "runtime/cuda_ptx.def"
	};
	char words[CUDA_NAME * 2], need[64] = "a newer one";
	int ptx = image[0] != ELFMAG0 ? ptx_version(image) : 0, have = cu_version / 1000 * 10 + cu_version % 1000 / 10;
	for (size_t k = 0; k < sizeof ROW / sizeof *ROW; k++)
		if (ROW[k].ptx == ptx)
			snprintf(need, sizeof need, "one for CUDA %d.%d", ROW[k].cuda / 10, ROW[k].cuda % 10);
	const DriverStatus *row = driver_status(DLC_DEVICE_CUDA, status);
	const char *line = log_line(log);
	line = line[0] != 0 ? line : row->words;
	if (status == CUDA_ERROR_INVALID_IMAGE && image[0] == ELFMAG0)
		runtime_fail(err, DLC_BAD_TARGET,
			"the driver is for CUDA %d.%d, and does not take this machine code: install a newer driver, or compile the "
			"bundle with PTX",
			have / 10, have % 10);
	else if (status == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
		runtime_fail(err, DLC_BAD_TARGET,
			"it is PTX %d.%d, and the driver is for CUDA %d.%d: install a newer driver, at least %s", ptx / 10,
			ptx % 10, have / 10, have % 10, need);
	else if (status == CUDA_ERROR_NO_BINARY_FOR_GPU)
		runtime_fail(
			err, DLC_BAD_TARGET, "it is for another GPU than %s (sm_%d): compile it for this device", c->name, c->sm);
	else
		runtime_fail(err, load_status(status), "%s%s%.300s",
			error_words(status, words, sizeof words), line[0] != 0 ? ": " : "", line);
}

static void *cuda_code_load(DeviceContext *c, const void *image, size_t bytes, bool in_place, DlcError *err)
{
	const int option[] = { CU_JIT_LOG, CU_JIT_LOG_BYTES };
	char *log = calloc(LOG + 1, 1);
	void *value[] = { log, (void *)(uintptr_t)LOG };
	bool elf = bytes >= SELFMAG && memcmp(image, ELFMAG, SELFMAG) == 0;
	(void)in_place;
	if (elf && !elf_fits(image, bytes)) {
		runtime_fail(err, DLC_BAD_FILE, "its machine code is damaged: compile it again");
		free(log);
		return NULL;
	}
	Code *code = calloc(1, sizeof *code);
	if (log == NULL || code == NULL) {
		runtime_fail(err, DLC_NO_MEMORY, "there is no memory for %zu bytes of code", bytes);
		free(log);
		free(code);
		return NULL;
	}
	int status = cuda_enter(c);
	if (status == CU_OK)
		status = cuda_leave(c, cu.cuModuleLoadDataEx(&code->module, image, 2, option, value));
	if (status != CU_OK) {
		load_failed(c, status, image, log, err);
		free(code);
		code = NULL;
	}
	free(log);
	return code;
}

static void cuda_code_release(DeviceContext *c, const void *image, void *code, size_t bytes)
{
	Code *first = code;
	(void)image, (void)bytes;
	if (cuda_enter(c) == CU_OK)
		cuda_leave(c, cu.cuModuleUnload(first->module));
	for (Code *k = first, *next; k != NULL; k = next) {
		next = k->next;
		free(k);
	}
}

static void *cuda_kernel(DeviceContext *c, void *code, const char *name, uint64_t offset, DlcError *err)
{
	char words[CUDA_NAME * 2];
	Code *k = code;
	(void)offset;
	while (k->n == KERNELS && k->next != NULL)
		k = k->next;
	if (k->n == KERNELS && (k->next = calloc(1, sizeof *k)) != NULL)
		k = k->next;
	if (k->n == KERNELS) {
		runtime_fail(err, DLC_NO_MEMORY, "there is no memory for kernel %s", name);
		return NULL;
	}
	Kernel *kernel = &k->kernel[k->n];
	kernel_symbol(name, kernel->name);
	int status = cuda_enter(c);
	if (status == CU_OK)
		status = cuda_leave(c, cu.cuModuleGetFunction(&kernel->function, ((Code *)code)->module, kernel->name));
	if (status != CU_OK && status != CUDA_ERROR_NOT_FOUND) /* a driver may load the code at this first use */
		runtime_fail(err, load_status(status), "kernel %s: %s", name, error_words(status, words, sizeof words));
	k->n += status == CU_OK;
	return status == CU_OK ? kernel : NULL;
}

/* ---- failures ---- */

static int cuda_lost(const DeviceContext *c)
{
	return atomic_load(&c->lost);
}

/* Why a launch was not taken, if its numbers tell. */
static bool explain_launch(int device, const char *name, DeviceStream *s, char *out, size_t size)
{
	DeviceLaunch how;
	const Kernel *k = s != NULL ? cuda_refused(s, &how) : NULL;
	if (k == NULL)
		return false;
	int threads = 0, registers = 0, shared = 0, room = attribute(CU_SHARED_MOST, device);
	cu.cuFuncGetAttribute(&threads, CU_FUNC_THREADS, k->function);
	cu.cuFuncGetAttribute(&registers, CU_FUNC_REGISTERS, k->function);
	cu.cuFuncGetAttribute(&shared, CU_FUNC_SHARED, k->function);
	uint64_t want = (uint64_t)how.dim[DLC_BLOCK] * how.dim[DLC_BLOCK + 1] * how.dim[DLC_BLOCK + 2];
	uint64_t bytes = (uint64_t)how.dim[DLC_SHARED] + (unsigned)shared;
	if (threads > 0 && want > (unsigned)threads)
		snprintf(out, size,
			"kernel %s has blocks of %llu threads, and with its %d registers there may be %d: take another schedule",
			k->name, (unsigned long long)want, registers, threads);
	else if (room > 0 && bytes > (unsigned)room)
		snprintf(out, size,
			"kernel %s needs %llu bytes of shared memory, and a block of %s has %d: take another schedule", k->name,
			(unsigned long long)bytes, name, room);
	else
		return false;
	return true;
}

static DlcStatus cuda_explain(DeviceContext *c, DeviceStream *s, int status, char *out, size_t size)
{
	char words[CUDA_NAME * 2];
	const DriverStatus *row = driver_status(DLC_DEVICE_CUDA, status);
	error_words(status, words, sizeof words);
	if (row->status == DLC_LOST)
		snprintf(out, size,
			"%s; device %d (%s) is lost to this process: start the program again, with CUDA_LAUNCH_BLOCKING=1 and a "
			"profile to learn which step failed",
			words, c->device, c->name);
	else if (row->status != DLC_KERNEL || !explain_launch(c->device, c->name, s, out, size))
		snprintf(out, size, "%s%s%s", words, row->words[0] != 0 ? ": " : "", row->words);
	return row->status;
}

const Device device_cuda = {
	.name = "CUDA device",
	.type = DLC_DEVICE_CUDA,
	.open = cuda_open,
	.close = cuda_close,
	.memory = cuda_memory,
	.limits = cuda_limits,
	.has = cuda_has,
	.cache = cuda_cache,
	.alloc = cuda_alloc,
	.release = cuda_release,
	.code_load = cuda_code_load,
	.code_release = cuda_code_release,
	.kernel = cuda_kernel,
	.stream_open = cuda_stream_open,
	.stream_close = cuda_stream_close,
	.copy = cuda_copy,
	.fill = cuda_fill,
	.launch = cuda_launch,
	.synchronize = cuda_synchronize,
	.mark = cuda_mark,
	.time = cuda_time,
	.count = cuda_count,
	.describe = cuda_describe,
	.record = cuda_record,
	.record_end = cuda_record_end,
	.replay = cuda_replay,
	.recording_release = cuda_recording_release,
	.lost = cuda_lost,
	.explain = cuda_explain,
	.stream_handle = cuda_stream_handle,
};
