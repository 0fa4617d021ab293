/* See hash.h: a thin layer over libsodium's generic hash, which is BLAKE2b. */
#include "base/hash.h"

#include <sodium.h>
#include <string.h>

_Static_assert(sizeof(crypto_generichash_state) <= sizeof(HashState), "HashState is too small");

void hash_begin(HashState *s, const char *domain)
{
	crypto_generichash_init((crypto_generichash_state *)s, NULL, 0, sizeof(Hash));
	hash_add(s, domain, strlen(domain) + 1);
}

void hash_add(HashState *s, const void *bytes, size_t n)
{
	crypto_generichash_update((crypto_generichash_state *)s, bytes, n);
}

Hash hash_end(HashState *s)
{
	Hash h;
	crypto_generichash_final((crypto_generichash_state *)s, h.byte, sizeof h.byte);
	return h;
}

Hash hash_of(const char *domain, const void *bytes, size_t n)
{
	HashState s;
	hash_begin(&s, domain);
	hash_add(&s, bytes, n);
	return hash_end(&s);
}

Hash hash_keyed(const uint8_t key[HASH_KEY], const char *domain, const void *bytes, size_t n)
{
	crypto_generichash_state s;
	Hash h;
	crypto_generichash_init(&s, key, HASH_KEY, sizeof h);
	crypto_generichash_update(&s, (const unsigned char *)domain, strlen(domain) + 1);
	crypto_generichash_update(&s, bytes, n);
	crypto_generichash_final(&s, h.byte, sizeof h.byte);
	return h;
}

void hash_hex(Hash h, char out[HASH_HEX])
{
	sodium_bin2hex(out, HASH_HEX, h.byte, sizeof h.byte);
}

bool hash_parse(const char *hex, Hash *out)
{
	size_t n = 0;
	return strlen(hex) == 2 * sizeof *out && strspn(hex, "0123456789abcdef") == 2 * sizeof *out &&
		sodium_hex2bin(out->byte, sizeof out->byte, hex, strlen(hex), NULL, &n, NULL) == 0 &&
		n == sizeof *out;
}
