#include "report/exports/for_student.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "report/choice.h"
#include "report/exports/failure_text.h"
#include "report/harmless.h"

namespace shardlings::report {
namespace {

using grading::verdict::CheckSummary;
using grading::verdict::CheckVerdict;
using grading::verdict::Status;
using grading::verdict::Verdict;

std::string raw_check_text(const Verdict& verdict, const CheckSummary& check) {
  if (!check.passed) return check.blocked_by.empty() ? "not judged" : "waits for: " + check.blocked_by;
  for (const auto& kase : verdict.cases) {
    if (const CheckVerdict* failed = failed_check(kase, check.spec.id)) return failure_text(kase, *failed);
  }
  if (*check.passed) return "";
  return verdict.concealed > 0 ? "It does not hold on a hidden case, of which nothing more is shown." : "not judged";
}

}  // namespace

std::string check_text(const Verdict& verdict, const CheckSummary& check) {
  return harmless(raw_check_text(verdict, check), Charset::unicode);
}

bool is_open_bonus(const CheckSummary& check) {
  return check.spec.bonus && !check.passed.value_or(false);
}

std::string first_of_build(const Verdict& verdict) {
  if (verdict.status != Status::did_not_build) return "";
  const std::vector<std::string> lines = lines_of(verdict.build_log);
  const auto first =
      std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.find("error: ") != line.npos; });
  const std::string said = first != lines.end() ? *first : lines.empty() ? "" : lines.front();
  return harmless_line("The source does not compile: " + said, Charset::unicode);
}

double share_of_points(const Verdict& verdict) {
  return verdict.max_points > 0 ? std::min(1.0, double(verdict.points) / verdict.max_points) : 0;
}

std::string overall_text(const Verdict& verdict) {
  std::string text = fmt::format("{}: {} of {} points", verdict.puzzle, verdict.points, verdict.max_points);
  if (verdict.status == Status::did_not_build) text += "\nThe source does not compile:\n" + verdict.build_log;
  if (verdict.status == Status::not_implemented) text += "\nNot implemented yet.";
  if (verdict.status == Status::no_check_ran) text += "\nNo check ran; this is not a pass.";
  for (const CheckSummary& check : verdict.checks) {
    if (!verdict.passed || !is_open_bonus(check)) continue;
    text += fmt::format("\nStill open, for {} points more: {}.\n{}", check.spec.points, check.spec.title,
                        raw_check_text(verdict, check));
  }
  return harmless(text, Charset::unicode);
}

std::string not_judged_text(const Verdict& verdict) {
  return harmless(fmt::format("{} could not be judged: {}\nThat is no fault of the submission. Submit it again, or "
                              "tell the course's staff.",
                              verdict.puzzle, verdict.reason),
                  Charset::unicode);
}

}  // namespace shardlings::report
