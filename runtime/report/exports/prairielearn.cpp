#include "report/exports/prairielearn.h"

#include "report/choice.h"
#include "report/exports/for_student.h"
#include "report/exports/json_text.h"
#include "report/harmless.h"
#include "report/svg.h"
#include "report/view/packed.h"

namespace shardlings::report {
namespace {

using grading::verdict::CaseVerdict;
using grading::verdict::CheckSummary;
using grading::verdict::Status;
using grading::verdict::Verdict;

/// PrairieLearn refuses a result of more than this many bytes.
constexpr std::size_t kMost = 1'000'000;
/// Of one text. A puzzle has about ten checks, so that all texts together stay far below kMost.
constexpr std::size_t kMostText = 40'000;

/// Whole lines up to kMostText bytes, and a word on what was left out.
std::string cut(std::string text) {
  if (text.size() <= kMostText) return text;
  const std::size_t end = text.rfind('\n', kMostText);
  text.resize(end == std::string::npos ? 0 : end);
  return text + "\n[…] the rest is left out here";
}

ExportJson not_gradable(const std::string& why) {
  return {{"gradable", false}, {"format_errors", {cut(why)}}, {"message", cut(why)}};
}

ExportJson tests_of(const Verdict& verdict) {
  ExportJson tests = ExportJson::array();
  for (const CheckSummary& check : verdict.checks) {
    if (is_open_bonus(check)) continue;
    tests.push_back({{"name", harmless(check.spec.title, Charset::unicode)},
                     {"description", name_of(check.spec.kind)},
                     {"points", check.earned},
                     {"max_points", check.spec.points},
                     {"output", cut(check_text(verdict, check))}});
  }
  return tests;
}

/// The timeline that the report shows, if it was recorded.
ExportJson images_of(const Verdict& verdict) {
  ExportJson images = ExportJson::array();
  const CaseVerdict* kase = case_to_show(verdict);
  if (kase == nullptr || kase->traces.empty()) return images;
  const std::string name = harmless_line(kase->kase.name, Charset::unicode);
  images.push_back({{"label", name}, {"url", "data:image/svg+xml;base64," + base64(timeline_svg(*kase, name))}});
  return images;
}

}  // namespace

std::string to_prairielearn(const Verdict& verdict) {
  if (verdict.status == Status::not_judged) return json_text(not_gradable(not_judged_text(verdict)));
  if (verdict.status == Status::did_not_build) return json_text(not_gradable(overall_text(verdict)));
  ExportJson json = {{"gradable", true},
                     {"score", share_of_points(verdict)},
                     {"message", cut(overall_text(verdict))},
                     {"images", images_of(verdict)},
                     {"tests", tests_of(verdict)}};
  const std::string text = json_text(json);
  if (text.size() <= kMost) return text;
  json["images"] = ExportJson::array();
  return json_text(json);
}

}  // namespace shardlings::report
