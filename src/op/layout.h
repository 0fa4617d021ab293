/*
 * Layouts: how a tensor lies in memory, as a text. Capital letters name the dimensions in physical order. A
 * number and a small letter after them cut blocks off a dimension: NCHW, NHWC, NCHW16c, OIHW16i16o. N or O
 * is dimension 0, C or I is 1, then D, H, W as far as the tensor has them; of more than five dimensions, A is the
 * first, B the second and so on. A blocked dimension is rounded up to whole blocks; the added elements are padding.
 */
#ifndef OP_LAYOUT_H
#define OP_LAYOUT_H

#include "op/dag.h"

enum { LAYOUT_MAX = 2 * DAG_MAX_RANK };

/* Physical dimension k walks over dimension of[k] in steps of step[k], modulo mod[k] if that is not 0. */
typedef struct Layout {
	int n;
	int of[LAYOUT_MAX];
	int64_t step[LAYOUT_MAX], mod[LAYOUT_MAX], extent[LAYOUT_MAX];
} Layout;

/* False if the text is no layout of this shape. NULL is row-major. */
bool layout_read(const char *text, Shape s, Layout *out);
/* The letter of dimension k in a tensor of `rank` dimensions. */
char layout_letter(int rank, int k);
/* Elements with padding; -1 on overflow. */
int64_t layout_elements(const Layout *l);

#endif
