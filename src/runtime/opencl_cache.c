/*
 * See opencl_cache.h. A file is a head and the driver's program. Its name has two hashes: of the text, and of
 * everything else that the program depends on. A damaged file, and one that the driver refuses, counts as missing and
 * is replaced. A file gets its name when it is complete, so no reader sees half of it.
 *
 * Nothing is kept for a CPU: its driver compiles a kernel at the first launch, for the size of the block. PoCL keeps
 * compiled kernels itself, and reading a program from it takes longer than building one (docs/devices.md).
 */
#include "runtime/opencl_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/bundle.h"

enum { PATH = 1024, FOLDER = PATH - 64, MOST = 256 << 20 /* bytes of a file */ };

typedef struct Head {
	char magic[8];
	uint64_t sum; /* of what follows in the file */
	OpenclKey key;
	uint64_t bytes; /* behind the head */
} Head;

static const char MAGIC[8] = "dlcclbin";
static char folder[FOLDER]; /* empty: none */

DlcStatus dlc_code_folder(const char *path)
{
	size_t n = path != NULL ? strlen(path) : 0;
	folder[0] = 0;
	if (n >= FOLDER)
		return DLC_BAD_ARGUMENT;
	memcpy(folder, path != NULL ? path : "", n + 1);
	return DLC_OK;
}

/* Code that others may write is not run. A missing folder is made for this user alone. */
static bool is_own(void)
{
	struct stat st;
	if (stat(folder, &st) != 0)
		return folder[0] != 0 && errno == ENOENT;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 022) == 0;
}

bool opencl_cache_key(const DeviceContext *c, const char *text, size_t n, const char *options, OpenclKey *out)
{
	static const uint32_t WHAT[] = { CL_DEVICE_NAME, CL_DEVICE_VERSION, CL_DRIVER_VERSION };
	char facts[2048];
	if (c->is_cpu || !is_own())
		return false;
	size_t end = (size_t)snprintf(facts, sizeof facts, "%s\n", options);
	for (size_t k = 0; k < sizeof WHAT / sizeof *WHAT; k++) {
		size_t bytes = 0;
		if (cl.clGetDeviceInfo(c->device, WHAT[k], sizeof facts - end, facts + end, &bytes) != CL_OK)
			return false;
		end += bytes;
	}
	*out = (OpenclKey){ bundle_sum(text, n), bundle_sum(facts, end) };
	return true;
}

static void path_of(const OpenclKey *key, char out[PATH])
{
	snprintf(out, PATH, "%s/%016llx%016llx.code.opencl", folder, (unsigned long long)key->text,
		(unsigned long long)key->facts);
}

/* The file's content, a Head and the program. NULL: the file is missing or incomplete. */
static Head *read_file(const char *path, const OpenclKey *key)
{
	struct stat st;
	Head *h = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size > (off_t)sizeof *h &&
		st.st_size <= MOST)
		h = malloc((size_t)st.st_size);
	size_t n = h != NULL ? (size_t)st.st_size : 0, done = 0;
	for (ssize_t r = 1; done < n && r > 0; done += r > 0 ? (size_t)r : 0)
		r = read(fd, (char *)h + done, n - done);
	bool whole = h != NULL && done == n && memcmp(h->magic, MAGIC, sizeof MAGIC) == 0 &&
	             h->bytes == n - sizeof *h && memcmp(&h->key, key, sizeof *key) == 0 &&
	             bundle_sum(&h->key, n - offsetof(Head, key)) == h->sum;
	if (whole)
		futimens(fd, NULL); /* marks the file as used now: the oldest files are removed first */
	close(fd);
	if (!whole) {
		free(h);
		h = NULL;
	}
	return h;
}

ClProgram opencl_cache_find(const DeviceContext *c, const OpenclKey *key, const char *options)
{
	char path[PATH];
	int32_t status = CL_OK;
	path_of(key, path);
	Head *h = read_file(path, key);
	if (h == NULL)
		return NULL;
	const unsigned char *at = (const unsigned char *)(h + 1);
	size_t bytes = (size_t)h->bytes;
	ClProgram p = cl.clCreateProgramWithBinary(c->context, 1, &c->device, &bytes, &at, NULL, &status);
	if (p != NULL && cl.clBuildProgram(p, 1, &c->device, options, NULL, NULL) != CL_OK) {
		cl.clReleaseProgram(p);
		p = NULL;
	}
	free(h);
	return p;
}

/* Makes the folder and its parents, for this user alone. */
static void make_folder(void)
{
	char path[PATH];
	memcpy(path, folder, sizeof folder);
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
	mkdir(path, 0700);
}

/* A file that no other process has, and none has left; mode 0600. */
static int open_temp(const char *path, char *out, size_t size)
{
	snprintf(out, size, "%s.XXXXXX", path);
	return mkostemp(out, O_CLOEXEC);
}

static void write_file(const char *path, const void *bytes, size_t n)
{
	char temp[PATH + 32];
	int fd = open_temp(path, temp, sizeof temp);
	if (fd < 0 && errno == ENOENT) {
		make_folder();
		fd = open_temp(path, temp, sizeof temp);
	}
	if (fd < 0)
		return;
	size_t done = 0;
	for (ssize_t w = 1; done < n && w > 0; done += w > 0 ? (size_t)w : 0)
		w = write(fd, (const char *)bytes + done, n - done);
	if (close(fd) != 0 || done < n || rename(temp, path) != 0)
		unlink(temp);
}

void opencl_cache_store(const OpenclKey *key, ClProgram p)
{
	char path[PATH];
	size_t bytes = 0;
	if (cl.clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_OK || bytes == 0 ||
		bytes > MOST)
		return;
	Head *h = calloc(1, sizeof *h + bytes);
	unsigned char *at = (unsigned char *)(h + 1);
	if (h != NULL && cl.clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof at, &at, NULL) == CL_OK) {
		memcpy(h->magic, MAGIC, sizeof MAGIC);
		h->key = *key;
		h->bytes = bytes;
		h->sum = bundle_sum(&h->key, sizeof *h - offsetof(Head, key) + bytes);
		path_of(key, path);
		write_file(path, h, sizeof *h + bytes);
	}
	free(h);
}
