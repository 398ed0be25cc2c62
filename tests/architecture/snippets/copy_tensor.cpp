#include "shardlings/puzzle.h"

shardlings::Tensor copied(const shardlings::Tensor& tensor) {
  return tensor;
}
