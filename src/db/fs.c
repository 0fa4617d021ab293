/*
 * Tells what a file system permits.  A write-ahead log needs memory that all programs share which have the file open
 * (SQLite: "WAL does not work over a network filesystem").  Two hosts, or two FUSE mounts, have separate memory, and
 * one overwrites what the other has committed.  So a file gets a log only if one kernel is known to serve every access
 * to its file system; else it gets a rollback journal, which needs only locks.
 */
#include "db/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

enum { OVERLAY = 0x794c7630 };

static const struct {
	const char *name;
	uint32_t type; /* linux/magic.h and the file systems' own sources */
	bool wal;
	const char *why;
} kinds[] = {
	{ "ext4", 0xef53, true, "local" }, /* ext2 and ext3 too */
	{ "xfs", 0x58465342, true, "local" },
	{ "btrfs", 0x9123683e, true, "local" },
	{ "tmpfs", 0x01021994, true, "local" },
	{ "ramfs", 0x858458f6, true, "local" },
	{ "zfs", 0x2fc12fc1, true, "local" },
	{ "f2fs", 0xf2f52010, true, "local" },
	{ "bcachefs", 0xca451a4e, true, "local" },
	{ "jfs", 0x3153464a, true, "local" },
	{ "reiserfs", 0x52654973, true, "local" },
	{ "nilfs2", 0x3434, true, "local" },
	{ "vfat", 0x4d44, true, "local" },
	{ "exfat", 0x2011bab0, true, "local" },
	{ "ntfs3", 0x7366746e, true, "local" },
	{ "iso9660", 0x9660, true, "local, nobody writes" },
	{ "squashfs", 0x73717368, true, "local, nobody writes" },
	{ "erofs", 0xe0f5e1e2, true, "local, nobody writes" },
	{ "overlay", OVERLAY, true,
		"one mount owns its upper layer, unless that can be seen to be of another kind" },
	{ "nfs", 0x6969, false, "hosts share the file, not the memory" },
	{ "smb", 0x517b, false, "hosts share the file, not the memory" },
	{ "cifs", 0xff534d42, false, "hosts share the file, not the memory" },
	{ "smb2", 0xfe534d42, false, "hosts share the file, not the memory" },
	{ "9p", 0x01021997, false, "host and guest share the file, not the memory" },
	{ "fuse", 0x65735546, false, "may be anything; each mount maps memory of its own" },
	{ "ceph", 0x00c36400, false, "hosts share the file, not the memory" },
	{ "afs", 0x5346414f, false, "hosts share the file, not the memory" },
	{ "lustre", 0x0bd00bd0, false, "hosts share the file, not the memory" },
	{ "gpfs", 0x47504653, false, "hosts share the file, not the memory" },
	{ "gfs2", 0x01161970, false, "hosts share the file, not the memory" },
	{ "ocfs2", 0x7461636f, false, "hosts share the file, not the memory" },
	{ "beegfs", 0x19830326, false, "hosts share the file, not the memory" },
	{ "vboxsf", 0x786f4256, false, "host and guest share the file, not the memory" },
	{ "vmhgfs", 0xbacbacbc, false, "host and guest share the file, not the memory" },
};

/* Locks that the kernel of one host keeps for itself. */
static const struct {
	const char *kind, *option; /* of the mount; NULL: any */
	const char *says;
} local_locks[] = {
	{ "nfs", "nolock", "mounted with nolock" },
	{ "nfs", "local_lock=all", "mounted with local_lock=all" },
	{ "nfs", "local_lock=posix", "mounted with local_lock=posix" },
	{ "cifs", "nobrl", "mounted with nobrl" },
	{ "smb3", "nobrl", "mounted with nobrl" },
	{ "fuse.sshfs", NULL, "SSH has no locks" },
	{ "fuse.curlftpfs", NULL, "FTP has no locks" },
	{ "fuse.rclone", NULL, "a remote store has no locks" },
	{ "fuse.s3fs", NULL, "a remote store has no locks" },
	{ "fuse.gcsfuse", NULL, "a remote store has no locks" },
	{ "fuse.mountpoint-s3", NULL, "a remote store has no locks" },
};

/* Whether a comma-separated list has the word. */
static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (const char *p = list; (p = strstr(p, word)) != NULL; p += n)
		if ((p == list || p[-1] == ',') && (p[n] == 0 || p[n] == ','))
			return true;
	return false;
}

FsFact fs_judge(uint32_t type, const char *kind, const char *options)
{
	FsFact f = { .name = kind[0] != 0 ? kind : "a file system that is not known here" };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].type == type) {
			f.name = kind[0] != 0 ? kind : kinds[i].name;
			f.wal = kinds[i].wal;
		}
	for (size_t i = 0; !f.wal && i < sizeof local_locks / sizeof *local_locks; i++) {
		size_t n = strlen(local_locks[i].kind); /* nfs, nfs4 */
		bool same =
			strncmp(kind, local_locks[i].kind, n) == 0 && (kind[n] == 0 || strcmp(kind + n, "4") == 0);
		if (same && (local_locks[i].option == NULL || has_word(options, local_locks[i].option)))
			f.no_locks = local_locks[i].says;
	}
	return f;
}

/* "\040" in mountinfo is a space. */
static void decode(char *s)
{
	char *to = s;
	for (; *s != 0; s++)
		if (s[0] == '\\' && strspn(s + 1, "01234567") >= 3) {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	*to = 0;
}

/* The kind and the options of the mount that a device number is of. */
static void find_mount(Arena *a, dev_t dev, char **kind, char **options)
{
	char line[8192], of[4096], its[4096];
	*kind = *options = arena_printf(a, "%s", "");
	FILE *f = fopen("/proc/self/mountinfo", "re");
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		unsigned major_of, minor_of;
		const char *dash = strstr(line, " - ");
		if (dash == NULL || sscanf(line, "%*d %*d %u:%u", &major_of, &minor_of) != 2 ||
			major_of != major(dev) || minor_of != minor(dev) ||
			sscanf(dash, " - %4095s %*s %4095s", of, its) != 2)
			continue;
		*kind = arena_printf(a, "%s", of);
		*options = arena_printf(a, "%s", its);
		decode(*options);
	}
	if (f != NULL)
		fclose(f);
}

static FsFact fact_of(Arena *a, const char *path, int layers)
{
	struct statfs fs;
	struct stat st;
	char *kind, *options;
	if (statfs(path, &fs) != 0 || stat(path, &st) != 0)
		return (FsFact){ .name = "a file system that is not known here" };
	FsFact f = fs_judge((uint32_t)fs.f_type, "", "");
	if (f.wal && (uint32_t)fs.f_type != OVERLAY)
		return f;
	find_mount(a, st.st_dev, &kind, &options);
	f = fs_judge((uint32_t)fs.f_type, kind, options);
	static const char key[] = "upperdir="; /* of the folder that an overlay writes to */
	const char *upper = f.wal && layers > 0 ? strstr(options, key) : NULL;
	if (upper == NULL)
		return f;
	upper += sizeof key - 1;
	upper = arena_printf(a, "%.*s", (int)strcspn(upper, ","), upper);
	return stat(upper, &st) == 0 ? fact_of(a, upper, layers - 1) : f;
}

const char *fs_real_name(Arena *a, const char *path)
{
	char *real = realpath(path, NULL);
	const char *name = real != NULL ? arena_printf(a, "%s", real) : path;
	free(real);
	return name;
}

FsFact fs_of(Arena *a, const char *path)
{
	enum { LAYERS = 4 };
	const char *file = fs_real_name(a, path), *slash = strrchr(file, '/');
	int n = slash == NULL ? 0 : (int)(slash - file) + (slash == file);
	FsFact f = fact_of(a, slash == NULL ? "." : arena_printf(a, "%.*s", n, file), LAYERS);
	struct stat st;
	return f.wal && stat(file, &st) == 0 ? fact_of(a, file, LAYERS) : f; /* a file may be mounted by itself */
}
