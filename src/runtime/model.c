/*
 * Opening a bundle and asking what it is.  A file is mapped whole and privately; its code becomes
 * executable where it lies, its constants are read from the mapping.
 */
#include "runtime/model.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/device_failure.h"

const char *dlc_runtime_version(void)
{
	return DLC_VERSION;
}

static void release_code(DlcModel *m)
{
	for (uint32_t k = 0; m->code != NULL && k < m->h->image.count; k++)
		if (m->code[k] != NULL) {
			const BundleImage *image = &m->image[k];
			m->device->code_release(
				m->context, m->base + m->h->code_offset + image->offset, m->code[k], image->bytes);
			m->code[k] = NULL;
		}
}

#define LOADING " while it loaded the code"

static DlcStatus load_variant(DlcModel *m, uint32_t v, DlcError *err)
{
	const BundleHeader *h = m->h;
	uint32_t first = v * m->nimage;
	for (uint32_t k = first; k < first + m->nimage; k++) {
		const BundleImage *image = &m->image[k];
		bool in_place = m->mapped && image->offset == 0 && h->image.count == 1;
		DlcError why = { .status = DLC_BAD_TARGET, .text = "compile it for this device" };
		m->code[k] = m->device->code_load(
			m->context, m->base + h->code_offset + image->offset, image->bytes, in_place, &why);
		if (m->code[k] == NULL && m->device->on_host)
			return runtime_fail(err, DLC_SYSTEM,
				"the bundle's code cannot be made executable: %s; let this program have executable "
				"memory (PROT_EXEC), which a hardened system forbids",
				strerror(errno));
		if (m->code[k] == NULL && device_lost(m->device, m->context, LOADING, err))
			return DLC_LOST;
		if (m->code[k] == NULL)
			return runtime_fail(err, why.status,
				"the %s does not take the bundle's code: %.400s", m->device->name, why.text);
	}
	for (uint32_t k = 0; k < h->entry.count; k++) {
		const BundleEntry *e = &m->entry[k];
		const char *name = m->text + e->name;
		DlcError why = { .status = DLC_BAD_FILE };
		m->kernel[k] = m->device->kernel(m->context, m->code[first + e->image], name, e->offset, &why);
		if (m->kernel[k] == NULL && device_lost(m->device, m->context, LOADING, err))
			return DLC_LOST;
		if (m->kernel[k] == NULL && why.status == DLC_BAD_FILE)
			return runtime_fail(err, DLC_BAD_FILE, "the bundle's code has no kernel %s: compile it again", name);
		if (m->kernel[k] == NULL)
			return runtime_fail(err, why.status,
				"the %s does not take the bundle's code: %.400s", m->device->name, why.text);
	}
	return DLC_OK;
}

/* The first variant that the device takes; the failure of the last one that it could have taken. */
static DlcStatus load_code(DlcModel *m, DlcError *err)
{
	DlcStatus s = DLC_BAD_TARGET;
	char missing[8];
	if (bundle_sum(m->base + m->h->code_offset, m->h->code_bytes) != m->h->code_sum)
		return runtime_fail(err, DLC_BAD_FILE,
			"damaged bundle: the checksum of its code does not match; compile it "
			"again");
	for (uint32_t v = 0; v < m->nvariant && s != DLC_OK; v++)
		if (bundle_variant_fits(m, v, missing, sizeof missing) && (s = load_variant(m, v, err)) != DLC_OK)
			release_code(m);
	return s;
}

#define COPYING " while constants were copied"

/* On the host they are read from the bundle; to another device they are copied. */
static DlcStatus load_constants(DlcModel *m, DlcError *err)
{
	const unsigned char *here = m->base + m->h->const_offset;
	size_t bytes = (size_t)m->h->const_bytes;
	if (m->device->on_host)
		m->constants = (unsigned char *)(uintptr_t)here;
	if (m->device->on_host || bytes == 0) /* a driver may refuse to allocate nothing */
		return DLC_OK;
	DeviceStream *s = m->device->stream_open(m->context);
	m->constants = s != NULL ? m->device->alloc(m->context, bytes) : NULL;
	int status = m->constants != NULL ? m->device->copy(s, m->constants, here, bytes, DEVICE_UP) : 0;
	if (s != NULL) {
		int late = m->device->synchronize(s);
		status = status != 0 ? status : late;
		m->device->stream_close(s);
	}
	if (status != 0)
		return device_failed(m->device, m->context, NULL, status, COPYING, err);
	if (m->constants == NULL && device_lost(m->device, m->context, COPYING, err))
		return DLC_LOST;
	return m->constants != NULL ? DLC_OK
	                            : runtime_fail(err, device_full(m->device),
									  "the %s has no memory for %llu bytes of constants: end other programs on it",
									  m->device->name, (unsigned long long)bytes);
}

/* Takes over the mapping, also where it fails. */
static DlcStatus model_open(
	const Device *device, int id, const void *bytes, size_t size, bool mapped, DlcModel **out, DlcError *err)
{
	DlcModel *m = calloc(1, sizeof *m);
	if (m == NULL) {
		if (mapped)
			munmap((void *)(uintptr_t)bytes, size);
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for a model");
	}
	*m = (DlcModel){ .base = bytes, .size = size, .mapped = mapped, .device = device, .device_id = id };
	DlcStatus s = bundle_check(m, err);
	if (s == DLC_OK) {
		m->shape = calloc(m->h->dim.count + (size_t)1, sizeof *m->shape);
		m->code = calloc(m->h->image.count + (size_t)1, sizeof *m->code);
		m->kernel = calloc(m->h->entry.count + (size_t)1, sizeof *m->kernel);
		if (m->shape == NULL || m->code == NULL || m->kernel == NULL)
			s = runtime_fail(err, DLC_NO_MEMORY, "there is no memory for a model");
	}
	for (uint32_t i = 0; i < m->h->dim.count && s == DLC_OK; i++) {
		const BundleDim *d = &m->dim[i];
		bool fixed = d->sym[0] < 0 && d->sym[1] < 0;
		m->shape[i] = fixed ? bundle_dim_value(d, NULL) : -1;
	}
	if (s == DLC_OK)
		s = load_code(m, err);
	if (s == DLC_OK)
		s = load_constants(m, err);
	if (s != DLC_OK) {
		dlc_model_close(m);
		return s;
	}
	*out = m;
	return DLC_OK;
}

DlcStatus model_open_on(const Device *device, int id, const void *bytes, size_t size, DlcModel **out, DlcError *err)
{
	*out = NULL;
	if (bytes == NULL || (uintptr_t)bytes % BUNDLE_BUFFER != 0)
		return runtime_fail(
			err, DLC_BAD_ARGUMENT, "a bundle in memory must start at a multiple of %d bytes", BUNDLE_BUFFER);
	return model_open(device, id, bytes, size, false, out, err);
}

DlcStatus dlc_model_open_memory(const void *bytes, size_t size, DlcModel **out, DlcError *err)
{
	return model_open_on(NULL, 0, bytes, size, out, err);
}

DlcStatus dlc_model_open_memory_on(int id, const void *bytes, size_t size, DlcModel **out, DlcError *err)
{
	return model_open_on(NULL, id, bytes, size, out, err);
}

static DlcStatus system_error(DlcError *err, int code)
{
	bool missing = code == ENOENT || code == ENOTDIR || code == EISDIR || code == ELOOP || code == ENAMETOOLONG;
	DlcStatus s = missing ? DLC_BAD_FILE : code == ENOMEM ? DLC_NO_MEMORY : DLC_SYSTEM;
	return runtime_fail(err, s, "%s", strerror(code));
}

static DlcStatus map_file(const char *path, void **bytes, size_t *size, DlcError *err)
{
	/* A pipe or a device is refused below; opening one must not wait for its other end. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return system_error(err, errno);
	struct stat st;
	DlcStatus s = DLC_OK;
	if (fstat(fd, &st) != 0)
		s = system_error(err, errno);
	else if (!S_ISREG(st.st_mode))
		s = runtime_fail(err, DLC_BAD_FILE, "not a regular file, so it cannot be mapped");
	else if (st.st_size < (off_t)sizeof(BundleHeader) || (uint64_t)st.st_size > SIZE_MAX / 2)
		s = runtime_fail(err, DLC_BAD_FILE, "not a bundle: %lld bytes", (long long)st.st_size);
	else {
		*size = (size_t)st.st_size;
		*bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (*bytes == MAP_FAILED)
			s = system_error(err, errno);
	}
	close(fd);
	return s;
}

DlcStatus dlc_model_open_on(int id, const char *path, DlcModel **out, DlcError *err)
{
	DlcError why = { 0 };
	void *bytes = NULL;
	size_t size = 0;
	*out = NULL;
	DlcStatus s = map_file(path, &bytes, &size, &why);
	if (s == DLC_OK)
		s = model_open(NULL, id, bytes, size, true, out, &why);
	return s == DLC_OK ? s : runtime_fail(err, s, "%s: %s", path, why.text);
}

DlcStatus dlc_model_open(const char *path, DlcModel **out, DlcError *err)
{
	return dlc_model_open_on(0, path, out, err);
}

void dlc_model_close(DlcModel *m)
{
	if (m == NULL)
		return;
	release_code(m);
	if (m->constants != NULL && !m->device->on_host)
		m->device->release(m->context, m->constants, m->h->const_bytes);
	if (m->context != NULL)
		m->device->close(m->context);
	if (m->mapped)
		munmap((void *)(uintptr_t)m->base, m->size);
	free(m->code);
	free(m->kernel);
	free(m->shape);
	free(m);
}

DlcStatus dlc_model_verify(const DlcModel *m, DlcError *err)
{
	if (bundle_sum(m->base + m->h->const_offset, m->h->const_bytes) != m->h->const_sum)
		return runtime_fail(err, DLC_BAD_FILE,
			"damaged bundle: the checksum of its constants does not match; compile it "
			"again");
	return DLC_OK;
}

const char *dlc_model_info(const DlcModel *m, const char *key)
{
	for (uint32_t i = 0; i < m->h->info.count; i++)
		if (strcmp(m->text + m->info[i].key, key) == 0)
			return m->text + m->info[i].value;
	return NULL;
}

int dlc_model_threads(const DlcModel *m)
{
	return (int)m->h->threads;
}

int dlc_model_count(const DlcModel *m, DlcRole role)
{
	return (int)(role == DLC_INPUT ? m->ninput : m->h->tensor.count - m->ninput);
}

static const BundleTensor *tensor_row(const DlcModel *m, DlcRole role, int index)
{
	bool known = role == DLC_INPUT || role == DLC_OUTPUT;
	if (!known || index < 0 || index >= dlc_model_count(m, role))
		return NULL;
	return &m->tensor[(role == DLC_INPUT ? 0 : m->ninput) + (uint32_t)index];
}

int dlc_model_find(const DlcModel *m, DlcRole role, const char *name)
{
	for (int i = 0; i < dlc_model_count(m, role); i++)
		if (strcmp(dlc_model_name(m, role, i), name) == 0)
			return i;
	return -1;
}

const char *dlc_model_name(const DlcModel *m, DlcRole role, int index)
{
	const BundleTensor *t = tensor_row(m, role, index);
	return t != NULL ? m->text + t->name : NULL;
}

DlcStatus dlc_model_tensor(const DlcModel *m, DlcRole role, int index, DlcTensor *out)
{
	const BundleTensor *t = tensor_row(m, role, index);
	if (t == NULL)
		return DLC_BAD_ARGUMENT;
	*out = (DlcTensor){
		.device = { m->device->type, m->device_id },
		.ndim = (int32_t)t->ndim,
		.dtype = { t->code, t->bits, 1 },
		.shape = m->shape + t->dim,
	};
	return DLC_OK;
}

int dlc_model_steps(const DlcModel *m)
{
	return (int)m->h->op.count;
}

const char *dlc_model_step(const DlcModel *m, int step)
{
	bool there = step >= 0 && step < dlc_model_steps(m);
	return there ? m->text + m->op[step].name : NULL;
}
