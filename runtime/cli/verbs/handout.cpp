#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/error.h"
#include "cli/kit/handout.h"
#include "cli/kit/platform.h"
#include "cli/learner/course.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct HandoutOptions {
  std::string out;                   ///< folder
  std::string course;                ///< file; empty: none
  std::vector<std::string> puzzles;  ///< instead of the course's
  bool json = false;
};

std::string plain_path(const std::string& path) {
  const fs::path normal = fs::absolute(path).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).string();
}

/// A puzzle may be named in any way that a person does, also one of the course's that is not handed out yet.
std::map<std::string, std::string> due_by_id(const learner::Course& course, const kit::CourseFile& about) {
  const std::vector<cases::Manifest> puzzles = learner::puzzles_named(course, about.puzzles);
  std::map<std::string, std::string> result;
  for (const auto& [name, when] : about.due) {
    const std::string id = course.find(name).id;
    const bool is_there = std::any_of(puzzles.begin(), puzzles.end(), [&id](const auto& one) { return one.id == id; });
    if (!is_there) throw UsageError(fmt::format("due: {} is none of the course's puzzles, and has a date.", id));
    result[id] = when;
  }
  return result;
}

}  // namespace

/// `handout`: a repository for students: lessons, stubs, public cases and prebuilt graders.
static int handout(const Context& context, const HandoutOptions& options) {
  system::refuse_in_handout(context.project, "handout");
  if (options.out.empty()) throw UsageError("handout: name the folder to write, as in --out ../course");
  const learner::Course course = learner::load_course(context.project);
  learner::tell_of_faulty(context, course);
  kit::CourseFile about = kit::load_course_file(options.course);
  about.due = due_by_id(course, about);
  const auto puzzles = learner::puzzles_named(course, options.puzzles.empty() ? about.puzzles : options.puzzles);
  if (puzzles.empty()) throw UsageError("handout: there is no such puzzle.");
  const std::string out = plain_path(options.out);
  if ((out + "/").starts_with(context.project.root + "/")) {
    throw UsageError(fmt::format("--out {}: name a folder outside of this repository.", options.out));
  }
  const kit::Written written = kit::write_handout(context.project, puzzles, about, out);
  if (options.json) {
    context.out << json{{"folder", out},
                        {"puzzles", puzzles.size()},
                        {"files", written.files},
                        {"platform", kit::platform()},
                        {"removed", written.removed},
                        {"new_stubs", written.new_stubs}}
                       .dump(2)
                << '\n';
    return kPassed;
  }
  context.out << fmt::format("{}: {} puzzle{}, {} files, with parts for {}\n", system::shown_path(out), puzzles.size(),
                             puzzles.size() == 1 ? "" : "s", written.files, kit::platform());
  if (!written.new_stubs.empty()) {
    context.out << context.wrapped(fmt::format("Other stubs than before: {}. Students who have begun keep their files.",
                                               fmt::join(written.new_stubs, ", ")));
  }
  if (written.has_work) {
    context.out << context.wrapped(
        "There are files in its work/. That folder is the students': move them elsewhere before you commit.");
  }
  context.out << context.wrapped(
      "Look at it, then commit it and push it where students pull from. What you try in this folder is kept in "
      ".shardlings/look, which git ignores; what students write goes to work/ of their clones.");
  return kPassed;
}

void add_handout(CommandLine& line) {
  auto [options, verb] = line.verb<HandoutOptions>("handout", "for courses: a repository for students", handout);
  verb.text("--out", options.out,
            "the folder to write: a new or an empty one, or a handout that is brought up to date");
  verb.several("--puzzles", options.puzzles, "PUZZLES",
               "these puzzles, as in 01-07 09; without it: the course's, or all");
  verb.text("--course", options.course, "course.toml: its name, whom students ask, puzzles, when they are due");
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs
