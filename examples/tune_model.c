/*
 * Tunes a network for a moment, compiles it and runs it:
 * cc tune_model.c $(pkg-config --cflags --libs dlc dlc_runtime) -o tune_model && ./tune_model MODEL TUNING.sqlite
 */
#include <dlc/dlc.h>
#include <stdio.h>

static int on_progress(const DlcTuneProgress *p, void *arg)
{
	(void)arg;
	fprintf(stderr, "\r%lld trials, %.3f ms", (long long)p->trials, p->tasks_ms);
	return 0; /* anything else ends the run */
}

static int run(DlcSession *s, const char *model, const char *path, DlcFailure *why)
{
	DlcNetwork *n = NULL;
	DlcDatabase *db = NULL;
	DlcBundle *b = NULL;
	DlcModel *m = NULL;
	DlcInstance *i = NULL;
	DlcError err = { 0 };
	size_t size = 0;
	DlcTuneRequest ask = { .database = &db, .ndatabase = 1, .limit = DLC_TRIALS_MORE, .trials = 8,
		.on_progress = on_progress };
	DlcCompileOptions how = { .database = &db, .ndatabase = 1 };
	int ok = !dlc_network_load(s, model, NULL, &n, why) && !dlc_database_open(s, path, DLC_WRITE, &db, why) &&
		 !dlc_tune(n, &ask, NULL, why) && !dlc_compile(n, &how, &b, why);
	const void *bytes = ok ? dlc_bundle_bytes(b, &size) : NULL;
	if (ok && dlc_model_open_memory(bytes, size, &m, &err) == DLC_OK &&
		dlc_instance_open(m, 0, &i, &err) == DLC_OK && dlc_instance_run(i, &err) == DLC_OK) /* inputs are zeros */
		printf("%s ran: %.3f ms estimated, %zu bytes\n", model, dlc_bundle_info(b)->estimated_ms, size);
	else if (ok)
		ok = 0, fprintf(stderr, "%s\n", err.text);
	dlc_instance_close(i);
	dlc_model_close(m);
	dlc_bundle_close(b);
	dlc_database_close(db);
	dlc_network_close(n);
	return ok;
}

int main(int argc, char **argv)
{
	DlcSession *s = NULL;
	DlcFailure why = { 0 };
	if (argc != 3)
		return fprintf(stderr, "usage: tune_model MODEL TUNING.sqlite\n"), 2;
	int ok = !dlc_session_open(NULL, &s, &why) && run(s, argv[1], argv[2], &why);
	if (why.code != DLC_FAULT_NONE)
		fprintf(stderr, "%s: %s\n%s", why.place, why.text, why.items);
	dlc_session_close(s);
	return !ok;
}
