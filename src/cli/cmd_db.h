/* What the verbs of dlc db share: which database, and how a text of a record is printed. */
#ifndef CLI_CMD_DB_H
#define CLI_CMD_DB_H

#include "base/json.h"
#include "cli/operands.h"

/* The database that the first operand names, or the default one, and its session; NULL and err. */
typedef struct Opened {
	DlcSession *session;
	DlcDatabase *db;
} Opened;
bool db_open_operand(const Args *args, DlcMode mode, Opened *out, Err *err);
void db_close_operand(Opened *o);

/* An object as a line on stdout. */
void db_print_object(Arena *a, const Json *o);

extern const Verb db_best_verb, db_export_verb, db_import_verb, db_list_verb, db_log_verb, db_model_verb,
	db_report_verb, db_show_verb, db_stats_verb, db_train_verb, db_verify_verb;

#endif
