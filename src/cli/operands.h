/*
 * What verbs do with their operands: a session of this user, MODEL with --batch, --shape, --bind and --precision as a
 * network, FILE.trace as text, --tuning-db as open databases. Notes of the library go to stderr.
 */
#ifndef CLI_OPERANDS_H
#define CLI_OPERANDS_H

#include "api/failure.h"
#include "cli/model_rows.h"

#define NOTE_MODEL \
	"MODEL is a name of the zoo (see dlc info), or a file or folder of PyTorch, ONNX, TensorFlow,\n" \
	"TensorFlow Lite, Keras, MXNet, Caffe, Caffe2, CoreML or DarkNet."

/* What the user typed, for the logs that are written; the process's. */
void session_set_command(const char *text);
DlcSession *session_open(Err *err);
/* What --target and --threads of a verb that has both rows say, and its --device if it has that. */
DlcTarget target_of(const Args *args);
/*
 * Checks the target of a verb that runs nothing. "cuda" without such a device becomes the only CUDA target that the
 * databases of --tuning-db have, and that is said; if there are more or none, the sentence names the candidates.
 */
bool target_settle(const Args *args, DlcSession *s, DlcTarget *t, Err *err);
DlcNetwork *network_load(const Args *args, DlcSession *s, const char *model, Err *err);
/* The same in the given precision instead of --precision. */
DlcNetwork *network_load_in(const Args *args, DlcSession *s, const char *model, DlcPrecision p, Err *err);

/* A text of at most 1 MB: the file *name, or standard input for "-", and *name says so then. NULL and err. */
const char *text_load(Arena *a, const char **name, Err *err);

/* An output that is one of the verb's inputs would destroy it: the model, or a database of --tuning-db. */
bool output_is_apart(const Args *args, DlcSession *s, const char *path, Err *err);

/* The database at `path`; NULL: the user's. Where he has none, err says how to name one. */
bool database_open(DlcSession *s, const char *path, DlcMode mode, DlcDatabase **out, Err *err);

typedef struct Databases {
	DlcDatabase **at; /* in the order given; those that --tuning-db names */
	int n;
	const char *path; /* of the first; NULL where n == 0 */
} Databases;

/*
 * Opens what --tuning-db says: all for reading, the first for writing where `write`. When it is only read, the database
 * that neither --tuning-db nor DLC_TUNING_DB names may be missing, or have no place (no HOME). The logs that came with
 * dlc come last, unless it was said that there is no database.
 */
bool databases_open(const Args *args, DlcSession *s, bool write, Databases *out, Err *err);
void databases_close(Databases *d);

#endif
