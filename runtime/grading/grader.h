/// \file
/// What a puzzle's grader.cpp uses. A grader is a GoogleTest program: each check runs once for each case.
///
/// \code
/// #include "grading/grader.h"
/// using namespace shardlings::grading;
///
/// SHARDLINGS_CHECK(output) {
///   const Reference& expected = check.reference();
///   check.equal_layers("weights", expected.weights, check.tolerance());
/// }
/// SHARDLINGS_CHECK(memory) {
///   check.at_most("peak memory", check.peak(0), 3 * w + a, "3 W + A");
/// }
/// \endcode
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grading/case.h"
#include "grading/reference/reference.h"
#include "grading/result.h"
#include "grading/verdict.h"

namespace shardlings::grading {

/// A check at work on one case. The first expectation that does not hold fails it; later ones are not recorded.
class CheckContext {
 public:
  CheckContext(const Case& kase, const Result& result, CheckVerdict& verdict)
      : kase_(kase), result_(result), verdict_(verdict) {}

  const Case& kase() const { return kase_; }
  const Result& result() const { return result_; }
  const front::Counters& counters(int rank) const { return result_.report.ranks[static_cast<std::size_t>(rank)].counters; }
  const front::RankTrace& trace(int rank) const { return result_.report.ranks[static_cast<std::size_t>(rank)].trace; }
  /// The single-device training of the case, in double; computed once per case.
  const Reference& reference() const;

  /// Output `name` equals `expected`, element by element, within tolerance[i]; NaN never does. Shows the first
  /// element that differs, and the ratio where it is constant.
  bool equal(const std::string& name, const std::vector<double>& expected, const std::vector<double>& tolerance);
  /// The same for name.0, name.1, …: the first layer that differs is named, with the matrix inside it.
  bool equal_layers(const std::string& name, const std::vector<std::vector<double>>& expected,
                    const std::vector<std::vector<double>>& tolerance);
  /// Bit by bit, for sums of integers.
  bool identical(const std::string& name, const std::vector<float>& expected);

  /// `what` was found to be at most (exactly) the budget; `formula` and its numbers are shown.
  bool at_most(const std::string& what, std::int64_t found, std::int64_t budget, const std::string& formula,
               const std::string& unit = "bytes", Place where = {});
  bool exactly(const std::string& what, std::int64_t found, std::int64_t budget, const std::string& formula,
               const std::string& unit = "bytes", Place where = {});
  bool fail(const std::string& expected, const std::string& found, Place where = {});
  /// Names the mistake behind a failed expectation: an id of the manifest's diagnoses. The first one counts.
  void diagnose(const std::string& id);
  void detail(const std::string& line);
  bool failed() const { return verdict_.passed.has_value() && !*verdict_.passed; }

  /// Largest peak of all ranks, and which rank; the place of the peak.
  int worst_rank() const;
  Place peak_place(int rank) const;

 private:
  const Case& kase_;
  const Result& result_;
  CheckVerdict& verdict_;
};

using CheckFunction = void (*)(CheckContext&);
bool register_check(const char* id, CheckFunction function);

}  // namespace shardlings::grading

/// Defines the check `id`, which puzzle.toml declares; the body uses `check`.
#define SHARDLINGS_CHECK(id)                                                                          \
  static void shardlings_check_##id(::shardlings::grading::CheckContext& check);                      \
  static const bool shardlings_registered_##id =                                                      \
      ::shardlings::grading::register_check(#id, &shardlings_check_##id);                             \
  static void shardlings_check_##id([[maybe_unused]] ::shardlings::grading::CheckContext& check)
