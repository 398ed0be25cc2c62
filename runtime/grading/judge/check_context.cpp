#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/poison.h"
#include "base/text.h"
#include "grading/judge/compare.h"
#include "grading/judge/diagnosis.h"
#include "grading/judge/grader.h"

namespace shardlings::grading::judge {
namespace {

/// "weights of layer 2" for the output "weights.2", the plain name otherwise.
std::string spoken(const std::string& name, int layer) {
  return layer < 0 ? name : fmt::format("{} of layer {}", name.substr(0, name.rfind('.')), layer);
}

/// " (+25 %)": how far off bytes and times are.
std::string excess(const verdict::Bound& bound) {
  if (bound.bound == 0 || (bound.unit != verdict::Unit::bytes && bound.unit != verdict::Unit::ns)) return "";
  return fmt::format(" ({:+.3g} %)", 100.0 * (static_cast<double>(bound.found) / static_cast<double>(bound.bound) - 1));
}

std::string number_text(double value) {
  if (!std::isnan(value)) return fmt::format("{:.7g}", value);
  switch (origin_of_nan(value)) {
    case NanOrigin::poison: return "NaN (memory that was never written?)";
    case NanOrigin::computed: return "NaN (numbers that have grown beyond all bounds?)";
    default: return "NaN (memory that was never written, or numbers that have grown beyond all bounds?)";
  }
}

/// "row 2, column 5" of an output that is a matrix; "weight (row 3, column 5)" of a layer.
std::string element_in(const cases::Case& kase, const wire::Output& output, int layer, std::size_t index) {
  if (layer >= 0 || output.rows <= 1 || output.cols <= 1) return element_text(kase, layer, index);
  const auto cols = static_cast<std::size_t>(output.cols);
  return fmt::format("row {}, column {}", index / cols, index % cols);
}

/// "3 of 12 elements differ by more than the tolerance, 1.2e-06 for this one".
std::string extent_text(const Difference& difference, std::size_t size) {
  std::string elements = fmt::format("{} of {} elements differ", difference.count, size);
  if (difference.tolerance == 0) return elements;  // where all must be equal
  return elements + fmt::format(" by more than the tolerance, {:.1e} for this one", difference.tolerance);
}

int largest(const std::vector<front::RankReport>& ranks, auto value) {
  const auto best =
      std::max_element(ranks.begin(), ranks.end(), [&](const auto& a, const auto& b) { return value(a) < value(b); });
  return static_cast<int>(best - ranks.begin());
}

}  // namespace

wire::Place place_of(const front::Event& event) {
  return {std::string(base_name(event.at.file)), event.at.line};
}

const wire::Output* CheckContext::output(const std::string& name) const {
  const auto found = result_.outputs.find(name);
  return found == result_.outputs.end() ? nullptr : &found->second;
}

std::vector<double> CheckContext::answers(const std::string& name) const {
  const wire::Output* found = output("answer." + name);
  if (!found || found->values.empty()) return {};
  const std::vector<float>& parts = found->values;  // as Harness::answer() has written them
  const std::size_t n = (parts.size() - 1) / 2;
  std::vector<double> values;
  for (std::size_t i = 1; i <= n; ++i) values.push_back(double{parts[i]} + double{parts[i + n]});
  return values;
}

double CheckContext::answer(const std::string& name) const {
  const std::vector<double> values = answers(name);
  return values.size() == 1 ? values.front() : std::numeric_limits<double>::quiet_NaN();
}

bool CheckContext::within(const std::string& what, double found, double expected, double percent,
                          const std::string& unit, const std::string& formula) {
  stated_ = true;
  if (std::abs(found - expected) <= percent / 100 * std::abs(expected)) return true;
  const std::string behind = unit.empty() ? "" : " " + unit;
  const std::string comes_from = formula.empty() ? "" : " = " + formula;
  const std::string off =
      expected != 0 && std::isfinite(found) ? fmt::format(" ({:+.3g} %)", 100 * (found / expected - 1)) : "";
  return fail(fmt::format("{}: {:.6g}{}{}, but for {:g} %", what, expected, behind, comes_from, percent),
              fmt::format("{:.6g}{}{}", found, behind, off));
}

bool CheckContext::equal(const std::string& name, const std::vector<double>& expected,
                         const std::vector<double>& tolerance) {
  return compare(name, expected, tolerance, -1);
}

bool CheckContext::equal(const std::string& name, const std::vector<double>& expected, double tolerance) {
  return compare(name, expected, std::vector<double>(expected.size(), tolerance), -1);
}

bool CheckContext::equal_scalar(const std::string& name, double expected, double tolerance) {
  return equal(name, std::vector<double>{expected}, tolerance);
}

bool CheckContext::equal_layers(const std::string& name, const std::vector<std::vector<double>>& expected,
                                const std::vector<std::vector<double>>& tolerance) {
  for (std::size_t l = 0; l < expected.size(); ++l) {
    if (compare(fmt::format("{}.{}", name, l), expected[l], tolerance[l], static_cast<int>(l))) continue;
    if (built_in_.empty() && kase_.has_model()) built_in_ = recognise(kase_, reference(), result_, name);
    return false;
  }
  return true;
}

bool CheckContext::identical(const std::string& name, const std::vector<float>& expected) {
  return equal(name, std::vector<double>(expected.begin(), expected.end()), 0.0);
}

bool CheckContext::compare(const std::string& name, const std::vector<double>& expected,
                           const std::vector<double>& tolerance, int layer) {
  if (failed()) return false;
  stated_ = stated_ || !expected.empty();
  if (tolerance.size() != expected.size()) throw std::logic_error("grader.cpp: a tolerance for each expected number");
  const wire::Output* found = output(name);
  const std::string what = spoken(name, layer);
  if (!found) return fail(fmt::format("{}: {} numbers", what, expected.size()), "nothing: the tensor is empty");
  if (!found->replicas.empty()) return replicas_agree(name, *found, expected, tolerance, layer);
  if (!found->conflict.empty())
    return fail(fmt::format("the same {} on all ranks that have them", what), found->conflict);
  if (!found->complete) return fail("all of " + what, "parts of it that no rank holds");
  if (found->values.size() != expected.size()) {
    return fail(fmt::format("{}: {} numbers", what, expected.size()), fmt::format("{} numbers", found->values.size()));
  }
  note_distance(found->values, expected, tolerance);
  const auto difference = first_difference(found->values, expected, tolerance);
  if (!difference) return true;
  if (!std::isfinite(difference->got) && built_in_.empty()) built_in_ = "not_finite";
  nearly_right_ = difference->tolerance > 0 && nearly_right(found->values, expected);
  const std::string element = expected.size() == 1 ? "" : ", " + element_in(kase_, *found, layer, difference->index);
  fail(fmt::format("{}{}: {}", what, element, number_text(difference->expected)), number_text(difference->got));
  if (difference->ratio && std::abs(*difference->ratio - 1) > 1e-3) detail(ratio_text(*difference->ratio));
  if (expected.size() > 1) detail(extent_text(*difference, expected.size()));
  return false;
}

void CheckContext::note_distance(const std::vector<float>& found, const std::vector<double>& expected,
                                 const std::vector<double>& tolerance) {
  verdict_.distance = std::max(verdict_.distance, distance(found, expected, tolerance));
}

/// The ranks ended with different values: says which of them are wrong.
bool CheckContext::replicas_agree(const std::string& name, const wire::Output& output,
                                  const std::vector<double>& expected, const std::vector<double>& tolerance,
                                  int layer) {
  std::vector<int> wrong;
  std::string expected_text, found_text;
  for (std::size_t rank = 0; rank < output.replicas.size(); ++rank) {
    const auto& values = output.replicas[rank];
    if (values.size() != expected.size()) {
      return fail(
          fmt::format("{}: {} numbers on {}", spoken(name, layer), expected.size(), name_of(static_cast<int>(rank))),
          fmt::format("{} numbers", values.size()));
    }
    note_distance(values, expected, tolerance);
    const auto difference = first_difference(values, expected, tolerance);
    if (!difference) continue;
    wrong.push_back(static_cast<int>(rank));
    if (!expected_text.empty()) continue;
    const std::string element = expected.size() == 1 ? "" : ", " + element_in(kase_, output, layer, difference->index);
    expected_text = fmt::format("{}{} on {}: {}", spoken(name, layer), element, name_of(static_cast<int>(rank)),
                                number_text(difference->expected));
    found_text = number_text(difference->got);
    if (!std::isfinite(difference->got) && built_in_.empty()) built_in_ = "not_finite";
  }
  const bool is_close = wrong.empty();  // but not bit by bit, as equal operations on equal numbers would be
  if (is_close) {
    fail(spoken(name, layer) + ": the same bits on all ranks", output.conflict);
  } else {
    fail(expected_text, found_text);
    detail(wrong.size() == output.replicas.size() ? "all ranks are wrong, and they differ"
                                                  : fmt::format("wrong on {}, right on the others", ranks_text(wrong)));
  }
  if (built_in_.empty())
    built_in_ = !is_close && wrong.front() > 0 && wrong.size() + 1 == output.replicas.size() ? "only_rank_0_right"
                                                                                             : "ranks_differ";
  return false;
}

bool CheckContext::record(verdict::Bound bound, wire::Place where) {
  stated_ = true;
  if (!failed()) verdict_.bounds.push_back(bound);
  if (bound.held) return true;
  const std::string relation =
      bound.relation == Relation::exactly ? "" : verdict::kRelationWords.of(bound.relation) + std::string(" ");
  const bool is_formula = !bound.formula.empty() && bound.formula != std::to_string(bound.bound);  // 0 = 0 says nothing
  const std::string formula = is_formula ? " = " + bound.formula : "";
  const auto amount = [&](std::int64_t number) { return verdict::amount_text(number, bound.unit, bound.counted); };
  return fail(fmt::format("{}: {}{}{}", bound.what, relation, amount(bound.bound), formula),
              amount(bound.found) + excess(bound), std::move(where));
}

verdict::Bound CheckContext::bound_of(const std::string& what, Relation relation, Count found,
                                      const Formula<Count>& budget, const std::string& counted, bool held) {
  return {verdict::Bound::Of::other, -1,      what,          relation, budget.value(), found,
          verdict::Unit::count,      counted, budget.text(), held};
}

bool CheckContext::at_most(const std::string& what, Count found, const Formula<Count>& budget,
                           const std::string& counted, wire::Place where) {
  return record(bound_of(what, Relation::at_most, found, budget, counted, found <= budget.value()), std::move(where));
}

bool CheckContext::exactly(const std::string& what, Count found, const Formula<Count>& budget,
                           const std::string& counted, wire::Place where) {
  return record(bound_of(what, Relation::exactly, found, budget, counted, found == budget.value()), std::move(where));
}

bool CheckContext::at_least(const std::string& what, Count found, const Formula<Count>& budget,
                            const std::string& counted, wire::Place where) {
  return record(bound_of(what, Relation::at_least, found, budget, counted, found >= budget.value()), std::move(where));
}

bool CheckContext::peaks_at_most(const Formula<Bytes>& budget) {
  return judge_peak(worst_rank(), -1, budget);
}

bool CheckContext::peak_at_most(int rank, const Formula<Bytes>& budget) {
  return judge_peak(rank, rank, budget);
}

/// `line_of` is whose timeline gets a line: -1 for everybody's.
bool CheckContext::judge_peak(int rank, int line_of, const Formula<Bytes>& budget) {
  const Bytes found = counters(rank).peak;
  verdict::Bound bound = bound_of(peak_name(rank), Relation::at_most, found, budget, found <= budget.value());
  bound.of = verdict::Bound::Of::peak;
  bound.rank = line_of;
  return record(std::move(bound), peak_place(rank));
}

std::string CheckContext::peak_name(int rank) const {
  return ranks() == 1 ? "peak memory" : "peak memory of " + name_of(rank);
}

bool CheckContext::fail(const std::string& expected, const std::string& found, wire::Place where) {
  stated_ = true;
  if (failed()) return false;
  verdict_.passed = false;
  verdict_.expected = expected;
  verdict_.found = found;
  verdict_.where = std::move(where);
  return false;
}

void CheckContext::diagnose(const std::string& id) {
  if (verdict_.diagnosis.empty()) verdict_.diagnosis = id;
}

void CheckContext::detail(const std::string& line) {
  verdict_.details.push_back(line);
}

void CheckContext::wait_for(const std::string& check) {
  verdict::CheckVerdict waiting;
  waiting.id = verdict_.id;
  waiting.case_name = verdict_.case_name;
  waiting.blocked_by = check;
  verdict_ = waiting;
}

void CheckContext::finish() {
  if (!verdict_.blocked_by.empty()) return;
  if (!stated_) {
    fail("numbers, bytes or times that this check can look at",
         "none of them: nothing that this check looks for happened in this run");
  }
  if (!verdict_.passed) verdict_.passed = true;
  if (failed() && verdict_.diagnosis.empty()) verdict_.diagnosis = built_in_;
  if (failed() && verdict_.diagnosis.empty() && nearly_right_) verdict_.diagnosis = "nearly_right";
  if (!failed()) verdict_.diagnosis.clear();
}

int CheckContext::worst_rank() const {
  return largest(result_.report.ranks, [](const front::RankReport& rank) { return rank.counters.peak; });
}

int CheckContext::slowest_rank() const {
  return largest(result_.report.ranks, [](const front::RankReport& rank) { return rank.counters.end; });
}

wire::Place CheckContext::peak_place(int rank) const {
  return {counters(rank).peak_file, counters(rank).peak_line};
}

std::string CheckContext::name_of(int rank) const {
  return fmt::format("rank {}", rank);
}

std::vector<front::Event> CheckContext::events(int rank, front::EventKind kind) const {
  std::vector<front::Event> events;
  for (const front::Event& event : trace(rank).events) {
    if (event.kind == kind && event.depth == 0) events.push_back(event);
  }
  return events;
}

wire::Place CheckContext::place_of_first(int rank, front::EventKind kind) const {
  const auto all = events(rank, kind);
  return all.empty() ? wire::Place{} : place_of(all.front());
}

wire::Place CheckContext::place_of_last(int rank, front::EventKind kind) const {
  const auto all = events(rank, kind);
  return all.empty() ? wire::Place{} : place_of(all.back());
}

}  // namespace shardlings::grading::judge
