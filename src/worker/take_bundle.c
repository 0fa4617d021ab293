/*
 * A bundle comes whole, or as the bytes before its constants and the name of a file that has these: a tuner has one
 * such file for all networks that it compares.
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

/* Opens the file that has the constants; -1: it is refused. */
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
		runtime_fail(err, DLC_SYSTEM, "the constants of a bundle, %s, cannot be read: %s", name, strerror(errno));
	} else if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < m->nconstant) {
		refuse(err, "the constants of a bundle, %s, have fewer than %llu bytes, or are no file", name,
			(unsigned long long)m->nconstant);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Maps the constants behind the bundle's bytes, at their usual place. */
static DlcStatus join(LoadedProgram *p, const MsgBundle *m, const void *file, const char *path, DlcError *err)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), most = SIZE_MAX / 2;
	bool fits = m->nconstant > 0 && m->nconstant <= most && m->nfile <= most - m->nconstant;
	if (!fits || m->nfile == 0 || m->nfile % page != 0)
		return refuse(err, "no bundle has %llu bytes and %llu of constants behind them", (unsigned long long)m->nfile,
			(unsigned long long)m->nconstant);
	int fd = open_constants(m, path, err);
	if (fd < 0)
		return err->status;
	size_t all = (size_t)(m->nfile + m->nconstant);
	unsigned char *at = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool mapped = at != MAP_FAILED;
	if (mapped) {
		p->file = at;
		p->nfile = all;
		mapped = mprotect(at, (size_t)m->nfile, PROT_READ | PROT_WRITE) == 0 &&
			mmap(at + m->nfile, (size_t)m->nconstant, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED;
	}
	close(fd);
	if (mapped) {
		memcpy(at, file, (size_t)m->nfile);
		worker_as_mapped(at + m->nfile, (size_t)m->nconstant);
	}
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

DlcStatus worker_take_bundle(
	Worker *w, LoadedProgram *p, const MsgBundle *m, const void *file, const char *path, DlcError *err)
{
	return m->npath > 0 ? join(p, m, file, path, err) : copy(w, p, m, file, err);
}
