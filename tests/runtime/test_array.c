/*
 * Arrays in files: .npy, .npz and TensorProto as NumPy and ONNX write them, what is refused, damage
 * at random places; and elements: 16-bit floats in both directions, filling, comparing.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "half.h"
#include "suite.h"

#include "run/array.h"
#include "runtime/element.h"
#include "run/npz.h"
#include "runtime/timing.h"

/* A .npy file as NumPy lays it out; the length. */
static size_t write_npy(unsigned char *out, int version, const char *header, const void *data, size_t n)
{
	size_t from = version == 1 ? 10 : 12, all = (from + strlen(header) + 64) / 64 * 64;
	memcpy(out, "\x93NUMPY", 6);
	out[6] = (unsigned char)version;
	out[7] = 0;
	for (size_t i = 8; i < from; i++)
		out[i] = (unsigned char)((all - from) >> (8 * (i - 8)));
	memset(out + from, ' ', all - from);
	memcpy(out + from, header, strlen(header));
	out[all - 1] = '\n';
	if (n > 0)
		memcpy(out + all, data, n);
	return all + n;
}

/* What NumPy writes for an array of zeros, ones, ... and what must come of it. */
static const struct Good {
	const char *header;
	DlcDataType dtype;
	int ndim;
	int64_t shape[3];
	size_t bytes;
} GOOD[] = {
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", { 2, 32, 1 }, 2, { 2, 3 }, 24 },
	{ "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }", { 2, 64, 1 }, 1, { 4 }, 32 },
	{ "{'descr': '<f2', 'fortran_order': False, 'shape': (), }", { 2, 16, 1 }, 0, { 0 }, 2 },
	{ "{'descr': '|b1', 'fortran_order': False, 'shape': (1, 1, 5), }", { 6, 8, 1 }, 3, { 1, 1, 5 }, 5 },
	{ "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }", { 0, 8, 1 }, 1, { 3 }, 3 },
	{ "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", { 1, 8, 1 }, 1, { 3 }, 3 },
	{ "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }", { 0, 16, 1 }, 1, { 3 }, 6 },
	{ "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }", { 1, 16, 1 }, 1, { 3 }, 6 },
	{ "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", { 0, 32, 1 }, 1, { 3 }, 12 },
	{ "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }", { 1, 32, 1 }, 1, { 3 }, 12 },
	{ "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", { 0, 64, 1 }, 1, { 3 }, 24 },
	{ "{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }", { 1, 64, 1 }, 1, { 3 }, 24 },
	{ "{'descr': '|V2', 'fortran_order': False, 'shape': (3,), }", { 4, 16, 1 }, 1, { 3 }, 6 },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9), }", { 2, 32, 1 }, 2, { 0, 9 }, 0 },
	{ "{\"shape\":(2L,3L),\"descr\":\"<f4\",\"fortran_order\":False}", { 2, 32, 1 }, 2, { 2, 3 }, 24 },
};

START_TEST(npy_good)
{
	const struct Good *g = &GOOD[_i];
	unsigned char file[512], data[64], back[64];
	for (int version = 1; version <= 3; version++) {
		for (int i = 0; i < LEN(data); i++)
			data[i] = (unsigned char)(i * 7);
		size_t n = write_npy(file, version, g->header, data, g->bytes);
		Array a;
		DlcError err = { 0 };
		DlcStatus s = npy_parse(file, n, &a, &err);
		ck_assert_msg(s == DLC_OK, "%s: %s", g->header, err.text);
		ck_assert_int_eq(a.dtype.code, g->dtype.code);
		ck_assert_int_eq(a.dtype.bits, g->dtype.bits);
		ck_assert_int_eq(a.ndim, g->ndim);
		ck_assert_mem_eq(a.shape, g->shape, (size_t)g->ndim * sizeof *g->shape);
		ck_assert_int_eq(a.bytes, (int64_t)g->bytes);
		array_copy(&a, back);
		ck_assert_mem_eq(back, data, g->bytes);
		/* Written and read again. */
		char header[512];
		DlcTensor t = array_tensor(&a);
		size_t head = npy_header(&t, header);
		ck_assert_uint_eq(head % 64, 0);
		memcpy(file, header, head);
		memcpy(file + head, data, g->bytes);
		Array b;
		ck_assert_int_eq(npy_parse(file, head + g->bytes, &b, NULL), DLC_OK);
		ck_assert_int_eq(b.ndim, a.ndim);
		ck_assert_mem_eq(b.shape, a.shape, (size_t)a.ndim * sizeof *a.shape);
		ck_assert_int_eq(b.dtype.bits, a.dtype.bits);
		/* One byte too few or too many. */
		if (g->bytes > 0)
			ck_assert_int_eq(npy_parse(file, head + g->bytes - 1, &b, NULL), DLC_BAD_FILE);
		ck_assert_int_eq(npy_parse(file, head + g->bytes + 1, &b, NULL), DLC_BAD_FILE);
	}
}
END_TEST

static const char *const BAD_NPY[] = {
	"",
	"{",
	"{}",
	"{'descr': '<f4', 'fortran_order': False, }",
	"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
	"{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }",
	"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
	"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }",
	"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }",
	"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
	"{'descr': '<f4', 'fortran_order': False, 'shape': (1, }",
	"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
	"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0x1), }",
	"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
	"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 99999999999, 224), }",
	"{'descr': '<f4', 'fortran_order': False, 'shape': "
	"(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }",
	"{'descr': '<f4', 'more': 1, 'fortran_order': False, 'shape': (1,), }",
};

START_TEST(npy_bad)
{
	unsigned char file[1024];
	size_t n = write_npy(file, 1, BAD_NPY[_i], "abcd", 4);
	Array a;
	DlcError err = { 0 };
	ck_assert_int_eq(npy_parse(file, n, &a, &err), DLC_BAD_FILE);
	ck_assert_uint_gt(strlen(err.text), 10);
}
END_TEST

/* Big-endian and first-dimension-fastest data arrive in our order. */
START_TEST(npy_orders)
{
	unsigned char file[512];
	float got[6];
	const unsigned char big[8] = { 0x3f, 0x80, 0, 0, 0xc0, 0x20, 0, 0 };
	const float columns[6] = { 0, 3, 1, 4, 2, 5 };
	Array a;
	size_t n = write_npy(file, 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", big, 8);
	ck_assert_int_eq(npy_parse(file, n, &a, NULL), DLC_OK);
	array_copy(&a, got);
	ck_assert_float_eq(got[0], 1);
	ck_assert_float_eq(got[1], -2.5f);
	n = write_npy(file, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", columns, 24);
	ck_assert_int_eq(npy_parse(file, n, &a, NULL), DLC_OK);
	array_copy(&a, got);
	for (int i = 0; i < 6; i++)
		ck_assert_float_eq(got[i], (float)i);
}
END_TEST

/* Two stored members; the length. */
static size_t write_npz(unsigned char *out, const char *first, const char *second)
{
	const char *name[2] = { first, second };
	NpzEntry e[2] = { { "", 0, 0, 0 }, { "", 0, 0, 0 } };
	size_t at = 0;
	for (int i = 0; i < 2; i++) {
		unsigned char member[256], piece[NPZ_HEADER];
		const float data[2] = { (float)i, 7 };
		size_t n = write_npy(member, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", data, sizeof data);
		snprintf(e[i].name, sizeof e[i].name, "%s.npy", name[i]);
		e[i].bytes = (uint32_t)n;
		e[i].local = (uint32_t)at;
		e[i].crc = npz_crc(0, member, n);
		size_t head = npz_local(&e[i], piece);
		memcpy(out + at, piece, head);
		memcpy(out + at + head, member, n);
		at += head + n;
	}
	size_t central = at;
	for (int i = 0; i < 2; i++)
		at += npz_central(&e[i], out + at);
	return at + npz_end(2, (uint32_t)central, (uint32_t)(at - central), out + at);
}

START_TEST(npz)
{
	unsigned char file[2048];
	size_t n = write_npz(file, "data", "mask");
	int members = 0;
	ck_assert_uint_eq(npz_crc(0, "123456789", 9), 0xcbf43926); /* the standard's check value */
	ck_assert(npz_recognise(file, n));
	ck_assert_int_eq(npz_count(file, n, &members, NULL), DLC_OK);
	ck_assert_int_eq(members, 2);
	for (int i = 0; i < 2; i++) {
		Array a;
		float got[2];
		ck_assert_int_eq(npz_parse(file, n, i, &a, NULL), DLC_OK);
		ck_assert_str_eq(a.name, i == 0 ? "data" : "mask");
		array_copy(&a, got);
		ck_assert_float_eq(got[0], (float)i);
		array_free(&a);
	}
	Array a;
	ck_assert_int_eq(npz_parse(file, n, 2, &a, NULL), DLC_BAD_FILE);
	file[120] ^= 1; /* in the first member: its CRC tells */
	ck_assert_int_eq(npz_parse(file, n, 0, &a, NULL), DLC_BAD_FILE);
}
END_TEST

/* A member as numpy.savez_compressed(x=ones(64, 'f4')) makes it. */
START_TEST(npz_deflated)
{
	static const unsigned char packed[] = { 0x9b, 0xec, 0x17, 0xea, 0x1b, 0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad,
		0x9e, 0x92, 0x5a, 0x9c, 0x5c, 0xa4, 0x6e, 0xa5, 0xa0, 0x6e, 0x93, 0x66, 0xa2, 0xae, 0xa3, 0xa0, 0x9e, 0x96,
		0x5f, 0x54, 0x52, 0x94, 0x98, 0x17, 0x9f, 0x5f, 0x94, 0x92, 0x0a, 0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05,
		0x8a, 0x17, 0x67, 0x24, 0x16, 0xa4, 0x02, 0xf9, 0x1a, 0x66, 0x26, 0x3a, 0x9a, 0x3a, 0x0a, 0xb5, 0x0a, 0xe4,
		0x03, 0x2e, 0x06, 0x86, 0x06, 0xfb, 0x91, 0x8c, 0x01 };
	unsigned char file[1024] = { 0 };
	NpzEntry e = { "x.npy", 0x04766cb5, 384, 0 };
	size_t at = npz_local(&e, file);
	file[8] = 8; /* method: deflate */
	memcpy(file + at, packed, sizeof packed);
	at += sizeof packed;
	size_t central = at;
	npz_central(&e, file + at);
	file[at + 10] = 8;
	file[at + 20] = (unsigned char)sizeof packed; /* the packed size */
	file[at + 21] = 0;
	at += 46 + strlen(e.name);
	at += npz_end(1, (uint32_t)central, (uint32_t)(at - central), file + at);
	Array a;
	DlcError err = { 0 };
	DlcStatus s = npz_parse(file, at, 0, &a, &err);
	if (strstr(err.text, "without zlib") != NULL) {
		suite_skip_installable("npz_deflated", "dlc-run is built without zlib");
		return;
	}
	ck_assert_msg(s == DLC_OK, "%s", err.text);
	float got[64];
	ck_assert_int_eq(a.bytes, sizeof got);
	array_copy(&a, got);
	for (int i = 0; i < 64; i++)
		ck_assert_float_eq(got[i], 1);
	array_free(&a);
	for (size_t i = 36; i < central; i++) {
		file[i] ^= 0x55;
		ck_assert_int_eq(npz_parse(file, at, 0, &a, NULL), DLC_BAD_FILE);
		file[i] ^= 0x55;
	}
}
END_TEST

/* TensorProtos, field by field, and the numbers they hold. */
static const struct Proto {
	const char *bytes;
	int n;
	DlcDataType dtype;
	int count;
	double value[4];
} PROTO[] = {
	{ "\x08\x02\x10\x01\x4a\x08\0\0\x80\x3f\0\0\0\xc0", 14, { 2, 32, 1 }, 2, { 1, -2 } },         /* raw */
	{ "\x0a\x02\x01\x02\x10\x01\x22\x08\0\0\x80\x3f\0\0\0\xc0", 16, { 2, 32, 1 }, 2, { 1, -2 } }, /* packed */
	{ "\x08\x02\x10\x01\x25\0\0\x80\x3f\x25\0\0\0\xc0", 14, { 2, 32, 1 }, 2, { 1, -2 } },         /* unpacked */
	{ "\x08\x03\x10\x07\x3a\x0c\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x80", 18, { 0, 64, 1 }, -1, { 0 } },
	{ "\x08\x02\x10\x07\x3a\x0b\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 17, { 0, 64, 1 }, 2, { 5, -1 } },
	{ "\x08\x02\x10\x03\x2a\x0b\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 17, { 0, 8, 1 }, 2, { 5, -1 } },
	{ "\x08\x02\x10\x09\x2a\x02\x01\x00", 8, { 6, 8, 1 }, 2, { 1, 0 } }, /* bool */
	{ "\x08\x01\x10\x0a\x2a\x02\x80\x78", 8, { 2, 16, 1 }, 1, { 1 } },   /* half 3c00 */
	{ "\x08\x01\x10\x10\x2a\x03\x80\xff\x01", 9, { 4, 16, 1 }, 1, { INFINITY } },
	{ "\x08\x01\x10\x0b\x52\x08\0\0\0\0\0\0\xf0\x3f", 14, { 2, 64, 1 }, 1, { 1 } },
	{ "\x08\x01\x10\x0d\x5a\x01\x07", 7, { 1, 64, 1 }, 1, { 7 } },
	{ "\x08\x03\x10\x16\x4a\x02\x9f\x07", 8, { 0, 4, 1 }, 3, { -1, -7, 7 } },                 /* packed in raw */
	{ "\x08\x03\x10\x15\x2a\x03\x9f\x01\x07", 9, { 1, 4, 1 }, 3, { 15, 9, 7 } },               /* packed in a list */
	{ "\x08\x04\x10\x1a\x4a\x01\x1b", 7, { 0, 2, 1 }, 4, { -1, -2, 1, 0 } },
	{ "\x08\x03\x10\x16\x4a\x03\x9f\x07\x00", 9, { 0, 0, 0 }, -1, { 0 } },                    /* a byte too many */
	{ "\x10\x01\x4a\x04\0\0\x80\x3f\x42\x01x\x62\x02hi", 15, { 2, 32, 1 }, 1, { 1 } },      /* scalar, name, doc */
	{ "\x08\x02\x10\x01\x4a\x04\0\0\x80\x3f", 10, { 0, 0, 0 }, -1, { 0 } },                 /* too little */
	{ "\x08\x01\x10\x08\x32\x01x", 7, { 0, 0, 0 }, -1, { 0 } },                             /* strings */
	{ "\x08\x01\x10\x01\x6a\x00", 6, { 0, 0, 0 }, -1, { 0 } },                              /* external */
	{ "\x08\x01\x10\x0e\x4a\x00", 6, { 0, 0, 0 }, -1, { 0 } },                              /* complex */
	{ "\x08\x01\x10\x01\x25\0\0\x80\x3f\x3a\x01\x05", 12, { 0, 0, 0 }, -1, { 0 } },         /* two lists */
	{ "\x08\x01\x10\x01\x25\0\0\x80\x3f\x4a\x04\0\0\x80\x3f", 15, { 0, 0, 0 }, -1, { 0 } }, /* a list and raw */
	{ "\x08\x01\x10\x01\x3a\x01\x05", 7, { 0, 0, 0 }, -1, { 0 } },                          /* int64 data of f32 */
	{ "\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x10"
	  "\x01",
		22, { 0, 0, 0 }, -1, { 0 } },                          /* overflow */
	{ "\x4a\xff\xff\xff\xff\x0f", 6, { 0, 0, 0 }, -1, { 0 } }, /* a length outside */
	{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11, { 0, 0, 0 }, -1, { 0 } },
	{ "\x0b", 1, { 0, 0, 0 }, -1, { 0 } }, /* a group */
	{ "", 0, { 0, 0, 0 }, -1, { 0 } },
};

START_TEST(protos)
{
	const struct Proto *p = &PROTO[_i];
	Array a;
	DlcError err = { 0 };
	DlcStatus s = tensor_pb_parse((const unsigned char *)p->bytes, (size_t)p->n, &a, &err);
	ck_assert_msg((s == DLC_OK) == (p->count >= 0), "row %d: %s", _i, err.text);
	if (s != DLC_OK)
		return;
	ck_assert_int_eq(a.dtype.code, p->dtype.code);
	ck_assert_int_eq(a.dtype.bits, p->dtype.bits);
	ck_assert_int_eq(a.bytes, (p->count * p->dtype.bits + 7) / 8);
	for (int i = 0; i < p->count; i++) {
		double v = element_value(a.dtype, a.data, i);
		ck_assert_msg(v == p->value[i], "row %d: %g", _i, v);
	}
	array_free(&a);
}
END_TEST

START_TEST(random_damage)
{
	unsigned seed = (unsigned)timing_wall_ns();
	printf("random damage: seed %u\n", seed);
	srand(seed);
	unsigned char file[2048];
	for (int i = 0; i < 20000; i++) {
		int kind = i % 3;
		size_t n = kind == 0   ? write_npy(file, 1, GOOD[0].header, file, 24)
		           : kind == 1 ? write_npz(file, "a", "b")
		                       : (size_t)PROTO[i % 15].n;
		if (kind == 2)
			memcpy(file, PROTO[i % 15].bytes, n);
		for (int k = rand() % 4; k >= 0; k--)
			file[(size_t)rand() % n] = (unsigned char)rand();
		unsigned char *exact = malloc(n); /* so that ASan sees a byte too far */
		memcpy(exact, file, n);
		Array a = { .ndim = 0 };
		DlcStatus s = kind == 0   ? npy_parse(exact, n, &a, NULL)
		              : kind == 1 ? npz_parse(exact, n, i & 1, &a, NULL)
		                          : tensor_pb_parse(exact, n, &a, NULL);
		if (s == DLC_OK && a.bytes < 1 << 20) {
			void *copy = malloc((size_t)a.bytes + 1);
			array_copy(&a, copy);
			free(copy);
		}
		array_free(&a);
		free(exact);
	}
}
END_TEST

static double half(uint16_t h)
{
	return element_value((DlcDataType){ 2, 16, 1 }, &h, 0);
}

/* Every value there and back, every midpoint to the even neighbour, both sides of it, and what is no number. */
START_TEST(halves)
{
	const DlcDataType type[] = { { 2, 16, 1 }, { 4, 16, 1 } };
	ck_assert_double_eq(half(0x3c00), 1);
	ck_assert_double_eq(half(0xc000), -2);
	ck_assert_double_eq(half(0x7bff), 65504);
	ck_assert_double_eq(half(0x0001), 0x1p-24);
	ck_assert(isnan(half(0x7e00)) && isinf(half(0x7c00)));
	for (int t = 0; t < LEN(type); t++)
		for (int k = 0, fraction = t == 0 ? 10 : 7; k < half_cases(fraction); k++) {
			double v;
			uint16_t got, want = half_case(fraction, k, false, &v);
			element_store(type[t], &got, 0, v);
			double back = element_value(type[t], &got, 0), is = half_number(fraction, want & 0x7fff);
			bool finite = (want & 0x7fff) < half_infinity(fraction);
			bool good = finite ? back == (want >> 15 ? -is : is) : isnan(v) ? isnan(back) : isinf(back);
			if (got != want || !good) /* Check notes each assertion in a file: there are half a million */
				ck_abort_msg("type %d: %a becomes %#x, not %#x, and %g", t, v, got, want, back);
		}
}
END_TEST

START_TEST(filling)
{
	const DlcDataType type[] = { { 2, 32, 1 }, { 2, 64, 1 }, { 2, 16, 1 }, { 0, 8, 1 }, { 1, 16, 1 }, { 0, 64, 1 },
		{ 6, 8, 1 }, { 0, 4, 1 }, { 1, 4, 1 } };
	for (int k = 0; k < LEN(type); k++) {
		enum { COUNT = 4000 };
		static double a[COUNT], b[COUNT];
		double sum = 0, lo = type[k].code == 6 ? 0 : type[k].code == 1 ? 2 : -3;
		double hi = type[k].code == 6 ? 1 : 5;
		element_fill(type[k], a, COUNT, 9, lo, hi);
		element_fill(type[k], b, COUNT, 9, lo, hi);
		ck_assert_mem_eq(a, b, COUNT * type[k].bits / 8);
		for (int i = 0; i < COUNT; i++) {
			double v = element_value(type[k], a, i);
			ck_assert(v >= lo && v <= hi);
			sum += v;
		}
		ck_assert_double_eq_tol(sum / COUNT, (lo + hi) / 2, 0.2);
		element_fill(type[k], b, COUNT, 10, lo, hi);
		ck_assert_mem_ne(a, b, COUNT * type[k].bits / 8);
	}
}
END_TEST

START_TEST(comparing)
{
	const DlcDataType f32 = { 2, 32, 1 };
	const float inf = INFINITY, nan = NAN;
	const float want[] = { 1, 100, inf, nan, -inf, 0 };
	float got[] = { 1.0005f, 100.05f, inf, nan, -inf, 1e-8f };
	Compared c = element_compare(f32, got, want, 6, 1e-3, 1e-7);
	ck_assert_int_eq(c.nout, 0);
	ck_assert_int_eq(c.worst, 1);
	ck_assert_double_eq(c.max_want, 100);
	ck_assert_int_eq(element_compare(f32, got, want, 6, 1e-4, 0).nout, 3);
	got[2] = -inf;
	got[3] = 0;
	got[5] = nan;
	c = element_compare(f32, got, want, 6, 1e-3, 1e-7);
	ck_assert_int_eq(c.nbad, 3);
	ck_assert_int_eq(c.nout, 3);
}
END_TEST

/* 2^53 + 1 and 2^53 are one double. */
START_TEST(comparing_whole)
{
	const DlcDataType i64 = { 0, 64, 1 }, u64 = { 1, 64, 1 }, i4 = { 0, 4, 1 };
	const int64_t want[] = { (1ll << 53) + 1, INT64_MIN, -5, 7 };
	int64_t got[] = { 1ll << 53, INT64_MAX, -5, 7 };
	char text[ELEMENT_TEXT];
	Compared c = element_compare(i64, got, want, 4, 0, 0);
	ck_assert_int_eq(c.nout, 2);
	ck_assert_int_eq(c.worst, 1);
	ck_assert_double_eq(c.max_error, 0x1p64);
	got[1] = INT64_MIN;
	c = element_compare(i64, got, want, 4, 0, 0);
	ck_assert_int_eq(c.nout, 1);
	ck_assert_double_eq(c.max_error, 1);
	ck_assert_str_eq(element_print(i64, want, 0, text), "9007199254740993");
	ck_assert_str_eq(element_print(u64, want, 2, text), "18446744073709551611");
	ck_assert_int_eq(element_compare(u64, got, want, 4, 0, 0).nout, 1);
	const unsigned char x = 0x7f, y = 0x78; /* -1 and 7, -8 and 7: the lower first */
	ck_assert_double_eq(element_distance(i4, &x, 0, &y, 0), 7);
	ck_assert_double_eq(element_distance(i4, &x, 0, &y, 1), 8);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("array");
	tcase_add_loop_test(tc, npy_good, 0, LEN(GOOD));
	tcase_add_loop_test(tc, npy_bad, 0, LEN(BAD_NPY));
	tcase_add_test(tc, npy_orders);
	tcase_add_test(tc, npz);
	tcase_add_test(tc, npz_deflated);
	tcase_add_loop_test(tc, protos, 0, LEN(PROTO));
	tcase_add_test(tc, random_damage);
	tcase_add_test(tc, halves);
	tcase_add_test(tc, filling);
	tcase_add_test(tc, comparing);
	tcase_add_test(tc, comparing_whole);
	return run_suite("array", tc);
}
