/*
 * See run.h: opens the model and does what the options ask, one of run, --bench, --profile,
 * --check.
 */
#include "runtime/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/model.h"
#include "runtime/run_check.h"
#include "runtime/run_tensor.h"
#include "runtime/run_time.h"

static int exit_code(DlcStatus s)
{
	return s == DLC_OK ? 0 : s == RUN_USAGE ? 2 : s == DLC_SYSTEM ? 5 : 1;
}

static int complain(const RunHost *host, DlcStatus s, const DlcError *err)
{
	fprintf(stderr, "%s: %s\n", host->program, err->text);
	if (s == RUN_USAGE)
		fprintf(stderr, "see %s --help\n", host->program);
	return exit_code(s);
}

/*
 * Whether the runtime or the host opens the path: a host gets zoo names, which look like no path,
 * and files that are neither bundles nor called so.
 */
static bool is_hosts(const char *path)
{
	char magic[8] = "";
	struct stat st;
	const char *dot = strrchr(path, '.');
	if (dot != NULL && strcmp(dot, ".dlcb") == 0)
		return false;
	if (stat(path, &st) != 0)
		return errno == ENOENT && strchr(path, '/') == NULL;
	if (!S_ISREG(st.st_mode))
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool bundle = read(fd, magic, sizeof magic) == sizeof magic &&
	              memcmp(magic, BUNDLE_MAGIC, sizeof magic) == 0;
	close(fd);
	return !bundle;
}

static DlcStatus run_once(DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err)
{
	DlcStatus s = dlc_instance_run(i, err);
	if (s == DLC_OK && o->noutput == 0)
		s = print_outputs(i, m, o->json, err);
	return s == DLC_OK ? save_outputs(i, m, o, err) : s;
}

/* Runs or times the model on the inputs that the options name. */
static DlcStatus run_fed(
	Feed *f, DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err)
{
	DlcStatus s = feed_options(f, i, m, o, err);
	if (s == DLC_OK)
		s = feed_random(f, i, m, o->seed, err);
	if (s != DLC_OK)
		return s;
	if (o->bench)
		s = time_bench(i, m, o, err);
	else if (o->profile)
		s = time_profile(i, m, o, err);
	else
		return run_once(i, m, o, err);
	return s == DLC_OK ? save_outputs(i, m, o, err) : s;
}

static DlcStatus run_model(const DlcModel *m, const RunOptions *o, DlcError *err)
{
	DlcInstance *i = NULL;
	Feed f = { .n = 0 };
	DlcStatus s = save_check(m, o, err);
	if (s == DLC_OK && o->check)
		s = dlc_model_verify(m, err);
	if (s == DLC_OK)
		s = dlc_instance_open(m, o->threads, &i, err);
	if (s == DLC_OK && !feed_init(&f, m))
		s = runtime_fail(err, DLC_NO_MEMORY, "no memory");
	if (s == DLC_OK)
		s = o->check ? check_folder(&f, i, m, o, err) : run_fed(&f, i, m, o, err);
	feed_free(&f);
	dlc_instance_close(i);
	return s;
}

int run_main(int argc, char **argv, const RunHost *host)
{
	RunOptions o;
	DlcError err = { 0 };
	DlcModel *m = NULL;
	DlcStatus s = run_options_parse(argc, argv, &o, &err) ? DLC_OK : RUN_USAGE;
	if (s == DLC_OK && (o.help || o.version)) {
		if (o.help)
			run_options_help(host->program);
		else
			printf("%s %s\n", host->program, dlc_runtime_version());
	} else if (s == DLC_OK) {
		s = is_hosts(o.model) ? host->open(host->arg, o.model, &m, &err)
		                      : dlc_model_open(o.model, &m, &err);
		if (s == DLC_OK)
			s = run_model(m, &o, &err);
	}
	if (s == DLC_OK && fflush(stdout) != 0)
		s = runtime_fail(&err, DLC_SYSTEM, "standard output: %s", strerror(errno));
	dlc_model_close(m);
	run_options_free(&o);
	return s == DLC_OK ? 0 : complain(host, s, &err);
}
