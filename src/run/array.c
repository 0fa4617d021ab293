/* See array.h: files into memory, and arrays into the layout that kernels read. */
#include "run/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/model.h"

enum { FIRST_READ = 1 << 16 };

static DlcStatus read_all(int fd, size_t hint, unsigned char **bytes, size_t *size)
{
	size_t cap = hint + FIRST_READ, n = 0;
	unsigned char *p = malloc(cap);
	while (p != NULL) {
		ssize_t got = file_read_some(fd, p + n, cap - n);
		if (got < 0) {
			free(p);
			return DLC_SYSTEM;
		}
		n += (size_t)got;
		if (got == 0) {
			*bytes = p;
			*size = n;
			return DLC_OK;
		}
		if (n < cap)
			continue;
		unsigned char *more = realloc(p, cap * 2);
		if (more == NULL)
			free(p);
		p = more;
		cap *= 2;
	}
	return DLC_NO_MEMORY;
}

DlcStatus array_read_file(const char *path, unsigned char **bytes, size_t *size, DlcError *err)
{
	bool std = strcmp(path, "-") == 0;
	int fd = std ? STDIN_FILENO : file_open_now(path);
	struct stat st = { 0 };
	DlcStatus s = fd < 0 || fstat(fd, &st) != 0 ? DLC_SYSTEM : DLC_OK;
	if (s == DLC_OK)
		s = read_all(fd, S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 0,
			bytes, size);
	int code = errno;
	if (fd >= 0 && !std)
		close(fd);
	if (s == DLC_NO_MEMORY)
		return runtime_fail(err, s, "%s: there is no memory for the file", path);
	if (s == DLC_OK && *size == 0 && S_ISFIFO(st.st_mode) && !std) {
		free(*bytes);
		return runtime_fail(err, DLC_BAD_FILE, "%s: it is a pipe to which no program writes", path);
	}
	if (s != DLC_OK)
		return runtime_fail(err, code == EACCES || code == EIO ? DLC_SYSTEM : DLC_BAD_FILE,
			"%s: %s", path, strerror(code));
	return DLC_OK;
}

void array_free(Array *a)
{
	free(a->owned);
	a->owned = NULL;
}

DlcTensor array_tensor(Array *a)
{
	return (DlcTensor){
		.data = (void *)(uintptr_t)a->data,
		.device = { 1, 0 },
		.ndim = a->ndim,
		.dtype = a->dtype,
		.shape = a->shape,
	};
}

static void copy_element(
	const Array *a, unsigned char *to, const unsigned char *from, int64_t width)
{
	if (!a->swapped) {
		memcpy(to, from, (size_t)width);
		return;
	}
	for (int64_t k = 0; k < width; k++)
		to[k] = from[width - 1 - k];
}

/* Walks the elements in row-major order, counting like an odometer. */
static void copy_transposed(const Array *a, unsigned char *to)
{
	int64_t width = a->dtype.bits / 8, at[ARRAY_RANK] = { 0 }, stride[ARRAY_RANK], step = 1;
	for (int d = 0; d < a->ndim; d++) {
		stride[d] = step;
		step *= a->shape[d];
	}
	for (int64_t i = 0, from = 0; i < a->bytes / width; i++) {
		copy_element(a, to + i * width, a->data + from * width, width);
		for (int d = a->ndim - 1; d >= 0; d--) {
			from += stride[d];
			if (++at[d] < a->shape[d])
				break;
			from -= stride[d] * a->shape[d];
			at[d] = 0;
		}
	}
}

void array_copy(const Array *a, void *to)
{
	int64_t width = a->dtype.bits / 8;
	if (a->bytes == 0)
		return;
	if (a->fortran && a->ndim > 1) {
		copy_transposed(a, to);
	} else if (a->swapped) {
		for (int64_t i = 0; i < a->bytes; i += width)
			copy_element(a, (unsigned char *)to + i, a->data + i, width);
	} else {
		memcpy(to, a->data, (size_t)a->bytes);
	}
}
