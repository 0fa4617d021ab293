/*
 * Turns a failure into an Err and an Err into the at most 12 lines a user reads: the sentence with
 * its place, then items, then "and N more".  Nothing is allocated, so that out-of-memory and
 * hostile input are reported the same way as everything else.
 */
#include "base/err.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const int exit_code[ERR_COUNT] = {
#define ERR(name, code, meaning) [ERR_##name] = code,
#include "base/err.def"
#undef ERR
};

bool fail(Err *err, ErrCode code, const char *place, const char *fmt, ...)
{
	if (err == NULL || err->code != ERR_NONE)
		return false;
	va_list ap;
	va_start(ap, fmt);
	err->code = code;
	vsnprintf(err->text, sizeof err->text, fmt, ap);
	va_end(ap);
	snprintf(err->place, sizeof err->place, "%s", place != NULL ? place : "");
	text_make_printable(err->text, "");
	text_make_printable(err->place, "");
	err->items[0] = 0;
	err->nitems = 0;
	return false;
}

void err_add_item(Err *err, const char *fmt, ...)
{
	if (err == NULL || err->nitems++ >= ERR_ITEMS)
		return;
	char line[180];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	text_make_printable(line, "");
	size_t used = strlen(err->items);
	snprintf(err->items + used, sizeof err->items - used, "%s\n", line);
}

bool err_at(Err *err, const char *place)
{
	if (err != NULL && err->code != ERR_NONE && err->place[0] == 0 && place != NULL) {
		snprintf(err->place, sizeof err->place, "%s", place);
		text_make_printable(err->place, "");
	}
	return false;
}

int err_exit_code(ErrCode code)
{
	return exit_code[code];
}

int err_format(const Err *err, char *out, size_t size)
{
	char more[40] = "";
	if (err->nitems > ERR_ITEMS)
		snprintf(more, sizeof more, "and %d more\n", err->nitems - ERR_ITEMS);
	return snprintf(out, size, "%s%s%s\n%s%s", err->place, err->place[0] != 0 ? ": " : "", err->text,
		err->items, more);
}
