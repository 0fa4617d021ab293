/*
 * Rows of DarkNet's last layers: softmax, and the detectors, whose result is what DarkNet's layer gives: probabilities
 * where it takes them, raw widths and heights. Boxes are made of them by the program that draws them.
 */
#include "frontend/darknet/darknet.h"

#include "frontend/node/channels.h"
#include "frontend/node/compose.h"

#include <string.h>

#define TRAINED \
	"jitter ignore_thresh truth_thresh random resize iou_thresh iou_normalizer cls_normalizer obj_normalizer " \
	"delta_normalizer iou_loss iou_thresh_kind nms_kind beta_nms max_delta objectness_smooth label_smooth_eps max " \
	"counters_per_class focal_loss show_details track_history_size sim_thresh dets_for_track dets_for_show map " \
	"bias_match rescore object_scale noobject_scale mask_scale class_scale coord_scale absolute thresh sqrt " \
	"forced side embedding_layer use_mask anchors mask num_anchors stopbackward noloss"

static int sigmoid(Visit *v, int x)
{
	return node_call1(v, OP_sigmoid, x);
}

static int softmax(Visit *v, int x, int axis)
{
	Attr attr = attr_int("axis", axis);
	return node_call(v, OP_softmax, &x, 1, &attr, 1);
}

/* The order in which groups of one size lie beside each other; inverse[order[k]] = k. */
static void sort_groups(const int64_t *group, int n, int64_t *order, int64_t *inverse)
{
	int64_t most = 0, at = 0;
	for (int k = 0; k < n; k++)
		most = group[k] > most ? group[k] : most;
	for (int64_t size = 1, next; size <= most; size = next) {
		int64_t from = 0;
		next = most + 1;
		for (int k = 0; k < n; from += group[k++]) {
			for (int64_t i = 0; i < (group[k] == size ? size : 0); i++, at++) {
				order[at] = from + i;
				inverse[from + i] = at;
			}
			if (group[k] > size && group[k] < next)
				next = group[k];
		}
	}
}

static int take(Visit *v, int x, const int64_t *index, int64_t n, int axis)
{
	Attr attr = attr_int("axis", axis);
	int in[] = { x, node_const(v, I64, shape_of(1, &n), index) };
	return node_call(v, OP_gather, in, 2, &attr, 1);
}

/* A softmax in each group of siblings along an axis. Groups of one size are taken together. */
static int softmax_tree(Visit *v, int x, int axis, const int64_t *group, int n)
{
	Shape s = node_val(v, x)->shape;
	int64_t all = 0, classes = s.dim[axis], at = 0;
	for (int k = 0; k < n; k++)
		all += group[k];
	if (node_ok(v) && all != classes)
		node_fail(
			v, ERR_INPUT, "its tree has %lld classes, but the layer has %lld", (long long)all, (long long)classes);
	if (!node_ok(v))
		return x;
	Arena *a = v->im->arena;
	int64_t *order = arena_array(a, int64_t, all), *inverse = arena_array(a, int64_t, all);
	int *part = arena_array(a, int, n), parts = 0;
	bool sorted = true;
	sort_groups(group, n, order, inverse);
	for (int64_t k = 0; k < all; k++)
		sorted &= order[k] == k;
	if (!sorted)
		x = take(v, x, order, all, axis);
	for (int64_t size = 1; at < all && node_ok(v); size++) {
		int64_t count = 0;
		for (int k = 0; k < n; k++)
			count += group[k] == size;
		if (count == 0)
			continue;
		Shape cut = s, whole = s;
		cut.rank++;
		memmove(&cut.dim[axis + 2], &s.dim[axis + 1], (size_t)(s.rank - axis - 1) * sizeof *s.dim);
		cut.dim[axis] = count;
		cut.dim[axis + 1] = size;
		whole.dim[axis] = count * size;
		int y = node_reshape(v, node_slice(v, x, axis, at, count * size), cut);
		part[parts++] = node_reshape(v, softmax(v, y, axis + 1), whole);
		at += count * size;
	}
	x = node_concat(v, part, parts, axis);
	return sorted ? x : take(v, x, inverse, all, axis);
}

static void import_softmax(Visit *v)
{
	int64_t groups = node_attr_int(v, "groups", 1);
	double temperature = node_attr_float(v, "temperature", 1);
	bool spatial = node_attr_flag(v, "spatial", false);
	int tree;
	const int64_t *group = node_attr_ints(v, "tree", &tree);
	int x = spatial ? darknet_image(v, 0) : darknet_flat(v, 0);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (groups < 1 || s.dim[1] % groups != 0))
		node_fail(v, ERR_TYPE, "%lld numbers cannot be cut into %lld groups", (long long)s.dim[1], (long long)groups);
	if (!node_ok(v))
		return;
	if (temperature != 1 && !spatial)
		x = node_with_number(v, OP_div, x, temperature);
	if (group != NULL && !spatial) {
		node_set(v, 0, softmax_tree(v, x, 1, group, tree));
		return;
	}
	if (groups > 1 && !spatial)
		x = node_view(v, x, 3, (int64_t[]){ s.dim[0], groups, s.dim[1] / groups });
	x = softmax(v, x, spatial ? 1 : groups > 1 ? 2 : 1);
	node_set(v, 0, node_reshape(v, x, s));
}

/* How a detector's channels are cut: boxes of `size` numbers, of which the last are classes. */
typedef struct Boxes {
	int64_t n, size;
	Shape image, cut;
} Boxes;

static int cut_boxes(Visit *v, Boxes *b, int64_t n, int64_t size)
{
	int x = darknet_image(v, 0);
	b->n = n;
	b->size = size;
	b->image = node_val(v, x)->shape;
	int64_t channels = b->image.dim[1];
	if (node_ok(v) && (n < 1 || n > INT32_MAX || size < 5 || size > INT32_MAX || channels != n * size))
		node_fail(v, ERR_TYPE, "its input has %lld channels, but %lld boxes of %lld numbers are needed",
			(long long)channels, (long long)n, (long long)size);
	b->cut = shape_of(5, (int64_t[]){ b->image.dim[0], n, size, b->image.dim[2], b->image.dim[3] });
	return node_reshape(v, x, b->cut);
}

static void set_boxes(Visit *v, const Boxes *b, const int *part, int n)
{
	node_set(v, 0, node_reshape(v, node_concat(v, part, n, 2), b->image));
}

/* The boxes of a yolo layer: those that its mask lists. */
static void import_yolo(Visit *v)
{
	int count;
	int64_t n = node_attr_int(v, "num", 1), classes = node_attr_int(v, "classes", 20);
	double scale = node_attr_float(v, "scale_x_y", 1);
	bool plain = node_attr_flag(v, "new_coords", false);
	node_attr_ints(v, "mask", &count);
	Boxes b;
	int x = cut_boxes(v, &b, count >= 0 ? count : n, classes + 5);
	if (!node_ok(v))
		return;
	int centre = node_slice(v, x, 2, 0, 2), size = node_slice(v, x, 2, 2, 2);
	int rest = node_slice(v, x, 2, 4, classes + 1);
	if (!plain) {
		centre = sigmoid(v, centre);
		rest = sigmoid(v, rest);
	}
	if (scale != 1)
		centre = node_with_number(v, OP_sub, node_with_number(v, OP_mul, centre, scale), (scale - 1) / 2);
	set_boxes(v, &b, (int[]){ centre, size, rest }, 3);
}

static void import_region(Visit *v)
{
	int64_t coords = node_attr_int(v, "coords", 4), n = node_attr_int(v, "num", 1);
	int64_t classes = node_attr_int(v, "classes", 20);
	bool soft = node_attr_flag(v, "softmax", false), background = node_attr_flag(v, "background", false);
	int tree;
	const int64_t *group = node_attr_ints(v, "tree", &tree);
	if (node_ok(v) && (coords != 4 || classes < 1 || background))
		node_fail(v, ERR_UNSUPPORTED, "it has %lld coordinates, %lld classes%s, but 4 and at least 1 are supported",
			(long long)coords, (long long)classes, background ? " and a background" : "");
	Boxes b;
	int x = cut_boxes(v, &b, n, classes + 5);
	if (!node_ok(v))
		return;
	int class = node_slice(v, x, 2, 5, classes);
	int part[] = { sigmoid(v, node_slice(v, x, 2, 0, 2)), node_slice(v, x, 2, 2, 2),
		sigmoid(v, node_slice(v, x, 2, 4, 1)),
		group != NULL ? softmax_tree(v, class, 2, group, tree)
		: soft        ? softmax(v, class, 2)
					  : sigmoid(v, class) };
	set_boxes(v, &b, part, 4);
}

/* The first version of YOLO: a line of numbers, [places * classes, places * boxes, places * boxes * coords]. */
static void import_detection(Visit *v)
{
	int64_t side = node_attr_int(v, "side", 7), classes = node_attr_int(v, "classes", 1);
	int64_t n = node_attr_int(v, "num", 1), coords = node_attr_int(v, "coords", 1);
	bool soft = node_attr_flag(v, "softmax", false);
	int x = darknet_flat(v, 0);
	int64_t all = node_val(v, x)->shape.dim[1], batch = node_val(v, x)->shape.dim[0];
	bool sane = side > 0 && side < 4096 && classes > 0 && classes < 1 << 20 && n > 0 && n < 4096;
	sane = sane && coords > 0 && coords < 64;
	if (node_ok(v) && (!sane || all != side * side * (classes + n * (1 + coords))))
		node_fail(v, ERR_TYPE, "its input has %lld numbers, which are not those of %lldx%lld places", (long long)all,
			(long long)side, (long long)side);
	if (!node_ok(v) || !soft) {
		node_set(v, 0, x);
		return;
	}
	int64_t probabilities = side * side * classes;
	int head = node_view(v, node_slice(v, x, 1, 0, probabilities), 3, (int64_t[]){ batch, side * side, classes });
	int part[] = { node_view(v, softmax(v, head, 2), 2, (int64_t[]){ batch, probabilities }),
		node_slice(v, x, 1, probabilities, all - probabilities) };
	node_set(v, 0, node_concat(v, part, 2, 1));
}

/* Pixels become channels; [reorg3d] takes them from where they are. */
static void reorganise(Visit *v, bool mixed)
{
	int64_t s = node_attr_int(v, "stride", 1);
	bool reverse = node_attr_flag(v, "reverse", false), flat = node_attr_flag(v, "flatten", false);
	if (reverse || flat || node_attr_int(v, "extra", 0) != 0)
		node_fail(v, ERR_UNSUPPORTED, "its options reverse, flatten and extra are not supported");
	node_set(v, 0, node_reorg(v, darknet_image(v, 0), s, mixed, false));
}

static void import_reorg(Visit *v)
{
	reorganise(v, true);
}

static void import_reorg3d(Visit *v)
{
	reorganise(v, false);
}

const NodeRow darknet_detect_rows[] = {
	{ "softmax", 0, "noloss stopbackward", import_softmax },
	{ "yolo", 0, TRAINED, import_yolo },
	{ "region", 0, TRAINED, import_region },
	{ "detection", 0, TRAINED " reorg random", import_detection },
	{ "reorg", 0, "memory stopbackward", import_reorg },
	{ "reorg3d", 0, "memory stopbackward", import_reorg3d },
	{ NULL, 0, NULL, NULL },
};
