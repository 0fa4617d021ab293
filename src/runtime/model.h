/*
 * A loaded bundle: pointers into its mapping, which bundle_check() made safe to follow.
 */
#ifndef RUNTIME_MODEL_H
#define RUNTIME_MODEL_H

#include <stdbool.h>

#include "dlc/dlc_runtime.h"
#include "runtime/bundle.h"
#include "runtime/device.h"

struct DlcModel {
	const unsigned char *base;
	size_t size;
	bool mapped; /* by us, from a file */
	const BundleHeader *h;
	const char *text;
	const BundleInfo *info;
	const uint32_t *feature;
	const BundleSym *sym;
	const BundleDim *dim;
	const BundleTensor *tensor;
	const BundleImage *image;
	const BundleEntry *entry;
	const DlcLaunch *launch;
	const BundleSlot *slot;
	const uint32_t *arg;
	const BundleOp *op;
	const BundleVariant *variant; /* NULL: there is one */
	uint32_t nvariant, nimage;    /* nimage: of each variant */
	const Device *device;
	int32_t device_id; /* which of the machine's devices of that type is open */
	DeviceContext *context;
	void **code;              /* of each image; NULL for those of variants that are not loaded */
	void **kernel;            /* of each entry */
	unsigned char *constants; /* where the device has them */
	uint32_t ninput;
	uint64_t work_bytes; /* of one thread: the largest entry's */
	int64_t *shape;      /* the value of each dim, -1 where symbols decide */
};

/*
 * A copy of a bundle's text for a terminal, cut to size. Characters that control a terminal or turn the direction of
 * writing, and bytes that are no UTF-8, become '?'. Returns out.
 */
const char *runtime_shown(char *out, size_t size, const char *text);
/* Fills err if it is not NULL and returns s. */
DlcStatus runtime_fail(DlcError *err, DlcStatus s, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* dlc_model_open_memory_on with a row of the caller's, if the bundle is for its type. */
DlcStatus model_open_on(const Device *device, int id, const void *bytes, size_t size, DlcModel **out, DlcError *err);
/*
 * Sets m's tables from base and size, opens the device (m->device if it has the bundle's type), and checks all but
 * the code and the constants.
 */
DlcStatus bundle_check(DlcModel *m, DlcError *err);
/* Whether the open device has what variant v needs; else the missing features are listed in `missing`. */
bool bundle_variant_fits(const DlcModel *m, uint32_t v, char *missing, size_t size);
/* Whether the dims of a launch are possible and name arguments of their kernel, nsym of them. */
bool bundle_launch_fits(const DlcLaunch *l, uint32_t nsym);
/* The values of a launch for the arguments sym; false if one is outside the range that devices take. */
bool bundle_launch_values(const DlcLaunch *l, const int64_t *sym, DeviceLaunch *out);
/* A dim's smallest and largest value over its symbols' ranges; false if it leaves [0, 2^62]. */
bool bundle_dim_range(const DlcModel *m, const BundleDim *d, int64_t *lo, int64_t *hi);
/* Its value for these symbols' values, which lie in their ranges. */
int64_t bundle_dim_value(const BundleDim *d, const int64_t *sym);
/* Bytes of a tensor at the symbols' maxima; -1 if that overflows. */
int64_t bundle_tensor_bytes(const DlcModel *m, const BundleTensor *t);

#endif
