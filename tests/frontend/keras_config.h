/* Configurations of Keras for tests, written as their JSON: a Sequential, or a graph in the words of version 2 or 3. */
#ifndef TESTS_KERAS_CONFIG_H
#define TESTS_KERAS_CONFIG_H

#define MODEL(layers) "{\"class_name\":\"Sequential\",\"config\":{\"name\":\"s\",\"layers\":[" layers "]}}"
#define INPUT_TYPED(name, shape, type) \
	"{\"class_name\":\"InputLayer\",\"name\":\"" name "\",\"inbound_nodes\":[],\"config\":{\"name\":\"" name \
	"\",\"batch_shape\":" shape ",\"dtype\":\"" type "\"}}"
#define INPUT(shape) INPUT_TYPED("x", shape, "float32")
#define NAMED(class, name, settings) ",{\"class_name\":\"" class "\",\"config\":{\"name\":\"" name "\"" settings "}}"
#define LAYER(class, settings) NAMED(class, "y", settings)
#define GRAPH(layers, in, out) \
	"{\"class_name\":\"Functional\",\"config\":{\"name\":\"m\",\"layers\":[" layers "],\"input_layers\":" in \
	",\"output_layers\":" out "}}"
#define MEMBER(class, name, settings, nodes) \
	",{\"class_name\":\"" class "\",\"name\":\"" name "\",\"config\":{\"name\":\"" name \
								"\",\"trainable\":true" settings "},\"inbound_nodes\":" nodes "}"

#endif
