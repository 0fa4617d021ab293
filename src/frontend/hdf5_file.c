/* See hdf5_file.h. libhdf5 is not made for threads, so one lock is around all that calls it. */
#include "frontend/hdf5_file.h"

#include "base/library.h"
#include "base/text.h"

#include <string.h>

#if DLC_HAVE_LIBHDF5
#include <hdf5.h>
#include <pthread.h>

/* H5P_FILE_ACCESS of the headers is data of the library, which H5open sets; H5F_ACC_RDONLY calls it before a 0. */
enum { READ_ONLY = 0 };

#define NAMES(X) \
	X(H5Aclose) X(H5Aexists) X(H5Aget_space) X(H5Aget_type) X(H5Aopen) X(H5Aread) X(H5Dget_create_plist) \
	X(H5Dget_space) X(H5Dget_type) X(H5Dread) X(H5Dvlen_reclaim) X(H5Eset_auto2) X(H5Fclose) X(H5Fget_filesize) \
	X(H5Fopen) X(H5Gget_info) X(H5Iget_type) X(H5Lexists) X(H5Lget_info) X(H5Lget_name_by_idx) X(H5Oclose) \
	X(H5Oopen) X(H5PLset_loading_state) X(H5P_CLS_FILE_ACCESS_ID_g) X(H5Pclose) X(H5Pcreate) \
	X(H5Pget_external_count) X(H5Pget_layout) X(H5Pset_fapl_core) X(H5Pset_file_image) X(H5Sclose) \
	X(H5Sget_simple_extent_dims) X(H5Sget_simple_extent_ndims) X(H5Sget_simple_extent_npoints) X(H5Tclose) \
	X(H5Tcopy) X(H5Tcreate) X(H5Tget_class) X(H5Tget_sign) X(H5Tget_size) X(H5Tis_variable_str) X(H5Tregister) \
	X(H5Tset_order) X(H5Tunregister) X(H5open)

static struct { NAMES(LIBRARY_MEMBER) } lib;
static const char *const names[] = { NAMES(LIBRARY_TEXT) };
static Library libhdf5 = { LIBHDF5_SONAME, "libhdf5-dev", names, sizeof names / sizeof *names, &lib, 0, false };

enum { MOST_NAMES = 1 << 16, MOST_TEXT = 1 << 26, MOST_PATH = 1024 };
/* Beyond the file's own size, data may be this many times as large, for compressed ones that are mostly zeros. */
enum { MOST_RATIO = 64 };

struct Hdf5 {
	Arena *arena;
	const char *name;
	Bytes file; /* as it lies in memory; libhdf5 has a copy */
	hid_t id;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void close_file(void *h)
{
	pthread_mutex_lock(&lock);
	lib.H5Fclose(((Hdf5 *)h)->id);
	pthread_mutex_unlock(&lock);
}

static uint64_t number_at(const unsigned char *at, int bytes)
{
	uint64_t v = 0;
	for (int k = bytes - 1; k >= 0; k--)
		v = v << 8 | at[k];
	return v;
}

/*
 * Collections of texts are checked here, since libhdf5 1.10 reads beyond them when a size is damaged, and stays at
 * one that is 0: "GCOL", version 1, the size of all, then objects of index[2], count[2], nothing[4], size[8] and data,
 * padded to 8 bytes. Index 0 is what is free, whose size is that of all.
 */
static bool heaps_are_sound(Bytes file)
{
	const unsigned char *at = file.at, *end = file.at + file.n, *next;
	while ((next = memmem(at, (size_t)(end - at), "GCOL\1", 5)) != NULL) {
		at = next + 5;
		uint64_t room = (uint64_t)(end - next), all = room < 16 ? 0 : number_at(next + 8, 8), used = 16;
		if (all < 16 || all > room)
			return false;
		while (all - used >= 16) {
			uint64_t size = number_at(next + used + 8, 8), index = number_at(next + used, 2);
			if (index == 0 ? size < 16 || size > all - used : size > all - used - 16)
				return false;
			used += index == 0 ? size : 16 + (size + 7) / 8 * 8;
			if (used > all)
				return false;
		}
	}
	return true;
}

static hid_t open_image(Bytes file)
{
	lib.H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* messages are ours */
	lib.H5PLset_loading_state(0);              /* no code from folders of plug-ins */
	if (!heaps_are_sound(file))
		return -1;
	hid_t access = lib.H5open() < 0 ? -1 : lib.H5Pcreate(*lib.H5P_CLS_FILE_ACCESS_ID_g), out = -1;
	if (access >= 0 && lib.H5Pset_fapl_core(access, 1, 0) >= 0 &&
		lib.H5Pset_file_image(access, (void *)(uintptr_t)file.at, file.n) >= 0)
		out = lib.H5Fopen("image", READ_ONLY, access);
	lib.H5Pclose(access);
	hsize_t whole = 0;
	if (out >= 0 && (lib.H5Fget_filesize(out, &whole) < 0 || whole > file.n)) { /* cut off */
		lib.H5Fclose(out);
		return -1;
	}
	return out;
}

Hdf5 *hdf5_open(Arena *a, const char *name, Bytes file, Err *err)
{
	if (!library_open(&libhdf5, "HDF5 files are read by libhdf5", name, err))
		return NULL;
	pthread_mutex_lock(&lock);
	hid_t id = open_image(file);
	pthread_mutex_unlock(&lock);
	if (id < 0) {
		fail(err, ERR_INPUT, name, "is not an HDF5 file that can be read: it is damaged or cut off");
		return NULL;
	}
	Hdf5 *h = arena_new_of(a, Hdf5);
	*h = (Hdf5){ a, name, file, id };
	arena_at_end(a, close_file, h);
	return h;
}

/* Walks a path part by part; links to other files, and soft ones, are not followed. -1: nothing is there. */
static hid_t open_path(Hdf5 *h, const char *path)
{
	hid_t at = lib.H5Oopen(h->id, "/", H5P_DEFAULT);
	for (const char *s = path; at >= 0 && *s != 0;) {
		char part[MOST_PATH];
		size_t n = strcspn(s, "/");
		H5L_info_t link;
		if (n >= sizeof part) {
			lib.H5Oclose(at);
			return -1;
		}
		memcpy(part, s, n);
		part[n] = 0;
		s += n + (s[n] == '/');
		if (n == 0)
			continue;
		bool group = lib.H5Iget_type(at) == H5I_GROUP;
		bool hard = group && lib.H5Lexists(at, part, H5P_DEFAULT) > 0 &&
		            lib.H5Lget_info(at, part, &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
		hid_t next = hard ? lib.H5Oopen(at, part, H5P_DEFAULT) : -1;
		lib.H5Oclose(at);
		at = next;
	}
	return at;
}

bool hdf5_has(Hdf5 *h, const char *path)
{
	pthread_mutex_lock(&lock);
	hid_t at = open_path(h, path);
	if (at >= 0)
		lib.H5Oclose(at);
	pthread_mutex_unlock(&lock);
	return at >= 0;
}

static const char **list_names(Hdf5 *h, hid_t group, int *n)
{
	H5G_info_t info;
	if (lib.H5Iget_type(group) != H5I_GROUP || lib.H5Gget_info(group, &info) < 0 || info.nlinks > MOST_NAMES)
		return NULL;
	const char **out = arena_array(h->arena, const char *, info.nlinks + 1);
	for (hsize_t k = 0; k < info.nlinks; k++) {
		char text[MOST_PATH];
		ssize_t len = lib.H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, k, text, sizeof text, H5P_DEFAULT);
		if (len < 0 || (size_t)len >= sizeof text)
			return NULL;
		out[k] = arena_printf(h->arena, "%s", text);
	}
	*n = (int)info.nlinks;
	return out;
}

const char *const *hdf5_names(Hdf5 *h, const char *group, int *n)
{
	const char **out = NULL;
	*n = -1;
	pthread_mutex_lock(&lock);
	hid_t at = open_path(h, group);
	if (at >= 0) {
		out = list_names(h, at, n);
		lib.H5Oclose(at);
	}
	pthread_mutex_unlock(&lock);
	return out;
}

/* The element type of numbers, and the type to read them in. */
static hid_t memory_type(hid_t type, DType *out)
{
	size_t size = lib.H5Tget_size(type);
	H5T_class_t class = lib.H5Tget_class(type);
	bool sign = class == H5T_INTEGER && lib.H5Tget_sign(type) != H5T_SGN_NONE;
	if (class == H5T_ENUM && size == 1) {
		*out = BOOL;
		return lib.H5Tcopy(type);
	}
	if ((class != H5T_FLOAT && class != H5T_INTEGER) || size > 8 || (size & (size - 1)) != 0 ||
		(class == H5T_FLOAT && size < 2))
		return -1;
	*out = (DType){ class == H5T_FLOAT ? DT_FLOAT : sign ? DT_INT : DT_UINT, (unsigned char)(size * 8), 1 };
	hid_t id = lib.H5Tcopy(type);
	if (id >= 0)
		lib.H5Tset_order(id, H5T_ORDER_LE);
	return id;
}

/* Data in other files are refused. */
static bool is_inside(hid_t set)
{
	hid_t how = lib.H5Dget_create_plist(set);
	bool ok = how >= 0 && lib.H5Pget_layout(how) != H5D_VIRTUAL && lib.H5Pget_external_count(how) == 0;
	lib.H5Pclose(how);
	return ok;
}

static bool read_shape(Hdf5 *h, hid_t set, const char *path, Hdf5Data *out, Err *err)
{
	hsize_t dim[DAG_MAX_RANK];
	hid_t space = lib.H5Dget_space(set);
	int rank = lib.H5Sget_simple_extent_ndims(space);
	bool ok = rank >= 0 && rank <= DAG_MAX_RANK && lib.H5Sget_simple_extent_dims(space, dim, NULL) == rank;
	lib.H5Sclose(space);
	if (!ok)
		return fail(err, ERR_UNSUPPORTED, h->name, "the data set '%.200s' has %d dimensions; dlc takes at most %d",
			path, rank, DAG_MAX_RANK);
	out->shape = (Shape){ .rank = rank };
	for (int k = 0; k < rank; k++)
		out->shape.dim[k] = dim[k] > (hsize_t)1 << 48 ? -1 : (int64_t)dim[k];
	int64_t n = shape_elements(out->shape), bytes = n < 0 ? -1 : dtype_bytes(out->type, n);
	if (bytes < 0 || (uint64_t)bytes / MOST_RATIO > h->file.n)
		return fail(err, ERR_INPUT, h->name, "the data set '%.200s' has a shape too large for a file of %zu bytes",
			path, h->file.n);
	return true;
}

static bool read_set(Hdf5 *h, hid_t set, const char *path, Hdf5Data *out, Err *err)
{
	if (lib.H5Iget_type(set) != H5I_DATASET)
		return fail(err, ERR_INPUT, h->name, "'%.200s' is a group, not a data set", path);
	if (!is_inside(set))
		return fail(err, ERR_INPUT, h->name, "the data set '%.200s' has its data in another file", path);
	hid_t type = lib.H5Dget_type(set), memory = memory_type(type, &out->type);
	lib.H5Tclose(type);
	if (memory < 0)
		return fail(err, ERR_UNSUPPORTED, h->name, "the data set '%.200s' does not have numbers that dlc knows", path);
	bool ok = read_shape(h, set, path, out, err);
	if (ok) {
		int64_t bytes = dtype_bytes(out->type, shape_elements(out->shape));
		void *to = arena_alloc_aligned(h->arena, (size_t)bytes + 1, 64);
		ok = bytes == 0 || lib.H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0;
		if (!ok)
			fail(err, ERR_INPUT, h->name,
				"the data set '%.200s' cannot be read: it is damaged, or packed by a filter "
				"that libhdf5 does not have",
				path);
		out->data = to;
	}
	lib.H5Tclose(memory);
	return ok;
}

bool hdf5_read(Hdf5 *h, const char *path, Hdf5Data *out, Err *err)
{
	pthread_mutex_lock(&lock);
	hid_t set = open_path(h, path);
	bool ok = set >= 0 ? read_set(h, set, path, out, err)
	                   : fail(err, ERR_INPUT, h->name, "has no data set '%.200s' of its own", path);
	if (set >= 0)
		lib.H5Oclose(set);
	pthread_mutex_unlock(&lock);
	return ok;
}

/*
 * Texts of variable length lie in collections; the attribute has references: length[4], address[8], index[4]. libhdf5
 * 1.10 allocates what a length says, and copies what the collection has into that. So the references are read first,
 * by a conversion to bytes that changes nothing, and must have the lengths of the collections.
 */
enum { REFERENCE = 16 };

static herr_t keep_bytes(hid_t from, hid_t to, H5T_cdata_t *c, size_t n, size_t stride, size_t back_stride, void *at,
	void *back, hid_t plist)
{
	(void)to, (void)n, (void)stride, (void)back_stride, (void)at, (void)back, (void)plist;
	if (c->command == H5T_CONV_INIT)
		c->need_bkg = H5T_BKG_NO;
	return c->command != H5T_CONV_CONV || lib.H5Tget_size(from) == REFERENCE ? 0 : -1;
}

/* Of an object in the collection at an address; UINT64_MAX: there is none. All collections are sound. */
static uint64_t object_size(Bytes file, uint64_t address, uint64_t index)
{
	if (address > file.n || file.n - address < 16 || memcmp(file.at + address, "GCOL\1", 5) != 0)
		return UINT64_MAX;
	const unsigned char *at = file.at + address;
	uint64_t all = number_at(at + 8, 8), used = 16;
	while (all - used >= 16 && number_at(at + used, 2) != 0) {
		uint64_t size = number_at(at + used + 8, 8);
		if (number_at(at + used, 2) == index)
			return size;
		used += 16 + (size + 7) / 8 * 8;
	}
	return UINT64_MAX;
}

static bool references_are_sound(Hdf5 *h, hid_t attr, hid_t type, size_t many)
{
	unsigned char *raw = arena_alloc(h->arena, REFERENCE * many + 1);
	hid_t bytes = lib.H5Tcreate(H5T_OPAQUE, REFERENCE);
	uint64_t all = 0;
	bool ok = bytes >= 0 && lib.H5Tregister(H5T_PERS_SOFT, "references", type, bytes, keep_bytes) >= 0;
	ok = ok && lib.H5Aread(attr, bytes, raw) >= 0;
	lib.H5Tunregister(H5T_PERS_SOFT, "references", -1, -1, keep_bytes);
	lib.H5Tclose(bytes);
	for (size_t k = 0; k < many && ok; k++) {
		const unsigned char *at = raw + k * REFERENCE;
		uint64_t length = number_at(at, 4), address = number_at(at + 4, 8);
		if (address == 0) /* no text */
			continue;
		all += length;
		ok = length == object_size(h->file, address, number_at(at + 12, 4)) && all <= h->file.n;
	}
	return ok;
}

/* Texts of an attribute, of variable or fixed length. */
static const char **attribute_texts(Hdf5 *h, hid_t attr, int *n)
{
	hid_t type = lib.H5Aget_type(attr), space = lib.H5Aget_space(attr);
	hssize_t many = lib.H5Sget_simple_extent_npoints(space);
	size_t size = lib.H5Tget_size(type);
	bool text = lib.H5Tget_class(type) == H5T_STRING, variable = text && lib.H5Tis_variable_str(type) > 0;
	const char **out = NULL;
	if (text && many >= 0 && many <= MOST_NAMES && size > 0 && size <= MOST_TEXT / (size_t)(many + 1)) {
		char *raw = arena_alloc(h->arena, size * (size_t)many + 1);
		if (many == 0 ||
			((!variable || references_are_sound(h, attr, type, (size_t)many)) && lib.H5Aread(attr, type, raw) >= 0)) {
			out = arena_array(h->arena, const char *, many + 1);
			for (hssize_t k = 0; k < many; k++) {
				const char *s = raw + (size_t)k * size;
				if (variable)
					memcpy(&s, raw + (size_t)k * size, sizeof s);
				out[k] = arena_printf(h->arena, "%.*s", variable ? MOST_TEXT : (int)size, s != NULL ? s : "");
			}
			if (variable && many > 0)
				lib.H5Dvlen_reclaim(type, space, H5P_DEFAULT, raw);
			*n = (int)many;
		}
	}
	lib.H5Sclose(space);
	lib.H5Tclose(type);
	return out;
}

const char *const *hdf5_texts(Hdf5 *h, const char *path, const char *attribute, int *n)
{
	const char **out = NULL;
	*n = -1;
	pthread_mutex_lock(&lock);
	hid_t at = open_path(h, path);
	if (at >= 0 && lib.H5Aexists(at, attribute) > 0) {
		hid_t attr = lib.H5Aopen(at, attribute, H5P_DEFAULT);
		if (attr >= 0) {
			out = attribute_texts(h, attr, n);
			lib.H5Aclose(attr);
		}
	}
	if (at >= 0)
		lib.H5Oclose(at);
	pthread_mutex_unlock(&lock);
	return out;
}

const char *hdf5_text(Hdf5 *h, const char *path, const char *attribute)
{
	int n;
	const char *const *all = hdf5_texts(h, path, attribute, &n);
	return n == 1 ? all[0] : NULL;
}

#else

Hdf5 *hdf5_open(Arena *a, const char *name, Bytes file, Err *err)
{
	(void)a, (void)file;
	fail(err, ERR_UNSUPPORTED, name, "is an HDF5 file, and this build of dlc has no libhdf5 to read it");
	return NULL;
}

const char *const *hdf5_names(Hdf5 *h, const char *group, int *n)
{
	(void)h, (void)group;
	*n = -1;
	return NULL;
}

bool hdf5_has(Hdf5 *h, const char *path)
{
	(void)h, (void)path;
	return false;
}

bool hdf5_read(Hdf5 *h, const char *path, Hdf5Data *out, Err *err)
{
	(void)h, (void)path, (void)out, (void)err;
	return false;
}

const char *hdf5_text(Hdf5 *h, const char *path, const char *attribute)
{
	(void)h, (void)path, (void)attribute;
	return NULL;
}

const char *const *hdf5_texts(Hdf5 *h, const char *path, const char *attribute, int *n)
{
	(void)h, (void)path, (void)attribute;
	*n = -1;
	return NULL;
}
#endif
