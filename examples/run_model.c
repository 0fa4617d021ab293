/*
 * Runs a compiled network:  cc run_model.c -ldlc_runtime -o run_model && ./run_model NET.dlcb
 * It writes inputs from the host's memory and reads outputs into it, so it works whatever the device of the bundle is.
 * An element's type is a tensor's to say: nothing is written or read before `dtype` was looked at.
 */
#include <dlc/dlc_runtime.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { INT = 0, UINT = 1, FLOAT = 2, BOOL = 6 }; /* DLPack's codes */

static size_t count(const DlcTensor *t)
{
	size_t n = 1;
	for (int i = 0; i < t->ndim; i++)
		n *= (size_t)t->shape[i];
	return n;
}

static size_t bytes(const DlcTensor *t)
{
	return (count(t) * t->dtype.bits + 7) / 8;
}

/* Host memory for a tensor, zeroed; NULL with a sentence in err. */
static void *memory(const DlcTensor *t, DlcError *err)
{
	void *data = calloc(bytes(t) + 1, 1);
	if (data == NULL)
		snprintf(err->text, sizeof err->text, "no memory for a tensor of %zu bytes", bytes(t));
	return data;
}

/* Floats become 0.5, integers stay 0; false for a type that this example does not know. */
static int fill(const DlcTensor *t, void *data)
{
	size_t n = count(t);
	if (t->dtype.code == FLOAT && t->dtype.bits == 32)
		for (size_t i = 0; i < n; i++)
			((float *)data)[i] = 0.5f; /* the image goes here */
	else if (t->dtype.code == FLOAT && t->dtype.bits == 64)
		for (size_t i = 0; i < n; i++)
			((double *)data)[i] = 0.5;
	else
		return t->dtype.code == INT || t->dtype.code == UINT || t->dtype.code == BOOL;
	return 1;
}

static void print_first(const char *name, const DlcTensor *t, const void *data)
{
	if (count(t) == 0)
		printf("%s has no elements\n", name);
	else if (t->dtype.code == FLOAT && t->dtype.bits == 32)
		printf("%s[0] = %g\n", name, (double)*(const float *)data);
	else if (t->dtype.code == FLOAT && t->dtype.bits == 64)
		printf("%s[0] = %g\n", name, *(const double *)data);
	else if (t->dtype.code == INT && t->dtype.bits == 64)
		printf("%s[0] = %" PRId64 "\n", name, *(const int64_t *)data);
	else if (t->dtype.code == INT && t->dtype.bits == 32)
		printf("%s[0] = %" PRId32 "\n", name, *(const int32_t *)data);
	else
		printf("%s has elements of %d bits and DLPack's type %d, which are not printed here\n", name, t->dtype.bits,
			t->dtype.code);
}

static int write_input(const DlcModel *model, DlcInstance *instance, int i, DlcError *err)
{
	DlcTensor t;
	if (dlc_instance_tensor(instance, DLC_INPUT, i, &t, err) != DLC_OK)
		return 0;
	void *data = memory(&t, err);
	int known = data != NULL && fill(&t, data);
	int ok = known && dlc_instance_write(instance, DLC_INPUT, i, data, bytes(&t), err) == DLC_OK;
	if (data != NULL && !known)
		snprintf(err->text, sizeof err->text,
			"input %.100s has elements of %d bits and DLPack's type %d, which this example does not fill",
			dlc_model_name(model, DLC_INPUT, i), t.dtype.bits, t.dtype.code);
	free(data);
	return ok;
}

static int print_output(const DlcModel *model, DlcInstance *instance, int i, DlcError *err)
{
	DlcTensor t;
	if (dlc_instance_tensor(instance, DLC_OUTPUT, i, &t, err) != DLC_OK)
		return 0;
	void *data = memory(&t, err);
	int ok = data != NULL && dlc_instance_read(instance, DLC_OUTPUT, i, data, bytes(&t), err) == DLC_OK;
	if (ok)
		print_first(dlc_model_name(model, DLC_OUTPUT, i), &t, data);
	free(data);
	return ok;
}

/* Fills the inputs, runs, prints the outputs; false with a sentence in err. */
static int run(const DlcModel *model, DlcInstance *instance, DlcError *err)
{
	for (int i = 0; i < dlc_model_count(model, DLC_INPUT); i++)
		if (!write_input(model, instance, i, err))
			return 0;
	if (dlc_instance_run(instance, err) != DLC_OK)
		return 0;
	for (int i = 0; i < dlc_model_count(model, DLC_OUTPUT); i++)
		if (!print_output(model, instance, i, err))
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	DlcModel *model = NULL;
	DlcInstance *instance = NULL;
	DlcError err = { 0, "usage: run_model NET.dlcb" };
	int ok = argc == 2 && dlc_model_open(argv[1], &model, &err) == DLC_OK &&
	         dlc_instance_open(model, 0, &instance, &err) == DLC_OK && run(model, instance, &err);
	if (!ok)
		fprintf(stderr, "%s\n", err.text);
	dlc_instance_close(instance);
	dlc_model_close(model);
	return ok ? 0 : 1;
}
