/*
 * The figures of a core that target/model.def has no row for: what a database has of this CPU, else a measurement.
 * db_put_env stores them with the environment of the first records, so that they are measured once.
 */
#include "compile/compile.h"
#include "db/look.h"
#include "runtime/probe.h"

bool compile_core(Target *t, DbSet set, bool measure, Err *err)
{
	Core core;
	bool there;
	char owner[TARGET_TEXT];
	if (!core_wants_probe(t))
		return true;
	if (!db_core(set, core_owner(t, owner), &core, &there, err))
		return false;
	if (!there && measure) {
		ProbeCore p;
		uint64_t cache[TARGET_CACHES];
		for (int k = 0; k < TARGET_CACHES; k++)
			cache[k] = (uint64_t)t->cache[k].bytes;
		there = probe_core(&p, t->vector_bits, cache);
		core = core_from_probe(&p);
	}
	if (there)
		core_adopt(t, &core);
	return true;
}
