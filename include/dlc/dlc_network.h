/* Part of dlc.h: networks, their tasks, and what they look like at each stage. */
#ifndef DLC_NETWORK_H
#define DLC_NETWORK_H

#ifndef DLC_DLC_H
#error "include dlc/dlc.h"
#endif

enum { DLC_RANK = 8, DLC_ID = 33 /* characters of an id and its end: 32 hexadecimal digits */ };

/* The shape of an input, where the model leaves it open or another one is wanted. */
typedef struct DlcShape {
	const char *name;
	int rank;
	int64_t dim[DLC_RANK];
} DlcShape;

/* An input that is really a constant: its name and its compact, row-major elements. */
typedef struct DlcBinding {
	const char *name;
	DlcTensor tensor;
} DlcBinding;

/*
 * What a network is computed in. fp32: f32. tf32: the factors of convolutions and matrix products may be rounded to 11
 * binary digits. fp16, bf16: weights and values between tasks are f16 or bf16, sums are f32. Inputs and outputs keep
 * their types. Tasks of different precisions are different tasks.
 */
typedef enum DlcPrecision { DLC_FP32, DLC_TF32, DLC_FP16, DLC_BF16, DLC_PRECISIONS } DlcPrecision;
DLC_API const char *dlc_precision_name(DlcPrecision p); /* "fp16"; NULL: there is no such precision */

/*
 * The layout in which the program gives an input, where it is not the model's: channels second (ncw, nchw, ncdhw) or
 * last (nwc, nhwc, ndhwc). DlcLoadOptions.shape and bind are in the model's layout.
 */
typedef struct DlcInputLayout {
	const char *name, *layout;
} DlcInputLayout;

/* All of it is copied or read during the call. */
typedef struct DlcLoadOptions {
	int64_t batch; /* 0: as the model says, a symbolic one becomes 1 */
	int64_t seq;   /* tokens or steps of a sequence; 0: as the model says */
	const DlcShape *shape;
	int nshape;
	const DlcBinding *bind;
	int nbind;
	/* Asked for an input that must be known and is not bound: fills out and returns 1, or 0. May be NULL. */
	int (*offer)(const char *input, DlcTensor *out, void *arg);
	void *offer_arg;
	DlcPrecision precision;
	const char *weights; /* the file of the weights; NULL: inside the model's, or beside it by the format's habit */
	const char *without; /* what the graph leaves out, for measurements: see dlc-compile(1), --without; NULL: nothing */
	const char *frontend; /* a shared object that is asked first about a file (dlc/dlc_frontend.h); NULL: none */
	const DlcInputLayout *layout;
	int nlayout;
	/*
	 * Which entry point of a model with several: a signature of a SavedModel or of TensorFlow Lite, a function of
	 * CoreML, a method of TorchScript, a program of a .pt2 archive. NULL: the format's usual one.
	 */
	const char *signature;
	const char *tags; /* which graph of a SavedModel with several: "serve,tpu"; NULL: the one for serving */
} DlcLoadOptions;

/* A zoo name or a file, recognised by its content. options may be NULL. */
DLC_API DlcFault dlc_network_load(DlcSession *s, const char *model, const DlcLoadOptions *options, DlcNetwork **out,
	DlcFailure *why);
/* A file's content, which must outlive the network; `name` stands in messages, its folder holds external data. */
DLC_API DlcFault dlc_network_load_memory(DlcSession *s, const char *name, const void *bytes, size_t size,
	const DlcLoadOptions *options, DlcNetwork **out, DlcFailure *why);
DLC_API void dlc_network_close(DlcNetwork *n); /* NULL is allowed */

/* A machine to compile for. */
enum { DLC_THREADS = 256 /* the most that the runtime runs */ };
typedef struct DlcTarget {
	const char *name; /* "host", a name of the folders of targets, a .json file; NULL: host */
	int threads;      /* that the code is made for, up to DLC_THREADS; 0: 1 */
	int device;       /* where the name is a kind such as "opencl": which of this machine's devices of it, from 0 */
} DlcTarget;

/* "cpu:znver5 t1", how the target is called; here: refused unless its code runs on this machine. */
enum { DLC_TARGET_TEXT = 64 };
DLC_API DlcFault dlc_target_text(
	DlcSession *s, const DlcTarget *target, int here, char out[DLC_TARGET_TEXT], DlcFailure *why);

/* What is tuned: a group of operators with its shapes. A view. */
typedef struct DlcTask {
	char id[DLC_ID];
	const char *label; /* "conv3x3 64>64 56 +relu" */
	const char *text;  /* the workload itself */
	int weight;        /* how often the network runs it; of an alternative: in how many places it could */
	int alternative;   /* 1: the network does not run it, but might */
	double flops, bytes;
} DlcTask;

/* The tasks of a network on a target; valid until the next call that is given the network. */
DLC_API DlcFault dlc_network_tasks(
	DlcNetwork *n, const DlcTarget *target, const DlcTask **out, int *count, DlcFailure *why);

typedef struct DlcShowOptions {
	DlcTarget target;
	DlcDatabase *const *database; /* whose schedules are shown */
	int ndatabase;
	const char *stage;    /* graph (NULL), onnx, tasks, space, ir, trace, plan, resources, or a back end's: asm ... */
	const char *task;     /* prefix of ids; NULL: all */
	const char *schedule; /* the text of a trace for the one task; NULL: what dlc_compile takes */
	const char *schedule_name; /* in messages; may be NULL */
	int json, imported, unscheduled; /* tasks, space: as JSON; graph: before any pass; the naive loops */
} DlcShowOptions;

/* Gives the text (onnx: the bytes) to `put`, all at once today; `put` returns 0 to go on. */
typedef int (*DlcPut)(const char *bytes, size_t n, void *arg);
/* Whether the options fit each other, before anything is read for them. */
DLC_API DlcFault dlc_show_check(DlcSession *s, const DlcShowOptions *options, DlcFailure *why);
DLC_API DlcFault dlc_network_show(DlcNetwork *n, const DlcShowOptions *options, DlcPut put, void *arg, DlcFailure *why);

#endif
