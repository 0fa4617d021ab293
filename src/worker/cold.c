/*
 * Makes the caches before a sample as a kernel finds them in its network. There all other layers have run since its
 * last turn, and the layer before it has just written its inputs:
 *
 *   constants and code  as far out as the network's constants and workspace push them; constants in
 *                       small pages, like those of a bundle's file, whose addresses must be looked up
 *   outputs, workspace  out of a core's own caches at least, since the layers between use these
 *   inputs              where they are after each thread has written a part, from front to back: most layers share the
 *                       outermost axis of their result
 *
 * A core's own caches are emptied by reading other memory, as much as they hold four times, or as the network has:
 * all that lay there goes to the last cache, where the network finds it too. More would cost milliseconds a sample,
 * which the few milliseconds of a candidate do not have. A network that fills a quarter of the last cache or more finds
 * its constants in memory: other programs and virtual machines share that cache, and constants are read once a run. So
 * does one that does not stay in the part of that cache which this machine really has: a virtual machine with two
 * processors may be told 480 MiB of a cache of which it gets 64 (is_held measures it). Then the lines of constants, and
 * those of code, are sent to memory one by one (clflushopt, dc civac). Where an architecture has no such instruction
 * for programs, as much other memory is read as the network has, or twice the last cache.
 * A device's last cache is emptied as one without such an instruction: memory of its own is copied, half of it to the
 * other half. Its inputs are copied there and back, on its stream: so they are as they were written, and the stream is
 * busy when the sample's kernels are put on it. A device that runs on the host's processors (OpenCL on a CPU) has their
 * caches. There each CPU reads other memory, and lines of constants are flushed where they are mapped. Its code and the
 * addresses of its pages stay: nobody says where the driver has the code.
 *
 * The test of the method: the tasks' times add up to their network's. The numbers are rows of worker/sampling.def.
 */
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/model.h"
#include "runtime/timing.h"
#include "worker/sampling.h"
#include "worker/worker.h"

enum { LINE = 64 };
#if defined(__x86_64__)
enum { FORGOTTEN = 64 }; /* Linux flushes up to 33 pages one by one */
#else
enum { FORGOTTEN = 1024 }; /* 512 on AArch64 */
#endif

static void touch(const void *bytes, size_t n)
{
	const volatile unsigned char *p = bytes;
	for (size_t i = 0; i < n; i += LINE)
		(void)p[i];
}

/* As the layer before leaves it: what is written has to go back to memory one day. */
static void write_same(void *bytes, size_t n)
{
	volatile unsigned char *p = bytes;
	for (size_t i = 0; i < n; i += LINE)
		p[i] = p[i];
}

#if defined(__x86_64__)
__attribute__((target("clflushopt"))) static void flush_lines(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i += LINE)
		__builtin_ia32_clflushopt(p + i);
	__builtin_ia32_mfence();
}

static bool can_flush(void)
{
	unsigned a, b = 0, c, d;
	__asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
	return (b >> 23 & 1) != 0;
}
#elif defined(__aarch64__)
static void flush_lines(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i += LINE)
		__asm__ volatile("dc civac, %0" : : "r"(p + i) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
}

static bool can_flush(void)
{
	return true; /* Linux lets programs do it */
}
#else
static void flush_lines(const unsigned char *p, size_t n)
{
	touch(p, n);
}

static bool can_flush(void)
{
	return false;
}
#endif

/* Memory to read, filled, so that it is not one page of zeros over and over. */
static DlcStatus open_other(Worker *w, size_t bytes, DlcError *err)
{
	unsigned char *more;
	if (bytes <= w->other_bytes)
		return DLC_OK;
	DlcStatus s = site_alloc(&w->site[SITE_HOST], bytes, &more, err);
	if (s != DLC_OK)
		return s;
	memset(more, 1, bytes);
	if (w->other != NULL)
		device_cpu.release(NULL, w->other, w->other_bytes);
	w->other = more;
	w->other_bytes = bytes;
	return DLC_OK;
}

enum { PIECE = 128 << 10, PIECES = 2048 };

/* The median time of pieces that are read one after another, in nanoseconds; there is one at least. */
static double piece_ns(const unsigned char *p, size_t bytes)
{
	double ns[PIECES];
	int n = 0;
	for (size_t at = 0; at + PIECE <= bytes && n < PIECES; at += PIECE) {
		uint64_t start = timing_wall_ns();
		touch(p + at, PIECE);
		ns[n++] = (double)(timing_wall_ns() - start);
	}
	return timing_summary(ns, n).median;
}

/*
 * Whether the last cache still holds what was read so many bytes ago: then reading it again takes a time nearer to that
 * of a few bytes, which the cache holds in any case, than to that of lines that were sent to memory.
 */
static bool seems_held(unsigned char *p, size_t bytes, size_t few)
{
	memset(p, 1, bytes);
	size_t end = bytes < (size_t)PIECE * PIECES ? bytes : (size_t)PIECE * PIECES; /* of what is timed */
	double again = piece_ns(p, end);
	touch(p, few);
	double near = piece_ns(p, few);
	flush_lines(p, end);
	double far = piece_ns(p, end);
	return 2 * again < near + far;
}

bool worker_cold_asks(int held, int looks, uint64_t ns)
{
	int all = ns < SAMPLING_LOOKS_MS * 1000000ull ? SAMPLING_LOOKS : SAMPLING_LOOKS_LEAST;
	int most = 2 * held > looks ? held : looks - held;
	return 2 * most <= all || 2 * held == looks;
}

/*
 * As most of several looks say: who shares the cache empties it at some times and not at others. The first
 * answer of a worker waits for them: that is no part of its samples' budget, but of its parent's deadline (RUN_MS).
 */
static bool is_held(size_t bytes, size_t few)
{
	static const struct timespec pause = { 0, SAMPLING_LOOK_PAUSE_US * 1000 };
	unsigned char *p = device_cpu.alloc(NULL, bytes);
	uint64_t start = timing_wall_ns();
	int held = 0, looks = 0;
	if (p == NULL)
		return false;
	for (; worker_cold_asks(held, looks, timing_wall_ns() - start); looks++) {
		if (looks > 0)
			nanosleep(&pause, NULL);
		held += seems_held(p, bytes, few);
	}
	device_cpu.release(NULL, p, bytes);
	return 2 * held > looks;
}

void worker_cold_close(Worker *w)
{
	if (w->other != NULL)
		device_cpu.release(NULL, w->other, w->other_bytes);
	if (w->rights != NULL)
		device_cpu.release(NULL, w->rights, w->rights_bytes);
	if (w->scratch != NULL)
		site_release(worker_own(w), w->scratch, w->scratch_bytes);
	w->other = w->rights = w->scratch = NULL;
	w->other_bytes = w->rights_bytes = w->scratch_bytes = 0;
}

DlcStatus worker_cold_open(Worker *w, uint64_t network, DlcError *err)
{
	const Site *at = worker_own(w);
	bool host = at->device->on_host || at->cpus > 0;
	uint64_t own = host ? host_cache(2, NULL, NULL) : 0;
	uint64_t last = host ? host_cache(3, NULL, NULL) : at->device->cache(at->context);
	own = host ? SAMPLING_OWN_TIMES * (own > 0 ? own : (uint64_t)SAMPLING_OWN_CACHE_KIB << 10) : 0;
	last = last > 0 ? last : (uint64_t)SAMPLING_LAST_CACHE_KIB << 10;
	w->can_flush = host && can_flush();
	bool fits = network <= last / SAMPLING_LAST_PART;
	uint64_t passes = SAMPLING_ROOM * network; /* between two runs of a Task, what others read of this cache included */
	uint64_t few = own > PIECE ? own : PIECE;
	if (fits && w->can_flush && passes > few && w->asked != network) {
		w->asked = network;
		w->held = is_held((size_t)passes, (size_t)few);
	}
	fits = fits && (passes <= few || !w->can_flush || w->held);
	w->flushes = !fits && w->can_flush;
	w->touched = fits || w->flushes ? own : network <= last ? network : SAMPLING_LAST_TIMES * last;
	w->touched = network < w->touched ? network : w->touched;
	if (w->flushes && w->rights == NULL) {
		w->rights_bytes = FORGOTTEN * (size_t)sysconf(_SC_PAGESIZE);
		DlcStatus s = site_alloc(&w->site[SITE_HOST], w->rights_bytes, &w->rights, err);
		if (s != DLC_OK)
			return s;
		worker_as_mapped(w->rights, w->rights_bytes);
	}
	return host ? open_other(w, (size_t)w->touched, err) : DLC_OK;
}

static void flush_code(const Worker *w, const LoadedProgram *p)
{
	for (uint32_t i = 0; i < p->ncall; i++) {
		Module *m = w->module[p->call[i].module];
		flush_lines(m->code, m->bytes);
		__builtin___clear_cache((char *)m->code, (char *)m->code + m->bytes);
	}
}

/* Each CPU's own caches: each thread of a program has some, and a device on the host uses all of them. */
static void touch_thread(void *arg, int thread)
{
	const Worker *w = arg;
	(void)thread;
	touch(w->other, (size_t)w->touched);
}

typedef struct Written {
	const LoadedProgram *p;
	int threads;
} Written;

size_t worker_cold_part(size_t n, int thread, int threads, size_t *from)
{
	size_t lines = (n + LINE - 1) / LINE, to = lines * (size_t)(thread + 1) / (size_t)threads * LINE;
	*from = lines * (size_t)thread / (size_t)threads * LINE;
	return (to < n ? to : n) - *from;
}

/* The thread's part of each input. */
static void write_thread(void *arg, int thread)
{
	const Written *x = arg;
	const LoadedProgram *p = x->p;
	for (uint32_t i = 0; i < p->narg; i++) {
		size_t from, n = worker_cold_part((size_t)p->arg[i].bytes, thread, x->threads, &from);
		if (p->arg[i].use == MSG_USE_INPUT && p->address[i] != NULL)
			write_same((unsigned char *)p->address[i] + from, n);
	}
}

/* Constants of a device that lie in the host's caches. */
static void flush_mapped(const LoadedProgram *p)
{
	const Site *at = p->site;
	for (uint32_t i = 0; i < p->narg; i++) {
		size_t n = (size_t)p->arg[i].bytes;
		void *seen = NULL;
		if (p->arg[i].use == MSG_USE_CONST && p->address[i] != NULL)
			seen = at->device->map(at->stream, p->address[i], n);
		if (seen == NULL)
			continue;
		flush_lines(seen, n);
		at->device->unmap(at->stream, p->address[i], seen);
	}
}

/* Two halves of device memory, each of `half` bytes. */
static DlcStatus open_scratch(Worker *w, Site *at, size_t half, DlcError *err)
{
	unsigned char *more;
	if (2 * half <= w->scratch_bytes)
		return DLC_OK;
	DlcStatus s = site_alloc(at, 2 * half, &more, err);
	if (s != DLC_OK)
		return s;
	if (w->scratch != NULL)
		site_release(at, w->scratch, w->scratch_bytes);
	w->scratch = more;
	w->scratch_bytes = 2 * half;
	return DLC_OK;
}

static DlcStatus cold_device(Worker *w, const LoadedProgram *p, DlcError *err)
{
	Site *at = p->site;
	const Device *d = at->device;
	size_t swept = at->cpus > 0 ? 0 : (size_t)(w->touched / 2), half = swept;
	for (uint32_t i = 0; i < p->narg; i++)
		if (p->arg[i].use == MSG_USE_INPUT && p->arg[i].bytes > half)
			half = (size_t)p->arg[i].bytes;
	if (at->cpus > 0)
		team_run(w->team, touch_thread, w);
	if (w->flushes)
		flush_mapped(p);
	DlcStatus s = open_scratch(w, at, half, err);
	if (s != DLC_OK)
		return s;
	int status = swept > 0 ? d->copy(at->stream, w->scratch + half, w->scratch, swept, DEVICE_WITHIN) : 0;
	for (uint32_t i = 0; i < p->narg && status == 0; i++) {
		size_t n = (size_t)p->arg[i].bytes;
		if (p->arg[i].use != MSG_USE_INPUT || p->address[i] == NULL)
			continue;
		status = d->copy(at->stream, w->scratch, p->address[i], n, DEVICE_WITHIN);
		if (status == 0)
			status = d->copy(at->stream, p->address[i], w->scratch, n, DEVICE_WITHIN);
	}
	return status == 0 ? DLC_OK : site_failed(at, status, false, "", err);
}

DlcStatus worker_cold(Worker *w, const LoadedProgram *p, DlcError *err)
{
	if (!p->site->device->on_host)
		return cold_device(w, p, err);
	/* Reading data pushes no code out of the first cache: it goes to memory, and comes back as data. */
	if (w->can_flush && !w->flushes) {
		flush_code(w, p);
		for (uint32_t i = 0; i < p->ncall; i++)
			touch(w->module[p->call[i].module]->code, w->module[p->call[i].module]->bytes);
	}
	team_spread(w->team);
	team_run(w->team, touch_thread, w);
	if (w->flushes) {
		/*
		 * Nor are the addresses of pages known: a change of rights of so many pages of a process makes systems forget
		 * those of all. Of any pages: on the constants themselves it would cost a fault for each page that a prepare
		 * Fn writes next.
		 */
		write_same(w->rights, w->rights_bytes); /* what is not there has no rights to change */
		mprotect(w->rights, w->rights_bytes, PROT_READ);
		mprotect(w->rights, w->rights_bytes, PROT_READ | PROT_WRITE);
		flush_code(w, p);
	}
	for (uint32_t i = 0; i < p->narg; i++)
		if (w->flushes && p->arg[i].use == MSG_USE_CONST && p->address[i] != NULL)
			flush_lines(p->address[i], (size_t)p->arg[i].bytes);
	team_run(w->team, write_thread, &(Written){ p, team_threads(w->team) });
	return DLC_OK;
}
