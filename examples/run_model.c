/*
 * Runs a compiled network:  cc run_model.c -ldlc_runtime -o run_model && ./run_model NET.dlcb
 * An element's type is a tensor's to say: nothing is written or read before `dtype` was looked at.
 */
#include <dlc/dlc_runtime.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { INT = 0, UINT = 1, FLOAT = 2, BOOL = 6 }; /* DLPack's codes */

static size_t count(const DlcTensor *t)
{
	size_t n = 1;
	for (int i = 0; i < t->ndim; i++)
		n *= (size_t)t->shape[i];
	return n;
}

/* Floats become 0.5, integers 0; false for a type that this example does not know. */
static int fill(const DlcTensor *t)
{
	size_t n = count(t);
	if (t->dtype.code == FLOAT && t->dtype.bits == 32)
		for (size_t i = 0; i < n; i++)
			((float *)t->data)[i] = 0.5f; /* the image goes here */
	else if (t->dtype.code == FLOAT && t->dtype.bits == 64)
		for (size_t i = 0; i < n; i++)
			((double *)t->data)[i] = 0.5;
	else if (t->dtype.code == INT || t->dtype.code == UINT || t->dtype.code == BOOL)
		memset(t->data, 0, (n * t->dtype.bits + 7) / 8);
	else
		return 0;
	return 1;
}

static void print_first(const char *name, const DlcTensor *t)
{
	if (count(t) == 0)
		printf("%s has no elements\n", name);
	else if (t->dtype.code == FLOAT && t->dtype.bits == 32)
		printf("%s[0] = %g\n", name, (double)((float *)t->data)[0]);
	else if (t->dtype.code == FLOAT && t->dtype.bits == 64)
		printf("%s[0] = %g\n", name, ((double *)t->data)[0]);
	else if (t->dtype.code == INT && t->dtype.bits == 64)
		printf("%s[0] = %" PRId64 "\n", name, ((int64_t *)t->data)[0]);
	else if (t->dtype.code == INT && t->dtype.bits == 32)
		printf("%s[0] = %" PRId32 "\n", name, ((int32_t *)t->data)[0]);
	else
		printf("%s has elements of %d bits and DLPack's type %d, which are not printed here\n", name, t->dtype.bits,
			t->dtype.code);
}

/* Fills the inputs, runs, prints the outputs; false with a sentence in err. */
static int run(const DlcModel *model, DlcInstance *instance, DlcError *err)
{
	DlcTensor t;
	for (int i = 0; i < dlc_model_count(model, DLC_INPUT); i++) {
		if (dlc_instance_tensor(instance, DLC_INPUT, i, &t, err) != DLC_OK)
			return 0;
		if (!fill(&t)) {
			snprintf(err->text, sizeof err->text,
				"input %.100s has elements of %d bits and DLPack's type %d, which this example "
				"does not fill",
				dlc_model_name(model, DLC_INPUT, i), t.dtype.bits, t.dtype.code);
			return 0;
		}
	}
	if (dlc_instance_run(instance, err) != DLC_OK)
		return 0;
	for (int i = 0; i < dlc_model_count(model, DLC_OUTPUT); i++) {
		if (dlc_instance_tensor(instance, DLC_OUTPUT, i, &t, err) != DLC_OK)
			return 0;
		print_first(dlc_model_name(model, DLC_OUTPUT, i), &t);
	}
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
