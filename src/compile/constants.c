/*
 * See constants.h. Memory comes in blocks, each mapped from the end of the file on. Where there is no file they are
 * shared with forks alone.
 */
#include "compile/constants.h"

#include "base/hash.h"
#include "base/map.h"
#include "ir/text/ir_text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 20, ALIGN = 64 };

typedef struct Block {
	unsigned char *at;
	size_t bytes, used;
	uint64_t offset; /* in the file */
} Block;

struct Constants {
	Arena *arena;
	int fd; /* -1: no file */
	const char *path;
	VEC(Block) block;
	Map copied; /* by address: the offset of a copy */
	Map made;   /* by the hash of Fns and inputs: the addresses of what they made */
};

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static void close_constants(void *arg)
{
	Constants *c = arg;
	for (size_t i = 0; i < c->block.n; i++)
		munmap(c->block.at[i].at, c->block.at[i].bytes);
	if (c->fd >= 0)
		close(c->fd);
}

static void open_file(Constants *c)
{
#ifdef __linux__
	c->fd = memfd_create("dlc constants", MFD_CLOEXEC);
	c->path = arena_printf(c->arena, "/proc/%ld/fd/%d", (long)getpid(), c->fd);
	int seen = c->fd >= 0 ? open(c->path, O_RDONLY | O_CLOEXEC) : -1;
	if (seen >= 0) {
		close(seen);
		return;
	}
	if (c->fd >= 0) /* there is no /proc */
		close(c->fd);
#endif
	c->fd = -1;
	c->path = NULL;
}

Constants *constants_new(Arena *a, bool mapped)
{
	Constants *c = arena_new_of(a, Constants);
	*c = (Constants){ .arena = a, .fd = -1, .copied = MAP_OF(a), .made = MAP_OF(a) };
	if (mapped)
		open_file(c);
	arena_at_end(a, close_constants, c);
	return c;
}

const char *constants_path(const Constants *c)
{
	return c->path;
}

uint64_t constants_bytes(const Constants *c)
{
	const Block *last = c->block.n > 0 ? &c->block.at[c->block.n - 1] : NULL;
	return last != NULL ? last->offset + last->bytes : 0;
}

static bool add_block(Constants *c, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	Block b = { .bytes = round_up(n > BLOCK_BYTES ? n : BLOCK_BYTES, page), .offset = constants_bytes(c) };
	if (c->fd >= 0 && ftruncate(c->fd, (off_t)(b.offset + b.bytes)) != 0)
		return false;
	int flags = MAP_SHARED | (c->fd < 0 ? MAP_ANONYMOUS : 0);
#ifdef MAP_POPULATE
	flags |= n >= BLOCK_BYTES ? MAP_POPULATE : 0; /* all of it will be written: no fault for each page */
#endif
	void *at = mmap(NULL, b.bytes, PROT_READ | PROT_WRITE, flags, c->fd, (off_t)(c->fd < 0 ? 0 : b.offset));
	if (at == MAP_FAILED)
		return false;
	b.at = at;
	vec_push(c->arena, &c->block, b);
	return true;
}

void *constants_room(Constants *c, size_t n)
{
	Block *last = c->block.n > 0 ? &c->block.at[c->block.n - 1] : NULL;
	if (last == NULL || last->bytes - last->used < round_up(n, ALIGN)) {
		if (!add_block(c, round_up(n, ALIGN)))
			return NULL;
		last = &c->block.at[c->block.n - 1];
	}
	void *room = last->at + last->used;
	last->used += round_up(n, ALIGN);
	return room;
}

void constants_give_back(Constants *c, void *room, size_t n)
{
	memset(room, 0, n);
	c->block.at[c->block.n - 1].used -= round_up(n, ALIGN);
}

static int64_t offset_of(const Constants *c, const unsigned char *data, size_t n)
{
	for (size_t i = 0; i < c->block.n; i++) {
		const Block *b = &c->block.at[i];
		if (data >= b->at && data < b->at + b->bytes && n <= b->bytes - (size_t)(data - b->at))
			return (int64_t)(b->offset + (uint64_t)(data - b->at));
	}
	return -1;
}

int64_t constants_place(Constants *c, const void *data, size_t n)
{
	typedef struct Key {
		const void *data;
		size_t n;
	} Key;
	Key key = { data, n };
	int64_t at = offset_of(c, data, n);
	if (at >= 0)
		return at;
	MapEntry *e = map_find_bytes(&c->copied, &key, sizeof key);
	if (e != NULL)
		return e->num;
	void *copy = constants_room(c, n);
	if (copy == NULL)
		return -1;
	memcpy(copy, data, n);
	at = offset_of(c, copy, n);
	map_add_bytes(&c->copied, &key, sizeof key)->num = at;
	return at;
}

static Hash key_of(const KernelSet *prepare, const PrepareJob *job)
{
	HashState s;
	Arena *a = arena_new();
	Text text = { .arena = a };
	ir_print_set(&text, prepare);
	hash_begin(&s, "dlc/constants/v1");
	hash_add(&s, text_str(&text), text.n + 1);
	for (int i = 0; i < job->n; i++) {
		const Prepared *p = &job->given[i];
		hash_add(&s, p->name, strlen(p->name) + 1);
		hash_add(&s, &p->data, sizeof p->data);
		hash_add(&s, &p->bytes, sizeof p->bytes);
	}
	arena_free(a);
	return hash_end(&s);
}

bool constants_find(const Constants *c, const KernelSet *prepare, const PrepareJob *job)
{
	Hash key = key_of(prepare, job);
	const MapEntry *e = map_find_bytes(&c->made, &key, sizeof key);
	for (int i = 0; e != NULL && i < job->nout; i++)
		job->out[i].data = ((void *const *)e->ptr)[i];
	return e != NULL;
}

void constants_add(Constants *c, const KernelSet *prepare, const PrepareJob *job)
{
	Hash key = key_of(prepare, job);
	void **data = arena_array(c->arena, void *, job->nout);
	for (int i = 0; i < job->nout; i++)
		data[i] = job->out[i].data;
	map_add_bytes(&c->made, &key, sizeof key)->ptr = data;
}
