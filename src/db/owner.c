/*
 * A user's secret, and the seals made with it.  A seal is a keyed hash of a record's id and its index row, and is
 * stored in that row.  It is valid for no other row, and only the secret can make one.  Lines carry no seals: a
 * record that is exported and imported again is a hint, like the records of other users.
 */
#include "db/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIGITS = 2 * HASH_KEY };

/* *there: false where the file is not. */
static bool read_key(const char *path, DbOwner *out, bool *there, Err *err)
{
	char text[DIGITS + 2];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	*there = fd >= 0 || errno != ENOENT;
	if (fd < 0)
		return fail(err, ERR_DEVICE, path, "the key of this user's records cannot be read: %s", strerror(errno));
	ssize_t n = read(fd, text, sizeof text);
	close(fd);
	if (n < 0)
		return fail(err, ERR_DEVICE, path, "the key of this user's records cannot be read: %s", strerror(errno));
	size_t got = 0;
	n -= n > 0 && text[n - 1] == '\n';
	bool ok = n == DIGITS && sodium_hex2bin(out->key, sizeof out->key, text, (size_t)n, NULL, &got, NULL) == 0;
	return (ok && got == sizeof out->key) ||
		fail(err, ERR_INPUT, path, "is no key of dlc: a key has %d hexadecimal digits; remove the file, and dlc "
			"makes a new key; your earlier records then count as those of others", DIGITS);
}

/* The file gets another name first: if several tuners begin at once, one renames its file, and all read that key. */
static bool make_key(const char *path, Err *err)
{
	Arena *a = arena_new();
	char *other = arena_printf(a, "%s.XXXXXX", path), hex[DIGITS + 2];
	DbOwner o;
	randombytes_buf(o.key, sizeof o.key);
	sodium_bin2hex(hex, sizeof hex, o.key, sizeof o.key);
	memcpy(hex + DIGITS, "\n", 2);
	int fd = mkstemp(other); /* mode 0600 */
	bool ok = fd >= 0 && write(fd, hex, DIGITS + 1) == DIGITS + 1;
	ok = (fd < 0 || close(fd) == 0) && ok && (link(other, path) == 0 || errno == EEXIST ||
		rename(other, path) == 0 /* a file system without links */);
	if (!ok)
		fail(err, ERR_DEVICE, path, "the key of this user's records cannot be written: %s", strerror(errno));
	if (fd >= 0)
		unlink(other);
	arena_free(a);
	return ok;
}

bool db_owner_load(const char *path, bool make, DbOwner *out, Err *err)
{
	bool there;
	Err none = { 0 };
	if (read_key(path, out, &there, &none))
		return true;
	if (!there && make)
		return make_key(path, err) && read_key(path, out, &there, err);
	if (err != NULL)
		*err = none;
	return false;
}

void owner_draw(DbOwner *out)
{
	randombytes_buf(out->key, sizeof out->key);
}

void db_own(Db *db, const DbOwner *owner)
{
	db->owner = *owner;
}

static int64_t seal(const Db *db, const char *domain, const void *bytes, size_t n)
{
	Hash h = hash_keyed(db->owner.key, domain, bytes, n);
	uint64_t x = 0;
	for (int i = 0; i < 8; i++)
		x = x << 8 | h.byte[i];
	return (int64_t)(x >> 1 | 1); /* never 0, which is no seal */
}

int64_t owner_seal_run(const Db *db, const RunRow *row)
{
	return seal(db, "dlc/seal/run/v1", row, sizeof *row);
}

int64_t owner_seal_retraction(const Db *db, Hash id, Hash run)
{
	Hash both[2] = { id, run };
	return seal(db, "dlc/seal/retraction/v1", both, sizeof both);
}
