/*
 * libFuzzer: a bundle from a stranger.  The first byte chooses: the rest is a file as it is, or one
 * whose checksums are made right, or patches {16-bit place, 32-bit value} to a good one.  What
 * loads gets an instance and is asked everything; it is not run, since its code is whatever it is.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "dlc/dlc_runtime.h"
#include "kernels.h"
#include "runtime/model.h"

enum { SMALL = 1 << 24 };

/* Symbols of every kind, a loop, an if and a copy. */
static unsigned char *good_bundle(size_t *size)
{
	Build *b = build_add(16);
	uint32_t n = build_sym(b, "n", BUNDLE_SYM_INPUT, 1, 8, 0);
	uint32_t i = build_sym(b, "i", BUNDLE_SYM_LOOP, 0, 3, 0);
	uint32_t dim = build_dim(b, (int)n, 1, 0, 1);
	build_sym(b, "m", BUNDLE_SYM_DERIVED, 1, 8, dim);
	build_tensor(b, "more", 1, 1, dim);
	b->h.state_bytes = 1024;
	uint32_t flag = build_slot(b, BUNDLE_STATE, 0, 0, 64);
	uint32_t from = build_slot(b, BUNDLE_STATE, 0, 64, 64);
	b->slot[from].offset = build_dim(b, (int)i, 64, 64, 1);
	BundleOp *loop = build_op(b, BUNDLE_LOOP, "loop");
	loop->sym = i;
	loop->body = 2;
	build_const(b, 0);
	build_const(b, 4);
	loop->ndim = 2;
	BundleOp *branch = build_op(b, BUNDLE_IF, "if");
	branch->body = 1;
	build_arg(b, branch, flag);
	BundleOp *copy = build_op(b, BUNDLE_COPY, "copy");
	build_arg(b, copy, flag);
	build_arg(b, copy, from);
	build_const(b, 64);
	copy->ndim = 1;
	unsigned char *bytes = build_finish(b, size);
	free(b);
	return bytes;
}

static unsigned char *make_file(const uint8_t *data, size_t n, int way, size_t *size)
{
	if (way == 2) {
		static unsigned char *good;
		static size_t all;
		if (good == NULL)
			good = good_bundle(&all);
		unsigned char *bytes = aligned_alloc(64, (all + 63) / 64 * 64);
		memcpy(bytes, good, all);
		*size = all;
		for (; n >= 6; data += 6, n -= 6) {
			size_t at = data[0] | (size_t)data[1] << 8;
			if (at + 4 <= *size)
				memcpy(bytes + at, data + 2, 4);
		}
		build_resum(bytes, *size);
		return bytes;
	}
	*size = n;
	unsigned char *bytes = aligned_alloc(64, (n + 64) / 64 * 64);
	memcpy(bytes, data, n);
	if (way == 1)
		build_resum(bytes, n);
	return bytes;
}

static void look_at(DlcModel *m)
{
	DlcInstance *i;
	for (int r = DLC_INPUT; r <= DLC_OUTPUT; r++)
		for (int k = 0; k < dlc_model_count(m, (DlcRole)r); k++)
			if (dlc_model_find(m, (DlcRole)r, dlc_model_name(m, (DlcRole)r, k)) < 0)
				abort();
	for (int k = 0; k < dlc_model_steps(m); k++)
		if (strlen(dlc_model_step(m, k)) > m->h->text.count)
			abort();
	dlc_model_verify(m, NULL);
	dlc_model_info(m, "model");
	if (m->h->arena_bytes > SMALL || m->h->state_bytes > SMALL || m->work_bytes > SMALL)
		return;
	for (uint32_t k = 0; k < m->h->tensor.count; k++)
		if (bundle_tensor_bytes(m, &m->tensor[k]) > SMALL)
			return;
	if (dlc_instance_open(m, 1, &i, NULL) != DLC_OK)
		return;
	DlcTensor t;
	for (int k = 0; k < dlc_model_count(m, DLC_INPUT); k++)
		if (dlc_instance_tensor(i, DLC_INPUT, k, &t, NULL) == DLC_OK)
			dlc_instance_bind(i, DLC_INPUT, k, &t, NULL);
	for (int k = 0; k < dlc_model_count(m, DLC_OUTPUT); k++)
		dlc_instance_tensor(i, DLC_OUTPUT, k, &t, NULL);
	dlc_instance_close(i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	size_t n;
	unsigned char *bytes = make_file(data + 1, size - 1, data[0] % 3, &n);
	DlcModel *m;
	if (dlc_model_open_memory(bytes, n, &m, NULL) == DLC_OK)
		look_at(m);
	dlc_model_close(m);
	free(bytes);
	return 0;
}
