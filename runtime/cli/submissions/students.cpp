#include "cli/submissions/students.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/error.h"
#include "cli/submissions/archive.h"
#include "cli/submissions/gradescope_names.h"

namespace shardlings::cli::submissions {

namespace fs = std::filesystem;

namespace {

/// A folder with more entries is somebody's joke, or a build folder that was handed in: the rest is not looked at.
constexpr int kMostEntries = 20'000;
constexpr int kMostFolders = 12;  ///< in one another

/// What platforms and systems leave beside submissions.
bool is_nobodys(const std::string& name) {
  return name.starts_with('.') || name == "__MACOSX" || name == "submission_metadata.yml" || name == "Thumbs.db";
}

/// What a build leaves in a copy of the whole project: copies of files that were graded among it.
bool is_build_folder(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "CMakeCache.txt", error) ||
         (folder.filename() == "build" && fs::exists(folder / "graded", error));
}

/// Canvas numbers attempts: puzzle-1.cpp. A number with a zero before it is a puzzle's: puzzle-09.cpp.
std::string without_attempt(const std::string& stem) {
  static const std::regex kAttempt(R"((.+)-[1-9]\d{0,2})");
  std::smatch parts;
  return std::regex_match(stem, parts, kAttempt) ? parts[1].str() : stem;
}

/// The puzzle that "09", "9", "puzzle09", "09_data_parallel" or another word after the number names.
const cases::Manifest* puzzle_called(const std::string& word, const std::vector<cases::Manifest>& puzzles) {
  static const std::regex kNumbered(R"((?:puzzle[_-]?)?0*(\d{1,3})(?:_[A-Za-z0-9_]*)?)", std::regex::icase);
  std::smatch parts;
  for (const cases::Manifest& puzzle : puzzles) {
    if (word == puzzle.id) return &puzzle;
  }
  if (!std::regex_match(word, parts, kNumbered)) return nullptr;
  const int number = std::stoi(parts[1].str());
  const auto found = std::find_if(puzzles.begin(), puzzles.end(),
                                  [number](const cases::Manifest& puzzle) { return puzzle.number == number; });
  return found == puzzles.end() ? nullptr : &*found;
}

/// When the file itself, not what a link leads to, was changed; 0 if nobody can say.
std::int64_t modified_at(const std::string& file) {
  struct stat about {};
  return lstat(file.c_str(), &about) == 0 ? std::int64_t{about.st_mtim.tv_sec} : 0;
}

void take_file(Student& student, const std::string& path, const std::string& inside, bool late,
               const std::vector<cases::Manifest>& puzzles) {
  const fs::path name = fs::path(inside).filename();
  if (name.extension() != ".cpp") return;
  if (name == "stub.cpp" || name == "harness.cpp") return;  // of a handout, as it was given to the student
  if (const cases::Manifest* puzzle = puzzle_of(inside, puzzles)) {
    student.files.push_back({puzzle->id, path, modified_at(path), late});
  } else {
    student.left_out.push_back(path);
  }
}

/// Opens archives into a folder beside the submissions, each into one of its own.
class Archives {
 public:
  Archives(std::string submissions, std::string unpacked)
      : submissions_(std::move(submissions)), unpacked_(std::move(unpacked)) {}

  /// The folder with what came out.
  fs::path open(Student& student, const fs::path& archive) const {
    const std::string inside = archive.lexically_relative(submissions_).string();
    const fs::path folder = fs::path(unpacked_) / inside;
    fs::create_directories(unpacked_);
    fs::permissions(unpacked_, fs::perms::owner_all);  // texts of students are nobody else's affair
    fs::remove_all(folder);
    fs::create_directories(folder);
    const std::string why = unpack(archive.string(), folder.string());
    if (!why.empty()) student.unread = fmt::format("{}: {}", archive.string(), why);
    return folder;
  }

 private:
  std::string submissions_, unpacked_;
};

/// `archives`: nullptr for what came out of one: those in one another are not opened.
void take_folder(Student& student, const fs::path& folder, const std::vector<cases::Manifest>& puzzles,
                 const Archives* archives) {
  std::error_code error;
  int entries = 0;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (++entries > kMostEntries) {
      student.left_out.push_back(fmt::format("{}: what comes after {} entries", folder.string(), kMostEntries));
      return;
    }
    const bool is_folder = at->symlink_status(error).type() == fs::file_type::directory;
    if (is_folder &&
        (is_nobodys(at->path().filename().string()) || is_build_folder(at->path()) || at.depth() >= kMostFolders)) {
      at.disable_recursion_pending();
    }
    if (at->symlink_status(error).type() != fs::file_type::regular) {
      // A link, a pipe or a folder by that name is not judged, and somebody should know.
      const std::string inside = at->path().lexically_relative(folder).string();
      if (at->path().extension() == ".cpp" && puzzle_of(inside, puzzles) != nullptr) {
        student.left_out.push_back(at->path().string());
      }
      continue;
    }
    if (is_archive(at->path().filename().string()) && archives != nullptr) {
      take_folder(student, archives->open(student, at->path()), puzzles, nullptr);
    }
    take_file(student, at->path().string(), at->path().lexically_relative(folder).string(), false, puzzles);
  }
  // One student's folder is no reason not to grade the others.
  if (error) student.unread = fmt::format("{} cannot be read whole: {}", folder.string(), error.message());
}

/// By puzzle, then by path.
void sort_files(Student& student) {
  std::sort(student.files.begin(), student.files.end(),
            [](const Handed& a, const Handed& b) { return std::tie(a.puzzle, a.file) < std::tie(b.puzzle, b.file); });
  std::sort(student.left_out.begin(), student.left_out.end());
}

/// Who it is and when, as far as the platform says: files that are unpacked later have the time of that.
void name_students(std::map<std::string, Student>& students, const std::string& folder) {
  for (const auto& [number, known] : submitters_in(read_file(folder + "/submission_metadata.yml").value_or(""))) {
    const auto student = students.find(number);
    if (student == students.end()) continue;
    student->second.name = known.names;
    for (Handed& file : student->second.files) {
      if (known.submitted != 0) file.modified = known.submitted;
    }
  }
}

}  // namespace

Student read_student(const std::string& folder, const std::string& unpacked,
                     const std::vector<cases::Manifest>& puzzles) {
  Student student;
  const Archives archives(folder, unpacked);
  take_folder(student, folder, puzzles, &archives);
  sort_files(student);
  return student;
}

EntryName entry_name(std::string_view name, bool is_folder) {
  static const std::regex kGradescope(R"(submission_(\d+))");
  static const std::regex kMoodle(R"((.+)_(\d+)_assignsubmission_(?:file|onlinetext)_?(.*))");
  static const std::regex kCanvas(R"(([^_]+)_(LATE_)?(\d+)_(\d+)_(.+))");
  const std::string text(name);
  std::smatch parts;
  if (std::regex_match(text, parts, kMoodle)) return {parts[2], parts[1], is_folder ? "" : parts[3].str(), false};
  if (is_folder) {
    if (std::regex_match(text, parts, kGradescope)) return {parts[1], "", "", false};
    return {text, "", "", false};
  }
  if (std::regex_match(text, parts, kCanvas)) return {parts[3], parts[1], parts[5], parts[2].matched};
  return {"", "", text, false};
}

const cases::Manifest* puzzle_of(const std::string& path, const std::vector<cases::Manifest>& puzzles) {
  const fs::path file(path);
  const std::string stem = without_attempt(file.stem().string());
  if (stem != "puzzle") return puzzle_called(stem, puzzles);
  const fs::path folders = file.parent_path();
  for (auto at = folders.end(); at != folders.begin();) {
    if (const cases::Manifest* puzzle = puzzle_called((--at)->string(), puzzles)) return puzzle;
  }
  return puzzles.size() == 1 && folders.empty() ? &puzzles.front() : nullptr;
}

Submissions read_submissions(const std::string& folder, const std::string& unpacked,
                             const std::vector<cases::Manifest>& puzzles) {
  std::map<std::string, Student> students;
  Submissions all;
  const Archives archives(folder, unpacked);
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    const fs::file_type type = at->symlink_status(error).type();
    if (is_nobodys(name)) continue;
    const bool packed = type == fs::file_type::regular && is_archive(name);
    EntryName entry = entry_name(name, type == fs::file_type::directory);
    if (packed && entry.student.empty()) entry = entry_name(without_archive_suffix(name), true);
    if (entry.student.empty() || (type != fs::file_type::directory && type != fs::file_type::regular)) {
      all.left_out.push_back(at->path().string());
      continue;
    }
    Student& student = students[entry.student];
    student.id = entry.student;
    if (!entry.name.empty()) student.name = entry.name;
    const std::size_t before = student.files.size();
    if (packed) {
      take_folder(student, archives.open(student, at->path()), puzzles, nullptr);
    } else if (type == fs::file_type::directory) {
      take_folder(student, at->path(), puzzles, &archives);
    } else {
      take_file(student, at->path().string(), entry.file, entry.late, puzzles);
    }
    for (std::size_t i = before; i < student.files.size(); ++i) student.files[i].late |= entry.late;
  }
  if (error) throw UsageError(fmt::format("{} cannot be read: {}.", folder, error.message()));
  if (students.empty()) {
    throw UsageError(
        fmt::format("{} holds no student's work: a folder for each student is expected, or files with the "
                    "names that Canvas or Moodle give.",
                    folder));
  }
  name_students(students, folder);
  for (auto& [id, student] : students) {
    sort_files(student);
    all.students.push_back(std::move(student));
  }
  std::sort(all.left_out.begin(), all.left_out.end());
  return all;
}

}  // namespace shardlings::cli::submissions
