/*
 * The pieces of a zip file of stored members, for writing an .npz. For each member these are its local header and its
 * bytes. All central headers follow, then the end.  array.h has the reader.
 */
#ifndef RUN_NPZ_H
#define RUN_NPZ_H

#include <stddef.h>
#include <stdint.h>

enum { NPZ_NAME = 192, NPZ_HEADER = 46 + NPZ_NAME };

typedef struct NpzEntry {
	char name[NPZ_NAME]; /* with ".npy" */
	uint32_t crc, bytes; /* of the member */
	uint32_t local;      /* where its local header starts */
} NpzEntry;

/* CRC-32 continued over n more bytes; starts from 0. */
uint32_t npz_crc(uint32_t crc, const void *bytes, size_t n);
/* Each writes one piece and returns its length. */
size_t npz_local(const NpzEntry *e, unsigned char out[NPZ_HEADER]);
size_t npz_central(const NpzEntry *e, unsigned char out[NPZ_HEADER]);
size_t npz_end(int n, uint32_t central, uint32_t bytes, unsigned char out[NPZ_HEADER]);

#endif
