/*
 * NetDefs in bytes and in text. Neither has magic bytes: a NetDef is recognised by its fields and by its first
 * operator, whose type is a word in field 4.
 */
#include "frontend/caffe2/proto.h"

#include "base/wire_text.h"

#include <string.h>

#include "base/wire_field.def"
#include "frontend/caffe2/proto.def"
#include "base/wire_end.def"

/* ---- recognised in bytes */

static bool is_word(Bytes b)
{
	bool ok = b.n > 0;
	for (size_t k = 0; k < b.n && ok; k++)
		ok = b.at[k] == '_' || (b.at[k] >= '0' && b.at[k] <= '9') || ((b.at[k] | 32) >= 'a' && (b.at[k] | 32) <= 'z');
	return ok;
}

/* Fields 1 to 10 of an OperatorDef: only is_gradient_op is a number. */
static bool is_operator(Bytes b)
{
	WireItem it;
	bool type = false;
	for (int k = 0; k < 4096 && !type && wire_next(&b, &it); k++) {
		if (it.number > 10 || it.type != (it.number == 9 ? 0 : 2))
			return false;
		type = it.number == 4 && is_word(it.bytes);
	}
	return type;
}

/* The fields of a NetDef before its first operator, of which only num_workers is a number. */
static bool is_net_in_bytes(Bytes b)
{
	WireItem it;
	for (int k = 0; k < 4096 && wire_next(&b, &it); k++) {
		if (it.number > 8 || it.type != (it.number == 4 ? 0 : 2))
			return false;
		if (it.number == 2)
			return is_operator(it.bytes);
	}
	return false;
}

/* ---- recognised in text */

static bool is_blank(unsigned char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The end of a word, a quoted text or a comment at k; each other character stands for itself. */
static size_t next_token(Bytes b, size_t k)
{
	unsigned char c = b.at[k];
	if (c == '#') {
		while (k < b.n && b.at[k] != '\n')
			k++;
		return k;
	}
	if (c == '"' || c == '\'') {
		for (k++; k < b.n && b.at[k] != c; k++)
			k += b.at[k] == '\\';
		return k < b.n ? k + 1 : b.n;
	}
	size_t end = k;
	while (end < b.n && is_word((Bytes){ b.at + end, 1 }))
		end++;
	return end > k ? end : k + 1;
}

/* A block `op` at the top has a field `type` of its own. */
static bool is_net_in_text(Bytes b)
{
	enum { LOOK = 1 << 16 };
	int depth = 0;
	bool op = false, inside = false;
	b.n = b.n < LOOK ? b.n : LOOK;
	if (memchr(b.at, 0, b.n) != NULL)
		return false;
	for (size_t k = 0, end; k < b.n; k = end) {
		end = next_token(b, k);
		if (is_blank(b.at[k]) || b.at[k] == ':' || b.at[k] == '#')
			continue;
		if (b.at[k] == '{' || b.at[k] == '<') {
			inside = depth == 0 ? op : inside;
			depth++;
		} else if (b.at[k] == '}' || b.at[k] == '>') {
			depth--;
		} else if (depth == 1 && inside && end - k == 4 && memcmp(b.at + k, "type", 4) == 0) {
			return true;
		}
		op = depth == 0 && end - k == 2 && memcmp(b.at + k, "op", 2) == 0;
	}
	return false;
}

bool caffe2_is_net(Bytes file)
{
	return is_net_in_bytes(file) || is_net_in_text(file);
}

bool caffe2_read(Arena *a, const char *name, Bytes file, Caffe2Net *out, Err *err)
{
	Err why = { 0 };
	bool ok = is_net_in_bytes(file) ? wire_read(a, &Caffe2Net_message, file, out, &why)
	                                : wire_read_text(a, &Caffe2Net_message, name, file, out, NULL, &why);
	err_at(&why, name);
	if (!ok && err->code == ERR_NONE)
		*err = why;
	return ok;
}
