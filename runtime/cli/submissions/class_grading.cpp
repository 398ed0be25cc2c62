#include "cli/submissions/class_grading.h"

#include <poll.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/kept_files.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/error.h"
#include "cli/system/job.h"
#include "grading/build/source_copy.h"
#include "grading/build/toolchain.h"
#include "grading/grade.h"
#include "report/svg.h"

namespace shardlings::cli::submissions {

namespace fs = std::filesystem;
using grading::verdict::Verdict;
using Clock = std::chrono::steady_clock;

namespace {

/// One file to grade, and the place of its mark in the gradebook.
struct Task {
  const cases::Manifest* puzzle = nullptr;
  std::string
      student;  ///< the id by which hidden cases have their seeds: a group's, of one that has handed in together
  std::string file, content, kept;  ///< content: the file's SHA-256; kept: where its verdict is kept
  std::size_t row = 0, column = 0;
};

/// Names a verdict by all that it depends on, so that a file that was handed in again, or a puzzle that was mended, is
/// graded anew. The texts of submissions are hashed by a function for which nobody can find two with one hash.
std::string key_of(const system::Project& project, const ClassGrading& grading, const Task& task,
                   const grading::build::Toolchain& toolchain) {
  const grading::build::Toolchain::Puzzle& built = toolchain.puzzle(task.puzzle->id);
  const std::string secret = grading.secret.empty() ? "" : students_secret(grading.secret, task.student);
  return sha256(content_key({version(), task.student, task.puzzle->id,
                             read_file(project.puzzle_folder(task.puzzle->id) + "/puzzle.toml").value_or(""),
                             toolchain.text, file_stamp(toolchain.library), file_stamp(built.grader),
                             file_stamp(built.harness), file_stamp(built.broker), std::to_string(grading.least_tier)}) +
                task.content + sha256("kept " + secret));
}

Mark not_judged(const cases::Manifest& puzzle, const std::string& reason) {
  Mark mark;
  mark.puzzle = puzzle.id;
  mark.outcome = Outcome::not_judged;
  mark.max_points = puzzle.max_points();
  mark.reason = reason;
  return mark;
}

std::optional<Mark> kept_mark(const Task& task) {
  const auto text = read_file(task.kept);
  if (!text) return std::nullopt;
  try {
    return mark_of(grading::verdict::verdict_from_json(*text));
  } catch (const std::exception&) {
    return std::nullopt;  // a damaged one is made anew
  }
}

/// Beside the verdict: the timeline of the puzzle's first case, the same for everybody.
std::string picture_of(const Task& task) {
  return fs::path(task.kept).replace_extension(".svg").string();
}

void draw(const Task& task, const Verdict& verdict) {
  const cases::Case& first = task.puzzle->cases.front();
  if (first.hidden || first.question || verdict.status != grading::verdict::Status::graded) return;
  const std::string& name = first.name;
  const auto shown = std::find_if(verdict.cases.begin(), verdict.cases.end(),
                                  [&name](const grading::verdict::CaseVerdict& one) { return one.kase.name == name; });
  if (shown == verdict.cases.end() || shown->traces.empty()) return;
  write_file_atomically(picture_of(task), report::timeline_svg(*shown, task.student + ": " + name), Outlives::kill);
}

/// The work of one process: the verdict as JSON.
system::Job::Work work_of(const system::Project& project, const ClassGrading& grading, const Task& task) {
  grading::GradeOptions options;
  options.puzzle_folder = project.puzzle_folder(task.puzzle->id);
  options.build_folder = project.build;
  options.source = fs::absolute(task.file).string();
  options.jailed = true;
  options.least_tier = grading.least_tier;
  if (!grading.secret.empty()) options.secret = students_secret(grading.secret, task.student);
  return [options, task](const system::Job::Say&, std::string& text) {
    const Verdict verdict = grading::grade_puzzle(options);
    draw(task, verdict);
    text = to_json(verdict);
    return kPassed;
  };
}

/// What a process has left behind, kept where it is a judgement.
Mark finished_mark(const Task& task, const system::Job& job) {
  if (job.status() != kPassed) {
    const std::string said = trimmed(job.text());
    return not_judged(*task.puzzle, said.empty() ? "the grading ended without a word" : said);
  }
  try {
    const Verdict verdict = grading::verdict::verdict_from_json(job.text());
    Mark mark = mark_of(verdict);
    if (mark.outcome != Outcome::not_judged) write_file_atomically(task.kept, job.text(), Outlives::kill);
    return mark;
  } catch (const std::exception& error) {
    return not_judged(*task.puzzle, error.what());
  }
}

}  // namespace

std::string content_of(const std::string& file) {
  std::error_code error;
  if (fs::symlink_status(file, error).type() != fs::file_type::regular) return {};
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && size > static_cast<std::uintmax_t>(grading::build::kMostSourceBytes)) {
    return sha256(fmt::format("{} bytes", size));
  }
  try {
    return sha256(grading::build::copy_source(file).text);
  } catch (const std::runtime_error&) {
    return {};  // it has become a link meanwhile: what that leads to is nothing that was handed in
  }
}

namespace {

/// Why one whose file for a puzzle is missing may have handed it in all the same; empty: they have not.
std::string doubt_about(const Student& student, const std::string& puzzle) {
  if (!student.unread.empty()) return student.unread;
  const auto first = std::find_if(student.left_out.begin(), student.left_out.end(), [&puzzle](const LeftOut& one) {
    return one.may_count && (one.puzzle.empty() || one.puzzle == puzzle);
  });
  if (first == student.left_out.end()) return "";
  return fmt::format("no file for it was found, and {} was left out: {}. Rename or remove it.", first->path,
                     first->why);
}

/// The marks of one student as far as they are known without grading; what is to be graded goes to `tasks`.
Row row_of(const ClassGrading& grading, const Student& student, std::size_t row, std::vector<Task>& tasks) {
  Row marks{student.id, student.name, {}, student.group};
  for (const cases::Manifest& puzzle : grading.puzzles) {
    Mark mark;
    mark.puzzle = puzzle.id;
    mark.max_points = puzzle.max_points();
    std::vector<const Handed*> handed;
    for (const Handed& file : student.files) {
      if (file.puzzle == puzzle.id) handed.push_back(&file);
    }
    if (!student.mixed_up.empty()) {
      mark = not_judged(puzzle, student.mixed_up);
    } else if (handed.size() > 1) {
      mark = not_judged(puzzle, fmt::format("there are {} files for it, and it is not known which one counts: {} and "
                                            "{}. Leave one of them.",
                                            handed.size(), handed[0]->file, handed[1]->file));
    } else if (handed.size() == 1) {
      const Handed& file = *handed.front();
      mark.file = fs::path(file.file).lexically_relative(grading.folder).string();
      mark.content = content_of(file.file);
      mark.submitted = file.modified;
      mark.late = file.late || (grading.due && file.modified > *grading.due);
      tasks.push_back({&puzzle, student.group.empty() ? student.id : student.group, file.file, mark.content, "", row,
                       marks.marks.size()});
    }
    const std::string doubt = handed.empty() && student.mixed_up.empty() ? doubt_about(student, puzzle.id) : "";
    if (!doubt.empty()) mark = not_judged(puzzle, doubt);
    marks.marks.push_back(mark);
  }
  return marks;
}

/// Fills the outcome in; what is known of the file stays.
void put(Gradebook& book, const Task& task, Mark mark, bool with_bonus) {
  if (!with_bonus) mark.points -= std::exchange(mark.bonus, 0);
  Mark& place = book.rows[task.row].marks[task.column];
  mark.file = place.file;
  mark.content = place.content;
  mark.submitted = place.submitted;
  mark.late = place.late;
  const fs::path picture = picture_of(task);
  if (fs::exists(picture)) mark.picture = (picture.parent_path().filename() / picture.filename()).string();
  place = std::move(mark);
}

struct Running {
  const Task* task;
  std::unique_ptr<system::Job> job;
};

void wait_for_news(const std::deque<Running>& running) {
  std::vector<pollfd> descriptors;
  for (const Running& one : running) descriptors.push_back({one.job->descriptor(), POLLIN, 0});
  poll(descriptors.data(), descriptors.size(), -1);
}

}  // namespace

std::string to_text(const Progress& progress) {
  std::string text = fmt::format("graded {} of {}", progress.done, progress.all);
  if (progress.kept > 0) text += fmt::format(", {} of them before", progress.kept);
  const int now = progress.done - progress.kept;
  if (now == 0 || progress.done == progress.all) return text;
  const double left = progress.taken.count() / now * (progress.all - progress.done);
  return text + (left < 90 ? fmt::format("; about {:.0f} s left", std::max(left, 1.0))
                           : fmt::format("; about {:.0f} min left", left / 60));
}

std::string pace_of(const Progress& progress, int students) {
  constexpr int kLargeClass = 500;
  const int now = progress.done - progress.kept;
  if (now == 0 || students == 0) return {};
  const double class_of_now = students * static_cast<double>(now) / progress.all;
  return fmt::format("{:.1f} s for {}; at this pace {} such students take {:.1f} min", progress.taken.count(), now,
                     kLargeClass, progress.taken.count() / class_of_now * kLargeClass / 60);
}

std::string students_secret(const std::string& secret, const std::string& student) {
  return sha256(sha256(secret) + "student\n" + student);
}

std::optional<std::int64_t> time_from(const std::string& text) {
  std::tm parts{};
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S%z", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const std::int64_t offset = parts.tm_gmtoff;  // timegm() sets it to zero
  const int day = parts.tm_mday;
  const std::int64_t seconds = timegm(&parts);
  if (parts.tm_mday != day) return std::nullopt;  // there is no such day, as the 31st of February
  return seconds - offset;
}

Gradebook grade_class(const system::Project& project, const ClassGrading& grading, const Submissions& submissions,
                      const std::function<void(const Progress&)>& say) {
  Gradebook book;
  for (const cases::Manifest& puzzle : grading.puzzles) book.puzzles.push_back(puzzle.id);
  book.weights = grading.weights;
  book.due = grading.due_text;
  std::vector<Task> tasks;
  for (const Student& student : submissions.students) {
    book.rows.push_back(row_of(grading, student, book.rows.size(), tasks));
  }
  fs::create_directories(grading.kept);
  fs::permissions(grading.kept, fs::perms::owner_all);  // names and texts of students are nobody else's affair
  const grading::build::Toolchain toolchain = grading::build::load_toolchain(project.build);
  Progress progress{0, static_cast<int>(tasks.size()), 0, {}};
  std::deque<const Task*> waiting;
  for (Task& task : tasks) {
    task.kept = fmt::format("{}/{}.json", grading.kept, key_of(project, grading, task, toolchain));
    if (auto mark = kept_mark(task)) {
      put(book, task, *mark, grading.bonus);
      ++progress.kept;
    } else {
      waiting.push_back(&task);
    }
  }
  progress.done = progress.kept;
  const Clock::time_point begin = Clock::now();
  std::deque<Running> running;
  while (!waiting.empty() || !running.empty()) {
    for (; !waiting.empty() && running.size() < static_cast<std::size_t>(grading.at_once); waiting.pop_front()) {
      running.push_back({waiting.front(), std::make_unique<system::Job>()});
      running.back().job->start(work_of(project, grading, *waiting.front()));
    }
    wait_for_news(running);
    std::erase_if(running, [&](Running& one) {
      if (!one.job->take()) return false;
      put(book, *one.task, finished_mark(*one.task, *one.job), grading.bonus);
      ++progress.done;
      progress.taken = Clock::now() - begin;
      say(progress);
      return true;
    });
  }
  if (tasks.empty() || progress.kept == progress.done) say(progress);
  return book;
}

}  // namespace shardlings::cli::submissions
