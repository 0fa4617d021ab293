/*
 * A built bundle with one instance, and tensors for it.
 */
#ifndef TESTS_RUNTIME_NET_H
#define TESTS_RUNTIME_NET_H

#include "suite.h"

#include "build.h"
#include "dlc/dlc_runtime.h"

enum { N = 100 }; /* elements of build_add's tensors */

typedef struct Net {
	Build *b;
	unsigned char *bytes;
	DlcModel *m;
	DlcInstance *i;
} Net;

static inline Net net_open(Build *b, int threads)
{
	Net n = { .b = b };
	size_t size;
	DlcError err = { 0 };
	n.bytes = build_finish(b, &size);
	DlcStatus s = dlc_model_open_memory(n.bytes, size, &n.m, &err);
	ck_assert_msg(s == DLC_OK, "%s", err.text);
	s = dlc_instance_open(n.m, threads, &n.i, &err);
	ck_assert_msg(s == DLC_OK, "%s", err.text);
	return n;
}

static inline void net_close(Net *n)
{
	dlc_instance_close(n->i);
	dlc_model_close(n->m);
	free(n->bytes);
	free(n->b);
}

static inline void net_run(Net *n)
{
	DlcError err = { 0 };
	DlcStatus s = dlc_instance_run(n->i, &err);
	ck_assert_msg(s == DLC_OK, "%s", err.text);
}

/* Where a tensor lies today. */
static inline void *net_own(Net *n, DlcRole role, int index)
{
	DlcTensor t;
	ck_assert_int_eq(dlc_instance_tensor(n->i, role, index, &t, NULL), DLC_OK);
	return t.data;
}

static inline DlcTensor tensor(void *data, int64_t *shape)
{
	return (DlcTensor){ .data = data, .device = { 1, 0 }, .ndim = 2, .dtype = { 2, 32, 1 }, .shape = shape };
}

#endif
