#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/error.h"
#include "cli/kit/autograder.h"
#include "cli/kit/course_file.h"
#include "cli/kit/platform.h"
#include "cli/learner/course.h"
#include "cli/learner/hidden_cases.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace {

struct AutograderOptions {
  std::string out;
  std::string seed_file;
  std::vector<std::string> puzzles;
  std::vector<std::string> feedback;
  bool trust = false;
};

/// One secret for all puzzles: a level for a case of one of them is none of the others'.
void check_feedback(const std::vector<cases::Manifest>& puzzles, const std::vector<std::string>& feedback) {
  for (const std::string& level : feedback) {
    if (level.find('=') != std::string::npos) {
      throw UsageError(
          fmt::format("--feedback {}: an autograder has one level for all hidden cases: full, law or none.", level));
    }
  }
  (void)learner::feedback_of(puzzles.front(), feedback);
}

}  // namespace

/// `autograder`: the zip for an assignment on Gradescope.
static int autograder(const Context& context, const AutograderOptions& options) {
  system::refuse_in_handout(context.project, "autograder");
  if (!options.out.ends_with(".zip")) throw UsageError("autograder: name the zip to write, as in --out autograder.zip");
  if (options.puzzles.empty()) throw UsageError("autograder: name the assignment's puzzles, as in --puzzles 09");
  const learner::Course course = learner::load_course(context.project);
  kit::Autograder made;
  made.puzzles = learner::puzzles_named(course, options.puzzles);
  check_feedback(made.puzzles, options.feedback);
  made.feedback = options.feedback;
  made.trust = options.trust;
  if (!options.seed_file.empty()) {
    (void)learner::secret_of(options.seed_file);  // says what is wrong with it
    made.secret = read_whole_file(options.seed_file);
  }
  const std::string out = std::filesystem::absolute(options.out).string();
  kit::write_autograder(context.project, made, out);
  context.out << fmt::format("{}: {} puzzle{}, {:.0f} MB, with parts for {}\n", system::shown_path(out),
                             made.puzzles.size(), made.puzzles.size() == 1 ? "" : "s",
                             static_cast<double>(std::filesystem::file_size(out)) / 1e6, kit::platform());
  context.out << context.wrapped(made.secret.empty()
                                     ? "It holds the hidden cases: keep it to the staff."
                                     : "It holds the hidden cases and your secret: keep it to the staff.");
  return kPassed;
}

void add_autograder(CommandLine& line) {
  auto [options, verb] =
      line.verb<AutograderOptions>("autograder", "for courses: the zip of an assignment on Gradescope", autograder);
  verb.text("--out", options.out, "the zip to write");
  verb.several("--puzzles", options.puzzles, "PUZZLES", "the assignment's, as in 01-07 09");
  verb.text("--seed-file", options.seed_file,
            "a file with a secret, from which each student's hidden cases get seeds that are not told");
  verb.each("--feedback", options.feedback, "LEVEL", "what students are told of hidden cases: full, law or none");
  verb.flag("--trust", options.trust, "grade also where jails have fewer walls than those of tier 1");
}

}  // namespace shardlings::cli::verbs
