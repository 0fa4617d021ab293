/*
 * Starts any program as a child. The system ends it together with the thread that started it. So a tuner that is
 * killed leaves no child behind, whatever the program does with its input. libuv has no hook between fork and exec,
 * where this must be asked for.
 */
#ifndef MEASURE_SPAWN_H
#define MEASURE_SPAWN_H

#include "base/err.h"

#include <sys/types.h>

/*
 * argv[0] is looked for in PATH. The child reads `in` as standard input, writes `out` as standard output and `said` as
 * standard error, and leads a session and a group of its own: Ctrl-C at a terminal ends the parent, which ends its
 * children. The descriptors stay open here. The caller waits for *pid. ERR_DEVICE: it cannot be started.
 */
bool spawn_program(char *const *argv, int in, int out, int said, pid_t *pid, Err *err);

#endif
