/// \file
/// What a puzzle's grader.cpp uses. A grader is a GoogleTest program: each check runs once for each case.
///
/// \code
/// #include "grading/judge/grader.h"
/// using namespace shardlings::grader;
///
/// SHARDLINGS_CHECK(output) {
///   const Reference& expected = check.reference();
///   check.equal_layers("weights", expected.weights, expected.weights_tolerance);
///   check.equal_scalar("loss", expected.loss, expected.loss_tolerance);
/// }
/// SHARDLINGS_CHECK(memory) {
///   const Formula<Bytes> w = named("W", weights), a = named("A", activations);
///   check.peaks_at_most(3 * w + a);  // a learner reads: at most 12.5 KiB = 3 W + A = 3 x 4096 + 512
/// }
/// \endcode
///
/// Only runs that came to their end reach a check: crashes, misuse and the like are reported for the first check of
/// kind `output`. Where outputs named "weights" or "grads" differ and the check does not diagnose it by itself, they
/// are compared with the known mistakes of diagnosis.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "case/case.h"
#include "case/manifest.h"
#include "grading/judge/formula.h"
#include "grading/judge/suspects.h"
#include "grading/reference/reference.h"
#include "grading/verdict/verdict.h"
#include "submission/wire/result.h"

namespace shardlings::grading::judge {

inline constexpr std::int64_t kBytesOfF32 = 4;

/// What has a unit, and not a plain count.
template <class Amount>
concept Measured = !std::is_same_v<Amount, Count>;

/// A check at work on one case. The first expectation that does not hold fails it; later ones are not recorded.
/// Every expectation returns whether it held. A check that has stated none fails, too: what it looks for is not there,
/// and a submission must not get points by hiding it.
class CheckContext {
 public:
  /// `reference` computes (once) the case's reference.
  CheckContext(const cases::Case& kase, const wire::Result& result,
               std::function<const reference::Reference&()> reference, verdict::CheckVerdict& verdict)
      : kase_(kase), result_(result), reference_(std::move(reference)), verdict_(verdict) {}
  /// After the check: it fails if it has stated no expectation, and the built-in diagnosis counts if it has named no
  /// other. To be called once.
  void finish();

  const cases::Case& kase() const { return kase_; }
  int ranks() const { return kase_.ranks; }
  const wire::Result& result() const { return result_; }
  const front::Counters& counters(int rank) const { return report_of(rank).counters; }
  const front::RankTrace& trace(int rank) const { return report_of(rank).trace; }
  /// The single-device training of the case, in double; computed once per case.
  const reference::Reference& reference() const { return reference_(); }
  /// What the ranks published under this name; nullptr if nothing was.
  const wire::Output* output(const std::string& name) const;

  /// Output `name` equals `expected`, element by element, within tolerance[i]; NaN never does. Shows the first
  /// element that differs, and the ratio where it is constant.
  bool equal(const std::string& name, const std::vector<double>& expected, const std::vector<double>& tolerance);
  /// The same with one tolerance for all elements.
  bool equal(const std::string& name, const std::vector<double>& expected, double tolerance);
  bool equal_scalar(const std::string& name, double expected, double tolerance);
  /// The same for name.0, name.1, …: the first layer that differs is named, with the matrix inside it.
  bool equal_layers(const std::string& name, const std::vector<std::vector<double>>& expected,
                    const std::vector<std::vector<double>>& tolerance);
  /// Equal as numbers, without any tolerance, for sums of integers.
  bool identical(const std::string& name, const std::vector<float>& expected);

  /// \name Answers to a question
  /// @{
  /// What the harness published by answer(): all of its numbers, or the only one; none, or NaN, where nothing was.
  std::vector<double> answers(const std::string& name) const;
  double answer(const std::string& name) const;
  /// `what` was found to be `expected`, but for so many percent of that. `unit` stands behind the numbers ("GPUs",
  /// "%"), and `formula` says where the expected one comes from.
  bool within(const std::string& what, double found, double expected, double percent, const std::string& unit = {},
              const std::string& formula = {});
  /// @}

  /// \name Budgets
  /// `what` was found to be at most (exactly, at least) the budget; its formula is shown. Bytes and times are printed
  /// readably; of a plain count `counted` says what it counts, in the plural: "calls".
  /// @{
  template <Measured Amount>
  bool at_most(const std::string& what, std::type_identity_t<Amount> found, const Formula<Amount>& budget,
               wire::Place where = {}) {
    return record(bound_of(what, Relation::at_most, found, budget, found <= budget.value()), std::move(where));
  }
  template <Measured Amount>
  bool exactly(const std::string& what, std::type_identity_t<Amount> found, const Formula<Amount>& budget,
               wire::Place where = {}) {
    return record(bound_of(what, Relation::exactly, found, budget, found == budget.value()), std::move(where));
  }
  template <Measured Amount>
  bool at_least(const std::string& what, std::type_identity_t<Amount> found, const Formula<Amount>& budget,
                wire::Place where = {}) {
    return record(bound_of(what, Relation::at_least, found, budget, found >= budget.value()), std::move(where));
  }
  bool at_most(const std::string& what, Count found, const Formula<Count>& budget, const std::string& counted,
               wire::Place where = {});
  bool exactly(const std::string& what, Count found, const Formula<Count>& budget, const std::string& counted,
               wire::Place where = {});
  bool at_least(const std::string& what, Count found, const Formula<Count>& budget, const std::string& counted,
                wire::Place where = {});
  /// @}
  /// No rank's peak of device memory is higher than the budget; shows the highest. Draws the budget's line into
  /// timelines, as the next one does for one rank alone.
  bool peaks_at_most(const Formula<Bytes>& budget);
  bool peak_at_most(int rank, const Formula<Bytes>& budget);
  bool fail(const std::string& expected, const std::string& found, wire::Place where = {});
  /// Names the mistake behind a failed expectation: an id of the manifest's diagnoses. The first one counts.
  void diagnose(const std::string& id);
  /// Where mistakes come to the same on this case: all that would have led to what was found. All failed cases decide
  /// together (suspects.h), and what they agree on counts more than diagnose().
  void suspect(std::vector<Suspect> suspects) { suspects_ = std::move(suspects); }
  /// Nothing if the check has not looked for any.
  const std::optional<std::vector<Suspect>>& suspects() const { return suspects_; }
  /// What this check looks for cannot be told as long as that one fails: it waits for it, whatever it has found.
  void wait_for(const std::string& check);
  /// One more line of explanation under the failed expectation.
  void detail(const std::string& line);
  /// The numbers that failed are right to two or three digits: no mistake that changes their size is the cause.
  bool is_nearly_right() const { return nearly_right_; }
  bool failed() const { return verdict_.passed.has_value() && !*verdict_.passed; }

  Bytes peak(int rank) const { return counters(rank).peak; }
  Nanos end_time(int rank) const { return counters(rank).end; }
  /// The rank with the largest peak (the latest end), the first of them.
  int worst_rank() const;
  int slowest_rank() const;
  wire::Place peak_place(int rank) const;
  std::string name_of(int rank) const;
  /// Events of a rank, of one kind and outside of calls of the model, in program order.
  std::vector<front::Event> events(int rank, front::EventKind kind) const;
  /// The source line of the first (last) of them; nowhere if there is none.
  wire::Place place_of_first(int rank, front::EventKind kind) const;
  wire::Place place_of_last(int rank, front::EventKind kind) const;

 private:
  const front::RankReport& report_of(int rank) const { return result_.report.ranks.at(static_cast<std::size_t>(rank)); }
  using Relation = verdict::Bound::Relation;
  template <Measured Amount>
  static verdict::Bound bound_of(const std::string& what, Relation relation, Amount found,
                                 const Formula<Amount>& budget, bool held) {
    const std::int64_t bound = budget.value().value();
    return {
        verdict::Bound::Of::other, -1, what, relation, bound, found.value(), unit_of(found), "", budget.text(), held};
  }
  static verdict::Bound bound_of(const std::string& what, Relation relation, Count found, const Formula<Count>& budget,
                                 const std::string& counted, bool held);
  bool record(verdict::Bound bound, wire::Place where);
  bool judge_peak(int rank, int line_of, const Formula<Bytes>& budget);
  std::string peak_name(int rank) const;
  bool compare(const std::string& name, const std::vector<double>& expected, const std::vector<double>& tolerance,
               int layer);
  bool replicas_agree(const std::string& name, const wire::Output& output, const std::vector<double>& expected,
                      const std::vector<double>& tolerance, int layer);

  void note_distance(const std::vector<float>& found, const std::vector<double>& expected,
                     const std::vector<double>& tolerance);

  const cases::Case& kase_;
  const wire::Result& result_;
  std::function<const reference::Reference&()> reference_;
  verdict::CheckVerdict& verdict_;
  std::optional<std::vector<Suspect>> suspects_;
  bool stated_ = false;        ///< an expectation, held or not
  std::string built_in_;       ///< the known mistake that the first difference looks like
  bool nearly_right_ = false;  ///< the numbers that failed are right to two or three digits
};

/// The source line of an event.
wire::Place place_of(const front::Event& event);

using CheckFunction = void (*)(CheckContext&);
bool register_check(const char* id, CheckFunction function);
using AheadFunction = void (*)(const cases::Case&);
bool register_ahead(AheadFunction function);

}  // namespace shardlings::grading::judge

namespace shardlings::grading::formulas {}

/// What a grader may say without naming the room that it comes from: the case, what came back, the reference, the
/// formulas, the judgement.
namespace shardlings::grader {
namespace reference = grading::reference;  // its parts keep their prefix: make_linear alone says too little
using namespace cases;
using namespace wire;
using namespace grading::reference;
using namespace grading::formulas;
using namespace grading::verdict;
using namespace grading::judge;
}  // namespace shardlings::grader

/// Defines the check `id`, which puzzle.toml declares; the body uses `check`.
#define SHARDLINGS_CHECK(id)                                                            \
  static void shardlings_check_##id(::shardlings::grading::judge::CheckContext& check); \
  [[maybe_unused]] static const bool shardlings_registered_##id =                       \
      ::shardlings::grading::judge::register_check(#id, &shardlings_check_##id);        \
  static void shardlings_check_##id([[maybe_unused]] ::shardlings::grading::judge::CheckContext& check)

/// For a puzzle with a reference of its own: computes and keeps what its checks need of `kase` whatever is submitted.
/// It is called in the background while the submission is built, in the place of CheckContext::reference(). A check
/// must not rely on that, and computes what is not there yet; `kase` is the same object as its check.kase().
#define SHARDLINGS_AHEAD()                                             \
  static void shardlings_ahead(const ::shardlings::cases::Case& kase); \
  [[maybe_unused]] static const bool shardlings_registered_ahead =     \
      ::shardlings::grading::judge::register_ahead(&shardlings_ahead); \
  static void shardlings_ahead([[maybe_unused]] const ::shardlings::cases::Case& kase)
