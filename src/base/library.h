/*
 * Libraries that are opened when they are first needed. A program that is linked with libhdf5, libzip or libxgboost
 * loads 40 further libraries at each start, and most programs read no such file and train no model.
 *
 * A table of the library's names, with the types of its headers, stands where it is used:
 *
 * 	#define NAMES(X) X(zip_fopen_index) X(zip_fread)
 * 	static struct { NAMES(LIBRARY_MEMBER) } lib;
 * 	static const char *const names[] = { NAMES(LIBRARY_TEXT) };
 * 	static Library libzip = { LIBZIP_SONAME, "libzip-dev", names, sizeof names / sizeof *names, &lib, 0, false };
 *
 * and after library_open the code calls lib.zip_fopen_index(...). A name may be that of data, to which the member
 * points. A name that the headers define as another, for its version, works too.
 */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define LIBRARY_MEMBER(name) __typeof__(name) *name;
#define LIBRARY_TEXT(name) LIBRARY_QUOTED(name)
#define LIBRARY_QUOTED(name) #name,

typedef struct Library {
	const char *soname;  /* of the library whose headers the build used */
	const char *package; /* that installs it, Debian's name */
	const char *const *name;
	size_t names;
	void *api;           /* a struct of as many pointers, in the order of the names */
	size_t bytes;        /* of address space: a library that ends the process without it is not opened; 0: any */
	bool opened;
} Library;

/*
 * Any thread; after the first success it costs a lock. `work` begins the sentence of a refusal: "zip archives are read
 * by libzip". ERR_MISSING: the library is not installed, or lacks a name; ERR_MEMORY: less than `bytes` are left. A
 * later call tries again. The library stays open: it may have threads, and its functions are in the table.
 */
bool library_open(Library *l, const char *work, const char *place, Err *err);

#endif
