#include "cli/submissions/gradescope_names.h"

#include <ctime>
#include <regex>

#include "base/text.h"

namespace shardlings::cli::submissions {

namespace {

/// A scalar as YAML writes it on one line: plain, or in quotes of one of the two kinds, where a quote of that kind is
/// doubled or escaped.
std::string scalar(std::string text) {
  const bool quoted = text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0];
  if (!quoted) return text;
  const char mark = text[0];
  text = text.substr(1, text.size() - 2);
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = mark == '"' ? text[i] == '\\' : text[i] == '\'';
    if (is_escape && i + 1 < text.size()) ++i;
    result += text[i];
  }
  return result;
}

/// "2026-12-01 17:59:58.230000000 Z" or with "-08:00", as Ruby writes a time; 0 for anything else.
std::int64_t time_of(const std::string& text) {
  static const std::regex kTime(R"((\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.\d+)? (Z|[+-]\d{2}:?\d{2}))");
  std::smatch parts;
  std::tm time{};
  if (!std::regex_match(text, parts, kTime)) return 0;
  const std::string plain = parts[1].str() + "T" + parts[2].str() + parts[3].str();
  const char* end = strptime(plain.c_str(), "%Y-%m-%dT%H:%M:%S%z", &time);
  if (end == nullptr || *end != '\0') return 0;
  const std::int64_t offset = time.tm_gmtoff;  // timegm() sets it to zero
  return timegm(&time) - offset;
}

/// A line of a submission that its submitters stand in: "  - :name: Ada" begins one, ":sid:" and ":email:" go on.
void read_submitter(const std::string& line, std::vector<Submitter>& submitters) {
  static const std::regex kField(R"(\s*(-)? +:(name|sid|email): *(.*?)\s*)");
  std::smatch parts;
  if (!std::regex_match(line, parts, kField)) return;
  if (parts[1].matched) submitters.emplace_back();
  if (submitters.empty()) return;
  Submitter& one = submitters.back();
  const std::string value = scalar(parts[3].str());
  if (parts[2] == "name") one.name = value;
  if (parts[2] == "sid" && !value.empty()) one.id = value;
  if (parts[2] == "email" && one.id.empty()) one.id = value;
}

}  // namespace

std::map<std::string, Submission> submissions_in(const std::string& yaml) {
  static const std::regex kSubmission(R"(submission_(\d+):\s*)");
  static const std::regex kSubmitted(R"(  :created_at: (.+?)\s*)");
  static const std::regex kKey(R"(  (:[a-z_]+):.*)");
  std::map<std::string, Submission> all;
  Submission* here = nullptr;
  std::string key;  // of the submission, which the line belongs to: results and history have names and times, too
  for (const std::string& line : lines_of(yaml)) {
    std::smatch parts;
    if (std::regex_match(line, parts, kSubmission)) {
      here = &all[parts[1].str()];
      key.clear();
      continue;
    }
    if (here == nullptr) continue;
    if (std::regex_match(line, parts, kKey)) key = parts[1].str();
    if (key == ":submitters") {
      read_submitter(line, here->submitters);
    } else if (key == ":created_at" && std::regex_match(line, parts, kSubmitted)) {
      here->submitted = time_of(scalar(parts[1].str()));
    }
  }
  return all;
}

}  // namespace shardlings::cli::submissions
