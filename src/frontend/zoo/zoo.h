/* Inside of the folder: the function of each network. It adds the calls behind x and returns the last one. */
#ifndef FRONTEND_ZOO_ZOO_H
#define FRONTEND_ZOO_ZOO_H

#include "frontend/zoo/short.h"

#define NETWORK(name, doc, input, ...) Act zoo_##name(Net *net, Act x);
#include "frontend/zoo/zoo.def"

#endif
