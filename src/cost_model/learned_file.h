/*
 * A learned model: trees, what they were trained on, and how good they are on Tasks that were held out of the training.
 * It lives in a file beside a database. The file is one line of JSON, the trees, and a hash of both; reading checks all
 * of it, so that a damaged, older or foreign file is refused with a reason.
 */
#ifndef COST_MODEL_LEARNED_FILE_H
#define COST_MODEL_LEARNED_FILE_H

#include "cost_model/forest.h"
#include "cost_model/predictor.h"

/* How well times of one class of operators are told apart: by the estimate alone [0], by the model [1]. */
typedef struct LearnedScore {
	const char *class;    /* "conv3x3"; "all" */
	int tasks, schedules; /* Tasks that have several schedules; of these */
	double rank[2];       /* Spearman's correlation inside a Task, the mean weighted by schedules */
	double pick[2];       /* time of what is ranked first over the best, the geometric mean over Tasks */
} LearnedScore;

typedef struct LearnedModel {
	TargetKind kind;
	Hash predictors, data;  /* predictor_id; of the ids of the runs */
	int64_t trained_s;  /* seconds since 1970 */
	int64_t runs, rows; /* records; schedules that were learned from */
	int tasks, targets;
	Forest forest;
	double gain[PREDICTORS]; /* how much each predictor has made the error smaller, a share */
	LearnedScore *score;   /* "all" first */
	int nscore;
} LearnedModel;

/* "DB.cpu.model", or "FOLDER/cpu.model": where the model of a kind of targets lies that is kept with a database. */
const char *learned_path(Arena *a, const char *database, bool folder, TargetKind kind);
/* ERR_MISSING: there is none. */
bool learned_read(Arena *a, const char *path, LearnedModel *out, Err *err);
bool learned_parse(Arena *a, const char *name, const void *bytes, size_t n, LearnedModel *out, Err *err);
bool learned_write(const char *path, const LearnedModel *m, Err *err);

#endif
