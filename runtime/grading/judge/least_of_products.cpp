#include "grading/judge/least_of_products.h"

namespace shardlings::grading::judge {
namespace {

/// Of this grader.
LeastOfProducts& registered_least() {
  static LeastOfProducts least = nullptr;
  return least;
}

}  // namespace

bool register_least_of_products(LeastOfProducts least) {
  registered_least() = least;
  return true;
}

LeastOfProducts least_of_products() {
  return registered_least();
}

}  // namespace shardlings::grading::judge
