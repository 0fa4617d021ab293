/* Networks of products alone. */
#include "frontend/zoo/zoo.h"

/* Two hidden layers over the 784 pixels of a digit. */
Act zoo_mlp(Net *net, Act x)
{
	x = zoo_relu(net, "relu1", zoo_dense(net, "fc1", x, 512, 2));
	x = zoo_relu(net, "relu2", zoo_dense(net, "fc2", x, 256, 2));
	return zoo_dense(net, "fc3", x, 10, 1);
}
