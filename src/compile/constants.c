/*
 * See constants.h. Memory comes in blocks; each extends the file and maps the new part. A room of prepare Fns is a
 * block of its own, whose pages no other Fns can write. Copies of other constants follow one another in blocks of
 * COPIES_BYTES or more.
 */
#include "compile/constants.h"

#include "base/map.h"
#include "ir/text/ir_text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COPIES_BYTES = 1 << 20, ALIGN = 64 };

typedef struct Block {
	unsigned char *at;
	size_t bytes, used; /* used: by copies */
	uint64_t offset;    /* in the file */
	bool copies;
} Block;

struct Constants {
	Arena *arena;
	int fd; /* -1: no file */
	const char *path;
	uint64_t bytes; /* of all blocks */
	VEC(Block) block;
	Map copied; /* by address and size: the offset of a copy */
	Map made;   /* by the hash of Fns and inputs: the addresses of what they made */
};

static size_t round_up(size_t n, size_t to)
{
	return ((n > 0 ? n : 1) + to - 1) / to * to;
}

static void close_constants(void *arg)
{
	Constants *c = arg;
	for (size_t i = 0; i < c->block.n; i++)
		if (c->block.at[i].at != NULL)
			munmap(c->block.at[i].at, c->block.at[i].bytes);
	if (c->fd >= 0)
		close(c->fd);
}

/* ---- the file ---- */

#ifdef __linux__
/* Opens this very file by the path? */
static bool opens(const char *path, int fd)
{
	struct stat here, there;
	int by = open(path, O_RDONLY | O_CLOEXEC);
	return by >= 0 && fstat(fd, &here) == 0 && fstat(by, &there) == 0 && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

/*
 * A child tries to open the file: this process may always open its own, and /proc may be missing or another one's.
 * False also where SIGCHLD is ignored, so that the child's end is not told.
 */
static bool others_can_open(const char *path, int fd)
{
	int status = 1;
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of this process runs in the child */
	pid_t child = fork(), got;
	if (child == 0)
		_exit(!opens(path, fd));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (child > 0 && (got = waitpid(child, &status, 0)) < 0 && errno == EINTR)
		;
	return child > 0 && got == child && status == 0;
}

static void open_file(Constants *c)
{
	struct rlimit most;
	if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur != RLIM_INFINITY) /* writing past it is a signal */
		return;
	c->fd = memfd_create("dlc constants", MFD_CLOEXEC);
	c->path = arena_printf(c->arena, "/proc/%ld/fd/%d", (long)getpid(), c->fd);
	if (c->fd >= 0 && fallocate(c->fd, FALLOC_FL_KEEP_SIZE, 0, 1) == 0 && others_can_open(c->path, c->fd))
		return;
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->path = NULL;
}

/*
 * Memory is taken here, where its lack is an error: a page that is missing later is a signal. A signal meanwhile takes
 * a piece back.
 */
static bool extend_file(const Constants *c, size_t n)
{
	enum { PIECE = 16 << 20 };
	for (size_t done = 0, piece; done < n; done += piece) {
		piece = n - done < PIECE ? n - done : PIECE;
		while (fallocate(c->fd, 0, (off_t)(c->bytes + done), (off_t)piece) != 0)
			if (errno != EINTR)
				return false;
	}
	return true;
}

static bool shorten_file(const Constants *c, uint64_t bytes)
{
	return c->fd < 0 || ftruncate(c->fd, (off_t)bytes) == 0;
}
#else
static void open_file(Constants *c)
{
	(void)c;
}

static bool extend_file(const Constants *c, size_t n)
{
	(void)c, (void)n;
	return false;
}

static bool shorten_file(const Constants *c, uint64_t bytes)
{
	(void)c, (void)bytes;
	return true;
}
#endif

Constants *constants_new(Arena *a, bool mapped)
{
	Constants *c = arena_new_of(a, Constants);
	*c = (Constants){ .arena = a, .fd = -1, .copied = MAP_OF(a), .made = MAP_OF(a) };
	arena_at_end(a, close_constants, c);
	if (mapped)
		open_file(c);
	return c;
}

const char *constants_path(const Constants *c)
{
	return c->path;
}

uint64_t constants_bytes(const Constants *c)
{
	return c->bytes;
}

/* ---- memory ---- */

/* A new block; NULL: there is no memory. */
static Block *add_block(Constants *c, size_t n, bool copies)
{
	n = round_up(n, (size_t)sysconf(_SC_PAGESIZE));
	vec_push(c->arena, &c->block, ((Block){ .offset = c->bytes, .copies = copies }));
	Block *b = &c->block.at[c->block.n - 1];
	int flags = MAP_SHARED | (c->fd < 0 ? MAP_ANONYMOUS : 0);
	void *at = c->fd < 0 || extend_file(c, n)
	                   ? mmap(NULL, n, PROT_READ | PROT_WRITE, flags, c->fd, (off_t)(c->fd < 0 ? 0 : b->offset))
	                   : MAP_FAILED;
	if (at == MAP_FAILED) {
		c->block.n--;
		shorten_file(c, c->bytes); /* if it stays longer, that part has zeros */
		return NULL;
	}
	b->at = at;
	b->bytes = n;
	c->bytes += n;
	return b;
}

void *constants_room(Constants *c, size_t n)
{
	const Block *b = add_block(c, n, false);
	return b != NULL ? b->at : NULL;
}

void constants_guard(const Constants *c, const void *room)
{
	for (size_t i = 0; i < c->block.n; i++)
		if (c->block.at[i].at != room)
			mprotect(c->block.at[i].at, c->block.at[i].bytes, PROT_READ);
}

void constants_give_back(Constants *c, void *room)
{
	Block *b = &c->block.at[c->block.n - 1];
	if (b->at != room || !shorten_file(c, b->offset)) /* then it stays: a new room would not have zeros there */
		return;
	munmap(b->at, b->bytes);
	c->bytes -= b->bytes;
	c->block.n--;
}

static int64_t find_offset(const Constants *c, const unsigned char *data, size_t n)
{
	for (size_t i = 0; i < c->block.n; i++) {
		const Block *b = &c->block.at[i];
		if (data >= b->at && data < b->at + b->bytes && n <= b->bytes - (size_t)(data - b->at))
			return (int64_t)(b->offset + (uint64_t)(data - b->at));
	}
	return -1;
}

/* The offset of a copy; -1: there is no memory. */
static int64_t copy(Constants *c, const void *data, size_t n)
{
	size_t room = round_up(n, ALIGN);
	Block *b = NULL;
	for (size_t i = 0; i < c->block.n && b == NULL; i++)
		if (c->block.at[i].copies && c->block.at[i].bytes - c->block.at[i].used >= room)
			b = &c->block.at[i];
	if (b == NULL)
		b = add_block(c, room > COPIES_BYTES ? room : COPIES_BYTES, true);
	if (b == NULL)
		return -1;
	memcpy(b->at + b->used, data, n);
	b->used += room;
	return (int64_t)(b->offset + b->used - room);
}

int64_t constants_offset(Constants *c, const void *data, size_t n)
{
	typedef struct Key {
		const void *data;
		size_t n;
	} Key;
	Key key = { data, n };
	int64_t at = find_offset(c, data, n);
	if (at >= 0)
		return at;
	const MapEntry *e = map_find_bytes(&c->copied, &key, sizeof key);
	if (e != NULL)
		return e->num;
	at = copy(c, data, n);
	if (at >= 0)
		map_add_bytes(&c->copied, &key, sizeof key)->num = at;
	return at;
}

/* ---- what prepare Fns made ---- */

Hash constants_fns(const KernelSet *prepare)
{
	Arena *a = arena_new();
	Text text = { .arena = a };
	ir_print_set(&text, prepare);
	Hash h = hash_of("dlc/prepare-fns/v1", text_str(&text), text.n);
	arena_free(a);
	return h;
}

static Hash key_of(Hash fns, const PrepareJob *job)
{
	HashState s;
	hash_begin(&s, "dlc/constants/v1");
	hash_add(&s, &fns, sizeof fns);
	for (int i = 0; i < job->n; i++) {
		const Prepared *p = &job->given[i];
		hash_add(&s, p->name, strlen(p->name) + 1);
		hash_add(&s, &p->data, sizeof p->data);
		hash_add(&s, &p->bytes, sizeof p->bytes);
	}
	return hash_end(&s);
}

bool constants_find(const Constants *c, Hash fns, const PrepareJob *job)
{
	Hash key = key_of(fns, job);
	const MapEntry *e = map_find_bytes(&c->made, &key, sizeof key);
	for (int i = 0; e != NULL && i < job->nout; i++)
		job->out[i].data = ((void *const *)e->ptr)[i];
	return e != NULL;
}

void constants_add(Constants *c, Hash fns, const PrepareJob *job)
{
	Hash key = key_of(fns, job);
	void **data = arena_array(c->arena, void *, job->nout);
	for (int i = 0; i < job->nout; i++)
		data[i] = job->out[i].data;
	map_add_bytes(&c->made, &key, sizeof key)->ptr = data;
}
