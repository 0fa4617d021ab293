/* Runs a compiled network:  cc run_model.c -ldlc_runtime -o run_model && ./run_model NET.dlcb */
#include <dlc/dlc_runtime.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	DlcModel *model = NULL;
	DlcInstance *instance = NULL;
	DlcTensor in, out;
	DlcError err = { 0, "usage: run_model NET.dlcb" };
	if (argc != 2 || dlc_model_open(argv[1], &model, &err) != DLC_OK ||
		dlc_instance_open(model, 0, &instance, &err) != DLC_OK ||
		dlc_instance_tensor(instance, DLC_INPUT, 0, &in, &err) != DLC_OK ||
		dlc_instance_tensor(instance, DLC_OUTPUT, 0, &out, &err) != DLC_OK)
		return fprintf(stderr, "%s\n", err.text), 1;
	size_t n = 1;
	for (int i = 0; i < in.ndim; i++)
		n *= (size_t)in.shape[i];
	for (size_t i = 0; i < n; i++)
		((float *)in.data)[i] = 0.5f; /* the image goes here */
	if (dlc_instance_run(instance, &err) != DLC_OK)
		return fprintf(stderr, "%s\n", err.text), 1;
	printf("%s[0] = %g\n", dlc_model_name(model, DLC_OUTPUT, 0), ((float *)out.data)[0]);
	dlc_instance_close(instance);
	dlc_model_close(model);
	return 0;
}
