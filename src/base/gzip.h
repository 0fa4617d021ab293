/*
 * Files that gzip has packed (RFC 1952), of one or more members, unpacked with zlib.
 */
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"

/*
 * If *file begins as files of gzip do, replaces it by what it unpacks to, in `a`; at[n] is 0. Any other file stays.
 * False, with ERR_INPUT and no place: the file is damaged or cut off, and *file is what stands before that; or it would
 * have more than `limit` bytes, and *file is empty.
 */
bool gzip_unpack(Arena *a, Bytes *file, size_t limit, Err *err);

#endif
