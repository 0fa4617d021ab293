/*
 * Register tiles whose sums wait in a buffer for a whole panel of lanes, as small as a near cache, while the reduction
 * passes in short parts. A part of the panel's weights stays in the first cache for all tiles of the band, which
 * meanwhile ask for the next part. So weights that come from memory are read once, in the time of the arithmetic:
 *
 *	for panels, bands {
 *		for rows, pixels { begin the sums }
 *		for parts { for rows { for tiles { for reduce.. { prefetch; a tile's sums in registers }}}}
 *		for rows, pixels { epilogue }
 *	}
 */
#ifndef SCHEDULE_TEMPLATE_PANEL_H
#define SCHEDULE_TEMPLATE_PANEL_H

#include "schedule/template/tile.h"

/* What the reduction multiplies. */
typedef struct PanelOf {
	int channels;        /* the reduce loop that is cut into parts */
	int64_t block;       /* channels that lie side by side in the image; 1: all, or none */
	const char *weights; /* the constant that is packed; its dimensions are filters, channels and `window` */
	const char *window;  /* "", "W", "HW", "DHW" */
} PanelOf;

/*
 * Asks for "sums": whether they stay in registers for the whole reduction, or wait for a panel as above. True: the
 * latter was picked, its knobs were asked, and its steps are all.
 */
bool panel_sums(Sketch *s, const Tiled *t, const Tile *tile, const PanelOf *of);

#endif
