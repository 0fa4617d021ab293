/*
 * A bundle comes whole, or as the bytes before its constants and the name of a file with these: a tuner has them once
 * for all networks that it compares.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/model.h"
#include "worker/worker.h"

#define refuse(err, ...) runtime_fail((err), DLC_BAD_ARGUMENT, __VA_ARGS__)

/* The file with the constants, of that many bytes at least; -1: it is refused. */
static int open_constants(const MsgBundle *m, const char *path, DlcError *err)
{
	char name[256];
	struct stat st;
	if (m->npath >= sizeof name) {
		refuse(err, "the path of a bundle's constants has %llu bytes, 255 are allowed", (unsigned long long)m->npath);
		return -1;
	}
	memcpy(name, path, (size_t)m->npath);
	name[m->npath] = 0;
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) != 0) {
		refuse(err, "the constants of a bundle are not in %s: %s", name, strerror(errno));
	} else if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < m->apart) {
		refuse(err, "the constants of a bundle are not in %s: it is no file of %llu bytes", name,
			(unsigned long long)m->apart);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Maps them behind the bytes, where they lie in a whole bundle. */
static DlcStatus join(LoadedProgram *p, const MsgBundle *m, const void *file, const char *path, DlcError *err)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), most = SIZE_MAX / 2;
	if (m->nfile == 0 || m->nfile % page != 0 || m->apart == 0 || m->apart > most || m->nfile > most - m->apart)
		return refuse(err, "no bundle has %llu bytes and %llu of constants behind them", (unsigned long long)m->nfile,
			(unsigned long long)m->apart);
	int fd = open_constants(m, path, err);
	if (fd < 0)
		return DLC_BAD_ARGUMENT;
	size_t all = (size_t)(m->nfile + m->apart);
	unsigned char *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	bool mapped = at != MAP_FAILED;
	if (mapped) {
		p->file = at;
		p->nfile = all;
		memcpy(at, file, (size_t)m->nfile);
		mapped = mmap(at + m->nfile, (size_t)m->apart, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED;
	}
	close(fd);
	return mapped ? DLC_OK : runtime_fail(err, DLC_NO_MEMORY, "there is no room for %zu bytes of a bundle", all);
}

static DlcStatus copy(Worker *w, LoadedProgram *p, const MsgBundle *m, const void *file, DlcError *err)
{
	unsigned char *at;
	DlcStatus s = site_alloc(&w->site[SITE_HOST], (size_t)m->nfile, &at, err);
	if (s != DLC_OK)
		return s;
	p->file = at;
	p->nfile = (size_t)m->nfile;
	worker_as_mapped(at, p->nfile);
	memcpy(at, file, p->nfile);
	return DLC_OK;
}

DlcStatus bundle_take(
	Worker *w, LoadedProgram *p, const MsgBundle *m, const void *file, const char *path, DlcError *err)
{
	return m->npath > 0 ? join(p, m, file, path, err) : copy(w, p, m, file, err);
}
