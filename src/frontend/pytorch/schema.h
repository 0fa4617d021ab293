/* Words of torch.export's schema, which is JSON: values with a kind, types, sizes, operators. */
#ifndef FRONTEND_PYTORCH_SCHEMA_H
#define FRONTEND_PYTORCH_SCHEMA_H

#include "base/json.h"
#include "frontend/pytorch/value.h"

const Json *schema_find(const Json *j, const char *key); /* NULL: there is none */
const char *schema_text(const Json *j, const char *key); /* the same of a text */
/* The one pair of an object that is not null: {"as_int": 3}. */
const Json *schema_variant(const Json *j);
/* ScalarType of the schema, which counts from 1: 0 is unknown. */
bool schema_type(int64_t code, DType *out);
/* A number of {"as_int": 3}, or of an older file's 3. */
bool schema_size(const Json *j, int64_t *out);
/* "torch.ops.aten.add.Tensor" -> "add.Tensor"; of other libraries "torchvision::nms". */
const char *schema_operator(Arena *a, const char *target);

#endif
