/* Inside the room: a front end that another program wrote, as a format of the room frontend (dlc/dlc_frontend.h). */
#ifndef API_OUTSIDE_H
#define API_OUTSIDE_H

#include "api/network.h"

/* Opens the shared object, which stays open as long as the arena. */
bool outside_open(DlcSession *s, Arena *a, const char *path, OutsideFormat *out, Err *err);

#endif
