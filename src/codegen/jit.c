/*
 * A module in this process: the row of its device makes the code executable and launches its kernels. Heap memory
 * lives from codegen_map to codegen_unmap, and during a call.
 */
#include "codegen/codegen.h"
#include "runtime/device.h"

#include <stdlib.h>
#include <string.h>

struct Mapped {
	const Device *device;
	DeviceStream *stream;
	const DlcImage *image;
	void *code;
	void *kernel[]; /* of each entry */
};

bool codegen_map(const Module *m, Mapped **out, Err *err)
{
	const Device *device = device_find(m->image.device);
	*out = NULL;
	if (device == NULL || !device->on_host)
		return fail(err, ERR_BUG, "", "the module's code is for device type %d, not for a CPU", (int)m->image.device);
	Mapped *p = calloc(1, sizeof *p + m->image.nentry * sizeof *p->kernel);
	DeviceStream *stream = p != NULL ? device->stream_open(NULL) : NULL; /* a host's device needs no context */
	if (stream == NULL) {
		free(p);
		return fail(err, ERR_MEMORY, "", "no memory");
	}
	p->device = device;
	p->stream = stream;
	p->image = &m->image;
	p->code = device->code_load(NULL, m->image.bytes, m->image.size, false, NULL);
	if (p->code == NULL) {
		codegen_unmap(p);
		return fail(err, ERR_DEVICE, "",
			"this process may not execute the %llu bytes of code that it compiled: let it have PROT_EXEC",
			(unsigned long long)m->image.size);
	}
	for (uint32_t k = 0; k < m->image.nentry; k++) {
		const DlcEntry *e = &m->image.entry[k];
		p->kernel[k] = device->kernel(NULL, p->code, e->name, e->offset, NULL);
	}
	*out = p;
	return true;
}

void codegen_unmap(Mapped *p)
{
	if (p == NULL)
		return;
	if (p->code != NULL)
		p->device->code_release(NULL, p->image->bytes, p->code, p->image->size);
	p->device->stream_close(p->stream);
	free(p);
}

int codegen_launch(const Mapped *p, uint32_t k, const DlcCall *call)
{
	return p->device->launch(p->stream, p->kernel[k], call, NULL);
}

/* What a call allocates: buffers that no argument gives, and workspace. */
typedef struct Call {
	const IrArg *arg;
	int n;
	IrArg *own;
	int nown;
	Err *err;
} Call;

static const IrArg *find_arg(const Call *c, const char *name)
{
	for (int k = 0; k < c->n + c->nown; k++) {
		const IrArg *a = k < c->n ? &c->arg[k] : &c->own[k - c->n];
		if (strcmp(a->name, name) == 0)
			return a;
	}
	return NULL;
}

static void *zeroed(int64_t bytes)
{
	size_t n = ((size_t)bytes + DLC_CALL_ALIGN) / DLC_CALL_ALIGN * DLC_CALL_ALIGN;
	void *p = bytes < 0 || (uint64_t)bytes > SIZE_MAX / 2 ? NULL : aligned_alloc(DLC_CALL_ALIGN, n);
	if (p != NULL)
		memset(p, 0, n);
	return p;
}

static bool bind(Call *c, const Fn *f, void **buf, int64_t *sym)
{
	int nbuf = 0, nsym = 0;
	for (int k = 0; k < f->nsym; k++) {
		const IrArg *a = find_arg(c, f->sym[k].name);
		if (a == NULL)
			return fail(c->err, ERR_TYPE, f->name, "no value was given for symbol %s", f->sym[k].name);
		sym[nsym++] = a->value;
	}
	for (int k = 0; k < f->nparam; k++) {
		const Param *p = &f->param[k];
		const IrArg *a = find_arg(c, p->name);
		if (a == NULL && p->buf == NULL)
			return fail(c->err, ERR_TYPE, f->name, "no value was given for %s", p->name);
		if (p->buf == NULL) {
			sym[nsym++] = a->value;
			continue;
		}
		if (a == NULL) {
			int64_t bytes = dtype_bytes(p->buf->type, ir_buf_elements(p->buf, c->arg, c->n));
			c->own[c->nown] = (IrArg){ .name = p->name, .data = zeroed(bytes) };
			a = &c->own[c->nown++];
			if (a->data == NULL)
				return fail(c->err, ERR_MEMORY, f->name, "there is no memory for buffer %s", p->name);
		}
		buf[nbuf++] = a->data;
	}
	return true;
}

static bool call_one(Call *c, const Fn *f, const Mapped *p, uint32_t k)
{
	const DlcEntry *e = &p->image->entry[k];
	void **buf = calloc(e->nbuf + 1u, sizeof *buf);
	int64_t *sym = calloc(e->nsym + 1u, sizeof *sym);
	void *work = zeroed((int64_t)e->work_bytes);
	bool ok = buf != NULL && sym != NULL && work != NULL;
	if (!ok)
		fail(c->err, ERR_MEMORY, f->name, "there is no memory for the workspace of %llu bytes",
			(unsigned long long)e->work_bytes);
	ok = ok && bind(c, f, buf, sym);
	if (ok) {
		DlcCall call = { .buf = buf, .sym = sym, .work = work, .thread = 0, .threads = 1 };
		int status = codegen_launch(p, k, &call);
		if (status != 0)
			ok = fail(c->err, ERR_BUG, f->name, "the kernel returned %d", status);
	}
	free(work);
	free(sym);
	free(buf);
	return ok;
}

bool codegen_call(const KernelSet *ks, const Module *m, const Mapped *p, const IrArg *arg, int n, Err *err)
{
	size_t most = 1;
	for (uint32_t k = 0; k < m->image.nentry; k++)
		most += m->image.entry[k].nbuf;
	Call c = { .arg = arg, .n = n, .own = calloc(most, sizeof *c.own), .err = err };
	bool ok = true;
	if (c.own == NULL)
		return fail(err, ERR_MEMORY, "", "no memory");
	for (uint32_t k = 0; ok && k < m->image.nentry; k++) {
		const DlcEntry *e = &m->image.entry[k];
		const Fn *f = ir_find_fn(ks, e->name);
		ok = f != NULL ? call_one(&c, f, p, k)
		               : fail(err, ERR_BUG, e->name, "the kernel set has no such Fn: the module is of another set");
	}
	for (int k = 0; k < c.nown; k++)
		free(c.own[k].data);
	free(c.own);
	return ok;
}
