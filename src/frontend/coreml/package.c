/*
 * A .mlpackage: a folder with Manifest.json, which lists the items of the package and says which one is the model, and
 * the folder Data, in which they are. What the manifest names must lie there, and no link is followed.
 */
#include "frontend/coreml/coreml.h"

#include "base/json.h"
#include "frontend/neighbour.h"

#include <string.h>

static const char *const manifest = "Manifest.json";

bool coreml_is_package(const char *path)
{
	Arena *a = arena_new();
	bool found = neighbour_named(a, arena_printf(a, "%s/x", path), manifest) != NULL;
	arena_free(a);
	return found;
}

bool coreml_open_package(Arena *a, const char *path, const char **below, Bytes *out, Err *err)
{
	Bytes text;
	Err why = { 0 };
	const char *root, *item;
	if (!neighbour_read_below(a, path, manifest, &text, &why))
		return fail(err, why.code, path, "%s of it %s", manifest, why.text);
	const Json *json = json_parse(a, arena_printf(a, "%s/%s", path, manifest), (const char *)text.at, text.n, err);
	if (json == NULL || !json_str(json, "rootModelIdentifier", &root, err))
		return false;
	const Json *list = json_want(json, "itemInfoEntries", JV_OBJECT, err), *entry;
	if (list == NULL)
		return false;
	entry = json_find(list, root);
	if (entry == NULL)
		return json_fail(list, err, "has no item '%.100s', which is the model", root);
	if (!json_str(entry, "path", &item, err))
		return false;
	if (!neighbour_is_plain(item))
		return json_fail(entry, err, "has the path '%.200s', which leads out of the package", item);
	const char *there = arena_printf(a, "Data/%s", item), *slash = strrchr(there, '/');
	if (!neighbour_read_below(a, path, there, out, &why))
		return fail(err, why.code, path, "its model '%.200s' %s", there, why.text);
	if (out->n == 0)
		return fail(err, ERR_INPUT, path, "its model '%.200s' is an empty file", there);
	*below = arena_printf(a, "%.*s", (int)(slash + 1 - there), there);
	return true;
}
