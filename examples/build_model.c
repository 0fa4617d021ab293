/*
 * Builds a network by hand, compiles it and runs it:
 * cc build_model.c $(pkg-config --cflags --libs dlc dlc_runtime) -o build_model && ./build_model
 * A failure stays in the builder, so dlc_builder_finish is the one place that looks.
 */
#include <dlc/dlc.h>
#include <stdio.h>

static const DlcDataType f32 = { 2, 32, 1 };

/* Two 3x3 convolutions with a way around them. */
static DlcValue block(DlcBuilder *b, DlcValue x, const char *name)
{
	const DlcConv plain = { .window = { .kernel = { 3, 3 }, .pad = DLC_PAD_SAME }, .no_bias = 1 };
	const DlcNorm relu = { .activation = "relu" };
	DlcValue y = dlc_builder_batch_norm(b, name, dlc_builder_conv(b, name, x, &plain), &relu);
	y = dlc_builder_batch_norm(b, name, dlc_builder_conv(b, name, y, &plain), NULL);
	return dlc_builder_activation(b, NULL, dlc_builder_op2(b, NULL, "add", x, y), "relu", NULL);
}

/* Ten numbers that add up to 1, of images of 32 x 32. */
static DlcNetwork *build(DlcSession *s, DlcFailure *why)
{
	static const float means[] = { 0.48f, 0.46f, 0.41f };
	const int64_t dim[] = { -1, 3, 32, 32 }; /* the batch is open */
	int64_t of_channels[] = { 3, 1, 1 };
	const DlcTensor mean = { .data = (void *)means, .ndim = 3, .dtype = f32, .shape = of_channels };
	const DlcConv first = { .out = 16, .window = { .kernel = { 3, 3 }, .pad = DLC_PAD_SAME }, .activation = "relu" };
	const DlcPool half = { .window = { .kernel = { 2, 2 } } }, all = { .flat = 1 };
	const DlcDense classes = { .units = 10, .activation = "softmax" };
	DlcBuilder *b = NULL;
	DlcNetwork *n = NULL;
	if (dlc_builder_open(s, "example", 1, NULL, &b, why))
		return NULL;
	DlcValue x = dlc_builder_input(b, "image", f32, 4, dim);
	x = dlc_builder_op2(b, "centred", "sub", x, dlc_builder_constant(b, "mean", &mean, DLC_BORROW));
	x = dlc_builder_max_pool(b, "half", dlc_builder_conv(b, "first", x, &first), &half);
	x = block(b, block(b, x, "block1"), "block2");
	x = dlc_builder_avg_pool(b, "pooled", x, &all);
	dlc_builder_output(b, "shares", dlc_builder_dense(b, "classes", x, &classes));
	dlc_builder_finish(b, &n, why);
	dlc_builder_close(b);
	return n;
}

/* Runs it on an image of zeros. */
static int run(DlcNetwork *n, DlcFailure *why)
{
	DlcBundle *bundle = NULL;
	DlcModel *m = NULL;
	DlcInstance *i = NULL;
	DlcError err = { 0 };
	float share[10], sum = 0;
	size_t size = 0;
	int ok = !dlc_compile(n, NULL, &bundle, why);
	const void *bytes = ok ? dlc_bundle_bytes(bundle, &size) : NULL;
	if (ok)
		ok = dlc_model_open_memory(bytes, size, &m, &err) == DLC_OK && dlc_instance_open(m, 0, &i, &err) == DLC_OK &&
			dlc_instance_run(i, &err) == DLC_OK &&
			dlc_instance_read(i, DLC_OUTPUT, 0, share, sizeof share, &err) == DLC_OK;
	for (int k = 0; ok && k < 10; k++)
		sum += share[k];
	if (ok)
		printf("%s adds up to %.3f\n", dlc_model_name(m, DLC_OUTPUT, 0), (double)sum);
	else if (bytes != NULL)
		fprintf(stderr, "%s\n", err.text);
	dlc_instance_close(i);
	dlc_model_close(m);
	dlc_bundle_close(bundle);
	return ok;
}

int main(void)
{
	DlcSession *s = NULL;
	DlcNetwork *n = NULL;
	DlcFailure why = { 0 };
	int ok = !dlc_session_open(NULL, &s, &why) && (n = build(s, &why)) != NULL && run(n, &why);
	if (why.code != DLC_FAULT_NONE)
		fprintf(stderr, "%s: %s\n", why.place, why.text);
	dlc_network_close(n);
	dlc_session_close(s);
	return !ok;
}
