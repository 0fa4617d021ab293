/* See far.h. */
#include "far.h"

#include <string.h>

#include "suite.h"

#include "kernels.h"

enum { QUEUE = 4096, ARGS = 8 };

typedef struct Command {
	DlcKernel kernel; /* NULL: a copy or a fill */
	void *buf[ARGS];
	int64_t sym[ARGS];
	uint64_t *mark; /* a mark instead */
	uint32_t threads;
	void *to;
	const void *from;
	size_t bytes;
	unsigned char byte; /* that fills `to`, where `from` is NULL */
} Command;

struct DeviceStream {
	Command queue[QUEUE];
	int n, failed;
	uint64_t clock, mark[DEVICE_MARKS];
};

struct DeviceContext {
	int id;
};

int far_held, far_room = -1, far_lost, far_downs;
uint32_t far_launched[FAR_LAUNCHES];
int far_nlaunched;

static DlcStatus far_open(int32_t id, DeviceContext **out, DlcError *err)
{
	(void)err;
	*out = calloc(1, sizeof **out);
	(*out)->id = id;
	far_held++;
	return DLC_OK;
}

static void far_close(DeviceContext *c)
{
	far_held--;
	free(c);
}

static uint64_t far_memory(const DeviceContext *c)
{
	(void)c;
	return 1 << 30;
}

static bool far_has(const DeviceContext *c, const char *feature)
{
	(void)c;
	return strcmp(feature, "far1") == 0;
}

static void *far_alloc(DeviceContext *c, size_t bytes)
{
	(void)c;
	if (bytes == 0 || far_lost != 0 || far_room == 0) /* bytes: as CUDA refuses it */
		return NULL;
	far_room -= far_room > 0;
	void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
	memset(p, 0, bytes);
	far_held++;
	return (void *)((uintptr_t)p ^ FAR);
}

static void far_release(DeviceContext *c, void *memory, size_t bytes)
{
	(void)c, (void)bytes;
	far_held--;
	free((void *)((uintptr_t)memory ^ FAR));
}

static void *far_code_load(DeviceContext *c, const void *image, size_t bytes, bool in_place, DlcError *err)
{
	(void)c;
	ck_assert(!in_place);
	far_held++;
	return device_cpu.code_load(NULL, image, bytes, false, err);
}

static void far_code_release(DeviceContext *c, const void *image, void *code, size_t bytes)
{
	(void)c;
	far_held--;
	device_cpu.code_release(NULL, image, code, bytes);
}

static void *far_kernel(DeviceContext *c, void *code, const char *name, uint64_t offset, DlcError *err)
{
	const DlcImage *image = test_image();
	(void)c, (void)err;
	ck_assert_uint_eq(offset, 0);
	for (uint32_t k = 0; k < image->nentry; k++)
		if (strcmp(image->entry[k].name, name) == 0)
			return (unsigned char *)code + image->entry[k].offset;
	return NULL;
}

static DeviceStream *far_stream_open(DeviceContext *c)
{
	(void)c;
	far_held++;
	return calloc(1, sizeof(DeviceStream));
}

static void far_stream_close(DeviceStream *s)
{
	far_held--;
	free(s);
}

static Command *far_put(DeviceStream *s)
{
	ck_assert_int_lt(s->n, QUEUE);
	return &s->queue[s->n++];
}

static int far_synchronize(DeviceStream *s)
{
	for (int k = 0; k < s->n; k++) {
		const Command *c = &s->queue[k];
		s->clock += 10;
		if (c->mark != NULL)
			*c->mark = s->clock;
		else if (c->kernel == NULL && c->from == NULL)
			memset(c->to, c->byte, c->bytes);
		else if (c->kernel == NULL)
			memmove(c->to, c->from, c->bytes);
		for (uint32_t t = 0; c->kernel != NULL && t < c->threads && s->failed == 0; t++) {
			const DlcCall call = { .buf = c->buf, .sym = c->sym, .thread = t, .threads = c->threads };
			s->failed = c->kernel(&call);
		}
	}
	s->n = 0;
	int failed = s->failed;
	s->failed = 0;
	return failed;
}

static int far_copy(DeviceStream *s, void *to, const void *from, size_t bytes, DeviceWay way)
{
	Command *c = far_put(s);
	uintptr_t x = (uintptr_t)to, y = (uintptr_t)from;
	ck_assert(way != DEVICE_WITHIN || x + bytes <= y || y + bytes <= x); /* drivers do not define it */
	*c = (Command){ .to = way == DEVICE_DOWN ? to : (void *)((uintptr_t)to ^ FAR),
		.from = way == DEVICE_UP ? from : (const void *)((uintptr_t)from ^ FAR),
		.bytes = bytes };
	far_downs += way == DEVICE_DOWN;
	return 0;
}

static int far_fill(DeviceStream *s, void *to, unsigned char byte, size_t bytes)
{
	*far_put(s) = (Command){ .to = (void *)((uintptr_t)to ^ FAR), .byte = byte, .bytes = bytes };
	return 0;
}

static int far_launch(DeviceStream *s, void *kernel, const DlcCall *call, const DeviceLaunch *how)
{
	Command *c = far_put(s);
	*c = (Command){ .threads = 1 };
	memcpy(&c->kernel, &kernel, sizeof c->kernel);
	for (int k = DLC_GRID; k < DLC_SHARED; k++)
		c->threads *= how->dim[k];
	for (uint32_t k = 0; k < how->nbuf; k++)
		c->buf[k] = (void *)((uintptr_t)call->buf[k] ^ FAR);
	memcpy(c->sym, call->sym, sizeof *c->sym * how->nsym);
	if (far_nlaunched < FAR_LAUNCHES)
		far_launched[far_nlaunched++] = c->threads + 1000000 * how->dim[DLC_SHARED];
	return 0;
}

static void far_mark(DeviceStream *s, uint32_t k)
{
	*far_put(s) = (Command){ .mark = &s->mark[k] };
}

static uint64_t far_time(DeviceStream *s, uint32_t from, uint32_t to)
{
	s->failed = far_synchronize(s);
	return s->mark[to] - s->mark[from];
}

static uint64_t far_cache(const DeviceContext *c)
{
	(void)c;
	return 1 << 16;
}

static int far_is_lost(const DeviceContext *c)
{
	(void)c;
	return far_lost;
}

const Device device_far = {
	.name = "far",
	.type = DLC_DEVICE_CUDA,
	.open = far_open,
	.lost = far_is_lost,
	.close = far_close,
	.memory = far_memory,
	.has = far_has,
	.cache = far_cache,
	.alloc = far_alloc,
	.release = far_release,
	.code_load = far_code_load,
	.code_release = far_code_release,
	.kernel = far_kernel,
	.stream_open = far_stream_open,
	.stream_close = far_stream_close,
	.copy = far_copy,
	.fill = far_fill,
	.launch = far_launch,
	.synchronize = far_synchronize,
	.mark = far_mark,
	.time = far_time,
};

void far_fail(DeviceStream *s, int status)
{
	s->failed = status;
}
