/* Inside of the room: what the back ends of devices, which start kernels by launches, have in common. */
#ifndef CODEGEN_LAUNCHES_H
#define CODEGEN_LAUNCHES_H

#include "codegen/backend.h"

/* The kernels have different names on a device. */
bool launch_check_names(const BackendJob *job);
/*
 * With shared_bytes of the reports and work_bytes of the entries filled in: threads of the reports, one workspace for
 * all kernels of a Fn. Refuses more shared memory than a block of the target has.
 */
bool launch_end(const BackendJob *job);

#endif
