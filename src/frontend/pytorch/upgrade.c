/*
 * Signatures of PyTorch 2.1 as later versions write them. It has dictionaries of the graph's inputs, {"arg0_1":
 * "L__s___conv.weight"}, and lists of names for what the user gives and gets.
 */
#include "frontend/pytorch/pytorch.h"

/* Appends {kind: {"arg": argument, name_key: name}}; name_key NULL: without the second. */
static void add_spec(Arena *a, Json *specs, const char *kind, Json *argument, const char *name_key, const char *name)
{
	Json *spec = json_push(a, specs, json_new(a, JV_OBJECT));
	Json *body = json_set(a, spec, kind, json_new(a, JV_OBJECT));
	json_set(a, body, "arg", argument);
	if (name_key != NULL)
		json_set(a, body, name_key, json_new_text(a, name));
}

static void add_weights(Arena *a, Json *specs, const Json *list, const char *kind, const char *name_key)
{
	for (size_t k = 0; list != NULL && list->kind == JV_OBJECT && k < list->list.n; k++) {
		const Json *name = list->list.at[k];
		Json *argument = json_new(a, JV_OBJECT);
		json_set(a, argument, "name", json_new_text(a, name->key));
		if (name->kind == JV_TEXT)
			add_spec(a, specs, kind, argument, name_key, name->text);
	}
}

static void add_tensors(Arena *a, Json *specs, const Json *list, const char *kind)
{
	for (size_t k = 0; list != NULL && list->kind == JV_ARRAY && k < list->list.n; k++) {
		const Json *name = list->list.at[k];
		Json *argument = json_new(a, JV_OBJECT), *tensor = json_set(a, argument, "as_tensor", json_new(a, JV_OBJECT));
		if (name->kind != JV_TEXT)
			continue;
		json_set(a, tensor, "name", json_new_text(a, name->text));
		add_spec(a, specs, kind, argument, NULL, NULL);
	}
}

const Json *export_upgrade(Arena *a, const Json *old)
{
	if (old == NULL || json_find(old, "user_inputs") == NULL)
		return old;
	Json *new = json_new(a, JV_OBJECT), *in = json_set(a, new, "input_specs", json_new(a, JV_ARRAY));
	add_weights(a, in, json_find(old, "inputs_to_parameters"), "parameter", "parameter_name");
	add_weights(a, in, json_find(old, "inputs_to_buffers"), "buffer", "buffer_name");
	add_tensors(a, in, json_find(old, "user_inputs"), "user_input");
	add_tensors(a, json_set(a, new, "output_specs", json_new(a, JV_ARRAY)), json_find(old, "user_outputs"),
		"user_output");
	return new;
}
