/*
 * libFuzzer: a learned cost model from a stranger. The bytes are a file; a file that is sealed first, since nobody
 * guesses a hash; and the trees of a file whose line is sound. What is taken is asked, and says a bounded number.
 */
#include "fuzz.h"
#include "cost_model/learned_file.h"

#include <math.h>
#include <string.h>

static void parse(const Text *file)
{
	Arena *a = arena_new();
	LearnedModel m;
	Err err = { 0 };
	char message[4096];
	if (learned_parse(a, "fuzz.model", file->at, file->n, &m, &err)) {
		float row[PREDICTORS];
		for (int k = 0; k < PREDICTORS; k++)
			row[k] = (float)(k - 9) * 1.5f;
		must(fabs(forest_value(&m.forest, row)) <= FOREST_MOST * 1.001);
		memset(row, 0, sizeof row);
		must(fabs(forest_value(&m.forest, row)) <= FOREST_MOST * 1.001);
	} else {
		err_format(&err, message, sizeof message);
	}
	arena_free(a);
}

static void seal(Text *file)
{
	Hash h = hash_of("dlc/cost-model/v1", file->at, file->n);
	text_put(file, (const char *)&h, sizeof h);
	parse(file);
}

/* A line that says so many trees and nodes as the bytes begin with. */
static void sound_line(Text *file, const uint8_t *data)
{
	char id[HASH_HEX];
	hash_hex(predictor_id(), id);
	text_add(file, "{\"data\":\"%s\",\"epoch\":1,\"gain\":[", id);
	for (int k = 0; k < PREDICTORS; k++)
		text_add(file, "%s0", k > 0 ? "," : "");
	text_add(file, "],\"kind\":\"cost_model\",\"nodes\":%d,\"predictors\":\"%s\",\"rows\":1,\"runs\":1,\"score\":[],"
		"\"target\":\"cpu\",\"targets\":1,\"tasks\":1,\"trained_s\":1,\"trees\":%d,\"untuned\":[],\"version\":2}\n",
		data[1], id, data[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Text plain = { .arena = a }, sealed = { .arena = a }, trees = { .arena = a };
	text_put(&plain, (const char *)data, size);
	text_put(&sealed, (const char *)data, size);
	parse(&plain);
	seal(&sealed);
	if (size >= 2) {
		sound_line(&trees, data);
		size_t want = (size_t)data[0] * 4 + (size_t)data[1] * 16, have = size - 2 < want ? size - 2 : want;
		text_put(&trees, (const char *)data + 2, have);
		for (; have < want; have++) /* what is missing is zeros */
			text_put(&trees, "", 1);
		seal(&trees);
	}
	arena_free(a);
	return 0;
}
