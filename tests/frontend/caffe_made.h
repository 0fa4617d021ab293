/* Caffe networks that tests make: their text, the bytes of their weights, and a run of them. */
#ifndef TESTS_FRONTEND_CAFFE_MADE_H
#define TESTS_FRONTEND_CAFFE_MADE_H

#include "evaluate.h"
#include "folder.h"

#include "frontend/caffe/caffe.h"

static inline float part(int k)
{
	return (float)((k * 7 % 11) - 5) / 8;
}

static inline const float *parts(Arena *a, int n)
{
	float *x = arena_array(a, float, n + 1);
	for (int k = 0; k < n; k++)
		x[k] = part(k);
	return x;
}

/* ---- files of weights */

static inline Bytes blob(Arena *a, const float *x, int rank, const int64_t *dim)
{
	CaffeShape s = { 0 };
	CaffeBlob b = { .shape = &s };
	Text t = { .arena = a };
	size_t n = 1;
	for (int k = 0; k < rank; k++) {
		vec_push(a, &s.dim, dim[k]);
		n *= (size_t)dim[k];
	}
	b.data = (Bytes){ (const unsigned char *)x, n * sizeof *x };
	wire_write(&t, &CaffeBlob_message, &b);
	return (Bytes){ (const unsigned char *)text_str(&t), t.n };
}

static inline void add_blob(Arena *a, CaffeLayer *l, const float *x, int rank, const int64_t *dim)
{
	vec_push(a, &l->blobs, blob(a, x, rank, dim));
}

static inline Bytes bytes_of(Arena *a, const CaffeNet *net)
{
	Text t = { .arena = a };
	wire_write(&t, &CaffeNet_message, net);
	return (Bytes){ (const unsigned char *)text_str(&t), t.n };
}

static inline const char *save_weights(Arena *a, const char *name, const CaffeNet *net)
{
	const char *path = in_folder(a, name);
	Bytes b = bytes_of(a, net);
	save_bytes(path, b.at, b.n);
	return path;
}

/* The file of weights of one layer. */
static inline void save_layer(Arena *a, CaffeLayer l)
{
	CaffeNet net = { .name = "net" };
	vec_push(a, &net.layer, l);
	save_weights(a, "net.caffemodel", &net);
}

/* ---- running */

static inline Dag *load_net(Arena *a, const char *text, const ModelArgs *args, Err *err)
{
	const char *path = in_folder(a, "net.prototxt");
	save_bytes(path, text, strlen(text));
	return frontend_load(a, path, args, err);
}

/* The first result of a network for x; the Dag is kept in *d. */
static inline const float *run_net(Arena *a, const char *text, const float *x, Dag **d)
{
	Err err = { 0 };
	*d = load_net(a, text, NULL, &err);
	ck_assert_msg(*d != NULL, "%s: %s", err.place, err.text);
	ck_assert_msg(dag_check(*d, &err), "%s", err.text);
	void **out = evaluate(a, *d, (const void *const[]){ x, x }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	return out[0];
}

#define INPUT(shape) "name: 'net' input: 'data' input_shape { dim: [" shape "] }\n"
#define LAYER(type, more) "layer { name: 'l' type: '" type "' bottom: 'data' top: 'y' " more " }\n"

/* Network number k is refused with a sentence that has the words. */
static inline void check_refused(int k, const char *text, const char *want)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert_msg(load_net(a, text, NULL, &err) == NULL, "%d", k);
	ck_assert_msg(strstr(err.text, want) != NULL, "%d: %s", k, err.text);
	arena_free(a);
}

#endif
