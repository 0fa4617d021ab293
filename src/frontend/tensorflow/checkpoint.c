/*
 * Reads checkpoints. The index is a sorted table as LevelDB writes it: blocks of keys that share their beginnings with
 * the key before, a block that lists the blocks, a footer of 48 bytes. Nothing in it is trusted: handles, lengths and
 * offsets are compared with the file first. Compressed blocks are refused; TensorFlow writes none.
 */
#include "frontend/tensorflow/checkpoint.h"

#include "frontend/neighbour.h"
#include "frontend/tensorflow/slices.h"

#include <stdio.h>
#include <string.h>

enum { FOOTER = 48, TRAILER = 5, MOST_SHARDS = 1 << 16, MOST_KEY = 1 << 16, MOST_SLICES = 1 << 10 };

struct TfCheckpoint {
	Arena *arena;
	const char *folder, *prefix; /* the folder: NULL, or where the prefix is a path below */
	Names *names;                /* key -> entry; keys of slices in letters */
	VEC(Bytes) entry;
	uint32_t crc[256]; /* of each byte */
	int64_t shards;
	Bytes *shard;
	bool *open;
};

/* ---- checksums: CRC-32C, masked as LevelDB stores them */

static void fill_crc(uint32_t *table)
{
	for (uint32_t k = 0; k < 256; k++) {
		table[k] = k;
		for (int i = 0; i < 8; i++)
			table[k] = table[k] & 1 ? table[k] >> 1 ^ 0x82f63b78u : table[k] >> 1;
	}
}

static uint32_t crc32c(const TfCheckpoint *c, Bytes b)
{
	uint32_t x = ~0u;
	for (size_t k = 0; k < b.n; k++)
		x = c->crc[(x ^ b.at[k]) & 255] ^ x >> 8;
	return ~x;
}

static uint32_t masked(uint32_t crc)
{
	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static uint32_t get_four(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* ---- the table */

static bool damaged(Err *err, const char *what)
{
	return fail(err, ERR_INPUT, NULL, "it is a damaged index of a checkpoint: %s", what);
}

static bool get_varint(Bytes *b, uint64_t *out)
{
	*out = 0;
	for (int k = 0; k < 10 && b->n > 0; k++) {
		unsigned char c = *b->at;
		b->at++;
		b->n--;
		*out |= (uint64_t)(c & 127) << (7 * k);
		if (c < 128)
			return true;
	}
	return false;
}

/* The block that a handle names, and the rest of the handle. */
static bool get_block(const TfCheckpoint *c, Bytes file, Bytes *handle, Bytes *out, Err *err)
{
	uint64_t at, n;
	if (!get_varint(handle, &at) || !get_varint(handle, &n) || at > file.n || n > file.n - at ||
		file.n - at - n < TRAILER)
		return damaged(err, "a block lies outside of the file");
	const unsigned char *end = file.at + at + n;
	if (*end != 0)
		return fail(err, ERR_UNSUPPORTED, NULL, "its blocks are compressed, which is not supported");
	if (masked(crc32c(c, (Bytes){ file.at + at, (size_t)n + 1 })) != get_four(end + 1))
		return damaged(err, "a block has another checksum than was stored");
	if (n < 4 || get_four(end - 4) > (n - 4) / 4)
		return damaged(err, "a block is too short");
	*out = (Bytes){ file.at + at, (size_t)n - 4 - 4 * (size_t)get_four(end - 4) };
	return true;
}

/* The next key and value of a block; the key replaces the end of the key before. */
static bool next_entry(Bytes *block, Text *key, Bytes *value, Err *err)
{
	uint64_t shared, more, n;
	if (!get_varint(block, &shared) || !get_varint(block, &more) || !get_varint(block, &n) || shared > key->n ||
		more > block->n || n > block->n - more || more > MOST_KEY)
		return damaged(err, "an entry lies outside of its block");
	key->n = (size_t)shared;
	text_put(key, (const char *)block->at, (size_t)more);
	*value = (Bytes){ block->at + more, (size_t)n };
	block->at += more + n;
	block->n -= (size_t)(more + n);
	return true;
}

bool tf_is_index(Bytes file)
{
	static const unsigned char magic[] = { 0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb };
	return file.n >= FOOTER && memcmp(file.at + file.n - sizeof magic, magic, sizeof magic) == 0;
}

static bool read_header(TfCheckpoint *c, Bytes value, Err *err)
{
	TfHeader h = { 0 };
	if (!wire_read(c->arena, &TfHeader_message, value, &h, err))
		return false;
	if (h.endianness != 0)
		return fail(err, ERR_UNSUPPORTED, NULL, "its numbers are big-endian, which is not supported");
	if (h.num_shards < 1 || h.num_shards > MOST_SHARDS)
		return damaged(err, "the number of its data files is out of range");
	c->shards = h.num_shards;
	c->shard = arena_array(c->arena, Bytes, h.num_shards);
	c->open = arena_array(c->arena, bool, h.num_shards);
	return true;
}

static bool read_table(TfCheckpoint *c, Bytes file, Err *err)
{
	if (!tf_is_index(file))
		return damaged(err, "it does not end as one does");
	Bytes handle = { file.at + file.n - FOOTER, FOOTER - 8 }, blocks;
	uint64_t skip;
	Text outer = { .arena = c->arena };
	if (!get_varint(&handle, &skip) || !get_varint(&handle, &skip) || !get_block(c, file, &handle, &blocks, err))
		return err->code != ERR_NONE ? false : damaged(err, "its end is cut off");
	while (blocks.n > 0) {
		Bytes where, block, value;
		Text key = { .arena = c->arena };
		if (!next_entry(&blocks, &outer, &where, err) || !get_block(c, file, &where, &block, err))
			return false;
		while (block.n > 0) {
			if (!next_entry(&block, &key, &value, err))
				return false;
			if (key.n == 0) {
				if (!read_header(c, value, err))
					return false;
				continue;
			}
			names_bind(c->names, tf_key_letters(c->arena, key.at, key.n), (int)c->entry.n);
			vec_push(c->arena, &c->entry, value);
		}
	}
	return c->shards > 0 || damaged(err, "it has no header");
}

/* The prefix as a user would name it. */
static const char *shown(const TfCheckpoint *c)
{
	return c->folder != NULL ? arena_printf(c->arena, "%s/%s", c->folder, c->prefix) : c->prefix;
}

static bool read_file(const TfCheckpoint *c, const char *ending, Bytes *out, Err *err)
{
	const char *path = arena_printf(c->arena, "%s%s", c->prefix, ending);
	Err why = { 0 };
	if (c->folder == NULL)
		return neighbour_read(c->arena, path, out, err);
	return neighbour_read_below(c->arena, c->folder, path, out, &why) ||
	       fail(err, why.code, arena_printf(c->arena, "%s/%s", c->folder, path), "%s", why.text);
}

TfCheckpoint *tf_checkpoint_open(Arena *a, const char *folder, const char *prefix, Err *err)
{
	TfCheckpoint *c = arena_new_of(a, TfCheckpoint);
	Bytes file;
	Err why = { 0 };
	*c = (TfCheckpoint){ .arena = a, .folder = folder, .prefix = prefix, .names = names_new(a) };
	fill_crc(c->crc);
	if (read_file(c, ".index", &file, &why) && read_table(c, file, &why))
		return c;
	err_at(&why, arena_printf(a, "%s.index", shown(c)));
	if (err->code == ERR_NONE)
		*err = why;
	return NULL;
}

bool tf_checkpoint_has(const TfCheckpoint *c, const char *key)
{
	return names_find(c->names, key) >= 0;
}

/* ---- tensors */

static bool open_shard(TfCheckpoint *c, int64_t k, Err *err)
{
	const char *ending = arena_printf(c->arena, ".data-%05lld-of-%05lld", (long long)k, (long long)c->shards);
	c->open[k] = c->open[k] || read_file(c, ending, &c->shard[k], err);
	return c->open[k];
}

/* What the index says of a tensor or a slice: `what` names it. */
static bool read_entry(
	TfCheckpoint *c, const char *key, const char *what, TfEntry *e, DType *type, Shape *shape, Err *err)
{
	int at = names_find(c->names, key);
	*e = (TfEntry){ 0 };
	if (at < 0)
		return fail(err, ERR_INPUT, NULL, "%s is not there", what);
	if (!wire_read(c->arena, &TfEntry_message, c->entry.at[at], e, err))
		return false;
	if (!tf_type_from(e->dtype, type))
		return fail(err, ERR_UNSUPPORTED, NULL, "%s has element type %s, which dlc does not have", what,
			tf_type_name(e->dtype));
	return tf_shape_read(e->shape, what, shape, err);
}

/* The bytes of an entry without slices. */
static bool read_bytes(
	TfCheckpoint *c, const TfEntry *e, const char *what, DType type, Shape shape, Bytes *out, Err *err)
{
	int64_t many = shape_elements(shape), bytes = many < 0 ? -1 : dtype_bytes(type, many);
	if (bytes < 0 || e->size != bytes)
		return fail(err, ERR_INPUT, NULL, "%s has %lld bytes where its shape needs %lld", what, (long long)e->size,
			(long long)bytes);
	if (e->shard_id < 0 || e->shard_id >= c->shards)
		return fail(err, ERR_INPUT, NULL, "%s is in data file %lld of %lld", what, (long long)e->shard_id,
			(long long)c->shards);
	if (!open_shard(c, e->shard_id, err))
		return false;
	Bytes file = c->shard[e->shard_id];
	if (e->offset < 0 || (uint64_t)e->offset > file.n || (uint64_t)bytes > file.n - (uint64_t)e->offset)
		return fail(err, ERR_INPUT, NULL, "%s lies outside of its data file, which has %zu bytes", what, file.n);
	*out = (Bytes){ file.at != NULL ? file.at + e->offset : (const unsigned char *)"", (size_t)bytes };
	uint32_t stored;
	memcpy(&stored, &e->crc32c, sizeof stored);
	if (e->has >> TfEntry_crc32c & 1 && masked(crc32c(c, *out)) != stored)
		return fail(err, ERR_INPUT, NULL, "%s is damaged: its checksum is another one", what);
	return true;
}

/* Where a tensor is stored: its slices, or one box that is all of it. */
typedef struct Pieces {
	TfBox *box;
	Bytes *raw;
	size_t n;
	int64_t elements; /* of the part that they have */
} Pieces;

/* The slice k of a tensor, if the part has elements of it. */
static bool add_piece(TfCheckpoint *c, const NodeTensor *t, const TfEntry *e, size_t k, const char *what,
	const TfBox *part, Pieces *to, Err *err)
{
	bool sliced = e->slices.n > 0;
	TfBox box = tf_box_whole(t->shape);
	if (sliced && !tf_box_listed(&e->slices.at[k], t->shape, &box))
		return fail(err, ERR_INPUT, NULL, "slice %zu of %s does not lie in its shape", k, what);
	int64_t common = tf_box_common(&box, part);
	if (common == 0)
		return true;
	for (size_t i = 0; i < to->n; i++)
		if (tf_box_common(&to->box[i], &box) > 0)
			return fail(err, ERR_INPUT, NULL, "slice %zu of %s lies on another one", k, what);
	TfEntry slice = *e;
	DType type = t->type;
	Shape shape = t->shape;
	const char *name = sliced ? arena_printf(c->arena, "slice %zu of %s", k, what) : what;
	if (sliced && !read_entry(c, tf_slice_key(c->arena, t->name, &e->slices.at[k]), name, &slice, &type, &shape, err))
		return false;
	if (!dtype_eq(type, t->type) || !shape_eq(shape, box.length) || (sliced && slice.slices.n > 0))
		return fail(err, ERR_INPUT, NULL, "%s is no slice of its type and shape", name);
	if (!read_bytes(c, &slice, name, type, shape, &to->raw[to->n], err))
		return false;
	to->box[to->n++] = box;
	to->elements += common;
	return true;
}

/* Joins a part of a tensor from its pieces. */
static bool join(TfCheckpoint *c, const TfEntry *e, const char *what, const TfBox *part, NodeTensor *out, Err *err)
{
	size_t n = e->slices.n > 0 ? e->slices.n : 1;
	int64_t many = shape_elements(part->length), bytes = dtype_bytes(out->type, many);
	if (n > MOST_SLICES)
		return fail(
			err, ERR_UNSUPPORTED, NULL, "%s is stored in %zu slices; at most %d are supported", what, n, MOST_SLICES);
	Pieces p = { .box = arena_array(c->arena, TfBox, (int64_t)n), .raw = arena_array(c->arena, Bytes, (int64_t)n) };
	for (size_t k = 0; k < n; k++)
		if (!add_piece(c, out, e, k, what, part, &p, err))
			return false;
	if (p.elements != many)
		return fail(err, ERR_INPUT, NULL, "the slices of %s have %lld of the %lld elements that are read", what,
			(long long)p.elements, (long long)many);
	void *data = arena_alloc_aligned(c->arena, (size_t)bytes + 1, 64);
	for (size_t k = 0; k < p.n; k++)
		tf_box_copy(part, data, &p.box[k], p.raw[k].at, out->type.bits / 8);
	out->shape = part->length;
	out->data = data;
	return true;
}

bool tf_checkpoint_read(TfCheckpoint *c, const char *key, const char *part, NodeTensor *out, Err *err)
{
	const char *what = arena_printf(c->arena, "variable '%.100s' of '%.200s.index'", key, shown(c));
	TfEntry e;
	TfBox box;
	Bytes raw;
	*out = (NodeTensor){ .name = key };
	if (!read_entry(c, key, what, &e, &out->type, &out->shape, err))
		return false;
	int64_t many = shape_elements(out->shape);
	if (many < 0 || dtype_bytes(out->type, many) < 0)
		return fail(err, ERR_INPUT, NULL, "%s has a shape whose size overflows", what);
	if (!tf_box_read(part, out->shape, &box))
		return fail(err, ERR_INPUT, NULL, "%s has no part '%.60s', which the graph reads", what, part);
	if (e.slices.n > 0 || part[0] != 0)
		return join(c, &e, what, &box, out, err);
	if (!read_bytes(c, &e, what, out->type, out->shape, &raw, err))
		return false;
	size_t size = out->type.bits / 8;
	out->data = (uintptr_t)raw.at % size == 0 ? raw.at : arena_alloc_aligned(c->arena, raw.n + 1, 64);
	if (out->data != raw.at)
		memcpy((void *)(uintptr_t)out->data, raw.at, raw.n);
	return true;
}

/* ---- which tensor is which variable */

/* Nodes of the graph, or of a function with what a call hands to it. */
typedef struct Savers {
	const TfNode *node;
	size_t n;
	Names *names;              /* node -> its number */
	Names *args;               /* argument -> its number; NULL in the graph */
	const char *const *actual; /* of each argument: the name of the node that is handed to it */
	size_t nactual;
} Savers;

/* "node:tensors:3" -> "node" and 3. */
static const char *split_name(Arena *a, const char *text, int64_t *at)
{
	const char *first = strchr(text, ':'), *last = strrchr(text, ':');
	*at = 0;
	if (last != NULL)
		text_to_int(last + 1, 0, INT32_MAX, at);
	return first == NULL ? text : arena_printf(a, "%.*s", (int)(first - text), text);
}

static const TfNode *node_named(const Savers *s, const char *name)
{
	int k = names_find(s->names, name);
	return k < 0 ? NULL : &s->node[k];
}

/* What a constant input of RestoreV2 says of its result `at`: input 1 are keys, 2 are parts. NULL: nothing. */
static const char *restored(Arena *a, const Savers *s, const TfNode *restore, size_t input, int64_t at)
{
	int64_t ignored;
	const TfNode *names =
		restore->input.n > input ? node_named(s, split_name(a, restore->input.at[input], &ignored)) : NULL;
	const TfValue *v = names != NULL ? tf_attr(names, "value") : NULL;
	if (v == NULL || v->tensor == NULL || (uint64_t)at >= v->tensor->string_val.n)
		return NULL;
	Bytes b = v->tensor->string_val.at[at];
	return arena_printf(a, "%.*s", (int)b.n, (const char *)b.at);
}

/* A node that writes a restored value into a variable. */
static void note_assign(TfGraphs *all, const Savers *s, const TfNode *n)
{
	Arena *a = all->arena;
	int64_t at, ignored;
	const char *variable = split_name(a, n->input.at[0], &ignored), *from = n->input.at[1], *key;
	int arg = s->args != NULL ? names_find(s->args, variable) : -1;
	const TfNode *value = NULL;
	for (int steps = 0; steps < 8; steps++) {
		value = node_named(s, split_name(a, from, &at));
		if (value == NULL || strcmp(tf_text(value->op), "Identity") != 0 || value->input.n == 0)
			break;
		from = value->input.at[0];
	}
	if (value == NULL || strcmp(tf_text(value->op), "RestoreV2") != 0 || (key = restored(a, s, value, 1, at)) == NULL)
		return;
	if (s->args != NULL)
		variable = arg >= 0 && (size_t)arg < s->nactual ? s->actual[arg] : "";
	if (variable[0] == 0 || names_find(all->variables, variable) >= 0)
		return;
	names_bind(all->variables, variable, (int)all->key.n);
	vec_push(a, &all->key, key);
	const char *part = restored(a, s, value, 2, at);
	vec_push(a, &all->part, part != NULL ? part : "");
}

static void scan(TfGraphs *all, Savers *s)
{
	s->names = names_new(all->arena);
	for (size_t k = 0; k < s->n; k++)
		names_bind(s->names, tf_text(s->node[k].name), (int)k);
	for (size_t k = 0; k < s->n; k++) {
		const char *op = tf_text(s->node[k].op);
		if ((strcmp(op, "AssignVariableOp") == 0 || strcmp(op, "Assign") == 0) && s->node[k].input.n >= 2)
			note_assign(all, s, &s->node[k]);
	}
}

static bool restores(const TfFunction *f)
{
	for (size_t k = 0; k < f->node_def.n; k++)
		if (strcmp(tf_text(f->node_def.at[k].op), "RestoreV2") == 0)
			return true;
	return false;
}

void tf_find_variables(TfGraphs *all)
{
	Arena *a = all->arena;
	Savers graph = { .node = all->graph->node.at, .n = all->graph->node.n };
	scan(all, &graph);
	for (size_t k = 0; k < graph.n; k++) {
		const TfNode *n = &graph.node[k];
		const TfValue *f = tf_attr(n, "f");
		int which = f != NULL && f->func != NULL ? names_find(all->functions, tf_text(f->func->name)) : -1;
		if (which < 0 || !restores(all->body[which].from))
			continue;
		const TfFunction *fn = all->body[which].from;
		Savers s = { .node = fn->node_def.at, .n = fn->node_def.n, .args = names_new(a) };
		const char **actual = arena_array(a, const char *, n->input.n + 1);
		int64_t ignored;
		for (size_t i = 0; i < fn->signature->input_arg.n; i++)
			names_bind(s.args, tf_text(fn->signature->input_arg.at[i].name), (int)i);
		for (size_t i = 0; i < n->input.n; i++)
			if (n->input.at[i][0] != '^')
				actual[s.nactual++] = split_name(a, n->input.at[i], &ignored);
		s.actual = actual;
		scan(all, &s);
	}
}

bool tf_variable(const TfGraphs *all, const char *node, NodeTensor *out, Err *err)
{
	int k = names_find(all->variables, node);
	const char *key = k >= 0 ? all->key.at[k] : node;
	if (all->checkpoint == NULL)
		return fail(err, ERR_INPUT, "weights",
			"the values of its variables ('%.100s') are in a checkpoint: name its .index file, freeze the graph, or "
			"export a SavedModel",
			node);
	if (!tf_checkpoint_has(all->checkpoint, key)) { /* a variable of version 2 in a graph of version 1 */
		const Savers graph = { .node = all->graph->node.at, .n = all->graph->node.n };
		for (size_t i = 0; i < graph.n; i++) {
			const TfValue *name =
				strcmp(tf_text(graph.node[i].name), node) == 0 ? tf_attr(&graph.node[i], "shared_name") : NULL;
			if (name != NULL && name->s.n > 0)
				key = arena_printf(all->arena, "%.*s", (int)name->s.n, (const char *)name->s.at);
		}
	}
	return tf_checkpoint_read(all->checkpoint, key, k >= 0 ? all->part.at[k] : "", out, err);
}
