#include "cli/submissions/taking.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/submissions/gradescope_names.h"
#include "cli/submissions/naming.h"

namespace shardlings::cli::submissions {

namespace fs = std::filesystem;

namespace {

/// A folder with more entries is somebody's joke, or a build folder that was handed in: the rest is not looked at.
constexpr int kMostEntries = 20'000;
constexpr int kMostFolders = 12;  ///< in one another

/// What a build leaves in a copy of the whole project: copies of files that were graded among it.
bool is_build_folder(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "CMakeCache.txt", error) ||
         (folder.filename() == "build" && fs::exists(folder / "graded", error));
}

/// When the file itself, not what a link leads to, was changed; 0 if nobody can say.
std::int64_t modified_at(const fs::path& file) {
  struct stat about {};
  return lstat(file.c_str(), &about) == 0 ? std::int64_t{about.st_mtim.tv_sec} : 0;
}

/// The beginning of a file, which tells whose it is.
std::string beginning_of(const fs::path& file) {
  std::string text(64 * 1024, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

bool has_hole(const std::string& text) {
  return text.find(">>> your code") != std::string::npos;
}

}  // namespace

bool is_nobodys(const std::string& name) {
  return name.starts_with('.') || name == "__MACOSX" || name == kGradescopeMetadata || name == "Thumbs.db";
}

fs::path Archives::folder_for(const fs::path& archive) const {
  fs::path folder = fs::path(unpacked_) / archive.lexically_relative(submissions_);
  fs::create_directories(unpacked_);
  fs::permissions(unpacked_, fs::perms::owner_all);  // texts of students are nobody else's affair
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

// A name that tells of which puzzle it is casts no doubt on the others: 09.cpp.txt.
void Taking::leave_out(const fs::path& path, const std::string& inside, const std::string& why) {
  static const std::regex kToItsEnding(R"((.*\.(?:cpp|cc|cxx|c\+\+)).*)", std::regex::icase);
  std::smatch parts;
  const bool has_ending = std::regex_match(inside, parts, kToItsEnding);
  const cases::Manifest* puzzle = puzzle_of(has_ending ? parts[1].str() : inside, puzzles_);
  student.left_out.push_back({path.string(), why, true, puzzle == nullptr ? "" : puzzle->id});
}

fs::path Taking::open(const fs::path& archive) {
  const fs::path folder = archives_.folder_for(archive);
  const Unpacked result = unpack(archive.string(), folder.string());
  if (!result.unread.empty()) student.unread = fmt::format("{}: {}", archive.string(), result.unread);
  for (const LeftOut& one : result.left_out) {
    leave_out(fmt::format("{}: {}", archive.string(), one.path), one.path, one.why);
  }
  return folder;
}

void Taking::take_source(const fs::path& path, const std::string& inside, bool late) {
  const std::string name = fs::path(inside).filename().string();
  if (name == "stub.cpp" || name == "harness.cpp") return;  // of a handout, as it was given to the student
  if (const cases::Manifest* puzzle = puzzle_of(inside, puzzles_)) {
    student.files.push_back({puzzle->id, path.string(), modified_at(path), late});
    return;
  }
  const std::string text = beginning_of(path);
  const int number = number_said_in(text);
  const auto said = std::find_if(puzzles_.begin(), puzzles_.end(),
                                 [number](const cases::Manifest& puzzle) { return puzzle.number == number; });
  if (said != puzzles_.end()) {
    said_.push_back({said->id, path.string(), modified_at(path), late});
  } else if (number != 0) {
    student.left_out.push_back(
        {path.string(), fmt::format("it is for puzzle {:02}, which is not graded", number), false});
  } else if (puzzles_.size() == 1 && is_plain_puzzle(inside) && fs::path(inside).parent_path().empty()) {
    student.files.push_back({puzzles_.front().id, path.string(), modified_at(path), late});
  } else {
    student.left_out.push_back({path.string(), "neither its name nor its first comment names a puzzle that is graded",
                                is_plain_puzzle(inside) || has_hole(text)});
  }
}

void Taking::leave_out_link(const fs::path& path, const std::string& inside) {
  const std::string name = path.filename().string();
  const bool names_a_puzzle = is_source(name) && (is_plain_puzzle(inside) || puzzle_of(inside, puzzles_) != nullptr);
  if (!names_a_puzzle && !is_archive(name)) return;
  std::error_code error;
  const bool is_link = fs::symlink_status(path, error).type() == fs::file_type::symlink;
  leave_out(path, inside, is_link ? "it is a link" : "it is no file");
}

void Taking::take_file(const fs::path& path, const std::string& inside, bool late) {
  const std::string name = fs::path(inside).filename().string();
  if (is_nobodys(name)) return;
  if (is_source(name)) take_source(path, inside, late);
  if (is_nearly_source(name)) leave_out(path, inside, kWrongSuffix);
}

void Taking::take_below(const fs::path& folder, bool late, bool opens_archives) {
  std::error_code error;
  int entries = 0;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (++entries > kMostEntries) {
      student.left_out.push_back({folder.string(), fmt::format("what comes after {} entries", kMostEntries)});
      return;
    }
    const fs::path& path = at->path();
    const std::string name = path.filename().string(), inside = path.lexically_relative(folder).string();
    const fs::file_type type = at->symlink_status(error).type();
    if (type == fs::file_type::directory) {
      if (is_nobodys(name) || is_build_folder(path) || at.depth() >= kMostFolders) at.disable_recursion_pending();
    }
    if (type != fs::file_type::regular) {
      leave_out_link(path, inside);
    } else if (is_archive(name) && opens_archives) {
      take_below(open(path), late, false);
    } else {
      take_file(path, inside, late);
    }
  }
  // One student's folder is no reason not to grade the others.
  if (error) student.unread = fmt::format("{} cannot be read whole: {}", folder.string(), error.message());
}

void Taking::take_folder(const fs::path& folder, bool late) {
  take_below(folder, late, true);
}

void Taking::take_archive(const fs::path& archive, bool late) {
  take_below(open(archive), late, false);
}

// A copy of the whole repository has more files with the same first comment: the one with the puzzle's name is theirs.
void Taking::take_as_said() {
  const std::size_t named = student.files.size();
  for (Handed& file : said_) {
    const bool is_there = std::any_of(student.files.begin(), student.files.begin() + static_cast<std::ptrdiff_t>(named),
                                      [&file](const Handed& other) { return other.puzzle == file.puzzle; });
    if (is_there) {
      student.left_out.push_back({file.file, "another file has the name of that puzzle", false});
    } else {
      student.files.push_back(std::move(file));
    }
  }
  said_.clear();
}

// Whoever hands one file in twice has left no doubt about what counts.
void Taking::drop_copies() {
  std::vector<Handed> kept;
  for (Handed& file : student.files) {
    const auto is_alike = [&file](const Handed& other) {
      std::error_code error;
      return other.puzzle == file.puzzle && fs::file_size(other.file, error) == fs::file_size(file.file, error) &&
             !error && read_file(other.file) == read_file(file.file);
    };
    const auto twin = std::find_if(kept.begin(), kept.end(), is_alike);
    if (twin == kept.end()) {
      kept.push_back(std::move(file));
    } else if (file.modified < twin->modified) {
      *twin = std::move(file);
    }
  }
  student.files = std::move(kept);
}

void Taking::finish() {
  take_as_said();
  const auto by_puzzle = [](const Handed& a, const Handed& b) {
    return std::tie(a.puzzle, a.file) < std::tie(b.puzzle, b.file);
  };
  std::sort(student.files.begin(), student.files.end(), by_puzzle);
  drop_copies();
  std::sort(student.left_out.begin(), student.left_out.end(),
            [](const LeftOut& a, const LeftOut& b) { return a.path < b.path; });
}

}  // namespace shardlings::cli::submissions
