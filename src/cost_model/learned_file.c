/* See learned_file.h. */
#include "cost_model/learned_file.h"

#include "base/file.h"
#include "base/json.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 2, LINE = 1 << 16, CLASSES = 256, THOUSAND = 1000 };
static const char DOMAIN[] = "dlc/cost-model/v1";

const char *learned_path(Arena *a, const char *database, bool folder, TargetKind kind)
{
	size_t n = strlen(database);
	while (folder && n > 1 && database[n - 1] == '/')
		n--;
	return arena_printf(a, "%.*s%c%s.model", (int)n, database, folder ? '/' : '.', target_kind_name(kind));
}

/* ---- writing ---- */

static Json *thousandths(Arena *a, double v)
{
	return json_new_int(a, isfinite(v) && fabs(v) < 1e9 ? llround(v * THOUSAND) : 0);
}

static void set_hash(Arena *a, Json *o, const char *key, Hash h)
{
	char hex[HASH_HEX];
	hash_hex(h, hex);
	json_set(a, o, key, json_new_text(a, hex));
}

static Json *score_json(Arena *a, const LearnedScore *s)
{
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "class", json_new_text(a, s->class));
	json_set(a, o, "pick_estimate", thousandths(a, s->pick[0]));
	json_set(a, o, "pick_model", thousandths(a, s->pick[1]));
	json_set(a, o, "rank_estimate", thousandths(a, s->rank[0]));
	json_set(a, o, "rank_model", thousandths(a, s->rank[1]));
	json_set(a, o, "schedules", json_new_int(a, s->schedules));
	json_set(a, o, "tasks", json_new_int(a, s->tasks));
	return o;
}

static Json *gain_json(Arena *a, const LearnedGain *g)
{
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "arch", json_new_text(a, arch_name(g->arch)));
	json_set(a, o, "best", thousandths(a, g->best));
	json_set(a, o, "gain", thousandths(a, g->gain));
	if (isfinite(g->margin))
		json_set(a, o, "margin", thousandths(a, g->margin));
	json_set(a, o, "parallel", json_new_int(a, g->parallel));
	json_set(a, o, "taken", json_new_int(a, g->taken));
	json_set(a, o, "tasks", json_new_int(a, g->tasks));
	json_set(a, o, "vector_bits", json_new_int(a, g->vector_bits));
	return o;
}

bool learned_write(const char *path, const LearnedModel *m, Err *err)
{
	Arena *a = arena_new();
	Json *o = json_new(a, JV_OBJECT), *gain = json_new(a, JV_ARRAY), *score = json_new(a, JV_ARRAY);
	Json *untuned = json_new(a, JV_ARRAY);
	Text line = { .arena = a };
	for (int k = 0; k < PREDICTORS; k++)
		json_push(a, gain, json_new_int(a, llround(m->gain[k] * 1e6)));
	for (int k = 0; k < m->nscore; k++)
		json_push(a, score, score_json(a, &m->score[k]));
	for (int k = 0; k < m->nuntuned; k++)
		json_push(a, untuned, gain_json(a, &m->untuned[k]));
	set_hash(a, o, "data", m->data);
	json_set(a, o, "epoch", json_new_int(a, m->epoch));
	json_set(a, o, "gain", gain);
	json_set(a, o, "kind", json_new_text(a, "cost_model"));
	json_set(a, o, "nodes", json_new_int(a, (int64_t)m->forest.nnode));
	json_set(a, o, "rows", json_new_int(a, m->rows));
	json_set(a, o, "runs", json_new_int(a, m->runs));
	json_set(a, o, "score", score);
	json_set(a, o, "target", json_new_text(a, target_kind_name(m->kind)));
	json_set(a, o, "targets", json_new_int(a, m->targets));
	json_set(a, o, "tasks", json_new_int(a, m->tasks));
	json_set(a, o, "trained_s", json_new_int(a, m->trained_s));
	set_hash(a, o, "predictors", m->predictors);
	json_set(a, o, "trees", json_new_int(a, m->forest.ntree));
	json_set(a, o, "untuned", untuned);
	json_set(a, o, "version", json_new_int(a, VERSION));
	json_write(&line, o);
	text_put(&line, "\n", 1);
	size_t trees = forest_bytes(&m->forest), n = line.n + trees + sizeof(Hash);
	unsigned char *out = arena_array(a, unsigned char, n);
	memcpy(out, line.at, line.n);
	forest_put(&m->forest, out + line.n);
	Hash h = hash_of(DOMAIN, out, line.n + trees);
	memcpy(out + line.n + trees, &h, sizeof h);
	bool ok = file_write(path, out, n, err);
	arena_free(a);
	return ok;
}

/* ---- reading ---- */

static bool want_hash(const Json *o, const char *key, Hash *out, Err *err)
{
	const char *hex;
	return json_str(o, key, &hex, err) && (hash_parse(hex, out) || json_fail(o, err, "%s is no hash", key));
}

static bool want_thousandths(const Json *o, const char *key, double *out, Err *err)
{
	int64_t v = 0;
	bool ok = json_int(o, key, -(INT64_C(1) << 40), INT64_C(1) << 40, &v, err);
	*out = (double)v / THOUSAND;
	return ok;
}

static bool want_int(const Json *o, const char *key, int *out, int most, Err *err)
{
	int64_t v = 0;
	bool ok = json_int(o, key, 0, most, &v, err);
	*out = (int)v;
	return ok;
}

static bool read_scores(Arena *a, const Json *o, LearnedModel *m, Err *err)
{
	const Json *list = json_want(o, "score", JV_ARRAY, err);
	if (list == NULL || list->list.n > CLASSES)
		return list != NULL && json_fail(list, err, "has more than %d classes", (int)CLASSES);
	m->nscore = (int)list->list.n;
	m->score = arena_array(a, LearnedScore, m->nscore + 1);
	for (int k = 0; k < m->nscore; k++) {
		LearnedScore *s = &m->score[k];
		const Json *x = list->list.at[k];
		const char *class;
		if (!json_str(x, "class", &class, err) || !want_thousandths(x, "pick_estimate", &s->pick[0], err) ||
			!want_thousandths(x, "pick_model", &s->pick[1], err) ||
			!want_thousandths(x, "rank_estimate", &s->rank[0], err) ||
			!want_thousandths(x, "rank_model", &s->rank[1], err) ||
			!want_int(x, "schedules", &s->schedules, INT32_MAX, err) ||
			!want_int(x, "tasks", &s->tasks, INT32_MAX, err))
			return false;
		s->class = text_printable(a, class, "");
	}
	return true;
}

static bool read_gain(const Json *o, LearnedModel *m, Err *err)
{
	const Json *list = json_want(o, "gain", JV_ARRAY, err);
	if (list == NULL || list->list.n != PREDICTORS)
		return list != NULL && json_fail(list, err, "must have %d numbers", (int)PREDICTORS);
	for (int k = 0; k < PREDICTORS; k++) {
		const Json *v = list->list.at[k];
		if (v->kind != JV_INT)
			return json_fail(v, err, "is no whole number");
		m->gain[k] = (double)v->i / 1e6;
	}
	return true;
}

static bool read_untuned(Arena *a, const Json *o, LearnedModel *m, Err *err)
{
	const Json *list = json_want(o, "untuned", JV_ARRAY, err);
	if (list == NULL || list->list.n > LEARNED_GAINS)
		return list != NULL && json_fail(list, err, "has more than %d groups", (int)LEARNED_GAINS);
	m->nuntuned = (int)list->list.n;
	m->untuned = arena_array(a, LearnedGain, m->nuntuned + 1);
	for (int k = 0; k < m->nuntuned; k++) {
		LearnedGain *g = &m->untuned[k];
		const Json *x = list->list.at[k];
		const char *arch;
		int parallel = 0, known = 0;
		*g = (LearnedGain){ .margin = LEARNED_NEVER };
		if (!json_str(x, "arch", &arch, err) || !want_thousandths(x, "best", &g->best, err) ||
			!want_thousandths(x, "gain", &g->gain, err) || !want_int(x, "parallel", &parallel, 1, err) ||
			!want_int(x, "taken", &g->taken, INT32_MAX, err) || !want_int(x, "tasks", &g->tasks, INT32_MAX, err) ||
			!want_int(x, "vector_bits", &g->vector_bits, INT32_MAX, err) ||
			(json_find(x, "margin") != NULL && !want_thousandths(x, "margin", &g->margin, err)))
			return false;
		while (known < ARCH_COUNT && strcmp(arch_name((Arch)known), arch) != 0)
			known++;
		if (known == ARCH_COUNT)
			return json_fail(x, err, "is of an unknown architecture");
		if (!(g->margin >= 0))
			return json_fail(x, err, "has a margin below 0");
		g->arch = (Arch)known;
		g->parallel = parallel == 1;
	}
	return true;
}

/* Another version or other predictors are refused before anything that may look different then is read. */
static bool read_line(Arena *a, const Json *o, const char *name, LearnedModel *m, int *trees, int *nodes, Err *err)
{
	const char *kind, *target;
	int64_t version;
	Hash predictors = predictor_id();
	if (!json_str(o, "kind", &kind, err) || !json_int(o, "version", 0, INT32_MAX, &version, err) ||
		!want_hash(o, "predictors", &m->predictors, err) || !json_str(o, "target", &target, err))
		return false;
	if (strcmp(kind, "cost_model") != 0)
		return fail(err, ERR_INPUT, name, "is no learned cost model");
	if (version != VERSION)
		return fail(err, ERR_INPUT, name,
			"is a cost model of version %lld, and this dlc reads version %d: train it again with dlc db train",
			(long long)version, (int)VERSION);
	if (memcmp(&predictors, &m->predictors, sizeof predictors) != 0)
		return fail(err, ERR_INPUT, name,
			"was trained on other predictors than those of this dlc: train it again with dlc db train");
	m->kind = TARGET_KINDS;
	for (int k = 0; k < TARGET_KINDS; k++)
		m->kind = strcmp(target_kind_name((TargetKind)k), target) == 0 ? (TargetKind)k : m->kind;
	if (m->kind == TARGET_KINDS)
		return fail(err, ERR_INPUT, name, "is for a kind of targets that this dlc does not know");
	return want_hash(o, "data", &m->data, err) && json_int(o, "runs", 0, INT64_MAX, &m->runs, err) &&
		json_int(o, "rows", 0, INT64_MAX, &m->rows, err) &&
		json_int(o, "trained_s", 0, INT64_MAX, &m->trained_s, err) && want_int(o, "epoch", &m->epoch, INT32_MAX, err) &&
		want_int(o, "tasks", &m->tasks, INT32_MAX, err) && want_int(o, "targets", &m->targets, INT32_MAX, err) &&
		want_int(o, "trees", trees, FOREST_TREES, err) && want_int(o, "nodes", nodes, FOREST_NODES, err) &&
		read_gain(o, m, err) && read_scores(a, o, m, err) && read_untuned(a, o, m, err);
}

bool learned_parse(Arena *a, const char *name, const void *bytes, size_t n, LearnedModel *out, Err *err)
{
	const unsigned char *at = bytes, *end = n > 0 ? memchr(at, '\n', n < LINE ? n : LINE) : NULL;
	int trees = 0, nodes = 0;
	*out = (LearnedModel){ 0 };
	if (end == NULL || at[0] != '{')
		return fail(err, ERR_INPUT, name, "is no learned cost model");
	size_t line = (size_t)(end - at) + 1;
	Hash h = hash_of(DOMAIN, at, n > sizeof h ? n - sizeof h : 0);
	if (n < line + sizeof h || memcmp(&h, at + n - sizeof h, sizeof h) != 0)
		return fail(err, ERR_INPUT, name, "is damaged: train it again with dlc db train");
	const Json *o = json_parse(a, name, (const char *)at, line - 1, err);
	if (o == NULL || !read_line(a, o, name, out, &trees, &nodes, err))
		return false;
	out->forest = (Forest){ .ntree = trees, .nnode = (size_t)nodes };
	if (n != line + forest_bytes(&out->forest) + sizeof h)
		return fail(err, ERR_INPUT, name, "has not as many trees as it says");
	out->id = h;
	out->forest = forest_get(a, at + line, trees, (size_t)nodes);
	return forest_check(&out->forest, PREDICTORS, name, err);
}

bool learned_read(Arena *a, const char *path, LearnedModel *out, Err *err)
{
	enum { MOST = 80 << 20 };
	Bytes file;
	if (access(path, F_OK) != 0)
		return fail(err, ERR_MISSING, path, "there is no learned cost model: make one with dlc db train");
	return file_read(a, path, MOST, &file, err) && learned_parse(a, path, file.at, file.n, out, err);
}
