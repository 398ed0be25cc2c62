#include "cli/submissions/students.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/error.h"
#include "cli/submissions/gradescope_names.h"
#include "cli/submissions/naming.h"
#include "cli/submissions/taking.h"

namespace shardlings::cli::submissions {

namespace fs = std::filesystem;

namespace {

/// By the id that the folder gives.
using Takings = std::map<std::string, Taking>;

bool has_metadata(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kGradescopeMetadata, error);
}

/// The folder itself, or the only one in it if that is what Gradescope has exported: its zip holds one.
fs::path folder_of_submissions(const fs::path& folder) {
  std::error_code error;
  if (has_metadata(folder)) return folder;
  fs::path exported;
  std::size_t others = 0;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    if (at->symlink_status(error).type() == fs::file_type::directory && has_metadata(at->path())) {
      others += exported.empty() ? 0 : 1;
      exported = at->path();
    } else if (!is_nobodys(at->path().filename().string())) {
      ++others;
    }
  }
  if (exported.empty()) return folder;
  if (others == 0) return exported;
  throw UsageError(fmt::format("{} is what Gradescope has exported, and more lies beside it in {}. Name that folder.",
                               exported.string(), folder.string()));
}

/// Each member's; where Gradescope names none, that of the submission, with a number for the second such member and for
/// those after it.
std::vector<std::string> ids_of_members(const Submission& known, const std::string& submission) {
  std::vector<std::string> ids;
  int nameless = 0;
  for (const Submitter& one : known.submitters) {
    if (!one.id.empty()) {
      ids.push_back(one.id);
    } else {
      ids.push_back(++nameless == 1 ? submission : fmt::format("{}-{}", submission, nameless));
    }
  }
  return ids;
}

/// Who it is and when, as far as Gradescope says: files that are unpacked later have the time of that. Of a group each
/// member gets what all have handed in.
void add_submitters(std::vector<Student>& all, const Student& read, const Submission& known) {
  const std::vector<std::string> ids = ids_of_members(known, read.id);
  const std::string group = fmt::format("{}", fmt::join(ids, "+"));
  for (std::size_t i = 0; i < std::max<std::size_t>(ids.size(), 1); ++i) {
    Student student = read;
    if (!ids.empty()) student.id = ids[i];
    if (!ids.empty()) student.name = known.submitters[i].name;
    if (ids.size() > 1) student.group = group;
    for (Handed& file : student.files) {
      if (known.submitted != 0) file.modified = known.submitted;
    }
    all.push_back(std::move(student));
  }
}

/// Of two entries whose ids differ Gradescope may say that they are one student's. `all` are by id.
void note_twins(std::vector<Student>& all) {
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i - 1].id != all[i].id) continue;
    for (Student* twin : {&all[i - 1], &all[i]}) {
      if (!twin->mixed_up.empty()) continue;
      twin->mixed_up = fmt::format("two submissions have this id: {} and {}. Leave the one that counts.",
                                   std::min(all[i - 1].entry, all[i].entry), std::max(all[i - 1].entry, all[i].entry));
    }
  }
}

/// An entry of the folder: a student's work, or part of it, or nobody's.
class Entries {
 public:
  Entries(const std::vector<cases::Manifest>& puzzles, const Archives& archives)
      : puzzles_(puzzles), archives_(archives) {}

  void take(const fs::path& path, fs::file_type type) {
    const std::string name = path.filename().string();
    if (is_nobodys(name)) return;
    if (type != fs::file_type::directory && type != fs::file_type::regular) {
      nobodys.push_back({path.string(), type == fs::file_type::symlink ? "it is a link" : "it is no file"});
      return;
    }
    const bool packed = type == fs::file_type::regular && is_archive(name);
    EntryName entry = entry_name(name, type == fs::file_type::directory);
    if (packed && entry.student.empty()) entry = entry_name(without_archive_suffix(name), true);
    if (entry.student.empty()) {
      nobodys.push_back({path.string(), "its name names no student"});
      return;
    }
    const auto [at, is_first] = takings.try_emplace(entry.student, puzzles_, archives_);
    Taking& taking = at->second;
    taking.student.id = entry.student;
    if (is_first || name < taking.student.entry) taking.student.entry = name;
    note_platform(taking.student, name, entry.platform, is_first);
    if (!entry.name.empty()) taking.student.name = entry.name;
    if (packed) {
      taking.take_archive(path, entry.late);
    } else if (type == fs::file_type::directory) {
      taking.take_folder(path, entry.late);
    } else {
      taking.take_file(path, entry.file, entry.late);
    }
  }

  Takings takings;
  std::vector<LeftOut> nobodys;

 private:
  struct FirstEntry {
    std::string name;
    Platform platform = Platform::none;
  };

  // Each platform numbers its own students: 12 of Canvas is somebody else than 12 of Moodle.
  void note_platform(Student& student, const std::string& name, Platform platform, bool is_first) {
    const FirstEntry entry{name, platform};
    FirstEntry& first = first_entries_[student.id];
    if (is_first) first = entry;
    if (first.platform == platform) return;
    const bool in_order = first.name < entry.name;
    student.mixed_up = fmt::format(
        "two entries have this id, and their names are not of one platform: {} and {}. If they are two students', "
        "grade what each platform has exported by itself; if they are one's, leave one of them.",
        text_of(in_order ? first : entry), text_of(in_order ? entry : first));
  }
  static std::string text_of(const FirstEntry& entry) {
    return fmt::format("{} ({})", entry.name,
                       entry.platform == Platform::none ? "no platform's" : kPlatformWords.of(entry.platform));
  }

  std::map<std::string, FirstEntry> first_entries_;
  const std::vector<cases::Manifest>& puzzles_;
  const Archives& archives_;
};

}  // namespace

Student read_student(const std::string& folder, const std::string& unpacked,
                     const std::vector<cases::Manifest>& puzzles) {
  const Archives archives(folder, unpacked);
  Taking taking(puzzles, archives);
  taking.take_folder(folder, false);
  taking.finish();
  return taking.student;
}

Submissions read_submissions(const std::string& named, const std::string& unpacked,
                             const std::vector<cases::Manifest>& puzzles) {
  const fs::path folder = folder_of_submissions(named);
  const Archives archives(folder.string(), unpacked);
  Entries entries(puzzles, archives);
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    entries.take(at->path(), at->symlink_status(error).type());
  }
  if (error) throw UsageError(fmt::format("{} cannot be read: {}.", folder.string(), error.message()));
  if (entries.takings.empty()) {
    throw UsageError(
        fmt::format("{} holds no student's work: a folder for each student is expected, or files with the "
                    "names that Canvas or Moodle give.",
                    folder.string()));
  }
  Submissions all;
  all.left_out = std::move(entries.nobodys);
  const auto known = submissions_in(read_file((folder / kGradescopeMetadata).string()).value_or(""));
  for (auto& [id, taking] : entries.takings) {
    taking.finish();
    const auto found = known.find(id);
    add_submitters(all.students, taking.student, found == known.end() ? Submission{} : found->second);
  }
  const auto by_id = [](const Student& a, const Student& b) { return a.id < b.id; };
  std::stable_sort(all.students.begin(), all.students.end(), by_id);
  note_twins(all.students);
  std::sort(all.left_out.begin(), all.left_out.end(),
            [](const LeftOut& a, const LeftOut& b) { return a.path < b.path; });
  return all;
}

}  // namespace shardlings::cli::submissions
