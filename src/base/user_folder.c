/* See user_folder.h. */
#include "base/user_folder.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const char *user_file(Arena *a, const char *variable, const char *otherwise, const char *tail)
{
	const char *own = getenv(variable), *home = getenv("HOME");
	if (own != NULL && own[0] == '/')
		return arena_printf(a, "%s/%s", own, tail);
	return home != NULL && home[0] != 0 ? arena_printf(a, "%s/%s/%s", home, otherwise, tail) : NULL;
}

const char *user_code_folder(Arena *a)
{
	const char *said = getenv("DLC_CODE_CACHE");
	if (said == NULL || said[0] == 0)
		return user_file(a, "XDG_CACHE_HOME", ".cache", "dlc/code");
	return strcmp(said, "none") != 0 ? arena_printf(a, "%s", said) : NULL;
}
