/*
 * See hdf5_serve.h. What libhdf5 1.10 is known to read wrongly is refused here before it does, in a sentence that names
 * it. All else that it does to this process is contained by that.
 */
#include "frontend/hdf5_serve.h"

#include "base/library.h"
#include "base/subprocess.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#if DLC_HAVE_LIBHDF5
#include <hdf5.h>

/* H5P_FILE_ACCESS of the headers is data of the library, which H5open sets; H5F_ACC_RDONLY calls it before a 0. */
enum { READ_ONLY = 0 };

#define NAMES(X) \
	X(H5Aclose) \
	X(H5Aexists) X(H5Aget_space) X(H5Aget_type) X(H5Aopen) X(H5Aread) X(H5Dget_create_plist) X(H5Dget_space) \
		X(H5Dget_type) X(H5Dread) X(H5Dvlen_reclaim) X(H5Eset_auto2) X(H5Fclose) X(H5Fget_filesize) X(H5Fopen) \
			X(H5Gget_info) X(H5Iget_type) X(H5Lexists) X(H5Lget_info) X(H5Lget_name_by_idx) X(H5Oclose) X(H5Oopen) \
				X(H5PLset_loading_state) X(H5P_CLS_FILE_ACCESS_ID_g) X(H5Pclose) X(H5Pcreate) X(H5Pget_external_count) \
					X(H5Pget_layout) X(H5Pset_fapl_core) X(H5Pset_file_image) X(H5Pset_file_image_callbacks) \
						X(H5Sclose) X(H5Sget_simple_extent_dims) X(H5Sget_simple_extent_ndims) \
							X(H5Sget_simple_extent_npoints) X(H5Tclose) X(H5Tcopy) X(H5Tcreate) X(H5Tget_class) \
								X(H5Tget_sign) X(H5Tget_size) X(H5Tis_variable_str) X(H5Tregister) X(H5Tset_order) \
									X(H5Tunregister) X(H5open)

static struct {
	NAMES(LIBRARY_MEMBER)
} lib;
static const char *const names[] = { NAMES(LIBRARY_TEXT) };
static Library libhdf5 = { LIBHDF5_SONAME, "libhdf5-dev", names, sizeof names / sizeof *names, &lib, 0, false };

/* One request at a time, with an arena of its own. */
typedef struct Server {
	Arena *arena;
	Bytes file;
	hid_t id;
	Hdf5Answer answer;
	const void *data; /* answer.bytes */
} Server;

static uint64_t number_at(const unsigned char *at, int bytes)
{
	uint64_t v = 0;
	for (int k = bytes - 1; k >= 0; k--)
		v = v << 8 | at[k];
	return v;
}

/*
 * libhdf5 would copy the image twice. It reads only, so these give it the bytes themselves; `file` is the Bytes.
 */
static void *image_malloc(size_t size, H5FD_file_image_op_t op, void *file)
{
	(void)op;
	return size <= ((Bytes *)file)->n ? (void *)(uintptr_t)((Bytes *)file)->at : NULL;
}

static void *image_memcpy(void *to, const void *from, size_t size, H5FD_file_image_op_t op, void *file)
{
	(void)size, (void)op, (void)file;
	return to == from ? to : NULL;
}

static void *image_realloc(void *at, size_t size, H5FD_file_image_op_t op, void *file)
{
	(void)at, (void)size, (void)op, (void)file;
	return NULL;
}

static herr_t image_free(void *at, H5FD_file_image_op_t op, void *file)
{
	(void)at, (void)op, (void)file;
	return 0;
}

static void *keep_file(void *file)
{
	return file;
}

static herr_t leave_file(void *file)
{
	(void)file;
	return 0;
}

static hid_t open_image(Bytes *file)
{
	H5FD_file_image_callbacks_t as_it_is = { image_malloc, image_memcpy, image_realloc, image_free, keep_file,
		leave_file, file };
	lib.H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* messages are ours */
	lib.H5PLset_loading_state(0);              /* no code from folders of plug-ins */
	hid_t access = lib.H5open() < 0 ? -1 : lib.H5Pcreate(*lib.H5P_CLS_FILE_ACCESS_ID_g), out = -1;
	if (access >= 0 && lib.H5Pset_fapl_core(access, 1, 0) >= 0 &&
		lib.H5Pset_file_image_callbacks(access, &as_it_is) >= 0 &&
		lib.H5Pset_file_image(access, (void *)(uintptr_t)file->at, file->n) >= 0)
		out = lib.H5Fopen("image", READ_ONLY, access);
	lib.H5Pclose(access);
	hsize_t whole = 0;
	return out >= 0 && lib.H5Fget_filesize(out, &whole) >= 0 && whole <= file->n ? out : -1; /* or it is cut off */
}

/* Walks a path part by part; links to other files, and soft ones, are not followed. */
static Hdf5Word open_path(const Server *s, const char *path, hid_t *out)
{
	hid_t at = lib.H5Oopen(s->id, "/", H5P_DEFAULT);
	Hdf5Word word = at < 0 ? HDF5_DAMAGED : HDF5_FOUND;
	while (word == HDF5_FOUND && *path != 0) {
		char part[HDF5_MOST_NAME];
		size_t n = strcspn(path, "/");
		H5L_info_t link = { .type = H5L_TYPE_ERROR };
		htri_t there = 0;
		if (n > 0 && n < sizeof part && lib.H5Iget_type(at) == H5I_GROUP) {
			memcpy(part, path, n);
			part[n] = 0;
			there = lib.H5Lexists(at, part, H5P_DEFAULT);
		}
		path += n + (path[n] == '/');
		if (n == 0)
			continue;
		if (there > 0 && lib.H5Lget_info(at, part, &link, H5P_DEFAULT) < 0)
			there = -1;
		hid_t next = there > 0 && link.type == H5L_TYPE_HARD ? lib.H5Oopen(at, part, H5P_DEFAULT) : -1;
		lib.H5Oclose(at);
		at = next;
		if (at < 0)
			word = there < 0 || link.type == H5L_TYPE_HARD ? HDF5_DAMAGED : HDF5_ABSENT;
	}
	*out = at;
	return word;
}

static Hdf5Word give_texts(Server *s, const char *const *text, size_t n)
{
	size_t bytes = 0;
	for (size_t k = 0; k < n; k++)
		bytes += strlen(text[k]) + 1;
	char *all = arena_alloc(s->arena, bytes + 1), *to = all;
	for (size_t k = 0; k < n; k++)
		to = (char *)memcpy(to, text[k], strlen(text[k]) + 1) + strlen(text[k]) + 1;
	s->answer.texts = n;
	s->answer.bytes = bytes;
	s->data = all;
	return HDF5_FOUND;
}

static Hdf5Word read_names(Server *s, hid_t group)
{
	H5G_info_t info;
	if (lib.H5Iget_type(group) != H5I_GROUP)
		return HDF5_ABSENT;
	if (lib.H5Gget_info(group, &info) < 0)
		return HDF5_DAMAGED;
	if (info.nlinks > HDF5_MOST_NAMES)
		return HDF5_ABSENT;
	const char **out = arena_array(s->arena, const char *, info.nlinks + 1);
	for (hsize_t k = 0; k < info.nlinks; k++) {
		char text[HDF5_MOST_NAME];
		ssize_t len = lib.H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, k, text, sizeof text, H5P_DEFAULT);
		if (len < 0 || (size_t)len >= sizeof text)
			return len < 0 ? HDF5_DAMAGED : HDF5_ABSENT;
		out[k] = arena_printf(s->arena, "%s", text);
	}
	return give_texts(s, out, info.nlinks);
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

static Hdf5Word read_shape(Server *s, hid_t set)
{
	hsize_t dim[DAG_MAX_RANK];
	hid_t space = lib.H5Dget_space(set);
	int rank = lib.H5Sget_simple_extent_ndims(space);
	bool ok = rank >= 0 && rank <= DAG_MAX_RANK && lib.H5Sget_simple_extent_dims(space, dim, NULL) == rank;
	lib.H5Sclose(space);
	s->answer.shape = (Shape){ .rank = rank };
	if (!ok)
		return HDF5_RANK;
	for (int k = 0; k < rank; k++)
		s->answer.shape.dim[k] = dim[k] > (hsize_t)1 << 48 ? -1 : (int64_t)dim[k];
	return hdf5_data_bytes(s->answer.type, s->answer.shape, s->file.n) < 0 ? HDF5_LARGE : HDF5_FOUND;
}

/* Its copy here, and as much for pieces of it that are unpacked, one of which may be all of it. */
enum { COPIES = 4 };

static Hdf5Word read_set(Server *s, hid_t set)
{
	if (lib.H5Iget_type(set) != H5I_DATASET)
		return HDF5_GROUP;
	if (!is_inside(set))
		return HDF5_ELSEWHERE;
	hid_t type = lib.H5Dget_type(set), memory = memory_type(type, &s->answer.type);
	if (memory < 0)
		return HDF5_NOT_NUMBERS;
	Hdf5Word word = read_shape(s, set);
	if (word != HDF5_FOUND)
		return word;
	int64_t bytes = hdf5_data_bytes(s->answer.type, s->answer.shape, s->file.n);
	subprocess_allow_memory(COPIES * bytes);
	void *to = arena_alloc_aligned(s->arena, (size_t)bytes + 1, 64);
	if (bytes > 0 && lib.H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) < 0)
		word = HDF5_DAMAGED;
	subprocess_allow_memory(-COPIES * bytes);
	lib.H5Tclose(memory);
	lib.H5Tclose(type);
	s->data = to;
	s->answer.bytes = (uint64_t)bytes;
	return word;
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

/*
 * The collection of texts at an address is checked before libhdf5 1.10 follows a reference to it, since that reads
 * beyond one whose size is damaged, and stays at one that is 0: "GCOL", version 1, the size of all, then objects of
 * index[2], count[2], nothing[4], size[8] and data, padded to 8 bytes. Index 0 is what is free, whose size is that of
 * all. These bytes at other places are data like any.
 */
static bool collection_is_sound(Bytes file, uint64_t address)
{
	if (address > file.n || file.n - address < 16 || memcmp(file.at + address, "GCOL\1", 5) != 0)
		return false;
	const unsigned char *at = file.at + address;
	uint64_t all = number_at(at + 8, 8), used = 16;
	if (all < 16 || all > file.n - address)
		return false;
	while (all - used >= 16) {
		uint64_t size = number_at(at + used + 8, 8), index = number_at(at + used, 2);
		if (index == 0 ? size < 16 || size > all - used : size > all - used - 16)
			return false;
		used += index == 0 ? size : 16 + (size + 7) / 8 * 8;
		if (used > all)
			return false;
	}
	return true;
}

/* Of an object in the collection at an address, which is sound; UINT64_MAX: there is none. */
static uint64_t object_size(Bytes file, uint64_t address, uint64_t index)
{
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

static bool references_are_sound(const Server *s, hid_t attr, hid_t type, size_t many)
{
	unsigned char *raw = arena_alloc(s->arena, REFERENCE * many + 1);
	hid_t bytes = lib.H5Tcreate(H5T_OPAQUE, REFERENCE);
	uint64_t all = 0, sound = 0;
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
		ok = address == sound || collection_is_sound(s->file, address);
		sound = address;
		ok = ok && length == object_size(s->file, address, number_at(at + 12, 4)) && all <= s->file.n;
	}
	return ok;
}

/* Texts of an attribute, of variable or fixed length. */
static Hdf5Word read_texts(Server *s, hid_t attr)
{
	hid_t type = lib.H5Aget_type(attr), space = lib.H5Aget_space(attr);
	hssize_t many = lib.H5Sget_simple_extent_npoints(space);
	size_t size = lib.H5Tget_size(type);
	if (type < 0 || space < 0)
		return HDF5_DAMAGED;
	bool text = lib.H5Tget_class(type) == H5T_STRING, variable = text && lib.H5Tis_variable_str(type) > 0;
	if (!text || many < 0 || many > HDF5_MOST_NAMES || size == 0 || size > HDF5_MOST_TEXT / (size_t)(many + 1))
		return HDF5_ABSENT;
	char *raw = arena_alloc(s->arena, size * (size_t)many + 1);
	if (many > 0 && variable && !references_are_sound(s, attr, type, (size_t)many))
		return HDF5_DAMAGED;
	if (many > 0 && lib.H5Aread(attr, type, raw) < 0)
		return HDF5_DAMAGED;
	const char **out = arena_array(s->arena, const char *, many + 1);
	for (hssize_t k = 0; k < many; k++) {
		const char *at = raw + (size_t)k * size;
		if (variable)
			memcpy(&at, raw + (size_t)k * size, sizeof at);
		out[k] = arena_printf(s->arena, "%.*s", variable ? HDF5_MOST_TEXT : (int)size, at != NULL ? at : "");
	}
	if (variable && many > 0)
		lib.H5Dvlen_reclaim(type, space, H5P_DEFAULT, raw);
	lib.H5Sclose(space);
	lib.H5Tclose(type);
	return give_texts(s, out, (size_t)many);
}

static Hdf5Word read_attribute(Server *s, hid_t at, const char *name)
{
	htri_t there = lib.H5Aexists(at, name);
	hid_t attr = there > 0 ? lib.H5Aopen(at, name, H5P_DEFAULT) : -1;
	if (attr < 0)
		return there == 0 ? HDF5_ABSENT : HDF5_DAMAGED;
	Hdf5Word word = read_texts(s, attr);
	lib.H5Aclose(attr);
	return word;
}

static Hdf5Word answer(Server *s, const Hdf5Request *r)
{
	hid_t at;
	Hdf5Word word = open_path(s, r->path, &at);
	if (word == HDF5_FOUND)
		switch (r->ask) {
		case HDF5_HAS: break;
		case HDF5_NAMES: word = read_names(s, at); break;
		case HDF5_TEXTS: word = read_attribute(s, at, r->attribute); break;
		case HDF5_READ: word = read_set(s, at); break;
		}
	if (at >= 0)
		lib.H5Oclose(at);
	return word;
}

/* What `answer` left behind, and room for the next. */
static void give(Server *s)
{
	subprocess_give(&s->answer, sizeof s->answer);
	subprocess_give(s->data, s->answer.bytes);
	arena_free(s->arena);
	*s = (Server){ .arena = arena_new(), .file = s->file, .id = s->id };
}

static void serve(Server *s, const Hdf5Request *r)
{
	s->answer.number = r->number;
	s->answer.word = answer(s, r);
	if (s->answer.word != HDF5_FOUND)
		s->answer.bytes = s->answer.texts = 0;
	give(s);
}

void hdf5_serve(void *file)
{
	Hdf5Request r;
	Server s = { .file = *(Bytes *)file, .id = open_image(file) };
	s.answer.word = s.id < 0 ? HDF5_DAMAGED : HDF5_FOUND;
	give(&s);
	for (;;) {
		subprocess_take(&r, sizeof r);
		Arena *a = arena_new();
		char *more = arena_alloc(a, r.bytes + 1);
		subprocess_take(more, r.bytes);
		serve(&s, &r);
		for (const char *path = more; path < more + r.bytes; path += strlen(path) + 1) {
			snprintf(r.path, sizeof r.path, "%s", path);
			serve(&s, &r);
		}
		arena_free(a);
	}
}

bool hdf5_library_open(const char *name, Err *err)
{
	return library_open(&libhdf5, "HDF5 files are read by libhdf5", name, err);
}

#else

bool hdf5_library_open(const char *name, Err *err)
{
	return fail(err, ERR_UNSUPPORTED, name, "is an HDF5 file, and this build of dlc has no libhdf5 to read it");
}

void hdf5_serve(void *file)
{
	(void)file;
}
#endif
