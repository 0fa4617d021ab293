/* Which templates there are, the first that applies is taken. Nothing else knows them by name. */
#include "schedule/sketch.h"

const Template *const templates[] = {
	&tmpl_ring, &tmpl_conv, &tmpl_rows, &tmpl_dense, &tmpl_attention, &tmpl_pool, &tmpl_recurrent, &tmpl_loops,
	&tmpl_block_pair, &tmpl_block_conv, &tmpl_block_depthwise, &tmpl_block_dense, &tmpl_block_loops,
	NULL
};
