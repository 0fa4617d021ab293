/*
 * libFuzzer: a trace from a stranger, applied to nests of every kind.  What parses prints to a text
 * that reads back the same; whatever it is, the set stays legal, and a refusal is ERR_ILLEGAL.
 */
#include "fuzz.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "schedule/trace.h"

#include <string.h>

/*
 * A reduction of padded taps by a constant, what follows it, a recurrence, loops that bound loops,
 * statements in no block, a tail, rows that windows have in common, two Fns.
 */
static const char fns[] =
	"fn f(x: in f32[7, 24], w: const f32[24, 13], m.y: work f32[7, 13], y: out f32[7, 13], h: inout f32[5, 13], z: out "
    "f32[8, 8],\n"
	"\tc: inout i64[1], t: work f32[64], b: work f32[9], y.t: out f32[7]) {\n"
	"	for i in 0..7 { for j in 0..13 { for k in 0..24 {\n"
	"		block m(vi: spatial 0..7 = i, vj: spatial 0..13 = j, vk: reduce 0..24 = k) {\n"
	"			init { m.y[vi, vj] = 0.0 }\n"
	"			sum m.y[vi, vj] <- select(0 < vi & vi < 7, x[max(vi - 1, 0), vk], 0.0) * w[vk, vj]\n"
	"		}\n"
	"	} } }\n"
	"	for i_1 in 0..7 { for j_1 in 0..13 {\n"
	"		block o(wi: spatial 0..7 = i_1, wj: spatial 0..13 = j_1) { y[wi, wj] = max(m.y[wi, wj], 0.0) }\n"
	"	} }\n"
	"	for s in 0..4 { for a in 0..13 {\n"
	"		block r(vs: scan 0..4 = s, va: spatial 0..13 = a) { h[vs + 1, va] = h[vs, va] + 1.0 }\n"
	"	} }\n"
	"	for p in 0..8 { for q in 0..p + 1 {\n"
	"		block d(vp: spatial 0..8 = p, vq: spatial 0..8 = q) { z[vp, vq] = 1.0 }\n"
	"	} }\n"
	"	for u in 0..7 { let old = atomic sum c[0] <- 1 if old < 3 { for e in 0..5 { t[e] = 0.0 } } }\n"
	"	for v in 0..64 { block n(vv: spatial 0..64 = v) { t[vv] = 2.0 } }\n"
	"	for i_2 in 0..9 { block rows(vi_2: spatial 0..9 = i_2) { b[vi_2] = h[0, vi_2] } }\n"
	"	for j_2 in 0..7 { for k_2 in 0..3 {\n"
	"		block taps(vj_2: spatial 0..7 = j_2, vk_2: reduce 0..3 = k_2) {\n"
	"			init { y.t[vj_2] = 0.0 }\n"
	"			sum y.t[vj_2] <- b[vj_2 + vk_2]\n"
	"		}\n"
	"	} }\n"
	"}\n"
	"fn g(t: work f32[64], o: out f32[64]) {\n"
	"	for v in 0..64 { block n(vv: spatial 0..64 = v) { o[vv] = t[vv] } }\n"
	"}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = { .vector_bits = 256, .threads = 2 };
	Trace *t = trace_parse(a, "fuzz", (const char *)data, size, &err);
	must(t != NULL || err.code == ERR_SYNTAX);
	if (t != NULL) {
		Text once = { .arena = a }, twice = { .arena = a };
		trace_print(&once, t);
		Trace *again = trace_parse(a, "again", text_str(&once), once.n, &err);
		must(again != NULL);
		trace_print(&twice, again);
		must(strcmp(text_str(&once), text_str(&twice)) == 0);
		KernelSet *ks = ir_parse_set(ir_new(a), "fns", fns, sizeof fns - 1, &err);
		must(ks != NULL && ir_verify_set(ks, &err));
		must(trace_apply(ks, t, NULL, &target, &err) || err.code == ERR_ILLEGAL);
		Err sound = { 0 };
		must(ir_verify_set(ks, &sound));
	}
	arena_free(a);
	return 0;
}
