/*
 * The request that harness.c reads, and the emulator's process.
 */
#include "runner.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const runner_levels[] = { "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "armv8-a", NULL };

static bool emulated(const Target *t)
{
	Target host;
	target_host(&host, 1);
	return t->arch != host.arch;
}

bool runner_target(Target *t, const char *level)
{
	Target host;
	Err err = { 0 };
	char file[64];
	snprintf(file, sizeof file, "{\"kind\":\"cpu\",\"model\":\"%s\"}", level);
	ck_assert_msg(target_parse(t, level, file, strlen(file), 1, &err), "%s", err.text);
	target_host(&host, 1);
	if (emulated(t) && t->arch == ARCH_AARCH64 && access(AARCH64_HARNESS, X_OK) == 0 &&
		system("command -v qemu-aarch64 >/dev/null") == 0)
		return true;
	if (target_runs_on(t, &host, &err))
		return true;
	if (emulated(t) && t->arch == ARCH_AARCH64)
		suite_skip_installable(level, "qemu-aarch64 or aarch64-linux-gnu-gcc is missing");
	else
		suite_skip(level, err.text);
	return false;
}

static void put_number(FILE *f, int64_t v)
{
	ck_assert(fwrite(&v, sizeof v, 1, f) == 1);
}

static void put_bytes(FILE *f, const void *p, int64_t n)
{
	ck_assert(n == 0 || fwrite(p, (size_t)n, 1, f) == 1);
}

static int64_t bytes_of(const Tensors *t, int k)
{
	return t->buf[k] == NULL ? 0 : dtype_bytes(t->buf[k]->type, t->elements[k]);
}

static int find(const Tensors *t, const char *name)
{
	for (int k = 0; k < t->n; k++)
		if (strcmp(t->arg[k].name, name) == 0)
			return k;
	ck_abort_msg("no tensor %s", name);
	return -1;
}

static void put_request(FILE *f, const KernelSet *ks, const Module *m, const Tensors *t)
{
	put_number(f, (int64_t)m->image.size);
	put_number(f, t->n);
	put_number(f, m->image.nentry);
	put_bytes(f, m->image.bytes, (int64_t)m->image.size);
	for (int k = 0; k < t->n; k++) {
		put_number(f, bytes_of(t, k));
		put_bytes(f, t->arg[k].data, bytes_of(t, k));
	}
	for (uint32_t k = 0; k < m->image.nentry; k++) {
		const DlcEntry *e = &m->image.entry[k];
		const Fn *fn = ir_find_fn(ks, e->name);
		put_number(f, (int64_t)e->offset);
		put_number(f, (int64_t)e->work_bytes);
		put_number(f, e->nbuf);
		put_number(f, e->nsym);
		for (int j = 0; j < fn->nparam; j++)
			put_number(f, find(t, fn->param[j].name));
		for (int j = 0; j < fn->nsym; j++)
			put_number(f, t->arg[find(t, fn->sym[j].name)].value);
	}
}

static void emulate(Arena *a, const KernelSet *ks, const Module *m, Tensors *t)
{
	char in[] = "/tmp/dlc-test-XXXXXX", out[] = "/tmp/dlc-test-XXXXXX";
	int fd = mkstemp(in), od = mkstemp(out);
	ck_assert_msg(fd >= 0 && od >= 0, "no temporary files");
	FILE *f = fdopen(fd, "wb");
	ck_assert(f != NULL);
	put_request(f, ks, m, t);
	ck_assert(fclose(f) == 0);
	int status = system(arena_printf(a, "qemu-aarch64 %s < %s > %s", AARCH64_HARNESS, in, out));
	f = fdopen(od, "rb");
	ck_assert(f != NULL);
	for (int k = 0; k < t->n && status == 0; k++)
		ck_assert_msg(bytes_of(t, k) == 0 || fread(t->arg[k].data, (size_t)bytes_of(t, k), 1, f) == 1,
			"the harness wrote too little");
	fclose(f);
	unlink(in);
	unlink(out);
	ck_assert_msg(
		status == 0, "the harness ended with %d", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

void runner_run(Arena *a, const Target *target, const KernelSet *ks, const Module *m, Tensors *t)
{
	Mapped *code;
	Err err = { 0 };
	if (emulated(target)) {
		emulate(a, ks, m, t);
		return;
	}
	ck_assert_msg(codegen_map(m, &code, &err), "%s", err.text);
	ck_assert_msg(codegen_call(ks, m, code, t->arg, t->n, &err), "%s: %s", err.place, err.text);
	codegen_unmap(code);
}

unsigned runner_text_bit(const char *name)
{
	return 1u << backend_text(&backend_llvm, name);
}

const char *runner_text(const Module *m, const char *name)
{
	return m->text[backend_text(&backend_llvm, name)];
}

int runner_count(const char *text, const char *what)
{
	int n = 0;
	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}
