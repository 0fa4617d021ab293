/*
 * A report of a run: one HTML file that needs nothing else. page.html, page.css and page.js are built in; the events
 * stand in the page as data, which the script makes tables and pictures of. A text of a model or a record is data,
 * never part of the page's language.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "report/event.h"

typedef struct Page {
	Text rows; /* of the events so far, as event_row has them, in an arena of the caller's */
} Page;

void page_add(Page *p, const Event *e);
/* What the page says of itself: where its events are from. */
typedef enum { PAGE_OF_RUN, PAGE_OF_RECORDS } PageOrigin;
void page_write(Text *out, const Page *p, PageOrigin origin);

#endif
