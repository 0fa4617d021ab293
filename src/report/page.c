/* See page.h. */
#include "report/page.h"

static const char before_data[] = {
#include "report/page_head.inc"
};
static const char behind_data[] = {
#include "report/page_tail.inc"
};

void page_add(Page *p, const Event *e)
{
	if (p->rows.n > 0)
		text_put(&p->rows, ",\n", 2);
	event_row(&p->rows, e);
}

void page_write(Text *out, const Page *p, PageOrigin origin)
{
	text_put(out, before_data, sizeof before_data);
	text_add(out, "{\"from\":\"%s\",\"names\":", origin == PAGE_OF_RUN ? "run" : "records");
	event_names(out);
	text_add(out, ",\"rows\":[\n");
	text_put(out, text_str(&p->rows), p->rows.n);
	text_add(out, "\n]}");
	text_put(out, behind_data, sizeof behind_data);
}
