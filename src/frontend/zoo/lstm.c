/* Two layers of LSTM: Hochreiter and Schmidhuber, "Long Short-Term Memory". The result is that of all steps. */
#include "frontend/zoo/zoo.h"

#include <math.h>

enum { WIDTH = 512, LAYERS = 2 };

Act zoo_lstm(Net *net, Act x)
{
	for (int k = 0; k < LAYERS; k++) {
		const char *name = net_numbered(net, "lstm", k);
		Act gates = net_dense(net, net_sub(net, name, "input"), x, 4 * WIDTH, 1);
		Shape s = { 3, { WIDTH, 4, WIDTH } };
		int in[] = { gates.value, net_tensor(net, net_sub(net, name, "recurrent"), s, 0, sqrt(1.0 / WIDTH)) };
		x = net_call(net, name, OP_lstm, in, 2, NULL, 0, 0.1);
	}
	return x;
}
