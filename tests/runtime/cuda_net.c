/* See cuda_net.h. */
#include "cuda_net.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "kernels.h"

enum { PTX = 16384 };

/* What kernels.c of the fake driver has, as PTX without bodies. */
static char *write_ptx(const char *head)
{
	static const struct {
		const char *name;
		int arguments;
	} ROW[] = {
#define K(name, nbuf, nsym, work) { #name, nbuf + nsym + 1 },
		TEST_KERNELS(K)
#undef K
	};
	static char text[PTX];
	int n = snprintf(text, PTX, "%s.address_size 64\n", head);
	for (int k = 0; k < LEN(ROW); k++) {
		n += snprintf(text + n, PTX - (size_t)n, ".visible .entry dlc_%s(\n", ROW[k].name);
		for (int a = 0; a < ROW[k].arguments; a++)
			n += snprintf(text + n, PTX - (size_t)n, "\t.param .u64 dlc_%s_param_%d%s\n", ROW[k].name, a,
				a + 1 < ROW[k].arguments ? "," : "");
		n += snprintf(text + n, PTX - (size_t)n, ")\n{\n\tret;\n}\n");
	}
	return text;
}

/* The bundle's kernels as PTX, in ceil(n / 32) blocks of 32 threads. */
Build *for_cuda(Build *b, const char *head)
{
	b->source = write_ptx(head);
	b->h.device = DLC_DEVICE_CUDA;
	b->h.arch = BUNDLE_ANY;
	b->image[0].bytes = strlen(b->source) + 1;
	b->h.launch.count = b->h.entry.count;
	for (uint32_t k = 0; k < b->h.entry.count; k++) {
		bool wide = k == KERNEL_add || k == KERNEL_twice;
		if (k >= KERNEL_store && k != KERNEL_crash)
			b->entry[k] = b->entry[KERNEL_nop]; /* tests/fake_cuda/kernels.c has it not */
		for (int d = 0; d < DLC_LAUNCH_DIMS; d++)
			b->launch[k].dim[d] = (DlcDim){ { -1, -1 }, 0, d < DLC_SHARED, 1 };
		if (wide)
			b->launch[k].dim[DLC_GRID] = (DlcDim){ { 0, -1 }, 1, 31, 32 };
		b->launch[k].dim[DLC_BLOCK].add = 32;
		b->entry[k].launch = k + 1;
		b->entry[k].offset = 0;
	}
	return b;
}

const char *const CUDA_HEAD = ".version 7.8\n.target sm_75\n";

DlcStatus open_cuda(Build *b, Net *n, DlcError *err)
{
	size_t size;
	*n = (Net){ .b = b, .bytes = build_finish(b, &size) };
	DlcStatus s = dlc_model_open_memory(n->bytes, size, &n->m, err);
	return s == DLC_OK ? dlc_instance_open(n->m, 0, &n->i, err) : s;
}

Net opened(Build *b)
{
	Net n;
	DlcError err = { 0 };
	ck_assert_msg(open_cuda(b, &n, &err) == DLC_OK, "%s", err.text);
	return n;
}

/* A function of the fake driver. */
int ask(const char *function, const char *about)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW), *found = dlsym(lib, function);
	int (*f)(const char *);
	ck_assert(found != NULL);
	memcpy(&f, &found, sizeof f);
	int n = f(about);
	dlclose(lib);
	return n;
}

int calls(const char *function)
{
	return ask("fake_cuda_calls", function);
}

void closed(Net *n)
{
	net_close(n);
	ck_assert_int_eq(ask("fake_cuda_held", NULL), 0);
}

void bind(Net *n, DlcRole role, int index, DlcTensor t)
{
	DlcError err = { 0 };
	ck_assert_msg(dlc_instance_bind(n->i, role, index, &t, &err) == DLC_OK, "%s", err.text);
}
