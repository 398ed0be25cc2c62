/// \file
/// How much the products take that a puzzle's results are made of.
///
/// \code
/// SHARDLINGS_LEAST_OF_PRODUCTS(check) {
///   return named("6 products", 6) * named("s b", tokens) * named("h f", weights) * Formula<Flops>(Flops(2));
/// }
/// \endcode
///
/// Bounds of the other operations let a small part of a product be put together from them, one row of it or one number:
/// what right variants need is room for that. Then the calls that multiply matrices have computed less than the results
/// take, however it was done. A grader that says nothing of it demands nothing.
#pragma once

#include "grading/judge/grader.h"

namespace shardlings::grading::judge {

/// Of products of matrices (is_of_matrices() of case/manifest.h) on all ranks together, without anything that a right
/// program may leave out. The outputs of the run are right when it is asked.
using LeastOfProducts = Formula<Flops> (*)(const CheckContext& check);

/// Before main(); there is one in a grader at most.
bool register_least_of_products(LeastOfProducts least);
/// nullptr if the grader has none.
LeastOfProducts least_of_products();

}  // namespace shardlings::grading::judge

#define SHARDLINGS_LEAST_OF_PRODUCTS(check)                                                       \
  static ::shardlings::grading::judge::Formula<::shardlings::Flops> shardlings_least_of_products( \
      const ::shardlings::grading::judge::CheckContext& check);                                   \
  static const bool shardlings_has_least_of_products =                                            \
      ::shardlings::grading::judge::register_least_of_products(shardlings_least_of_products);     \
  static ::shardlings::grading::judge::Formula<::shardlings::Flops> shardlings_least_of_products( \
      [[maybe_unused]] const ::shardlings::grading::judge::CheckContext& check)
