#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/learner/hidden_cases.h"
#include "cli/submissions/class_grading.h"
#include "cli/submissions/students.h"
#include "cli/verbs/verbs.h"
#include "grading/grade.h"
#include "report/exports/gradescope.h"

namespace shardlings::cli::verbs {

namespace fs = std::filesystem;
using cases::Manifest;
using nlohmann::json;
using report::GradescopePart;

namespace {

struct GradescopeOptions {
  std::string submission;  ///< folder
  std::string out;         ///< results.json
  std::string metadata;    ///< submission_metadata.json; it may be missing
  std::string seed_file;
  std::vector<std::string> feedback;
  bool trust = false;
};

/// Who hands in, as one word that stays the same over all of their submissions: the numbers of the users. Empty where
/// the metadata name nobody.
std::string submitter_of(const std::string& metadata) {
  const json about = json::parse(read_file(metadata).value_or("{}"), nullptr, false);
  std::vector<std::string> users;
  if (about.is_object()) {
    for (const json& user : about.value("users", json::array())) {
      if (user.is_object() && user.contains("id")) users.push_back(user["id"].dump());
    }
  }
  std::sort(users.begin(), users.end());
  return fmt::format("{}", fmt::join(users, "+"));
}

/// What may have been meant for a puzzle, and was left out: " puzzle.cpp was left out: it is a link."
std::string left_out_of(const submissions::Student& student) {
  std::string text;
  for (const submissions::LeftOut& one : student.left_out) {
    if (!one.may_count) continue;
    text += fmt::format(" {} was left out: {}.", fs::path(one.path).filename().string(), one.why);
  }
  return text;
}

/// Why there is no file to judge; empty if there is one.
std::string fault_of(const Manifest& puzzle, const std::vector<const submissions::Handed*>& files,
                     const submissions::Student& student) {
  if (files.size() == 1) return "";
  if (files.size() > 1) {
    return fmt::format("There are {} files for it, and it is not known which one counts. Hand in one of them.",
                       files.size());
  }
  const std::string why = student.unread.empty() ? "" : " What was handed in could not be read whole.";
  return fmt::format(
      "No file for it was handed in.{}{} Hand in work/{}/puzzle.cpp with its first line, or call the file {}.cpp.", why,
      left_out_of(student), puzzle.id, learner::short_name(puzzle));
}

class Judging {
 public:
  Judging(const Context& context, const GradescopeOptions& options)
      : context_(context), options_(options), submitter_(submitter_of(options.metadata)) {
    if (!options.seed_file.empty()) secret_ = learner::secret_of(options.seed_file);
  }

  /// What the student may see; the staff's words go to the output.
  GradescopePart judged(const Manifest& puzzle, const submissions::Student& student) const {
    std::vector<const submissions::Handed*> files;
    for (const submissions::Handed& file : student.files) {
      if (file.puzzle == puzzle.id) files.push_back(&file);
    }
    GradescopePart part;
    part.title = fmt::format("{} {}", learner::short_name(puzzle), puzzle.title);
    part.max_points = puzzle.max_points();
    part.fault = fault_of(puzzle, files, student);
    if (part.fault.empty()) part.verdict = grading::grade_puzzle(how_to_grade(puzzle, files.front()->file));
    const grading::verdict::Verdict whole = part.verdict;
    conceal(part.verdict, learner::feedback_of(puzzle, options_.feedback));
    part.verdict = learner::without_folders(std::move(part.verdict), context_.project);
    context_.out << staff_text(part, whole) << std::flush;
    return part;
  }

 private:
  grading::GradeOptions how_to_grade(const Manifest& puzzle, const std::string& file) const {
    grading::GradeOptions grade;
    grade.puzzle_folder = puzzle.folder;
    grade.build_folder = context_.project.build;
    grade.source = fs::absolute(file).string();
    grade.jailed = true;
    grade.least_tier = options_.trust ? 0 : 1;
    grade.traces = false;
    if (!secret_.empty()) grade.secret = submissions::students_secret(secret_, submitter_);
    return grade;
  }

  const Context& context_;
  const GradescopeOptions& options_;
  std::string submitter_, secret_;
};

}  // namespace

/// `gradescope`: what run_autograder of the zip calls.
static int gradescope(const Context& context, const GradescopeOptions& options) {
  if (options.out.empty()) throw UsageError("gradescope: name the file for the results, as in --out results.json");
  std::error_code error;
  if (!fs::is_directory(options.submission, error)) {
    throw UsageError(fmt::format("gradescope: there is no folder {}.", options.submission));
  }
  const learner::Course course = learner::load_course(context.project);
  learner::tell_of_faulty(context, course);
  const Judging judging(context, options);
  const submissions::Student student =
      submissions::read_student(options.submission, options.out + ".unpacked", course.puzzles());
  std::vector<GradescopePart> parts;
  bool all_judged = true;
  for (const Manifest& puzzle : course.puzzles()) {
    parts.push_back(judging.judged(puzzle, student));
    all_judged = all_judged &&
                 (!parts.back().fault.empty() || parts.back().verdict.status != grading::verdict::Status::not_judged);
  }
  fs::remove_all(options.out + ".unpacked", error);
  write_file_atomically(options.out, report::to_gradescope(parts));
  return all_judged ? kPassed : kNotJudged;
}

void add_gradescope(CommandLine& line) {
  auto [options, verb] = line.verb<GradescopeOptions>(
      "gradescope", "what an autograder calls: judge one submission, and write results.json", gradescope);
  verb.required("SUBMISSION", options.submission, "the folder with what was handed in");
  verb.text("--out", options.out, "the results for Gradescope; what is for the staff is printed");
  verb.text("--metadata", options.metadata, "Gradescope's submission_metadata.json: whose hidden cases they are");
  verb.text("--seed-file", options.seed_file, "a file with the course's secret");
  verb.each("--feedback", options.feedback, "LEVEL", "what students are told of hidden cases: full, law or none");
  verb.flag("--trust", options.trust, "also where jails have fewer walls than those of tier 1");
}

}  // namespace shardlings::cli::verbs
