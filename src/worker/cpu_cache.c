/* Sizes of this CPU's caches as Linux tells them; elsewhere, or where it does not, they are 0. */
#include <stdio.h>

#include "worker/worker.h"

static bool read_word(int index, const char *what, char word[32])
{
	char path[96];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, what);
	FILE *f = fopen(path, "r");
	bool ok = f != NULL && fgets(word, 32, f) != NULL;
	if (f != NULL)
		fclose(f);
	return ok;
}

uint64_t worker_cache_bytes(int level)
{
	char word[32], unit = 0;
	for (int index = 0; index < 8 && read_word(index, "level", word); index++) {
		unsigned long long n = 0;
		int at = 0;
		if (sscanf(word, "%d", &at) != 1 || at != level || !read_word(index, "type", word) || word[0] == 'I')
			continue;
		if (read_word(index, "size", word) && sscanf(word, "%llu%c", &n, &unit) >= 1 && n < 1 << 30)
			return n * (unit == 'K' ? 1024 : unit == 'M' ? 1 << 20 : 1);
	}
	return 0;
}
