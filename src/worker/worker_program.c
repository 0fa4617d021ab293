/*
 * The programs dlc-worker and dlc-device-worker (WORKER_NAME): load, check and time code for a tuner.  They read
 * requests from standard input and answer on standard output (message.h), and link the runtime and nothing of the
 * compiler.  dlc-worker is linked statically, so that it runs on a board as it is; a static program opens no driver.
 * dlc-device-worker is linked dynamically and opens the driver of one device.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#include <sys/prctl.h>
#endif

#include "base/args.h"
#include "runtime/host.h"
#include "runtime/device.h"
#include "worker/lock.h"
#include "worker/pipe.h"
#include "worker/worker.h"

enum { EXIT_NONSENSE = 1, EXIT_USAGE = 2, EXIT_SYSTEM = 5 };
enum { MEMORY_PERCENT = 75 /* of the machine's, for a candidate and the worker */ };

static int complain(int code, const char *text)
{
	fprintf(stderr, WORKER_NAME ": %s\n", text);
	return code;
}

/* What ends the serving where a request cannot be answered. */
typedef struct Service {
	Worker *worker;
	int code;
} Service;

static bool answer(const MsgView *request, void *arg)
{
	Service *s = arg;
	Msg out = { 0 };
	char why[MSG_WHY];
	if (!worker_serve(s->worker, request, &out)) {
		snprintf(why, sizeof why, "a message %s, which no parent sends", msg_name(request->kind));
		s->code = complain(EXIT_NONSENSE, why);
	} else if (!pipe_send(STDOUT_FILENO, &out)) {
		s->code = complain(EXIT_SYSTEM, "standard output takes no answer");
	} else if (worker_own(s->worker)->broken) {
		s->code = EXIT_SYSTEM; /* the answer says why */
	}
	return s->code == 0;
}

static int serve_stdio(Worker *w)
{
	Service s = { w, 0 };
	Msg hello = { 0 };
	char why[MSG_WHY];
	worker_hello(w, &hello);
	if (!pipe_send(STDOUT_FILENO, &hello))
		return complain(EXIT_SYSTEM, "standard output takes no answer");
	switch (pipe_serve(STDIN_FILENO, answer, &s, why)) {
	case PIPE_NONSENSE: return complain(EXIT_NONSENSE, why);
	case PIPE_BROKEN: return complain(EXIT_SYSTEM, why);
	case PIPE_STOPPED: return s.code;
	case PIPE_END: break;
	}
	return 0;
}

static const Option OPTION[] = { { .name = "stdio",
					 .kind = OPT_FLAG,
					 .help = "serve standard input and output until they end" },
	{ .name = "device",
		.kind = OPT_TEXT,
		.arg = "KIND:N",
		.help = "run on device N of its kind, cuda or opencl, beside the CPU" },
	OPTION_END };
static const Verb WORKER = { .name = WORKER_NAME,
	.summary = "Loads, checks and times code that a tuner sends over standard input and output;\n"
		   "started by dlc-tune, here or through ssh, and of no use by hand",
	.options = OPTION,
	.notes = "exit codes: 0 the other side ended, 1 it sent nonsense, 2 the command line is wrong,\n"
		 "5 the stream broke, or the device cannot be opened." };
static const Program PROGRAM = { .name = WORKER_NAME, .only = &WORKER };

/* "opencl:0", or "opencl": its first device. NULL: no device of this runtime is called so. */
static const Device *find_device(const char *text, int32_t *id)
{
	enum { TYPES = 32 }; /* above DLPack's codes */
	size_t n = strcspn(text, ":");
	char *end = NULL;
	long number = text[n] == ':' ? strtol(text + n + 1, &end, 10) : 0;
	*id = (int32_t)number;
	if (number < 0 || number > INT32_MAX || (end != NULL && (*end != 0 || end == text + n + 1)))
		return NULL;
	for (uint32_t type = 0; type < TYPES; type++) {
		const char *name = device_type_name(type);
		if (name != NULL && strlen(name) == n && strncasecmp(name, text, n) == 0)
			return device_find((int32_t)type);
	}
	return NULL;
}

/* False: the program ends with *code. */
static bool read_line(int argc, char **argv, const Device **device, int32_t *id, int *code)
{
	Arena *a = arena_new();
	Text out = { .arena = a };
	Err err = { 0 };
	const char *called;
	const char *const *word = (const char *const *)argv + 1;
	const Args *args = argc > 0 ? args_parse(a, &PROGRAM, argc - 1, word, &out, &called, &err) : NULL;
	bool serve = args != NULL && args_given(args, "stdio");
	if (args != NULL && !serve)
		fail(&err, ERR_USAGE, "", "--stdio is missing, the only thing it does");
	const char *wanted = args != NULL ? args_text(args, "device", NULL) : NULL;
	*device = wanted != NULL ? find_device(wanted, id) : &device_cpu;
	if (err.code == ERR_NONE && *device == NULL)
		fail(&err, ERR_USAGE, "--device", "there is no device \"%.40s\": write a kind and a number, as in opencl:0",
			wanted);
	if (err.code != ERR_NONE)
		fprintf(stderr, WORKER_NAME ": %s%s%s\nsee " WORKER_NAME " --help\n", err.place,
			err.place[0] != 0 ? ": " : "", err.text);
	*code = err.code != ERR_NONE ? EXIT_USAGE : 0;
	if (*code == 0 && !serve && (fputs(text_str(&out), stdout) < 0 || fflush(stdout) != 0))
		*code = complain(EXIT_SYSTEM, "standard output cannot be written");
	arena_free(a);
	return serve && *code == 0;
}

/*
 * PoCL runs kernels on threads of its own, of which two may wait for one CPU while another is idle, and binds its n-th
 * thread to the n-th CPU if asked. It ends a process that may not use that CPU: so it is asked where all may be used.
 */
static void part_driver_threads(void)
{
#if defined(__linux__)
	cpu_set_t mask;
	if (sched_getaffinity(0, sizeof mask, &mask) != 0)
		return;
	for (int cpu = 0; cpu < CPU_COUNT(&mask); cpu++)
		if (!CPU_ISSET(cpu, &mask))
			return;
	if (CPU_COUNT(&mask) != sysconf(_SC_NPROCESSORS_CONF))
		return;
	setenv("POCL_AFFINITY", "1", false);
#endif
}

int main(int argc, char **argv)
{
	int code;
	const Device *device;
	int32_t id = 0;
	if (!read_line(argc, argv, &device, &id, &code))
		return code;
	signal(SIGPIPE, SIG_IGN);
	host_limit_memory(MEMORY_PERCENT);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 }); /* a crash becomes a status; nobody reads its core file */
#if defined(__linux__)
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a kernel that does not end would not see the input end */
#endif
	Worker *w = calloc(1, sizeof *w);
	if (w == NULL)
		return complain(EXIT_SYSTEM, "no memory");
	DlcError err;
	w->lock = -1;
	if (!device->on_host)
		part_driver_threads();
	if (worker_open(w, device, id, &err) == DLC_OK) {
		char name[64];
		bool cpu = device->on_host || worker_own(w)->cpus > 0; /* one lock for all that runs on the CPU */
		snprintf(name, sizeof name, cpu ? "%s" : "%s-%d",
			cpu ? device_cpu.name : device_type_name((uint32_t)device->type), (int)id);
		w->lock = worker_lock_open(getenv("XDG_RUNTIME_DIR"), name);
		code = serve_stdio(w);
	} else {
		code = complain(EXIT_SYSTEM, err.text);
	}
	worker_close(w);
	if (w->lock >= 0)
		close(w->lock);
	free(w);
	return code;
}
