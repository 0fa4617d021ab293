/* Turns the environment and the program's own path into the places dlc looks at; see folders.h. */
#include "cli/folders.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *place_programs(Arena *a)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	if (n <= 0)
		return ".";
	path[n] = 0;
	char *slash = strrchr(path, '/');
	if (slash == NULL)
		return ".";
	slash[slash == path] = 0;
	return arena_printf(a, "%s", path);
}

/* The value of an environment variable, NULL where it is unset or empty. */
static const char *env(const char *name)
{
	const char *v = getenv(name);
	return v != NULL && v[0] != 0 ? v : NULL;
}

static bool is_none(const char *value)
{
	return value != NULL && strcmp(value, "none") == 0;
}

const char *const *place_targets(Arena *a, size_t *n)
{
	VEC(const char *) list = { 0 };
	const char *programs = place_programs(a);
	if (env("DLC_CONFIGS") != NULL)
		vec_push(a, &list, arena_printf(a, "%s/targets", env("DLC_CONFIGS")));
	vec_push(a, &list, arena_printf(a, "%s/../configs/targets", programs));
	vec_push(a, &list, arena_printf(a, "%s/../share/dlc/targets", programs));
	*n = list.n;
	return list.at;
}

/* $NAME/tail, else ~/otherwise/tail; XDG asks to ignore relative paths. */
static const char *user_file(Arena *a, const char *name, const char *otherwise, const char *tail)
{
	if (env(name) != NULL && env(name)[0] == '/')
		return arena_printf(a, "%s/%s", env(name), tail);
	if (env("HOME") != NULL)
		return arena_printf(a, "%s/%s/%s", env("HOME"), otherwise, tail);
	return NULL;
}

const char *place_tuning_db(Arena *a, Err *err)
{
	const char *path = env("DLC_TUNING_DB");
	if (is_none(path)) {
		fail(err, ERR_USAGE, "DLC_TUNING_DB", "is none: name a database");
		return NULL;
	}
	if (path == NULL)
		path = user_file(a, "XDG_DATA_HOME", ".local/share", "dlc/tuning.sqlite");
	if (path == NULL)
		fail(err, ERR_USAGE, "",
			"no tuning database is named: give --tuning-db=FILE or set DLC_TUNING_DB, "
			"XDG_DATA_HOME or HOME");
	return path;
}

bool place_db_is_named(void)
{
	return env("DLC_TUNING_DB") != NULL && !is_none(env("DLC_TUNING_DB"));
}

/* Where HOME is not set, the home that the system knows: without a key this user's records would be anybody's. */
const char *place_key(Arena *a)
{
	const char *path = user_file(a, "XDG_DATA_HOME", ".local/share", "dlc/key");
	const struct passwd *user = path == NULL ? getpwuid(geteuid()) : NULL;
	if (user != NULL && user->pw_dir != NULL && user->pw_dir[0] == '/')
		path = arena_printf(a, "%s/.local/share/dlc/key", user->pw_dir);
	return path;
}

const char *place_cache(Arena *a)
{
	return user_file(a, "XDG_CACHE_HOME", ".cache", "dlc");
}

const char *place_code_cache(Arena *a)
{
	const char *said = env("DLC_CODE_CACHE"), *cache = place_cache(a);
	if (said != NULL)
		return is_none(said) ? NULL : said;
	return cache != NULL ? arena_printf(a, "%s/code", cache) : NULL;
}

bool place_target(const Args *args, Target *t, Err *err)
{
	size_t n;
	const char *const *dirs = place_targets(args_arena(args), &n);
	return target_resolve(t, args_text(args, "target", "host"),
		(int)args_int(args, "threads", 1), dirs, n, err);
}

const char *const *place_databases(const Args *args, size_t *n, Err *err)
{
	const char *const *given = args_all(args, "tuning-db", n);
	for (size_t i = 0; i < *n; i++)
		if (is_none(given[i])) {
			if (*n > 1)
				fail(err, ERR_USAGE, "--tuning-db=none",
					"excludes every other --tuning-db");
			*n = 0;
			return given;
		}
	if (*n != 0)
		return given;
	const char **one = arena_array(args_arena(args), const char *, 1);
	one[0] = is_none(env("DLC_TUNING_DB")) ? NULL : place_tuning_db(args_arena(args), err);
	*n = one[0] != NULL;
	return one;
}
