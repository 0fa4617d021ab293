/* Two layers of LSTM: Hochreiter and Schmidhuber, "Long Short-Term Memory". The result is that of all steps. */
#include "frontend/zoo/zoo.h"

enum { WIDTH = 512, LAYERS = 2 };

Act zoo_lstm(Net *net, Act x)
{
	const RecurrentLayer layer = { .op = OP_lstm, .units = WIDTH };
	for (int k = 0; k < LAYERS; k++)
		x = net_recurrent(net, net_numbered(net, "lstm", k), x, &layer, NULL);
	return x;
}
