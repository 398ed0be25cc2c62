#include "report/exports/junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/choice.h"
#include "report/exports/failure_text.h"
#include "report/harmless.h"

namespace shardlings::report {
namespace {

using grading::verdict::CaseVerdict;
using grading::verdict::CheckVerdict;

// Text that XML 1.0 allows: harmless() has made the control characters visible.
std::string xml(std::string_view text) {
  std::string escaped = markup(harmless(text, Charset::unicode));
  for (std::size_t at = 0; (at = escaped.find('\n', at)) != std::string::npos;) escaped.replace(at, 1, "&#10;");
  return escaped;
}

/// What lists of failed tests show: understood without the text below it.
std::string headline(const CheckVerdict& check) {
  if (check.found.empty()) return "it does not hold: " + check.expected;
  return check.expected.empty() ? check.found : fmt::format("expected {}; found {}", check.expected, check.found);
}

class Suite {
 public:
  explicit Suite(const grading::verdict::Verdict& verdict) : verdict_(verdict) {}

  std::string text() {
    for (const CaseVerdict& kase : verdict_.cases) {
      for (const CheckVerdict& check : kase.checks) add(kase, check);
    }
    if (verdict_.status == grading::verdict::Status::did_not_build)
      error("build", "the source does not compile", verdict_.build_log);
    if (errors_ == 0 && verdict_.status == grading::verdict::Status::not_judged)
      error("checks", "not judged, by no fault of the submission", verdict_.reason);
    concealed();
    if (tests_ == 0) error("checks", "no check ran", name_of(verdict_.status));
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites>\n"
        "  <testsuite name=\"puzzle.{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n"
        "    <properties>\n"
        "      <property name=\"points\" value=\"{}\"/>\n"
        "      <property name=\"max_points\" value=\"{}\"/>\n"
        "      <property name=\"version\" value=\"{}\"/>\n"
        "    </properties>\n"
        "{}"
        "  </testsuite>\n"
        "</testsuites>\n",
        xml(verdict_.puzzle), tests_, failures_, errors_, skipped_, verdict_.seconds, verdict_.points,
        verdict_.max_points, xml(verdict_.version), cases_);
  }

 private:
  void open(std::string_view name, std::string_view inner) {
    ++tests_;
    cases_ += fmt::format("    <testcase classname=\"puzzle.{}\" name=\"{}\">{}</testcase>\n", xml(verdict_.puzzle),
                          xml(name), inner);
  }

  void add(const CaseVerdict& kase, const CheckVerdict& check) {
    const std::string name = fmt::format("{} [{}]", check.id, kase.kase.name);
    if (!check.reason.empty()) {
      error(name, "not judged, by no fault of the submission", check.reason);
    } else if (!check.passed) {
      ++skipped_;
      const std::string reason = check.blocked_by.empty() ? "not judged" : "waits for " + check.blocked_by;
      open(name, fmt::format("<skipped message=\"{}\"/>", xml(reason)));
    } else if (*check.passed) {
      open(name, "");
    } else if (is_bonus(check.id)) {
      ++skipped_;
      open(name, fmt::format("<skipped message=\"a bonus: {}\"/>", xml(headline(check))));
    } else {
      ++failures_;
      open(name, fmt::format("<failure message=\"{}\" type=\"{}\">{}</failure>", xml(headline(check)),
                             xml(check.diagnosis.empty() ? "check" : check.diagnosis), xml(failure_text(kase, check))));
    }
  }

  bool is_bonus(const std::string& id) const {
    return std::any_of(verdict_.checks.begin(), verdict_.checks.end(),
                       [&](const auto& check) { return check.spec.id == id && check.spec.bonus; });
  }

  /// What has failed in cases that are not shown, and in no other.
  void concealed() {
    for (const grading::verdict::CheckSummary& check : verdict_.checks) {
      const auto shows = [&](const CaseVerdict& kase) { return failed_check(kase, check.spec.id) != nullptr; };
      const bool is_shown = std::any_of(verdict_.cases.begin(), verdict_.cases.end(), shows);
      if (verdict_.concealed == 0 || check.passed != false || check.spec.bonus || is_shown) continue;
      ++failures_;
      open(check.spec.id + " [hidden]",
           fmt::format("<failure message=\"{}\" type=\"check\"></failure>", "it does not hold on a hidden case"));
    }
  }

  void error(std::string_view name, const char* message, const std::string& text) {
    ++errors_;
    open(name, fmt::format("<error message=\"{}\">{}</error>", message, xml(text)));
  }

  const grading::verdict::Verdict& verdict_;
  std::string cases_;
  int tests_ = 0;
  int failures_ = 0;
  int errors_ = 0;
  int skipped_ = 0;
};

}  // namespace

std::string to_junit(const grading::verdict::Verdict& verdict) {
  return Suite(verdict).text();
}

}  // namespace shardlings::report
