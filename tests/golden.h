/*
 * Golden files: cases of three parts, separated by lines that begin with "---" and "===":
 *
 *	text before
 *	--- what is done to it
 *	text after, or one line "! " and the refusal's sentence
 *	===
 *
 * golden_run calls `act` for each case and compares; DLC_BLESS=1 rewrites the file with what came
 * out, to be read before it is committed.
 */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include "base/text.h"

/* Writes what came out (or "! sentence") to out. */
typedef void (*GoldenAct)(Arena *a, const char *before, const char *what, Text *out);

/* The number of cases that differ, each printed; `path` is relative to the source root. */
int golden_run(const char *path, GoldenAct act, int *cases);

#endif
