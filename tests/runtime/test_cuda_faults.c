/*
 * Each call of CUDA's driver fails once, while a model is opened, run, recorded, replayed and profiled. If the status
 * is DLC_OK, the results are right; else there is a sentence. Everything taken from the driver is given back. Of a
 * function with many calls the first MOST fail in turn.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#include "cuda_net.h"
#include "runtime/cuda_api.h"

enum { MOST = 8, STATUSES = 2, RUNS = 3 };

static const char *const FUNCTION[] = {
#define CUDA(name, parameters) #name,
	CUDA_FUNCTIONS CUDA_GRAPH_FUNCTIONS
#undef CUDA
};
static int often[LEN(FUNCTION)]; /* how many calls of each there are */

/* Whether the driver keeps what such a call was to give back. */
static bool keeps(const char *name)
{
	return strstr(name, "Free") != NULL || strstr(name, "Destroy") != NULL || strstr(name, "Release") != NULL ||
	       strstr(name, "Unload") != NULL || strncmp(name, "cuCtx", 5) == 0;
}

static bool right(Net *n, const float *a, const float *b, DlcStatus *s, DlcError *err)
{
	float out[N];
	*s = dlc_instance_read(n->i, DLC_OUTPUT, 0, out, sizeof out, err);
	for (int k = 0; k < N && *s == DLC_OK; k++)
		if (out[k] != a[k] + b[k] + 1)
			return false;
	return true;
}

static DlcStatus use(Net *n, bool *ok, DlcError *err)
{
	float a[N], b[N];
	uint64_t ns[2] = { 0 };
	DlcStatus s = open_cuda(for_cuda(build_add(N), CUDA_HEAD), n, err);
	for (int round = 0; round < RUNS && s == DLC_OK && *ok; round++) {
		for (int k = 0; k < N; k++) {
			a[k] = (float)(k + round);
			b[k] = (float)(2 * k);
		}
		s = dlc_instance_write(n->i, DLC_INPUT, 0, a, sizeof a, err);
		if (s == DLC_OK)
			s = dlc_instance_write(n->i, DLC_INPUT, 1, b, sizeof b, err);
		if (s == DLC_OK)
			s = dlc_instance_run(n->i, err);
		if (s == DLC_OK)
			*ok = right(n, a, b, &s, err);
	}
	if (s == DLC_OK)
		s = dlc_instance_profile(n->i, ns, err);
	if (s == DLC_OK)
		*ok = *ok && right(n, a, b, &s, err);
	return s;
}

static void fail_once(const char *name, int call, int status)
{
	char fault[96];
	bool ok = true;
	DlcError err = { 0 };
	Net n;
	snprintf(fault, sizeof fault, "%s:%d:%d:1", name, call, status);
	setenv("FAKE_CUDA_FAIL", fault, 1);
	DlcStatus s = use(&n, &ok, &err);
	ck_assert_msg(ok, "%s: the result is wrong, and nobody says so", fault);
	ck_assert_msg(s == DLC_OK || (s == err.status && err.text[0] != 0), "%s: status %d: %s", fault, s, err.text);
	net_close(&n);
	if (status != CUDA_ERROR_LAUNCH_FAILED && !keeps(name)) /* a lost context gives nothing back */
		ck_assert_msg(ask("fake_cuda_held", NULL) == 0, "%s: %d held", fault, ask("fake_cuda_held", NULL));
}

START_TEST(faults)
{
	static const int STATUS[] = { CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_LAUNCH_FAILED };
	int k = 0, call = _i / STATUSES;
	while (call >= often[k])
		call -= often[k++];
	fail_once(FUNCTION[k], call + 1, STATUS[_i % STATUSES]);
}
END_TEST

/* Runs all without a fault in a process of its own, for the driver reads its environment once; how many calls
   there are. */
static int count_calls(void)
{
	int pipes[2], all = 0;
	if (pipe(pipes) != 0)
		return 0;
	pid_t child = fork();
	if (child == 0) {
		bool ok = true;
		DlcError err = { 0 };
		Net n;
		DlcStatus s = use(&n, &ok, &err);
		void *lib = dlopen("libcuda.so.1", RTLD_NOW), *found = lib != NULL ? dlsym(lib, "fake_cuda_calls") : NULL;
		int (*count)(const char *);
		memcpy(&count, &found, sizeof count);
		for (int k = 0; k < LEN(FUNCTION) && found != NULL; k++)
			often[k] = count(FUNCTION[k]);
		net_close(&n);
		_exit(s == DLC_OK && ok && write(pipes[1], often, sizeof often) == sizeof often ? 0 : 1);
	}
	int status;
	if (waitpid(child, &status, 0) != child || status != 0 || read(pipes[0], often, sizeof often) != sizeof often)
		return 0;
	for (int k = 0; k < LEN(FUNCTION); k++) {
		often[k] = often[k] < MOST ? often[k] : MOST;
		all += often[k];
	}
	return all;
}

int main(void)
{
	TCase *tc = tcase_create("cuda faults");
	int n = count_calls();
	if (n == 0) {
		fprintf(stderr, "test_cuda_faults: the model does not run without a fault\n");
		return 1;
	}
	tcase_add_loop_test(tc, faults, 0, n * STATUSES);
	return run_suite("cuda faults", tc);
}
