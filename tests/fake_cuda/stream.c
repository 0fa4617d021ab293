/*
 * See fake.h: streams, kernels, copies, events, graphs. A stream is a list of commands that is worked off when someone
 * waits, in order; a graph is a list of commands that is put on a stream.
 */
#include "fake.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Command {
	CuFunction function; /* a launch; NULL: see below */
	CuEvent event;       /* a mark; NULL: a copy or a fill */
	unsigned char *to;
	const unsigned char *from; /* NULL: a fill */
	unsigned char *copy;       /* what pageable memory held when the copy was put here */
	size_t bytes;
	int value;
	uint32_t grid[3], block[3], shared;
	uint64_t *argument;
} Command;

typedef struct Commands {
	Command *at;
	size_t n, room;
} Commands;

struct CuStream {
	CuStream next;
	Commands todo, captured;
	bool capturing, invalid;
};

struct CuEvent {
	CuStream stream; /* that has it to record; NULL: recorded */
	bool recorded, captured;
	uint64_t ns;
};

struct CuGraph {
	Commands commands;
};

struct DeviceRecording {
	Commands commands;
};

/* One device: only one thread puts work on a stream, or does it. */
static pthread_mutex_t streams = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static CuStream first;
static uint64_t device_ns; /* the device's clock */
static int nlaunched;
static _Thread_local sigjmp_buf around_kernel;
static _Thread_local const char *in_kernel;

static Command *put(Commands *c, Command what)
{
	if (c->n == c->room) {
		c->room = 2 * c->room + 16;
		c->at = realloc(c->at, c->room * sizeof *c->at);
	}
	c->at[c->n] = what;
	return &c->at[c->n++];
}

static void *duplicate(const void *bytes, size_t n)
{
	void *p = bytes != NULL ? malloc(n + 1) : NULL;
	return p != NULL ? memcpy(p, bytes, n) : NULL;
}

static void put_again(Commands *to, const Commands *from)
{
	for (size_t k = 0; k < from->n; k++) {
		Command c = from->at[k];
		c.copy = duplicate(c.copy, c.bytes);
		c.from = c.copy != NULL ? c.copy : c.from;
		c.argument = duplicate(c.argument, sizeof *c.argument * (c.function != NULL ? c.function->nparameter : 0));
		put(to, c);
	}
}

static void clear(Commands *c)
{
	for (size_t k = 0; k < c->n; k++) {
		free(c->at[k].copy);
		free(c->at[k].argument);
	}
	free(c->at);
	*c = (Commands){ 0 };
}

static uint64_t host_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_bad_access(int number, siginfo_t *info, void *machine)
{
	(void)machine;
	if (in_kernel == NULL) {
		signal(number, SIG_DFL);
		return;
	}
	fprintf(stderr, "fake CUDA: kernel %s touches %p\n", in_kernel, info->si_addr);
	siglongjmp(around_kernel, 1);
}

/* Whether the device goes at this kernel, for this process and all later ones; 0: at a graph. */
static bool goes(int kernel)
{
	if (fake.gone_file[0] == 0 || fake_device() != fake.gone_device || kernel != fake.gone_from)
		return false;
	FILE *f = fopen(fake.gone_file, "w");
	if (f != NULL)
		fclose(f);
	return true;
}

/* Addresses among the arguments must be the device's: no symbol has such values. */
static int run_kernel(const Command *c)
{
	void *argument[FAKE_PARAMETERS];
	struct sigaction ours = { .sa_sigaction = on_bad_access, .sa_flags = SA_SIGINFO | SA_NODEFER }, before;
	for (uint32_t k = 0; k < c->function->nparameter; k++) {
		argument[k] = &c->argument[k];
		if (c->argument[k] >> 32 != 0 && c->argument[k] >> 47 == 0 && !fake_is_device(c->argument[k], 0)) {
			fprintf(stderr, "fake CUDA: argument %u of %s is no address of the device\n", k, c->function->name);
			return CUDA_ERROR_ILLEGAL_ADDRESS;
		}
	}
	if (++nlaunched == fake.sticky_from)
		return fake.sticky_status;
	if (goes(nlaunched))
		return CUDA_ERROR_LAUNCH_FAILED;
	sigaction(SIGSEGV, &ours, &before);
	in_kernel = c->function->name;
	int status = CUDA_ERROR_ILLEGAL_ADDRESS;
	if (sigsetjmp(around_kernel, 1) == 0) {
		const CuFunction f = c->function;
		const char *why = f->kernel != NULL ? f->kernel(argument, c->grid, c->block, c->shared)
		                                    : f->run(f->image, f->name, argument, c->grid, c->block, c->shared);
		if (why != NULL)
			fprintf(stderr, "fake CUDA: kernel %s: %s\n", in_kernel, why);
		status = why == NULL ? CU_OK : CUDA_ERROR_LAUNCH_FAILED;
	}
	in_kernel = NULL;
	sigaction(SIGSEGV, &before, NULL);
	return status;
}

static int run_command(const Command *c)
{
	uint64_t begin = host_ns();
	int status = CU_OK;
	if (c->event != NULL) {
		*c->event = (struct CuEvent){ .recorded = true, .ns = device_ns };
		return CU_OK;
	}
	if (c->function != NULL)
		status = run_kernel(c);
	else if (c->from == NULL)
		memset(c->to, c->value, c->bytes);
	else
		memmove(c->to, c->from, c->bytes);
	device_ns += c->function != NULL && fake.launch_ns >= 0 ? (uint64_t)fake.launch_ns : host_ns() - begin;
	return status;
}

static int flush(CuStream s)
{
	int status = CU_OK;
	pthread_mutex_lock(&streams);
	fake_memory_open();
	for (size_t k = 0; k < s->todo.n && status == CU_OK; k++)
		status = run_command(&s->todo.at[k]);
	clear(&s->todo);
	fake_memory_close();
	pthread_mutex_unlock(&streams);
	if (status != CU_OK)
		fake_lose(status);
	return status;
}

void fake_flush_all(void)
{
	pthread_mutex_lock(&streams);
	for (CuStream s = first; s != NULL; s = s->next)
		flush(s);
	pthread_mutex_unlock(&streams);
}

/* Puts a command on a stream, or into what is captured of it. */
static int add(CuStream s, Command c)
{
	if (s == NULL)
		return CUDA_ERROR_INVALID_HANDLE; /* the stream 0, which nothing here should use */
	pthread_mutex_lock(&streams);
	put(s->capturing ? &s->captured : &s->todo, c);
	pthread_mutex_unlock(&streams);
	return CU_OK;
}

/* A call that a capturing stream does not take. */
static int not_captured(CuStream s)
{
	if (!s->capturing)
		return CU_OK;
	s->invalid = true;
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

int cuStreamCreate(CuStream *out, uint32_t flags)
{
	FAKE_BEGIN(true);
	if (flags != CU_STREAM_ALONE)
		return CUDA_ERROR_INVALID_VALUE;
	CuStream s = calloc(1, sizeof *s);
	pthread_mutex_lock(&streams);
	s->next = first;
	first = s;
	pthread_mutex_unlock(&streams);
	fake_hold(1);
	*out = s;
	return CU_OK;
}

int cuStreamDestroy_v2(CuStream s)
{
	FAKE_BEGIN(true);
	pthread_mutex_lock(&streams);
	flush(s);
	CuStream *where = &first;
	while (*where != s)
		where = &(*where)->next;
	*where = s->next;
	pthread_mutex_unlock(&streams);
	clear(&s->captured);
	free(s);
	fake_hold(-1);
	return CU_OK;
}

int cuStreamSynchronize(CuStream s)
{
	FAKE_BEGIN(true);
	fake_traffic->waits++;
	int status = not_captured(s);
	return status != CU_OK ? status : flush(s);
}

/* ---- work ---- */

int cuMemsetD8Async(CuAddress to, unsigned char value, size_t bytes, CuStream s)
{
	FAKE_BEGIN(true);
	fake_traffic->fills++;
	fake_traffic->fill_bytes += bytes;
	if (!fake_is_device(to, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return add(s, (Command){ .to = (unsigned char *)(uintptr_t)to, .bytes = bytes, .value = value });
}

int cuMemcpyDtoDAsync_v2(CuAddress to, CuAddress from, size_t bytes, CuStream s)
{
	FAKE_BEGIN(true);
	if (!fake_is_device(to, bytes) || !fake_is_device(from, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return add(
		s, (Command){
			   .to = (unsigned char *)(uintptr_t)to, .from = (const unsigned char *)(uintptr_t)from, .bytes = bytes });
}

/* Pageable memory is read at once, pinned memory when the copy is done. */
int cuMemcpyHtoDAsync_v2(CuAddress to, const void *from, size_t bytes, CuStream s)
{
	FAKE_BEGIN(true);
	fake_traffic->ups++;
	fake_traffic->up_bytes += bytes;
	if (!fake_is_device(to, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	unsigned char *copy = fake_is_pinned(from) ? NULL : duplicate(from, bytes);
	int status = copy != NULL ? not_captured(s) : CU_OK;
	if (status == CU_OK)
		return add(s, (Command){ .to = (unsigned char *)(uintptr_t)to,
						  .from = copy != NULL ? copy : from,
						  .copy = copy,
						  .bytes = bytes });
	free(copy);
	return status;
}

int cuMemcpyDtoHAsync_v2(void *to, CuAddress from, size_t bytes, CuStream s)
{
	FAKE_BEGIN(true);
	fake_traffic->downs++;
	fake_traffic->down_bytes += bytes;
	if (!fake_is_device(from, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	int status = fake_is_pinned(to) ? CU_OK : not_captured(s);
	if (status == CU_OK)
		status = add(s, (Command){ .to = to, .from = (const unsigned char *)(uintptr_t)from, .bytes = bytes });
	return status != CU_OK || fake_is_pinned(to) ? status : flush(s);
}

int cuLaunchKernel(CuFunction f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz,
	uint32_t shared, CuStream s, void **parameter, void **extra)
{
	FAKE_BEGIN(true);
	fake_traffic->launches++;
	uint64_t threads = (uint64_t)bx * by * bz;
	if (extra != NULL || threads == 0 || gx == 0 || gy == 0 || gz == 0 || gy > 65535 || gz > 65535 || bz > 64 ||
		threads > 1024 || shared > (uint32_t)f->shared || f->nparameter > FAKE_PARAMETERS)
		return CUDA_ERROR_INVALID_VALUE;
	if (threads > (uint64_t)fake.threads)
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	uint64_t *argument = calloc(f->nparameter + (size_t)1, sizeof *argument);
	for (uint32_t k = 0; k < f->nparameter; k++)
		memcpy(&argument[k], parameter[k], sizeof *argument);
	int status = add(s,
		(Command){
			.function = f, .grid = { gx, gy, gz }, .block = { bx, by, bz }, .shared = shared, .argument = argument });
	return status == CU_OK && fake.blocking && !s->capturing ? flush(s) : status;
}

/* ---- events ---- */

int cuEventCreate(CuEvent *out, uint32_t flags)
{
	FAKE_BEGIN(true);
	*out = calloc(1, sizeof **out);
	fake_hold(1);
	return flags == 0 ? CU_OK : CUDA_ERROR_INVALID_VALUE;
}

int cuEventDestroy_v2(CuEvent e)
{
	FAKE_BEGIN(true);
	if (e->stream != NULL)
		flush(e->stream);
	free(e);
	fake_hold(-1);
	return CU_OK;
}

int cuEventRecord(CuEvent e, CuStream s)
{
	FAKE_BEGIN(true);
	*e = (struct CuEvent){ .stream = s->capturing ? NULL : s, .captured = s->capturing };
	return s->capturing ? CU_OK : add(s, (Command){ .event = e });
}

int cuEventRecordWithFlags(CuEvent e, CuStream s, uint32_t flags)
{
	FAKE_BEGIN(true);
	if (flags != CU_EVENT_EXTERNAL || !s->capturing)
		return CUDA_ERROR_INVALID_VALUE;
	return add(s, (Command){ .event = e });
}

int cuEventSynchronize(CuEvent e)
{
	FAKE_BEGIN(true);
	if (e->captured)
		return CUDA_ERROR_CAPTURED_EVENT;
	return e->stream != NULL ? flush(e->stream) : CU_OK;
}

int cuEventElapsedTime(float *out, CuEvent from, CuEvent to)
{
	FAKE_BEGIN(true);
	if (from->captured || to->captured || !from->recorded || !to->recorded)
		return CUDA_ERROR_INVALID_HANDLE;
	*out = (float)((double)(to->ns - from->ns) / 1e6);
	return CU_OK;
}

/* ---- graphs ---- */

int cuStreamBeginCapture_v2(CuStream s, int mode)
{
	FAKE_BEGIN(true);
	if (s->capturing || mode != CU_CAPTURE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	s->capturing = true;
	s->invalid = false;
	return CU_OK;
}

int cuStreamEndCapture(CuStream s, CuGraph *out)
{
	int status = fake_begin(__func__, true);
	*out = NULL;
	if (status == CU_OK && !s->capturing)
		return CUDA_ERROR_INVALID_VALUE;
	s->capturing = false; /* also where it fails */
	if (status != CU_OK || s->invalid) {
		clear(&s->captured);
		return status != CU_OK ? status : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	}
	CuGraph g = calloc(1, sizeof *g);
	g->commands = s->captured;
	s->captured = (Commands){ 0 };
	fake_hold(1);
	*out = g;
	return CU_OK;
}

int cuGraphInstantiateWithFlags(CuGraphExec *out, CuGraph g, uint64_t flags)
{
	FAKE_BEGIN(true);
	if (flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	CuGraphExec x = calloc(1, sizeof *x);
	put_again(&x->commands, &g->commands);
	fake_hold(1);
	*out = x;
	return CU_OK;
}

int cuGraphDestroy(CuGraph g)
{
	FAKE_BEGIN(true);
	clear(&g->commands);
	free(g);
	fake_hold(-1);
	return CU_OK;
}

/* A launch of a graph has marks that are waited for on this stream. */
int cuGraphLaunch(CuGraphExec x, CuStream s)
{
	FAKE_BEGIN(true);
	if (goes(0)) {
		fake_lose(CUDA_ERROR_LAUNCH_FAILED);
		return CUDA_ERROR_LAUNCH_FAILED;
	}
	pthread_mutex_lock(&streams);
	size_t from = s->todo.n;
	put_again(&s->todo, &x->commands);
	for (size_t k = from; k < s->todo.n; k++)
		if (s->todo.at[k].event != NULL)
			*s->todo.at[k].event = (struct CuEvent){ .stream = s };
	pthread_mutex_unlock(&streams);
	return not_captured(s);
}

int cuGraphExecDestroy(CuGraphExec x)
{
	FAKE_BEGIN(true);
	clear(&x->commands);
	free(x);
	fake_hold(-1);
	return CU_OK;
}
