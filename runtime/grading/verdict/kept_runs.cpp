#include "grading/verdict/kept_runs.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "base/file.h"
#include "base/file_lock.h"

namespace shardlings::grading::verdict {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKeptFiles[] = {"verdict.json", "traces.bin", kKeptSource};

fs::path folder_of(const std::string& build_folder, const std::string& puzzle, KeptRun which) {
  return fs::path(build_folder) / "runs" / puzzle / (which == KeptRun::last ? "last" : "previous");
}

/// A second name for the same bytes, or, on a file system without such names, a copy.
void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (error) fs::copy_file(from, to, fs::copy_options::overwrite_existing);
}

bool same_bytes(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  if (fs::equivalent(a, b, ignored)) return true;
  const auto content = read_file(a.string());
  return content && content == read_file(b.string());
}

}  // namespace

void keep_run(const std::string& build_folder, const std::string& puzzle, const std::string& graded) {
  const fs::path last = folder_of(build_folder, puzzle, KeptRun::last);
  const fs::path previous = folder_of(build_folder, puzzle, KeptRun::previous);
  fs::create_directories(last.parent_path());
  const FileLock lock(last.parent_path().string() + "/.lock");
  if (same_bytes(last / kKeptFiles[0], fs::path(graded) / kKeptFiles[0])) {
    fs::last_write_time(last, fs::file_time_type::clock::now());
    return;
  }
  const fs::path coming = last.parent_path() / "coming";
  fs::remove_all(coming);
  fs::create_directory(coming);
  for (const char* file : kKeptFiles) {
    if (fs::exists(fs::path(graded) / file)) link_or_copy(fs::path(graded) / file, coming / file);
  }
  if (fs::exists(last)) {
    fs::remove_all(previous);
    fs::rename(last, previous);
  }
  fs::rename(coming, last);
}

std::string last_puzzle(const std::string& build_folder) {
  std::string newest;
  fs::file_time_type time{};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::path(build_folder) / "runs", ignored)) {
    const fs::path last = entry.path() / "last";
    if (!fs::exists(last) || (!newest.empty() && fs::last_write_time(last) <= time)) continue;
    newest = entry.path().filename().string();
    time = fs::last_write_time(last);
  }
  return newest;
}

std::optional<Verdict> load_run(const std::string& build_folder, const std::string& puzzle, KeptRun which) {
  const fs::path folder = folder_of(build_folder, puzzle, which);
  if (!fs::exists(folder / kKeptFiles[0])) return std::nullopt;
  const std::string path = (folder / kKeptFiles[0]).string();
  try {
    Verdict verdict = verdict_from_json(read_whole_file(path));
    if (fs::exists(folder / kKeptFiles[1])) read_traces(verdict, (folder / kKeptFiles[1]).string());
    return verdict;
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    if (what.find(folder.string()) != std::string::npos) throw;
    throw std::runtime_error(fmt::format("{} is damaged ({}): run the puzzle again", path, what));
  }
}

std::string source_of_run(const std::string& build_folder, const std::string& puzzle, KeptRun which) {
  return read_file((folder_of(build_folder, puzzle, which) / kKeptSource).string()).value_or("");
}

}  // namespace shardlings::grading::verdict
