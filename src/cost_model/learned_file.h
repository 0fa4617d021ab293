/*
 * A learned model: trees, what they were trained on, and how good they are on Tasks that were held out of the training.
 * It lives in a file beside a database. The file is one line of JSON, the trees, and a hash of both; reading checks all
 * of it, so that a damaged, older or foreign file is refused with a reason.
 */
#ifndef COST_MODEL_LEARNED_FILE_H
#define COST_MODEL_LEARNED_FILE_H

#include "cost_model/forest.h"
#include "cost_model/predictor.h"

#include <math.h>

/* How well times of one class of operators are told apart: by the estimate alone [0], by the model [1]. */
typedef struct LearnedScore {
	const char *class;    /* "conv3x3"; "all" */
	int tasks, schedules; /* Tasks that have several schedules; of these */
	double rank[2];       /* Spearman's correlation inside a Task, the mean weighted by schedules */
	double pick[2];       /* time of what is ranked first over the best, the geometric mean over Tasks */
} LearnedScore;

/*
 * What the model gains where a Task has no record, by Tasks that were held out: the schedule that it ranks first takes
 * the place of the default where it is expected to be faster by more than `margin`. One for each group of targets that
 * it was trained on.
 */
typedef struct LearnedGain {
	Arch arch;
	int vector_bits;
	bool parallel;     /* with several threads */
	int tasks, taken;  /* that have a time of their default; whose default was replaced */
	double margin;     /* natural logarithm of a factor; LEARNED_NEVER: no margin gains beyond the noise */
	double gain, best; /* natural logarithm of default / taken and of default / best, means over the Tasks */
} LearnedGain;
#define LEARNED_NEVER HUGE_VAL
enum { LEARNED_GAINS = 64 };

typedef struct LearnedModel {
	TargetKind kind;
	Hash predictors, data;  /* predictor_id; of the ids of the runs */
	Hash id;            /* of the file: set when it is read */
	int epoch;          /* of the code generator when it was trained */
	int64_t trained_s;  /* seconds since 1970 */
	int64_t runs, rows; /* records; schedules that were learned from */
	int tasks, targets;
	Forest forest;
	double gain[PREDICTORS]; /* how much each predictor has made the error smaller, a share */
	LearnedScore *score;   /* "all" first */
	int nscore;
	LearnedGain *untuned;
	int nuntuned;
} LearnedModel;

/* "DB.cpu.model", or "FOLDER/cpu.model": where the model of a kind of targets lies that is kept with a database. */
const char *learned_path(Arena *a, const char *database, bool folder, TargetKind kind);
/* ERR_MISSING: there is none. */
bool learned_read(Arena *a, const char *path, LearnedModel *out, Err *err);
bool learned_parse(Arena *a, const char *name, const void *bytes, size_t n, LearnedModel *out, Err *err);
bool learned_write(const char *path, const LearnedModel *m, Err *err);
/* Why a model that was read is no use for the target; NULL: it is. */
const char *learned_unfit(Arena *a, const LearnedModel *m, const Target *t);
/* The group of the target; NULL: the model has not learned of targets like it. */
const LearnedGain *learned_gain(const LearnedModel *m, const Target *t);
/* Nanoseconds of one call of the set's run Fns, as the model believes. */
double learned_ns(const LearnedModel *m, const KernelSet *ks, const Task *task, const Target *t);

#endif
