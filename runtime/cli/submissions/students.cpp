#include "cli/submissions/students.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <system_error>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// "is a link": what it is that is no file.
const char* what_it_is(fs::file_type type) {
  switch (type) {
    case fs::file_type::symlink: return "is a link, and these are not followed";
    case fs::file_type::directory: return "is a folder";
    case fs::file_type::fifo: return "is a pipe";
    default: return "is no file";
  }
}

/// Why a file that names a puzzle is not taken for C++, such as 09.cc or 09.cpp.txt; empty for all others.
std::string looks_like_cpp(const fs::path& inside, const std::vector<cases::Manifest>& puzzles) {
  static const std::regex kOther(R"((.*)\.(?:cc|cxx|c\+\+|c|cpp\.txt|cpp~))", std::regex::icase);
  std::smatch parts;
  const std::string text = inside.string();
  if (!std::regex_match(text, parts, kOther) || puzzle_of(parts[1].str() + ".cpp", puzzles) == nullptr) return {};
  return "does not end in .cpp";
}

/// When the file itself, not what a link leads to, was changed; 0 if nobody can say.
std::int64_t modified_at(const std::string& file) {
  struct stat about {};
  return lstat(file.c_str(), &about) == 0 ? std::int64_t{about.st_mtim.tv_sec} : 0;
}

void take_file(Student& student, const std::string& path, const std::string& inside, bool late,
               const std::vector<cases::Manifest>& puzzles) {
  const fs::path name = fs::path(inside).filename();
  if (!is_cpp_file(name.string())) {
    const std::string why = looks_like_cpp(inside, puzzles);
    if (!why.empty()) student.left_out.push_back(path + " " + why);
    return;
  }
  if (name == "stub.cpp" || name == "harness.cpp") return;  // of a handout, as it was given to the student
  if (const cases::Manifest* puzzle = puzzle_of(inside, puzzles)) {
    student.files.push_back({puzzle->id, path, modified_at(path), late});
  } else {
    student.left_out.push_back(path + " names no puzzle that is graded");
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
    const Unpacked unpacked = unpack(archive.string(), folder.string());
    if (!unpacked.fault.empty()) student.unread = fmt::format("{}: {}", archive.string(), unpacked.fault);
    for (const std::string& one : unpacked.left_out) {
      student.left_out.push_back(fmt::format("{}: {}", archive.string(), one));
    }
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
      if (is_cpp_file(inside) && puzzle_of(inside, puzzles) != nullptr) {
        student.left_out.push_back(
            fmt::format("{} {}", at->path().string(), what_it_is(at->symlink_status(error).type())));
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

namespace {

/// What systems and editors leave in a folder, and nobody hands in.
bool is_habitual(const std::string& name) {
  return name.starts_with(".git") || name.starts_with("._") || name == ".DS_Store" || name == ".vscode" ||
         name == ".idea" || !name.starts_with('.');
}

/// Reads the entries of the folder, one after another.
class Reading {
 public:
  Reading(const std::string& folder, const std::string& unpacked, const std::vector<cases::Manifest>& puzzles)
      : archives_(folder, unpacked), puzzles_(puzzles) {}

  void take(const fs::directory_entry& at) {
    std::error_code error;
    const std::string name = at.path().filename().string();
    const fs::file_type type = at.symlink_status(error).type();
    if (is_nobodys(name)) {
      if (!is_habitual(name)) leave_out(at, "begins with a dot, as what systems leave there");
      return;
    }
    const bool packed = type == fs::file_type::regular && is_archive(name);
    EntryName entry = entry_name(name, type == fs::file_type::directory);
    if (packed && entry.student.empty()) entry = entry_name(without_archive_suffix(name), true);
    if (type != fs::file_type::directory && type != fs::file_type::regular) return leave_out(at, what_it_is(type));
    if (entry.student.empty()) return leave_out(at, "names no student");
    Student& student = students_[entry.student];
    student.id = entry.student;
    if (!entry.name.empty()) student.name = entry.name;
    platforms_[entry.student].insert(entry.platform);
    const std::size_t before = student.files.size();
    if (packed) {
      take_folder(student, archives_.open(student, at.path()), puzzles_, nullptr);
    } else if (type == fs::file_type::directory) {
      take_folder(student, at.path(), puzzles_, &archives_);
    } else {
      take_file(student, at.path().string(), entry.file, entry.late, puzzles_);
    }
    for (std::size_t i = before; i < student.files.size(); ++i) student.files[i].late |= entry.late;
  }
  Submissions result(const std::string& folder) && {
    name_students(students_, folder);
    for (auto& [id, student] : students_) {
      sort_files(student);
      student.mixed = why_mixed(id);
      all_.students.push_back(std::move(student));
    }
    std::sort(all_.left_out.begin(), all_.left_out.end());
    return std::move(all_);
  }
  bool found_nobody() const { return students_.empty(); }

 private:
  void leave_out(const fs::directory_entry& at, const char* why) {
    all_.left_out.push_back(at.path().string() + " " + why);
  }
  /// Each platform has numbers of its own: the same one is another student's elsewhere.
  std::string why_mixed(const std::string& id) const {
    const std::set<Platform>& platforms = platforms_.at(id);
    if (platforms.size() < 2) return {};
    std::vector<std::string> names;
    for (const Platform platform : platforms) {
      names.push_back(platform == Platform::none ? "by that name" : std::string("of ") + kPlatformWords.of(platform));
    }
    return fmt::format(
        "there are entries {} for {}, and they may be two students': grade what each platform has exported by itself",
        fmt::join(names, " and "), id);
  }

  Archives archives_;
  const std::vector<cases::Manifest>& puzzles_;
  std::map<std::string, Student> students_;
  std::map<std::string, std::set<Platform>> platforms_;
  Submissions all_;
};

}  // namespace

Submissions read_submissions(const std::string& folder, const std::string& unpacked,
                             const std::vector<cases::Manifest>& puzzles) {
  Reading reading(folder, unpacked, puzzles);
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) reading.take(*at);
  if (error) throw UsageError(fmt::format("{} cannot be read: {}.", folder, error.message()));
  if (reading.found_nobody()) {
    throw UsageError(
        fmt::format("{} holds no student's work: a folder for each student is expected, or files with the "
                    "names that Canvas or Moodle give.",
                    folder));
  }
  return std::move(reading).result(folder);
}

}  // namespace shardlings::cli::submissions
