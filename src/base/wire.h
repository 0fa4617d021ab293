/*
 * The protobuf wire format, driven by field tables: a table row says which field number goes into
 * which member of a C struct. One reader and one writer serve every format that is protobuf.
 *
 * Members by kind, one or many:   WIRE_INT    int64_t        WireInts
 *                                 WIRE_FLOAT  float          WireFloats
 *                                 WIRE_DOUBLE double         WireDoubles
 *                                 WIRE_TEXT   const char *   WireTexts    (a copy, no 0 inside)
 *                                 WIRE_BYTES  Bytes          WireBlobs    (borrowed from the input)
 *                                 WIRE_MSG    struct T *     VEC(struct T)
 * A message's struct begins with `uint64_t has`: bit k says that row k was there. base/wire_struct.def makes structs,
 * base/wire_number.def row numbers and base/wire_field.def tables of one list of messages.
 */
#ifndef BASE_WIRE_H
#define BASE_WIRE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"

enum { WIRE_DEPTH = 64 }; /* messages inside each other */

typedef enum { WIRE_INT, WIRE_FLOAT, WIRE_DOUBLE, WIRE_TEXT, WIRE_BYTES, WIRE_MSG } WireKind;

typedef VEC(int64_t) WireInts;
typedef VEC(float) WireFloats;
typedef VEC(double) WireDoubles;
typedef VEC(const char *) WireTexts;
typedef VEC(Bytes) WireBlobs;

typedef struct WireMessage WireMessage;

typedef struct WireField {
	const char *name;
	uint32_t number;
	WireKind kind;
	bool many; /* repeated */
	size_t offset;
	/* WIRE_MSG. A WIRE_INT may name an enum here, for the text format: fields that have a name and a number each. */
	const WireMessage *message;
} WireField;

struct WireMessage {
	const char *name; /* as the schema calls it, for messages */
	size_t size;
	const WireField *field;
	int nfield; /* at most 64 */
};

/*
 * Reads one message into `out` (zeroed, m->size bytes). Repeated scalars may be packed or not;
 * fields without a row are skipped; groups are refused. What is read needs at most a fixed multiple
 * of the input's size in memory, whatever the input says. The input must outlive what was read.
 */
bool wire_read(Arena *a, const WireMessage *m, Bytes in, void *out, Err *err);

/* Bytes that wire_write would add. */
size_t wire_size(const WireMessage *m, const void *msg);
/* Members whose `has` bit is set, or that are not zero or empty, in the table's order. */
void wire_write(Text *out, const WireMessage *m, const void *msg);

/* The next field of a message, not looked into: for telling formats apart. False at the end. */
typedef struct WireItem {
	uint32_t number;
	int type;       /* 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes */
	uint64_t value; /* types 0, 1, 5 */
	Bytes bytes;    /* type 2; what is there, if the file was cut */
} WireItem;
bool wire_next(Bytes *rest, WireItem *out);

#endif
