#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/terminal_text.h"
#include "cli/error.h"
#include "cli/system/findings.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

using nlohmann::json;
using report::Role;

namespace {

struct DoctorOptions {
  bool json = false;
};

json to_json(const system::Finding& finding) {
  return {{"name", finding.name},       {"found", finding.found()},
          {"needed", finding.needed},   {"version", finding.version},
          {"meaning", finding.meaning}, {"fix", finding.found() ? json(nullptr) : json(finding.fix)}};
}

void print(const Context& context, const system::Finding& finding) {
  const std::string mark = finding.found()  ? context.tick()
                           : finding.needed ? context.cross()
                                            : context.paint(Role::dim, "-");
  const std::string state = finding.found() ? finding.version : finding.needed ? "missing" : "not found";
  context.out << cut(fmt::format("{} {}{}", mark, padded(finding.name, 14), state), context.width) << '\n';
  if (finding.found()) return;
  for (const std::string& line : fill_lines(finding.meaning, context.width - 4)) context.out << "    " << line << '\n';
  context.out << "    " << context.paint(Role::dim, "To have it: ") << finding.fix << '\n';
}

}  // namespace

/// `doctor`: what is found and missing, what it means, how to fix it.
static int doctor(const Context& context, const DoctorOptions& options) {
  const std::vector<system::Finding> findings = system::examine(context.project);
  const bool well =
      std::all_of(findings.begin(), findings.end(), [](const system::Finding& f) { return f.found() || !f.needed; });
  if (options.json) {
    json list = json::array();
    for (const system::Finding& finding : findings) list.push_back(to_json(finding));
    context.out << json{{"findings", list}, {"ok", well}}.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
    return well ? kPassed : kFailed;
  }
  for (const system::Finding& finding : findings) print(context, finding);
  context.out << '\n'
              << (well ? "Everything that the puzzles need is there." : "Something that the puzzles need is missing.")
              << '\n';
  return well ? kPassed : kFailed;
}

void add_doctor(CommandLine& line) {
  auto [options, verb] = line.verb<DoctorOptions>("doctor", "what is found and missing, and how to fix it", doctor);
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs
