/* See library.h. */
#include "base/library.h"

#include "base/guard.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool open_locked(Library *l, const char *work, const char *place, Err *err)
{
	if (l->bytes != 0 && !guard_memory_left(l->bytes))
		return fail(err, ERR_MEMORY, place, "%s, and less than %zu MB of address space are left for %s", work,
			l->bytes >> 20, l->soname);
	void *handle = dlopen(l->soname, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL)
		return fail(err, ERR_MISSING, place, "%s, and %s: install Debian's package %s", work, dlerror(), l->package);
	for (size_t k = 0; k < l->names; k++) {
		void *at = dlsym(handle, l->name[k]);
		if (at == NULL)
			return fail(err, ERR_MISSING, place, "%s, and %s lacks %s: install Debian's package %s", work, l->soname,
				l->name[k], l->package);
		memcpy((char *)l->api + k * sizeof at, &at, sizeof at);
	}
	return true;
}

bool library_open(Library *l, const char *work, const char *place, Err *err)
{
	pthread_mutex_lock(&lock);
	bool ok = l->opened = l->opened || open_locked(l, work, place, err);
	pthread_mutex_unlock(&lock);
	return ok;
}
