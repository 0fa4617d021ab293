/*
 * Identity: BLAKE2b (libsodium) with a 16-byte digest, written as 32 hexadecimal digits.
 * Inputs may come from strangers, who could construct collisions of a non-cryptographic hash.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Hash {
	uint8_t byte[16];
} Hash;

enum { HASH_HEX = 33 }; /* 32 digits and the 0 */

/* BLAKE2b-128 of `domain`, its ending 0, and then the n bytes; domain is e.g. "dlc/run/v1". */
Hash hash_of(const char *domain, const void *bytes, size_t n);
/* The same with a secret key: without the key nobody can make or check such a hash. */
enum { HASH_KEY = 32 };
Hash hash_keyed(const uint8_t key[HASH_KEY], const char *domain, const void *bytes, size_t n);
void hash_hex(Hash h, char out[HASH_HEX]);
/* Reads exactly 32 lower-case hexadecimal digits; false if it is anything else. */
bool hash_parse(const char *hex, Hash *out);

/* Incremental form for large inputs (bundles, models). */
typedef struct HashState {
	_Alignas(64) unsigned char opaque[384];
} HashState;
void hash_begin(HashState *s, const char *domain);
void hash_add(HashState *s, const void *bytes, size_t n);
Hash hash_end(HashState *s);

#endif
