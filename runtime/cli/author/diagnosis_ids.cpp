#include "cli/author/diagnosis_ids.h"

#include <regex>

#include <fmt/format.h>

#include "grading/formulas/shared_diagnosis.h"
#include "grading/judge/diagnosis.h"

namespace shardlings::cli::author {

namespace {

void add_literals(const std::string& text, const std::regex& pattern, std::set<std::string>& ids) {
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) ids.insert((*it)[1].str());
}

bool calls(const std::string& grader, const grading::formulas::SharedDiagnosis& shared) {
  const std::string header = fmt::format("\"grading/formulas/{}.h\"", shared.header);
  return grader.find(header) != std::string::npos &&
         std::regex_search(grader, std::regex(fmt::format("\\b{}\\(", shared.function)));
}

}  // namespace

std::set<std::string> diagnosis_ids_in(const std::string& grader) {
  static const std::regex kDiagnosed(R"re(\b(?:diagnose\(|diagnosis = )"([^"]*)")re");
  static const std::regex kChosen(R"re((?:\breturn|[?:]) "([a-z0-9]+(?:_[a-z0-9]+)+)")re");
  static const std::regex kListed(R"re(\{"([a-z0-9]+(?:_[a-z0-9]+)+)",)re");
  std::set<std::string> ids;
  for (const std::regex* pattern : {&kDiagnosed, &kChosen, &kListed}) add_literals(grader, *pattern, ids);
  for (const auto& shared : grading::formulas::kSharedDiagnoses) {
    if (calls(grader, shared)) ids.insert(std::string(shared.id));
  }
  return ids;
}

void check_diagnoses(const std::string& grader, const cases::Manifest& puzzle, std::vector<std::string>& problems) {
  for (const std::string& id : diagnosis_ids_in(grader)) {
    if (puzzle.diagnosis(id) != nullptr || !grading::judge::diagnosis_text(puzzle, id).empty()) continue;
    problems.push_back(fmt::format("grader.cpp can name the diagnosis {}, which puzzle.toml does not have", id));
  }
}

}  // namespace shardlings::cli::author
