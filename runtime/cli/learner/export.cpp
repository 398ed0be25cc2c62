#include "cli/learner/export.h"

#include <algorithm>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/error.h"
#include "cli/learner/classroom.h"
#include "report/exports/autolab.h"
#include "report/exports/gradescope.h"
#include "report/exports/junit.h"
#include "report/exports/prairielearn.h"
#include "report/exports/submitty.h"

namespace shardlings::cli::learner {
namespace {

using grading::verdict::Verdict;
using Format = std::string (*)(const Verdict&, const std::string& graded);

const std::map<std::string, Format>& formats() {
  static const std::map<std::string, Format> all = {
      {"autolab", [](const Verdict& verdict, const std::string&) { return report::to_autolab(verdict); }},
      {"classroom50",
       [](const Verdict& verdict, const std::string& graded) {
         return report::to_classroom50(verdict, classroom_submission(graded));
       }},
      {"gradescope", [](const Verdict& verdict, const std::string&) { return report::to_gradescope(verdict); }},
      {"junit", [](const Verdict& verdict, const std::string&) { return report::to_junit(verdict); }},
      {"prairielearn", [](const Verdict& verdict, const std::string&) { return report::to_prairielearn(verdict); }},
      {"submitty", [](const Verdict& verdict, const std::string&) { return report::to_submitty(verdict); }}};
  return all;
}

std::string known_formats() {
  std::vector<std::string> names;
  for (const auto& [name, format] : formats()) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<Export> exports_of(const std::vector<std::string>& arguments) {
  std::vector<Export> exports;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    const std::string format = argument.substr(0, equals);
    const std::string file = equals == std::string::npos ? "-" : argument.substr(equals + 1);
    if (!formats().contains(format) || file.empty()) {
      throw UsageError(
          fmt::format("--export {}: write one of {}, and a file if it is not for standard output: junit=results.xml",
                      argument, known_formats()));
    }
    if (format == "classroom50") (void)classroom_submission("");  // what is missing is said before anything is graded
    exports.push_back({format, file});
  }
  if (std::count_if(exports.begin(), exports.end(), [](const Export& e) { return e.file == "-"; }) > 1) {
    throw UsageError("Only one export can go to standard output. Name files: --export junit=results.xml");
  }
  return exports;
}

std::vector<Export> into_files(std::vector<Export> exports) {
  std::erase_if(exports, [](const Export& one) { return one.file == "-"; });
  return exports;
}

bool takes_stdout(const std::vector<Export>& exports) {
  return std::any_of(exports.begin(), exports.end(), [](const Export& e) { return e.file == "-"; });
}

void write_exports(const std::vector<Export>& exports, const Verdict& verdict, const std::string& graded,
                   std::ostream& out) {
  for (const auto& [format, file] : exports) {
    const std::string text = formats().at(format)(verdict, graded);
    if (file == "-") {
      out << text;
    } else {
      write_file_atomically(file, text);
    }
  }
}

}  // namespace shardlings::cli::learner
