#include "cli/learner/hidden_cases.h"

#include <cerrno>

#include <fmt/format.h>

#include "base/file.h"
#include "base/leave_out.h"
#include "base/sha256.h"
#include "base/text.h"
#include "cli/error.h"

namespace shardlings::cli::learner {

using grading::verdict::FeedbackRules;
using grading::verdict::kFeedbackWords;
using grading::verdict::Verdict;

namespace {

const cases::Case& hidden_case(const cases::Manifest& puzzle, const std::string& name) {
  std::string known;
  for (const cases::Case& kase : puzzle.cases) {
    if (kase.hidden && kase.name == name) return kase;
    if (kase.hidden) known += "\n  " + kase.name;
  }
  throw UsageError(fmt::format("--feedback: puzzle {} has no hidden case \"{}\". It has:{}", puzzle.id, name, known));
}

}  // namespace

std::string secret_of(const std::string& file) {
  const auto text = read_file(file);
  if (!text) throw UsageError(fmt::format("--seed-file: {} is no file that can be read.", file));
  const std::string secret = trimmed(*text);
  if (secret.empty()) throw UsageError(fmt::format("--seed-file: {} holds nothing. Write some words into it.", file));
  return sha256(secret);
}

FeedbackRules feedback_of(const cases::Manifest& puzzle, const std::vector<std::string>& arguments) {
  FeedbackRules rules;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.rfind('=');  // names may hold one
    const std::string word = equals == std::string::npos ? argument : argument.substr(equals + 1);
    const auto level = kFeedbackWords.find(word);
    if (!level) {
      throw UsageError(fmt::format(
          "--feedback {}: write full, law or none, and before it a hidden case if it is for that one: 'NAME=none'",
          argument));
    }
    if (equals == std::string::npos) {
      rules.usual = *level;
    } else {
      rules.of_case[hidden_case(puzzle, argument.substr(0, equals)).name] = *level;
    }
  }
  return rules;
}

Verdict without_folders(Verdict verdict, const system::Project& project) {
  for (const std::string& folder : {project.build + "/", project.root + "/"}) {
    leave_out(verdict.build_log, folder);
    leave_out(verdict.reason, folder);
    for (grading::verdict::CheckSummary& check : verdict.checks) leave_out(check.reason, folder);
    for (grading::verdict::CaseVerdict& kase : verdict.cases) {
      leave_out(kase.explanation, folder);
      leave_out(kase.stdout_text, folder);
      for (grading::verdict::ShownByRanks& shown : kase.shown) leave_out(shown.what.label, folder);
      for (grading::verdict::CheckVerdict& check : kase.checks) {
        for (std::string* text : {&check.expected, &check.found, &check.reason}) leave_out(*text, folder);
        for (std::string& line : check.details) leave_out(line, folder);
      }
    }
  }
  return verdict;
}

}  // namespace shardlings::cli::learner
