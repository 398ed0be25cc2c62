/// \file
/// How a grader states what `predict` asks: numbers of one case, from the formulas that judge it. Before any code is
/// written:
///
/// \code
/// SHARDLINGS_PREDICTIONS("4 ranks") {
///   const Formula<Bytes> w = named("W", weights);
///   const Formula<Count> n = named("N", predict.kase().ranks);
///   predict.sent("sent", 0, "How many bytes does rank 0 send in the step?", 2 * (n - 1) / n * w)
///       .unlike(2 * w, "A rank does not send what it has itself: of N parts N-1 travel.");
/// }
/// \endcode
/// `./shardlings verify` compares each number with the solution's run of that case. The text of a question names no
/// result; a mistake's sentence says what was overlooked, and is shown where somebody answers with its number.
///
/// After the pass, numbers that the lesson's "Questions and answers" ask for, of that case or of what becomes of it:
///
/// \code
/// SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
///   Case many = predict.kase();
///   many.ranks = 64;
///   predict.answer(2).number("time", "When would the step of 64 ranks end?", time_budget(many))
///       .unlike(time_budget(predict.kase()), "Each rank more is two latencies more.");
/// }
/// \endcode
/// `verify` looks for each of these numbers in that answer of after.md.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "case/case.h"
#include "case/manifest.h"
#include "grading/judge/formula.h"
#include "grading/verdict/prediction.h"

namespace shardlings::grading::judge {

/// A question that was just asked, for what it can be mistaken with.
template <class Amount>
class Asked {
 public:
  Asked(verdict::Predictions& predictions, std::size_t index) : predictions_(predictions), index_(index) {}
  /// What somebody would answer who makes this mistake, and what is wrong with it.
  Asked& unlike(const Formula<Amount>& mistaken, const std::string& reason) {
    const std::int64_t value = Formula<Amount>(mistaken).expression().value();
    predictions_.questions[index_].mistakes.push_back({value, mistaken.text(), reason});
    return *this;
  }

 private:
  verdict::Predictions& predictions_;
  std::size_t index_;
};

/// Collects the questions of a case. `id` is the word under which an answer is given: predict 09 sent=5.7KB. A rank of
/// -1 stands for the largest number of all ranks.
class PredictionContext {
 public:
  using Of = verdict::Question::Of;
  PredictionContext(const cases::Case& kase, verdict::Predictions& predictions)
      : kase_(kase), predictions_(predictions) {}
  const cases::Case& kase() const { return kase_; }
  /// After the pass: of the questions that follow this answer of the lesson's "Questions and answers" tells more.
  PredictionContext& answer(int number) {
    answer_ = number;
    return *this;
  }

  Asked<Bytes> peak(const std::string& id, int rank, const std::string& text, const Formula<Bytes>& value) {
    return ask(id, text, value, Of::peak, rank);
  }
  Asked<Bytes> sent(const std::string& id, int rank, const std::string& text, const Formula<Bytes>& value) {
    return ask(id, text, value, Of::sent, rank);
  }
  /// When the last rank ends.
  Asked<Nanos> end(const std::string& id, const std::string& text, const Formula<Nanos>& value) {
    return ask(id, text, value, Of::end, -1);
  }
  /// Of a counter of these, or of none.
  template <class Amount>
  Asked<Amount> number(const std::string& id, const std::string& text, const Formula<Amount>& value, Of of = Of::none,
                       int rank = -1) {
    static_assert(!std::is_same_v<Amount, Count>, "say what is counted");
    return ask(id, text, value, of, rank);
  }
  /// `counted`, in the plural: "calls". Counts below a thousand are predicted exactly.
  Asked<Count> count(const std::string& id, const std::string& text, const Formula<Count>& value,
                     const std::string& counted, Of of = Of::none, int rank = -1) {
    return ask(id, text, value, of, rank, counted);
  }

 private:
  template <class Amount>
  Asked<Amount> ask(const std::string& id, const std::string& text, const Formula<Amount>& value, Of of, int rank,
                    const std::string& counted = "") {
    verdict::Question question;
    question.id = id;
    question.text = text;
    question.unit = unit_of(Amount{});
    question.counted = counted;
    question.value = value.expression().value();
    question.formula = value.text();
    question.of = of;
    question.rank = rank;
    question.answer = answer_;
    predictions_.questions.push_back(std::move(question));
    return Asked<Amount>(predictions_, predictions_.questions.size() - 1);
  }

  const cases::Case& kase_;
  verdict::Predictions& predictions_;
  int answer_ = 0;
};

using PredictionFunction = void (*)(PredictionContext&);
/// For the macros; a grader has one of each.
bool register_predictions(verdict::When when, const char* case_name, PredictionFunction function);

/// What this grader asks then; no questions if it asks nothing. Throws std::runtime_error if the puzzle has no such
/// case, or hides it.
verdict::Predictions predictions_of(const cases::Manifest& manifest, verdict::When when);

}  // namespace shardlings::grading::judge

/// Defines what is asked of the case of that name; the body uses `predict`.
#define SHARDLINGS_PREDICTIONS(case_name) SHARDLINGS_PREDICTIONS_WHEN(before, case_name)
#define SHARDLINGS_PREDICTIONS_AFTER(case_name) SHARDLINGS_PREDICTIONS_WHEN(after, case_name)

#define SHARDLINGS_PREDICTIONS_WHEN(when, case_name)                                                            \
  static void shardlings_predictions_##when(::shardlings::grading::judge::PredictionContext& predict);          \
  [[maybe_unused]] static const bool shardlings_registered_predictions_##when =                                 \
      ::shardlings::grading::judge::register_predictions(::shardlings::grading::verdict::When::when, case_name, \
                                                         &shardlings_predictions_##when);                       \
  static void shardlings_predictions_##when([[maybe_unused]] ::shardlings::grading::judge::PredictionContext& predict)
