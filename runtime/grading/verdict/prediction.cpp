#include "grading/verdict/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace shardlings::grading::verdict {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFewest = 2, kMost = 4;

Bytes sent_out(const front::Counters& counters) {
  Bytes bytes;
  for (const auto& [key, traffic] : counters.traffic) {
    if (key.link == front::Link::inter_node) bytes += traffic.sent;
  }
  return bytes;
}

std::int64_t counter_of(Question::Of of, const front::Counters& counters) {
  switch (of) {
    case Question::Of::peak: return counters.peak.value();
    case Question::Of::sent: return counters.bytes_sent().value();
    case Question::Of::sent_out: return sent_out(counters).value();
    case Question::Of::end: return counters.end.value();
    case Question::Of::forwards: return counters.layer_forwards;
    case Question::Of::saved: return counters.saved_peak;
    case Question::Of::host_peak: return counters.host.peak.value();
    case Question::Of::to_host:
      return counters.copies[static_cast<std::size_t>(front::HostLink::to_host)].bytes.value();
    case Question::Of::none: break;
  }
  return 0;
}

double distance(double answer, std::int64_t value) {
  return std::abs(answer - static_cast<double>(value)) / std::abs(static_cast<double>(value));
}

/// Nothing but the number itself is right.
bool is_exact(std::int64_t value, Unit unit, Written written) {
  if (value == 0) return true;
  if (unit == Unit::count) return std::abs(value) < kCountedExactlyBelow;
  return unit == Unit::bytes && written == Written::in_full && std::abs(value) < kBytesExactlyBelow;
}

bool is_beyond(const Question& question, std::int64_t mistaken) {
  if (is_exact(question.value, question.unit, Written::in_full)) return mistaken != question.value;
  return distance(static_cast<double>(mistaken), question.value) > kMistakenBeyond;
}

std::string amount_in(const Question& question, std::int64_t value) {
  return amount_text(value, question.unit, question.counted);
}

std::string name_in_messages(const Question& question) {
  return fmt::format("the prediction {}", question.id);
}

void check_counter(const Question& question, const CaseVerdict& run, std::vector<std::string>& problems) {
  const std::string name = name_in_messages(question);
  if (question.of == Question::Of::none) return;
  const auto found = measured(question, run);
  if (!found) {
    problems.push_back(fmt::format("{}: the solution's run of \"{}\" has no counters", name, run.kase.name));
  } else if (!is_within(static_cast<double>(*found), question.value, question.unit)) {
    problems.push_back(fmt::format("{} says {}, and the solution's run has {}", name,
                                   amount_in(question, question.value), amount_in(question, *found)));
  }
}

void check_mistakes(const Question& question, std::vector<std::string>& problems) {
  const std::string name = name_in_messages(question);
  if (question.mistakes.empty()) problems.push_back(name + " knows no mistake");
  for (const Misconception& mistake : question.mistakes) {
    if (misconception_of(question, static_cast<double>(mistake.value)) == &mistake) continue;
    problems.push_back(fmt::format("{}: two mistakes give {}", name, amount_in(question, mistake.value)));
  }
  for (const Misconception& mistake : question.mistakes) {
    if (is_beyond(question, mistake.value)) continue;
    problems.push_back(fmt::format("{}: a mistake gives {}, too near to the right {}", name,
                                   amount_in(question, mistake.value), amount_in(question, question.value)));
  }
}

void check_ids(const Predictions& predictions, std::vector<std::string>& problems) {
  std::set<std::string> ids;
  for (const Question& question : predictions.questions) {
    if (!ids.insert(question.id).second) problems.push_back(fmt::format("two predictions are called {}", question.id));
  }
}

Json to_json(const Question& question) {
  Json mistakes = Json::array();
  for (const Misconception& mistake : question.mistakes) {
    mistakes.push_back({{"value", mistake.value}, {"formula", mistake.formula}, {"reason", mistake.reason}});
  }
  return {{"id", question.id},       {"text", question.text},       {"unit", name_of(question.unit, question.counted)},
          {"value", question.value}, {"formula", question.formula}, {"of", kMeasuredWords.of(question.of)},
          {"rank", question.rank},   {"answer", question.answer},   {"mistakes", mistakes}};
}

Question question_from(const Json& json) {
  Question question;
  question.id = json.at("id").get<std::string>();
  question.text = json.at("text").get<std::string>();
  const std::string unit = json.at("unit").get<std::string>();
  question.unit = unit_named(unit);
  if (question.unit == Unit::count) question.counted = unit;
  question.value = json.at("value").get<std::int64_t>();
  question.formula = json.at("formula").get<std::string>();
  question.of = kMeasuredWords.find(json.at("of").get<std::string>()).value_or(Question::Of::none);
  question.rank = json.at("rank").get<int>();
  question.answer = json.at("answer").get<int>();
  for (const Json& mistake : json.at("mistakes")) {
    question.mistakes.push_back({mistake.at("value").get<std::int64_t>(), mistake.at("formula").get<std::string>(),
                                 mistake.at("reason").get<std::string>()});
  }
  return question;
}

}  // namespace

bool is_within(double answer, std::int64_t value, Unit unit, Written written) {
  if (!is_exact(value, unit, written)) return distance(answer, value) <= kPredictedWithin;
  const double off = std::abs(answer - static_cast<double>(value));
  return unit == Unit::bytes ? off < 1 : off == 0;  // "1333.3" bytes are 1333
}

const Misconception* misconception_of(const Question& question, double answer, Written written) {
  const Misconception* nearest = nullptr;
  const auto off = [&](std::int64_t value) { return std::abs(answer - static_cast<double>(value)); };
  const bool is_near_truth = is_within(answer, question.value, question.unit, Written::rounded);
  for (const Misconception& mistake : question.mistakes) {
    if (!is_within(answer, mistake.value, question.unit, is_near_truth ? written : Written::rounded)) continue;
    if (is_near_truth && off(question.value) <= off(mistake.value)) continue;
    if (nearest == nullptr || off(mistake.value) < off(nearest->value)) nearest = &mistake;
  }
  return nearest;
}

bool is_right(const Question& question, double answer, Written written) {
  return is_within(answer, question.value, question.unit, written) &&
         misconception_of(question, answer, written) == nullptr;
}

std::optional<std::int64_t> measured(const Question& question, const CaseVerdict& run) {
  if (question.of == Question::Of::none || run.counters.empty()) return std::nullopt;
  if (question.rank >= static_cast<int>(run.counters.size())) return std::nullopt;
  if (question.rank >= 0) return counter_of(question.of, run.counters[static_cast<std::size_t>(question.rank)]);
  std::int64_t largest = 0;
  for (const front::Counters& counters : run.counters) largest = std::max(largest, counter_of(question.of, counters));
  return largest;
}

std::vector<std::string> problems_of(const Predictions& predictions, const Verdict& solution) {
  std::vector<std::string> problems;
  const std::size_t asked = predictions.questions.size();
  if (asked < kFewest || asked > kMost) {
    problems.push_back(fmt::format("{} numbers are asked for by predict; {} to {} should be", asked, kFewest, kMost));
  }
  const auto run = std::find_if(solution.cases.begin(), solution.cases.end(),
                                [&](const CaseVerdict& kase) { return kase.kase.name == predictions.case_name; });
  if (asked > 0 && run == solution.cases.end()) {
    problems.push_back(fmt::format("the predictions' case \"{}\" did not run", predictions.case_name));
  }
  check_ids(predictions, problems);
  for (const Question& question : predictions.questions) {
    if (run == solution.cases.end()) continue;
    check_counter(question, *run, problems);
    check_mistakes(question, problems);
  }
  return problems;
}

std::vector<std::string> problems_of_after(const Predictions& predictions) {
  std::vector<std::string> problems;
  if (predictions.questions.empty())
    problems.emplace_back("nothing is asked after the pass: one number at least should");
  check_ids(predictions, problems);
  for (const Question& question : predictions.questions) {
    if (question.of != Question::Of::none) {
      problems.push_back(name_in_messages(question) + " is asked after the pass, and names a counter of the run");
    }
    check_mistakes(question, problems);
  }
  return problems;
}

std::string to_json(const Predictions& predictions) {
  Json questions = Json::array();
  for (const Question& question : predictions.questions) questions.push_back(to_json(question));
  const Json json = {{"puzzle", predictions.puzzle}, {"case", predictions.case_name}, {"questions", questions}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Predictions predictions_from_json(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    Predictions predictions{json.at("puzzle").get<std::string>(), json.at("case").get<std::string>(), {}};
    for (const Json& question : json.at("questions")) predictions.questions.push_back(question_from(question));
    return predictions;
  } catch (const Json::exception& error) {
    throw std::runtime_error(fmt::format("these are no predictions: {}", error.what()));
  }
}

}  // namespace shardlings::grading::verdict
