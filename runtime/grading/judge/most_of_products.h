/// \file
/// How much of what a puzzle lets the learner multiply element by element a right program needs.
///
/// \code
/// SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {  // puzzle.toml: products = ["matmul", "scale_rows"]
///   return {{Product::scale_rows, Flops(2 * rows(check.kase(), rank) * h)}};
/// }
/// \endcode
///
/// Products of matrices are counted by checks of their own. All others are cheap, and so a way around such a count:
/// with enough of them a matrix is multiplied, too, row by row. A bound of a few times what is needed closes it, as a
/// product of (m, k) and (k, n) takes m k n numbers that go through them.
#pragma once

#include <vector>

#include "case/manifest.h"
#include "grading/judge/grader.h"

namespace shardlings::grading::judge {

/// The floating-point operations (docs/reference/clock.md) that all calls of it by one rank may take together.
struct ProductFlops {
  cases::Product product = cases::Product::matmul;
  Flops most;
};

/// Of one rank. The outputs of the run are right when it is asked.
using MostOfProducts = std::vector<ProductFlops> (*)(const CheckContext& check, int rank);

/// Before main(); there is one in a grader.
bool register_most_of_products(MostOfProducts most);
/// nullptr if the grader has none.
MostOfProducts most_of_products();

}  // namespace shardlings::grading::judge

namespace shardlings::grader {
using cases::Product;
using grading::judge::ProductFlops;
}  // namespace shardlings::grader

#define SHARDLINGS_MOST_OF_PRODUCTS(check, rank)                                              \
  static std::vector<::shardlings::grading::judge::ProductFlops> shardlings_most_of_products( \
      const ::shardlings::grading::judge::CheckContext& check, int rank);                     \
  static const bool shardlings_has_most_of_products =                                         \
      ::shardlings::grading::judge::register_most_of_products(shardlings_most_of_products);   \
  static std::vector<::shardlings::grading::judge::ProductFlops> shardlings_most_of_products( \
      [[maybe_unused]] const ::shardlings::grading::judge::CheckContext& check, [[maybe_unused]] int rank)
