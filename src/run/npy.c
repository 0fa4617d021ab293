/*
 * NumPy's .npy: "\x93NUMPY", a version, the length of a header, the header, the data.  The header
 * is a Python dictionary with the keys descr, fortran_order and shape, of which this reads the
 * subset that NumPy writes (format versions 1, 2 and 3).
 */
#include <stdio.h>
#include <string.h>

#include "run/array.h"
#include "runtime/element.h"
#include "runtime/model.h"
#include "runtime/tensor.h"

/* A descr without its byte order, and the type it means; '2' is how bfloat16 arrives (V2). */
static const struct NpyType {
	const char *descr;
	DlcDataType dtype;
} TYPE[] = {
	{ "f4", { TYPE_FLOAT, 32, 1 } },
	{ "f8", { TYPE_FLOAT, 64, 1 } },
	{ "f2", { TYPE_FLOAT, 16, 1 } },
	{ "V2", { TYPE_BFLOAT, 16, 1 } },
	{ "b1", { TYPE_BOOL, 8, 1 } },
	{ "i1", { TYPE_INT, 8, 1 } },
	{ "i2", { TYPE_INT, 16, 1 } },
	{ "i4", { TYPE_INT, 32, 1 } },
	{ "i8", { TYPE_INT, 64, 1 } },
	{ "u1", { TYPE_UINT, 8, 1 } },
	{ "u2", { TYPE_UINT, 16, 1 } },
	{ "u4", { TYPE_UINT, 32, 1 } },
	{ "u8", { TYPE_UINT, 64, 1 } },
};
enum { NTYPE = sizeof TYPE / sizeof *TYPE };

typedef struct Header {
	const char *at, *end;
} Header;

static void skip_space(Header *h)
{
	while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t'))
		h->at++;
}

/* Takes `word` if the header continues with it. */
static bool take(Header *h, const char *word)
{
	size_t n = strlen(word);
	skip_space(h);
	if ((size_t)(h->end - h->at) < n || memcmp(h->at, word, n) != 0)
		return false;
	h->at += n;
	return true;
}

static bool take_text(Header *h, char *out, size_t size)
{
	char quote = take(h, "'") ? '\'' : take(h, "\"") ? '"' : 0;
	size_t n = 0;
	if (quote == 0)
		return false;
	while (h->at < h->end && *h->at != quote) {
		if (n + 1 >= size)
			return false;
		out[n++] = *h->at++;
	}
	out[n] = 0;
	return h->at < h->end && *h->at++ == quote;
}

static bool take_number(Header *h, int64_t *out)
{
	int64_t v = 0;
	skip_space(h);
	const char *first = h->at;
	for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, *h->at - '0', &v))
			return false;
	*out = v;
	if (h->at > first && h->at < h->end && *h->at == 'L') /* Python 2 wrote longs so */
		h->at++;
	return h->at > first;
}

static bool take_shape(Header *h, Array *a)
{
	if (!take(h, "("))
		return false;
	for (a->ndim = 0; !take(h, ")"); a->ndim++) {
		if (a->ndim == ARRAY_RANK || !take_number(h, &a->shape[a->ndim]))
			return false;
		if (take(h, ","))
			continue;
		a->ndim++;
		return take(h, ")");
	}
	return true;
}

static bool take_dictionary(Header *h, Array *a, char descr[32])
{
	char key[32];
	unsigned seen = 0;
	if (!take(h, "{"))
		return false;
	while (!take(h, "}")) {
		if (!take_text(h, key, sizeof key) || !take(h, ":"))
			return false;
		if (strcmp(key, "descr") == 0 && take_text(h, descr, 32)) {
			seen |= 1;
		} else if (strcmp(key, "shape") == 0 && take_shape(h, a)) {
			seen |= 2;
		} else if (strcmp(key, "fortran_order") == 0) {
			a->fortran = take(h, "True");
			if (!a->fortran && !take(h, "False"))
				return false;
			seen |= 4;
		} else {
			return false;
		}
		if (!take(h, ",") && !take(h, "}"))
			return false;
		else if (h->at[-1] == '}')
			break;
	}
	return seen == 7;
}

static DlcStatus set_type(Array *a, const char *descr, DlcError *err)
{
	char order = descr[0] != 0 && strchr("<>|=", descr[0]) != NULL ? descr[0] : '=';
	const char *name = descr + (descr[0] == order);
	for (int i = 0; i < NTYPE; i++)
		if (strcmp(TYPE[i].descr, name) == 0) {
			a->dtype = TYPE[i].dtype;
			a->swapped = order == '>';
			return DLC_OK;
		}
	return runtime_fail(err, DLC_BAD_FILE,
		"the array has elements of type '%s', which no tensor has: convert it", descr);
}

/* Where the header lies; false if this is no .npy. */
static bool find_header(const unsigned char *bytes, size_t size, Header *h)
{
	if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3)
		return false;
	size_t from = bytes[6] == 1 ? 10 : 12;
	if (size < from)
		return false;
	size_t n = bytes[8] | (size_t)bytes[9] << 8;
	if (bytes[6] > 1)
		n |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
	if (n > size - from)
		return false;
	h->at = (const char *)bytes + from;
	h->end = h->at + n;
	return true;
}

DlcStatus npy_parse(const unsigned char *bytes, size_t size, Array *out, DlcError *err)
{
	Header h;
	char descr[32] = "";
	*out = (Array){ .ndim = 0 };
	if (!find_header(bytes, size, &h))
		return runtime_fail(err, DLC_BAD_FILE, "is not a .npy file, or ends within its header");
	const unsigned char *data = (const unsigned char *)h.end;
	if (!take_dictionary(&h, out, descr))
		return runtime_fail(err, DLC_BAD_FILE,
			"the .npy header does not name descr, fortran_order and shape as NumPy does for an array of numbers: "
			"write it with numpy.save");
	DlcStatus s = set_type(out, descr, err);
	if (s != DLC_OK)
		return s;
	DlcTensor t = array_tensor(out);
	out->bytes = tensor_bytes(&t);
	out->data = data;
	size_t there = size - (size_t)(data - bytes);
	if (out->bytes < 0 || (uint64_t)out->bytes != there) {
		char text[TENSOR_TEXT];
		return runtime_fail(err, DLC_BAD_FILE,
			"the file is damaged: it has %zu bytes of data, but its header says %s", there,
			tensor_print(&t, text));
	}
	return DLC_OK;
}

size_t npy_header(const DlcTensor *t, char out[512])
{
	const char *descr = "V1";
	for (int i = 0; i < NTYPE; i++)
		if (TYPE[i].dtype.code == t->dtype.code && TYPE[i].dtype.bits == t->dtype.bits)
			descr = TYPE[i].descr;
	int at = snprintf(out + 10, 502, "{'descr': '%s%s', 'fortran_order': False, 'shape': (",
		t->dtype.bits == 8 ? "|" : "<", descr);
	for (int i = 0; i < t->ndim; i++)
		at += snprintf(out + 10 + at, 502 - (size_t)at, "%lld,%s", (long long)t->shape[i],
			i + 1 < t->ndim ? " " : "");
	if (t->ndim > 1)
		at--; /* NumPy writes (3,) but (3, 4) */
	at += snprintf(out + 10 + at, 502 - (size_t)at, "), }");
	size_t all = ((size_t)at + 10 + 1 + 63) / 64 * 64, n = all - 10;
	memset(out + 10 + at, ' ', all - 10 - (size_t)at);
	out[all - 1] = '\n';
	memcpy(out, "\x93NUMPY\x01\x00", 8);
	out[8] = (char)(n & 255);
	out[9] = (char)(n >> 8);
	return all;
}
