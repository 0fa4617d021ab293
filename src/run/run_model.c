/*
 * See program.h: opens the model and does what the options ask, one of run, --bench, --profile,
 * --check.
 */
#include "run/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/user_folder.h"
#include "runtime/model.h"
#include "run/against.h"
#include "run/difference.h"
#include "run/test_data.h"
#include "run/feed.h"
#include "run/time.h"

/*
 * Whether the host opens the model, and not the runtime. The host gets zoo names, which contain no slash, folders, and
 * files that neither are bundles nor have the name of one.
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
		return S_ISDIR(st.st_mode);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool bundle = read(fd, magic, sizeof magic) == sizeof magic &&
	              memcmp(magic, BUNDLE_MAGIC, sizeof magic) == 0;
	close(fd);
	return !bundle;
}

enum { NOTE = 420 }; /* characters of a sentence for the user */

/*
 * Inputs that no --input gives are random if none is given at all, if --random is given, or if only times are wanted.
 * Otherwise a missing input is an error.  `note` is a sentence for the user, or empty.
 */
static DlcStatus fill_forgotten(const Feed *f, DlcInstance *i, const DlcModel *m, const RunOptions *o,
	char note[NOTE], DlcError *err)
{
	char list[NOTE - 60];
	int n = feed_forgotten(f, i, m, list, sizeof list);
	bool times = o->bench || o->profile;
	note[0] = 0;
	if (n == 0)
		return DLC_OK;
	if (o->input.n > 0 && !o->random && !times)
		return runtime_fail(err, RUN_USAGE,
			"no --input gives %s: give %s too, or --random for random numbers", list,
			n > 1 ? "them" : "it");
	if (o->input.n > 0)
		snprintf(note, NOTE, "random from seed %lld: %s", (long long)o->seed, list);
	else if (!times)
		snprintf(note, NOTE, "all inputs were random, from seed %lld", (long long)o->seed);
	return feed_random(f, i, m, (uint64_t)o->seed, err);
}

/* Runs or times the model on the inputs that the options name. */
static DlcStatus run_fed(Feed *f, DlcInstance *i, const DlcModel *m, const RunOptions *o,
	const char *program, DlcError *err)
{
	char note[NOTE];
	DlcStatus s = feed_options(f, i, m, o, err);
	if (s == DLC_OK)
		s = fill_forgotten(f, i, m, o, note, err);
	if (s != DLC_OK)
		return s;
	if (o->bench)
		s = time_bench(i, m, o, err);
	else if (o->profile)
		s = time_profile(i, m, o, err);
	else
		s = dlc_instance_run(i, err);
	if (s == DLC_OK && !o->bench && !o->profile && o->output.n == 0 && o->expect.n == 0)
		s = print_outputs(i, m, o->json, err);
	if (s == DLC_OK)
		s = save_outputs(i, m, o, err);
	if (s == DLC_OK)
		s = expect_outputs(i, m, o, err);
	char shown[NOTE]; /* it holds names of the bundle */
	if (s == DLC_OK && note[0] != 0)
		fprintf(stderr, "%s: %s\n", program, runtime_shown(shown, sizeof shown, note));
	return s;
}

static DlcStatus run_model(const DlcModel *m, const RunOptions *o, const RunHost *host, bool hosts, DlcError *err)
{
	if (o->against != NULL)
		return against_options(m, o, host, hosts, err);
	DlcInstance *i = NULL;
	Feed f = { .n = 0 };
	DlcStatus s = save_check(m, o, err);
	if (s == DLC_OK && o->check)
		s = dlc_model_verify(m, err);
	if (s == DLC_OK)
		s = dlc_instance_open(m, (int)o->threads, &i, err);
	if (s == DLC_OK && !feed_init(&f, m))
		s = runtime_fail(err, DLC_NO_MEMORY, "no memory");
	if (s == DLC_OK)
		s = o->check ? check_folder(&f, i, m, o, err) : run_fed(&f, i, m, o, host->program, err);
	feed_free(&f);
	dlc_instance_close(i);
	return s;
}

static DlcStatus run_options(const RunOptions *o, const RunHost *host, DlcError *err)
{
	DlcModel *m = NULL;
	bool hosts = is_hosts(o->model);
	DlcStatus s = hosts ? host->open(host->arg, o->model, &m, err) : dlc_model_open_on(o->device, o->model, &m, err);
	if (s == DLC_OK && !hosts && o->compiling != NULL)
		s = runtime_fail(err, RUN_USAGE,
			"--%s: %s is a bundle, which is compiled already: leave the option out, or name the model",
			o->compiling, o->model);
	if (s == DLC_OK)
		s = run_model(m, o, host, hosts, err);
	dlc_model_close(m);
	return s;
}

int run_main(const Args *args, const RunHost *host)
{
	RunOptions o;
	DlcError err = { 0 };
	Err why = { 0 };
	dlc_code_folder(user_code_folder(args_arena(args)));
	DlcStatus s = run_options_read(args, &o, &why) ? run_options(&o, host, &err)
						       : runtime_fail(&err, RUN_USAGE, "%s", why.text);
	if (s == DLC_OK && fflush(stdout) != 0)
		s = runtime_fail(&err, DLC_SYSTEM, "standard output: %s", strerror(errno));
	if (s == RUN_REPORTED)
		return -1;
	if (s == DLC_OK)
		return 0;
	fprintf(stderr, "%s: %s\n", host->program, err.text);
	if (s == RUN_USAGE)
		fprintf(stderr, "see %s --help\n", host->program);
	return s == RUN_USAGE ? 2 : s == DLC_SYSTEM || s == DLC_LOST || s == DLC_DEVICE_MEMORY ? 5 : 1;
}
