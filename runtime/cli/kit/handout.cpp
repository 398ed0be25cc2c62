#include "cli/kit/handout.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "cli/author/stub.h"
#include "cli/error.h"
#include "cli/kit/parts.h"
#include "cli/kit/platform.h"
#include "cli/kit/public_texts.h"
#include "cli/kit/tree.h"
#include "cli/learner/course.h"
#include "cli/system/program.h"

namespace shardlings::cli::kit {

namespace fs = std::filesystem;
using cases::Manifest;
using system::Project;

namespace {

constexpr const char* kList = ".handout";

/// What students read beside the lessons.
constexpr const char* kDocuments[] = {"docs/learn.md",
                                      "docs/map.md",
                                      "docs/glossary.md",
                                      "docs/view.md",
                                      "docs/simulate.md",
                                      "docs/train.md",
                                      "docs/quiz",
                                      "docs/reference/memory.md",
                                      "docs/reference/clock.md",
                                      "docs/reference/misuse.md",
                                      "docs/reference/precision.md",
                                      "docs/reference/sharding.md",
                                      "docs/reference/calls.md",
                                      "runtime/include/shardlings",
                                      "runtime/front/clock/clusters",
                                      "runtime/front/clock/stacks",
                                      "runtime/memory_map/models.toml",
                                      "runtime/train/text.txt",
                                      "LICENSE"};

/// The text of the puzzle's file before anybody has written into it.
std::string stub_of(const Project& project, const std::string& id) {
  const auto solution = read_file(project.solution_file(id));
  const auto stub = solution ? author::stub_of_solution(*solution) : std::nullopt;
  if (!stub) throw UsageError(fmt::format("{} has no solution from which its stub could be had.", id));
  return *stub;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string in_toml(const std::string& text) {
  return "\"" + replaced(replaced(text, "\\", "\\\\"), "\"", "\\\"") + "\"";
}

std::string table_of(const std::vector<Manifest>& puzzles, const CourseFile& course) {
  std::string text =
      course.due.empty() ? "| puzzle | points |\n|---|---|\n" : "| puzzle | points | due |\n|---|---|---|\n";
  for (const Manifest& puzzle : puzzles) {
    text += fmt::format("| [{:02} {}](puzzles/{}/README.md) | {} |", puzzle.number, puzzle.title, puzzle.id,
                        puzzle.max_points());
    const auto due = course.due.find(puzzle.id);
    if (!course.due.empty()) text += fmt::format(" {} |", due == course.due.end() ? "" : due->second);
    text += "\n";
  }
  return text;
}

class Handout {
 public:
  Handout(const Project& project, const std::vector<Manifest>& puzzles, const CourseFile& course, Tree& tree)
      : project_(project), puzzles_(puzzles), course_(course), tree_(tree) {}

  void write() {
    for (const char* name : kDocuments) tree_.copy(project_.root + "/" + name, name);
    for (const Manifest& puzzle : puzzles_) write_puzzle(puzzle);
    write_templates();
    write_about();
    write_parts_of_all();
    unlink_documents();
  }
  const std::vector<std::string>& new_stubs() const { return new_stubs_; }

 private:
  void write_puzzle(const Manifest& puzzle) {
    const std::string from = puzzle.folder + "/", to = "puzzles/" + puzzle.id + "/";
    if (const auto text = read_file(from + "puzzle.toml")) {
      tree_.write(to + "puzzle.toml", public_manifest(*text, puzzle, project_.clusters(), course_.hints));
    }
    if (const auto text = read_file(from + "goal.json")) {
      tree_.write(to + "goal.json", public_goal(*text, puzzle, project_.clusters()));
    }
    for (const char* name : {"README.md", "goal.svg", "harness.cpp"}) {
      if (fs::exists(from + name)) tree_.copy(from + name, to + name);
    }
    if (course_.second_parts && fs::exists(from + "after.md")) tree_.copy(from + "after.md", to + "after.md");
    write_stub(puzzle, to);
  }

  /// With a list of the stubs that there were: by it a file is known in which nobody has written anything yet.
  void write_stub(const Manifest& puzzle, const std::string& to) {
    const std::string stub = stub_of(project_, puzzle.id), list = tree_.folder() + "/" + to + "stubs.sha256";
    std::string hashes = read_file(list).value_or("");
    const auto earlier = read_file(tree_.folder() + "/" + to + "stub.cpp");
    if (earlier && *earlier != stub) new_stubs_.push_back(puzzle.id);
    if (hashes.find(sha256(stub)) == std::string::npos) hashes += sha256(stub) + "\n";
    tree_.write(to + "stub.cpp", stub);
    tree_.write(to + "stubs.sha256", hashes);
  }

  void write_templates() {
    const fs::path from = project_.kit_template() + "/handout";
    for (const auto& entry : fs::recursive_directory_iterator(from)) {
      if (!entry.is_regular_file()) continue;
      // A name that begins with a dot would be hidden here, too: the template's begins with "dot_".
      std::string name = replaced(entry.path().lexically_relative(from).string(), "dot_", ".");
      if (name.ends_with(".in")) name.resize(name.size() - 3);
      std::string text = replaced(read_whole_file(entry.path().string()), "@NAME@", course_.name);
      text = replaced(text, "@TABLE@", table_of(puzzles_, course_));
      text = replaced(text, "@FIRST@", learner::short_name(puzzles_.front()));
      text = replaced(text, "@CONTACT@", course_.contact.empty() ? "your course's staff" : course_.contact);
      const bool runs = text.starts_with("#!");
      runs ? tree_.write_program(name, text) : tree_.write(name, text);
    }
    tree_.copy(project_.root + "/.devcontainer/devcontainer.json", ".devcontainer/devcontainer.json");
    tree_.copy(project_.root + "/.devcontainer/Dockerfile", ".devcontainer/Dockerfile");
  }

  void write_about() {
    std::string text = fmt::format("# Written by ./shardlings handout.\nname = {}\ncontact = {}\n",
                                   in_toml(course_.name), in_toml(course_.contact));
    tree_.write("handout.toml", text);
  }

  /// Those of this machine's kind anew; those that another machine has put there stay.
  void write_parts_of_all() {
    std::vector<std::string> ids;
    for (const Manifest& puzzle : puzzles_) ids.push_back(puzzle.id);
    const fs::path all = tree_.folder() + "/prebuilt", mine = all / platform(), fresh = all / (platform() + ".new");
    fs::remove_all(fresh);
    write_parts(project_, ids, fresh.string());
    fs::remove_all(mine);
    fs::rename(fresh, mine);
    for (const auto& entry : fs::recursive_directory_iterator(all)) {
      if (entry.is_regular_file()) tree_.keep(entry.path().lexically_relative(tree_.folder()).string());
    }
  }

  void unlink_documents() {
    std::vector<std::string> texts;
    for (const auto& entry : fs::recursive_directory_iterator(tree_.folder())) {
      const std::string name = entry.path().lexically_relative(tree_.folder()).string();
      const bool ours = name.starts_with("docs/") || name.starts_with("puzzles/");
      if (ours && tree_.has(name) && entry.path().extension() == ".md") texts.push_back(name);
    }
    for (const std::string& name : texts) {
      const fs::path folder = fs::path(tree_.folder() + "/" + name).parent_path();
      tree_.write(name, without_dead_links(read_whole_file(tree_.folder() + "/" + name),
                                           [&](const std::string& target) { return fs::exists(folder / target); }));
    }
  }

  const Project& project_;
  const std::vector<Manifest>& puzzles_;
  const CourseFile& course_;
  Tree& tree_;
  std::vector<std::string> new_stubs_;
};

/// Nothing of anybody's is overwritten.
void check_folder(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return;
  if (!fs::is_directory(folder, error)) throw UsageError(fmt::format("--out {}: it is no folder.", folder));
  if (fs::exists(folder + system::kHandoutFile, error)) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() == ".git") continue;
    throw UsageError(
        fmt::format("--out {}: it holds {}, and is no handout. Name a new or an empty folder, or a handout.", folder,
                    entry.path().filename().string()));
  }
}

/// Students' own files are in work/, and git does not know them: committed by the course, they would stop every pull.
void check_work(const std::string& folder) {
  const system::Captured committed = system::capture({"git", "-C", folder, "ls-files", "--", "work"});
  if (committed.status != 0 || committed.output.empty()) return;
  throw UsageError(
      fmt::format("--out {0}: files of work/ are committed there. That folder is the students' alone: git pull would "
                  "fail for each who has begun. Take them out, then start me again: git -C {1} rm -r -q work && git -C "
                  "{1} commit -q -m \"work/ is the students'\"",
                  folder, quoted_for_shell(folder)));
}

/// By it the command knows that what is tried in this folder is the course's, and no student's.
void mark_as_courses_own(const std::string& folder) {
  fs::create_directories(fs::path(folder + system::kWrittenHere).parent_path());
  write_file_atomically(folder + system::kWrittenHere, fs::canonical(folder).string());
}

}  // namespace

Written write_handout(const Project& project, const std::vector<Manifest>& puzzles, const CourseFile& course,
                      const std::string& folder) {
  check_folder(folder);
  check_work(folder);
  fs::create_directories(folder);
  Tree tree(folder, kList);
  Handout handout(project, puzzles, course, tree);
  handout.write();
  Written written;
  written.new_stubs = handout.new_stubs();
  written.removed = tree.finish();
  written.files = tree.files();
  written.has_work = fs::exists(folder + "/work");
  mark_as_courses_own(folder);
  return written;
}

}  // namespace shardlings::cli::kit
