/*
 * Protobuf's text format (.prototxt, .pbtxt), read into the same structs by the same field tables as the wire format
 * (wire.h): `name: value`, `name { .. }`, `name: [a, b]`, enums by name, strings in pieces, comments.
 *
 * The input is never trusted: sizes and depth are limited as there. Left out: extensions and Any.
 */
#ifndef BASE_WIRE_TEXT_H
#define BASE_WIRE_TEXT_H

#include "base/wire.h"

/*
 * Reads one message into `out` (zeroed, m->size bytes). A failure is placed at "NAME:LINE". Fields without a row are
 * skipped, and their paths ("layer.foo_param") added to *skipped, each once; NULL: nobody asks.
 */
bool wire_read_text(
	Arena *a, const WireMessage *m, const char *name, Bytes in, void *out, WireTexts *skipped, Err *err);

#endif
