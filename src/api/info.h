/* What dlc info prints: this machine, the targets, the zoo, what was built in, where files are looked for. */
#ifndef API_INFO_H
#define API_INFO_H

#include "api/failure.h"
#include "base/text.h"

/* As text or, with json, as one object on a line; probe: with what a core was measured to do, in half a second. */
bool info_text(Text *out, bool json, bool probe, Err *err);

#endif
