/*
 * Files that belong together: weights beside their description, as frameworks save them. Paths are the user's own, so
 * links are followed. What a file names inside of itself is read below its folder only, and no link is followed.
 */
#ifndef FRONTEND_NEIGHBOUR_H
#define FRONTEND_NEIGHBOUR_H

#include "base/file.h"

/* The regular file `name` in the folder of `path`; NULL: there is none. */
const char *neighbour_named(Arena *a, const char *path, const char *name);
/* `path` with another ending: "net.cfg" -> "net.weights". NULL: it does not end so, or there is no such file. */
const char *neighbour_ending(Arena *a, const char *path, const char *ending, const char *other);
/* The last in order of names of the files in the folder of `path` that begin and end so; NULL: there is none. */
const char *neighbour_last(Arena *a, const char *path, const char *begin, const char *end);
/* A file's content. A large one is mapped as long as the arena lives, because the Dag borrows weights from it. */
bool neighbour_read(Arena *a, const char *path, Bytes *out, Err *err);
/* A relative path without empty, "." or ".." parts. */
bool neighbour_is_plain(const char *location);
/* The regular file folder/location, mapped as long as the arena lives. A failure reads "cannot be opened: ...". */
bool neighbour_read_below(Arena *a, const char *folder, const char *location, Bytes *out, Err *err);

#endif
