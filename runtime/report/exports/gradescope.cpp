#include "report/exports/gradescope.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/exports/for_student.h"
#include "report/exports/json_text.h"
#include "report/harmless.h"

namespace shardlings::report {
namespace {

using grading::verdict::CheckSummary;
using grading::verdict::Status;
using grading::verdict::Verdict;

/// What is there whether or not it was judged.
ExportJson frame(const Verdict& verdict, const std::string& output) {
  return {
      {"execution_time", verdict.seconds},
      {"output", output},
      {"output_format", "text"},
      {"visibility", "visible"},
      {"stdout_visibility", "hidden"},
      {"extra_data", {{"puzzle", verdict.puzzle}, {"status", name_of(verdict.status)}, {"version", verdict.version}}}};
}

/// A test for each check. `number` and `title` come before those of the checks.
void add_tests(ExportJson& tests, const Verdict& verdict, const std::string& number, const std::string& title) {
  for (std::size_t i = 0; i < verdict.checks.size(); ++i) {
    const CheckSummary& check = verdict.checks[i];
    if (is_open_bonus(check)) continue;
    tests.push_back({{"name", title + harmless(check.spec.title, Charset::unicode)},
                     {"number", number + std::to_string(i + 1)},
                     {"score", check.earned},
                     {"max_score", check.spec.points},
                     {"status", check.passed.value_or(false) ? "passed" : "failed"},
                     {"output", check_text(verdict, check)},
                     {"tags", {name_of(check.spec.kind)}},
                     {"visibility", "visible"},
                     {"extra_data", {{"id", check.spec.id}, {"blocked_by", check.blocked_by}}}});
  }
}

bool is_unjudged(const GradescopePart& part) {
  return part.fault.empty() && part.verdict.status == Status::not_judged;
}

/// Of a puzzle that has no file to judge.
ExportJson fault_test(const GradescopePart& part, const std::string& number, const std::string& title) {
  return {{"name", title + "handed in"},  {"number", number + "1"}, {"score", 0},
          {"max_score", part.max_points}, {"status", "failed"},     {"output", harmless(part.fault, Charset::unicode)},
          {"visibility", "visible"}};
}

}  // namespace

std::string to_gradescope(const Verdict& verdict) {
  // Without any score: that is no grade, and Gradescope does not count it as an attempt.
  if (verdict.status == Status::not_judged) return json_text(frame(verdict, not_judged_text(verdict)));
  ExportJson tests = ExportJson::array();
  add_tests(tests, verdict, "", "");
  ExportJson json = frame(verdict, overall_text(verdict));
  json["score"] = verdict.points;
  json["test_output_format"] = "text";
  json["tests"] = std::move(tests);
  json["extra_data"]["diagnoses"] = verdict.diagnoses;
  return json_text(json);
}

std::string to_gradescope(const std::vector<GradescopePart>& parts) {
  ExportJson tests = ExportJson::array();
  std::string output, unjudged;
  double seconds = 0;
  int points = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const GradescopePart& part = parts[i];
    const std::string name = harmless(part.title, Charset::unicode), title = name + ": ";
    const std::string number = std::to_string(i + 1) + ".";
    seconds += part.verdict.seconds;
    if (!part.fault.empty()) {
      output += title + harmless(part.fault, Charset::unicode) + "\n";
      tests.push_back(fault_test(part, number, title));
    } else if (is_unjudged(part)) {
      unjudged += (unjudged.empty() ? "" : ", ") + name;
    } else {
      output += overall_text(part.verdict) + "\n";
      points += part.verdict.points;
      add_tests(tests, part.verdict, number, title);
    }
  }
  if (!unjudged.empty()) {
    output = fmt::format(
        "{} could not be judged. That is no fault of the submission, and no grade: submit it again "
        "later, or tell the course's staff.\n",
        unjudged);
  }
  ExportJson json = {{"execution_time", seconds},
                     {"output", output},
                     {"output_format", "text"},
                     {"visibility", "visible"},
                     {"stdout_visibility", "hidden"}};
  if (!unjudged.empty()) return json_text(json);
  json["score"] = points;
  json["test_output_format"] = "text";
  json["tests"] = std::move(tests);
  return json_text(json);
}

std::string staff_text(const GradescopePart& part, const Verdict& whole) {
  if (!part.fault.empty()) return harmless(fmt::format("{}\n  {}\n", part.title, part.fault), Charset::unicode);
  std::string text = fmt::format("{}\n  {}, {} of {} points, {:.1f} s, ", part.title, name_of(whole.status),
                                 whole.points, whole.max_points, whole.seconds);
  const std::vector<std::string> walls = words_of(whole.walls);  // none of what was not run
  text += walls.empty() ? "not run\n" : fmt::format("tier {} ({})\n", whole.walls.tier(), fmt::join(walls, ", "));
  if (whole.status == Status::not_judged) text += "  not judged: " + whole.reason + "\n";
  if (whole.status == Status::did_not_build) text += whole.build_log + "\n";
  for (const CheckSummary& check : whole.checks) {
    if (check.passed.value_or(false)) continue;
    text += fmt::format("  {}: {}\n", check.spec.id, check_text(whole, check));
  }
  return harmless(text, Charset::unicode);
}

}  // namespace shardlings::report
