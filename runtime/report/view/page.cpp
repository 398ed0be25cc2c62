#include "report/view/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/choice.h"
#include "report/harmless.h"
#include "report/view/assets.h"
#include "report/view/case_data.h"

namespace shardlings::report {
namespace {

using Json = nlohmann::ordered_json;
using grading::verdict::CaseVerdict;
using grading::verdict::Verdict;

std::string html(std::string_view text) {
  return markup(harmless(text, Charset::unicode));
}

/// JSON inside of a script element: nothing in it may end the element.
std::string inside_script(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

const char* text_of(ViewRole role) {
  switch (role) {
    case ViewRole::run: return "run";
    case ViewRole::measured: return "measured";
    case ViewRole::goal: return "goal";
    case ViewRole::other: break;
  }
  return "other";
}

Json summary_to_json(const grading::verdict::CheckSummary& check) {
  return {{"id", check.spec.id},           {"kind", name_of(check.spec.kind)},
          {"title", check.spec.title},     {"points", check.spec.points},
          {"earned", check.earned},        {"passed", check.passed ? Json(*check.passed) : Json(nullptr)},
          {"blockedBy", check.blocked_by}, {"bonus", check.spec.bonus}};
}

/// The lines of the graded file; none where its text is not known.
Json source_to_json(const std::string& source) {
  Json lines = Json::array();
  for (const std::string& line : lines_of(source)) lines.push_back(harmless_line(line, Charset::unicode));
  return lines;
}

Json head_of(const ViewedRun& run, const std::string& show) {
  const Verdict& verdict = *run.verdict;
  Json checks = Json::array();
  for (const grading::verdict::CheckSummary& check : verdict.checks) checks.push_back(summary_to_json(check));
  const CaseVerdict* best = show.empty() ? case_to_show(verdict) : nullptr;
  return {{"role", text_of(run.role)},
          {"name", harmless_line(run.name, Charset::unicode)},
          {"status", name_of(verdict.status)},
          {"passed", verdict.passed},
          {"points", verdict.points},
          {"maxPoints", verdict.max_points},
          {"buildLog", harmless(verdict.build_log, Charset::unicode)},
          {"checks", std::move(checks)},
          {"source", source_to_json(run.source)},
          {"show", harmless(best == nullptr ? show : best->kase.name, Charset::unicode)}};
}

bool has_case(const Verdict& verdict, const std::string& name) {
  return std::any_of(verdict.cases.begin(), verdict.cases.end(),
                     [&](const CaseVerdict& kase) { return kase.kase.name == name; });
}

std::string script(std::string_view type, std::string_view attributes, std::string_view text) {
  return fmt::format("<script type=\"{}\"{}>{}</script>\n", type, attributes, text);
}

/// A head, and two elements for each case: data of the case, and its columns.
std::string data_of(const ViewPage& page) {
  Json heads = Json::array();
  std::string cases;
  for (std::size_t run = 0; run < page.runs.size(); ++run) {
    heads.push_back(head_of(page.runs[run], page.show));
    for (const CaseVerdict& kase : page.runs[run].verdict->cases) {
      if (!has_case(*page.runs[0].verdict, kase.kase.name)) continue;
      const CaseData data = case_data(kase);
      const std::string attribute = fmt::format(" data-run=\"{}\"", run);
      cases += script("application/json", attribute + " class=\"case\"", inside_script(data.json));
      cases += script("text/plain", attribute + " class=\"columns\"", data.columns);
    }
  }
  Json kinds = Json::array();
  for (int kind = 0; kind < kNumKinds; ++kind) kinds.push_back(name_of(static_cast<Kind>(kind)));
  const Json head = {{"puzzle", harmless_line(page.puzzle, Charset::unicode)},
                     {"kinds", std::move(kinds)},
                     {"runs", std::move(heads)}};
  const std::string json = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  return script("application/json", " id=\"head\"", inside_script(json)) + cases;
}

/// The template with each "{{name}}" replaced. What is put in is not looked at again.
std::string filled(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string out;
  while (true) {
    const std::size_t begin = text.find("{{");
    out += text.substr(0, begin);
    if (begin == std::string_view::npos) return out;
    const std::size_t end = text.find("}}", begin);
    const std::string_view name = text.substr(begin + 2, end - begin - 2);
    for (const auto& [key, value] : values) {
      if (key == name) out += value;
    }
    text.remove_prefix(end + 2);
  }
}

}  // namespace

std::string view_page(const ViewPage& page) {
  std::string styles, scripts, licence;
  for (const ViewAsset& asset : view_assets()) {
    if (asset.name.ends_with(".css")) styles += fmt::format("<style>\n{}</style>\n", asset.text);
    if (asset.name.ends_with(".LICENSE")) licence += html(asset.text);
    if (asset.name.ends_with(".js")) scripts += fmt::format("<script>\n{}</script>\n", asset.text);
  }
  return filled(view_template(), {{"title", html(page.puzzle)},
                                  {"styles", styles},
                                  {"data", data_of(page)},
                                  {"scripts", scripts},
                                  {"licence", licence}});
}

}  // namespace shardlings::report
