/* See archive.h. */
#include "frontend/archive.h"

#include "base/library.h"
#include "base/text.h"
#include "op/names.h"

#include <string.h>

#if DLC_HAVE_LIBZIP
#include <zip.h>

#define NAMES(X) \
	X(zip_discard) \
	X(zip_error_fini) \
	X(zip_error_init) \
	X(zip_error_strerror) \
	X(zip_fclose) \
	X(zip_file_get_external_attributes) \
	X(zip_fopen_index) \
	X(zip_fread) \
	X(zip_get_num_entries) \
	X(zip_open_from_source) \
	X(zip_source_buffer_create) \
	X(zip_source_free) \
	X(zip_stat_index) \
	X(zip_strerror)

static struct { NAMES(LIBRARY_MEMBER) } lib;
static const char *const names[] = { NAMES(LIBRARY_TEXT) };
static Library libzip = { LIBZIP_SONAME, "libzip-dev", names, sizeof names / sizeof *names, &lib, 0, false };

/* Unpacked, all entries have at most MOST_RATIO times the file's bytes, and SLACK: weights do not shrink more. */
enum { MOST_ENTRIES = 1 << 18, MOST_RATIO = 64, SLACK = 1 << 26 };

struct Archive {
	Arena *arena;
	const char *name;
	zip_t *zip;
	size_t n;
	const char **entry;
	int64_t *size;
	Names *names; /* entry -> k */
};

static void close_archive(void *z)
{
	lib.zip_discard(((Archive *)z)->zip);
}

/* A relative path without empty, "." or ".." parts; one '/' at the end is a folder's. */
static bool stays_inside(const char *s)
{
	if (*s == 0 || strchr(s, '\\') != NULL || strchr(s, ':') != NULL)
		return false;
	while (*s != 0) {
		size_t n = strcspn(s, "/");
		if (n == 0 || (n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.'))
			return false;
		s += n + (s[n] == '/');
	}
	return true;
}

static bool check_entry(Archive *z, size_t k, uint64_t *packed, uint64_t *all, uint64_t file, Err *err)
{
	enum { UNIX_KIND = 0170000, UNIX_LINK = 0120000 };
	zip_stat_t st;
	zip_uint8_t system = 0;
	zip_uint32_t mode = 0;
	if (lib.zip_stat_index(z->zip, k, 0, &st) != 0 || !(st.valid & ZIP_STAT_NAME) || !(st.valid & ZIP_STAT_SIZE) ||
		!(st.valid & ZIP_STAT_COMP_SIZE))
		return fail(err, ERR_INPUT, z->name, "entry %zu of the archive is damaged", k);
	z->entry[k] = arena_printf(z->arena, "%s", st.name);
	z->size[k] = (int64_t)st.size;
	if (!stays_inside(st.name))
		return fail(err, ERR_INPUT, z->name, "the archive has an entry '%.100s', whose path leads out of it", st.name);
	if (names_find(z->names, st.name) >= 0)
		return fail(err, ERR_INPUT, z->name, "the archive has two entries '%.100s'", st.name);
	names_bind(z->names, st.name, (int)k);
	if (lib.zip_file_get_external_attributes(z->zip, k, 0, &system, &mode) == 0 && system == ZIP_OPSYS_UNIX &&
		(mode >> 16 & UNIX_KIND) == UNIX_LINK)
		return fail(err, ERR_INPUT, z->name, "the entry '%.100s' of the archive is a link", st.name);
	if ((st.valid & ZIP_STAT_ENCRYPTION_METHOD) && st.encryption_method != ZIP_EM_NONE)
		return fail(err, ERR_UNSUPPORTED, z->name, "the entry '%.100s' of the archive is encrypted", st.name);
	bool stored = st.comp_method == ZIP_CM_STORE, deflated = st.comp_method == ZIP_CM_DEFLATE;
	if (!stored && !deflated)
		return fail(err, ERR_UNSUPPORTED, z->name,
			"the entry '%.100s' of the archive is packed by method %d; dlc reads stored and deflated ones", st.name,
			st.comp_method);
	if (st.comp_size > file || *packed > file - st.comp_size || (stored && st.size != st.comp_size))
		return fail(err, ERR_INPUT, z->name, "the entry '%.100s' of the archive does not fit into a file of %llu bytes",
			st.name, (unsigned long long)file);
	*all += st.size > (uint64_t)1 << 44 ? (uint64_t)1 << 44 : st.size;
	if (*all / MOST_RATIO > file + SLACK / MOST_RATIO)
		return fail(err, ERR_INPUT, z->name, "the archive unpacks to more than %d times its %llu bytes, up to '%.100s'",
			MOST_RATIO, (unsigned long long)file, st.name);
	*packed += st.comp_size;
	return true;
}

Archive *archive_open(Arena *a, const char *name, Bytes file, Err *err)
{
	zip_error_t why;
	if (!library_open(&libzip, "zip archives are read by libzip", name, err))
		return NULL;
	lib.zip_error_init(&why);
	zip_source_t *source = lib.zip_source_buffer_create(file.at, file.n, 0, &why);
	zip_t *zip = source != NULL ? lib.zip_open_from_source(source, ZIP_RDONLY, &why) : NULL;
	if (zip == NULL) {
		fail(err, ERR_INPUT, name, "is not a zip archive that can be read: %s", lib.zip_error_strerror(&why));
		if (source != NULL)
			lib.zip_source_free(source);
		lib.zip_error_fini(&why);
		return NULL;
	}
	lib.zip_error_fini(&why);
	Archive *z = arena_new_of(a, Archive);
	zip_int64_t n = lib.zip_get_num_entries(zip, 0);
	*z = (Archive){ .arena = a, .name = name, .zip = zip, .n = n > 0 ? (size_t)n : 0, .names = names_new(a) };
	arena_at_end(a, close_archive, z);
	if (z->n > MOST_ENTRIES) {
		fail(err, ERR_INPUT, name, "the archive has %zu entries, more than %d", z->n, MOST_ENTRIES);
		return NULL;
	}
	uint64_t packed = 0, all = 0;
	z->entry = arena_array(a, const char *, z->n + 1);
	z->size = arena_array(a, int64_t, z->n + 1);
	for (size_t k = 0; k < z->n; k++)
		if (!check_entry(z, k, &packed, &all, file.n, err))
			return NULL;
	return z;
}

bool archive_read(Archive *z, size_t k, Bytes *out, Err *err)
{
	size_t n = (size_t)z->size[k], have = 0;
	unsigned char *to = arena_alloc_aligned(z->arena, n + 1, 64);
	zip_file_t *f = lib.zip_fopen_index(z->zip, k, 0);
	if (f == NULL)
		return fail(err, ERR_INPUT, z->name, "the entry '%.100s' of the archive cannot be read: %s", z->entry[k],
			lib.zip_strerror(z->zip));
	while (have < n) {
		zip_int64_t got = lib.zip_fread(f, to + have, n - have);
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	/* The sum is checked where the entry ends. */
	bool ok = have == n && lib.zip_fread(f, &(char){ 0 }, 1) == 0;
	ok = lib.zip_fclose(f) == 0 && ok;
	if (!ok)
		return fail(err, ERR_INPUT, z->name, "the entry '%.100s' of the archive is damaged", z->entry[k]);
	to[n] = 0;
	*out = (Bytes){ to, n };
	return true;
}

size_t archive_count(const Archive *z)
{
	return z->n;
}

const char *archive_name(const Archive *z, size_t k)
{
	return z->entry[k];
}

int64_t archive_find(const Archive *z, const char *name)
{
	return names_find(z->names, name);
}

#else

Archive *archive_open(Arena *a, const char *name, Bytes file, Err *err)
{
	(void)a, (void)file;
	fail(err, ERR_UNSUPPORTED, name, "is a zip archive, and this build of dlc has no libzip to read it");
	return NULL;
}

size_t archive_count(const Archive *z)
{
	(void)z;
	return 0;
}

const char *archive_name(const Archive *z, size_t k)
{
	(void)z, (void)k;
	return "";
}

int64_t archive_find(const Archive *z, const char *name)
{
	(void)z, (void)name;
	return -1;
}

bool archive_read(Archive *z, size_t k, Bytes *out, Err *err)
{
	(void)z, (void)k, (void)out, (void)err;
	return false;
}
#endif
