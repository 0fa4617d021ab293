/* See code_cache.h. A file is a head, its entries, its reports and the image; one checksum over all and the key. */
#include "codegen/code_cache.h"

#include "base/file.h"
#include "base/hash.h"
#include "codegen/backend.h"
#include "ir/text/ir_text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ENTRIES = 256, MOST_IMAGE = 64 << 20, BLOCK = 4096, TRIM_ONE_IN = 32 };

typedef struct Head {
	char magic[8];
	Hash sum; /* of the key and what follows in the file */
	uint32_t nentry, entry_bytes;
	int32_t device;
	uint32_t zero;
	uint64_t image_bytes;
} Head;

typedef struct Numbers {
	int64_t spills, frame_bytes, code_bytes, depth;
	double inner_spills;
} Numbers;

static const char magic[8] = "dlccode3";

static Hash key_of(Arena *a, const KernelSet *ks, const Target *t, const Backend *b)
{
	Text text = { .arena = a };
	text_add(&text, "%s, %s\nepoch %d\n%s, device %d\n", b->name, b->compiler, CODEGEN_EPOCH,
		target_kind_name(t->kind), b->device);
	b->key(t, &text);
	ir_print_set(&text, ks);
	return hash_of("dlc/code/v2", text_str(&text), text.n);
}

/* A file under another one's name is as wrong as one with a changed byte. */
static Hash sum_of(Hash key, const unsigned char *bytes, size_t n)
{
	HashState s;
	hash_begin(&s, "dlc/code/file/v2");
	hash_add(&s, &key, sizeof key);
	hash_add(&s, bytes + offsetof(Head, nentry), n - offsetof(Head, nentry));
	return hash_end(&s);
}

/* ---- reading ---- */

static bool find(Arena *a, const char *path, Hash key, const Backend *b, Module *m)
{
	Bytes file;
	Head h;
	if (access(path, R_OK) != 0 || !file_read(a, path, MOST_IMAGE + (1 << 20), &file, NULL) || file.n < sizeof h)
		return false;
	memcpy(&h, file.at, sizeof h);
	const unsigned char *from = file.at + sizeof h;
	Hash sum = sum_of(key, file.at, file.n);
	if (memcmp(h.magic, magic, sizeof magic) != 0 || h.entry_bytes != sizeof(DlcEntry) || h.nentry > MOST_ENTRIES ||
		h.image_bytes > MOST_IMAGE)
		return false;
	size_t need = sizeof h + h.nentry * (sizeof(DlcEntry) + sizeof(Numbers)) + (size_t)h.image_bytes;
	if (file.n != need || memcmp(&sum, &h.sum, sizeof sum) != 0)
		return false;
	DlcEntry *entry = arena_copy(a, from, sizeof *entry * (h.nentry + (h.nentry == 0)));
	from += sizeof *entry * h.nentry;
	Numbers *number = arena_copy(a, from, sizeof *number * (h.nentry + (h.nentry == 0)));
	from += sizeof *number * h.nentry;
	unsigned char *image = arena_alloc_aligned(a, (size_t)h.image_bytes + 1, 64);
	memcpy(image, from, (size_t)h.image_bytes);
	*m = (Module){ .backend = b, .image = { image, h.image_bytes, entry, h.nentry, h.device } };
	m->report = arena_array(a, KernelReport, h.nentry + 1);
	for (uint32_t k = 0; k < h.nentry; k++)
		m->report[k] = (KernelReport){ .name = entry[k].name,
			.spills = number[k].spills,
			.frame_bytes = number[k].frame_bytes,
			.code_bytes = number[k].code_bytes,
			.depth = (int)number[k].depth,
			.inner_spills = number[k].inner_spills };
	return true;
}

/* ---- writing ---- */

static bool write_all(int fd, const unsigned char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t w = write(fd, bytes, n);
		if (w <= 0)
			return false;
		bytes += w;
		n -= (size_t)w;
	}
	return true;
}

/* Not synced: after a crash a file may hold anything, which its checksum shows. */
static void store(Arena *a, const char *path, Hash key, const Module *m)
{
	Text out = { .arena = a };
	Head h = { .nentry = m->image.nentry,
		.entry_bytes = sizeof(DlcEntry),
		.device = m->image.device,
		.image_bytes = m->image.size };
	memcpy(h.magic, magic, sizeof magic);
	if (h.nentry > MOST_ENTRIES || h.image_bytes > MOST_IMAGE)
		return;
	text_put(&out, (const char *)&h, sizeof h);
	text_put(&out, (const char *)m->image.entry, sizeof(DlcEntry) * h.nentry);
	for (uint32_t k = 0; k < h.nentry; k++) {
		const KernelReport *r = &m->report[k];
		Numbers n = { r->spills, r->frame_bytes, r->code_bytes, r->depth, r->inner_spills };
		text_put(&out, (const char *)&n, sizeof n);
	}
	text_put(&out, (const char *)m->image.bytes, (size_t)h.image_bytes);
	unsigned char *bytes = arena_copy(a, text_str(&out), out.n);
	h.sum = sum_of(key, bytes, out.n);
	memcpy(bytes, &h, sizeof h);
	char *temp = arena_printf(a, "%s.XXXXXX", path); /* no other process has it, and none has left it */
	int fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return;
	bool ok = write_all(fd, bytes, out.n);
	if (close(fd) != 0 || !ok || rename(temp, path) != 0)
		unlink(temp);
}

/* ---- trimming ---- */

typedef struct CachedFile {
	char *name;
	int64_t bytes;
	struct timespec used;
} CachedFile;

static int by_use(const void *x, const void *y)
{
	const CachedFile *a = x, *b = y;
	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	if (a->used.tv_nsec != b->used.tv_nsec)
		return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
	return strcmp(a->name, b->name);
}

void code_cache_trim(const CodeCache *c)
{
	Arena *a = arena_new();
	VEC(CachedFile) file = { 0 };
	int64_t all = 0;
	DIR *d = opendir(c->folder);
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		struct stat st;
		/* The cache's own files, and what a killed process left of one. */
		bool ours = strlen(e->d_name) > HASH_HEX - 1 + 4 && strncmp(e->d_name + HASH_HEX - 1, ".code", 5) == 0;
		if (!ours || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
			continue;
		CachedFile k = { arena_printf(a, "%s", e->d_name), (st.st_size + BLOCK - 1) / BLOCK * BLOCK, st.st_mtim };
		vec_push(a, &file, k);
		all += k.bytes;
	}
	if (all > c->most_bytes && file.n > 0) {
		qsort(file.at, file.n, sizeof *file.at, by_use);
		for (size_t k = 0; k < file.n && all > c->most_bytes / 4 * 3; k++)
			if (unlinkat(dirfd(d), file.at[k].name, 0) == 0)
				all -= file.at[k].bytes;
	}
	if (d != NULL)
		closedir(d);
	arena_free(a);
}

bool codegen_compile_cached(const CodeCache *c, Arena *a, const KernelSet *ks, const Target *t, Module *m, Err *err)
{
	const Backend *b = backend_for(t);
	if (c == NULL || c->folder == NULL || b == NULL)
		return codegen_compile(a, ks, t, NULL, m, err);
	Arena *scratch = arena_new();
	Hash key = key_of(scratch, ks, t, b);
	char hex[HASH_HEX];
	hash_hex(key, hex);
	const char *path = arena_printf(scratch, "%s/%s.code", c->folder, hex);
	bool ok = find(a, path, key, b, m);
	if (ok) {
		utimensat(AT_FDCWD, path, NULL, 0); /* used now */
	} else {
		ok = codegen_compile(a, ks, t, NULL, m, err);
		if (ok)
			store(scratch, path, key, m);
		if (ok && key.byte[15] % TRIM_ONE_IN == 0)
			code_cache_trim(c);
	}
	arena_free(scratch);
	return ok;
}
