/*
 * See recording.h. The first run of a key is a plain one: then all code is loaded, and a single run pays for no
 * recording. The second one records. A plan with loops or conditions is never recorded, since its steps may differ
 * from run to run. What a device does not record runs step by step.
 */
#include "runtime/recording.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/instance.h"

/* Values that decide what the steps do: symbols of inputs, addresses of tensors of the caller's, profiled or not. */
static uint32_t key_words(const DlcInstance *i)
{
	return i->m->h->sym.count + i->m->h->tensor.count + 1;
}

static void key_fill(const DlcInstance *i, int64_t *key)
{
	const DlcModel *m = i->m;
	for (uint32_t k = 0; k < m->h->sym.count; k++)
		*key++ = m->sym[k].kind == BUNDLE_SYM_INPUT ? i->sym[k] : 0;
	for (uint32_t t = 0; t < m->h->tensor.count; t++)
		*key++ = i->bound[t].direct ? (int64_t)(uintptr_t)i->bound[t].user : 0;
	*key = i->ns != NULL;
}

static bool may_record(const DlcInstance *i)
{
	const BundleHeader *h = i->m->h;
	if (i->m->device->record == NULL || h->op.count == 0 || (i->ns != NULL && h->op.count > PROFILE_MARKED))
		return false;
	for (uint32_t s = 0; s < h->op.count; s++)
		if (i->m->op[s].kind >= BUNDLE_LOOP)
			return false;
	return true;
}

static void release(DlcInstance *i, Recording *r)
{
	if (r->made != NULL)
		i->m->device->recording_release(i->m->context, r->made);
	*r = (Recording){ .key = r->key };
}

/* The one with today's key, or the one that was not used for longest, emptied for it. */
static Recording *find(DlcInstance *i)
{
	Recording *oldest = &i->recording[0];
	key_fill(i, i->key);
	for (Recording *r = i->recording; r < i->recording + RECORDINGS; r++) {
		if (r->used > 0 && memcmp(r->key, i->key, key_words(i) * sizeof *r->key) == 0)
			return r;
		oldest = r->used < oldest->used ? r : oldest;
	}
	release(i, oldest);
	int64_t *key = oldest->key;
	oldest->key = i->key;
	i->key = key;
	return oldest;
}

/* Records the plan for today's key. What fails is left to the plain run, which says why. */
static void record(DlcInstance *i, Recording *r)
{
	const Device *d = i->m->device;
	r->refused = true;
	if (d->record(i->stream) != 0)
		return;
	bool fine = plan_run(i) == 0;
	r->made = d->record_end(i->stream);
	if (fine && r->made != NULL)
		return;
	if (r->made != NULL)
		d->recording_release(i->m->context, r->made);
	r->made = NULL;
}

int recording_run(DlcInstance *i, uint64_t *failed)
{
	Recording *r = may_record(i) ? find(i) : NULL;
	if (r != NULL && r->used > 0 && r->made == NULL && !r->refused)
		record(i, r);
	if (r != NULL)
		r->used = ++i->runs;
	*failed = 0;
	i->nmarked = 0;
	if (r == NULL || r->made == NULL) {
		*failed = plan_run(i);
		plan_read_marks(i);
		return 0;
	}
	int status = i->m->device->replay(i->stream, r->made);
	for (uint32_t k = 0; i->ns != NULL && status == 0 && k < i->m->h->op.count; k++)
		i->marked[i->nmarked++] = k;
	plan_read_marks(i);
	return status;
}

bool recording_init(DlcInstance *i)
{
	uint32_t words = key_words(i);
	i->keys = calloc((RECORDINGS + 1) * (size_t)words, sizeof *i->keys);
	i->key = i->keys;
	for (uint32_t k = 0; k < RECORDINGS && i->keys != NULL; k++)
		i->recording[k].key = i->keys + (k + 1) * (size_t)words;
	return i->keys != NULL;
}

void recording_free(DlcInstance *i)
{
	for (int k = 0; k < RECORDINGS; k++)
		release(i, &i->recording[k]);
	free(i->keys);
}
