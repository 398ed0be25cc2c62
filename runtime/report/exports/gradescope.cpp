#include "report/gradescope.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/choice.h"
#include "report/failure_text.h"
#include "report/harmless.h"

namespace shardlings::report {
namespace {

using grading::verdict::CheckSummary;
using grading::verdict::CheckVerdict;
using grading::verdict::Status;
using grading::verdict::Verdict;

std::string clean(std::string_view text) {
  return harmless(text, Charset::unicode);
}

std::string output_of(const Verdict& verdict, const CheckSummary& check) {
  if (!check.passed) return check.blocked_by.empty() ? "not judged" : "waits for: " + check.blocked_by;
  for (const auto& kase : verdict.cases) {
    if (const CheckVerdict* failed = failed_check(kase, check.spec.id)) return failure_text(kase, *failed);
  }
  if (*check.passed) return "";
  return verdict.concealed > 0 ? "It does not hold on a hidden case, of which nothing more is shown." : "not judged";
}

/// Without any score: that is no grade, and Gradescope does not count it as an attempt.
nlohmann::json without_score(const Verdict& verdict) {
  const std::string output = fmt::format(
      "{} could not be judged: {}\nThat is no fault of the submission. Submit it again, or tell the course's staff.",
      verdict.puzzle, verdict.reason);
  return {
      {"execution_time", verdict.seconds},
      {"output", clean(output)},
      {"output_format", "text"},
      {"visibility", "visible"},
      {"stdout_visibility", "hidden"},
      {"extra_data", {{"puzzle", verdict.puzzle}, {"status", name_of(verdict.status)}, {"version", verdict.version}}}};
}

}  // namespace

std::string to_gradescope(const Verdict& verdict) {
  if (verdict.status == Status::not_judged) {
    return without_score(verdict).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  nlohmann::json tests = nlohmann::json::array();
  for (std::size_t i = 0; i < verdict.checks.size(); ++i) {
    const CheckSummary& check = verdict.checks[i];
    tests.push_back({{"name", clean(check.spec.title)},
                     {"number", std::to_string(i + 1)},
                     {"score", check.earned},
                     {"max_score", check.spec.points},
                     {"status", check.passed.value_or(false) ? "passed" : "failed"},
                     {"output", clean(output_of(verdict, check))},
                     {"tags", {name_of(check.spec.kind)}},
                     {"visibility", "visible"},
                     {"extra_data", {{"id", check.spec.id}, {"blocked_by", check.blocked_by}}}});
  }
  std::string output = fmt::format("{}: {} of {} points", verdict.puzzle, verdict.points, verdict.max_points);
  if (verdict.status == Status::did_not_build) output += "\nThe source does not compile:\n" + verdict.build_log;
  if (verdict.status == Status::not_implemented) output += "\nNot implemented yet.";
  if (verdict.status == Status::no_check_ran) output += "\nNo check ran; this is not a pass.";
  const nlohmann::json json = {{"score", verdict.points},
                               {"execution_time", verdict.seconds},
                               {"output", clean(output)},
                               {"output_format", "text"},
                               {"test_output_format", "text"},
                               {"visibility", "visible"},
                               {"stdout_visibility", "hidden"},
                               {"tests", tests},
                               {"extra_data",
                                {{"puzzle", verdict.puzzle},
                                 {"status", name_of(verdict.status)},
                                 {"version", verdict.version},
                                 {"diagnoses", verdict.diagnoses}}}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace shardlings::report
