/* See call_check.h. A field is an offset and what its value must be; elements of an array have a table of their own. */
#include "api/call_check.h"

#include "api/failure.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define INT(type, field, lo, hi) { #field, API_INT, offsetof(type, field), lo, hi, NULL, 0, 0, NULL }
#define INT64(type, field, lo) { #field, API_INT64, offsetof(type, field), lo, INT64_MAX, NULL, 0, 0, NULL }
#define SECONDS(type, field) { #field, API_SECONDS, offsetof(type, field), 0, 0, NULL, 0, 0, NULL }
#define TEXT(type, field) { #field, API_TEXT, offsetof(type, field), 0, 0, NULL, 0, 0, NULL }
#define LIST(type, field, count, element) \
	{ #field, API_LIST, offsetof(type, field), 0, 0, #count, offsetof(type, count), \
		sizeof *((type *)0)->field, element }
/* Of the DlcTarget in a struct. */
#define TARGET(type, field) \
	{ "threads", API_INT, offsetof(type, field.threads), 0, DLC_THREADS, NULL, 0, 0, NULL }, \
	{ "device", API_INT, offsetof(type, field.device), 0, INT_MAX, NULL, 0, 0, NULL }
#define END { NULL, API_INT, 0, 0, 0, NULL, 0, 0, NULL }

_Static_assert(sizeof(DlcHit) == sizeof(int) && sizeof(DlcLimit) == sizeof(int) &&
	sizeof(DlcPrecision) == sizeof(int) && sizeof(DlcCode) == sizeof(int),
	"enums are read as int");

static const ApiField shape_fields[] = {
	TEXT(DlcShape, name),
	INT(DlcShape, rank, 0, DLC_RANK),
	END
};
static const ApiField binding_fields[] = {
	TEXT(DlcBinding, name),
	END
};
static const ApiField layout_fields[] = {
	TEXT(DlcInputLayout, name),
	TEXT(DlcInputLayout, layout),
	END
};
const ApiField api_session_options[] = {
	LIST(DlcSessionOptions, targets, ntargets, NULL),
	END
};
const ApiField api_mode[] = {
	{ "mode", API_INT, 0, 0, DLC_WRITE, NULL, 0, 0, NULL },
	END
};
const ApiField api_load_options[] = {
	INT64(DlcLoadOptions, batch, 0),
	INT64(DlcLoadOptions, seq, 0),
	LIST(DlcLoadOptions, shape, nshape, shape_fields),
	LIST(DlcLoadOptions, bind, nbind, binding_fields),
	LIST(DlcLoadOptions, layout, nlayout, layout_fields),
	INT(DlcLoadOptions, precision, 0, DLC_PRECISIONS - 1),
	END
};
const ApiField api_target[] = {
	INT(DlcTarget, threads, 0, DLC_THREADS),
	INT(DlcTarget, device, 0, INT_MAX),
	END
};
const ApiField api_show_options[] = {
	TARGET(DlcShowOptions, target),
	LIST(DlcShowOptions, database, ndatabase, NULL),
	END
};
const ApiField api_compile_options[] = {
	TARGET(DlcCompileOptions, target),
	LIST(DlcCompileOptions, database, ndatabase, NULL),
	LIST(DlcCompileOptions, also, nalso, NULL),
	INT(DlcCompileOptions, require, 0, DLC_HITS - 1),
	INT(DlcCompileOptions, code, 0, DLC_CODES - 1),
	END
};
static const ApiField device_fields[] = {
	{ "device", API_INT, 0, 0, INT_MAX, NULL, 0, 0, NULL },
	END
};
const ApiField api_tune_request[] = {
	TARGET(DlcTuneRequest, target),
	LIST(DlcTuneRequest, database, ndatabase, NULL),
	LIST(DlcTuneRequest, task, ntask, NULL),
	INT(DlcTuneRequest, limit, 0, DLC_TRIALS_MORE),
	INT64(DlcTuneRequest, trials, 0),
	SECONDS(DlcTuneRequest, budget_s),
	INT(DlcTuneRequest, jobs, 0, DLC_JOBS),
	INT(DlcTuneRequest, ndevice, 0, DLC_DEVICES),
	LIST(DlcTuneRequest, device, ndevice, device_fields),
	END
};

static bool check_fields(const void *options, const ApiField *f, Err *err);

static bool check_list(const unsigned char *options, const ApiField *f, Err *err)
{
	int count;
	const unsigned char *list;
	memcpy(&count, options + f->count_at, sizeof count);
	memcpy(&list, options + f->at, sizeof list);
	if (count < 0)
		return fail(err, ERR_USAGE, f->count_name, "is %d, but must be 0 or more", count);
	if (count > 0 && list == NULL)
		return fail(err, ERR_USAGE, f->name, "is NULL, but %s is %d", f->count_name, count);
	for (int i = 0; i < count; i++) {
		const unsigned char *at = list + (size_t)i * f->size;
		const void *pointer;
		if (f->element != NULL) {
			if (!check_fields(at, f->element, err))
				return false;
			continue;
		}
		memcpy(&pointer, at, sizeof pointer);
		if (pointer == NULL)
			return fail(err, ERR_USAGE, f->name, "has NULL as element %d of %d", i, count);
	}
	return true;
}

static bool check_fields(const void *options, const ApiField *f, Err *err)
{
	for (; f->name != NULL; f++) {
		const unsigned char *at = (const unsigned char *)options + f->at;
		int64_t value = 0;
		int small;
		double seconds;
		const char *text;
		switch (f->kind) {
		case API_INT:
			memcpy(&small, at, sizeof small);
			value = small;
			break;
		case API_INT64:
			memcpy(&value, at, sizeof value);
			break;
		case API_SECONDS:
			memcpy(&seconds, at, sizeof seconds);
			if (!isfinite(seconds) || seconds < 0)
				return fail(err, ERR_USAGE, f->name, "is %g, but must be a number of seconds, 0 or more", seconds);
			continue;
		case API_TEXT:
			memcpy(&text, at, sizeof text);
			if (text == NULL)
				return fail(err, ERR_USAGE, f->name, "is NULL, but must be given");
			continue;
		case API_LIST:
			if (!check_list(options, f, err))
				return false;
			continue;
		}
		if (value < f->lo || value > f->hi)
			return f->hi == INT64_MAX
				? fail(err, ERR_USAGE, f->name, "is %lld, but must be %lld or more", (long long)value,
					(long long)f->lo)
				: fail(err, ERR_USAGE, f->name, "is %lld, but must be from %lld to %lld", (long long)value,
					(long long)f->lo, (long long)f->hi);
	}
	return true;
}

bool api_check(const ApiArg *arg, int n, DlcFailure *why)
{
	Err own, *err = why != NULL ? err_of(why) : &own;
	*err = (Err){ 0 };
	for (int i = 0; i < n; i++) {
		if (!arg[i].given)
			return fail(err, ERR_USAGE, arg[i].name, "is NULL, but must be given");
		if (arg[i].options != NULL && !check_fields(arg[i].options, arg[i].fields, err))
			return false;
	}
	return true;
}
