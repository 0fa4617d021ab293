/*
 * Events: what happens while a network is tuned. A run tells them one by one; a session's records give those that
 * records can tell. Kinds are rows of report/event.def, what they say rows of report/value.def. docs/report.md has both
 * tables.
 */
#ifndef REPORT_EVENT_H
#define REPORT_EVENT_H

#include "base/hash.h"
#include "base/text.h"

typedef enum {
#define EVENT(name, word, doc, values) EVENT_##name,
#include "report/event.def"
#undef EVENT
	EVENT_KINDS
} EventKind;

/* The C type of each type of a row. */
#define EVENT_C_HASH Hash
#define EVENT_C_TEXT const char *
#define EVENT_C_INT int64_t
#define EVENT_C_REAL double
#define EVENT_C_TIME double
#define EVENT_C_FLAG bool

/* Texts belong to the caller; NULL is "". Values that the kind does not have are not looked at. */
typedef struct Event {
	EventKind kind;
#define VALUE(type, name, doc) EVENT_C_##type name;
#include "report/value.def"
#undef VALUE
} Event;

/* The event as an object in JSON on one line, without '\n': {"event":"measured","at_s":1.25,...}. */
void event_line(Text *out, const Event *e);
/*
 * The same, shorter, for a page: an array of the number of its kind and its values, ids cut to 12 digits. It holds
 * neither '<' nor '>' nor '&', whatever the texts say.
 */
void event_row(Text *out, const Event *e);
/* {"session":["at_s",...],...}: the names of the values in the rows of each kind, the kinds in their order. */
void event_names(Text *out);

#endif
