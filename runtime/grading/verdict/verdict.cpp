#include "grading/verdict/verdict.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/file.h"
#include "submission/wire/counters_json.h"
#include "submission/wire/trace_pack.h"

namespace shardlings::grading::verdict {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kTracesMagic = 0x3253454341525453;

Json passed_to_json(const std::optional<bool>& passed) {
  return passed ? Json(*passed) : Json(nullptr);
}

std::optional<bool> passed_from(const Json& json) {
  const Json& passed = json.at("passed");
  return passed.is_null() ? std::nullopt : std::optional<bool>(passed.get<bool>());
}

std::string text_of(const Json& json, const char* key) {
  return json.at(key).get<std::string>();
}

template <class Enum, std::size_t N>
Enum value_of(const Json& json, const char* key, const Words<Enum, N>& words) {
  const std::string word = text_of(json, key);
  const auto value = words.find(word);
  if (!value) throw std::runtime_error(fmt::format("this is no verdict: '{}' cannot be '{}'", key, word));
  return *value;
}

Json bound_to_json(const Bound& bound) {
  return {{"of", kBoundWords.of(bound.of)},
          {"rank", bound.rank},
          {"what", bound.what},
          {"relation", name_of(bound.relation)},
          {"bound", bound.bound},
          {"found", bound.found},
          {"unit", name_of(bound.unit, bound.counted)},
          {"formula", bound.formula},
          {"held", bound.held}};
}

Bound bound_from(const Json& json) {
  Bound bound;
  bound.of = value_of(json, "of", kBoundWords);
  bound.rank = json.at("rank").get<int>();
  bound.what = text_of(json, "what");
  bound.relation = value_of(json, "relation", kRelationWords);
  bound.bound = json.at("bound").get<std::int64_t>();
  bound.found = json.at("found").get<std::int64_t>();
  const std::string unit = text_of(json, "unit");
  bound.unit = unit_named(unit);
  if (bound.unit == Unit::count) bound.counted = unit;
  bound.formula = text_of(json, "formula");
  bound.held = json.at("held").get<bool>();
  return bound;
}

// "cause" is the diagnosis: fields keep their names, since programs of others read them (docs/instructors.md).
Json check_to_json(const CheckVerdict& check) {
  Json bounds = Json::array();
  for (const Bound& bound : check.bounds) bounds.push_back(bound_to_json(bound));
  return {{"id", check.id},
          {"passed", passed_to_json(check.passed)},
          {"expected", check.expected},
          {"found", check.found},
          {"details", check.details},
          {"where", {{"file", check.where.file}, {"line", check.where.line}}},
          {"cause", check.diagnosis},
          {"cause_text", check.diagnosis_text},
          {"blocked_by", check.blocked_by},
          {"reason", check.reason},
          {"distance", check.distance},
          {"bounds", std::move(bounds)}};
}

CheckVerdict check_from(const Json& json, const std::string& case_name) {
  CheckVerdict check;
  check.id = text_of(json, "id");
  check.case_name = case_name;
  check.passed = passed_from(json);
  check.expected = text_of(json, "expected");
  check.found = text_of(json, "found");
  check.details = json.at("details").get<std::vector<std::string>>();
  check.where = {text_of(json.at("where"), "file"), json.at("where").at("line").get<int>()};
  check.diagnosis = text_of(json, "cause");
  check.diagnosis_text = text_of(json, "cause_text");
  check.blocked_by = text_of(json, "blocked_by");
  check.reason = json.value("reason", "");  // as below: runs that were kept before there was one have none
  check.distance = json.at("distance").get<double>();
  for (const Json& bound : json.at("bounds")) check.bounds.push_back(bound_from(bound));
  return check;
}

Json case_to_json(const CaseVerdict& verdict) {
  Json counters = Json::array();
  for (const front::Counters& rank : verdict.counters) counters.push_back(Json(wire::counters_to_json(rank)));
  Json checks = Json::array();
  for (const CheckVerdict& check : verdict.checks) checks.push_back(check_to_json(check));
  return {{"name", verdict.kase.name},
          {"seed", verdict.secret_seed ? Json(nullptr) : Json(verdict.kase.seed)},
          {"ending", name_of(verdict.ending)},
          {"failure", verdict.failure ? name_of(*verdict.failure) : ""},
          {"explanation", verdict.explanation},
          {"stdout", verdict.stdout_text},
          {"shown", shown_to_json(verdict.shown)},
          {"shows_left_out", verdict.shows_left_out},
          {"reproduce", verdict.reproduce},
          {"seconds", verdict.seconds},
          {"checks", std::move(checks)},
          {"counters", std::move(counters)},
          {"case", Json::parse(to_json(verdict.kase))}};
}

CaseVerdict case_from(const Json& json) {
  CaseVerdict verdict;
  verdict.kase = cases::case_from_json(json.at("case").dump());
  verdict.secret_seed = json.at("seed").is_null();
  verdict.ending = value_of(json, "ending", wire::kEndingWords);
  if (!text_of(json, "failure").empty()) verdict.failure = value_of(json, "failure", front::kFailureWords);
  verdict.explanation = text_of(json, "explanation");
  verdict.stdout_text = text_of(json, "stdout");
  verdict.shown = shown_from_json(json.value("shown", Json::array()));  // older runs have none
  verdict.shows_left_out = json.value("shows_left_out", std::int64_t{0});
  verdict.reproduce = text_of(json, "reproduce");
  verdict.seconds = json.at("seconds").get<double>();
  for (const Json& check : json.at("checks")) verdict.checks.push_back(check_from(check, verdict.kase.name));
  for (const Json& rank : json.at("counters"))
    verdict.counters.push_back(wire::counters_from_json(nlohmann::json(rank)));
  return verdict;
}

Json summary_to_json(const CheckSummary& summary) {
  return {{"id", summary.spec.id},
          {"kind", name_of(summary.spec.kind)},
          {"title", summary.spec.title},
          {"after", summary.spec.after},
          {"bonus", summary.spec.bonus},
          {"passed", passed_to_json(summary.passed)},
          {"points", summary.spec.points},
          {"earned", summary.reason.empty() ? Json(summary.earned) : Json(nullptr)},
          {"blocked_by", summary.blocked_by},
          {"reason", summary.reason}};
}

CheckSummary summary_from(const Json& json) {
  CheckSummary summary;
  summary.spec = {
      text_of(json, "id"),          value_of(json, "kind", cases::kCheckKindWords),   text_of(json, "title"),
      json.at("points").get<int>(), json.at("after").get<std::vector<std::string>>(), json.value("bonus", false)};
  summary.passed = passed_from(json);
  summary.earned = json.at("earned").is_null() ? 0 : json.at("earned").get<int>();
  summary.blocked_by = text_of(json, "blocked_by");
  summary.reason = json.value("reason", "");
  return summary;
}

Verdict read(const Json& json) {
  Verdict verdict;
  verdict.puzzle = text_of(json, "puzzle");
  verdict.status = value_of(json, "status", kStatusWords);
  verdict.build_log = text_of(json, "build_log");
  const bool judged = verdict.status != Status::not_judged;  // else both are null
  verdict.passed = judged && json.at("passed").get<bool>();
  verdict.points = judged ? json.at("points").get<int>() : 0;
  verdict.max_points = json.at("max_points").get<int>();
  verdict.diagnoses = json.at("diagnoses").get<std::vector<std::string>>();
  verdict.concealed = json.value("hidden_cases_not_shown", 0);
  verdict.reason = json.value("reason", "");
  verdict.version = text_of(json, "version");
  verdict.backend = json.value("backend", "cpu");  // runs that were kept before there were others have none
  verdict.seconds = json.at("seconds").get<double>();
  verdict.walls = boundary::walls_of(json.value("walls", std::vector<std::string>{}));  // neither have they walls
  for (const Json& check : json.at("checks")) verdict.checks.push_back(summary_from(check));
  for (const Json& kase : json.at("cases")) verdict.cases.push_back(case_from(kase));
  return verdict;
}

}  // namespace

std::string to_json(const Verdict& verdict, int indent) {
  Json checks = Json::array();
  for (const CheckSummary& check : verdict.checks) checks.push_back(summary_to_json(check));
  Json cases = Json::array();
  for (const CaseVerdict& kase : verdict.cases) cases.push_back(case_to_json(kase));
  const bool judged = verdict.status != Status::not_judged;
  const Json json = {{"puzzle", verdict.puzzle},
                     {"status", name_of(verdict.status)},
                     {"passed", judged ? Json(verdict.passed) : Json(nullptr)},
                     {"points", judged ? Json(verdict.points) : Json(nullptr)},
                     {"max_points", verdict.max_points},
                     {"reason", verdict.reason},
                     {"diagnoses", verdict.diagnoses},
                     {"checks", std::move(checks)},
                     {"cases", std::move(cases)},
                     {"hidden_cases_not_shown", verdict.concealed},
                     {"build_log", verdict.build_log},
                     {"version", verdict.version},
                     {"backend", verdict.backend},
                     {"seconds", verdict.seconds},
                     {"tier", verdict.walls.tier()},
                     {"walls", words_of(verdict.walls)}};
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Verdict verdict_from_json(const std::string& text) try {
  return read(Json::parse(text));
} catch (const Json::exception& error) {
  throw std::runtime_error(fmt::format("this is no verdict: {}", error.what()));
}

void write_traces(const Verdict& verdict, const std::string& path) {
  Packer out;
  out.put(kTracesMagic);
  out.put<std::uint64_t>(verdict.cases.size());
  for (const CaseVerdict& kase : verdict.cases) {
    out.text(kase.kase.name);
    out.put<std::uint64_t>(kase.traces.size());
    wire::TracePacker traces(out);
    for (const front::RankTrace& trace : kase.traces) traces.add(trace);
  }
  write_file_atomically(path, out.take(), Outlives::kill);
}

void read_traces(Verdict& verdict, const std::string& path) {
  const std::string bytes = read_whole_file(path);
  Unpacker in(bytes);
  if (in.get<std::uint64_t>() != kTracesMagic) {
    throw std::runtime_error(
        fmt::format("{} comes from another version of shardlings, or is damaged: run the puzzle again", path));
  }
  for (std::size_t n = in.count(2 * sizeof(std::uint64_t)); n > 0; --n) {
    const std::string name = in.text();
    std::vector<front::RankTrace> traces(in.count(sizeof(std::uint64_t)));
    wire::TraceUnpacker packed(in);
    for (front::RankTrace& trace : traces) trace = packed.next();
    for (CaseVerdict& kase : verdict.cases) {
      if (kase.kase.name == name) kase.traces = traces;
    }
  }
}

}  // namespace shardlings::grading::verdict
