/* See driver.h. */
#include "runtime/driver.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>

const char *driver_open(const char *library, const char *const *name, int n, void *api)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	const char *lacks = handle == NULL ? "" : NULL;
	for (int k = 0; k < n; k++) {
		void *f = handle != NULL ? dlsym(handle, name[k]) : NULL;
		memcpy((char *)api + (size_t)k * sizeof f, &f, sizeof f);
		if (f == NULL && lacks == NULL)
			lacks = name[k];
	}
	return lacks;
}

void driver_keep_signals(void (*first)(void))
{
	enum { SIGNALS = 32 };
	struct sigaction before[SIGNALS];
	for (int k = 1; k < SIGNALS; k++)
		sigaction(k, NULL, &before[k]);
	first();
	for (int k = 1; k < SIGNALS; k++)
		if (k != SIGFPE && k != SIGKILL && k != SIGSTOP)
			sigaction(k, &before[k], NULL);
}
