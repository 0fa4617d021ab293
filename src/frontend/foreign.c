/*
 * Names the formats that dlc does not read, by content: magic bytes, the names in a zip archive, the
 * first words of a text, the first fields of a protobuf message. The extension is never looked at.
 */
#include "frontend/foreign.h"

#include "base/wire.h"

#include <string.h>

enum { LOOK = 1 << 16 };

/* A file that is not a model has a '!' before its name. */
static const struct {
	const char *what;
	size_t at, n;
	const char *bytes;
} magics[] = {
	{ "an ONNX Runtime (.ort) model", 4, 4, "ORTM" },
	{ "a GGUF model", 0, 4, "GGUF" },
	{ "!a NumPy array", 0, 6, "\x93NUMPY" },
	{ "!a compiled bundle, which dlc-run runs", 1, 4, "DLCB" },
	{ "a Python pickle", 0, 2, "\x80\x02" },
	{ "a Python pickle", 0, 2, "\x80\x04" },
	{ "!a gzip archive", 0, 2, "\x1f\x8b" },
	{ "!a program", 0, 4,
		"\x7f"
		"ELF" },
};

/* Names of entries in an archive. */
static const struct {
	const char *what, *name;
} archives[] = {
	{ "!a NumPy archive", ".npy" },
};

/* Words in the beginning of a text. */
static const struct {
	const char *what, *word;
} texts[] = {
	{ "!a Git LFS pointer, to be replaced by git lfs pull", "version https://git-lfs" },
	{ "!an HTML page", "<html" },
	{ "!an HTML page", "<!DOCTYPE" },
};

static bool holds(Bytes b, const char *word)
{
	return memmem(b.at, b.n, word, strlen(word)) != NULL;
}

static Bytes head(Bytes b, size_t n)
{
	return (Bytes){ b.at, b.n < n ? b.n : n };
}

static const char *by_magic(Bytes b)
{
	for (size_t k = 0; k < sizeof magics / sizeof *magics; k++)
		if (b.n >= magics[k].at + magics[k].n && memcmp(b.at + magics[k].at, magics[k].bytes, magics[k].n) == 0)
			return magics[k].what;
	return NULL;
}

static const char *by_archive(Bytes b)
{
	if (b.n < 4 || memcmp(b.at, "PK\3\4", 4) != 0)
		return NULL;
	Bytes tail = b; /* the directory of the archive is */
	if (b.n > LOOK)
		tail = (Bytes){ b.at + b.n - LOOK, LOOK };
	for (size_t k = 0; k < sizeof archives / sizeof *archives; k++)
		if (holds(head(b, LOOK), archives[k].name) || holds(tail, archives[k].name))
			return archives[k].what;
	return "!a zip archive";
}

static const char *by_text(Bytes b)
{
	size_t high = 0;
	b = head(b, LOOK);
	for (size_t k = 0; k < b.n; k++) { /* a text has no control characters and is mostly ASCII */
		if ((b.at[k] < 32 && b.at[k] != '\t' && b.at[k] != '\n' && b.at[k] != '\r') || b.at[k] == 127)
			return NULL;
		high += b.at[k] > 127;
	}
	if (b.n == 0 || high > b.n / 4)
		return NULL;
	for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
		if (holds(b, texts[k].word))
			return texts[k].what;
	return "!a text";
}

static Foreign named(const char *what)
{
	bool model = what != NULL && what[0] != '!';
	return (Foreign){ what == NULL || model ? what : what + 1, model };
}

Foreign foreign_by_signature(Bytes file)
{
	const char *what = by_magic(file);
	if (what == NULL)
		what = by_archive(file);
	return named(what != NULL ? what : by_text(file));
}

/* Top-level fields. The last field of a cut file counts. */
Foreign foreign_by_fields(Bytes file)
{
	bool nodes = false;
	WireItem it;
	for (int k = 0; k < 4096 && wire_next(&file, &it); k++)
		nodes |= it.number == 1 && it.type == 2;
	return named(nodes ? "a protobuf model of an unknown kind" : NULL);
}
