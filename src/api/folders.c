/*
 * See folders.h. The same layout is found from the build folder (dlc, dlc-worker and libdlc.so at its top, the
 * targets in ../configs) and from an installed tree that was moved (bin/dlc, lib/libdlc.so or lib/TRIPLE/libdlc.so,
 * share/dlc).
 */
#include "api/folders.h"

#include "base/file.h"
#include "base/text.h"
#include "base/user_folder.h"

#include <dlfcn.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of the file that this code was loaded from, links resolved. */
static const char *folder_of_code(Arena *a)
{
	static const char anchor;
	Dl_info info;
	char self[FILE_PATH], *library = NULL;
	if (!file_of_program(self))
		self[0] = 0;
	/* Of a program this is the name that it was started by, which may be anything. */
	if (dladdr(&anchor, &info) != 0 && info.dli_fname != NULL && strstr(info.dli_fname, ".so") != NULL)
		library = realpath(info.dli_fname, NULL);
	char *path = arena_printf(a, "%s", library != NULL ? library : self), *slash = strrchr(path, '/');
	free(library);
	if (slash == NULL)
		return ".";
	slash[slash == path] = 0;
	return path;
}

void folders_add_targets(Folders *f, Arena *a, const char *const *dir, size_t n)
{
	VEC(const char *) list = { 0 };
	for (size_t i = 0; i < n; i++)
		vec_push(a, &list, arena_printf(a, "%s", dir[i]));
	for (size_t i = 0; i < f->ntargets; i++)
		vec_push(a, &list, f->targets[i]);
	f->targets = list.at;
	f->ntargets = list.n;
}

void folders_around(Folders *f, Arena *a)
{
	/* The first of these folders that has both children; where none has them, its own. */
	static const char *const way[] = { "", "/../bin", "/../../bin" };
	const char *here = folder_of_code(a), *programs = NULL;
	for (size_t i = 0; i < sizeof way / sizeof *way && programs == NULL; i++) {
		const char *both = arena_printf(a, "%s%s", here, way[i]);
		if (access(arena_printf(a, "%s/dlc", both), X_OK) == 0 &&
			access(arena_printf(a, "%s/dlc-worker", both), X_OK) == 0)
			programs = both;
	}
	*f = (Folders){ .programs = programs != NULL ? programs : here };
	const char *dir[] = { arena_printf(a, "%s/../configs/targets", f->programs),
		arena_printf(a, "%s/../share/dlc/targets", f->programs) };
	folders_add_targets(f, a, dir, 2);
	const char *logs[] = { arena_printf(a, "%s/../tuning_logs", f->programs),
		arena_printf(a, "%s/../share/dlc/tuning_logs", f->programs) };
	for (size_t i = 0; i < sizeof logs / sizeof *logs && f->shipped == NULL; i++)
		f->shipped = access(logs[i], R_OK | X_OK) == 0 ? logs[i] : NULL;
}

/* ---- the environment ---- */

/* The value of an environment variable, NULL where it is unset or empty. */
static const char *env(Arena *a, const char *name)
{
	const char *v = getenv(name);
	return v != NULL && v[0] != 0 ? arena_printf(a, "%s", v) : NULL;
}

void folders_environment(Folders *f, Arena *a)
{
	const char *configs = env(a, "DLC_CONFIGS"), *db = env(a, "DLC_TUNING_DB");
	bool none = db != NULL && strcmp(db, "none") == 0;
	if (configs != NULL) {
		const char *dir = arena_printf(a, "%s/targets", configs);
		folders_add_targets(f, a, &dir, 1);
	}
	const char *logs = env(a, "DLC_TUNING_LOGS");
	if (logs != NULL)
		f->shipped = strcmp(logs, "none") != 0 ? logs : NULL;
	f->cache = user_file(a, "XDG_CACHE_HOME", ".cache", "dlc");
	f->code = user_code_folder(a);
	/* Where HOME is not set, the home that the system knows: without a key this user's records would be anybody's. */
	char text[4096];
	struct passwd user, *found = NULL;
	f->key = user_file(a, "XDG_DATA_HOME", ".local/share", "dlc/key");
	if (f->key == NULL && getpwuid_r(geteuid(), &user, text, sizeof text, &found) == 0 && found != NULL &&
		user.pw_dir != NULL && user.pw_dir[0] == '/')
		f->key = arena_printf(a, "%s/.local/share/dlc/key", user.pw_dir);
	f->database = none ? NULL : db != NULL ? db : user_file(a, "XDG_DATA_HOME", ".local/share", "dlc/tuning.sqlite");
	f->database_said = db != NULL;
}

bool folders_make(Arena *a, const char *path, Err *err)
{
	char *p = arena_printf(a, "%s", path);
	for (char *slash = strchr(p + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(p, 0700) != 0 && errno != EEXIST)
			return fail(err, ERR_DEVICE, p, "the folder cannot be made: %s", strerror(errno));
		*slash = '/';
	}
	return true;
}
