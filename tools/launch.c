/*
 * Starts libexec/NAME.elf beside the folder of this program, where NAME is the name that it was started by. The loader and
 * the libraries of lib/ run it, so that the system's own may be older or missing. Static, for the same reason. Every
 * program in bin/ of a folder made by tools/gpu-bundle is a link to this one.
 */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define LOADER "ld-linux-x86-64.so.2"
/* Where a driver may lie that the system's own loader finds: a list that --library-path takes the place of. */
#define DRIVERS "/usr/lib64:/usr/local/nvidia/lib64:/usr/lib/wsl/lib"

static int sorry(const char *name, const char *what)
{
	fprintf(stderr, "%s: %s; unpack the folder again and keep its parts together\n", name, what);
	return 5;
}

int main(int argc, char **argv)
{
	char self[PATH_MAX], called[PATH_MAX], program[PATH_MAX + 64], libraries[3 * PATH_MAX], loader[PATH_MAX + 64],
		own[PATH_MAX + 64];
	const char *started = (const char *)getauxval(AT_EXECFN); /* the path that the kernel was given, of a link too */
	snprintf(called, sizeof called, "%s", started);
	const char *name = basename(called);
	if (realpath(started, self) == NULL)
		return sorry(name, "cannot find its own folder");
	const char *root = dirname(dirname(self));
	snprintf(program, sizeof program, "%s/libexec/%s.elf", root, name);
	const char *given = getenv("LD_LIBRARY_PATH");
	snprintf(libraries, sizeof libraries, "%s/lib:%s%s" DRIVERS, root, given != NULL ? given : "", given != NULL ? ":" : "");
	snprintf(own, sizeof own, "%s/bin/%s", root, name);
	snprintf(loader, sizeof loader, "%s/lib/" LOADER, root);
	if (access(program, X_OK) != 0)
		return sorry(name, "its libexec has no program of this name");

	const char *before[] = { loader, "--library-path", libraries, "--argv0", own, program };
	size_t more = sizeof before / sizeof *before;
	const char **line = calloc(more + (size_t)argc + 1, sizeof *line);
	if (line == NULL)
		return sorry(name, "has no memory to start");
	memcpy(line, before, sizeof before);
	for (int i = 1; i < argc; i++)
		line[more++] = argv[i];
	execv(loader, (char *const *)line);
	return sorry(name, "cannot start the loader in lib");
}
