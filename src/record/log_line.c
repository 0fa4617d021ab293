/*
 * See log_line.h. A head is JSON, of which only the version is read: the rest is for people. Seals are as many as runs,
 * so they have one form, which is compared byte by byte.
 */
#include "record/log_line.h"

#include "base/json.h"
#include "record/record.h"

#include <stdio.h>
#include <string.h>

static const char head_begins[] = "{\"kind\":\"log\"", seal_begins[] = "{\"kind\":\"seal\"",
	before_of[] = ",\"of\":\"", before_seal[] = "\",\"seal\":\"", behind[] = "\"}";
enum { SEAL_DIGITS = 16, OF_DIGITS = HASH_HEX - 1 };

const char *log_head_line(Arena *a, const LogHead *head)
{
	Json *o = json_new(a, JV_OBJECT);
	Text out = { .arena = a };
	json_set(a, o, "kind", json_new_text(a, "log"));
	json_set(a, o, "version", json_new_int(a, LOG_VERSION));
	json_set(a, o, "started_s", json_new_int(a, head->started_s));
	if (head->program != NULL)
		json_set(a, o, "program", json_new_plain(a, head->program, RECORD_WORD));
	if (head->machine != NULL)
		json_set(a, o, "machine", json_new_plain(a, head->machine, RECORD_WORD));
	if (head->command != NULL)
		json_set(a, o, "command", json_new_plain(a, head->command, RECORD_TEXT));
	json_write(&out, o);
	return text_str(&out);
}

const char *log_seal_line(Arena *a, const LogSeal *seal)
{
	char hex[HASH_HEX];
	hash_hex(seal->of, hex);
	return arena_printf(a, "%s%s%s%s%016llx%s", seal_begins, before_of, hex, before_seal,
		(unsigned long long)seal->seal, behind);
}

static bool begins(const char *line, size_t n, const char *with)
{
	size_t m = strlen(with);
	return n >= m && memcmp(line, with, m) == 0;
}

static bool read_seal(const char *line, size_t n, LogSeal *out)
{
	char text[256], again[256];
	if (n >= sizeof text)
		return false;
	memcpy(text, line, n);
	text[n] = 0;
	size_t of = sizeof seal_begins - 1 + sizeof before_of - 1, seal = of + OF_DIGITS + sizeof before_seal - 1;
	if (n != seal + SEAL_DIGITS + sizeof behind - 1)
		return false;
	char hex[HASH_HEX];
	memcpy(hex, text + of, OF_DIGITS);
	hex[OF_DIGITS] = 0;
	uint64_t value = 0;
	for (size_t i = 0; i < SEAL_DIGITS; i++) {
		int digit = text_hex_digit(text[seal + i]);
		if (digit < 0)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	out->seal = (int64_t)value;
	snprintf(again, sizeof again, "%s%s%s%s%.*s%s", seal_begins, before_of, hex, before_seal, (int)SEAL_DIGITS,
		text + seal, behind);
	return hash_parse(hex, &out->of) && strcmp(text, again) == 0;
}

LogLine log_line_read(Arena *a, const char *name, const char *line, size_t n, LogSeal *seal, Err *why)
{
	if (begins(line, n, seal_begins)) {
		if (read_seal(line, n, seal))
			return LOG_SEAL;
		fail(why, ERR_INPUT, name, "the seal is damaged");
		return LOG_BAD;
	}
	if (!begins(line, n, head_begins))
		return LOG_OTHER;
	int64_t version;
	Json *o = n <= RECORD_LINE ? json_parse(a, name, line, n, why) : NULL;
	if (o == NULL || !json_int(o, "version", 1, INT32_MAX, &version, why)) {
		if (why != NULL && why->code == ERR_NONE)
			fail(why, ERR_INPUT, name, "the head of the log is damaged");
		return LOG_BAD;
	}
	if (version == LOG_VERSION)
		return LOG_HEAD;
	fail(why, ERR_INPUT, name, "the log has version %lld, this dlc reads version %d; use a newer dlc",
		(long long)version, LOG_VERSION);
	return LOG_BAD;
}
