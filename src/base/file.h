/*
 * Files: read within a limit, map, and write so that nothing half-written is ever seen.
 * Failures name the path. A missing or unfit input is ERR_INPUT (exit 1); no permission, a full
 * disk, a missing output folder, an I/O error are ERR_DEVICE (exit 5). "-" is the caller's.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Bytes {
	const unsigned char *at;
	size_t n;
} Bytes;

/*
 * For the beginning of a program: a standard stream that is closed leads to /dev/null, read-only. Else the next
 * file that is opened would become that stream. Writing to a closed stdout still fails and is reported.
 */
void file_fill_streams(void);

/* A regular file, or nothing of that name: what a library that opens by name may be given. */
bool file_is_plain(const char *path, Err *err);
/* Whether both paths lead to one regular file that is there. */
bool file_is_same(const char *a, const char *b);

/*
 * The file of this program, or the loader where that was called to run it; links resolved. False: the system does not
 * tell. Without /proc it is the path by which the program was started.
 */
enum { FILE_PATH = 4096 };
bool file_of_program(char out[FILE_PATH]);

/*
 * Opens for reading; -1 and errno on failure. The writer of a named pipe has a second to come: open() itself would wait
 * for ever. file_read_some reads what is there, waits for what a program will write, and gives 0 for a pipe that no
 * program has open.
 */
int file_open_now(const char *path);
ssize_t file_read_some(int fd, void *to, size_t n);

/*
 * The content of a regular file or pipe, refused when longer than `limit`; folders, devices,
 * sockets and pipes without content are refused by name. at[n] is 0, so that a text may be used as a string.
 */
bool file_read(Arena *a, const char *path, size_t limit, Bytes *out, Err *err);

/* The same from an open descriptor (standard input); `name` stands in messages. */
bool file_read_fd(Arena *a, int fd, const char *name, size_t limit, Bytes *out, Err *err);

/*
 * Maps a regular file read-only; pages are read as they are touched. n may be 0 (at is NULL).
 * Somebody who truncates the file meanwhile ends the process with SIGBUS: map what you own
 * (models, bundles), read what others write. file_unmap takes what file_map gave, or zeros.
 */
bool file_map(const char *path, size_t limit, Bytes *out, Err *err);
void file_unmap(Bytes *map);

/*
 * An output file. Its name appears, complete, at file_commit and not before: the content is written
 * to an unnamed or temporarily named file of the same folder, synced, and renamed over the old one
 * (whose permissions it takes; a link is followed). Targets that are no regular files (/dev/null, a
 * pipe) are written directly. After a failure the old file is as it was and nothing else is left.
 *
 *	FileOut f;
 *	if (!file_create(&f, path, err))
 *		return false;
 *	... file_put(&f, bytes, n, err) ...          on failure: file_abandon(&f)
 *	return file_commit(&f, err);                  releases f whatever happens
 */
typedef struct FileOut {
	int fd;
	bool direct;    /* not a regular file: no temporary name, no rename */
	bool named;     /* temp exists in its folder */
	const char *as; /* the path as the caller wrote it; must outlive the FileOut */
	char *path;     /* the file to replace, links resolved */
	char *temp;     /* the name it has until the rename */
	char *buf;
	size_t n;
} FileOut;

bool file_create(FileOut *f, const char *path, Err *err);
bool file_put(FileOut *f, const void *bytes, size_t n, Err *err);
bool file_commit(FileOut *f, Err *err);
void file_abandon(FileOut *f);

/* All of the above for a content at hand. */
bool file_write(const char *path, const void *bytes, size_t n, Err *err);

#endif
