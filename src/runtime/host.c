/* See host.h. Caches come from sysfs: sysconf reports wrong sizes on some machines. */
#include "runtime/host.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

bool host_read(char *out, size_t n, const char *path)
{
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return false;
	size_t got = fread(out, 1, n - 1, f);
	fclose(f);
	if (got > 0 && out[got - 1] == '\n')
		got--;
	out[got] = 0;
	return got > 0;
}

/* The file ROOT/FORMAT. */
__attribute__((format(printf, 4, 5))) static bool read_at(char *out, size_t n, const char *root, const char *fmt, ...)
{
	char path[512];
	va_list args;
	int at = snprintf(path, sizeof path, "%s/", root);
	if (at < 0 || (size_t)at >= sizeof path)
		return false;
	va_start(args, fmt);
	int more = vsnprintf(path + at, sizeof path - (size_t)at, fmt, args);
	va_end(args);
	return more > 0 && (size_t)(at + more) < sizeof path && host_read(out, n, path);
}

static const char *or_root(const char *root, const char *usual)
{
	return root != NULL ? root : usual;
}

/* How many CPUs a list such as "0-3,8,10-11" names. */
static int count_list(const char *s)
{
	int n = 0;
	while (isdigit((unsigned char)*s)) {
		char *end;
		long a = strtol(s, &end, 10), b = a;
		if (*end == '-')
			b = strtol(end + 1, &end, 10);
		if (b < a || b - a >= HOST_CPUS)
			return 1;
		n += (int)(b - a) + 1;
		s = *end == ',' ? end + 1 : end;
	}
	return n > 0 ? n : 1;
}

uint64_t host_cache(int level, const char *sys, int *shared_by)
{
	enum { INDICES = 8 };
	const char *dir = "devices/system/cpu/cpu0/cache/index";
	sys = or_root(sys, "/sys");
	for (int i = 0; i < INDICES; i++) {
		char text[32], list[4096];
		if (!read_at(text, sizeof text, sys, "%s%d/type", dir, i) || strcmp(text, "Instruction") == 0 ||
			!read_at(text, sizeof text, sys, "%s%d/level", dir, i) || atoi(text) != level ||
			!read_at(text, sizeof text, sys, "%s%d/size", dir, i))
			continue;
		if (shared_by != NULL)
			*shared_by = read_at(list, sizeof list, sys, "%s%d/shared_cpu_list", dir, i) ? count_list(list) : 1;
		char *end;
		long long size = strtoll(text, &end, 10); /* "32K", "1M", "262144" */
		int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
		return size > 0 && size <= (1 << 30) ? (uint64_t)size << shift : 0;
	}
	return 0;
}

/* Whether the list of a core's CPUs names one before `cpu` that is in the mask. */
static bool names_earlier(const char *list, const uint64_t *mask, int cpu)
{
	for (const char *s = list; isdigit((unsigned char)*s);) {
		char *end;
		long a = strtol(s, &end, 10), b = a;
		if (*end == '-')
			b = strtol(end + 1, &end, 10);
		for (long other = a; other <= b && other < cpu; other++)
			if ((mask[other / 64] >> (other % 64) & 1) != 0)
				return true;
		s = *end == ',' ? end + 1 : end;
	}
	return false;
}

int host_cores(const uint64_t *mask, int ncpu, const char *sys)
{
	int cores = 0;
	for (int cpu = 0; cpu < ncpu; cpu++) {
		char list[4096] = "";
		if ((mask[cpu / 64] >> (cpu % 64) & 1) == 0)
			continue;
		read_at(list, sizeof list, or_root(sys, "/sys"), "devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
		cores += !names_earlier(list, mask, cpu); /* a core counts at its first CPU that we may use */
	}
	return cores > 0 ? cores : 1;
}

int host_granted_cpus(const char *sys)
{
	char text[64];
	long long quota = 0, period = 0;
	sys = or_root(sys, "/sys");
	if (read_at(text, sizeof text, sys, "fs/cgroup/cpu.max")) {
		if (sscanf(text, "%lld %lld", &quota, &period) != 2)
			return INT_MAX; /* "max 100000" */
	} else if (!read_at(text, sizeof text, sys, "fs/cgroup/cpu/cpu.cfs_quota_us") ||
			   sscanf(text, "%lld", &quota) != 1 ||
			   !read_at(text, sizeof text, sys, "fs/cgroup/cpu/cpu.cfs_period_us") ||
			   sscanf(text, "%lld", &period) != 1) {
		return INT_MAX;
	}
	if (quota <= 0 || period <= 0 || quota / period >= HOST_CPUS)
		return INT_MAX;
	return (int)((quota + period - 1) / period);
}

uint64_t host_memory(const char *sys, const char *proc)
{
	static const char *const limits[] = { "fs/cgroup/memory.max", "fs/cgroup/memory/memory.limit_in_bytes" };
	char text[256];
	long long v;
	uint64_t bytes = 0;
	if (read_at(text, sizeof text, or_root(proc, "/proc"), "meminfo") && sscanf(text, "MemTotal: %lld kB", &v) == 1 &&
		v > 0 && v < INT64_MAX >> 10) {
		bytes = (uint64_t)v << 10;
	} else {
		long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
		bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
	}
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (read_at(text, sizeof text, or_root(sys, "/sys"), "%s", limits[i]) && sscanf(text, "%lld", &v) == 1 &&
			v > 0 && (bytes == 0 || (uint64_t)v < bytes))
			bytes = (uint64_t)v;
	return bytes;
}

void host_limit_memory(int percent)
{
#if !defined(__SANITIZE_ADDRESS__) /* whose shadow is larger than any memory */
	uint64_t bytes = host_memory(NULL, NULL) / 100 * (uint64_t)percent;
	struct rlimit l;
	if (bytes == 0 || getrlimit(RLIMIT_DATA, &l) != 0)
		return;
	if (l.rlim_max == RLIM_INFINITY || bytes < l.rlim_max)
		l.rlim_cur = (rlim_t)bytes;
	setrlimit(RLIMIT_DATA, &l);
#endif
}
